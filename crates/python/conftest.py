"""What tests and doctests have in common."""

from __future__ import annotations

from typing import Any

import pytest

import hayase

#: Not executed: what a type checker reads, and notebooks, which `notebooks/run` executes.
collect_ignore_glob = ["tests/typing/*", "notebooks/*"]


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any]) -> None:
    """Examples in docstrings say what a user says who has imported these."""
    doctest_namespace.update(hayase=hayase, Topology=hayase.Topology, Pattern=hayase.Pattern)
