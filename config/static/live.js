// Keeps a page's live part fresh: asks every ten seconds while the tab is seen and nobody has paused it.
(function () {
  "use strict";
  var SECONDS = 10;
  var live = document.getElementById("live");
  var told = document.getElementById("updated");
  var pause = document.getElementById("pause");
  var paused = false;
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
    if (age >= SECONDS && !paused && document.visibilityState === "visible") ask();
  }

  function ask() {
    updatedAt = Date.now(); // also when it fails: the next try is ten seconds later
    window.htmx.trigger(live, "tick");
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
  window.setInterval(everySecond, 1000);
})();
