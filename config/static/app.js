// On every page: search from anywhere, keyboard shortcuts, buttons that copy ids, errors and JSON, the focus
// of regions that scroll, what the pointer presses, and the form of durations.
(function () {
  "use strict";
  var WAIT_MS = 200;
  var PAGES = { o: "/", r: "/runs", w: "/workflows", s: "/schedules", q: "/step-queues" };
  var words = document.body.dataset;
  var finder = document.getElementById("finder");
  var help = document.getElementById("shortcuts");
  var waitsForPage = false; // "g" was pressed, and the next key names a page
  var timer = 0;
  var searches = 0;

  function isTyping(target) { return target.matches("input, select, textarea, [contenteditable]"); }

  function openFinder() {
    if (!finder.open) finder.showModal();
    finder.querySelector("input").select();
  }

  function search(text) {
    var number = ++searches;
    fetch(finder.dataset.address + "?q=" + encodeURIComponent(text)).then(function (response) {
      return response.redirected || !response.ok ? "" : response.text();
    }).then(function (html) {
      // An earlier search may be answered later.
      if (number === searches) finder.querySelector("[role=status]").innerHTML = html;
    });
  }

  // A menu of the header closes with Escape, and when something else is pressed.
  function closeMenus(except) {
    document.querySelectorAll("details.menu[open]").forEach(function (menu) {
      if (!menu.contains(except)) menu.open = false;
    });
  }
  document.addEventListener("pointerdown", function (event) { closeMenus(event.target); });
  document.addEventListener("keydown", function (event) {
    var menu = event.key === "Escape" && document.querySelector("details.menu[open]");
    if (menu && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    if (menu) closeMenus(null);
  });

  if (finder) {
    document.getElementById("find").addEventListener("click", openFinder);
    finder.querySelector("input").addEventListener("input", function (event) {
      window.clearTimeout(timer);
      timer = window.setTimeout(search, WAIT_MS, event.target.value);
    });
    // Enter opens the first result.
    finder.querySelector("form").addEventListener("submit", function (event) {
      var first = finder.querySelector("[role=status] a");
      event.preventDefault();
      if (first) window.location.assign(first.href);
    });
    document.addEventListener("keydown", function (event) {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openFinder();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
      if (waitsForPage && PAGES[event.key]) window.location.assign(PAGES[event.key]);
      waitsForPage = event.key === "g";
      if (event.key === "/") {
        event.preventDefault();
        openFinder();
      }
      if (event.key === "?") help.showModal();
    });
    document.querySelectorAll("dialog .close").forEach(function (button) {
      button.addEventListener("click", function () { button.closest("dialog").close(); });
    });
  }

  function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // Without TLS a page has no clipboard.
    var area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    return Promise.resolve();
  }

  function addCopyButtons() {
    document.querySelectorAll("main dd.mono, main pre[tabindex]").forEach(function (source) {
      if (source.dataset.copied) return;
      source.dataset.copied = "yes";
      var text = source.textContent;
      var button = document.createElement("button");
      button.type = "button";
      button.className = "plain copy";
      button.textContent = words.copy;
      button.addEventListener("click", function () {
        copy(text).then(function () { button.textContent = words.copied; });
      });
      if (source.tagName === "PRE") source.before(button); else source.append(" ", button);
    });
  }

  // A region that is wider than its place takes the focus, so that keys scroll it; its heading names it.
  function makeScrollableFocusable() {
    document.querySelectorAll("main section.card, main .scroll:not([tabindex])").forEach(function (region) {
      if (region.scrollWidth <= region.clientWidth || getComputedStyle(region).overflowX !== "auto") {
        region.removeAttribute("tabindex");
        return;
      }
      region.tabIndex = 0;
      region.setAttribute("role", "region");
      if (region.matches("[aria-label], [aria-labelledby]")) return;
      var heading = region.closest("section, main").querySelector("h1, h2, h3");
      region.setAttribute("aria-label", (heading || document.querySelector("h1")).textContent.trim());
    });
  }

  function prepare() {
    addCopyButtons();
    makeScrollableFocusable();
  }

  // --- what the pointer presses, for scripts that replace parts of the page: a click counts only on what is there
  // from the press to the release ---
  var press = window.press = { target: null, end: Promise.resolve() };
  var endPress = null;

  function startPress(event) {
    if (event.button > 1) return; // a menu opens; the middle button opens a link
    lift();
    press.target = event.target;
    var end = press.end = new Promise(function (resolve) { endPress = resolve; }).then(function () {
      if (press.end === end) press.target = null;
    });
  }

  // The click follows the release.
  function lift() {
    if (endPress) window.setTimeout(endPress);
    endPress = null;
  }

  document.addEventListener("pointerdown", startPress, true);
  // A drag, a menu or another window may take the release.
  ["pointerup", "pointercancel", "dragend", "contextmenu"].forEach(function (name) {
    document.addEventListener(name, lift, true);
  });
  window.addEventListener("blur", lift);
  document.addEventListener("pointermove", function (event) { if (!event.buttons) lift(); }, true);

  // --- for scripts that count on: 1:05 or 2:00:05, in the form of jobs/display.py ---
  window.duration = function (seconds) {
    var s = Math.max(0, Math.floor(seconds));
    var two = function (n) { return (n < 10 ? "0" : "") + n; };
    var hours = Math.floor(s / 3600);
    return (hours ? hours + ":" + two(Math.floor((s % 3600) / 60)) : Math.floor(s / 60)) + ":" + two(s % 60);
  };

  document.body.addEventListener("htmx:afterSwap", prepare);
  window.addEventListener("resize", makeScrollableFocusable);
  prepare();
})();
