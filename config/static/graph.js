// Moves and zooms a drawing of the server, finds its nodes, and tells about the one in focus. What the user chose
// survives a refresh; without this script the drawing is a plain scrollable one.
(function () {
  "use strict";
  var LEAST = 0.05, MOST = 3, READABLE = 0.8;
  var NO_TEXT = 0.5, NO_DETAIL = 0.75; // below these scales text is too small to read
  var DRAG_STARTS = 4; // pixels; a shorter way is a click
  var MAP_WIDTH = 180, MAP_HEIGHT = 100;
  var view = { scale: 1, left: 0, top: 0, query: "", failedOnly: false, follow: false };
  var box, svg, nodes, edges, map;
  var drag = null, dragged = false, pinch = null, wheelZooms = false;
  var current = null; // the node whose card is open
  var place = -1; // of the last node that find or "next failed" went to

  function find(id) { return document.getElementById(id); }
  function limit(low, value, high) { return Math.max(low, Math.min(high, value)); }

  function read() {
    box = document.querySelector("#live .graph[id]");
    svg = box && box.querySelector("svg");
    if (!svg) return false;
    nodes = Array.from(svg.querySelectorAll("a")).map(function (link) {
      var corner = link.getBBox(), text = link.querySelector("text");
      return {
        link: link, x: corner.x, y: corner.y, width: corner.width, height: corner.height, near: { up: [], down: [] },
        name: link.dataset.name || (text ? text.textContent : ""),
        failed: "failed" in link.dataset, running: "running" in link.dataset
      };
    });
    edges = Array.from(svg.querySelectorAll("path[data-ends]")).map(function (path) {
      var ends = path.dataset.ends.split(" ");
      var edge = { path: path, from: nodes[ends[0]], to: nodes[ends[1]] };
      edge.from.near.down.push(edge);
      edge.to.near.up.push(edge);
      return edge;
    });
    var room = svg.viewBox.baseVal.height + box.offsetHeight - box.clientHeight;
    // Styles are for elements without an id: htmx would copy them as attributes, which the page's policy forbids.
    if (box.parentElement.matches(".graph-frame")) box.parentElement.style.height = Math.min(window.innerHeight * 0.75, room) + "px";
    current = null;
    return true;
  }

  // --- the view ---
  function size() { return svg.viewBox.baseVal; }
  function fitScale() { return Math.min(1, box.clientWidth / size().width, box.clientHeight / size().height); }

  function applyScale() {
    svg.setAttribute("width", Math.floor(size().width * view.scale));
    svg.setAttribute("height", Math.floor(size().height * view.scale));
    box.classList.toggle("no-text", view.scale < NO_TEXT);
    box.classList.toggle("no-detail", view.scale < NO_DETAIL);
  }

  function moveTo(left, top) {
    box.scrollTo(left, top);
    view.left = box.scrollLeft;
    view.top = box.scrollTop;
    drawMap();
    hideCard();
  }

  // The point of the drawing under (x, y) of the window stays there.
  function zoomAt(scale, x, y) {
    var frame = box.getBoundingClientRect();
    var dx = x - frame.left - box.clientLeft, dy = y - frame.top - box.clientTop;
    var left = (box.scrollLeft + dx) / view.scale, top = (box.scrollTop + dy) / view.scale;
    view.scale = limit(LEAST, scale, MOST);
    applyScale();
    moveTo(left * view.scale - dx, top * view.scale - dy);
  }

  function zoom(by) {
    var frame = box.getBoundingClientRect();
    var scale = by === "fit" ? fitScale() : by === "full" ? 1 : view.scale * Number(by);
    zoomAt(scale, frame.left + frame.width / 2, frame.top + frame.height / 2);
  }

  function bounds(some) {
    var left = Math.min.apply(null, some.map(function (node) { return node.x; }));
    var top = Math.min.apply(null, some.map(function (node) { return node.y; }));
    var right = Math.max.apply(null, some.map(function (node) { return node.x + node.width; }));
    var bottom = Math.max.apply(null, some.map(function (node) { return node.y + node.height; }));
    return { x: left, y: top, width: right - left, height: bottom - top };
  }

  function fits(area, scale) { return area.width * scale <= box.clientWidth && area.height * scale <= box.clientHeight; }

  // All of them if they fit readably, else the first.
  function show(some, scale) {
    var area = bounds(some);
    var best = limit(READABLE, Math.min(box.clientWidth / area.width, box.clientHeight / area.height), 1);
    view.scale = scale || best;
    applyScale();
    if (!fits(area, view.scale)) area = some[0];
    moveTo((area.x + area.width / 2) * view.scale - box.clientWidth / 2, (area.y + area.height / 2) * view.scale - box.clientHeight / 2);
  }

  function go(node) {
    show([node], Math.max(view.scale, READABLE));
    node.link.focus({ preventScroll: true });
    open(node);
    showCard(node);
  }

  function setFollow(on) {
    view.follow = on;
    press("graph-follow", on);
    var running = nodes.filter(function (node) { return node.running; });
    if (on && running.length) show(running, view.scale);
  }

  // --- the map ---
  function drawMap() {
    if (!map) return;
    var whole = size(), by = Math.min(MAP_WIDTH / whole.width, MAP_HEIGHT / whole.height);
    map.hidden = whole.width * view.scale <= box.clientWidth + 1 && whole.height * view.scale <= box.clientHeight + 1;
    map.width = Math.ceil(whole.width * by);
    map.height = Math.ceil(whole.height * by);
    var pen = map.getContext("2d"), colours = {};
    nodes.forEach(function (node) {
      var key = node.link.getAttribute("class");
      colours[key] = colours[key] || window.getComputedStyle(node.link.querySelector(".stripe")).fill;
      pen.fillStyle = colours[key];
      pen.fillRect(node.x * by, node.y * by, Math.max(2, node.width * by), Math.max(1, node.height * by));
    });
    pen.strokeStyle = window.getComputedStyle(box).color;
    pen.strokeRect(view.left / view.scale * by + 0.5, view.top / view.scale * by + 0.5,
      Math.min(map.width, box.clientWidth / view.scale * by) - 1, Math.min(map.height, box.clientHeight / view.scale * by) - 1);
  }

  function addMap() {
    map = null;
    box.parentElement.querySelectorAll(".graph-map").forEach(function (old) { old.remove(); });
    if (!box.parentElement.matches(".graph-frame.large")) return;
    map = document.createElement("canvas");
    map.className = "graph-map";
    map.setAttribute("aria-hidden", "true");
    box.after(map);
    map.addEventListener("pointerdown", function (event) {
      map.setPointerCapture(event.pointerId);
      moveByMap(event);
    });
    map.addEventListener("pointermove", function (event) { if (event.buttons) moveByMap(event); });
  }

  function moveByMap(event) {
    var by = view.scale * size().width / map.width;
    setFollow(false);
    moveTo(event.offsetX * by - box.clientWidth / 2, event.offsetY * by - box.clientHeight / 2);
  }

  // --- the node in focus ---
  function nodeOf(target) {
    var link = target.closest && target.closest(".graph[id] a");
    return link && nodes ? nodes.find(function (node) { return node.link === link; }) : null;
  }

  // Marks what the node depends on (up) or what depends on it (down).
  function mark(node, way) {
    var left = [node], seen = new Set(left);
    while (left.length) {
      left.pop().near[way].forEach(function (edge) {
        var next = way === "up" ? edge.from : edge.to;
        edge.path.classList.add("related");
        if (seen.has(next)) return;
        seen.add(next);
        next.link.classList.add("related");
        left.push(next);
      });
    }
  }

  function open(node) {
    if (node === current) return;
    close();
    current = node;
    box.classList.add("traced");
    node.link.classList.add("related");
    mark(node, "up");
    mark(node, "down");
    showCard(node);
  }

  function close() {
    if (!current) return;
    box.classList.remove("traced");
    svg.querySelectorAll(".related").forEach(function (element) { element.classList.remove("related"); });
    current.link.removeAttribute("aria-describedby");
    current = null;
    hideCard();
  }

  function hideCard() { if (find("graph-card")) find("graph-card").parentElement.hidden = true; }

  function showCard(node) {
    var card = find("graph-card") && find("graph-card").parentElement;
    if (!card) return;
    var values = Object.assign({}, node.link.dataset, { name: node.name });
    card.querySelectorAll("[data-field]").forEach(function (field) {
      var value = values[field.dataset.field] || "";
      field.textContent = value;
      field.closest("div").hidden = !value;
    });
    card.hidden = false;
    node.link.setAttribute("aria-describedby", "graph-card");
    var frame = box.parentElement.getBoundingClientRect(), at = node.link.querySelector(".box").getBoundingClientRect();
    var under = at.bottom - frame.top + 6, above = at.top - frame.top - card.offsetHeight - 6;
    card.style.left = limit(4, at.left - frame.left, Math.max(4, frame.width - card.offsetWidth - 4)) + "px";
    card.style.top = (under + card.offsetHeight > frame.height && above > 0 ? above : under) + "px";
  }

  // The nearest node to the right among what depends on it, to the left among its dependencies, else in its column.
  function neighbour(node, key) {
    var some = key === "ArrowRight" ? node.near.down.map(function (edge) { return edge.to; })
      : key === "ArrowLeft" ? node.near.up.map(function (edge) { return edge.from; })
      : nodes.filter(function (other) { return other.x === node.x && (key === "ArrowDown" ? other.y > node.y : other.y < node.y); });
    function distance(other) { return Math.abs(other.x - node.x) + Math.abs(other.y - node.y); }
    return some.sort(function (a, b) { return distance(a) - distance(b); })[0];
  }

  // --- the tools ---
  function press(id, on) { if (find(id)) find(id).setAttribute("aria-pressed", String(on)); }

  function matches() {
    var text = view.query.trim().toLowerCase();
    return text ? nodes.filter(function (node) { return node.name.toLowerCase().indexOf(text) >= 0; }) : [];
  }

  function next(some) {
    var after = some.find(function (node) { return nodes.indexOf(node) > place; }) || some[0];
    if (!after) return;
    place = nodes.indexOf(after);
    setFollow(false);
    go(after);
  }

  function applyTools() {
    var found = matches(), failed = nodes.filter(function (node) { return node.failed; });
    nodes.forEach(function (node) { node.link.classList.toggle("match", found.indexOf(node) >= 0); });
    box.classList.toggle("failed-only", view.failedOnly);
    if (!find("graph-find")) return;
    find("graph-find").value = view.query;
    find("graph-found").textContent = view.query.trim() ? String(found.length) : "";
    press("graph-failed", view.failedOnly);
    press("graph-follow", view.follow);
    find("graph-failed").disabled = !failed.length && !view.failedOnly;
    find("graph-next").disabled = !failed.length;
  }

  function click(button) {
    if (button.dataset.zoom) zoom(button.dataset.zoom);
    else if (button.id === "graph-follow") setFollow(!view.follow);
    else {
      if (button.id === "graph-failed") view.failedOnly = !view.failedOnly;
      applyTools();
      if (button.id === "graph-next" || view.failedOnly) next(nodes.filter(function (node) { return node.failed; }));
    }
  }

  function pressKey(event) {
    var node = nodeOf(event.target), other = node && /^Arrow/.test(event.key) && neighbour(node, event.key);
    if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") zoom("full");
    else if (event.key === "Escape") close();
    else if (other) go(other);
    else return;
    event.preventDefault();
  }

  // --- events ---
  function inBox(event) { return Boolean(svg) && box.contains(event.target); }

  function startDrag(event) {
    if (!inBox(event) || event.pointerType !== "mouse" || event.button !== 0) return;
    // The scrollbars stay the browser's.
    if (event.target === box) return;
    drag = { x: event.clientX, y: event.clientY, left: box.scrollLeft, top: box.scrollTop };
    dragged = false;
  }

  function moveDrag(event) {
    if (event.movementX || event.movementY) wheelZooms = inBox(event);
    if (!drag || !svg) return;
    if (!event.buttons) { drag = null; return; }
    var dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!dragged && Math.abs(dx) + Math.abs(dy) < DRAG_STARTS) return;
    if (!dragged) setFollow(false);
    dragged = true;
    moveTo(drag.left - dx, drag.top - dy);
  }

  function wheel(event) {
    // While the page scrolls under the pointer, or for a sideways scroll, the wheel does what it does elsewhere.
    if (!inBox(event) || event.shiftKey || !(event.ctrlKey || wheelZooms) || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    var pixels = event.deltaMode ? event.deltaY * 30 : event.deltaY;
    zoomAt(view.scale * Math.exp(-limit(-100, pixels, 100) / (event.ctrlKey ? 100 : 400)), event.clientX, event.clientY);
  }

  function twoFingers(event) {
    var a = event.touches[0], b = event.touches[1];
    return { x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2, apart: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) };
  }

  function scrolled(event) {
    if (event.target === document) wheelZooms = false;
    if (event.target !== box) return;
    var byUser = Math.abs(box.scrollLeft - view.left) + Math.abs(box.scrollTop - view.top) > 2;
    view.left = box.scrollLeft;
    view.top = box.scrollTop;
    drawMap();
    if (!byUser) return;
    setFollow(false);
    if (current) showCard(current);
  }

  function begin() {
    if (!read()) return;
    addMap();
    applyScale();
    applyTools();
    var first = box.dataset.start && find(box.dataset.start);
    if (first) box.scrollLeft += first.getBoundingClientRect().left - box.getBoundingClientRect().left - box.clientWidth / 2;
    var busy = nodes.filter(function (node) { return node.failed || node.running; });
    busy.sort(function (a, b) { return Number(b.failed) - Number(a.failed); });
    var target = nodes.filter(function (node) { return "#" + node.link.id === window.location.hash; });
    if (target.length) show(target, 1);
    else if (!first && fitScale() < NO_DETAIL && busy.length) show(busy);
    else moveTo(box.scrollLeft, box.scrollTop);
  }

  // After the swap for the position, and once more when htmx has put back the attributes of elements with an id.
  function refresh(swap) {
    if (swap.detail.target.id !== "live" || !read()) return;
    var left = view.left, top = view.top;
    addMap();
    applyScale();
    applyTools();
    moveTo(left, top);
    if (view.follow) setFollow(true);
    var node = nodeOf(document.activeElement);
    if (node) open(node);
  }

  document.documentElement.classList.add("js");
  document.addEventListener("click", function (event) {
    var button = event.target.closest(".graph-tools button");
    if (button && svg) click(button);
    else if (dragged && inBox(event)) event.preventDefault();
    dragged = false;
  }, true);
  document.addEventListener("input", function (event) {
    if (event.target.id !== "graph-find") return;
    view.query = event.target.value;
    place = -1;
    applyTools();
    if (matches().length) { setFollow(false); show(matches().slice(0, 1), Math.max(view.scale, READABLE)); }
  });
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !svg) return;
    if (event.target.id === "graph-find" && event.key === "Enter") next(matches());
    else if (inBox(event)) pressKey(event);
  });
  document.addEventListener("focusin", function (event) {
    var node = nodeOf(event.target);
    if (node) open(node); else close();
  });
  document.addEventListener("pointerover", function (event) {
    if (!svg || dragged || drag) return;
    var node = nodeOf(event.target) || nodeOf(document.activeElement);
    if (node) open(node); else close();
  });
  document.addEventListener("dragstart", function (event) { if (inBox(event)) event.preventDefault(); });
  document.addEventListener("pointerdown", startDrag);
  document.addEventListener("pointermove", moveDrag);
  document.addEventListener("pointerup", function () { drag = null; });
  document.addEventListener("scroll", scrolled, true);
  document.addEventListener("wheel", wheel, { passive: false });
  document.addEventListener("touchstart", function (event) {
    pinch = inBox(event) && event.touches.length === 2 ? twoFingers(event) : null;
  }, { passive: true });
  document.addEventListener("touchmove", function (event) {
    if (!pinch || event.touches.length !== 2) return;
    if (event.cancelable) event.preventDefault();
    var now = twoFingers(event);
    zoomAt(view.scale * now.apart / pinch.apart, now.x, now.y);
    pinch = now;
  }, { passive: false });
  document.body.addEventListener("htmx:afterSwap", refresh);
  document.body.addEventListener("htmx:afterSettle", refresh);
  begin();
})();
