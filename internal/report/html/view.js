"use strict";
(async () => {
const $ = id => document.getElementById(id);
const islands = document.getElementById("data");
const raw = Uint8Array.from(atob(islands.textContent.trim()), c => c.charCodeAt(0));
const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
const data = JSON.parse(await new Response(stream).text());

const canvas = $("canvas"), ctx = canvas.getContext("2d");
const css = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
let colors = {};
const readColors = () => { for (const n of ["bg", "fg", "dim", "line", "soft", "good", "bad", "warn", "info", "accent", "mark"]) colors[n] = css(n); };
readColors();

// The width of the canvas is read once a frame: each reading may cost a layout.
let W = canvas.clientWidth;
const LABEL = () => W < 600 ? 74 : 150, RIGHT = 8, AXIS = 26, POD_ROWS = 60;
let node = null, view = [0, 1], hits = [], selected = null, lanes = [];
const hidden = new Set();
let minSeverity = 0, podFilter = "";

// ---- time -------------------------------------------------------------
const iso = t => new Date(t).toISOString();
const parseTime = s => { const t = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(s) ? s : s.replace(" ", "T") + "Z"); return Number.isNaN(t) ? null : t; };
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5];
const tick = t => { const s = iso(t); const span = view[1] - view[0];
  if (span > 1728e5) return s.slice(5, 10) + " " + s.slice(11, 16);
  if (span > 12e4) return s.slice(11, 19);
  return s.slice(11, 23).replace(/\.000$/, ""); };
const width = () => W - LABEL() - RIGHT;
const X = t => LABEL() + (t - view[0]) / (view[1] - view[0]) * width();
const T = x => view[0] + (x - LABEL()) / width() * (view[1] - view[0]);
const at = i => i == null ? null : node.base + i;

// ---- evidence ---------------------------------------------------------
const evidence = i => i == null || i < 0 ? null : { file: data.files[data.ev.f[i]], line: data.ev.l[i], text: data.ev.x[i] };

// ---- lanes: each has a height and draws itself -------------------------
const OUT = ["ok", "list-failed", "hung", "unknown"];
const outColor = o => o === 0 ? colors.good : o === 1 ? colors.bad : o === 2 ? colors.warn : colors.dim;
const STATUS = ["observed", "matched", "missing", "late", "unexpected", "discarded"];
const statusColor = s => s === 2 || s === 5 ? colors.bad : s === 3 ? colors.warn : s === 4 ? colors.accent : colors.info;

const bar = (x0, x1, y, h, fill, mark) => {
  const l = Math.max(x0, LABEL()), r = Math.min(Math.max(x1, x0 + 1.5), W - RIGHT);
  if (r < LABEL() || l > W - RIGHT) return;
  ctx.fillStyle = fill; ctx.fillRect(l, y, r - l, h);
  if (mark) hits.push([l - 2, y, r - l + 4, h, mark]);
};

const spans = (name, list, color, text) => ({ name, h: 20, marks: () => list.map((s, i) => mark(name, s, text(s))), draw(y) {
  for (const s of list) bar(X(at(s.f)), s.t == null ? X(view[1]) + 1 : X(at(s.t)), y + 3, 14, color(s), mark(name, s, text(s)));
} });
const mark = (lane, s, what) => ({ lane, what, from: at(s.f), to: s.t == null ? null : at(s.t), ev: s.v });

function buildLanes() {
  const n = node;
  lanes = [];
  if (n.ready.length) lanes.push(spans("Node Ready", n.ready, s => s.r ? colors.good : colors.bad, s => (s.r ? "Ready" : "NotReady") + (s.w ? ": " + s.w : "")));
  lanes.push(spans("PLEG health", n.health, s => ({ healthy: colors.good, unhealthy: colors.bad, "never-relisted": colors.warn, "runtime-down": colors.accent }[s.s] || colors.dim), s => "PLEG " + s.s));
  lanes.push(ageLane());
  lanes.push(relistLane());
  if (n.failures.length) lanes.push(failureLane());
  for (const src of n.sources) if (!hidden.has(src.name)) lanes.push(signalLane(src));
  if (!hidden.has("metrics")) for (const c of n.charts) lanes.push(chartLane(c));
  if (!hidden.has("pod events")) lanes.push(...podLanes());
}

// The age of the last relist rises one second a second and falls to zero when
// a relist lists pods: from the ledger, in straight lines.
function ageLane() {
  const pts = node.age, limit = node.threshold;
  const top = Math.max(limit * 1.3, ...pts.filter(p => p[1] != null).map(p => p[1])) || 1;
  return { name: "age (s)", h: 74, marks: () => [], draw(y) {
    const Y = v => y + 70 - v / top * 64;
    ctx.strokeStyle = colors.bad; ctx.setLineDash([4, 3]); ctx.beginPath(); ctx.moveTo(LABEL(), Y(limit)); ctx.lineTo(W - RIGHT, Y(limit)); ctx.stroke(); ctx.setLineDash([]);
    label(LABEL() + 4, Y(limit) - 4, "threshold " + limit + " s", colors.bad, "left");
    ctx.save(); ctx.beginPath(); ctx.rect(LABEL(), y, width(), 74); ctx.clip();
    ctx.strokeStyle = colors.info; ctx.lineWidth = 1.5; ctx.beginPath();
    let down = false;
    for (const [t, v] of pts) { if (v == null) { down = false; continue; } const x = X(at(t)); down ? ctx.lineTo(x, Y(v)) : ctx.moveTo(x, Y(v)); down = true; }
    ctx.stroke(); ctx.lineWidth = 1; ctx.restore();
  } };
}

function relistLane() {
  const r = node.relists;
  const what = i => `relist, ${OUT[r.o[i]]}` + (r.e[i] == null ? ", end unknown" : `, ${((r.e[i] - r.s[i]) / 1e3).toFixed(3)} s`) + ` (start ±${r.u[i]} s; ${r.b[i]})`;
  const m = i => ({ lane: "relists", what: what(i), from: at(r.s[i]), to: at(r.e[i]), ev: r.v[i] });
  return { name: "relists", h: 24, marks: () => r.s.map((_, i) => m(i)), draw(y) {
    let lastPx = -9;
    for (let i = 0; i < r.s.length; i++) {
      const x0 = X(at(r.s[i])), x1 = r.e[i] == null ? x0 + 3 : X(at(r.e[i]));
      if (x1 < LABEL() || x0 > W) continue;
      if (x1 - x0 < 1.5 && x0 - lastPx < 0.7 && r.o[i] === 0) continue; // another one stands on this pixel
      lastPx = x0;
      bar(x0, x1, y + 4, 14, outColor(r.o[i]), m(i));
      const w = r.u[i] * 1e3 / (view[1] - view[0]) * width();
      if (w > 1) { ctx.strokeStyle = colors.fg; ctx.beginPath(); ctx.moveTo(x0 - w, y + 20.5); ctx.lineTo(x0 + w, y + 20.5); ctx.stroke(); }
    }
  } };
}

function failureLane() {
  const f = node.failures;
  const text = s => `${s.c} failed: ${s.k}` + (s.p ? ` (${s.p})` : "");
  return spans("CRI failures", f.filter(s => !podFilter || (s.p || "").includes(podFilter)), s => s.k === "DeadlineExceeded" ? colors.warn : colors.bad, text);
}

// Dots of one row: at most one of each colour a pixel, drawn colour by colour.
// What is under the pointer is searched when it is asked for.
function dots(y, h, n, time, color, make, shape) {
  const first = t => { let lo = 0, hi = n; while (lo < hi) { const mid = lo + hi >> 1; time(mid) < t ? lo = mid + 1 : hi = mid; } return lo; };
  const seen = new Map();
  for (let i = first(view[0]); i < n; i++) {
    const t = time(i);
    if (t > view[1]) break;
    const c = color(i);
    if (c == null) continue;
    let xs = seen.get(c);
    if (!xs) seen.set(c, xs = []);
    const x = X(t);
    if (xs.length && x - Math.abs(xs[xs.length - 1]) < 1) continue;
    xs.push(shape && shape(i) ? -x : x);
  }
  for (const [c, xs] of seen) {
    ctx.fillStyle = c;
    for (const x of xs) {
      if (x >= 0) { ctx.fillRect(x - 1, y + 2, 2.5, h - 4); continue; }
      ctx.beginPath(); ctx.moveTo(-x, y + 2); ctx.lineTo(-x + 4, y + h - 2); ctx.lineTo(-x - 4, y + h - 2); ctx.fill();
    }
  }
  hits.push([LABEL(), y, width(), h, null, x => {
    let best = -1, least = 5;
    for (let i = first(T(x - 5)); i < n && time(i) <= T(x + 5); i++) {
      const d = Math.abs(X(time(i)) - x);
      if (d < least && color(i) != null) { best = i; least = d; }
    }
    return best < 0 ? null : make(best);
  }]);
}

const SEV = { I: 0, W: 1, E: 2, F: 2 };
function signalLane(src) {
  const make = i => ({ lane: src.name, what: src.i[i], from: at(src.t[i]), to: null, ev: src.v[i] });
  return { name: src.name, h: 18, marks: () => src.t.map((_, i) => make(i)), draw(y) {
    dots(y, 18, src.t.length, i => at(src.t[i]), i => (SEV[src.s[i]] || 0) < minSeverity ? null : (SEV[src.s[i]] || 0) === 2 ? colors.bad : SEV[src.s[i]] === 1 ? colors.warn : colors.dim, make);
  } };
}

function podLanes() {
  const rows = node.pods.filter(p => !podFilter || p.name.includes(podFilter)).slice(0, POD_ROWS);
  const more = node.pods.length - rows.length;
  $("coverage").textContent = (more > 0 ? `${rows.length} of ${node.pods.length} pods shown, those with trouble and most events first; filter by name for the others. ` : "") + node.note;
  return rows.map(p => {
    const make = i => ({ lane: p.name, what: `${data.types[p.y[i]]} ${p.d[i]}, ${STATUS[p.s[i]]}` + (p.g[i] == null ? "" : `, ${p.g[i]} s late`), from: at(p.t[i]), to: null, ev: p.v[i] });
    return { name: p.name, h: 14, marks: () => p.t.map((_, i) => make(i)), draw(y) {
      dots(y, 14, p.t.length, i => at(p.t[i]), i => p.s[i] > 1 ? statusColor(p.s[i]) : data.types[p.y[i]] === "ContainerDied" ? colors.dim : colors.info, make, i => p.s[i] === 2 || p.s[i] === 5);
    } };
  });
}

function chartLane(c) {
  const top = Math.max(...c.v.filter(v => v != null)) || 1;
  return { name: c.name, h: 50, marks: () => [], draw(y) {
    const Y = v => y + 46 - v / top * 40;
    ctx.save(); ctx.beginPath(); ctx.rect(LABEL(), y, width(), 50); ctx.clip();
    ctx.strokeStyle = colors.accent; ctx.beginPath();
    let down = false, prev = null;
    for (let i = 0; i < c.t.length; i++) {
      if (c.v[i] == null || prev != null && c.t[i] - prev > c.gap) down = false;
      prev = c.t[i];
      if (c.v[i] == null) continue;
      const x = X(at(c.t[i])); down ? ctx.lineTo(x, Y(c.v[i])) : ctx.moveTo(x, Y(c.v[i])); down = true;
      ctx.fillStyle = colors.accent; ctx.fillRect(x - 1, Y(c.v[i]) - 1, 2, 2);
    }
    ctx.stroke(); ctx.restore();
    label(W - RIGHT - 4, y + 12, "max " + +top.toPrecision(3), colors.dim, "right");
  } };
}

// ---- drawing ----------------------------------------------------------
function label(x, y, s, color, align) { ctx.fillStyle = color; ctx.textAlign = align; ctx.font = "11px system-ui, sans-serif"; ctx.fillText(s, x, y); }

function fitLabel(s) {
  const max = LABEL() - 12;
  if (ctx.measureText(s).width <= max) return s;
  while (s.length > 1 && ctx.measureText(s + "…").width > max) s = s.slice(0, -1);
  return s + "…";
}

let scheduled = false;
const redraw = () => { if (!scheduled) { scheduled = true; requestAnimationFrame(() => { scheduled = false; draw(); }); } };

function draw() {
  const h = AXIS + lanes.reduce((a, l) => a + l.h + 3, 0) + 6, dpr = window.devicePixelRatio || 1;
  const w = W = canvas.clientWidth;
  if (canvas.height !== Math.round(h * dpr) || canvas.width !== Math.round(w * dpr)) {
    canvas.style.height = h + "px"; canvas.width = Math.round(w * dpr); canvas.height = Math.round(h * dpr);
  }
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  ctx.fillStyle = colors.bg; ctx.fillRect(0, 0, w, h);
  hits = [];
  const step = STEPS.find(s => (view[1] - view[0]) / s * 92 < width()) || STEPS[STEPS.length - 1];
  for (let t = Math.ceil(view[0] / step) * step; t <= view[1]; t += step) {
    const x = X(t);
    ctx.fillStyle = colors.line; ctx.fillRect(x, AXIS - 4, 1, h);
    if (x < w - 40) label(x + 3, 14, tick(t), colors.dim, "left");
  }
  for (const e of node.episodes) if (e.f != null) {
    const x0 = Math.max(X(at(e.f)), LABEL()), x1 = Math.min(e.t == null ? X(at(e.l)) : X(at(e.t)), w - RIGHT);
    if (x1 > x0) { ctx.globalAlpha = 0.13; ctx.fillStyle = colors.bad; ctx.fillRect(x0, AXIS, x1 - x0, h); ctx.globalAlpha = 1; }
  }
  let y = AXIS;
  for (const l of lanes) {
    ctx.font = "11px system-ui, sans-serif";
    label(LABEL() - 6, y + Math.min(l.h / 2, 14) + 4, fitLabel(l.name), colors.dim, "right");
    l.draw(y);
    y += l.h;
    ctx.fillStyle = colors.line; ctx.fillRect(LABEL(), y + 1, w, 0.5);
    y += 3;
  }
  if (selected && selected.from != null) {
    const x = X(selected.from);
    if (x >= LABEL()) { ctx.fillStyle = colors.fg; ctx.fillRect(x - 0.5, AXIS, 1, h); }
  }
}

// ---- state ------------------------------------------------------------
function setView(a, b, keep) {
  const lo = node.base + node.span[0], hi = node.base + node.span[1], pad = (hi - lo) * 0.02 + 1;
  const least = 5;
  let s = Math.min(Math.max(b - a, least), hi - lo + 2 * pad);
  a = Math.min(Math.max(a, lo - pad), hi + pad - s);
  view = [a, a + s];
  $("from").value = iso(view[0]); $("to").value = iso(view[1]);
  if (!keep) try { history.replaceState(null, "", "#t=" + iso(view[0]) + "," + iso(view[1])); } catch { /* a sandboxed frame has no history */ }
  if ($("listing").open) listMarks();
  redraw();
}
const zoom = (k, x) => { const c = x == null ? (view[0] + view[1]) / 2 : T(x); setView(c - (c - view[0]) * k, c + (view[1] - c) * k); };
const whole = keep => setView(node.base + node.span[0], node.base + node.span[1], keep);

function show(m) {
  selected = m;
  const e = evidence(m.ev);
  $("details-what").textContent = `${m.lane}: ${m.what}, ${iso(m.from)}` + (m.to == null ? "" : ` to ${iso(m.to)}`);
  $("details-where").textContent = e ? e.file + (e.line ? ":" + e.line : "") : "Reconstructed; no single line states it.";
  $("details-text").textContent = e ? e.text : "";
  redraw();
}

function listMarks() {
  const out = [];
  for (const l of lanes) for (const m of l.marks()) {
    if (m.from == null || m.from > view[1] || (m.to == null ? m.from : m.to) < view[0]) continue;
    out.push(m);
    if (out.length > 5000) break;
  }
  out.sort((a, b) => a.from - b.from);
  const body = $("marks"); body.textContent = "";
  for (const m of out.slice(0, 200)) {
    const tr = document.createElement("tr"), e = evidence(m.ev);
    for (const s of [iso(m.from), m.lane, m.what]) { const td = document.createElement("td"); td.textContent = s; tr.append(td); }
    const td = document.createElement("td"), b = document.createElement("button");
    b.type = "button"; b.textContent = e ? e.file + (e.line ? ":" + e.line : "") : "show"; b.addEventListener("click", () => show(m));
    td.append(b); tr.append(td); body.append(tr);
  }
}

function pick(i) {
  node = data.nodes[i];
  const box = $("sources"); box.querySelectorAll("label").forEach(l => l.remove());
  const names = [...node.sources.map(s => s.name), "pod events", "metrics"];
  for (const name of names) {
    const l = document.createElement("label"), c = document.createElement("input");
    c.type = "checkbox"; c.checked = !hidden.has(name);
    c.addEventListener("change", () => { c.checked ? hidden.delete(name) : hidden.add(name); refresh(); });
    l.append(c, name); box.append(l);
  }
  $("coverage").textContent = node.note;
  selected = null;
  buildLanes();
  const m = /^#t=([^,]+),(.+)$/.exec(decodeURIComponent(location.hash));
  const a = m && parseTime(m[1]), b = m && parseTime(m[2]);
  a != null && b != null && b > a ? setView(a, b, true) : whole(true);
}
const refresh = () => { buildLanes(); if ($("listing").open) listMarks(); redraw(); };

// ---- input ------------------------------------------------------------
let drag = null, moved = false;
canvas.addEventListener("pointerdown", e => { drag = [e.offsetX, view[0], view[1]]; moved = false; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointermove", e => {
  if (!drag) { canvas.style.cursor = hitAt(e.offsetX, e.offsetY) ? "pointer" : "grab"; return; }
  const dx = e.offsetX - drag[0];
  if (Math.abs(dx) > 3) moved = true;
  if (moved) { const dt = dx / width() * (drag[2] - drag[1]); setView(drag[1] - dt, drag[2] - dt); }
});
canvas.addEventListener("pointerup", e => { if (drag && !moved) { const m = hitAt(e.offsetX, e.offsetY); if (m) show(m); } drag = null; });
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("dblclick", e => zoom(0.4, e.offsetX));
canvas.addEventListener("wheel", e => { if (!e.ctrlKey && !e.metaKey) return; e.preventDefault(); zoom(Math.exp(Math.sign(e.deltaY) * 0.25), e.offsetX); }, { passive: false });
const hitAt = (x, y) => { for (let i = hits.length - 1; i >= 0; i--) { const h = hits[i]; if (x < h[0] || x > h[0] + h[2] || y < h[1] || y > h[1] + h[3]) continue; const m = h[5] ? h[5](x) : h[4]; if (m) return m; } return null; };
canvas.addEventListener("keydown", e => {
  const s = view[1] - view[0];
  const act = { ArrowLeft: () => setView(view[0] - s * 0.2, view[1] - s * 0.2), ArrowRight: () => setView(view[0] + s * 0.2, view[1] + s * 0.2), "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1.6), "0": () => whole(), Home: () => whole() }[e.key];
  if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); act(); }
});
$("in").addEventListener("click", () => zoom(0.5));
$("out").addEventListener("click", () => zoom(2));
$("all").addEventListener("click", () => whole());
let nextEpisode = 0;
$("episode").addEventListener("click", () => {
  const es = node.episodes.filter(e => e.f != null);
  if (!es.length) return;
  const e = es[nextEpisode++ % es.length], a = at(e.s == null ? e.f : e.s), b = at(e.t == null ? e.l : e.t), pad = (b - a) * 0.3 + 1e3;
  setView(a - pad, b + pad);
});
const typed = () => { const a = parseTime($("from").value), b = parseTime($("to").value); if (a != null && b != null && b > a) setView(a, b); };
$("from").addEventListener("change", typed);
$("to").addEventListener("change", typed);
$("pod").addEventListener("input", () => { podFilter = $("pod").value.trim(); refresh(); });
$("severity").addEventListener("change", () => { minSeverity = +$("severity").value; refresh(); });
$("node").addEventListener("change", () => { nextEpisode = 0; pick(+$("node").value); });
$("listing").addEventListener("toggle", () => { if ($("listing").open) listMarks(); });
window.addEventListener("resize", redraw);
window.addEventListener("hashchange", () => pick(+$("node").value));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColors(); redraw(); });

data.nodes.forEach((n, i) => { const o = document.createElement("option"); o.value = i; o.textContent = n.name; $("node").append(o); });
if (data.nodes.length) pick(0);
document.documentElement.dataset.ready = "1";
})();
