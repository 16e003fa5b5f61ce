"""`hayase.plot` and ``plot()`` of every result: the default picture, and the other ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Report = Mapping[str, Any]
#: Finds a recorded table of a result by its name; ``None`` if it was not recorded.
Tables = Callable[[str], Any]

#: Arguments of a run that a picture needs.
RECORD = {
    "load": "messages=True",
    "messages": "messages=True",
    "timeline": "activities=True",
    "seeds": "seeds=...",
    "noise": "noise=... or straggler=...",
}


def plot(
    what: Any, kind: str | None = None, *, ax: Axes | None = None, x: str | None = None, y: str | None = None
) -> Axes:
    """Draws a result, a fabric, a report, or the table of a comparison, a sweep or rates; returns the axes.

    kind: the kind of picture, if there are several: for a run one of its `plots()`, for a sweep "lines" or "heat".
    x, y: the keys on the axes, for a sweep (default: those with most values).

    >>> import matplotlib; matplotlib.use("agg")
    >>> plot(hayase.run("torus-4x4", "ring"), "bounds").get_xlabel()
    'time [us]'
    """
    from hayase._faces import ReportFace, TopologyFace

    if hasattr(what, "attrs") and hasattr(what, "columns"):
        return _frame(what, kind, ax, x, y)
    if x is not None or y is not None:
        raise TypeError("x and y are of sweeps")
    if isinstance(what, ReportFace):
        return what.plot(kind, ax=ax)
    if isinstance(what, TopologyFace):
        return what.plot(ax=ax)
    if isinstance(what, Mapping):
        return draw(what, kind, ax, lambda name: None)
    raise TypeError(f"a result, a topology, a report or a table of hayase is expected, not {type(what).__name__}")


def _frame(frame: Any, kind: str | None, ax: Axes | None, x: str | None, y: str | None) -> Axes:
    from hayase import _pictures as of

    report = frame.attrs.get("report")
    if isinstance(report, Mapping) and str(report.get("schema", "")).startswith(("hayase-comparison", "hayase-whatif")):
        return draw(report, kind, ax, lambda name: None)
    columns = set(frame.columns)
    if {"id", "status"} <= columns and columns & {"makespan", "makespan_s"}:
        drawings = {"lines": of.sweep_lines, "heat": of.sweep_heat}
        if (kind or "lines") not in drawings:
            raise ValueError(f"a sweep has no picture {kind!r}; it has 'lines', 'heat'")
        return drawings[kind or "lines"](frame, ax, x, y)
    for name in columns & {"rate", "rate_Bps"}:
        return of.rates(frame[name].fillna(math.inf).tolist(), ax)
    raise ValueError(
        f"a table of a comparison, a sweep or rates is expected; this one has {', '.join(map(str, frame.columns))}"
    )


def kinds(report: Report, table: Tables) -> dict[str, Callable[[Axes | None], Axes]]:
    """Returns the pictures of a report, the default first: for each name a function of the axes."""
    from hayase import _pictures as of

    schema = str(report.get("schema", ""))
    is_run, is_jobs = schema.startswith("hayase-report"), schema.startswith("hayase-jobs")
    messages, recorded = table("messages"), table("links")
    activities, ranks = table("activities"), table("ranks")
    known = {
        "bars": schema.startswith("hayase-comparison") and of.comparison,
        "loads": schema.startswith("hayase-throughput") and of.throughput,
        "gains": schema.startswith("hayase-advice") and of.advice,
        "tornado": schema.startswith("hayase-whatif") and report.get("tornado") and of.tornado,
        "lines": schema.startswith("hayase-whatif") and not report.get("tornado") and of.whatif,
        "workers": schema.startswith("hayase-master-slave") and of.farm,
        "jobs": is_jobs and of.jobs,
        "interference": is_jobs and report.get("interference") and of.interference,
        "load": is_run and messages is not None and (lambda report, ax: of.load(report, messages, ax)),
        "messages": is_run and messages is not None and (lambda report, ax: of.sent(report, messages, ax)),
        "links": (is_run or is_jobs and recorded is not None) and (lambda report, ax: of.links(report, recorded, ax)),
        "breakdown": (schema.startswith("hayase-replay") or is_run and "ranks" in report)
        and (lambda report, ax: of.breakdown(report, None if is_run else ranks, ax)),
        "bounds": "bounds" in report and (is_run or is_jobs) and of.bounds,
        "timeline": activities is not None and (lambda report, ax: of.timeline(report, activities, table("path"), ax)),
        "path": report.get("critical_path") and of.path,
        "noise": "ranks" in (report.get("noise") or {}) and of.noise,
        "seeds": isinstance(report.get("seeds"), Mapping) and report["seeds"].get("makespans_s") and of.seeds,
    }
    return {name: functools.partial(drawing, report) for name, drawing in known.items() if drawing}


def draw(report: Report, kind: str | None, ax: Axes | None, table: Tables) -> Axes:
    """Draws a report, by default its first picture."""
    found = kinds(report, table)
    if not found:
        raise ValueError(f"there is no picture of {report.get('schema', 'this')!r}")
    kind = next(iter(found)) if kind is None else kind
    if kind not in found:
        hint = f"; ask for it with {RECORD[kind]}" if kind in RECORD else ""
        raise ValueError(f"this result has no picture {kind!r}{hint}; it has {', '.join(map(repr, found))}")
    return found[kind](ax)


