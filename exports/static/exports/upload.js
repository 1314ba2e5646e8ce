// Shows the progress of an upload. Without this script the form is submitted as usual.
(function () {
  "use strict";
  var form = document.getElementById("upload");
  if (!form) return;
  var errors = document.getElementById("upload-errors");
  var sending = document.getElementById("sending");
  var bar = sending.querySelector("progress"), percent = sending.querySelector("b");
  var uploading = sending.firstElementChild, checking = sending.lastElementChild;

  function showErrors(texts) {
    sending.hidden = true;
    form.querySelector("button").disabled = false;
    errors.replaceChildren.apply(errors, texts.map(function (text) {
      var paragraph = document.createElement("p");
      paragraph.className = "notice error";
      paragraph.textContent = text;
      return paragraph;
    }));
  }

  function errorsOf(page) {
    var nodes = new DOMParser().parseFromString(page, "text/html").querySelectorAll("#upload-errors p");
    return Array.prototype.map.call(nodes, function (node) { return node.textContent; });
  }

  form.addEventListener("submit", function (event) {
    event.preventDefault();
    if (form.elements.file.files[0].size > Number(form.dataset.maxBytes)) return showErrors([form.dataset.tooLarge]);
    var request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", function (sent) {
      var share = Math.floor(100 * sent.loaded / sent.total);
      bar.value = share;
      percent.textContent = share + "%";
      uploading.hidden = share >= 100;
      checking.hidden = share < 100;
    });
    request.addEventListener("load", function () {
      if (request.status === 201) return window.location.assign(JSON.parse(request.responseText).next);
      if (request.responseURL !== form.action) return window.location.reload(); // signed out meanwhile
      if (request.status === 413) return showErrors([form.dataset.tooLarge]);
      var texts = errorsOf(request.responseText);
      showErrors(texts.length ? texts : [form.dataset.failed]);
    });
    request.addEventListener("error", function () { showErrors([form.dataset.failed]); });
    request.send(new FormData(form));
    errors.replaceChildren();
    bar.value = 0;
    percent.textContent = "";
    uploading.hidden = sending.hidden = false;
    checking.hidden = true;
    form.querySelector("button").disabled = true;
  });
})();
