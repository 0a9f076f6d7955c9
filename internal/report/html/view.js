"use strict";
(async () => {
const $ = id => document.getElementById(id);
const raw = Uint8Array.from(atob($("data").textContent.trim()), c => c.charCodeAt(0));
const data = JSON.parse(await new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
// Marks come column by column, one set of columns for each kind and each pod.
const unpack = c => c.f.map((_, i) => Object.fromEntries(Object.keys(c).map(k => [k, c[k][i]])));
for (const n of data.nodes) {
  const of = kind => n.marks[kind] ? unpack(n.marks[kind]) : [], failed = of("failed-call"), calls = new Map(), named = new Set(failed.map(s => s.p));
  for (const s of failed) calls.has(s.i) ? calls.get(s.i).push(s) : calls.set(s.i, [s]);
  const lost = c => c.list.reduce((sum, s) => sum + (s.t == null ? 0 : s.t - s.f), 0);
  n.calls = [...calls].map(([name, list]) => ({ name, list })).sort((a, b) => lost(b) - lost(a));
  n.ready = of("ready"); n.health = of("health"); n.relists = of("relist"); n.requests = of("request"); n.runs = of("run"); n.gaps = of("gap").filter(g => g.t > g.f);
  for (const p of n.pods) { p.list = unpack(p.marks); p.cause = p.name !== "" && named.has(p.name); } // a failed call names it
  n.pods.sort((a, b) => b.cause - a.cause);
}
const el = (tag, cls, text) => { const e = document.createElement(tag); if (cls) e.className = cls; if (text != null) e.textContent = text; return e; };

// ---- state ------------------------------------------------------------
// All of it is in the address but what is under the pointer.
const canvas = $("canvas"), ctx = canvas.getContext("2d"), over = $("over"), overCtx = over.getContext("2d"), strip = $("strip"), stripCtx = strip.getContext("2d");
let node = null, view = [0, 1], range = null, selected = null, lanes = [], hits = [], marks = null, allPods = false;
let folded = new Set(), pinned = new Set(), search = null, podFilter = "", laneFilter = "", minWeight = 0, paper = 0, W = 0;
let colors = {}, fills = {};

// ---- time and words -----------------------------------------------------
const iso = t => new Date(t).toISOString();
const stamp = t => node.dated ? iso(t).slice(0, 19).replace("T", " ") + iso(t).slice(19, 23) : "undated";
const clock = t => iso(t).slice(11, 23);
const parseTime = s => { const t = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(s) ? s : s.trim().replace(" ", "T") + "Z"); return Number.isNaN(t) ? null : t; };
const figures = x => +x.toPrecision(3);
function length(s) {
  if (s < 0) return "-" + length(-s);
  if (s === 0) return "0";
  if (s < 1) return figures(s * 1e3) + " ms";
  if (s < 59.95) return figures(s) + "s";
  const r = Math.round(s), d = Math.floor(r / 86400), h = Math.floor(r / 3600) % 24, m = Math.floor(r / 60) % 60;
  return d ? `${d}d${h ? h + "h" : ""}` : h ? `${h}h${m ? m + "m" : ""}` : `${m}m${r % 60 ? r % 60 + "s" : ""}`;
}
const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5];
function tick(t) {
  const s = iso(t), span = view[1] - view[0];
  return span > 1728e5 ? s.slice(5, 10) + " " + s.slice(11, 16) : span > 12e4 ? s.slice(11, 19) : s.slice(11, 23).replace(/\.000$/, "");
}

// ---- geometry -----------------------------------------------------------
// On a narrow screen names stand above their lanes.
const LEFT = 1, RIGHT = 56, AXIS = 24, HEAD = () => innerWidth < 600 && !paper ? 13 : 0;
const width = () => Math.max(W - LEFT - RIGHT, 10);
const X = t => LEFT + (t - view[0]) / (view[1] - view[0]) * width();
const T = x => view[0] + (x - LEFT) / width() * (view[1] - view[0]);
const at = i => i == null ? null : node.base + i;
const shown = (a, b) => b >= view[0] && a <= view[1];
const end = () => node.base + node.span[1];

// ---- colours and patterns -------------------------------------------------
// States are told by hue, by pattern and by words: good plain, bad hatched,
// unknown dotted with an outline.
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const n of ["bg", "fg", "dim", "line", "soft", "good", "good-ink", "bad", "bad-ink", "unknown", "unknown-ink", "hung", "hung-ink", "quick", "warn", "error", "info", "accent", "mark"]) colors[n] = style.getPropertyValue("--" + n).trim();
  const tile = (bg, fg, draw) => {
    const c = document.createElement("canvas"); c.width = c.height = 8;
    const g = c.getContext("2d"); g.fillStyle = bg; g.fillRect(0, 0, 8, 8); g.strokeStyle = g.fillStyle = fg; draw(g);
    return ctx.createPattern(c, "repeat");
  };
  const slant = g => { g.lineWidth = 1.5; g.beginPath(); for (const d of [-8, 0, 8]) { g.moveTo(d, 8); g.lineTo(d + 8, 0); } g.stroke(); };
  fills = { good: colors.good, hung: colors.hung, quick: colors.quick,
    bad: tile(colors.bad, colors["bad-hatch"] || colors.bg, g => { g.globalAlpha = 0.28; slant(g); }),
    unknown: tile(colors.unknown, colors.dim, g => { g.fillRect(1, 1, 1.5, 1.5); g.fillRect(5, 5, 1.5, 1.5); }),
    gap: tile(colors.bg, colors.line, slant) };
}

// ---- evidence -------------------------------------------------------------
const evidence = i => i == null || i < 0 ? null : { file: data.files[data.ev.f[i]], line: data.ev.l[i], text: data.ev.x[i] };
const where = e => e.file + (e.line ? ":" + e.line : "");
const place = m => { const e = evidence(m.ev); return e ? where(e) : m.derived || "Reconstructed; no single line states it."; };
const mark = (lane, what, from, to, ev) => ({ lane, what, from, to, ev });

// ---- drawing helpers --------------------------------------------------------
const FONT = "11px system-ui, sans-serif";
function text(x, y, s, color, align, halo) {
  ctx.textAlign = align || "left"; ctx.font = FONT;
  if (halo) { ctx.strokeStyle = colors.bg; ctx.lineWidth = 3; ctx.lineJoin = "round"; ctx.strokeText(s, x, y); ctx.lineWidth = 1; }
  ctx.fillStyle = color; ctx.fillText(s, x, y);
}
function clipped(s, room) {
  ctx.font = FONT;
  if (ctx.measureText(s).width <= room) return s;
  for (let n = s.length - 1; n > 3; n--) if (ctx.measureText(s.slice(0, n) + "…").width <= room) return s.slice(0, n) + "…";
  return "";
}
// bar draws a stretch with its words inside where they fit; each has an edge of
// the background so that two that touch stay two.
function bar(x0, x1, y, h, fill, words, ink, edge) {
  const l = Math.max(x0, LEFT), r = Math.min(Math.max(x1, x0 + 1.5), W - RIGHT);
  if (r < LEFT || l > W - RIGHT) return;
  ctx.fillStyle = fill; ctx.fillRect(l, y, r - l, h);
  if (edge) { ctx.strokeStyle = edge; ctx.strokeRect(l + 0.5, y + 0.5, r - l - 1, h - 1); }
  else if (r - l > 3) { ctx.fillStyle = colors.bg; ctx.fillRect(r - 0.5, y, 0.5, h); }
  if (words && r - l > 24) {
    const s = clipped(words, r - l - 8);
    if (s) { ctx.font = "600 " + FONT; ctx.textAlign = "left"; ctx.fillStyle = ink; ctx.fillText(s, l + 5, y + h / 2 + 4); }
  }
}
// axisY draws zero and a few round values with their unit at the right.
function axisY(y, h, top, show, Y) {
  const step = niceStep(top / (h > 40 ? 4 : 2));
  for (let v = 0; v <= top; v += step) {
    ctx.fillStyle = colors.line; ctx.fillRect(LEFT, Math.round(Y(v)), width(), 0.5);
    text(W - RIGHT + 4, Y(v) + 3.5, show(v), colors.dim);
  }
}
function niceStep(x) {
  const times = [1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 21600, 86400];
  if (x > 1) return times.find(t => t >= x) || Math.ceil(x / 86400) * 86400;
  const p = Math.pow(10, Math.floor(Math.log10(x || 1))); return [1, 2, 5, 10].find(k => k * p >= x) * p;
}

// ---- lanes --------------------------------------------------------------
// A lane has a key, a name, a height; it draws itself, says what is at a moment,
// and lists its marks.
const HEALTH = { healthy: ["good", "healthy"], unhealthy: ["bad", "unhealthy"], "never-relisted": ["bad", "unhealthy: no relist yet"], "runtime-down": ["unknown", "unknown; runtime reported down"], unknown: ["unknown", "unknown"] };

function stateLane(key, name, list) { // list of {from, to, kind, words, ev}
  return { key, name, h: 20,
    marks: () => list.filter(s => s.ev != null || s.kind !== "unknown").map(s => mark(name, s.words, s.from, s.to, s.ev)),
    draw(y) {
      for (const s of list) {
        if (!shown(s.from, s.to)) continue;
        const words = s.words + (s.to - s.from >= 1e3 ? " " + length((s.to - s.from) / 1e3) : "");
        bar(X(s.from), X(s.to), y + 1, 18, fills[s.kind], words, colors[s.kind + "-ink"], s.kind === "unknown" ? colors.dim : null);
      }
    },
    at(t) { const s = list.find(s => s.from <= t && t < s.to); return s ? mark(name, `${s.words}, ${length((s.to - s.from) / 1e3)}`, s.from, s.to, s.ev) : null; },
    read(t) { const s = list.find(s => s.from <= t && t < s.to); return s ? s.words : ""; } };
}

const readiness = n => {
  const list = n.ready.map((s, i) => ({ from: at(s.f), to: s.t == null ? end() : at(s.t), kind: s.s === "true" ? "good" : "bad", words: (s.s === "true" ? "Ready" : "NotReady") + (s.w ? ": " + s.w : ""), ev: s.v }));
  if (list.length && list[0].from > node.base) list.unshift({ from: node.base, to: list[0].from, kind: "unknown", words: "unknown" });
  return list;
};
const health = n => n.health.map(s => ({ from: at(s.f), to: s.t == null ? end() : at(s.t), kind: (HEALTH[s.s] || HEALTH.unknown)[0], words: (HEALTH[s.s] || HEALTH.unknown)[1] }));

// The age of the last relist lies between two bounds: the band is what the
// evidence leaves open.
function ageLane() {
  const a = node.age, n = a.f.length, limit = node.threshold;
  let peak = 0;
  for (let i = 0; i < n; i++) peak = Math.max(peak, a.l0[i], a.l1[i], Math.min(Math.max(a.h0[i], a.h1[i]), 3 * limit || Infinity));
  const top = Math.max(peak, limit) * 1.15 || 1;
  const find = t => { let lo = 0, hi = n; while (lo < hi) { const mid = lo + hi >> 1; at(a.t[mid]) <= t ? lo = mid + 1 : hi = mid; } return lo < n && at(a.f[lo]) <= t ? lo : -1; };
  const value = t => {
    const i = find(t);
    if (i < 0) return null;
    const k = (t - at(a.f[i])) / (a.t[i] - a.f[i] || 1);
    return [a.l0[i] + (a.l1[i] - a.l0[i]) * k, a.h0[i] < 0 ? null : a.h0[i] + (a.h1[i] - a.h0[i]) * k];
  };
  const words = v => v[1] == null ? `at least ${length(v[0])}` : v[1] - v[0] < 1.5 ? length(v[1]) : `${length(v[0])} to ${length(v[1])}`;
  return { key: "age", name: "Age of the last relist", h: 92, marks: () => [], at: () => null, value,
    read(t) { const v = value(t); return v ? "age " + words(v) : "age unknown"; },
    draw(y) {
      const Y = v => y + 88 - Math.min(v, top) / top * 82;
      axisY(y, 88, top, length, Y);
      ctx.save(); ctx.beginPath(); ctx.rect(LEFT, y, width(), 90); ctx.clip();
      let last = -9;
      for (let i = Math.max(find(view[0]), 0); i < n && at(a.f[i]) <= view[1]; i++) {
        const x0 = X(at(a.f[i])), x1 = X(at(a.t[i]));
        if (x1 - x0 < 0.3 && x1 - last < 0.5) continue; // it lies within a pixel that is drawn
        last = x1;
        const open = a.h0[i] < 0, h0 = open ? top : a.h0[i], h1 = open ? top : a.h1[i];
        ctx.globalAlpha = open ? 0.12 : 0.35;
        ctx.fillStyle = open ? colors.dim : colors.info; // health has its own lane
        ctx.beginPath(); ctx.moveTo(x0, Y(a.l0[i])); ctx.lineTo(x1, Y(a.l1[i])); ctx.lineTo(x1, Y(h1)); ctx.lineTo(x0, Y(h0)); ctx.fill();
        ctx.globalAlpha = 1; ctx.lineWidth = 1.5; ctx.strokeStyle = colors.info;
        ctx.beginPath(); ctx.moveTo(x0, Y(a.l0[i])); ctx.lineTo(x1, Y(a.l1[i]));
        if (!open && Math.min(h0, h1) < top) { ctx.moveTo(x0, Y(h0)); ctx.lineTo(x1, Y(h1)); } // what lies above the lane has no edge
        ctx.stroke(); ctx.lineWidth = 1;
      }
      ctx.restore();
      if (limit) {
        ctx.strokeStyle = colors.error; ctx.setLineDash([5, 3]); ctx.beginPath(); ctx.moveTo(LEFT, Y(limit)); ctx.lineTo(W - RIGHT, Y(limit)); ctx.stroke(); ctx.setLineDash([]);
        text(LEFT + 4, Y(limit) - 4, "threshold " + length(limit), colors.error, "left", true);
      }
    } };
}

const OUT = { ok: "ok", "list-failed": "list failed", hung: "hung" };
const LONG = 10; // seconds
function relistLane() {
  const r = node.relists, n = r.length, b = node.bounded;
  const from = i => at(r[i].f), to = i => at(r[i].t);
  const took = i => r[i].k != null ? r[i].k : r[i].t == null ? null : (r[i].t - r[i].f) / 1e3;
  const long = i => (r[i].k == null && r[i].d == null ? "≥ " : "") + length(took(i)); // of one without an end, as long as it is known to have run
  // The failed calls inside a relist are its phases as far as lines tell.
  const calls = node.calls.flatMap(c => c.list.filter(s => s.t != null).map(s => ({ name: c.name, from: at(s.f), to: at(s.t), pod: s.p })));
  const phases = i => {
    const e = to(i);
    if (e == null || e - from(i) < LONG * 1e3) return [];
    return calls.filter(c => c.to > from(i) && c.from < e + 1e3 && Math.min(c.to, e) - Math.max(c.from, from(i)) > 0.5 * (c.to - c.from));
  };
  const step = i => {
    let list = 0, inspect = 0;
    for (const c of phases(i)) (/^List(PodSandbox|Containers)$/.test(c.name) ? list += c.to - c.from : /Status$/.test(c.name) ? inspect += c.to - c.from : 0);
    const half = took(i) * 500;
    return list >= half && list > inspect ? "hung in list " : inspect >= half ? "hung in inspect " : "";
  };
  const what = i => `relist, ${OUT[r[i].s] || "outcome unknown"}` + (took(i) == null ? ", end unknown" : ", " + step(i) + long(i)) +
    ` (start ±${length(r[i].u || 0)}${r[i].t == null ? "" : `, end ±${length(r[i].d || 0)}`}; ${r[i].w.replaceAll(" ", ", ")})` + (r[i].l == null || took(i) < 1 ? "" : `; list returned after ${length((r[i].l - r[i].f) / 1e3)}`) +
    phases(i).slice(0, 4).map(c => `; ${c.name} failed after ${length((c.to - c.from) / 1e3)}${c.pod ? " for " + c.pod : ""}`).join("");
  const counted = s => `${s.min === s.max ? many(s.min, "relist") : `${s.min} to ${s.max} relists`} that no line dates` + (s.n ? `, ${s.n} of them over 10s` : "") + (s.s ? `, together ${length(s.s)}` : "");
  const m = i => mark("relists", what(i), from(i), to(i), r[i].v);
  const between = s => mark("relists", counted(s), at(s.f), at(s.t), s.v);
  const whisker = (t, slack, y) => {
    const w = slack * 1e3 / (view[1] - view[0]) * width(), x = X(t);
    if (w < 1.5 || x + w < LEFT || x - w > W - RIGHT) return;
    const l = Math.max(x - w, LEFT), e = Math.min(x + w, W - RIGHT);
    ctx.fillRect(l, y + 25, e - l, 1); ctx.fillRect(l, y + 22.5, 1, 6); ctx.fillRect(e - 1, y + 22.5, 1, 6);
  };
  const first = t => { let lo = 0, hi = n; while (lo < hi) { const mid = lo + hi >> 1; from(mid) < t ? lo = mid + 1 : hi = mid; } return lo; };
  let longest = 0;
  for (let i = 0; i < n; i++) longest = Math.max(longest, (took(i) || 0) * 1e3);
  const near = (t, slack) => {
    let best = -1, least = slack;
    for (let i = Math.max(first(t - longest - slack) - 1, 0); i < n && from(i) <= t + slack; i++) {
      const e = to(i) == null ? from(i) : to(i), d = t < from(i) ? from(i) - t : t > e ? t - e : 0;
      if (d < least || d === least && best >= 0 && e - from(i) < to(best) - from(best)) { best = i; least = d; }
    }
    return best;
  };
  const densest = Math.max(...b.map(s => s.max / (s.t - s.f)), 1e-9);
  return { key: "relists", name: "Relists", h: 32,
    marks: () => [...r.map((_, i) => m(i)), ...b.filter(s => s.n).map(between)],
    count: (a, e) => {
      let k = 0, worst = 0;
      for (let i = Math.max(first(a - longest) - 1, 0); i < n && from(i) <= e; i++) if ((to(i) == null ? from(i) : to(i)) >= a) { k++; worst = Math.max(worst, took(i) || 0); }
      // Relists are serial and a second apart: a part of a stretch holds no more than its seconds.
      const more = b.filter(s => at(s.t) > a && at(s.f) < e).reduce((x, s) => x + Math.min(s.max, Math.ceil((Math.min(at(s.t), e) - Math.max(at(s.f), a)) / 1e3) + 1), 0);
      return { k, worst, more };
    },
    draw(y) {
      for (const s of b) { // only counted: a thin band, as dark as relists are dense
        if (!shown(at(s.f), at(s.t))) continue;
        ctx.globalAlpha = s.n ? 1 : 0.25 + 0.75 * (s.max / (s.t - s.f)) / densest;
        if (s.n) bar(X(at(s.f)), X(at(s.t)), y + 5, 12, fills.unknown, `${s.n} over 10s${s.s ? ", together " + length(s.s) : ""}`, colors["unknown-ink"], colors.hung);
        else bar(X(at(s.f)), X(at(s.t)), y + 8, 6, fills.quick);
        ctx.globalAlpha = 1;
      }
      let px = -9;
      const begin = Math.max(first(view[0] - longest) - 1, 0);
      for (let i = begin; i < n && from(i) <= view[1]; i++) {
        const x0 = X(from(i)), e = to(i), x1 = e == null ? x0 + 2 : X(e), much = took(i) >= LONG;
        if (x1 < LEFT || !much && x1 - x0 < 1.5 && x0 - px < 0.7 && r[i].s === "ok") continue;
        px = x0;
        const fill = much ? fills.hung : r[i].s === "list-failed" ? fills.bad : r[i].s === "hung" ? fills.hung : fills.quick;
        bar(x0, x1, y + 2, 18, fill, much ? (r[i].s === "list-failed" && !step(i) ? "list failed " : step(i)) + long(i) : "", colors["hung-ink"]);
      }
      ctx.fillStyle = colors.fg;
      for (let i = begin; i < n && from(i) <= view[1]; i++) { if (r[i].u > 0) whisker(from(i), r[i].u, y); if (r[i].t != null && r[i].d > 0) whisker(to(i), r[i].d, y); }
    },
    at(t, slack) { const i = near(t, slack); if (i >= 0) return m(i); const s = b.find(s => at(s.f) <= t && t <= at(s.t)); return s ? between(s) : null; },
    read(t) { const i = near(t, 1); if (i >= 0 && took(i) >= LONG) return "in a relist of " + long(i); const s = b.find(s => at(s.f) <= t && t <= at(s.t)); return s ? counted(s) : ""; } };
}

const matches = name => !podFilter || name.includes(podFilter);

// One row a call, those that lost most time first.
function callLane(c) {
  const list = c.list.filter(s => matches(s.p));
  const words = s => s.s + (s.t == null || s.t - s.f < 1 ? "" : " " + length((s.t - s.f) / 1e3)) + (s.p ? ", " + s.p : "");
  return spanLane("call:" + c.name, `${c.name} ×${c.list.length}`, list, () => "hung", words, "failed: ");
}

function spanLane(key, name, list, kind, words, verb) {
  const to = s => s.t == null ? at(s.f) : at(s.t);
  const find = (t, slack) => { let best = null, least = slack; for (const s of list) { const d = t < at(s.f) ? at(s.f) - t : t > to(s) ? t - to(s) : 0; if (d < least || d === 0 && best && to(s) - at(s.f) < to(best) - at(best.f)) { best = s; least = d; } } return best; };
  const m = s => mark(name, (verb || "") + words(s), at(s.f), s.t == null ? null : at(s.t), s.v);
  return { key, name, sub: true, h: 16, marks: () => list.map(m), draw(y) {
    let px = -9;
    list.forEach((s, i) => {
      if (!shown(at(s.f), to(s))) return;
      const x0 = X(at(s.f)), x1 = X(to(s));
      if (x1 - x0 < 1.5 && x0 - px < 0.7 && x0 >= px) return;
      px = x0;
      const next = i + 1 < list.length ? X(at(list[i + 1].f)) : x1; // what overlaps covers the words
      bar(x0, x1, y + 1, 13, fills[kind(s)] || colors[kind(s)], next - x0 > 70 || next >= x1 ? words(s) : "", colors[kind(s) + "-ink"] || colors.bg);
      if (next < x1 && x1 - x0 > 3) { ctx.fillStyle = colors.bg; ctx.fillRect(x0 - 1, y + 1, 1, 13); }
    });
  }, at: (t, slack) => { const s = find(t, slack); return s ? m(s) : null; }, count: (a, e) => list.filter(s => to(s) >= a && at(s.f) <= e).length };
}

// A source is a histogram that the program counted: every message is in it,
// whatever the log pane leaves out.
function sourceLane(src, index) {
  const bin = node.bin, n = src.i.length;
  const first = t => { let lo = 0, hi = n; while (lo < hi) { const mid = lo + hi >> 1; at((src.i[mid] + 1) * bin) <= t ? lo = mid + 1 : hi = mid; } return lo; };
  const sum = (k, w) => w ? src.n[k * 3 + 2] + (w < 2 ? src.n[k * 3 + 1] : 0) : src.n[k * 3] + src.n[k * 3 + 1] + src.n[k * 3 + 2];
  const unit = () => { const px = (view[1] - view[0]) / width(); return bin * Math.max(1, Math.ceil(3 * px / bin)); };
  const words = (a, b) => { let c = [0, 0, 0]; for (let k = first(a); k < n && at(src.i[k] * bin) < b; k++) for (let w = 0; w < 3; w++) c[w] += src.n[k * 3 + w]; return [many(c[0] + c[1] + c[2], "message"), c[1] && many(c[1], "warning"), c[2] && many(c[2], "error")].filter(Boolean).join(", "); };
  return { key: "log:" + src.name, name: `${src.name} (${src.total})`, h: 34, marks: () => [], draw(y) {
    const u = unit(), sums = new Map();
    for (let k = first(view[0]); k < n && at(src.i[k] * bin) <= view[1]; k++) {
      const g = Math.floor(src.i[k] * bin / u);
      let s = sums.get(g);
      if (!s) sums.set(g, s = [0, 0, 0]);
      for (let w = minWeight; w < 3; w++) s[w] += src.n[k * 3 + w];
    }
    let top = 1;
    for (const s of sums.values()) top = Math.max(top, s[0] + s[1] + s[2]);
    for (const [g, s] of sums) {
      const x0 = X(at(g * u)), x1 = Math.max(X(at((g + 1) * u)) - 0.7, x0 + 1.5);
      let bottom = y + 32;
      for (const w of [2, 1, 0]) if (s[w]) { const h = Math.max(s[w] / top * 28, 1.5); bar(x0, x1, bottom - h, h, [colors.dim, colors.warn, colors.error][w]); bottom -= h; }
    }
    ctx.fillStyle = colors.line; ctx.fillRect(LEFT, y + 32, width(), 0.5);
    text(W - RIGHT + 4, y + 9, `${top}`, colors.dim); text(W - RIGHT + 4, y + 20, "/" + length(u / 1e3), colors.dim); text(W - RIGHT + 4, y + 33, "0", colors.dim);
  }, at(t) { // the gravest line of the pane in the bin
    const u = unit(), a = at(Math.floor((t - node.base) / u) * u), b = a + u, l = node.log;
    let best = -1;
    for (let i = firstLine(a); i < l.t.length && at(l.t[i]) < b; i++) if (l.s[i] === index && l.w[i] > minWeight && (best < 0 || l.w[i] > l.w[best])) best = i;
    if (best >= 0) return { ...lineMark(best), what: words(a, b) + ` within ${length(u / 1e3)}` };
    const any = first(a) < n && at(src.i[first(a)] * bin) < b;
    return any ? { lane: src.name, what: words(a, b) + ` within ${length(u / 1e3)}`, from: a, to: b, ev: null, derived: "Counted by the program; no line of them is kept in this page." } : null;
  }, total: (a, b) => words(a, b) };
}

// Rates and lengths of one unit share a scale.
function chartLane(c) {
  const scale = node.charts.filter(o => o.unit === c.unit);
  const top = Math.max(...scale.map(o => Math.max(...o.v.map(v => v || 0)))) || 1;
  const own = Math.max(...c.v.map(v => v || 0));
  const say = v => c.unit === "s" ? length(v) : figures(v) + (c.unit === "%" ? " %" : c.unit);
  const low = top > 0 && own < top / 20 ? own || 1 : top; // a chart that would be flat has a scale of its own, and says so
  const m = i => mark(c.name, say(c.v[i]), at(c.t[i]), null, c.q[i]);
  return { key: "chart:" + c.name, name: c.name, h: 40, sub: true, marks: () => [], draw(y) {
    const Y = v => y + 37 - v / low * 32;
    ctx.fillStyle = ctx.strokeStyle = colors.accent;
    ctx.save(); ctx.beginPath(); ctx.rect(LEFT, y, width(), 40); ctx.clip();
    ctx.beginPath();
    let down = false, prev = null;
    for (let i = 0; i < c.t.length; i++) {
      if (c.v[i] == null || prev != null && c.t[i] - prev > c.gap) down = false;
      prev = c.t[i];
      if (c.v[i] == null) continue;
      const x = X(at(c.t[i]));
      down ? ctx.lineTo(x, Y(c.v[i])) : ctx.moveTo(x, Y(c.v[i])); down = true;
      ctx.fillRect(x - 1.5, Y(c.v[i]) - 1.5, 3, 3);
    }
    ctx.stroke(); ctx.restore();
    ctx.fillStyle = colors.line; ctx.fillRect(LEFT, y + 37, width(), 0.5);
    text(W - RIGHT + 4, y + 10, say(low), colors.dim); text(W - RIGHT + 4, y + 38, "0", colors.dim);
    if (low !== top) text(W - RIGHT + 4, y + 24, "own scale", colors.dim);
  }, at(t, slack) {
    let best = -1, least = slack * 2;
    for (let i = 0; i < c.t.length; i++) { const d = Math.abs(at(c.t[i]) - t); if (c.v[i] != null && d < least) { best = i; least = d; } }
    return best < 0 ? null : m(best);
  } };
}

const podWeight = e => ({ missing: 2, discarded: 2, late: 1, unexpected: 1 })[e.s] || 0;
function podLane(p) {
  const es = p.list, n = es.length;
  const m = e => mark(p.name, `${e.w} ${e.i}, ${e.s}` + (e.k == null ? "" : `, ${length(e.k)} after the runtime`), at(e.f), null, e.v);
  const first = t => { let lo = 0, hi = n; while (lo < hi) { const mid = lo + hi >> 1; at(es[mid].f) < t ? lo = mid + 1 : hi = mid; } return lo; };
  return { key: "pod:" + p.name, name: p.name, cause: p.cause, sub: true, h: 14, marks: () => es.filter(e => podWeight(e) >= minWeight).map(m), draw(y) {
    p.a.forEach(([a, b], i) => { // fainter where only the want of a later event says that it ran on
      const sure = p.o && i === p.a.length - 1 && n ? Math.max(a, es[n - 1].f) : b;
      if (shown(at(a), at(sure))) bar(X(at(a)), X(at(sure)), y + 4, 6, fills.quick);
      if (sure < b && shown(at(sure), at(b))) { ctx.globalAlpha = 0.5; bar(X(at(sure)), X(at(b)), y + 5, 4, fills.quick); ctx.globalAlpha = 1; }
    });
    let px = -9;
    for (let i = first(view[0]); i < n && at(es[i].f) <= view[1]; i++) {
      const w = podWeight(es[i]), x = X(at(es[i].f)), died = es[i].w === "ContainerDied";
      if (w < minWeight || !w && x - px < 1) continue;
      px = x;
      ctx.fillStyle = w === 2 ? colors.error : w ? colors.warn : colors.fg;
      if (w === 2) { ctx.beginPath(); ctx.moveTo(x, y + 1); ctx.lineTo(x + 4, y + 13); ctx.lineTo(x - 4, y + 13); ctx.fill(); }
      else ctx.fillRect(x - 0.75, died ? y + 1 : y + 3, 1.5, died ? 12 : 8);
    }
  }, at(t, slack) {
    let best = null, least = slack;
    for (let i = first(t - slack); i < n && at(es[i].f) <= t + slack; i++) { const d = Math.abs(at(es[i].f) - t); if (d < least) { best = es[i]; least = d; } }
    return best && m(best);
  } };
}

const PODS = 10;
function buildLanes() {
  const n = node;
  lanes = [];
  const add = l => { if (!laneFilter || l.name.toLowerCase().includes(laneFilter)) lanes.push(l); };
  if (n.ready.length) add(stateLane("node", "Node", readiness(n)));
  if (n.health.length) add(stateLane("pleg", "PLEG", health(n)));
  if (n.age.f.length) add(ageLane());
  if (n.relists.length || n.bounded.length) add(relistLane());
  for (const c of n.calls) add(callLane(c));
  if (n.requests.length) add(spanLane("requests", "Runtime requests", n.requests.filter(s => matches(s.p)), s => s.s === "failed" ? "error" : s.t == null ? "warn" : "info", s => s.w + (s.t == null ? ", no end in the log" : s.t > s.f ? " " + length((s.t - s.f) / 1e3) : "") + (s.p ? ", " + s.p : "")));
  if (n.runs.length > 1) add(spanLane("runs", "Kubelet processes", n.runs, () => "info", s => s.w.replace("kubelet", "kubelet" + (s.i ? " pid " + s.i : ""))));
  n.sources.forEach((s, i) => add(sourceLane(s, i)));
  for (const c of n.charts) add(chartLane(c));
  const pods = n.pods.filter(p => matches(p.name) && (!minWeight || p.list.some(e => podWeight(e) >= minWeight)));
  const rows = allPods || podFilter ? pods : pods.slice(0, PODS);
  for (const p of rows) add(podLane(p));
  lanes.sort((a, b) => pinned.has(b.key) - pinned.has(a.key));
  for (const l of lanes) l.height = folded.has(l.key) ? 13 : l.h;
  $("more-pods").hidden = pods.length <= PODS || !!podFilter;
  $("more-pods").textContent = allPods ? `Fold to ${PODS} pods` : `Show all ${pods.length} pods`;
  $("pods").textContent = n.pods.length ? `${many(n.pods.length, "pod")} in the events` + (rows.length < n.pods.length ? `, ${rows.length} shown; pods of failed calls first, then those with late, missing or discarded events` : "") + "." : "";
  marks = null;
  gutter();
}

// The names stand beside the canvas as buttons: a click folds a lane, the pin
// moves it to the top.
function gutter() {
  const box = $("gutter"), had = document.activeElement && document.activeElement.dataset.key;
  box.textContent = "";
  let y = AXIS;
  for (const l of lanes) {
    const row = el("div", "name" + (l.sub ? " sub" : "") + (l.cause ? " suspect" : "")), fold = el("button", "fold", l.name), pin = el("button", "pin", pinned.has(l.key) ? "★" : "☆");
    row.style.top = y + "px"; row.style.height = l.height + 3 + "px";
    fold.type = pin.type = "button";
    fold.title = l.name; fold.dataset.key = l.key; pin.dataset.key = "pin " + l.key;
    fold.setAttribute("aria-expanded", String(!folded.has(l.key)));
    pin.setAttribute("aria-pressed", String(pinned.has(l.key)));
    pin.setAttribute("aria-label", "Pin " + l.name + " to the top");
    fold.addEventListener("click", () => { folded.has(l.key) ? folded.delete(l.key) : folded.add(l.key); buildLanes(); save(); redraw(); });
    pin.addEventListener("click", () => { pinned.has(l.key) ? pinned.delete(l.key) : pinned.add(l.key); buildLanes(); save(); redraw(); });
    row.append(fold, pin); box.append(row);
    if (had === l.key) fold.focus(); else if (had === "pin " + l.key) pin.focus();
    l.y = y += HEAD();
    y += l.height + 3;
  }
  box.style.height = y + 4 + "px";
  $("stage").style.height = y + 4 + "px";
}

// ---- drawing ----------------------------------------------------------------
function size(c, g, w, h) {
  const dpr = paper ? 2 : window.devicePixelRatio || 1;
  if (c.width !== Math.round(w * dpr) || c.height !== Math.round(h * dpr)) { c.width = Math.round(w * dpr); c.height = Math.round(h * dpr); }
  c.style.height = h + "px";
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
}
let scheduled = false;
const redraw = () => { if (!scheduled) { scheduled = true; requestAnimationFrame(() => { scheduled = false; draw(); }); } };

function draw() {
  W = paper || canvas.clientWidth;
  const h = lanes.length ? lanes[lanes.length - 1].y + lanes[lanes.length - 1].height + 7 : AXIS + 20;
  size(canvas, ctx, W, h);
  ctx.fillStyle = colors.bg; ctx.fillRect(0, 0, W, h);
  if (node.dated) {
    const step = STEPS.find(s => (view[1] - view[0]) / s * 92 < width()) || STEPS[STEPS.length - 1];
    for (let t = Math.ceil(view[0] / step) * step; t <= view[1]; t += step) {
      const x = X(t);
      ctx.fillStyle = colors.line; ctx.fillRect(x, AXIS - 4, 1, h);
      if (x < W - 60) text(x + 3, 14, tick(t), colors.dim);
    }
  } else text(LEFT + 4, 14, "no line of this input has a date", colors.dim);
  for (const e of node.episodes) if (e.f != null) {
    const x0 = Math.max(X(at(e.f)), LEFT), x1 = Math.min(X(at(e.t == null ? e.l : e.t)), W - RIGHT);
    if (x1 > x0) { ctx.globalAlpha = 0.1; ctx.fillStyle = colors.error; ctx.fillRect(x0, AXIS, x1 - x0, h); ctx.globalAlpha = 1; }
  }
  for (const g of node.gaps) { // the log says nothing
    const x0 = Math.max(X(at(g.f)), LEFT), x1 = Math.min(X(at(g.t)), W - RIGHT);
    if (x1 - x0 > 1) { ctx.fillStyle = fills.gap; ctx.fillRect(x0, AXIS, x1 - x0, h); }
  }
  for (const l of lanes) {
    if (HEAD()) text(LEFT, l.y - 2, clipped(l.name, W - 90), l.cause ? colors.error : colors.dim, "left", true);
    if (!folded.has(l.key)) l.draw(l.y);
    ctx.fillStyle = colors.line; ctx.fillRect(LEFT, l.y + l.height + 1, W, 0.5);
  }
  drawOver(); drawStrip();
}

let pointer = null;
// drawOver is what moves with the pointer: crosshair, selection, range.
function drawOver() {
  const h = canvas.clientHeight;
  size(over, overCtx, W, h);
  overCtx.clearRect(0, 0, W, h);
  if (range) {
    const a = Math.max(X(range[0]), LEFT), b = Math.min(X(range[1]), W - RIGHT);
    overCtx.globalAlpha = 0.18; overCtx.fillStyle = colors.info; overCtx.fillRect(a, AXIS, b - a, h); overCtx.globalAlpha = 1;
    overCtx.fillRect(a, AXIS, 1, h); overCtx.fillRect(b - 1, AXIS, 1, h);
  }
  if (selected && selected.from != null) {
    const a = X(selected.from), b = selected.to == null ? a : X(selected.to), l = lanes.find(l => l.key === selected.key);
    overCtx.strokeStyle = overCtx.fillStyle = colors.fg;
    if (a >= LEFT && a <= W - RIGHT) overCtx.fillRect(a - 0.5, AXIS, 1, h);
    if (l) { overCtx.lineWidth = 2; overCtx.strokeRect(Math.max(a - 2, 1), l.y, Math.min(Math.max(b - a + 4, 6), W - RIGHT - Math.max(a - 2, 1)), l.height); overCtx.lineWidth = 1; }
  }
  if (pointer != null && !paper) { overCtx.globalAlpha = 0.6; overCtx.fillStyle = colors.fg; overCtx.fillRect(pointer, AXIS, 1, h); overCtx.globalAlpha = 1; }
}

// drawStrip is the whole span, with a brush over what is in view.
function drawStrip() {
  const w = strip.clientWidth || 10, h = 34, lo = node.base, hi = end();
  size(strip, stripCtx, w, h);
  const x = t => (t - lo) / (hi - lo) * (w - RIGHT);
  stripCtx.fillStyle = colors.soft; stripCtx.fillRect(0, 0, w - RIGHT, h);
  for (const s of health(node)) if (s.kind !== "good") { stripCtx.fillStyle = fills[s.kind]; stripCtx.fillRect(x(s.from), 4, Math.max(x(s.to) - x(s.from), 1.5), h - 8); }
  let top = 1;
  const cols = new Map();
  for (const src of node.sources) src.i.forEach((b, k) => { const c = Math.floor(x(at(b * node.bin))); const v = (cols.get(c) || 0) + src.n[k * 3 + 1] + src.n[k * 3 + 2]; cols.set(c, v); top = Math.max(top, v); });
  stripCtx.fillStyle = colors.dim;
  for (const [c, v] of cols) if (v) { const k = Math.max(v / top * (h - 12), 2); stripCtx.fillRect(c, h - 4 - k, 1.5, k); }
  const a = Math.max(x(view[0]), 0), b = Math.min(x(view[1]), w - RIGHT);
  stripCtx.globalAlpha = 0.5; stripCtx.fillStyle = colors.bg; stripCtx.fillRect(0, 0, a, h); stripCtx.fillRect(b, 0, w - RIGHT - b, h); stripCtx.globalAlpha = 1;
  stripCtx.strokeStyle = colors.info; stripCtx.lineWidth = 1.5; stripCtx.strokeRect(a + 0.75, 0.75, Math.max(b - a - 1.5, 2), h - 1.5); stripCtx.lineWidth = 1;
  stripCtx.fillStyle = colors.info; stripCtx.fillRect(a - 1, 10, 4, 14); stripCtx.fillRect(b - 3, 10, 4, 14);
}

// ---- the view ---------------------------------------------------------------
function setView(a, b, keep) {
  const lo = node.base, hi = end(), pad = (hi - lo) * 0.02 + 1, s = Math.min(Math.max(b - a, 5), hi - lo + 2 * pad);
  a = Math.min(Math.max(a, lo - pad), hi + pad - s);
  view = [a, a + s];
  $("from").value = node.dated ? iso(view[0]) : ""; $("to").value = node.dated ? iso(view[1]) : "";
  if (!keep) save();
  if ($("listing").open) listMarks();
  redraw();
}
const zoom = (k, x) => { const c = x == null ? (view[0] + view[1]) / 2 : T(x); setView(c - (c - view[0]) * k, c + (view[1] - c) * k); };
const whole = keep => setView(node.base, end(), keep);

// save writes the state into the address, load reads it.
let saving = 0;
function save() {
  clearTimeout(saving);
  saving = setTimeout(() => { try { history.replaceState(null, "", "#" + address()); } catch { /* a sandboxed frame has no history */ } }, 80);
}
function address() {
  const out = new URLSearchParams();
  out.set("node", node.name);
  if (node.dated) out.set("t", iso(view[0]) + "," + iso(view[1]));
  if ($("find").value) out.set("q", $("find").value);
  if (folded.size) out.set("fold", [...folded].join("|"));
  if (pinned.size) out.set("pin", [...pinned].join("|"));
  if (podFilter) out.set("pod", podFilter);
  if (laneFilter) out.set("lane", laneFilter);
  if (minWeight) out.set("severity", minWeight);
  if (allPods) out.set("pods", "all");
  if (range && node.dated) out.set("range", iso(range[0]) + "," + iso(range[1]));
  const e = selected && evidence(selected.ev);
  out.set("line", e ? where(e) : "");
  if (selected && !e) out.set("mark", selected.key + "," + iso(selected.from));
  return out.toString();
}
function load() {
  const p = new URLSearchParams(location.hash.slice(1)), name = p.get("node");
  let i = name == null ? -1 : data.nodes.findIndex(n => n.name === name);
  $("unknown").hidden = name == null || i >= 0;
  if (name != null && i < 0) $("unknown").textContent = `This report holds no node “${name}”; it shows ${data.nodes[0].name}.`;
  if (i < 0) i = 0;
  folded = new Set((p.get("fold") || "").split("|").filter(Boolean)); pinned = new Set((p.get("pin") || "").split("|").filter(Boolean));
  podFilter = $("pod").value = p.get("pod") || ""; laneFilter = $("lane").value = p.get("lane") || ""; allPods = p.get("pods") === "all";
  minWeight = Math.min(Math.max(+p.get("severity") || 0, 0), 2); $("severity").value = String(minWeight);
  $("find").value = p.get("q") || "";
  pick(i, pair(p.get("t")), p.get("line"), p.get("mark"));
  range = pair(p.get("range"));
  if (range) range = range[1] < node.base || range[0] > end() ? null : [Math.max(range[0], node.base), Math.min(range[1], end())];
  sumRange();
}
const pair = s => { const [a, b] = (s || "").split(",").map(parseTime); return a != null && b != null && b > a ? [a, b] : null; };

function pick(i, span, line, markAt) {
  node = data.nodes[i];
  $("node").value = i;
  document.querySelectorAll(".head").forEach((h, k) => { h.hidden = k !== i; });
  document.querySelectorAll(".findings").forEach((h, k) => { h.classList.toggle("other", k !== i); });
  selected = null; range = null; nextEpisode = 0;
  $("episode").hidden = !node.episodes.some(e => e.f != null);
  buildLanes(); fillLog();
  span ? setView(span[0], span[1], true) : whole(true);
  const k = line ? node.log.v.findIndex(v => where(evidence(v)) === line) : node.first == null ? -1 : node.log.v.indexOf(node.first);
  let m = k >= 0 ? lineMark(k) : line ? inOrder().find(m => m.ev != null && where(evidence(m.ev)) === line) : null;
  if (line === "") { // nothing was selected, or what no line states
    const cut = (markAt || "").lastIndexOf(","), l = cut < 0 ? null : lanes.find(l => l.key === markAt.slice(0, cut)), t = parseTime((markAt || "").slice(cut + 1));
    m = l && t != null ? l.at(t + 1, 2) : null;
    if (m) m.key = l.key;
  }
  m ? show(m, true) : hide();
}

// ---- selection --------------------------------------------------------------
function show(m, keep) {
  selected = m;
  const e = evidence(m.ev);
  $("details").hidden = false;
  $("details-what").textContent = `${m.lane}: ${m.what}, ${stamp(m.from)}` + (m.to == null || !node.dated ? "" : ` to ${clock(m.to)}`);
  $("details-where").textContent = place(m);
  $("details-text").textContent = e ? e.text : "";
  toLine(m);
  if (!keep) save();
  drawOver();
}
function hide() { selected = null; $("details").hidden = true; paintLog(); save(); drawOver(); }

const inOrder = () => marks = marks || lanes.flatMap(l => l.marks().map(m => { m.key = l.key; return m; })).filter(m => m.from != null).sort((a, b) => a.from - b.from);
// step goes to the next (1) or previous (-1) mark; the view follows.
function step(by) {
  const all = inOrder();
  if (!all.length) return;
  let i = selected ? all.indexOf(selected) : -1;
  if (i < 0) { i = all.findIndex(m => m.from >= (selected ? selected.from : view[0])); if (i < 0) i = by > 0 ? all.length : 0; else if (by > 0) i--; }
  const m = all[Math.min(Math.max(i + by, 0), all.length - 1)], s = view[1] - view[0];
  if (m.from < view[0] || m.from > view[1]) setView(m.from - s / 2, m.from + s / 2);
  show(m);
}

function listMarks() {
  const out = [];
  for (const m of inOrder()) { if (m.from > view[1]) break; if ((m.to == null ? m.from : m.to) >= view[0]) out.push(m); if (out.length === 200) break; }
  const body = $("marks"); body.textContent = "";
  $("marks-left").textContent = out.length < 200 ? "" : "The first 200 of the marks in view; zoom in for the others.";
  for (const m of out) {
    const tr = el("tr"), e = evidence(m.ev), td = el("td"), b = el("button", "", e ? where(e) : "show");
    for (const s of [stamp(m.from), m.lane, m.what]) tr.append(el("td", "", s));
    b.type = "button"; b.addEventListener("click", () => show(m));
    td.append(b); tr.append(td); body.append(tr);
  }
}

// sumRange tells what is in the selected range.
function sumRange() {
  const box = $("sum"); box.textContent = "";
  box.hidden = !range;
  if (!range) { redraw(); return; }
  const [a, b] = range, parts = [];
  for (const l of lanes) {
    if (l.key === "relists") { const c = l.count(a, b); parts.push(`${many(c.k, "dated relist")}${c.k ? `, the longest ${length(c.worst)}` : ""}${c.more ? `; up to ${c.more} undated` : ""}`); }
    else if (l.key.startsWith("call:") && l.count(a, b)) parts.push(`${l.key.slice(5)}: ${l.count(a, b)} failed`);
    else if (l.key.startsWith("log:")) parts.push(`${l.key.slice(4)}: ${l.total(a, b)}`);
  }
  let events = 0;
  for (const p of node.pods) for (const e of p.list) if (at(e.f) >= a && at(e.f) <= b) events++;
  if (node.pods.length) parts.push(many(events, "pod event"));
  const zoomIn = el("button", "", "Zoom to it"), clear = el("button", "", "Clear");
  zoomIn.type = clear.type = "button";
  zoomIn.addEventListener("click", () => setView(a, b));
  clear.addEventListener("click", () => { range = null; sumRange(); save(); });
  box.append(el("strong", "", `${clock(a)} to ${clock(b)}, ${length((b - a) / 1e3)}: `), parts.join(" · "), " ", zoomIn, " ", clear);
  redraw();
}

// ---- the log pane -------------------------------------------------------------
const ROW = 20;
let rows = [], found = [], cursor = -1;
const firstLine = t => { const l = node.log.t; let lo = 0, hi = l.length; while (lo < hi) { const mid = lo + hi >> 1; at(l[mid]) < t ? lo = mid + 1 : hi = mid; } return lo; };
const lineMark = i => { const l = node.log; return { lane: l.s[i] < 0 ? "log" : node.sources[l.s[i]].name, what: ["", "line", "warning", "error"][l.w[i]] + (l.m[i] ? `, and ${l.m[i]} more like it close by` : ""), from: at(l.t[i]), to: null, ev: l.v[i], key: "log:" + (l.s[i] < 0 ? "" : node.sources[l.s[i]].name), line: i }; };

function fillLog() {
  const l = node.log;
  rows = l.t.map((_, i) => i).filter(i => l.w[i] > minWeight);
  $("lines").style.height = rows.length * ROW + "px";
  const left = l.m.reduce((a, b) => a + b, 0);
  $("left").textContent = !l.t.length ? "No dated line of a log to show" : left ? `${left} more lines are counted in the lanes and left out here` : "";
  runSearch();
}
function runSearch() {
  const q = $("find").value;
  search = null; found = []; cursor = -1;
  $("find").setCustomValidity("");
  if (q) try { search = new RegExp(q, "i"); } catch (e) { $("find").setCustomValidity("no regular expression"); }
  if (search) rows.forEach((i, k) => { if (search.test(data.ev.x[node.log.v[i]])) found.push(k); });
  hitsSay();
  paintLog();
}
const hitsSay = () => { $("hits").textContent = !$("find").value ? many(rows.length, "line") : !search ? "no regular expression" : cursor < 0 ? many(found.length, "hit") : `${cursor + 1} of ${found.length}`; };
function nextHit(by) {
  if (!found.length) return;
  if (cursor < 0) { const k = selected && selected.line != null ? rows.indexOf(selected.line) : -1; const i = found.findIndex(f => f > k); cursor = by > 0 ? (i < 0 ? 0 : i) : (i <= 0 ? found.length - 1 : i - 1); }
  else cursor = (cursor + by + found.length) % found.length;
  choose(rows[found[cursor]]);
  hitsSay();
}
// choose selects a line; the lanes follow where it is out of view.
function choose(i) {
  const m = lineMark(i), s = view[1] - view[0];
  if (m.from < view[0] || m.from > view[1]) setView(m.from - s / 2, m.from + s / 2, true);
  show(m);
}
// toLine scrolls the pane to the line of a mark, or to what was said then.
function toLine(m) {
  let i = m.line;
  if (i == null) { i = m.ev == null ? -1 : node.log.v.indexOf(m.ev); if (i < 0) i = Math.min(firstLine(m.from), node.log.t.length - 1); else m.line = i; }
  let k = rows.indexOf(i);
  if (k < 0) k = rows.findIndex(r => r >= i);
  const box = $("log"), y = k * ROW;
  if (k >= 0 && (y < box.scrollTop || y > box.scrollTop + box.clientHeight - ROW)) box.scrollTop = y - box.clientHeight / 3;
  paintLog();
}
let painted = false;
const paintLog = () => { if (!painted) { painted = true; requestAnimationFrame(() => { painted = false; drawLog(); }); } };
function drawLog() {
  const box = $("log"), list = $("lines"), l = node.log, from = Math.max(Math.floor(box.scrollTop / ROW) - 5, 0), to = Math.min(from + Math.ceil((box.clientHeight || 600) / ROW) + 12, rows.length);
  const out = document.createDocumentFragment();
  for (let k = from; k < to; k++) {
    const i = rows[k], e = evidence(l.v[i]), row = el("div", "row w" + l.w[i]);
    row.style.top = k * ROW + "px"; row.dataset.line = i;
    row.id = "row-" + i;
    row.setAttribute("role", "option");
    const on = selected && selected.line === i;
    row.setAttribute("aria-selected", String(!!on));
    if (on) box.setAttribute("aria-activedescendant", row.id);
    row.append(el("time", "", node.dated ? clock(at(l.t[i])).slice(0, 8) : ""), el("b", "", ["", " ", "W", "E"][l.w[i]]));
    const code = el("span");
    const s = e.text.replace(/^(.{0,80}?\]: )?[IWEF]\d{4} [\d:.]+ +\d+ /, "").slice(0, 400); // the stamp stands before it
    const hit = search && search.exec(s);
    if (hit && hit[0]) code.append(s.slice(0, hit.index), el("mark", "", hit[0]), s.slice(hit.index + hit[0].length)); else code.textContent = s;
    row.append(code);
    if (l.m[i]) row.append(el("i", "", `+${l.m[i]}`));
    out.append(row);
  }
  list.replaceChildren(out);
}

// ---- pointer and keys ---------------------------------------------------------
function laneAt(y) { return lanes.find(l => y >= l.y && y <= l.y + l.height + 2); }
function hitAt(x, y) {
  if (x < LEFT || x > W - RIGHT) return null;
  const t = T(x), l = laneAt(y), slack = 5 / width() * (view[1] - view[0]), m = l && !folded.has(l.key) ? l.at(t, slack) : null;
  if (m) { m.key = l.key; return m; }
  const g = node.gaps.find(g => at(g.f) <= t && t <= at(g.t));
  return g ? mark("log", "no log: " + g.s, at(g.f), at(g.t), g.v) : null;
}
function tip(m, x, y) {
  const t = $("tip");
  t.hidden = !m;
  if (!m) return;
  const e = evidence(m.ev);
  $("tip-what").textContent = `${m.lane}: ${m.what}`;
  $("tip-where").textContent = `${stamp(m.from)} · ${place(m)}`;
  $("tip-text").textContent = e ? e.text.length > 400 ? e.text.slice(0, 400) + "…" : e.text : "";
  const w = t.offsetWidth, h = t.offsetHeight;
  t.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 8)) + "px";
  t.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 12) : y + 18) + "px";
}
// readout says what all lanes tell at a moment.
function readout(t) {
  $("readout").textContent = t == null || !node.dated ? "" : [stamp(t), ...lanes.map(l => l.read ? (l.key === "node" ? "node " : l.key === "pleg" ? "PLEG " : "") + l.read(t) : "").filter(s => s && s !== "node " && s !== "PLEG ")].join(" · ");
}

const touches = new Map();
let drag = null;
canvas.addEventListener("pointerdown", e => {
  canvas.setPointerCapture(e.pointerId);
  touches.set(e.pointerId, e.offsetX);
  const pan = e.shiftKey || e.altKey || e.pointerType === "touch";
  drag = { x: e.offsetX, view: [...view], pan, moved: false, spread: touches.size === 2 ? [...touches.values()] : null };
});
canvas.addEventListener("pointermove", e => {
  if (touches.has(e.pointerId)) touches.set(e.pointerId, e.offsetX);
  if (drag && touches.size === 2 && drag.spread) { // a pinch keeps what is under both fingers
    const [a, b] = drag.spread, [x, y] = [...touches.values()], k = (b - a) / ((y - x) || 1), span = (drag.view[1] - drag.view[0]) * Math.abs(k);
    const mid = drag.view[0] + ((a + b) / 2 - LEFT) / width() * (drag.view[1] - drag.view[0]), left = mid - ((x + y) / 2 - LEFT) / width() * span;
    setView(left, left + span); return;
  }
  pointer = e.offsetX >= LEFT && e.offsetX <= W - RIGHT ? e.offsetX : null;
  if (!drag) {
    const m = hitAt(e.offsetX, e.offsetY);
    canvas.style.cursor = m ? "pointer" : "crosshair";
    if (e.pointerType === "mouse") tip(m, e.clientX, e.clientY);
    readout(pointer == null ? null : T(pointer)); drawOver();
    return;
  }
  tip(null);
  const dx = e.offsetX - drag.x;
  if (Math.abs(dx) > 3) drag.moved = true;
  if (!drag.moved) return;
  if (drag.pan) { const dt = dx / width() * (drag.view[1] - drag.view[0]); setView(drag.view[0] - dt, drag.view[1] - dt); }
  else if (node.dated) { range = [T(Math.max(Math.min(drag.x, e.offsetX), LEFT)), T(Math.min(Math.max(drag.x, e.offsetX), W - RIGHT))]; drawOver(); }
});
canvas.addEventListener("pointerup", e => {
  touches.delete(e.pointerId);
  if (drag && drag.moved && !drag.pan) { sumRange(); save(); }
  else if (drag && !drag.moved) { const m = hitAt(e.offsetX, e.offsetY); if (m) show(m); }
  if (!touches.size) drag = null;
});
canvas.addEventListener("pointercancel", e => { touches.delete(e.pointerId); drag = null; });
canvas.addEventListener("pointerleave", () => { pointer = null; tip(null); readout(null); drawOver(); });
canvas.addEventListener("dblclick", () => whole());
canvas.addEventListener("wheel", e => { if (!e.ctrlKey && !e.metaKey) return; e.preventDefault(); zoom(Math.exp(Math.sign(e.deltaY) * 0.25), e.offsetX); }, { passive: false });

// The brush: its ends resize, its middle moves, elsewhere a drag draws a new one.
let brush = null;
const stripT = x => node.base + x / ((strip.clientWidth || 10) - RIGHT) * node.span[1];
strip.addEventListener("pointerdown", e => {
  strip.setPointerCapture(e.pointerId);
  const t = stripT(e.offsetX), near = 6 / (strip.clientWidth - RIGHT) * node.span[1], full = view[1] - view[0] >= node.span[1];
  brush = Math.abs(t - view[0]) < near && !full ? { fix: view[1] } : Math.abs(t - view[1]) < near && !full ? { fix: view[0] } : t > view[0] && t < view[1] && !full ? { grab: t, view: [...view] } : { fix: t };
});
strip.addEventListener("pointermove", e => {
  if (!brush) return;
  const t = stripT(e.offsetX);
  if (brush.grab != null) setView(brush.view[0] + t - brush.grab, brush.view[1] + t - brush.grab);
  else if (Math.abs(t - brush.fix) > node.span[1] / 400) setView(Math.min(t, brush.fix), Math.max(t, brush.fix));
});
for (const ev of ["pointerup", "pointercancel"]) strip.addEventListener(ev, () => { brush = null; });
strip.addEventListener("dblclick", () => whole());

const pan = k => { const s = view[1] - view[0]; setView(view[0] + s * k, view[1] + s * k); };
const grow = by => {
  if (!node.dated) return; const s = (view[1] - view[0]) / 40; range = range ? [range[0], Math.max(range[1] + by * s, range[0] + s)] : [(view[0] + view[1]) / 2, (view[0] + view[1]) / 2 + s]; sumRange(); save(); };
// cross moves the crosshair by keys; what all lanes tell there is read out.
const cross = by => { pointer = Math.min(Math.max((pointer == null ? LEFT + width() / 2 : pointer) + by * width() / 60, LEFT), W - RIGHT); readout(T(pointer)); drawOver(); };
const KEYS = { ",": () => cross(-1), ".": () => cross(1), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1.6), "0": () => whole(), Home: () => whole(), n: () => step(1), p: () => step(-1), e: () => $("episode").click(), "[": () => grow(-1), "]": () => grow(1) };
for (const c of [canvas, strip]) c.addEventListener("keydown", e => { const act = KEYS[e.key]; if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); act(); } });
addEventListener("keydown", e => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.key === "Escape") { if (document.querySelector("dialog[open]") || typing) return; if (range) { range = null; sumRange(); save(); } else if (selected) hide(); }
  else if (e.key === "?" && !typing) { e.preventDefault(); $("help").showModal(); }
  else if (e.key === "/" && !typing) { e.preventDefault(); $("find").focus(); }
});
$("log").addEventListener("scroll", paintLog, { passive: true });
$("log").addEventListener("click", e => { const r = e.target.closest(".row"); if (r) choose(+r.dataset.line); });
$("log").addEventListener("keydown", e => {
  const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[e.key];
  if (!by || !rows.length) return;
  e.preventDefault();
  const k = selected && selected.line != null ? rows.indexOf(selected.line) : -1;
  choose(rows[Math.min(Math.max(k + by, 0), rows.length - 1)]);
});
$("find").addEventListener("input", () => { runSearch(); save(); });
$("find").addEventListener("keydown", e => { if (e.key === "Enter") { e.preventDefault(); nextHit(e.shiftKey ? -1 : 1); } });
$("next").addEventListener("click", () => nextHit(1));
$("prev").addEventListener("click", () => nextHit(-1));
$("close").addEventListener("click", hide);
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
const refresh = () => { buildLanes(); if ($("listing").open) listMarks(); save(); redraw(); };
$("pod").addEventListener("input", () => { podFilter = $("pod").value.trim(); refresh(); });
$("lane").addEventListener("input", () => { laneFilter = $("lane").value.trim().toLowerCase(); refresh(); });
$("severity").addEventListener("change", () => { minWeight = +$("severity").value; fillLog(); refresh(); });
$("more-pods").addEventListener("click", () => { allPods = !allPods; refresh(); });
$("node").addEventListener("change", () => { pick(+$("node").value); save(); });
$("listing").addEventListener("toggle", () => { if ($("listing").open) listMarks(); });

// copy puts a text on the clipboard; where the browser forbids that, it shows it
// selected.
async function copy(s, button) {
  try { await navigator.clipboard.writeText(s); button.textContent = "copied"; }
  catch { $("copied").value = s; $("copy-box").showModal(); $("copied").select(); }
  setTimeout(() => { button.textContent = button.dataset.name; }, 1500);
}
for (const b of document.querySelectorAll("button[data-copy]")) { b.dataset.name = b.textContent; b.addEventListener("click", () => copy(b.dataset.copy === "link" ? location.href.split("#")[0] + "#" + address() : b.closest(".head").querySelector(".ticket").textContent, b)); }
for (const b of document.querySelectorAll("button.keys")) b.addEventListener("click", () => $("help").showModal());

let narrow = HEAD();
new ResizeObserver(() => { if (node && narrow !== HEAD()) { narrow = HEAD(); buildLanes(); } redraw(); paintLog(); }).observe($("stage").parentNode);
// Paper is white and not as wide as a screen: the style sheet scales the canvas.
const print = w => { paper = w; readColors(); if (node) { buildLanes(); draw(); } };
addEventListener("beforeprint", () => print(1000));
addEventListener("afterprint", () => print(0));
addEventListener("hashchange", load);
for (const q of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) matchMedia(q).addEventListener("change", () => { readColors(); redraw(); });

readColors();
data.nodes.forEach((n, i) => { const o = el("option", "", n.name); o.value = i; $("node").append(o); });
if (data.nodes.length) load();
document.documentElement.dataset.ready = "1";
})();
