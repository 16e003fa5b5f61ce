"""``plot()`` of every result: what is drawn by default, and what else there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Report = Mapping[str, Any]


class Rows(Protocol):
    """Columns by name."""

    def __getitem__(self, name: str, /) -> Any: ...


class Tables(Protocol):
    """Finds the table of a result that was recorded, by its name; ``None`` where it was not."""

    def __call__(self, name: str, /) -> Rows | None: ...


def kinds(report: Report, table: Tables) -> dict[str, Any]:
    """What can be drawn of a report, the default first: for each name a function of the axes."""
    from . import many, programs, runs

    schema = str(report.get("schema", ""))
    found: dict[str, Any] = {}
    messages, links, ranks = table("messages"), table("links"), table("ranks")
    activities, path = table("activities"), table("path")
    if schema.startswith("hayase-comparison"):
        found["bars"] = lambda ax: many.comparison(report, ax)
    elif schema.startswith("hayase-throughput"):
        found["loads"] = lambda ax: runs.throughput(report, ax)
    elif schema.startswith("hayase-advice"):
        found["gains"] = lambda ax: programs.advice(report, ax)
    elif schema.startswith("hayase-whatif"):
        found["tornado" if report.get("tornado") else "lines"] = lambda ax: programs.whatif(report, ax)
    elif schema.startswith("hayase-master-slave"):
        found["workers"] = lambda ax: programs.farm(report, ax)
    elif schema.startswith("hayase-jobs"):
        found["jobs"] = lambda ax: runs.jobs(report, ax)
        if report.get("interference"):
            found["interference"] = lambda ax: runs.interference(report, ax)
    if schema.startswith("hayase-replay"):
        found["breakdown"] = lambda ax: programs.breakdown(report, ranks, ax)
    elif schema.startswith("hayase-report"):
        if messages is not None:
            found["load"] = lambda ax: runs.load(report, messages, ax)
            found["messages"] = lambda ax: runs.timeline(report, messages, ax)
        found["links"] = lambda ax: runs.links(report, links, ax)
        if "ranks" in report:
            found["breakdown"] = lambda ax: programs.breakdown(report, None, ax)
    elif links is not None and found:
        found["links"] = lambda ax: runs.links(report, links, ax)
    if "bounds" in report and schema.startswith(("hayase-report", "hayase-jobs")):
        found["bounds"] = lambda ax: runs.bounds(report, ax)
    if activities is not None:
        found["timeline"] = lambda ax: programs.timeline(report, activities, path, ax)
    if report.get("critical_path"):
        found["path"] = lambda ax: programs.path(report, ax)
    if report.get("noise") and "ranks" in report["noise"]:
        found["noise"] = lambda ax: programs.noise(report, ax)
    if isinstance(report.get("seeds"), Mapping) and report["seeds"].get("makespans_s"):
        found["seeds"] = lambda ax: runs.seeds(report, ax)
    return found


#: What has to be recorded for a picture that a run does not have.
_RECORD = {
    "load": "messages=True",
    "messages": "messages=True",
    "timeline": "activities=True",
    "seeds": "seeds=...",
    "noise": "noise=... or straggler=...",
}


def draw(report: Report, kind: str | None, ax: Axes | None, table: Tables) -> Axes:
    """Draws a report: by default its first picture."""
    found = kinds(report, table)
    if not found:
        raise ValueError(f"there is no picture of {report.get('schema', 'this')!r}")
    if kind is None:
        kind = next(iter(found))
    if kind not in found:
        hint = f"; ask for it with {_RECORD[kind]}" if kind in _RECORD else ""
        raise ValueError(f"this result has no picture {kind!r}{hint}; it has {', '.join(map(repr, found))}")
    axes: Axes = found[kind](ax)
    return axes
