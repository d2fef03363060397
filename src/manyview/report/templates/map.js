"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;

  // Theme: as the system says, until the reader says otherwise.
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const watchers = [];
  const retheme = () => {
    $("theme").textContent = isDark() ? "Light colours" : "Dark colours"; // what pressing it does
    watchers.forEach((watch) => watch());
  };
  $("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    retheme();
  });
  system.addEventListener("change", retheme);
  $("theme").hidden = false;
  retheme();

  // Code to copy.
  document.querySelectorAll("[data-copy]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = $(button.dataset.copy).textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        window.getSelection().selectAllChildren($(button.dataset.copy));
        button.textContent = "Selected: press Ctrl+C";
      }
    });
  });

  // Paper cannot be opened: print what is folded away, too.
  let unfolded = [];
  window.addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    unfolded.forEach((part) => (part.open = true));
  });
  window.addEventListener("afterprint", () => unfolded.forEach((part) => (part.open = false)));

  if (!$("map-data")) return;

  // Points: columns packed as little-endian numbers in base64.
  const data = JSON.parse($("map-data").textContent);
  const unpack = (text, Kind) => {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Kind(bytes.buffer);
  };
  const n = data.n;
  const xs = unpack(data.x, Uint16Array), ys = unpack(data.y, Uint16Array);
  const rows = unpack(data.row, Uint32Array);
  const cluster = unpack(data.cluster, Int16Array), second = unpack(data.second, Int16Array);
  const confidence = unpack(data.confidence, Uint16Array); // thousandths
  const colourings = data.colours.map((c) => ({ ...c, codes: unpack(c.codes, Int16Array) }));
  const labels = colourings.find((c) => c.kind === "label");
  const idOf = (i) => (data.id ? data.id[i] : String(rows[i]));

  // What is seen: the middle of the picture in map units (0 to 1), and pixels per unit.
  const stage = $("stage"), canvas = $("canvas"), ink = $("ink"), tip = $("tip");
  const view = { x: 0.5, y: 0.5, scale: 1 };
  let width = 1, height = 1, home = 1;
  let colouring = colourings[0];
  let highlighted = new Set();
  let selected = null; // a Uint8Array of marks, or null
  let hovered = -1;

  const toScreen = (i) => [
    (xs[i] / 65535 - view.x) * view.scale + width / 2,
    (view.y - ys[i] / 65535) * view.scale + height / 2,
  ];

  // Drawing: WebGL; a plain canvas where there is none.
  const gl = canvas.getContext("webgl2", { antialias: true, premultipliedAlpha: true, preserveDrawingBuffer: true });
  const flat = gl ? null : canvas.getContext("2d");
  const colours = new Uint8Array(4 * n);
  const order = new Uint32Array(n);
  let painter = null;

  function preparePainter() {
    const compile = (kind, source) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      return shader;
    };
    const program = gl.createProgram();
    gl.attachShader(program, compile(gl.VERTEX_SHADER, `#version 300 es
      in vec2 place; in vec4 colour; uniform vec2 middle, zoom; uniform float size; out vec4 tint;
      void main() { gl_Position = vec4((place - middle) * zoom, 0.0, 1.0); gl_PointSize = size; tint = colour; }`));
    gl.attachShader(program, compile(gl.FRAGMENT_SHADER, `#version 300 es
      precision highp float; in vec4 tint; uniform float size; out vec4 result;
      void main() {
        float edge = length(gl_PointCoord - 0.5) * size - 0.5 * size + 1.0;
        float alpha = tint.a * (1.0 - clamp(edge, 0.0, 1.0));
        result = vec4(tint.rgb * alpha, alpha); }`));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
    gl.useProgram(program);
    const places = new Uint16Array(2 * n);
    for (let i = 0; i < n; i++) { places[2 * i] = xs[i]; places[2 * i + 1] = ys[i]; }
    const feed = (name, size, kind, values) => {
      const buffer = gl.createBuffer(), at = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, kind, true, 0, 0);
      return buffer;
    };
    feed("place", 2, gl.UNSIGNED_SHORT, places);
    const tints = feed("colour", 4, gl.UNSIGNED_BYTE, colours);
    const turns = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, turns);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const at = (name) => gl.getUniformLocation(program, name);
    return { tints, middle: at("middle"), zoom: at("zoom"), size: at("size") };
  }

  const pointSize = () => {
    const least = Math.max(2.4, Math.min(8, 230 / Math.sqrt(n)));
    return Math.min(14, least * Math.sqrt(Math.max(view.scale / home, 1)));
  };

  function draw() {
    const ratio = canvas.width / width, size = pointSize() * ratio;
    if (gl) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(painter.middle, view.x, view.y);
      gl.uniform2f(painter.zoom, (2 * view.scale) / width, (2 * view.scale) / height);
      gl.uniform1f(painter.size, size);
      gl.drawElements(gl.POINTS, n, gl.UNSIGNED_INT, 0);
    } else if (flat) {
      flat.clearRect(0, 0, canvas.width, canvas.height);
      for (const i of order) {
        const [x, y] = toScreen(i), c = 4 * i;
        flat.fillStyle = `rgba(${colours[c]},${colours[c + 1]},${colours[c + 2]},${colours[c + 3] / 255})`;
        flat.fillRect(x * ratio - size / 2, y * ratio - size / 2, size, size);
      }
    }
    drawTags();
    drawInk();
    stage.dataset.ready = "true"; // what is seen is what was asked for
  }
  let waiting = false;
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    delete stage.dataset.ready;
    requestAnimationFrame(() => { waiting = false; draw(); });
  };

  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const turn = new Uint16Array(n); // when a point is drawn: 0 first, 2001 last
  function recolour() {
    const theme = isDark() ? data.dark : data.light;
    const palette = theme.palette.map(rgb), none = rgb(theme.none);
    const sure = rgb(theme.sure), unsure = rgb(theme.unsure);
    const ramp = Array.from({ length: 1001 }, (_, level) => {
      const t = Math.pow(1 - level / 1000, 1.5);
      return sure.map((part, j) => part + (unsure[j] - part) * t);
    });
    for (let i = 0; i < n; i++) {
      const isOn = !selected || selected[i] === 1;
      const code = colouring.kind === "confidence" ? -1 : colouring.codes[i];
      let colour = none;
      turn[i] = 0;
      if (isOn && colouring.kind === "confidence") {
        colour = ramp[confidence[i]];
        turn[i] = 2001 - confidence[i];
      } else if (isOn && code >= 0) {
        colour = palette[code % palette.length];
        turn[i] = 1001;
      } else if (isOn) turn[i] = 1;
      const c = 4 * i;
      colours[c] = colour[0]; colours[c + 1] = colour[1]; colours[c + 2] = colour[2];
      colours[c + 3] = turn[i] <= 1 ? 90 : 215;
    }
    // Clusters would hide each other if drawn one after the other, so rows of one turn keep their order.
    const starts = new Uint32Array(2003);
    for (let i = 0; i < n; i++) starts[turn[i] + 1]++;
    for (let t = 1; t < starts.length; t++) starts[t] += starts[t - 1];
    for (let i = 0; i < n; i++) order[starts[turn[i]]++] = i;
    if (gl) {
      gl.bindBuffer(gl.ARRAY_BUFFER, painter.tints);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, colours);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, order, gl.DYNAMIC_DRAW);
    }
    redraw();
  }

  // Names on the map, each on the point nearest to the middle of its group.
  const tags = $("tags");
  let anchors = [];
  function placeTags() {
    anchors.forEach(([tag]) => tag.remove());
    anchors = [];
    if (colouring.kind === "confidence" || colouring.names.length > 40) return;
    const middles = colouring.names.map(() => [[], []]);
    for (let i = 0; i < n; i++) {
      const code = colouring.codes[i];
      if (code >= 0) { middles[code][0].push(xs[i]); middles[code][1].push(ys[i]); }
    }
    const median = (values) => Uint16Array.from(values).sort()[values.length >> 1];
    const spots = middles.map(([x, y]) => (x.length ? [median(x), median(y)] : null));
    const best = spots.map(() => [Infinity, -1]);
    for (let i = 0; i < n; i++) {
      const code = colouring.codes[i];
      if (code < 0) continue;
      const far = Math.hypot(xs[i] - spots[code][0], ys[i] - spots[code][1]);
      if (far < best[code][0]) best[code] = [far, i];
    }
    best.forEach(([, i], code) => {
      if (i < 0) return;
      const tag = document.createElement("span");
      tag.textContent = colouring.names[code];
      tags.append(tag);
      anchors.push([tag, i]);
    });
  }
  // Points that were looked for get a ring, so that one among many thousands is seen.
  const MOST_RINGS = 200;
  let rings = [];
  function ring(points) {
    rings.forEach(([mark]) => mark.remove());
    rings = points.slice(0, MOST_RINGS).map((i) => {
      const mark = document.createElement("b");
      mark.className = "ring";
      tags.append(mark);
      return [mark, i];
    });
  }
  function drawTags() {
    for (const [tag, i] of [...anchors, ...rings]) {
      const [x, y] = toScreen(i);
      tag.style.transform = `translate(${x}px, ${y}px) translate(-50%, -50%)`;
      tag.hidden = x < 0 || y < 0 || x > width || y > height;
    }
  }

  // Legend: one button a group; pressing it selects the group.
  const legend = $("legend");
  function fillLegend() {
    legend.replaceChildren();
    $("ramp").hidden = colouring.kind !== "confidence";
    if (colouring.kind === "confidence") return;
    const counts = new Array(colouring.names.length).fill(0);
    let missing = 0;
    for (const code of colouring.codes) code < 0 ? missing++ : counts[code]++;
    colouring.names.forEach((name, code) => {
      if (!counts[code]) return;
      const item = document.createElement("li"), button = document.createElement("button");
      const swatch = document.createElement("i"), text = document.createElement("span");
      const count = document.createElement("b");
      button.type = "button";
      button.setAttribute("aria-pressed", String(highlighted.has(code)));
      swatch.className = `swatch k${code % data.light.palette.length}`;
      text.textContent = colouring.kind === "label" ? name : `${colouring.prefix} ${name}`;
      count.textContent = counts[code].toLocaleString("en").replaceAll(",", "\u202f");
      button.append(swatch, text, count);
      button.addEventListener("click", () => {
        highlighted.has(code) ? highlighted.delete(code) : highlighted.add(code);
        button.setAttribute("aria-pressed", String(highlighted.has(code)));
        select(highlighted.size ? (i) => highlighted.has(colouring.codes[i]) : null, true);
      });
      item.append(button);
      legend.append(item);
    });
    if (missing) {
      const item = document.createElement("li");
      item.className = "missing";
      item.textContent = `${missing.toLocaleString("en").replaceAll(",", "\u202f")} points in grey: ` +
        (colouring.kind === "label" ? "no label" : "without this view, or not in the sample that was clustered by it alone");
      legend.append(item);
    }
  }
  const colourBy = $("colour-by");
  colourBy.addEventListener("change", () => {
    colouring = colourings[Number(colourBy.value)];
    highlighted = new Set();
    fillLegend();
    placeTags();
    recolour();
  });

  // Selection: by lasso, by legend, by id, or all that is in view.
  const LISTED = 300;
  function select(test, keepLegend = false, isLookedFor = false) {
    if (!keepLegend && highlighted.size) { highlighted = new Set(); fillLegend(); }
    selected = null;
    let count = 0;
    if (test) {
      selected = new Uint8Array(n);
      for (let i = 0; i < n; i++) if (test(i)) { selected[i] = 1; count++; }
      if (!count) selected = null;
    }
    ring(isLookedFor && selected ? [...selected.keys()].filter((i) => selected[i]) : []);
    showSelection(count, test !== null);
    recolour();
  }
  const named = (i) => (labels && labels.codes[i] >= 0 ? labels.names[labels.codes[i]] : "");
  function showSelection(count, wasAsked) {
    const list = $("picked");
    list.replaceChildren();
    $("selection").hidden = !count;
    $("count").textContent = count
      ? `${count.toLocaleString("en").replaceAll(",", "\u202f")} ${count === 1 ? "point" : "points"} selected`
      : wasAsked ? "No point there" : "";
    if (!count) return;
    let left = LISTED;
    for (let i = 0; i < n && left; i++) {
      if (!selected[i]) continue;
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.className = `swatch k${cluster[i] % data.light.palette.length}`;
      item.append(swatch, data.id ? idOf(i) : `row ${rows[i]}`);
      list.append(item);
      left--;
    }
    $("more").textContent = count > LISTED ? `The first ${LISTED} are listed; the file has all.` : "";
  }
  const cell = (value) => {
    let text = String(value);
    // A spreadsheet would run text that starts like a formula.
    if (/^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(text)) text = "'" + text;
    return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  $("download").addEventListener("click", () => {
    const lines = [["id", "row", "cluster", "confidence", "second_cluster", ...(labels ? ["label"] : [])].join(",")];
    for (let i = 0; i < n; i++) {
      if (!selected || !selected[i]) continue;
      const values = [idOf(i), rows[i], cluster[i], (confidence[i] / 1000).toFixed(3), second[i] < 0 ? "" : second[i]];
      if (labels) values.push(named(i));
      lines.push(values.map(cell).join(","));
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" }));
    link.download = "selection.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  $("clear").addEventListener("click", () => { select(null); canvas.focus(); });
  const inView = (i) => {
    const [x, y] = toScreen(i);
    return x >= 0 && y >= 0 && x <= width && y <= height;
  };
  $("select-view").addEventListener("click", () => select(inView));
  $("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = $("find-id").value.trim().toLowerCase();
    if (!wanted) return select(null);
    let exact = false;
    for (let i = 0; i < n && !exact; i++) exact = idOf(i).toLowerCase() === wanted;
    const isFound = (i) => (exact ? idOf(i).toLowerCase() === wanted : idOf(i).toLowerCase().includes(wanted));
    select(isFound, false, true);
  });

  // What is under the pointer, or in the middle of the picture.
  function nearest(x, y, reach) {
    const unit = view.scale / 65535;
    const left = (x - width / 2) / unit + view.x * 65535, up = view.y * 65535 - (y - height / 2) / unit;
    let best = (reach / unit) ** 2, found = -1;
    for (let i = 0; i < n; i++) {
      const far = (xs[i] - left) ** 2 + (ys[i] - up) ** 2;
      if (far < best) { best = far; found = i; }
    }
    return found;
  }
  function describe(i) {
    const parts = [`cluster ${cluster[i]}`, `confidence ${(confidence[i] / 1000).toFixed(2)}`];
    if (second[i] >= 0) parts.push(`next: cluster ${second[i]}`);
    if (labels) parts.push(`label: ${named(i) || "none"}`);
    for (const c of colourings) if (c.kind === "view" && c.codes[i] >= 0) parts.push(`${c.name}: ${c.codes[i]}`);
    return parts;
  }
  function hover(i) {
    if (i === hovered) return;
    hovered = i;
    tip.hidden = i < 0;
    if (i >= 0) {
      const title = document.createElement("strong");
      title.textContent = data.id ? idOf(i) : `row ${rows[i]}`;
      const lines = describe(i).map((part) => Object.assign(document.createElement("span"), { textContent: part }));
      tip.replaceChildren(title, ...lines);
      const [x, y] = toScreen(i);
      const left = x > width - tip.offsetWidth - 24 ? x - tip.offsetWidth - 14 : x + 14;
      tip.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(Math.min(y - 12, height - tip.offsetHeight - 4), 4)}px)`;
    }
    drawInk();
  }

  // The lasso, and a ring around the point that is described.
  let path = null;
  function drawInk() {
    const pen = ink.getContext("2d"), ratio = ink.width / width;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = isDark() ? "#ffffff" : "#1b1f24";
    if (hovered >= 0) {
      const [x, y] = toScreen(hovered);
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(x, y, pointSize() / 2 + 3, 0, 7);
      pen.stroke();
    }
    if (path) {
      pen.lineWidth = 1.5;
      pen.setLineDash([5, 4]);
      pen.beginPath();
      path.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.closePath();
      pen.stroke();
      pen.globalAlpha = 0.08;
      pen.fill();
      pen.globalAlpha = 1;
      pen.setLineDash([]);
    }
  }
  function inside(x, y) {
    let odd = false;
    for (let i = 0, j = path.length - 1; i < path.length; j = i++) {
      const [ax, ay] = path[i], [bx, by] = path[j];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
    }
    return odd;
  }

  // Pointer: move or lasso, as the buttons say; Shift does the other.
  let tool = "lasso", drag = null;
  const setTool = (name) => {
    tool = name;
    for (const kind of ["move", "lasso"]) $(kind).setAttribute("aria-pressed", String(kind === name));
    stage.dataset.tool = name;
  };
  $("move").addEventListener("click", () => setTool("move"));
  $("lasso").addEventListener("click", () => setTool("lasso"));
  const spot = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    const at = spot(event), moves = (tool === "move") !== event.shiftKey;
    drag = { at, moves, x: view.x, y: view.y };
    path = moves ? null : [at];
    hover(-1);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = spot(event);
    if (!drag) return hover(nearest(x, y, 14));
    if (drag.moves) {
      view.x = drag.x - (x - drag.at[0]) / view.scale;
      view.y = drag.y + (y - drag.at[1]) / view.scale;
      redraw();
    } else {
      path.push([x, y]);
      drawInk();
    }
  });
  const finish = () => {
    if (drag && path && path.length > 3) select((i) => inside(...toScreen(i)));
    else if (drag && path) select(null);
    drag = path = null;
    drawInk();
  };
  canvas.addEventListener("pointerup", finish);
  canvas.addEventListener("pointercancel", () => { drag = path = null; drawInk(); });
  canvas.addEventListener("pointerleave", () => { if (!drag) hover(-1); });

  function zoom(factor, x = width / 2, y = height / 2) {
    const before = [(x - width / 2) / view.scale, (y - height / 2) / view.scale];
    view.scale = Math.min(Math.max(view.scale * factor, home / 4), home * 400);
    view.x += before[0] - (x - width / 2) / view.scale;
    view.y -= before[1] - (y - height / 2) / view.scale;
    hover(-1);
    redraw();
  }
  const range = (values) => {
    let low = 65535, high = 0;
    for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
    return [low / 65535, high / 65535];
  };
  const [left, right] = range(xs), [bottom, top] = range(ys);
  function goHome() {
    view.scale = home;
    view.x = (left + right) / 2;
    view.y = (bottom + top) / 2;
    redraw();
  }
  canvas.addEventListener("wheel", (event) => {
    // The page scrolls as usual unless the map has been clicked into, or Ctrl is held.
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.002), ...spot(event));
  }, { passive: false });
  $("zoom-in").addEventListener("click", () => zoom(1.5));
  $("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  $("home").addEventListener("click", goHome);

  // Keys: arrows move, plus and minus zoom; the point in the middle is read out.
  canvas.addEventListener("keydown", (event) => {
    const step = 60 / view.scale;
    const keys = {
      ArrowLeft: () => (view.x -= step), ArrowRight: () => (view.x += step),
      ArrowUp: () => (view.y += step), ArrowDown: () => (view.y -= step),
      "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: goHome,
      Enter: () => select(inView), Escape: () => select(null),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
    draw();
    hovered = -1;
    const middle = nearest(width / 2, height / 2, Math.max(width, height));
    hover(middle);
    if (middle >= 0) $("spoken").textContent = [data.id ? idOf(middle) : `row ${rows[middle]}`, ...describe(middle)].join(", ");
  });

  function resize() {
    const box = stage.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    const wasHome = view.scale === home;
    if (!box.width || (box.width === width && box.height === height)) return;
    width = box.width;
    height = box.height;
    for (const layer of [canvas, ink]) {
      layer.width = Math.round(width * ratio);
      layer.height = Math.round(height * ratio);
    }
    home = Math.min(width / (right - left + 0.06), height / (top - bottom + 0.06));
    if (wasHome || view.scale === 1) goHome();
    redraw();
  }

  if (gl) painter = preparePainter();
  if (gl ? !painter : !flat) return; // the picture that stands in for the map stays
  document.body.classList.add("has-map");
  setTool(window.matchMedia("(pointer: coarse)").matches ? "move" : "lasso");
  fillLegend();
  placeTags();
  resize();
  recolour();
  new ResizeObserver(resize).observe(stage);
  watchers.push(recolour);
})();
