// Refreshes the live part of a page every ten seconds (every minute after its job ended), and soon after an
// event on its sockets, while the tab is visible and auto-refresh is not paused.
(function () {
  "use strict";
  var RECONNECT_SECONDS = 30;
  var IGNORED_TYPES = ["snapshot", "heartbeat"];
  var live = document.getElementById("live");
  var SECONDS = Number(live && live.dataset.seconds) || 10;
  var SOON = Number(live && live.dataset.soon) || 2; // the shortest time between two refreshes
  var updated = document.getElementById("updated");
  var pause = document.getElementById("pause");
  var paused = false;
  var stale = false; // an event arrived since the last refresh
  var updatedAt = Date.now();
  var requestedAt = updatedAt;
  var clockOffset = 0; // this machine's clock minus the server's
  var scrollPositions = {}; // of each drawing, by its id
  var checked = []; // the selected rows of a list, by name and value
  var typed = {}; // what was typed into its forms, by form and field
  var focused = null; // the checkbox or link in it that has the focus
  var opened = []; // the open details, each by the nearest id and its place there

  function serverTime() {
    var mark = live && live.querySelector("[data-now]");
    if (mark) clockOffset = Date.now() - Date.parse(mark.dataset.now);
  }

  function age(moment) { return Math.floor((Date.now() - moment) / 1000); }

  function tick() {
    document.querySelectorAll("time[data-since]").forEach(function (element) {
      element.textContent = window.duration((Date.now() - clockOffset - Date.parse(element.dataset.since)) / 1000);
    });
    if (!live || !updated) return;
    var isFresh = age(updatedAt) <= SECONDS + 1;
    updated.textContent = isFresh ? updated.dataset.fresh : updated.dataset.words.replace("{}", age(updatedAt));
    updated.classList.toggle("bad", age(updatedAt) > 3 * SECONDS && !paused);
    // An answer arrives a little after its tick; without the half second the next request would be a tick late.
    var isDue = Date.now() - requestedAt >= (stale ? SOON : SECONDS) * 1000 - 500;
    if (isDue && !paused && !isInUse() && document.visibilityState === "visible") refresh();
  }

  // A refresh would drop the text that the user is selecting or typing.
  function isInUse() {
    var selection = window.getSelection();
    if (selection && !selection.isCollapsed && live.contains(selection.anchorNode)) return true;
    var active = document.activeElement;
    return Boolean(active) && live.contains(active) && active.matches("input:not([type=checkbox], [type=radio]), select, textarea");
  }

  function refresh() {
    stale = false;
    requestedAt = Date.now(); // a failed refresh is not repeated at once either
    window.htmx.trigger(live, "tick");
  }

  // The path has the newest event that the page was rendered with: what came after it is sent at once.
  function watch(path) {
    var socket = new WebSocket(window.location.origin.replace(/^http/, "ws") + path);
    socket.addEventListener("message", function (message) {
      var event = JSON.parse(message.data);
      if (event.id && /[?]after=/.test(path)) path = path.replace(/after=[0-9]+/, "after=" + event.id);
      var about = live.dataset.about;
      if (IGNORED_TYPES.indexOf(event.type) >= 0) return;
      if (about && event.job_id !== about && event.batch_id !== about) return;
      stale = true;
      tick();
    });
    socket.addEventListener("close", function () {
      window.setTimeout(function () { watch(path); }, RECONNECT_SECONDS * 1000);
    });
  }

  function eachScrollable(each) {
    if (live) live.querySelectorAll(".graph[id], .scroll[id]").forEach(each);
  }

  function boxes() { return live.querySelectorAll("input[type=checkbox], input[type=radio]"); }

  function keyOfDetails(element) {
    var named = element.id ? element : element.closest("[id]");
    return named.id + " " + Array.prototype.indexOf.call(named.querySelectorAll("details"), element);
  }

  function keyOfFocusable(element) { return element.getAttribute("href") || element.name + " " + element.value; }

  // A choice or a text that differs from the one in the page.
  function eachField(each) {
    live.querySelectorAll("form input:not([type=hidden], [type=checkbox], [type=radio]), form select").forEach(function (field) {
      each(field, field.form.getAttribute("action") + " " + field.name);
    });
  }

  function isChanged(field) {
    return field.options ? !field.options[field.selectedIndex].defaultSelected : field.value !== field.defaultValue;
  }

  function remember() {
    typed = {};
    eachField(function (field, key) { if (isChanged(field)) typed[key] = field.value; });
    var active = document.activeElement;
    focused = live.contains(active) && !active.id ? keyOfFocusable(active) : null;
    eachScrollable(function (element) { scrollPositions[element.id] = [element.scrollLeft, element.scrollTop]; });
    checked = Array.from(boxes()).filter(function (box) { return box.checked; }).map(function (box) { return box.name + " " + box.value; });
    opened = Array.from(live.querySelectorAll("details[open]")).map(keyOfDetails);
  }

  function restore() {
    eachScrollable(function (element) { if (scrollPositions[element.id]) element.scrollTo(scrollPositions[element.id][0], scrollPositions[element.id][1]); });
    eachField(function (field, key) { if (key in typed) field.value = typed[key]; });
    if (focused) Array.from(live.querySelectorAll("a[href], button, input")).some(function (element) {
      if (keyOfFocusable(element) !== focused) return false;
      element.focus({ preventScroll: true });
      return true;
    });
    boxes().forEach(function (box) { if (checked.indexOf(box.name + " " + box.value) >= 0) box.checked = true; });
    live.querySelectorAll("details").forEach(function (element) { if (opened.indexOf(keyOfDetails(element)) >= 0) element.open = true; });
  }

  if (pause) {
    pause.hidden = false;
    pause.addEventListener("click", function () {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      pause.textContent = paused ? pause.dataset.resume : pause.dataset.pause;
      if (!paused) refresh();
    });
  }
  document.body.addEventListener("htmx:beforeSwap", function (swap) {
    if (swap.detail.target !== live) return;
    if (live.contains(window.press.target)) {
      swap.detail.shouldSwap = false;
      stale = true;
      return;
    }
    // The user was signed out and redirected: the response is not a part of this page.
    if (new URL(swap.detail.xhr.responseURL).pathname !== live.getAttribute("hx-get").split("?")[0]) {
      swap.detail.shouldSwap = false;
      window.location.reload();
      return;
    }
    remember();
  });
  document.body.addEventListener("htmx:afterSwap", function (swap) {
    if (swap.detail.target !== live) return;
    updatedAt = requestedAt = Date.now();
    restore();
    serverTime();
    tick();
  });
  document.addEventListener("visibilitychange", tick);
  serverTime();
  tick();
  if (live && live.dataset.events) live.dataset.events.split(" ").forEach(watch);
  window.setInterval(tick, 1000);
})();
