#!/usr/bin/env python3
"""Earliest deadline first, as a scheduler in its own process:

    xrsim run --scheduler 'external:python3 examples/schedulers/edf.py'
"""

import json
import sys

setup = json.loads(sys.stdin.readline())
latency_ns = setup["latency_ns"]  # [model][accelerator]

for line in sys.stdin:
    view = json.loads(line)
    # Ties as everywhere in xrsim: deadline, arrival, model, frame; then the lowest accelerator.
    key = lambda job: (job["deadline_ns"], job["arrival_ns"], job["model"], job["frame"])
    job = min(view["ready"], key=key)
    accelerator = min(view["idle"], key=lambda a: latency_ns[job["model"]][a])
    answer = {"id": view["id"], "do": "dispatch", "request": job["request"], "accelerator": accelerator}
    print(json.dumps(answer), flush=True)
