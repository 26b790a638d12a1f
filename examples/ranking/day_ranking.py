"""Kendall's tau-b of two rankings of systems: by one second of each scenario, and by a whole evening.

    python3 examples/ranking/day_ranking.py second.csv day_styles.csv

Both files are of `xrsim sweep` (docs/how-to/governors.md). Scores of one second are weighted by the minutes of the
scenarios in the profile `evening`.
"""

import csv
import sys
from collections import defaultdict
from itertools import combinations

MINUTES = {"VR_gaming": 50, "standby": 80, "social_interactionA": 30, "AR_Assistant": 20, "AR_gaming": 10}

# Differences that no draw turns around: scores of draws of an evening differ by less.
CLEAR = 1e-3


def means(path, column, *keys):
    values = defaultdict(list)
    for row in csv.DictReader(open(path)):
        # A point without a result scores 0.
        values[tuple(row.get(key, "no device") for key in keys)].append(float(row[column] or 0))
    return {key: sum(of) / len(of) for key, of in values.items()}


def sign(difference):
    return (difference > 0) - (difference < 0)


def tau_b(pairs):
    both = sum(sign(a) * sign(b) for a, b in pairs)
    return both / (sum(a != 0 for a, _ in pairs) * sum(b != 0 for _, b in pairs)) ** 0.5


def main(second, days):
    of_scenario = means(second, "score", "scheduler", "pes", "system", "scenario")
    whole = means(days, "profile_score", "device", "scheduler", "pes", "system")
    for device, scheduler, pes in sorted({key[:3] for key in whole}):
        systems = sorted(key[3] for key in whole if key[:3] == (device, scheduler, pes))
        mean = {
            it: sum(of_scenario[scheduler, pes, it, name] * of for name, of in MINUTES.items()) / sum(MINUTES.values())
            for it in systems
        }
        day = {it: whole[device, scheduler, pes, it] for it in systems}
        pairs = [(mean[a] - mean[b], day[a] - day[b]) for a, b in combinations(systems, 2)]
        turned = sum(a * b < 0 and min(abs(a), abs(b)) > CLEAR for a, b in pairs)
        print(f"{device}, {scheduler}, {pes} PEs: tau {tau_b(pairs):.3f}, {turned} of {len(pairs)} pairs clearly turned")
        for name, score in (("second", mean), ("whole", day)):
            ranked = sorted(systems, key=lambda it: -score[it])
            print(f"  {name:7}", " ".join(f"{it} {score[it]:.4f}" for it in ranked))


if __name__ == "__main__":
    main(*sys.argv[1:])
