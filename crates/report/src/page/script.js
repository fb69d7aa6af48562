// Shows the title of what is under the pointer at once, and on a tap. Without script,
// browsers show it by themselves after a while.
(function () {
  var tip = document.createElement("div"), held = null;
  tip.id = "tip";
  document.body.appendChild(tip);
  function put(shape) {
    if (held) {
      var title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = held.words;
      held.shape.appendChild(title);
      held = null;
    }
    if (shape) {
      var own = shape.querySelector("title");
      if (own) { held = { shape: shape, words: own.textContent }; own.remove(); }
    }
    tip.textContent = held ? held.words : "";
    tip.className = held ? "on" : "";
  }
  function move(event) {
    var shape = event.target.closest ? event.target.closest(".hits > *") : null;
    if (!shape) return held && put(null);
    if (!held || held.shape !== shape) put(shape);
    var x = event.clientX + 14, y = event.clientY + 16, box = tip.getBoundingClientRect();
    if (x + box.width > innerWidth - 8) x = Math.max(8, event.clientX - box.width - 14);
    if (y + box.height > innerHeight - 8) y = Math.max(8, event.clientY - box.height - 14);
    tip.style.left = x + "px";
    tip.style.top = y + "px";
  }
  addEventListener("pointermove", move, { passive: true });
  addEventListener("pointerdown", move, { passive: true });
  addEventListener("scroll", function () { put(null); }, { passive: true });
})();
