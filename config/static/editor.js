// The editor of a workflow's steps. The JSON in the text area is what the form sends; the server makes each change
// of it, draws the steps and writes the form of one step. Without this script the text area and the drawing remain.
(function () {
  "use strict";
  var HANDLE_X = 168, HANDLE_Y = 20; // of a box, in the middle of its right side
  var editor = document.getElementById("editor");
  if (!editor) return;
  var form = find("form"), json = find("steps-json"), preview = find("preview"), panel = find("step");
  var tabs = Array.from(editor.querySelectorAll("[role=tab]"));
  var place = ""; // of the step in the panel
  var past = [], future = []; // texts of the JSON, for undo and redo
  var typedFrom = null; // the JSON when its text area took the focus
  var queue = Promise.resolve(), waiting = 0, wasRefused = false;
  var differs = false; // the panel has a value that could not be applied
  var changes = 0, asked = 0; // how many were sent, and had been when the last preview was asked for
  var previewMissed = false;
  var scrolled = [0, 0]; // where the drawing stands
  var drag = null;

  function find(id) { return document.getElementById(id); }
  function boxes() { return Array.from(find("drawn").querySelectorAll("[data-place]")); }

  // --- changes, one after the other ---
  function send(action, values) {
    waiting += 1;
    queue = queue.then(function () { return post(action, values || {}); }).catch(function () {
      wasRefused = true;
      find("editor-message").textContent = editor.dataset.failed;
    }).then(function () {
      waiting -= 1;
      askForMissedPreview();
    });
    return queue;
  }

  function askForMissedPreview() {
    if (waiting || !previewMissed) return;
    previewMissed = false;
    window.htmx.trigger(json, "input");
  }

  function post(action, values) {
    var data = new FormData(form), step = find("step-form"), sent = json.value;
    if (step) new FormData(step).forEach(function (value, name) { data.append(name, value); });
    Object.entries(Object.assign({ edit: action, place: place }, values)).forEach(function (pair) { data.set(pair[0], pair[1]); });
    changes += 1;
    return fetch(preview.getAttribute("hx-post"), { method: "POST", body: data }).then(function (response) {
      if (!response.ok || response.redirected) throw new Error(response.status);
      return response.text();
    }).then(function (html) {
      // Leaving a field sends its change. What is pressed meanwhile must not move before it was clicked.
      return window.press.end.then(function () { return html; });
    }).then(function (html) {
      var focused = document.activeElement.closest("#drawn [data-place]");
      window.htmx.swap(preview, html, { swapStyle: "innerHTML" });
      var text = find("editor-steps").textContent;
      if (text !== sent) replace(text);
      wasRefused = find("editor-message").textContent !== "";
      differs = wasRefused && action === "change";
      showStep();
      // Only now the new box can take the focus that the old one had.
      if (focused && find(focused.id)) find(focused.id).focus({ preventScroll: true });
    });
  }

  function replace(text) {
    past.push(json.value);
    future = [];
    json.value = text;
    showHistory();
  }

  function showHistory() {
    find("undo").disabled = !past.length;
    find("redo").disabled = !future.length;
  }

  function walk(from, to) {
    queue.then(function () {
      if (!from.length) return;
      to.push(json.value);
      json.value = from.pop();
      showHistory();
      send("open");
    });
  }

  // --- what is shown ---
  function showStep() {
    var step = find("step-form");
    place = step ? step.dataset.place : "";
    panel.hidden = !step;
    decorate();
  }

  // Boxes become buttons with a handle at the right.
  function decorate() {
    var svg = find("drawn").querySelector("svg");
    if (svg) {
      svg.setAttribute("role", "group");
      svg.parentElement.scrollTo(scrolled[0], scrolled[1]);
    }
    boxes().forEach(function (box) {
      var isChosen = box.dataset.place === place;
      box.classList.toggle("chosen", isChosen);
      box.setAttribute("role", "button");
      box.setAttribute("tabindex", "0");
      box.setAttribute("aria-label", box.dataset.label);
      box.setAttribute("aria-pressed", String(isChosen));
      if (!box.querySelector(".handle")) box.append(circle("handle", 14), circle("dot", 5));
    });
  }

  function circle(name, radius) {
    var made = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    made.setAttribute("class", name);
    made.setAttribute("cx", HANDLE_X);
    made.setAttribute("cy", HANDLE_Y);
    made.setAttribute("r", radius);
    return made;
  }

  function open(of, thenFocus) {
    return send("open", { place: of, "step-written_as": "" }).then(function () {
      if (thenFocus && find("step-ref")) find("step-ref").focus();
    });
  }

  function remove() {
    send("remove").then(function () { find("add-task").focus(); });
  }

  function choose(tab) {
    tabs.forEach(function (each) {
      each.setAttribute("aria-selected", String(each === tab));
      each.tabIndex = each === tab ? 0 : -1;
      find(each.getAttribute("aria-controls")).hidden = each !== tab;
    });
    if (tab.id === "graph-tab") send("open");
  }

  // --- dragging from a handle to another box ---
  function boxAt(event) {
    var element = document.elementFromPoint(event.clientX, event.clientY);
    return element && element.closest("#drawn [data-place]");
  }

  function startDrag(event) {
    if (!event.target.matches(".handle") || event.button !== 0) return;
    var svg = event.target.ownerSVGElement, box = event.target.closest("[data-place]");
    var path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("class", "drawn");
    svg.append(path);
    drag = { from: box.dataset.place, path: path, svg: svg };
    event.target.setPointerCapture(event.pointerId);
    event.preventDefault();
    drag.start = inDrawing(event);
  }

  function inDrawing(event) {
    var point = new DOMPoint(event.clientX, event.clientY).matrixTransform(drag.svg.getScreenCTM().inverse());
    return point.x + " " + point.y;
  }

  function moveDrag(event) {
    if (!drag) return;
    drag.path.setAttribute("d", "M" + drag.start + "L" + inDrawing(event));
    var over = boxAt(event);
    boxes().forEach(function (box) { box.classList.toggle("target", box === over && box.dataset.place !== drag.from); });
  }

  function endDrag(event) {
    if (!drag) return;
    var from = drag.from, to = event.type === "pointerup" && boxAt(event);
    drag.path.remove();
    drag = null;
    boxes().forEach(function (box) { box.classList.remove("target"); });
    if (to && to.dataset.place !== from) send("connect", { place: to.dataset.place, parent: from, "step-written_as": "" });
  }

  // --- events ---
  function isTyping(target) { return target.matches("input:not([type=checkbox]), select, textarea"); }

  function pressKey(event) {
    var box = event.target.closest("[data-place]"), key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && (key === "z" || key === "y") && !isTyping(event.target)) {
      event.preventDefault();
      if (key === "y" || event.shiftKey) walk(future, past); else walk(past, future);
    } else if (box && event.target === box && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      open(box.dataset.place, true);
    } else if (box && event.target === box && event.key === "Delete") {
      place = box.dataset.place;
      remove();
    } else if (event.target.matches("[role=tab]") && /^Arrow(Left|Right)$/.test(event.key)) {
      var other = tabs[1 - tabs.indexOf(event.target)];
      other.focus();
      choose(other);
    }
  }

  function click(event) {
    var box = event.target.closest("[data-place]"), button = event.target.closest("button");
    if (button && button.matches("[role=tab]")) choose(button);
    else if (button && button.id === "undo") walk(past, future);
    else if (button && button.id === "redo") walk(future, past);
    else if (button && button.dataset.edit === "remove") remove();
    else if (button && button.dataset.edit) send(button.dataset.edit);
    else if (box && !event.target.matches("form *, .handle")) open(box.dataset.place);
  }

  editor.addEventListener("click", click);
  editor.addEventListener("keydown", pressKey);
  editor.addEventListener("pointerdown", startDrag);
  editor.addEventListener("pointermove", moveDrag);
  editor.addEventListener("pointerup", endDrag);
  editor.addEventListener("pointercancel", endDrag);
  editor.addEventListener("change", function (event) {
    if (event.target.closest("#step-form")) send("change");
  });
  editor.addEventListener("submit", function (event) {
    event.preventDefault();
    if (event.target.id !== "add-form") return;
    send("add", { task_id: find("add-task").value, "step-written_as": "" }).then(function () {
      if (wasRefused) return;
      find("add-task").value = "";
      find("step-box-" + place).scrollIntoView({ block: "nearest", inline: "nearest" });
      find("step-ref").select();
    });
  });
  find("drawn").addEventListener("scroll", function (event) { scrolled = [event.target.scrollLeft, event.target.scrollTop]; }, true);
  json.addEventListener("focus", function () { typedFrom = json.value; });
  json.addEventListener("change", function () {
    if (typedFrom === null || typedFrom === json.value) return;
    past.push(typedFrom);
    future = [];
    typedFrom = json.value;
    showHistory();
  });
  // What was typed last is applied before the form is sent; what was refused is not dropped.
  form.addEventListener("submit", function (event) {
    if (!waiting && !differs) return;
    event.preventDefault();
    queue.then(function () {
      if (!wasRefused) form.requestSubmit(event.submitter);
      else find("editor-message").scrollIntoView({ block: "center" });
    });
  });
  document.body.addEventListener("htmx:beforeRequest", function (event) {
    if (event.detail.elt !== preview) return;
    asked = changes;
    if (!waiting) return;
    event.preventDefault();
    previewMissed = true;
  });
  // The answer to an older question would draw the steps as they were.
  document.body.addEventListener("htmx:beforeSwap", function (event) {
    if (event.detail.target !== preview) return;
    if (window.press.target || asked !== changes) event.detail.shouldSwap = false;
    if (!window.press.target) return;
    previewMissed = true;
    window.press.end.then(askForMissedPreview);
  });
  document.body.addEventListener("htmx:afterSwap", decorate);

  editor.querySelectorAll("[role=tablist], .editor-tools").forEach(function (part) { part.hidden = false; });
  tabs.forEach(function (tab) { find(tab.getAttribute("aria-controls")).setAttribute("role", "tabpanel"); });
  find("json-panel").hidden = true;
  var wrong = find("drawn").querySelector(".tone-bad[data-place]");
  decorate();
  var named = boxes().find(function (box) { return "#" + box.id === window.location.hash; });
  if (wrong || named) open((wrong || named).dataset.place).then(function () { if (named) editor.scrollIntoView(); });
  else if (find("why-steps").textContent.trim() && !boxes().length) choose(tabs[1]);
})();
