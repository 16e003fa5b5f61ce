#!/usr/bin/env python3
"""How often the interval of an estimate holds the makespan of the full run.

    benches/estimates.py --hayase target/release/hayase --cache ~/.cache/hayase-estimates.json -o estimates.csv

Runs each case in full and with --estimate, and writes a line for each: makespan of both, interval, part simulated,
whether the interval holds it. What runs in full anyway has no interval and is only counted. Full runs are kept in the
cache, since they do not change; estimates are made anew. Ends with 1 if the intervals hold fewer than a true coverage
of 95 % would allow in 99 of 100 studies (binomial).
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys


def cases():
    """Name, options of the run, and the error that is asked for."""
    spread, nd, pairwise, order = (
        f"all-to-all-{name}" for name in ("simple-spread", "nd-spread", "pairwise", "random-order")
    )
    several = lambda count: ["--set", f"workload.all-to-all.messages={count}", "--set", 'workload.all-to-all.message-order="rounds"']
    drawn = lambda count: ["--size", "20 KB", "--set", f"workload.uniform-random.messages={count}"]
    all_cases = []

    def add(topology, pattern, error, *options, placement="random", seeds=(1,)):
        # Seeds from 101 on, since law and interval were developed with smaller ones.
        for seed in (100 + seed for seed in seeds):
            run = ["-t", topology, "-p", pattern, "--placement", placement, "--seed", str(seed), *options]
            all_cases.append((run, error))

    many, some, few = range(1, 9), range(1, 5), range(1, 3)
    # All-to-alls on all fabrics, at random.
    for topology, count in (("fat-tree-54", 20), ("fat-tree-128", 8), ("fat-tree-250", 4), ("fat-tree-432", 2)):
        for pattern in (spread, nd, order):
            add(topology, pattern, "4%", *several(count), seeds=some)
    sides = (("torus-4x4", 80), ("torus-8x8", 20), ("torus-11x11", 8), ("torus-12x12", 6), ("torus-13x13", 5), ("torus-16x16", 3))
    for topology, count in sides:
        for pattern in (spread, order):
            add(topology, pattern, "4%", *several(count), seeds=some)
    add("dragonfly-72", spread, "4%", *several(15), seeds=some)
    add("dragonfly-72", order, "4%", *several(15), seeds=some)
    add("slim-fly-200", spread, "4%", *several(5), seeds=some)
    for topology, count in (("fat-tree-128", 8), ("torus-8x8", 16), ("torus-16x16", 3)):
        add(topology, pairwise, "4%", *several(count), seeds=some)
    # Unchanged, without repetition.
    add("fat-tree-432", spread, "3%", seeds=many)
    add("fat-tree-686", spread, "3%", seeds=few)
    add("fat-tree-1458", spread, "2%", seeds=few)
    add("mesh-16x16", spread, "4%", *several(3), seeds=few)
    add("polarfly-798", spread, "3%")
    add("jellyfish-720", spread, "3%")
    add("fat-tree-1024", spread, "2%", seeds=few)
    add("fat-tree-1024", pairwise, "2%", seeds=few)
    add("dragonfly-1056", spread, "2%", seeds=few)
    # Random traffic.
    for topology, count in (("fat-tree-54", 1000), ("fat-tree-250", 1000), ("torus-8x8", 1000), ("dragonfly-72", 1000)):
        add(topology, "uniform-random", "3%", *drawn(count), seeds=many)
    add("fat-tree-128", "uniform-random", "3%", *drawn(1000), placement="regular", seeds=some)
    # Other rules of injection, policies, placements, sizes, latencies.
    # (Flows leave their senders on arrival, so `left` is another draw of the same.)
    for injection, seeds in (("sendrecv", some), ("left", range(11, 15)), ("window=2", some)):
        add("fat-tree-128", spread, "4%", *several(8), "--injection", injection, seeds=seeds)
        add("torus-8x8", spread, "4%", *several(20), "--injection", injection, seeds=seeds)
    for sharing in ("equal-share", "redistribute"):
        add("fat-tree-128", spread, "4%", *several(8), "--sharing", sharing, seeds=some)
        add("torus-8x8", spread, "4%", *several(20), "--sharing", sharing, seeds=some)
    for placement in ("by-leaf:random", "regular"):
        add("fat-tree-128", spread, "4%", *several(8), placement=placement, seeds=some)
        add("torus-8x8", spread, "4%", *several(20), placement=placement, seeds=few)
    add("fat-tree-250", order, "4%", *several(4), placement="by-leaf:random", seeds=some)
    add("fat-tree-128", order, "4%", *several(8), placement="regular", seeds=some)
    add("fat-tree-250", spread, "4%", *several(4), "--size", "1 MB", "--jitter", "1ms", seeds=some)
    add("fat-tree-128", spread, "4%", *several(8), "--size", "500 B", "--set", 'topology.fat-tree.latency="100 ns"', seeds=some)
    add("torus-8x8", spread, "4%", *several(20), "--faults", "5%", seeds=few)
    add("torus-4x4", spread, "4%", *several(60), "--size", "16 KB", "--transport", "packet:oq", seeds=few)
    return all_cases


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def fewest(count, coverage, chance):
    """The number held that a true coverage falls below with this chance."""
    below = 0.0
    for held in range(count + 1):
        below += math.comb(count, held) * coverage**held * (1 - coverage) ** (count - held)
        if below > chance:
            return held
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hayase", default="target/release/hayase")
    parser.add_argument("--reference", help="the program for the full runs, if it is another one")
    parser.add_argument("--cache", required=True)
    parser.add_argument("-o", "--output")
    parser.add_argument("--every", type=int, default=1, help="only each n-th case")
    args = parser.parse_args()
    cache = json.load(open(args.cache)) if os.path.exists(args.cache) else {}
    rows = []
    for options, error in cases()[:: args.every]:
        key = " ".join(options)
        if key not in cache:
            full = run([args.reference or args.hayase, "run", *options, "--format", "json", "--quiet"])
            cache[key] = full["makespan_s"]
            with open(args.cache, "w") as file:
                json.dump(cache, file, indent=0)
        report = run([args.hayase, "run", *options, "--estimate", error, "--format", "json", "--quiet"])
        estimate = report["estimate"]
        row = {"case": key, "asked": error, "full_s": cache[key], "estimate_s": "", "low_s": "", "high_s": ""}
        row |= {"part": 1, "error": "", "held": "", "reason": report.get("estimate_reason", "")}
        if estimate is None:
            if report["makespan_s"] != cache[key]:
                sys.exit(f"{key}: in full {cache[key]}, here {report['makespan_s']}")
        else:
            held = estimate["low_s"] <= cache[key] <= estimate["high_s"]
            row |= {"estimate_s": estimate["makespan_s"], "low_s": estimate["low_s"], "high_s": estimate["high_s"]}
            row |= {"part": round(estimate["simulated_part"], 4), "held": int(held)}
            row |= {"error": round(estimate["makespan_s"] / cache[key] - 1, 5)}
        rows.append(row)
    if args.output:
        with open(args.output, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    known = [row for row in rows if row["held"] != ""]
    held = sum(row["held"] for row in known)
    errors = [row["error"] for row in known]
    widths = [(row["high_s"] - row["low_s"]) / 2 / row["estimate_s"] for row in known]
    rms = math.sqrt(sum(error**2 for error in errors) / len(errors))
    mean = lambda values: sum(values) / len(values)
    print(f"{held} of {len(known)} intervals hold the full run ({held / len(known):.1%}); {len(rows) - len(known)} ran in full")
    print(f"error {mean(errors):+.2%} on average, {rms:.2%} root mean square; interval +- {mean(widths):.2%} on average; "
          f"{mean([row['part'] for row in known]):.0%} simulated on average")
    least = fewest(len(known), 0.95, 0.01)
    print(f"at least {least} are expected of 95 %")
    return 0 if held >= least else 1


if __name__ == "__main__":
    sys.exit(main())
