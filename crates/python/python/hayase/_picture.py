"""`hayase.plot`: draws whatever came out of a call, also the tables of pandas that comparisons and sweeps give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(
    what: Any, kind: str | None = None, *, ax: Axes | None = None, x: str | None = None, y: str | None = None
) -> Axes:
    """Draws a result, a fabric, a report, or the table of a comparison, a sweep or rates; returns the axes.

    kind: which picture, where there are several: of a run those of its `plots()`, of a sweep "lines" or "heat".
    x, y: of a sweep, the keys on the axes (default: those with most values).

    >>> import matplotlib; matplotlib.use("agg")
    >>> plot(hayase.run("torus-4x4", "ring"), "bounds").get_xlabel()
    'time [us]'
    """
    from hayase import _draw

    if hasattr(what, "attrs") and hasattr(what, "columns"):
        return _table(what, kind, ax, x, y)
    if x is not None or y is not None:
        raise TypeError("x and y are of sweeps")
    if isinstance(what, Mapping):
        return _draw.draw(what, kind, ax, lambda name: None)
    if hasattr(what, "_repr_html_") and hasattr(what, "plot"):
        drawn: Axes = what.plot(ax=ax) if kind is None else what.plot(kind, ax=ax)
        return drawn
    raise TypeError(f"a result, a topology, a report or a table of hayase is expected, not {type(what).__name__}")


def _table(frame: Any, kind: str | None, ax: Axes | None, x: str | None, y: str | None) -> Axes:
    from hayase import _draw
    from hayase._draw import many, runs

    report = frame.attrs.get("report")
    if isinstance(report, Mapping) and str(report.get("schema", "")).startswith(("hayase-comparison", "hayase-whatif")):
        return _draw.draw(report, kind, ax, lambda name: None)
    columns = set(frame.columns)
    if {"id", "status"} <= columns and columns & {"makespan", "makespan_s"}:
        if kind in (None, "lines"):
            return many.lines(frame, ax, x, y)
        if kind == "heat":
            return many.heat(frame, ax, x, y)
        raise ValueError(f"a sweep has no picture {kind!r}; it has 'lines', 'heat'")
    if "rate_Bps" in columns or "rate" in columns:
        name = "rate_Bps" if "rate_Bps" in columns else "rate"
        return runs.rates([{"rate_Bps": float(value)} for value in frame[name].fillna(float("inf"))], ax)
    raise ValueError(
        f"a table of a comparison, a sweep or rates is expected; this one has {', '.join(map(str, frame.columns))}"
    )
