// Keeps a page's live part fresh: asks every ten seconds (about what has ended every minute), and soon after
// an event of its offices, while the tab is seen and nobody has paused it.
(function () {
  "use strict";
  var SOON = 2; // so many seconds from one answer to the next, however many events there are
  var AGAIN = 30; // a socket that was closed is opened again after this
  var live = document.getElementById("live");
  var SECONDS = Number(live && live.dataset.seconds) || 10;
  var told = document.getElementById("updated");
  var pause = document.getElementById("pause");
  var paused = false;
  var stale = false; // something has happened since the last answer
  var updatedAt = Date.now();
  var ahead = 0; // how far this machine's clock is ahead of the server's

  function serverTime() {
    var mark = live && live.querySelector("[data-now]");
    if (mark) ahead = Date.now() - Date.parse(mark.dataset.now);
  }

  function lasted(seconds) {
    var s = Math.max(0, Math.floor(seconds));
    var two = function (n) { return (n < 10 ? "0" : "") + n; };
    var hours = Math.floor(s / 3600);
    return (hours ? hours + ":" + two(Math.floor((s % 3600) / 60)) : Math.floor(s / 60)) + ":" + two(s % 60);
  }

  function everySecond() {
    document.querySelectorAll("time[data-since]").forEach(function (one) {
      one.textContent = lasted((Date.now() - ahead - Date.parse(one.dataset.since)) / 1000);
    });
    if (!live || !told) return;
    var age = Math.floor((Date.now() - updatedAt) / 1000);
    told.textContent = told.dataset.words.replace("{}", age);
    if (age >= (stale ? SOON : SECONDS) && !paused && document.visibilityState === "visible") ask();
  }

  function ask() {
    stale = false;
    updatedAt = Date.now(); // also when it fails: the next try waits its time as well
    window.htmx.trigger(live, "tick");
  }

  function watch(path) {
    var scheme = window.location.protocol === "https:" ? "wss://" : "ws://";
    var socket = new WebSocket(scheme + window.location.host + path);
    socket.addEventListener("message", function (message) {
      var event = JSON.parse(message.data);
      var about = live.dataset.about;
      if (!event.office_id || (about && event.job_id !== about && event.batch_id !== about)) return;
      stale = true;
      everySecond();
    });
    socket.addEventListener("close", function () {
      window.setTimeout(function () { watch(path); }, AGAIN * 1000);
    });
  }

  if (pause) {
    pause.hidden = false;
    pause.addEventListener("click", function () {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      pause.textContent = paused ? pause.dataset.resume : pause.dataset.pause;
      if (!paused) ask();
    });
  }
  document.body.addEventListener("htmx:afterSwap", function () {
    updatedAt = Date.now();
    serverTime();
    everySecond();
  });
  document.addEventListener("visibilitychange", everySecond);
  serverTime();
  everySecond();
  if (live && live.dataset.events) live.dataset.events.split(" ").forEach(watch);
  window.setInterval(everySecond, 1000);
})();
