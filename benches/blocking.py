#!/usr/bin/env python3
"""How far flows lie from packets in input queues: the tables of docs/models.md, 2.5 and 14.8.

    benches/blocking.py PROGRAM CACHE [--n 8] [--seeds 4] [--load all-to-all|uniform] [--models ...]

Runs what is not in the folder CACHE yet, one at a time, and prints makespans of packets and by how much the others are
off, as Markdown; beyond 10 % in bold. PROGRAM is a release build of `hayase`; n = 16 takes a minute a packet run.
"""
import argparse
import json
import pathlib
import subprocess
import sys

IQ = ["--transport", "packet:iq", "--set", "transport.packet.deadlock-avoidance="]
SWITCHES = {"dateline": "dateline", "turn": "turn", "bubble": "local-bubble"}


def models(switch):
    blocking = ["--sharing", "blocking", "--set", f"sharing.blocking.channels={switch}"]
    avoidance = IQ[:-1] + [IQ[-1] + SWITCHES[switch]]
    return {
        "packets": avoidance,
        "max-min": [],
        "blocking": blocking,
        "blocking, 0.05": blocking + ["--set", "sharing.blocking.tolerance=0.05"],
        "7 packets": avoidance + ["--set", "transport.packet.packets-per-message=7"],
    }


def makespan(arguments, load, seed):
    """[s], from the cache or a run."""
    words = load + ["--jitter", "1.5us", "--seed", str(seed)] + arguments
    kept = pathlib.Path(options.cache) / ("_".join(words).replace("/", "-").replace(" ", "") + ".json")
    if not kept.exists():
        run = subprocess.run([options.program, "run", *words, "--format", "json"], capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{' '.join(words)}:\n{run.stderr}")
        kept.write_text(json.dumps({"makespan_s": json.loads(run.stdout)["makespan_s"]}))
    return json.loads(kept.read_text())["makespan_s"]


def mean(arguments, load):
    seeds = range(1, options.seeds + 1)
    return sum(makespan(arguments, load, seed) for seed in seeds) / options.seeds


def percent(value):
    text = f"{100 * value:+.0f} %"
    return f"**{text}**" if abs(value) > 0.1 else text


def loads():
    torus = ["-t", f"torus-{options.n}x{options.n}", "--size", "1 MB"]
    if options.load == "all-to-all":
        names = ["simple-spread", "2d-spread", "pairwise"]
        return {name: torus + ["-p", f"all-to-all-{name}"] for name in names}
    messages = ["-p", "uniform-random", "--set", "workload.uniform-random.messages=63"]
    return {"uniform": torus + messages}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("cache")
parser.add_argument("--n", type=int, default=8)
parser.add_argument("--seeds", type=int, default=4)
parser.add_argument("--load", choices=["all-to-all", "uniform"], default="all-to-all")
parser.add_argument("--switches", default=",".join(SWITCHES))
parser.add_argument("--models", default="max-min,blocking,7 packets")
options = parser.parse_args()
pathlib.Path(options.cache).mkdir(parents=True, exist_ok=True)
print("| switch | " + " | ".join(f"{load}, packets [ms]" for load in loads()) + " | " + options.models.replace(",", " | ") + " |")
for switch in options.switches.split(","):
    packets = {name: mean(models(switch)["packets"], load) for name, load in loads().items()}
    row = [switch] + [f"{1e3 * time:.0f}" for time in packets.values()]
    for model in options.models.split(","):
        off = [mean(models(switch)[model], load) / packets[name] - 1 for name, load in loads().items()]
        row.append(" / ".join(map(percent, off)))
    print("| " + " | ".join(row) + " |")
