// On every page: how many alerts are new, in its header and on its tab, and the browser's notifications once the user has allowed them.
(function () {
  "use strict";
  var EVERY_MS = 30000;
  var NOTIFIED = "notified-alert";
  var link = document.getElementById("alerts");
  var button = document.getElementById("notify");
  var icon = document.getElementById("icon");
  var plainIcon = icon.getAttribute("href");
  var canNotify = "Notification" in window;

  function mayNotify() { return canNotify && Notification.permission === "granted"; }

  function show(alerts) {
    var count = link.querySelector("span");
    count.textContent = alerts.count > 99 ? "99+" : String(alerts.count);
    count.hidden = !alerts.count;
    icon.setAttribute("href", alerts.count ? icon.dataset.alert : plainIcon);
    // Another tab may have notified already.
    if (!alerts.newest || !mayNotify() || localStorage.getItem(NOTIFIED) === alerts.newest.id) return;
    localStorage.setItem(NOTIFIED, alerts.newest.id);
    new Notification(alerts.newest.title, { body: alerts.newest.text, tag: alerts.newest.id }).onclick = function () {
      window.focus();
      window.location.assign(alerts.newest.address);
    };
  }

  function check() {
    if (document.hidden && !mayNotify()) return;
    fetch(link.dataset.address).then(function (response) {
      return response.redirected || !response.ok ? null : response.json();
    }).then(function (alerts) { if (alerts) show(alerts); }).catch(function () { /* the next one may work */ });
  }

  if (link) {
    check();
    window.setInterval(check, EVERY_MS);
  }
  if (button && canNotify && Notification.permission === "default") {
    button.hidden = false;
    button.addEventListener("click", function () {
      Notification.requestPermission().then(function (answer) { button.hidden = answer !== "default"; });
    });
  }
})();
