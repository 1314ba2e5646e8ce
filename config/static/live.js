// Keeps a page's live part fresh: asks every ten seconds (about what has ended every minute), and soon after
// an event on its sockets, while the tab is seen and nobody has paused it.
(function () {
  "use strict";
  var AGAIN = 30; // a socket that was closed is opened again after this
  var NO_NEWS = ["snapshot", "heartbeat"];
  var live = document.getElementById("live");
  var SECONDS = Number(live && live.dataset.seconds) || 10;
  var SOON = Number(live && live.dataset.soon) || 2; // from one answer to the next, however many events
  var told = document.getElementById("updated");
  var pause = document.getElementById("pause");
  var paused = false;
  var stale = false; // something has happened since the last answer
  var updatedAt = Date.now();
  var askedAt = updatedAt; // later than the answer, where the server did not give one
  var ahead = 0; // how far this machine's clock is ahead of the server's
  var places = {}; // how far each drawing was scrolled

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

  function age(moment) { return Math.floor((Date.now() - moment) / 1000); }

  function everySecond() {
    document.querySelectorAll("time[data-since]").forEach(function (one) {
      one.textContent = lasted((Date.now() - ahead - Date.parse(one.dataset.since)) / 1000);
    });
    if (!live || !told) return;
    told.textContent = told.dataset.words.replace("{}", age(updatedAt));
    told.classList.toggle("bad", age(updatedAt) > 3 * SECONDS && !paused);
    if (age(askedAt) >= (stale ? SOON : SECONDS) && !paused && document.visibilityState === "visible") ask();
  }

  function ask() {
    stale = false;
    askedAt = Date.now(); // also when it fails: the next try waits its time as well
    window.htmx.trigger(live, "tick");
  }

  function watch(path) {
    var scheme = window.location.protocol === "https:" ? "wss://" : "ws://";
    var socket = new WebSocket(scheme + window.location.host + path);
    socket.addEventListener("message", function (message) {
      var event = JSON.parse(message.data);
      var about = live.dataset.about;
      if (NO_NEWS.indexOf(event.type) >= 0) return;
      if (about && event.job_id !== about && event.batch_id !== about) return;
      stale = true;
      everySecond();
    });
    socket.addEventListener("close", function () {
      window.setTimeout(function () { watch(path); }, AGAIN * 1000);
    });
  }

  function scrolled(each) {
    if (live) live.querySelectorAll(".graph[id], .scroll[id]").forEach(each);
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
  document.body.addEventListener("htmx:beforeSwap", function (swap) {
    // Whoever was signed out meanwhile was led to another page: it is no part of this one.
    if (new URL(swap.detail.xhr.responseURL).pathname !== live.getAttribute("hx-get").split("?")[0]) {
      swap.detail.shouldSwap = false;
      window.location.reload();
      return;
    }
    scrolled(function (one) { places[one.id] = [one.scrollLeft, one.scrollTop]; });
  });
  document.body.addEventListener("htmx:afterSwap", function () {
    updatedAt = askedAt = Date.now();
    scrolled(function (one) { if (places[one.id]) one.scrollTo(places[one.id][0], places[one.id][1]); });
    serverTime();
    everySecond();
  });
  document.addEventListener("visibilitychange", everySecond);
  serverTime();
  everySecond();
  if (live && live.dataset.events) live.dataset.events.split(" ").forEach(watch);
  window.setInterval(everySecond, 1000);
})();
