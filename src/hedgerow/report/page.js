// The controls of a report: methods that are marked or hidden everywhere, and the kind of axes.
"use strict";
(() => {
  const STATES = ["shown", "marked", "hidden"];
  const PLACES = ["x", "y", "y1", "y2", "x0", "y0", "x1"];
  const states = new Map();
  let log = true;

  const plots = () => Bokeh.documents.flatMap((found) => found.roots());

  function rescale(plot) {
    for (const renderer of plot.renderers) {
      const columns = renderer.data_source.data;
      const has = (name) => (columns instanceof Map ? columns.has(name) : name in columns);
      for (const glyph of [renderer.glyph, renderer.muted_glyph]) {
        for (const place of PLACES) {
          const field = glyph?.[place]?.field;
          if (field === undefined || field === null) continue;
          const plain = field.replace(/_log$/, "");
          const wanted = log && has(plain + "_log") ? plain + "_log" : plain;
          if (wanted !== field) glyph[place] = { field: wanted };
        }
      }
    }
    for (const part of [...plot.left, ...plot.below, ...plot.center]) {
      if (part.name === "log") part.visible = log;
      if (part.name === "linear") part.visible = !log;
    }
  }

  // What has several keys is hidden by any of them, and marked by any of them.
  function stateOf(renderer) {
    const found = renderer.tags.map((key) => states.get(key) ?? "shown");
    return STATES.findLast((state) => found.includes(state)) ?? "shown";
  }

  function paint() {
    for (const plot of plots()) {
      const marked = plot.renderers.some((renderer) => stateOf(renderer) === "marked");
      for (const renderer of plot.renderers) {
        const state = stateOf(renderer);
        renderer.visible = state !== "hidden";
        renderer.muted = marked && state !== "marked";
      }
    }
    for (const key of document.querySelectorAll("[data-key]")) {
      const state = states.get(key.dataset.key) ?? "shown";
      key.className = key.className.replace(/ (shown|marked|hidden)$/, "") + " " + state;
      key.setAttribute("aria-label", key.textContent + ": " + state);
    }
    for (const row of document.querySelectorAll("tr[data-method]")) {
      row.hidden = states.get(row.dataset.method) === "hidden";
    }
  }

  async function draw(holder) {
    if (holder.dataset.drawn) return;
    holder.dataset.drawn = "yes";
    const known = new Set(plots());
    await Bokeh.embed.embed_item(JSON.parse(holder.nextElementSibling.textContent), holder.id);
    for (const plot of plots()) if (!known.has(plot)) rescale(plot);
    paint();
  }

  function drawSeen() {
    for (const holder of document.querySelectorAll(".panel")) {
      if (!holder.closest("details:not([open])")) draw(holder);
    }
  }

  for (const key of document.querySelectorAll("[data-key]")) {
    key.addEventListener("click", () => {
      const now = STATES.indexOf(states.get(key.dataset.key) ?? "shown");
      states.set(key.dataset.key, STATES[(now + 1) % STATES.length]);
      paint();
    });
  }
  for (const button of document.querySelectorAll("[data-all]")) {
    button.addEventListener("click", () => { states.clear(); paint(); });
  }
  for (const button of document.querySelectorAll("[data-scale]")) {
    button.addEventListener("click", () => {
      log = !log;
      for (const other of document.querySelectorAll("[data-scale]")) {
        other.textContent = log ? "Linear axes" : "Logarithmic axes";
      }
      plots().forEach(rescale);
    });
  }
  for (const part of document.querySelectorAll("details")) {
    part.addEventListener("toggle", drawSeen);
  }
  drawSeen();
})();
