"""Setup of tests and doctests."""

from __future__ import annotations

from typing import Any

import pytest

import hayase

#: Not collected: files for a type checker, and notebooks, which `notebooks/run` executes.
collect_ignore_glob = ["tests/typing/*", "notebooks/*"]


@pytest.fixture(autouse=True)
def _names(doctest_namespace: dict[str, Any]) -> None:
    """Imports the names that examples in docstrings use."""
    doctest_namespace.update(hayase=hayase, Topology=hayase.Topology, Pattern=hayase.Pattern)
