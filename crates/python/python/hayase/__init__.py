"""Hayase: discrete-event message-flow simulation of HPC interconnects and the parallel programs on them."""

from __future__ import annotations

from hayase._hayase import Deadlock, ScenarioError, __version__
from hayase._plot import plot
from hayase._result import Result, Table
from hayase._scenario import Pattern, Routing, Scenario, Topology, run, run_many
from hayase._verbs import (
    advise,
    bounds,
    compare,
    interference,
    llm,
    machines,
    master_slave,
    models,
    nccl,
    patterns,
    placements,
    predict,
    presets,
    rates,
    replay,
    schedule,
    sweep,
    throughput,
    to_xarray,
    topologies,
    whatif,
)

__all__ = [
    "Deadlock",
    "Pattern",
    "Result",
    "Routing",
    "Scenario",
    "ScenarioError",
    "Table",
    "Topology",
    "__version__",
    "advise",
    "bounds",
    "compare",
    "interference",
    "llm",
    "machines",
    "master_slave",
    "models",
    "nccl",
    "patterns",
    "placements",
    "plot",
    "predict",
    "presets",
    "rates",
    "replay",
    "run",
    "run_many",
    "schedule",
    "sweep",
    "throughput",
    "to_xarray",
    "topologies",
    "whatif",
]
