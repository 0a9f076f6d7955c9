#!/bin/sh
# check-argo.sh FILE...: holds Argo workflows against the types of Argo, which
# npm has as @kubernetes-models/argo-workflows. Needs node and the npm registry.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" @kubernetes-models/argo-workflows@2.0.0 js-yaml@4 >/dev/null 2>&1
cat > "$dir/check.mjs" <<'JS'
import {readFileSync} from "node:fs";
import yaml from "js-yaml";
import {Workflow} from "@kubernetes-models/argo-workflows/argoproj.io/v1alpha1/Workflow";
for (const file of process.argv.slice(2)) {
  new Workflow(yaml.load(readFileSync(file, "utf8"))).validate();
  console.log(`${file}: valid`);
}
JS
node "$dir/check.mjs" "$@"
