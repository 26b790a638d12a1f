#!/bin/sh
# Makes the figures of the manual, with `xrsim` of the path, in the folder that is the first argument.
set -eu
out=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# docs/tutorials/headset-day.md
xrsim cost --network PD --dataflow WS --dataflow OS --platform headset --pes 2048 --roofline roofs.svg --quiet > table
mv roofs.svg "$out/roofline-pd-headset.svg"

# docs/tutorials/sweep.md
cat > bandwidth.yaml <<'END'
sweep:
  name: bandwidth
  grid:
    scenario: AR_gaming
    platform: headset
    system: [A, J]
    pes: 1024..8192 step x2
    hardware.dram_bandwidth_bytes_per_cycle: [32, 64]
END
xrsim sweep bandwidth.yaml --quiet
xrsim plot bandwidth.csv --kind pareto --x area_mm2 --y score --out front.svg > table
xrsim plot bandwidth.csv --kind heatmap --x pes --y hardware.dram_bandwidth_bytes_per_cycle --where system=J --out map.svg > table
mv front.svg "$out/sweep-front.svg"
mv map.svg "$out/sweep-map.svg"

# docs/tutorials/mlperf.md
xrsim mlperf inference --task image_classification_heavy --load server --system A --platform paper --curve 12 --out served --quiet > table
mv served/image_classification_heavy/server/curve.svg "$out/mlperf-curve.svg"

# docs/tutorials/system-search.md
xrsim search --accelerators 1..2 --step 2048 --platform paper --objective score_executed_mean,area_mm2 --out found --quiet > table
mv found/front.svg "$out/search-front.svg"

# docs/how-to/battery.md
xrsim day --profile evening --device headset --system J --pes 4096 --platform paper --flexibility none --scheduler edf:admission=hopeless \
  --no-changes --plot day.svg --quiet > table
mv day.svg "$out/day-evening.svg"

# docs/how-to/governors.md
cat > guide.yaml <<'END'
scenario:
  name: guide
  models:
    - {network: HT, fps: 30}
    - {network: DE, fps: 30}
    - network: OD
      fps: 30
      variants: [{network: OD, measured: 22.99}, {network: OD_dsmask, measured: 21.06}]
    - {network: KD, fps: 3}
    - {network: SS, fps: 10}
END
cat > walk.yaml <<'END'
profile:
  name: walk
  phases:
    - repeat: 12
      phases:
        - {name: guide, scenario: guide.yaml, minutes: 20}
        - {name: pause, scenario: standby, minutes: 10, base_mw: 50}
END
set --
for governor in fixed race slack ondemand sustain; do
  for quality in first fitting cheapest; do
    set -- "$@" --scheduler "edf:admission=hopeless,governor=$governor,quality=$quality"
  done
done
xrsim sweep --profile walk.yaml --device glasses --system J --pes 4096 --platform headset --flexibility none "$@" \
  --out walk.csv --quiet
xrsim plot walk.csv --kind pareto --x hours --y score --out front.svg > table
mv front.svg "$out/day-front.svg"

# docs/how-to/battery.md
for governor in fixed slack race ondemand; do
  xrsim day --profile evening --device glasses --system J --pes 4096 --platform headset --flexibility none \
    --scheduler edf:admission=hopeless,governor=$governor --no-changes --out $governor --quiet > table
done
xrsim plot fixed slack race ondemand --kind energy --out energy.svg
mv energy.svg "$out/day-energy.svg"

# README.md, docs/tutorials/paper.md
xrsim reproduce --figure 5 --semantics mlsys2023 --out study --quiet > table
mv study/figure5_mlsys2023.svg "$out"
