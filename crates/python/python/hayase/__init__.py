"""Hayase: discrete-event message-flow simulation of HPC interconnects and the parallel programs on them."""

from __future__ import annotations

from hayase._hayase import Deadlock, ScenarioError, __version__
from hayase._result import Result, Table
from hayase._scenario import Pattern, Scenario, Topology, run
from hayase._verbs import (
    advise,
    bounds,
    compare,
    machines,
    master_slave,
    patterns,
    placements,
    predict,
    presets,
    rates,
    replay,
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
    "Scenario",
    "ScenarioError",
    "Table",
    "Topology",
    "__version__",
    "advise",
    "bounds",
    "compare",
    "machines",
    "master_slave",
    "patterns",
    "placements",
    "predict",
    "presets",
    "rates",
    "replay",
    "run",
    "sweep",
    "throughput",
    "to_xarray",
    "topologies",
    "whatif",
]
