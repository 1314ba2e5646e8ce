// Keeps the exports of a page true: bars move with the events of /ws/jobs, and what came to another state is
// asked for again. Without a socket, what has not ended is asked for every few seconds.
(function () {
  "use strict";
  var OFTEN = 5; // seconds between two questions, while there is no socket, or something waits or is silent
  var SELDOM = 30; // else: an event may have been missed, nothing more
  var QUIET = 15; // a worker that has said nothing for longer: the server knows why
  var SILENCE = 50; // a socket says something every 20 s; one that is silent for longer is dead
  var LONGEST_PAUSE = 30; // between two tries to open a socket
  var box = document.getElementById("exports");
  if (!box) return;
  var phases = JSON.parse(box.dataset.phases);
  var told = document.getElementById("told");
  var news = document.getElementById("news");
  var newest = 0; // the newest export that this page shows or has heard of
  var wanted = {}; // what is to be asked for
  var spokenOf = {}; // when the socket last said something of an export
  var asking = false;
  var openedAt = Date.now(), askedAt = openedAt;
  var socket = null, lastId = null, heardAt = 0, failures = 0;

  function all(selector) { return Array.prototype.slice.call(box.querySelectorAll(selector)); }
  function find(id) { return box.querySelector('[data-export="' + Number(id) + '"]'); }
  function age(moment) { return (Date.now() - moment) / 1000; }

  function clock(seconds) {
    var two = function (n) { return (n < 10 ? "0" : "") + n; };
    var hours = Math.floor(seconds / 3600), minutes = Math.floor((seconds % 3600) / 60);
    return (hours ? hours + ":" + two(minutes) : minutes) + ":" + two(seconds % 60);
  }

  function write(one, part, text) {
    var place = one.querySelector('[data-part="' + part + '"]');
    if (place) place.textContent = text;
  }

  // --- what the socket says ---

  function hear(job, isNews) {
    var one = find(job.jobId);
    if (!one) {
      if (isNews && news && job.jobId > newest) news.hidden = false;
      return;
    }
    if (!("live" in one.dataset)) return;
    spokenOf[job.jobId] = Date.now();
    var bar = one.querySelector('[data-part="bar"]');
    if (job.status !== one.dataset.status || !bar) return want(job.jobId);
    if (job.progress < bar.value) return;
    bar.value = job.progress;
    write(one, "percent", job.progress + "%");
    write(one, "phase", phases[job.phase] || job.phase);
    write(one, "left", job.etaSeconds === null ? "" : box.dataset.left.replace("{}", clock(job.etaSeconds)));
    write(one, "message", job.message);
    if (isNews) write(one, "standing", ""); // it has just been heard of
  }

  function listen() {
    var scheme = window.location.protocol === "https:" ? "wss://" : "ws://";
    var after = lastId === null ? "" : "?after=" + lastId;
    heardAt = Date.now();
    socket = new WebSocket(scheme + window.location.host + "/ws/jobs" + after);
    socket.addEventListener("message", function (message) {
      var said = JSON.parse(message.data);
      heardAt = Date.now();
      failures = 0;
      if (said.type === "snapshot") {
        lastId = said.last_id;
        said.data.jobs.forEach(function (job) { hear(job, false); });
      } else if (said.id) {
        lastId = said.id;
        hear(said, true);
      }
    });
    socket.addEventListener("close", function (closed) {
      if (closed.code === 4401) return window.location.reload(); // signed out meanwhile
      socket = null;
      var pause = Math.min(LONGEST_PAUSE, Math.pow(2, failures)) * (0.5 + Math.random() / 2);
      failures += 1;
      window.setTimeout(listen, pause * 1000);
    });
  }

  // --- what the server is asked ---

  function want(id) {
    wanted[id] = true;
    ask();
  }

  function ask() {
    var ids = Object.keys(wanted);
    if (asking || !ids.length || document.visibilityState !== "visible") return;
    asking = true;
    wanted = {};
    var query = ids.slice(0, 100).map(function (id) { return "&id=" + id; }).join("");
    fetch(box.dataset.ask + query).then(function (answer) {
      if (answer.redirected) return window.location.reload(); // signed out meanwhile
      return answer.ok ? answer.text().then(function (text) { show(ids, text); }) : undefined;
    }).catch(function () { /* the next question comes by itself */ }).then(function () {
      asking = false;
      askedAt = Date.now();
    });
  }

  function show(ids, text) {
    var sheet = document.createElement("template");
    sheet.innerHTML = text;
    ids.forEach(function (id) {
      var old = find(id), fresh = sheet.content.querySelector('[data-export="' + id + '"]');
      if (!old) return;
      if (!fresh) return window.location.reload(); // it is gone
      var focused = old.contains(document.activeElement) && document.activeElement.id;
      var changed = old.dataset.status !== fresh.dataset.status;
      old.replaceWith(fresh);
      if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
      if (changed && told) told.textContent = fresh.dataset.says;
      watchFilm(fresh);
    });
  }

  function everySecond() {
    if (socket && age(heardAt) > SILENCE) socket.close();
    var live = all("[data-live]");
    var heard = socket && socket.readyState === WebSocket.OPEN;
    var calm = heard && live.every(function (one) {
      return !one.dataset.live && age(spokenOf[one.dataset.export] || openedAt) < QUIET;
    });
    if (live.length && age(askedAt) >= (calm ? SELDOM : OFTEN)) {
      live.forEach(function (one) { wanted[one.dataset.export] = true; });
    }
    ask();
  }

  // --- what cannot be played ---

  function watchFilm(one) {
    var film = one.querySelector("video"), notice = one.querySelector('[data-part="unplayable"]');
    if (film && notice) film.addEventListener("error", function () { notice.hidden = false; });
  }

  all("[data-export]").forEach(function (one) {
    newest = Math.max(newest, Number(one.dataset.export));
    watchFilm(one);
  });
  document.addEventListener("visibilitychange", everySecond);
  window.setInterval(everySecond, 1000);
  listen();
})();
