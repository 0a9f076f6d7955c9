#!/bin/sh
# check-grafana.sh FILE: holds a Grafana dashboard against Grafana's own types,
# which npm has as @grafana/schema. Needs node and the npm registry.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$dir" @grafana/schema@12.0.0 typescript@5 >/dev/null 2>&1
{
  echo 'import type {Dashboard, Panel} from "./node_modules/@grafana/schema/dist/esm/raw/dashboard/x/dashboard_types.gen";'
  echo 'const panels: Panel[] = '
  node -e 'const d = JSON.parse(require("fs").readFileSync(process.argv[1])); console.log(JSON.stringify(d.panels))' "$1"
  echo ';'
  echo 'const dashboard: Dashboard = '
  node -e 'const d = JSON.parse(require("fs").readFileSync(process.argv[1])); delete d.panels; console.log(JSON.stringify(d))' "$1"
  echo '; export {dashboard, panels};'
} > "$dir/check.ts"
cd "$dir" && node node_modules/typescript/bin/tsc --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler check.ts
echo "$1: valid"
