"""Hayase: discrete-event message-flow simulation of HPC interconnects and the parallel programs on them."""

from __future__ import annotations

from hayase._hayase import Deadlock, ScenarioError, __version__
from hayase._scenario import Pattern, Result, Scenario, Topology, run

__all__ = [
    "Deadlock",
    "Pattern",
    "Result",
    "Scenario",
    "ScenarioError",
    "Topology",
    "__version__",
    "run",
]
