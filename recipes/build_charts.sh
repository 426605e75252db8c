#!/usr/bin/env bash
# Build the chart library of the report (Vega, Vega-Lite, vega-embed and their expression interpreter, BSD-3-Clause)
# into one script that needs no network and no eval. Wants npm.
#
#     recipes/build_charts.sh
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)/src/encheck/reporting
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init --yes >/dev/null
npm install --silent --save-exact vega@6.4.0 vega-lite@6.4.3 vega-embed@7.3.0 vega-interpreter@2.3.2 esbuild@0.28.2
echo 'import embed from "vega-embed"; window.vegaEmbed = embed;' >charts.js
npx esbuild charts.js --bundle --minify --format=iife --charset=ascii --legal-comments=none --outfile="$here/vega.js"
for name in vega vega-lite vega-embed; do
  node -p "'$name ' + require('./node_modules/$name/package.json').version" && cat "node_modules/$name/LICENSE" && echo
done >"$here/vega-LICENCE.txt"
