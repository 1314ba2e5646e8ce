// Keeps the exports of a page current: bars move with the events of /ws/jobs, and the HTML of an export is
// fetched again when its status changes. Without a socket, live exports are fetched every few seconds.
(function () {
  "use strict";
  var FAST_POLL = 5; // seconds between fetches without a socket, or while an export waits or is silent
  var SLOW_POLL = 30; // otherwise, in case an event was missed
  var SILENT_WORKER = 15; // after so many seconds without a message the server knows why
  var DEAD_SOCKET = 50; // a socket has a frame every 20 s
  var MAX_PAUSE = 30; // before another attempt to open a socket
  var box = document.getElementById("exports");
  if (!box) return;
  var phases = JSON.parse(box.dataset.phases);
  var announcement = document.getElementById("announcement");
  var news = document.getElementById("news");
  var newest = 0; // the newest export on this page
  var stale = {}; // the ids of exports to fetch
  var eventAt = {}; // when the last event of an export came
  var fetching = false;
  var openedAt = Date.now(), fetchedAt = openedAt;
  var socket = null, lastId = null, frameAt = 0, failures = 0;

  function all(selector) { return Array.prototype.slice.call(box.querySelectorAll(selector)); }
  function find(id) { return box.querySelector('[data-export="' + Number(id) + '"]'); }
  function age(moment) { return (Date.now() - moment) / 1000; }

  function write(element, part, text) {
    var target = element.querySelector('[data-part="' + part + '"]');
    if (target) target.textContent = text;
  }

  // --- events of the socket ---

  function update(job, isEvent) {
    var element = find(job.jobId);
    if (!element) {
      if (isEvent && news && job.jobId > newest) news.hidden = false;
      return;
    }
    if (!("live" in element.dataset)) return;
    eventAt[job.jobId] = Date.now();
    var bar = element.querySelector('[data-part="bar"]');
    if (job.status !== element.dataset.status || !bar) return refresh(job.jobId);
    if (job.progress < bar.value) return;
    bar.value = job.progress;
    write(element, "percent", job.progress + "%");
    write(element, "phase", phases[job.phase] || job.phase);
    write(element, "left", job.etaSeconds === null ? "" : box.dataset.left.replace("{}", window.duration(job.etaSeconds)));
    write(element, "message", job.message);
    if (isEvent) write(element, "wait", "");
  }

  function connect() {
    var after = lastId === null ? "" : "?after=" + lastId;
    frameAt = Date.now();
    socket = new WebSocket(window.location.origin.replace(/^http/, "ws") + "/ws/jobs" + after);
    socket.addEventListener("message", function (message) {
      var frame = JSON.parse(message.data);
      frameAt = Date.now();
      failures = 0;
      if (frame.type === "snapshot") {
        lastId = frame.last_id;
        frame.data.jobs.forEach(function (job) { update(job, false); });
      } else if (frame.id) {
        lastId = frame.id;
        update(frame, true);
      }
    });
    socket.addEventListener("close", function (closed) {
      if (closed.code === 4401) return window.location.reload(); // signed out meanwhile
      socket = null;
      var pause = Math.min(MAX_PAUSE, Math.pow(2, failures)) * (0.5 + Math.random() / 2);
      failures += 1;
      window.setTimeout(connect, pause * 1000);
    });
  }

  // --- fetches of current HTML ---

  function refresh(id) {
    stale[id] = true;
    fetchStale();
  }

  function fetchStale() {
    var ids = Object.keys(stale);
    if (fetching || !ids.length || document.visibilityState !== "visible") return;
    fetching = true;
    stale = {};
    var query = ids.slice(0, 100).map(function (id) { return "&id=" + id; }).join("");
    fetch(box.dataset.ask + query).then(function (answer) {
      if (answer.redirected) return window.location.reload(); // signed out meanwhile
      return answer.ok ? answer.text().then(function (text) { show(ids, text); }) : undefined;
    }).catch(function () { /* the next fetch follows anyway */ }).then(function () {
      fetching = false;
      fetchedAt = Date.now();
    });
  }

  function show(ids, text) {
    var template = document.createElement("template");
    template.innerHTML = text;
    ids.forEach(function (id) {
      var old = find(id), fresh = template.content.querySelector('[data-export="' + id + '"]');
      if (!old) return;
      if (!fresh) return window.location.reload(); // it is gone
      var focused = old.contains(document.activeElement) && document.activeElement.id;
      var changed = old.dataset.status !== fresh.dataset.status;
      old.replaceWith(fresh);
      if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
      if (changed && announcement) announcement.textContent = fresh.dataset.says;
      watchVideo(fresh);
    });
  }

  function everySecond() {
    if (socket && age(frameAt) > DEAD_SOCKET) socket.close();
    var live = all("[data-live]");
    var connected = socket && socket.readyState === WebSocket.OPEN;
    var calm = connected && live.every(function (element) {
      return !element.dataset.live && age(eventAt[element.dataset.export] || openedAt) < SILENT_WORKER;
    });
    if (live.length && age(fetchedAt) >= (calm ? SLOW_POLL : FAST_POLL)) {
      live.forEach(function (element) { stale[element.dataset.export] = true; });
    }
    fetchStale();
  }

  // --- videos that the browser cannot play ---

  function watchVideo(element) {
    var video = element.querySelector("video"), notice = element.querySelector('[data-part="unplayable"]');
    if (video && notice) video.addEventListener("error", function () { notice.hidden = false; });
  }

  all("[data-export]").forEach(function (element) {
    newest = Math.max(newest, Number(element.dataset.export));
    watchVideo(element);
  });
  document.addEventListener("visibilitychange", everySecond);
  window.setInterval(everySecond, 1000);
  connect();
})();
