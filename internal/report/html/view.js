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
let W = canvas.clientWidth, paper = 0;
// Names stand left of their lanes; on a narrow screen above them.
const LABEL = () => W < 600 ? 5 : W < 1000 ? 150 : 190, HEAD = () => W < 600 ? 14 : 0, RIGHT = 8, AXIS = 26, POD_ROWS = 60;
let node = null, view = [0, 1], hits = [], selected = null, lanes = [], ordered = null;
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

const bar = (x0, x1, y, h, fill) => {
  const l = Math.max(x0, LABEL()), r = Math.min(Math.max(x1, x0 + 1.5), W - RIGHT);
  if (r < LABEL() || l > W - RIGHT) return;
  ctx.fillStyle = fill; ctx.fillRect(l, y, r - l, h);
};

const spans = (name, list, color, text) => ({ name, h: 20, marks: () => list.map((s, i) => mark(name, s, text(s))), draw(y) {
  let px = -9, last = "";
  list.forEach((s, i) => {
    const x0 = X(at(s.f)), x1 = s.t == null ? X(view[1]) + 1 : X(at(s.t)), c = color(s, i);
    if (x1 - x0 < 1.5 && x0 - px < 0.7 && x0 >= px && c === last) return; // one of that colour stands on this pixel
    px = x0; last = c;
    bar(x0, x1, y + 3, 14, c);
  });
  hits.push([LABEL(), y, width(), 20, null, x => {
    for (let i = list.length - 1; i >= 0; i--) { // a mark of a pixel is wide enough to hit
      const s = list[i], x0 = X(at(s.f)), x1 = s.t == null ? W : X(at(s.t));
      if (x >= x0 - 3 && x <= Math.max(x1, x0 + 1.5) + 3) return mark(name, s, text(s));
    }
    return null;
  }]);
} });
const mark = (lane, s, what) => ({ lane, what, from: at(s.f), to: s.t == null ? null : at(s.t), ev: s.v });

function buildLanes() {
  const n = node;
  lanes = [];
  if (n.ready.length) lanes.push(spans("node Ready", n.ready, s => s.r ? colors.good : colors.bad, s => (s.r ? "Ready" : "NotReady") + (s.w ? ": " + s.w : "")));
  if (n.health.length) lanes.push(spans("PLEG health", n.health, s => ({ healthy: colors.good, unhealthy: colors.bad, "never-relisted": colors.warn, "runtime-down": colors.accent }[s.s] || colors.dim), s => "PLEG " + s.s));
  if (n.age.length) lanes.push(ageLane());
  if (n.relists.s.length || n.bounded.length) lanes.push(relistLane());
  if (n.failures.length) lanes.push(failureLane());
  if (n.requests.length) lanes.push(requestLane());
  if (n.runs.length > 1) lanes.push(spans("kubelet process", n.runs, (s, i) => i % 2 ? colors.accent : colors.info, s => "kubelet" + (s.s ? " pid " + s.s : "") + (s.w ? " " + s.w : "")));
  for (const src of n.sources) if (!hidden.has(src.name)) lanes.push(signalLane(src));
  if (!hidden.has("metrics")) for (const c of n.charts) lanes.push(chartLane(c));
  if (!hidden.has("pod events")) lanes.push(...podLanes());
  else $("pods").textContent = "";
  ordered = null;
}

// The age of the last relist rises one second a second and falls to zero when
// a relist lists pods: from the ledger, in straight lines.
function ageLane() {
  const pts = node.age, limit = node.threshold;
  const top = Math.max(limit * 1.3, ...pts.filter(p => p[1] != null).map(p => p[1])) || 1;
  const value = t => { // the age at a moment, null where nothing is known
    let lo = 0, hi = pts.length;
    while (lo < hi) { const mid = lo + hi >> 1; at(pts[mid][0]) <= t ? lo = mid + 1 : hi = mid; }
    const a = pts[lo - 1], b = pts[lo];
    return !a || !b || a[1] == null || b[1] == null || b[0] <= a[0] ? null : a[1] + (b[1] - a[1]) * (t - at(a[0])) / (b[0] - a[0]);
  };
  return { name: "age of last relist", h: 74, marks: () => [], draw(y) {
    const Y = v => y + 70 - v / top * 64;
    ctx.strokeStyle = colors.bad; ctx.setLineDash([4, 3]); ctx.beginPath(); ctx.moveTo(LABEL(), Y(limit)); ctx.lineTo(W - RIGHT, Y(limit)); ctx.stroke(); ctx.setLineDash([]);
    ctx.save(); ctx.beginPath(); ctx.rect(LABEL(), y, width(), 74); ctx.clip();
    ctx.strokeStyle = colors.info; ctx.lineWidth = 1.5; ctx.beginPath();
    let down = false;
    for (const [t, v] of pts) { if (v == null) { down = false; continue; } const x = X(at(t)); down ? ctx.lineTo(x, Y(v)) : ctx.moveTo(x, Y(v)); down = true; }
    ctx.stroke(); ctx.lineWidth = 1; ctx.restore();
    label(LABEL() + 4, Y(limit) - 4, "threshold " + limit + " s", colors.bad, "left", true);
    hits.push([LABEL(), y, width(), 74, null, x => {
      const t = T(x), v = value(t);
      return v == null ? null : { lane: "age of last relist", what: `${v.toFixed(1)} s` + (v >= limit ? ", past the threshold" : ""), from: t, to: null, ev: null, derived: "From the relists of the lane below." };
    }]);
  } };
}

const LONG = 1e4; // a relist of ten seconds is long
function relistLane() {
  const r = node.relists, n = r.s.length;
  const what = i => `relist, ${OUT[r.o[i]]}` + (r.e[i] == null ? ", end unknown" : `, ${((r.e[i] - r.s[i]) / 1e3).toFixed(3)} s`) + ` (start ±${+r.u[i].toPrecision(3)} s; ${r.b[i]})`;
  const m = i => ({ lane: "relists", what: what(i), from: at(r.s[i]), to: at(r.e[i]), ev: r.v[i] });
  const color = i => r.o[i] === 0 && r.e[i] != null && r.e[i] - r.s[i] >= LONG ? colors.warn : outColor(r.o[i]);
  const between = b => ({ lane: "relists", what: `${b.min === b.max ? b.min : `between ${b.min} and ${b.max}`} undated relists` + (b.n ? `, ${b.n} of them over 10 s, together ${+b.s.toPrecision(3)} s` : ""), from: at(b.f), to: at(b.t), ev: b.v });
  const whisker = (t, slack, y) => {
    const w = slack * 1e3 / (view[1] - view[0]) * width(), x = X(t);
    if (w < 1.5 || x + w < LABEL() || x - w > W - RIGHT) return;
    const l = Math.max(x - w, LABEL()), e = Math.min(x + w, W - RIGHT);
    ctx.fillRect(l, y + 22, e - l, 1); ctx.fillRect(l, y + 19.5, 1, 6); ctx.fillRect(e - 1, y + 19.5, 1, 6);
  };
  return { name: "relists", h: 28, marks: () => r.s.map((_, i) => m(i)), draw(y) {
    for (const b of node.bounded) bar(X(at(b.f)), X(at(b.t)), b.n ? y + 7 : y + 9, b.n ? 7 : 3, b.n ? colors.warn : colors.line);
    let lastPx = -9;
    for (let i = 0; i < n; i++) {
      const x0 = X(at(r.s[i])), x1 = r.e[i] == null ? x0 + 3 : X(at(r.e[i]));
      if (x1 < LABEL() || x0 > W) continue;
      if (x1 - x0 < 1.5 && x0 - lastPx < 0.7 && r.o[i] === 0) continue; // another one stands on this pixel
      lastPx = x0;
      bar(x0, x1, y + 3, 14, color(i));
    }
    ctx.fillStyle = colors.fg;
    for (let i = 0; i < n; i++) { if (r.u[i] > 0) whisker(at(r.s[i]), r.u[i], y); if (r.e[i] != null && r.d[i] > 0) whisker(at(r.e[i]), r.d[i], y); }
    hits.push([LABEL(), y, width(), 28, null, x => {
      let best = -1, least = 5;
      for (let i = 0; i < n; i++) {
        const x0 = X(at(r.s[i])), x1 = r.e[i] == null ? x0 : X(at(r.e[i]));
        const d = x < x0 ? x0 - x : x > x1 ? x - x1 : 0;
        if (d < least || d === least && best >= 0 && x1 - x0 < X(at(r.e[best])) - X(at(r.s[best]))) { best = i; least = d; }
      }
      if (best >= 0) return m(best);
      const t = T(x), b = node.bounded.find(b => at(b.f) <= t && t <= at(b.t));
      return b ? between(b) : null;
    }]);
  } };
}

const matches = name => !podFilter || name.includes(podFilter);

function failureLane() {
  const text = s => `${s.c} failed: ${s.k}` + (s.p ? ` (${s.p})` : "");
  return spans("CRI failures", node.failures.filter(s => matches(s.p || "")), s => s.k === "DeadlineExceeded" ? colors.warn : colors.bad, text);
}

// Requests that the runtime logged; one whose end the log does not tell has no length.
function requestLane() {
  const name = "runtime requests", now = s => s.t == null ? { ...s, t: s.f } : s;
  const list = node.requests.filter(s => matches(s.w || "")).map(now);
  const open = new Set(node.requests.filter(s => s.t == null).map(s => s.v));
  return spans(name, list, s => s.r ? colors.bad : s.t === s.f && open.has(s.v) ? colors.warn : colors.info,
    s => `${s.s}${s.t > s.f ? `, ${((s.t - s.f) / 1e3).toFixed(3)} s` : open.has(s.v) ? ", no end in the log" : ""}` + (s.w ? ` (${s.w})` : ""));
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
  const make = i => ({ lane: src.name, what: src.i[i] + (src.m && src.m[i] ? `, and ${src.m[i]} more like it close by` : ""), from: at(src.t[i]), to: null, ev: src.v[i] });
  const weight = i => SEV[src.s[i]] || 0;
  const color = i => weight(i) < minSeverity ? null : [colors.dim, colors.warn, colors.bad][weight(i)];
  return { name: src.name, h: 18, marks: () => src.t.map((_, i) => i).filter(i => color(i) != null).map(make), draw(y) {
    dots(y, 18, src.t.length, i => at(src.t[i]), color, make);
  } };
}

const podSeverity = s => s === 2 || s === 5 ? 2 : s === 3 || s === 4 ? 1 : 0;
function podLanes() {
  const found = node.pods.filter(p => matches(p.name) && (!minSeverity || p.s.some(s => podSeverity(s) >= minSeverity)));
  const rows = found.slice(0, paper ? 24 : POD_ROWS);
  $("pods").textContent = rows.length < node.pods.length ? `${rows.length} of ${node.pods.length} pods shown` + (found.length > rows.length ? ", those with trouble and most events first; filter by name for the others." : ".") : "";
  return rows.map(p => {
    const make = i => ({ lane: p.name, what: `${data.types[p.y[i]]} ${p.d[i]}, ${STATUS[p.s[i]]}` + (p.g[i] == null ? "" : `, ${p.g[i]} s after the runtime`), from: at(p.t[i]), to: null, ev: p.v[i] });
    const color = i => podSeverity(p.s[i]) < minSeverity ? null : p.s[i] > 1 ? statusColor(p.s[i]) : data.types[p.y[i]] === "ContainerDied" ? colors.dim : colors.info;
    return { name: p.name, h: 14, marks: () => p.t.map((_, i) => i).filter(i => color(i) != null).map(make), draw(y) {
      dots(y, 14, p.t.length, i => at(p.t[i]), color, make, i => p.s[i] === 2 || p.s[i] === 5);
    } };
  });
}

function chartLane(c) {
  const top = Math.max(...c.v.filter(v => v != null)) || 1;
  const text = v => +v.toPrecision(3) + c.unit;
  return { name: c.name, h: 50, marks: () => [], draw(y) {
    const Y = v => y + 46 - v / top * 38;
    ctx.save(); ctx.beginPath(); ctx.rect(LABEL(), y, width(), 50); ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = colors.accent; ctx.beginPath();
    let down = false, prev = null;
    for (let i = 0; i < c.t.length; i++) {
      if (c.v[i] == null || prev != null && c.t[i] - prev > c.gap) down = false;
      prev = c.t[i];
      if (c.v[i] == null) continue;
      const x = X(at(c.t[i])); down ? ctx.lineTo(x, Y(c.v[i])) : ctx.moveTo(x, Y(c.v[i])); down = true;
      ctx.fillRect(x - 1.5, Y(c.v[i]) - 1.5, 3, 3);
    }
    ctx.stroke(); ctx.restore();
    if (HEAD()) label(W - RIGHT, y - 3, "max " + text(top), colors.dim, "right", true);
    else label(LABEL() - 6, y + 32, "max " + text(top), colors.dim, "right");
    hits.push([LABEL(), y, width(), 50, null, x => {
      let best = -1, least = 8;
      for (let i = 0; i < c.t.length; i++) { const d = Math.abs(X(at(c.t[i])) - x); if (c.v[i] != null && d < least) { best = i; least = d; } }
      return best < 0 ? null : { lane: c.name, what: text(c.v[best]), from: at(c.t[best]), to: null, ev: c.q[best] };
    }]);
  } };
}

// ---- drawing ----------------------------------------------------------
function label(x, y, s, color, align, halo) {
  ctx.textAlign = align; ctx.font = "11px system-ui, sans-serif";
  if (halo) { ctx.strokeStyle = colors.bg; ctx.lineWidth = 3; ctx.lineJoin = "round"; ctx.strokeText(s, x, y); ctx.lineWidth = 1; }
  ctx.fillStyle = color; ctx.fillText(s, x, y);
}

function fitLabel(s) {
  const max = HEAD() ? W - 90 : LABEL() - 12;
  if (ctx.measureText(s).width <= max) return s;
  while (s.length > 1 && ctx.measureText(s + "…").width > max) s = s.slice(0, -1);
  return s + "…";
}

// hatch marks a stretch of which the log says nothing.
function hatch(x0, x1, h) {
  if (x1 - x0 < 1) return;
  ctx.save(); ctx.beginPath(); ctx.rect(x0, AXIS, x1 - x0, h); ctx.clip();
  ctx.strokeStyle = colors.line; ctx.beginPath();
  for (let x = x0 - h; x < x1; x += 9) { ctx.moveTo(x, AXIS + h); ctx.lineTo(x + h, AXIS); }
  ctx.stroke(); ctx.restore();
}

let scheduled = false;
const redraw = () => { if (!scheduled) { scheduled = true; requestAnimationFrame(() => { scheduled = false; draw(); }); } };

function draw() {
  const h = AXIS + lanes.reduce((a, l) => a + l.h + HEAD() + 3, 0) + 6, dpr = window.devicePixelRatio || 1;
  const w = W = paper || canvas.clientWidth;
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
    if (x < w - 60) label(x + 3, 14, tick(t), colors.dim, "left");
  }
  for (const e of node.episodes) if (e.f != null) {
    const x0 = Math.max(X(at(e.f)), LABEL()), x1 = Math.min(e.t == null ? X(at(e.l)) : X(at(e.t)), w - RIGHT);
    if (x1 > x0) { ctx.globalAlpha = 0.13; ctx.fillStyle = colors.bad; ctx.fillRect(x0, AXIS, x1 - x0, h); ctx.globalAlpha = 1; }
  }
  for (const g of node.gaps) hatch(Math.max(X(at(g.f)), LABEL()), Math.min(X(at(g.t)), w - RIGHT), h);
  let y = AXIS;
  hits.push([LABEL(), 0, width(), h, null, x => {
    const t = T(x), g = node.gaps.find(g => at(g.f) <= t && t <= at(g.t));
    return g ? mark("log", g, "no log: " + g.w) : null;
  }]);
  for (const l of lanes) {
    ctx.font = "11px system-ui, sans-serif";
    if (HEAD()) label(LABEL(), y + 11, fitLabel(l.name), colors.dim, "left", true);
    else label(LABEL() - 6, y + Math.min(l.h / 2, 14) + 4, fitLabel(l.name), colors.dim, "right");
    l.draw(y + HEAD());
    y += l.h + HEAD();
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

const place = m => { const e = evidence(m.ev); return e ? e.file + (e.line ? ":" + e.line : "") : m.derived || "Reconstructed; no single line states it."; };

function show(m) {
  selected = m;
  $("details").className = "on";
  const e = evidence(m.ev);
  $("details-what").textContent = `${m.lane}: ${m.what}, ${iso(m.from)}` + (m.to == null ? "" : ` to ${iso(m.to)}`);
  $("details-where").textContent = place(m);
  $("details-text").textContent = e ? e.text : "";
  redraw();
}

// inOrder are all marks by time, made once for a choice of lanes.
const inOrder = () => ordered = ordered || lanes.flatMap(l => l.marks()).filter(m => m.from != null).sort((a, b) => a.from - b.from);

// step goes to the next (1) or previous (-1) mark; the view follows.
function step(by) {
  const all = inOrder();
  if (!all.length) return;
  let i = selected ? all.indexOf(selected) : -1;
  if (i < 0) { i = all.findIndex(m => m.from >= (selected ? selected.from : view[0])); if (i < 0) i = by > 0 ? all.length : 0; else if (by > 0) i--; }
  const m = all[Math.min(Math.max(i + by, 0), all.length - 1)];
  const s = view[1] - view[0];
  if (m.from < view[0] || m.from > view[1]) setView(m.from - s / 2, m.from + s / 2);
  show(m);
}

function listMarks() {
  const out = [];
  for (const m of inOrder()) {
    if (m.from > view[1]) break;
    if ((m.to == null ? m.from : m.to) >= view[0]) out.push(m);
    if (out.length === 200) break;
  }
  const body = $("marks"); body.textContent = "";
  for (const m of out) {
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
  const names = [...node.sources.map(s => s.name), ...(node.pods.length ? ["pod events"] : []), ...(node.charts.length ? ["metrics"] : [])];
  box.hidden = names.length < 2;
  $("episode").hidden = !node.episodes.some(e => e.f != null);
  for (const name of names) {
    const l = document.createElement("label"), c = document.createElement("input");
    c.type = "checkbox"; c.checked = !hidden.has(name);
    c.addEventListener("change", () => { c.checked ? hidden.delete(name) : hidden.add(name); refresh(); });
    l.append(c, name); box.append(l);
  }
  selected = null;
  $("details").className = "";
  buildLanes();
  const m = /^#t=([^,]+),(.+)$/.exec(decodeURIComponent(location.hash));
  const a = m && parseTime(m[1]), b = m && parseTime(m[2]);
  a != null && b != null && b > a ? setView(a, b, true) : whole(true);
}
const refresh = () => { buildLanes(); if ($("listing").open) listMarks(); redraw(); };

// tip shows a mark beside the pointer: what it is, and the line.
function tip(m, x, y) {
  const t = $("tip");
  t.hidden = !m;
  if (!m) return;
  const e = evidence(m.ev);
  $("tip-what").textContent = `${m.lane}: ${m.what}`;
  $("tip-where").textContent = `${iso(m.from)} · ${place(m)}`;
  $("tip-text").textContent = e ? e.text.length > 400 ? e.text.slice(0, 400) + "…" : e.text : "";
  const w = t.offsetWidth, h = t.offsetHeight;
  t.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 8)) + "px";
  t.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 12) : y + 18) + "px";
}

// ---- input ------------------------------------------------------------
let drag = null, moved = false;
canvas.addEventListener("pointerdown", e => { drag = [e.offsetX, view[0], view[1]]; moved = false; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointermove", e => {
  if (!drag) { const m = hitAt(e.offsetX, e.offsetY); canvas.style.cursor = m ? "pointer" : "grab"; if (e.pointerType === "mouse") tip(m, e.clientX, e.clientY); return; }
  tip(null);
  const dx = e.offsetX - drag[0];
  if (Math.abs(dx) > 3) moved = true;
  if (moved) { const dt = dx / width() * (drag[2] - drag[1]); setView(drag[1] - dt, drag[2] - dt); }
});
canvas.addEventListener("pointerup", e => { if (drag && !moved) { const m = hitAt(e.offsetX, e.offsetY); if (m) show(m); } drag = null; });
canvas.addEventListener("pointerleave", () => tip(null));
canvas.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("dblclick", e => zoom(0.4, e.offsetX));
canvas.addEventListener("wheel", e => { if (!e.ctrlKey && !e.metaKey) return; e.preventDefault(); zoom(Math.exp(Math.sign(e.deltaY) * 0.25), e.offsetX); }, { passive: false });
const hitAt = (x, y) => { for (let i = hits.length - 1; i >= 0; i--) { const h = hits[i]; if (x < h[0] || x > h[0] + h[2] || y < h[1] || y > h[1] + h[3]) continue; const m = h[5] ? h[5](x) : h[4]; if (m) return m; } return null; };
canvas.addEventListener("keydown", e => {
  const s = view[1] - view[0];
  const act = { ArrowLeft: () => setView(view[0] - s * 0.2, view[1] - s * 0.2), ArrowRight: () => setView(view[0] + s * 0.2, view[1] + s * 0.2), "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1.6), "0": () => whole(), Home: () => whole(), n: () => step(1), p: () => step(-1) }[e.key];
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
// Paper is white and not as wide as a screen: the style sheet scales the canvas.
const print = width => { paper = width; readColors(); if (node) { buildLanes(); draw(); } };
window.addEventListener("beforeprint", () => print(1000));
window.addEventListener("afterprint", () => print(0));
window.addEventListener("hashchange", () => pick(+$("node").value));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColors(); redraw(); });

data.nodes.forEach((n, i) => { const o = document.createElement("option"); o.value = i; o.textContent = n.name; $("node").append(o); });
if (data.nodes.length) pick(0);
document.documentElement.dataset.ready = "1";
})();
