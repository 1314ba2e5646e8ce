// A checkbox in the head of the table that selects all rows of the page.
(function () {
  "use strict";
  var all = document.getElementById("all-of-page");
  if (!all) return;
  all.hidden = false;
  all.addEventListener("change", function () {
    document.querySelectorAll("input[name='job']").forEach(function (box) { box.checked = all.checked; });
  });
})();
