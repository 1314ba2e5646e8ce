// Shows how far an upload is. Without this script the form is sent all the same.
(function () {
  "use strict";
  var form = document.getElementById("upload");
  if (!form) return;
  var errors = document.getElementById("upload-errors");
  var sending = document.getElementById("sending");
  var bar = sending.querySelector("progress"), percent = sending.querySelector("b");
  var onItsWay = sending.firstElementChild, looking = sending.lastElementChild;

  function refuse(texts) {
    sending.hidden = true;
    form.querySelector("button").disabled = false;
    errors.replaceChildren.apply(errors, texts.map(function (text) {
      var one = document.createElement("p");
      one.className = "notice error";
      one.textContent = text;
      return one;
    }));
  }

  function complaints(page) {
    var found = new DOMParser().parseFromString(page, "text/html").querySelectorAll("#upload-errors p");
    return Array.prototype.map.call(found, function (one) { return one.textContent; });
  }

  form.addEventListener("submit", function (event) {
    event.preventDefault();
    if (form.elements.file.files[0].size > Number(form.dataset.most)) return refuse([form.dataset.tooLarge]);
    var request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", function (sent) {
      var share = Math.floor(100 * sent.loaded / sent.total);
      bar.value = share;
      percent.textContent = share + "%";
      onItsWay.hidden = share >= 100;
      looking.hidden = share < 100;
    });
    request.addEventListener("load", function () {
      if (request.status === 201) return window.location.assign(JSON.parse(request.responseText).next);
      if (request.responseURL !== form.action) return window.location.reload(); // signed out meanwhile
      if (request.status === 413) return refuse([form.dataset.tooLarge]);
      var found = complaints(request.responseText);
      refuse(found.length ? found : [form.dataset.failed]);
    });
    request.addEventListener("error", function () { refuse([form.dataset.failed]); });
    request.send(new FormData(form));
    errors.replaceChildren();
    bar.value = 0;
    percent.textContent = "";
    onItsWay.hidden = sending.hidden = false;
    looking.hidden = true;
    form.querySelector("button").disabled = true;
  });
})();
