#!/bin/sh
# check-mermaid.sh FILE...: every picture of the Markdown files is a gantt chart
# under Mermaid's own grammar. Needs node and the npm registry.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$dir" mermaid@11 jsdom@26 >/dev/null 2>&1
cat > "$dir/check.mjs" <<'JS'
import {readFileSync} from "node:fs";
import {JSDOM} from "jsdom";
globalThis.window = new JSDOM("<body></body>").window;
globalThis.document = window.document;
const mermaid = (await import("mermaid")).default;
let charts = 0, refused = 0;
for (const file of process.argv.slice(2))
  for (const [, text] of readFileSync(file, "utf8").matchAll(/```mermaid\n([^]*?)```/g)) {
    charts++;
    try {
      const {diagramType} = await mermaid.parse(text);
      if (diagramType !== "gantt") throw new Error(diagramType);
    } catch (e) {
      refused++;
      console.log(`${file}: ${e.message}`);
    }
  }
console.log(`${charts} charts, ${refused} refused`);
process.exit(refused || !charts ? 1 : 0);
JS
node "$dir/check.mjs" "$@"
