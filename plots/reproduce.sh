#!/bin/sh
# Regenerates Figures 5 to 8 of the XRBench paper in both semantics, each as SVG, PNG and the CSV that
# it was drawn from, the tables of deviations, conclusions and costs, and the cycles of the networks
# against PEs. Writes to this folder, or to the one given as the first argument.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
cargo build --release --quiet
xrsim="${CARGO_TARGET_DIR:-target}/release/xrsim"
"$xrsim" reproduce --out "${1:-$here}"
"$xrsim" reproduce --figure scaling --out "${1:-$here}/scaling"
