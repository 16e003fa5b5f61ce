"""Typical use, which mypy --strict must accept. This file is not executed."""

import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import hayase

run = hayase.run("fat-tree-54", "all-to-all-simple-spread", placement="random", seed=1, messages=True, sharing="max-min")
makespan: float = run.makespan
fingerprint: str = run.fingerprint
axes: Axes = run.plot("load")
ends = run.messages["end"]
frame: pd.DataFrame = run.messages.to_pandas()

hayase.run({"torus": {"dims": [4, 4], "bandwidth": 1e9}}, [(0, 1, 20_000)], routing="spray", transport="packet:oq")
hayase.run("torus-4x4", np.zeros((1, 3)), placement=np.arange(16), routing={"tables": {"file": "tables.csv"}}, size="20 KB")
hayase.run("torus-4x4", "ring", progress=lambda now, done, total: print(now, done, total))

star: hayase.Topology = hayase.Topology.from_networkx(nx.star_graph(3), bandwidth=1e9)
labels = star.labels
pattern: hayase.Pattern = hayase.Pattern.from_matrix([[0, 1], [1, 0]], order="row")
hayase.run(star, pattern)

scenario = hayase.Scenario("torus-4x4", "ring", sharing="equal-share")
hayase.plot(scenario.run(links=True), "links")

table: pd.DataFrame = hayase.compare(["torus-4x4"], ["ring"], placement=["regular", "random"], seeds=2)
hayase.compare(
    [star, "torus-4x4", {"torus": {"dims": [4, 4], "bandwidth": 1e9}}],
    pattern,
    sharing=["max-min", "equal-share"],
    transport=("flow", "packet:oq"),
    routing="minimal",
    faults=[0.01, "2%"],
    machine="myrinet",
    rank="makespan",
    size="20 KB",
    order=["rank", "auto"],
    optimum=True,
)
gather = hayase.schedule("all-gather", star, size=1e6, jitter="2 us", placement=np.arange(3), routing="spray", plan=True)
sources = gather.plan["src"]
hayase.schedule("all-to-all", "torus-4x4", method="pack", sizes=[(0, 1, 20_000)], machine="myrinet")
hayase.throughput("torus-4x4", optimum="2%", cables=True)
hayase.run("torus-4x4", "ring", optimum=True, order="auto", barrier_cost=1e-6)
points: pd.DataFrame = hayase.sweep({"topology": "torus-4x4", "workload": "ring", "grid": {"seed": [1, 2]}}, "out", shard=(0, 2))

try:
    scenario.check()
except hayase.ScenarioError as error:
    for code, message, *_ in error.mistakes:
        print(code, message)
