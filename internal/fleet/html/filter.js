"use strict";
(() => {
const text = document.getElementById("filter"), status = document.getElementById("status"), shown = document.getElementById("shown");
if (!text) return;
const rows = [...document.querySelectorAll(".fleet tbody tr")];
// A bracket spans rows: while some of them are hidden each row stands alone.
const brackets = [...document.querySelectorAll(".bracket")].map(cell => ({ cell, span: cell.rowSpan }));
function apply(keep) {
  let k = 0;
  for (const row of rows) {
    row.hidden = !row.textContent.toLowerCase().includes(text.value.trim().toLowerCase()) || !!status.value && row.dataset.status !== status.value;
    if (!row.hidden) k++;
  }
  for (const b of brackets) b.cell.rowSpan = k === rows.length ? b.span : 1;
  shown.textContent = k === rows.length ? "" : `${k} of ${rows.length} nodes`;
  if (!keep) try { history.replaceState(null, "", "#" + new URLSearchParams({ q: text.value, status: status.value })); } catch { /* a sandboxed frame has no history */ }
}
function load() {
  const p = new URLSearchParams(location.hash.slice(1));
  text.value = p.get("q") || ""; status.value = p.get("status") || "";
  apply(true);
}
text.addEventListener("input", () => apply());
status.addEventListener("change", () => apply());
addEventListener("hashchange", load);
load();
document.documentElement.dataset.ready = "1";
})();
