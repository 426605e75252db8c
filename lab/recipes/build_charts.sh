#!/usr/bin/env bash
# Build the chart library of the report (Vega, Vega-Lite, vega-embed and their expression interpreter, BSD-3-Clause)
# into one script that needs no network and no eval. Wants npm.
#
#     lab/recipes/build_charts.sh
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)/src/encheck/reporting
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init --yes >/dev/null
npm install --silent --save-exact vega@6.4.0 vega-lite@6.4.3 vega-embed@7.3.0 vega-interpreter@2.3.2 esbuild@0.28.2
echo 'import embed from "vega-embed"; window.vegaEmbed = embed;' >charts.js
npx esbuild charts.js --bundle --minify --format=iife --charset=ascii --legal-comments=none --metafile=made.json \
  --outfile="$here/vega.js"
# The licence of every package that has a part in the script.
node >"$here/vega-LICENCE.txt" <<'END'
const fs = require("fs");
const used = (file) => file.match(/.*node_modules\/(?:@[^/]+\/)?[^/]+/);
const folders = new Set(Object.keys(JSON.parse(fs.readFileSync("made.json")).inputs).map(used).filter(Boolean).map(String));
const licences = new Map();
for (const folder of [...folders].sort()) {
  const { name, version } = JSON.parse(fs.readFileSync(`${folder}/package.json`));
  const file = fs.readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  const text = fs.readFileSync(`${folder}/${file}`, "utf8").trim();
  licences.set(text, [...(licences.get(text) ?? []), `${name} ${version}`]);
}
console.log([...licences].map(([text, names]) => `${names.join(", ")}\n\n${text}\n`).join(`\n${"-".repeat(80)}\n\n`));
END
