"""Pictures of programs: where time goes, timelines, the critical path, slow ranks; of farms, what-ifs and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._units import scale, show
from . import style
from .student import half_width
from .style import seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from . import Report, Rows

#: Columns of a rank's times, and the kinds of time they are.
_COLUMNS = {
    "compute_s": "compute",
    "send_overhead_s": "send overhead",
    "recv_overhead_s": "receive overhead",
    "send_wait_s": "send wait",
    "recv_wait_s": "receive wait",
    "sync_s": "synchronisation",
}
#: From so many activities on a timeline is drawn in columns of this many, each in the colour of what takes most of it.
_MOST_BARS = 6000
_COLUMNS_OF_TIME = 1400
#: Most changes of rank of a critical path that is drawn.
_MOST_CHANGES = 60


def _name(report: Report) -> str:
    said = str(report.get("program") or report.get("workload") or "")
    name, _, rest = said.partition(" (")
    return f"{name.rsplit('/', 1)[-1]} ({rest}" if rest else name


def breakdown(report: Report, table: Rows | None, ax: Axes | None = None) -> Axes:
    """Where the time of each rank goes: a column for each rank, parts one above another."""
    import numpy as np

    if table is not None:
        columns = {key: np.asarray(table[key.removesuffix("_s")], float) for key in ("rank", *_COLUMNS)}
    else:
        columns = {key: np.array([row.get(key, 0.0) for row in report["ranks"]], float) for key in ("rank", *_COLUMNS)}
    ranks = columns["rank"]
    sums = np.sum([columns[key] for key in _COLUMNS], axis=0)
    tick, second = scale(max(float(sums.max(initial=0.0)), report["makespan_s"]), "s")
    ax = style.axes(ax)
    below = np.zeros(len(ranks))
    many = len(ranks) > 96
    for key, kind in _COLUMNS.items():
        values = columns[key] / tick
        if not values.any():
            continue
        colour, hatch = style.KINDS[kind]
        if many:
            ax.fill_between(
                ranks,
                below,
                below + values,
                step="mid",
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0,
                label=kind,
            )
        else:
            ax.bar(
                ranks,
                values,
                bottom=below,
                width=0.86,
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0,
                label=kind,
            )
        below = below + values
    ax.axhline(
        report["makespan_s"] / tick,
        color=ax.xaxis.label.get_color(),
        linestyle="--",
        linewidth=1,
        label=f"makespan, {show(report['makespan_s'])}",
    )
    ax.set_xlim(ranks.min() - 0.6, ranks.max() + 0.6)
    ax.xaxis.set_major_locator(style.whole_numbers())
    ax.set_xlabel("rank")
    ax.set_ylabel(f"time [{second}]")
    style.grid(ax, "y")
    style.legend(ax)
    setting = ", ".join(str(report[key]) for key in ("node", "network") if report.get(key))
    style.title(ax, _name(report), f"where the time of ranks goes{'; ' if setting else ''}{setting}")
    return ax


def timeline(report: Report, activities: Rows, path: Rows | None, ax: Axes | None = None) -> Axes:
    """What each rank does when, and the critical path over it."""
    import numpy as np

    begin, end = seconds(activities, "begin"), seconds(activities, "end")
    rank, kind = np.asarray(activities["rank"], int), np.asarray(activities["kind"], str)
    tick, second = scale(float(end.max(initial=0.0)) or report["makespan_s"], "s")
    ranks = int(rank.max(initial=0)) + 1
    ax = style.axes(ax, 8.5, min(max(2.6, 1.4 + 0.22 * ranks), 9.0))
    kinds = [name for name in style.KINDS if (kind == name).any()]
    if len(rank) > _MOST_BARS:
        _image(ax, begin / tick, end / tick, rank, kind, kinds, ranks)
    else:
        from matplotlib.collections import PolyCollection

        for name in kinds:
            chosen = (kind == name) & (end > begin)
            corners = [(begin, -0.4), (end, -0.4), (end, 0.4), (begin, 0.4)]
            box = np.stack([np.stack([time[chosen] / tick, rank[chosen] + side], 1) for time, side in corners], 1)
            colour, hatch = style.KINDS[name]
            ax.add_collection(
                PolyCollection(list(box), facecolors=colour, edgecolors="white", linewidths=0.2, hatch=hatch)
            )
    for name in kinds:
        ax.fill_between([], [], color=style.KINDS[name][0], hatch=style.KINDS[name][1], edgecolor="white", label=name)
    if path is not None and len(path["rank"]):
        steps = np.asarray(path["rank"], int)
        if int((np.diff(steps) != 0).sum()) <= _MOST_CHANGES:
            times = np.stack([seconds(path, "begin"), seconds(path, "end")], 1).ravel() / tick
            ax.plot(times, np.repeat(steps, 2), color="white", linewidth=3)
            ax.plot(times, np.repeat(steps, 2), color="black", linewidth=1.4, label="critical path")
    ax.set_xlim(0, float(end.max(initial=0.0)) / tick or 1.0)
    ax.set_ylim(ranks - 0.4, -0.6)
    ax.yaxis.set_major_locator(style.whole_numbers())
    ax.set_xlabel(f"time [{second}]")
    ax.set_ylabel("rank")
    style.legend(ax)
    style.title(ax, _name(report), "what ranks do when")
    return ax


def _image(ax: Axes, begin: Any, end: Any, rank: Any, kind: Any, kinds: list[str], ranks: int) -> None:
    """Of too many activities: columns of time, each in the colour of what takes most of it."""
    import numpy as np
    from matplotlib.colors import ListedColormap

    last = float(end.max())
    edges = np.linspace(0.0, last, _COLUMNS_OF_TIME + 1)
    taken = np.zeros((len(kinds), ranks, _COLUMNS_OF_TIME))
    for which, name in enumerate(kinds):
        for row in range(ranks):
            chosen = (kind == name) & (rank == row)
            if chosen.any():
                taken[which, row] = np.diff(_busy(begin[chosen], end[chosen], edges))
    most = taken.argmax(axis=0).astype(float)
    most[taken.sum(axis=0) < 0.25 * last / _COLUMNS_OF_TIME] = np.nan
    colours = ListedColormap([style.KINDS[name][0] for name in kinds])
    ax.imshow(
        most,
        aspect="auto",
        cmap=colours,
        vmin=-0.5,
        vmax=len(kinds) - 0.5,
        interpolation="nearest",
        extent=(0.0, last, ranks - 0.5, -0.5),
    )


def _busy(begin: Any, end: Any, edges: Any) -> Any:
    """Time within activities up to each edge; activities of one rank and kind do not overlap."""
    import numpy as np

    order = np.argsort(begin)
    begin, end = begin[order], end[order]
    whole = np.concatenate(([0.0], np.cumsum(end - begin)))
    before = np.searchsorted(begin, edges, side="right")
    inside = np.where(before > 0, np.minimum(edges, end[before - 1]) - begin[before - 1], 0.0)
    return np.where(before > 0, whole[before - 1] + np.maximum(inside, 0.0), 0.0)


def path(report: Report, ax: Axes | None = None) -> Axes:
    """What the critical path consists of, kind by kind."""
    rows = report["critical_path"]["kinds"]
    values, unit = style.in_unit([row["time_s"] for row in rows], "s")
    ax = style.axes(ax, height=style.height(len(rows)))
    kinds = [style.KINDS.get(row["kind"], (style.COLOURS[6], "")) for row in rows]
    style.bars(
        ax,
        [row["kind"] for row in rows],
        values,
        colours=[kind[0] for kind in kinds],
        hatches=[kind[1] for kind in kinds],
        texts=[f"{100 * row['part']:.3g} %" for row in rows],
    )
    ax.set_xlabel(f"time on the critical path [{unit}]")
    steps, changes = report["critical_path"]["steps"], report["critical_path"]["changes"]
    style.title(ax, _name(report), f"critical path: {steps} steps, {changes} changes of rank")
    return ax


def noise(report: Report, ax: Axes | None = None) -> Axes:
    """How much later each rank ends because some are slow, and when the delay reached it."""
    told = report["noise"]
    rows = told["ranks"]
    later, unit = style.in_unit([row["delay_s"] for row in rows], "s")
    ax = style.axes(ax)
    slow = [row["slowed_s"] > 0 for row in rows]
    for which, colour, hatch, name in (
        (True, style.COLOURS[5], "", "slow itself"),
        (False, style.COLOURS[0], "", "delayed by others"),
    ):
        chosen = [i for i, own in enumerate(slow) if own == which]
        if chosen:
            ax.bar(
                [rows[i]["rank"] for i in chosen],
                [later[i] for i in chosen],
                color=colour,
                hatch=hatch,
                width=0.86,
                label=name,
            )
    ax.xaxis.set_major_locator(style.whole_numbers())
    ax.set_xlabel("rank")
    ax.set_ylabel(f"ends later by [{unit}]")
    style.grid(ax, "y")
    style.legend(ax)
    style.title(
        ax,
        _name(report),
        f"slow ranks cost {show(told['cost_s'])}: {told['slowdown']:.4g} times the makespan without",
    )
    return ax


def farm(report: Report, ax: Axes | None = None) -> Axes:
    """The predicted time of a farm over its workers, and its bound."""
    rows = report["predictions"]
    ax = style.axes(ax)
    tick, second = scale(max(row["time_s"] for row in rows), "s")
    by_value: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_value.setdefault(str(row.get("value") or ""), []).append(row)
    for place, (value, group) in enumerate(by_value.items()):
        group = sorted(group, key=lambda row: row["workers"])
        workers, times = [row["workers"] for row in group], [row["time_s"] / tick for row in group]
        errors = [half_width(row["seeds"]["makespans_s"]) / tick if row.get("seeds") else 0.0 for row in group]
        colour = style.COLOURS[place % 8]
        ax.errorbar(
            workers,
            times,
            yerr=errors if any(errors) else None,
            color=colour,
            marker=style.MARKS[place % 8],
            linestyle=style.LINES[place % 8],
            capsize=3,
            label=f"{report.get('varied') or ''} {value}".strip() or "predicted",
        )
        if len(by_value) == 1:
            ax.plot(
                workers,
                [row["bound_s"] / tick for row in group],
                color=style.RULE,
                linestyle="--",
                marker=".",
                label="lower bound",
            )
    if len({row["workers"] for row in rows}) > 2:
        _logarithmic(ax, "x", sorted({row["workers"] for row in rows}))
    ax.set_ylim(0, 1.1 * max(row["time_s"] for row in rows) / tick)
    ax.margins(x=0.08)
    if len(by_value) == 1:
        ax.get_xlim()  # so that places on the axes are known
        free = 0.0
        for row in sorted(rows, key=lambda row: row["workers"]):
            at = (row["workers"], row["time_s"] / tick)
            place = ax.transData.transform(at)[0]
            if place >= free:
                text = f"{100 * row['efficiency']:.3g} %"
                ax.annotate(text, at, (4, 6), textcoords="offset points", fontsize="small")
                # (A digit of this size is about 6 points wide.)
                free = place + 6.0 * len(text) * ax.figure.dpi / 72
    ax.set_xlabel("workers")
    ax.set_ylabel(f"time [{second}]")
    style.grid(ax, "y")
    style.legend(ax)
    style.title(
        ax,
        str(report["tasks"]),
        str(report["setting"]) + ("; figures: efficiency" if len(by_value) == 1 else ""),
    )
    return ax


def _logarithmic(ax: Axes, which: str, values: list[float]) -> None:
    """A logarithmic axis whose ticks are at figures that were tried, not too many."""
    from matplotlib.ticker import FixedLocator, NullLocator

    axis = ax.xaxis if which == "x" else ax.yaxis
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    apart = (values[-1] / values[0]) ** (1 / 12)
    ticks = values[:1]
    for value in values:
        if value >= apart * ticks[-1]:
            ticks.append(value)
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def whatif(report: Report, ax: Axes | None = None) -> Axes:
    """A tornado: how the time changes as each parameter is halved and doubled; or the time over a parameter."""
    varied = [row for row in report["varied"] if any(point.get("time_s") is not None for point in row["points"])]
    if not report.get("tornado"):
        return _over_parameters(report, varied, ax)
    ax = style.axes(ax, height=style.height(len(varied)))
    texts: list[tuple[float, int, str]] = []
    most = max(
        (abs(100 * p["change"]) for row in varied for p in row["points"] if p.get("time_s") is not None), default=0.0
    )
    for place, row in enumerate(varied):
        points = sorted((p for p in row["points"] if p.get("time_s") is not None), key=lambda p: p["number"] or 0.0)
        for point, colour, hatch in zip((points[0], points[-1]), (style.COLOURS[4], style.COLOURS[0]), ("///", "")):
            change = 100 * point["change"]
            ax.barh(place, change, height=0.7, color=colour, hatch=hatch, edgecolor="white")
            if abs(change) > 0.01 * most:
                texts.append((change, place, str(point["value"])))
        if not any(at == place for _, at, _ in texts):
            texts.append((0.0, place, "next to nothing"))
    for change, place, text in texts:
        ax.annotate(
            text,
            (change, place),
            (4 if change >= 0 else -4, 0),
            textcoords="offset points",
            va="center",
            ha="left" if change >= 0 else "right",
            fontsize="x-small",
        )
    ax.axvline(0, color=ax.xaxis.label.get_color(), linewidth=1)
    ax.set_yticks(range(len(varied)), [f"{row['parameter']} = {row['base']}" for row in varied])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(varied) - 0.4, -0.6)
    changes = [change for change, _, _ in texts] or [0.0]
    ax.set_xlim(min(0.0, min(changes)) * 1.3 - 3, max(0.0, max(changes)) * 1.3 + 3)
    ax.set_xlabel(f"change of the time, {show(report['makespan_s'])} with nothing changed [%]")
    style.grid(ax, "x")
    style.title(ax, _name(report), "each parameter halved (hatched, light) and doubled")
    return ax


def _over_parameters(report: Report, varied: list[dict[str, Any]], ax: Axes | None) -> Axes:
    ax = style.axes(ax)
    tick, second = scale(max(p["time_s"] for row in varied for p in row["points"] if p["time_s"] is not None), "s")
    for place, row in enumerate(varied):
        points = [p for p in row["points"] if p.get("time_s") is not None]
        if len(varied) == 1 and all(p.get("number") is not None for p in points):
            xs: list[Any] = [p["number"] for p in points]
            if all(x > 0 for x in xs):
                ax.set_xscale("log")
                ax.set_xticks(xs, [str(p["value"]) for p in points], rotation=30 if len(xs) > 5 else 0)
                ax.minorticks_off()
        else:
            xs = [str(p["value"]) for p in points]
        ax.plot(
            xs,
            [p["time_s"] / tick for p in points],
            marker=style.MARKS[place % 8],
            linestyle=style.LINES[place % 8],
            color=style.COLOURS[place % 8],
            label=row["parameter"],
        )
    ax.axhline(report["makespan_s"] / tick, color=style.RULE, linestyle="--", label="nothing changed")
    ax.set_ylim(0, None)
    ax.set_xlabel(varied[0]["parameter"] if len(varied) == 1 else "value")
    ax.set_ylabel(f"time [{second}]")
    style.grid(ax, "y")
    style.legend(ax)
    style.title(ax, _name(report), "what-if")
    return ax


def advice(report: Report, ax: Axes | None = None) -> Axes:
    """What each piece of advice would save, the best first."""
    rows = [row for row in report["findings"] if row.get("gain_s") is not None]
    whole = (report.get("simulated") or {}).get("makespan_s")
    ax = style.axes(ax, 8.0, style.height(max(len(rows), 1)))
    if not rows:
        ax.text(0.5, 0.5, "no change was simulated that saves time", ha="center", va="center", transform=ax.transAxes)
        ax.set_axis_off()
        return ax
    rows.sort(key=lambda row: -row["gain_s"])
    values, unit = style.in_unit([row["gain_s"] for row in rows], "s")
    texts = [
        show(row["gain_s"], digits=3) + (f", {100 * row['gain_s'] / whole:.3g} %" if whole else "") for row in rows
    ]
    proven = [row.get("certainty") == "proven" for row in rows]
    style.bars(
        ax,
        [f"{row['id']}  {style.short(row['title'], 38)}" for row in rows],
        values,
        texts=texts,
        colours=[style.COLOURS[0] if sure else style.COLOURS[4] for sure in proven],
        hatches=["" if sure else "///" for sure in proven],
    )
    ax.set_xlabel(f"saved time [{unit}]")
    style.title(ax, _name(report), "what each change would save, simulated; hatched: to be checked")
    return ax
