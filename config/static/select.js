// A box in the table's head that ticks all boxes of the page.
(function () {
  "use strict";
  var all = document.getElementById("all-of-page");
  if (!all) return;
  all.hidden = false;
  all.addEventListener("change", function () {
    document.querySelectorAll("input[name='job']").forEach(function (one) { one.checked = all.checked; });
  });
})();
