// Zooms a drawing with its buttons or with + and - on the keyboard, and scrolls it to its start.
(function () {
  "use strict";
  var LEAST = 0.1, MOST = 3;
  var scale = 1;

  function drawing() { return document.querySelector("#live .graph[id]"); }

  function apply() {
    var svg = drawing() && drawing().querySelector("svg");
    if (!svg) return;
    svg.setAttribute("width", Math.round(svg.viewBox.baseVal.width * scale));
    svg.setAttribute("height", Math.round(svg.viewBox.baseVal.height * scale));
  }

  function zoom(by) {
    var box = drawing(), size = box && box.querySelector("svg").viewBox.baseVal;
    if (!box) return;
    var x = (box.scrollLeft + box.clientWidth / 2) / scale, y = (box.scrollTop + box.clientHeight / 2) / scale;
    var fit = Math.min(1, box.clientWidth / size.width, window.innerHeight * 0.7 / size.height);
    scale = Math.max(LEAST, Math.min(MOST, by === "fit" ? fit : by === "full" ? 1 : scale * Number(by)));
    apply();
    // The middle of the view stays where it is.
    box.scrollTo(x * scale - box.clientWidth / 2, y * scale - box.clientHeight / 2);
  }

  function start() {
    var box = drawing(), first = box && box.dataset.start && document.getElementById(box.dataset.start);
    if (!first) return;
    var middle = first.getBoundingClientRect().left - box.getBoundingClientRect().left;
    box.scrollLeft += middle - box.clientWidth / 2;
  }

  document.documentElement.classList.add("js");
  document.addEventListener("click", function (event) {
    var button = event.target.closest("button[data-zoom]");
    if (button) zoom(button.dataset.zoom);
  });
  document.addEventListener("keydown", function (event) {
    if (!event.target.closest(".graph[id]") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") zoom("full");
    else return;
    event.preventDefault();
  });
  document.body.addEventListener("htmx:afterSwap", apply);
  start();
})();
