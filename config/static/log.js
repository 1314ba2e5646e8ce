// Follows the log of a run: adds the lines that its socket sends, as far as the filter admits them.
(function () {
  "use strict";
  var MOST_LINES = 5000;
  var RECONNECT_SECONDS = 5;
  var LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"];
  var list = document.getElementById("log-lines");
  var form = document.getElementById("log-filter");
  var follow = document.getElementById("log-follow");
  if (!list) return;
  list.scrollTop = list.scrollHeight;
  if (!list.dataset.socket) return;
  var after = Number(list.dataset.after);
  var applied = new URLSearchParams(window.location.search);
  var attempt = applied.get("attempt");
  var level = LEVELS.indexOf(applied.get("level"));
  var text = (applied.get("q") || "").toLowerCase();
  follow.hidden = false;

  function isAdmitted(line) {
    return (!attempt || String(line.attempt) === attempt)
      && LEVELS.indexOf(line.level) >= level
      && line.message.toLowerCase().indexOf(text) >= 0;
  }

  function part(name, content) {
    var element = document.createElement(name);
    element.textContent = content;
    return element;
  }

  function add(line) {
    var item = document.createElement("li");
    item.className = line.level.toLowerCase();
    var time = part("time", line.at.slice(11, 19));
    time.dateTime = line.at;
    var origin = part("span", [line.attempt, line.level, line.logger || line.stream].join(" "));
    origin.className = "soft";
    item.append(time, " ", origin, " ", part("span", line.message));
    list.append(item);
  }

  function connect() {
    var socket = new WebSocket(window.location.origin.replace(/^http/, "ws") + list.dataset.socket + "?after=" + after);
    socket.addEventListener("message", function (message) {
      var event = JSON.parse(message.data);
      if (event.type !== "lines") return;
      after = event.id;
      event.lines.filter(isAdmitted).forEach(add);
      while (list.children.length > MOST_LINES) list.firstElementChild.remove();
      document.getElementById("log-empty").hidden = list.children.length > 0;
      if (follow.querySelector("input").checked) list.scrollTop = list.scrollHeight;
    });
    socket.addEventListener("close", function () {
      window.setTimeout(connect, RECONNECT_SECONDS * 1000);
    });
  }

  connect();
})();
