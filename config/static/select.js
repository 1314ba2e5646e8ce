// A checkbox in the head of a table that selects all rows of the page, also after a refresh.
(function () {
  "use strict";
  document.addEventListener("change", function (event) {
    if (event.target.id !== "all-of-page") return;
    document.querySelectorAll("input[name='job'], input[name='run']").forEach(function (box) {
      box.checked = event.target.checked;
    });
  });
  function show() {
    var all = document.getElementById("all-of-page");
    if (all) all.hidden = false;
  }
  document.body.addEventListener("htmx:afterSwap", show);
  show();
})();
