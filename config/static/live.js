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

  function serverTime() {
    var mark = live && live.querySelector("[data-now]");
    if (mark) clockOffset = Date.now() - Date.parse(mark.dataset.now);
  }

  function duration(seconds) {
    var s = Math.max(0, Math.floor(seconds));
    var two = function (n) { return (n < 10 ? "0" : "") + n; };
    var hours = Math.floor(s / 3600);
    return (hours ? hours + ":" + two(Math.floor((s % 3600) / 60)) : Math.floor(s / 60)) + ":" + two(s % 60);
  }

  function age(moment) { return Math.floor((Date.now() - moment) / 1000); }

  function tick() {
    document.querySelectorAll("time[data-since]").forEach(function (element) {
      element.textContent = duration((Date.now() - clockOffset - Date.parse(element.dataset.since)) / 1000);
    });
    if (!live || !updated) return;
    updated.textContent = updated.dataset.words.replace("{}", age(updatedAt));
    updated.classList.toggle("bad", age(updatedAt) > 3 * SECONDS && !paused);
    if (age(requestedAt) >= (stale ? SOON : SECONDS) && !paused && document.visibilityState === "visible") refresh();
  }

  function refresh() {
    stale = false;
    requestedAt = Date.now(); // a failed refresh is not repeated at once either
    window.htmx.trigger(live, "tick");
  }

  function watch(path) {
    var scheme = window.location.protocol === "https:" ? "wss://" : "ws://";
    var socket = new WebSocket(scheme + window.location.host + path);
    socket.addEventListener("message", function (message) {
      var event = JSON.parse(message.data);
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
    // The user was signed out and redirected: the response is not a part of this page.
    if (new URL(swap.detail.xhr.responseURL).pathname !== live.getAttribute("hx-get").split("?")[0]) {
      swap.detail.shouldSwap = false;
      window.location.reload();
      return;
    }
    eachScrollable(function (element) { scrollPositions[element.id] = [element.scrollLeft, element.scrollTop]; });
  });
  document.body.addEventListener("htmx:afterSwap", function () {
    updatedAt = requestedAt = Date.now();
    eachScrollable(function (element) { if (scrollPositions[element.id]) element.scrollTo(scrollPositions[element.id][0], scrollPositions[element.id][1]); });
    serverTime();
    tick();
  });
  document.addEventListener("visibilitychange", tick);
  serverTime();
  tick();
  if (live && live.dataset.events) live.dataset.events.split(" ").forEach(watch);
  window.setInterval(tick, 1000);
})();
