"""Pictures of reports and of tables of sweeps: the columns that are drawn against each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hayase import _hayase
from hayase._chart import (
    COLOURS,
    RULE,
    at_values,
    axes,
    bars,
    column,
    curve,
    field,
    finish,
    in_unit,
    joined,
    name_of,
    short,
    spread,
    whole as whole_numbers,
)
from hayase._units import number, scale, show

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Report = Mapping[str, Any]

#: Kinds of time: colour and hatch. Waits are hatched, in a lighter tone of the activity that they wait for.
KINDS: dict[str, tuple[str, str]] = {
    "compute": ("#0072B2", ""),
    "send overhead": ("#D55E00", ""),
    "receive overhead": ("#009E73", ""),
    "send wait": ("#F2B48C", "///"),
    "receive wait": ("#A5D9C7", "\\\\\\"),
    "synchronisation": ("#CC79A7", "xxx"),
    "network": ("#B0B0B0", "..."),
}
#: Columns of a rank's times, and their kinds of time.
RANK_TIMES = {
    "compute_s": "compute",
    "send_overhead_s": "send overhead",
    "recv_overhead_s": "receive overhead",
    "send_wait_s": "send wait",
    "recv_wait_s": "receive wait",
    "sync_s": "synchronisation",
}
BOUNDS = {
    "injection_s": "injection",
    "busiest_link_s": "busiest link",
    "bisection_s": "bisection",
    "path_s": "critical path",
    "computation_s": "computation",
    "optimum_at_least_s": "optimum",
}
#: Largest numbers of links and of combinations with a named bar each, and of lines that can be told apart.
MOST_LINKS, MOST_BARS, MOST_LINES = 30, 40, 8
#: Largest number of changes of rank of a critical path that is drawn.
MOST_CHANGES = 60
#: Choices in which rows of a comparison may differ, in the order in which names list them.
FACETS = ("pattern", "topology", "placement", "machine", "transport", "sharing", "routing", "injection", "faults")
#: Columns of a sweep that are not keys of its grid.
NO_KEYS = (
    *("id", "status", "makespan", "injection_bound", "busiest_link_bound", "bisection_bound", "path_bound"),
    *("computation_bound", "ratio_to_bound", "error", "wall", "fingerprint", "seed", "mean", "sd", "efficiency"),
)


def half_width(values: Sequence[float]) -> float:
    """Returns half the 95 % interval of the mean of these values, by Student's t; 0 for a single value.

    >>> round(half_width([1.0, 2.0, 3.0]), 3)
    2.484
    """
    count = len(values)
    if count < 2:
        return 0.0
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    return _hayase.student(count - 1) * deviation / math.sqrt(count)


# --- runs ------------------------------------------------------------------------------------------------------------


def bounds(report: Report, ax: Axes | None) -> Axes:
    """Draws the makespan beside its lower bounds."""
    whole = report["makespan_s"]
    held = {name: report["bounds"][key] for key, name in BOUNDS.items() if report["bounds"].get(key) is not None}
    values, unit = in_unit([whole, *held.values()])
    texts = [show(s) + (f", makespan is {whole / s:.3g} times this" if s else "") for s in held.values()]
    colours = [COLOURS[0]] + ["#9DB8C7"] * len(held)
    ax = bars(ax, ["makespan", *held], values, [show(whole), *texts], colours)
    ax.set_xlim(0, max(values) * 1.55 or 1.0)
    return finish(ax, f"time [{unit}]", "", name_of(report), "lower bounds of the makespan", "x")


def links(report: Report, table: Any, ax: Axes | None) -> Axes:
    """Draws the utilisation of each link over the makespan: by name, or as a curve if there are many links."""
    if table is None:
        used = sorted(((row["utilisation"], row["name"]) for row in report.get("links", ())), reverse=True)
        what = f"the {len(used)} busiest links (links=True keeps all)"
    else:
        used = sorted(zip(table["utilisation"].tolist(), table["name"].tolist()), reverse=True)
        what = f"all {len(used)} links, the busiest first"
    percent, label = [100 * part for part, _ in used], "utilisation over the makespan [%]"
    if len(used) <= MOST_LINKS:
        ax = bars(ax, [name for _, name in used], percent, [f"{value:.3g} %" for value in percent])
        return finish(ax, label, "", name_of(report), what, "x")
    ax = curve(ax, percent)
    mean = sum(percent) / len(percent)
    ax.axhline(mean, color=RULE, linestyle="--", linewidth=1, label=f"mean, {mean:.3g} %")
    return finish(ax, "links, the busiest first", label, name_of(report), f"{what}: {used[0][1]}")


def load(report: Report, messages: Any, ax: Axes | None) -> Axes:
    """Draws the bandwidth of all messages over time, with the bounds. Each message counts with its mean rate."""
    import numpy as np

    start, end, size = (column(messages, name) for name in ("start", "end", "bytes"))
    last = (float(end.max()) if len(end) else report["makespan_s"]) or 1.0
    moments = np.linspace(0.0, last, min(1500, max(60, 4 * len(end))) + 1)
    slow = end > start
    arrived = np.histogram(end[~slow], moments, weights=size[~slow])[0]
    if slow.any():
        pace = size[slow] / (end - start)[slow]
        times, paces = np.concatenate([start[slow], end[slow]]), np.concatenate([pace, -pace])
        order = np.argsort(times)
        times, paces = times[order], np.cumsum(paces[order])
        arrived = arrived + np.diff(np.interp(moments, times, np.append(0.0, np.cumsum(paces[:-1] * np.diff(times)))))
    rate = arrived / np.diff(moments)
    factor, unit = scale(float(rate.max(initial=0.0)), "B/s")
    tick, second = scale(last, "s")
    ax = axes(ax)
    ax.stairs(rate / factor, moments / tick, fill=True, color=COLOURS[0], alpha=0.35)
    ax.stairs(rate / factor, moments / tick, color=COLOURS[0], linewidth=1.2, label="bandwidth of all messages")
    mean = report["bytes"] / last / factor
    ax.axhline(mean, color=COLOURS[5], linestyle="--", linewidth=1.2, label=f"mean, {mean:.4g} {unit}")
    at: dict[float, list[str]] = {}
    for key, name in BOUNDS.items():
        if 0 < (value := report.get("bounds", {}).get(key) or 0.0) <= last:
            at.setdefault(round(value / tick, 9), []).append(name)
    for (moment, names), dashes in zip(sorted(at.items()), (":", "-.", (0, (5, 1)), (0, (1, 4)), "--")):
        ax.axvline(moment, color=RULE, linestyle=dashes, linewidth=1.2, label=f"{' and '.join(names)} bound")
    ax.set_xlim(0, last / tick)
    ax.set_ylim(0, None)
    ratio = report.get("ratio_to_bound")
    below = f"makespan {show(report['makespan_s'])}" + (f", {ratio:.3g} times its bound" if ratio else "")
    return finish(ax, f"time [{second}]", f"bandwidth [{unit}]", name_of(report), below)


def sent(report: Report, messages: Any, ax: Axes | None) -> Axes:
    """Draws the sent messages: a row for each rank, a bar for each message, in two alternating tones."""
    start, end, row = (column(messages, name) for name in ("start", "end", "src"))
    tick, second = scale(float(end.max(initial=0.0)), "s")
    turn = column(messages, "index") % 2
    tones = [("one message", COLOURS[0], 0), ("the next one", COLOURS[4], 1)]
    chosen = [(name, colour, turn == which) for name, colour, which in tones]
    spans = [(name, colour, 1.0, row[own], start[own] / tick, end[own] / tick) for name, colour, own in chosen]
    ax = spread(ax, int(row.max(initial=0)) + 1, spans, float(end.max(initial=0.0)) / tick)
    return finish(ax, f"time [{second}]", "sending rank", name_of(report), "messages under way", "x")


def timeline(report: Report, activities: Any, path: Any, ax: Axes | None) -> Axes:
    """Draws the activities of each rank over time, waits as thinner bars, and the critical path."""
    import numpy as np

    begin, end, row = (column(activities, name) for name in ("begin", "end", "rank"))
    tick, second = scale(float(end.max(initial=0.0)) or report["makespan_s"], "s")
    kind = np.asarray(activities["kind"], str)
    spans = [
        (name, colour, 0.5 if hatch else 1.0, row[own], begin[own] / tick, end[own] / tick)
        for name, (colour, hatch) in KINDS.items()
        if (own := (kind == name) & (end > begin)).any()
    ]
    ax = spread(ax, int(row.max(initial=0)) + 1, spans, float(end.max(initial=0.0)) / tick)
    steps = column(path, "rank") if path is not None else np.empty(0)
    if 0 < len(steps) and np.count_nonzero(np.diff(steps)) <= MOST_CHANGES:
        times = np.stack([column(path, "begin"), column(path, "end")], 1).ravel() / tick
        ax.plot(times, np.repeat(steps, 2), color="white", linewidth=3)
        ax.plot(times, np.repeat(steps, 2), color="black", linewidth=1.4, label="critical path")
    return finish(ax, f"time [{second}]", "rank", name_of(report), "what ranks do when", "x")


def seeds(report: Report, ax: Axes | None) -> Axes:
    """Draws the makespan with each seed, and the mean with its 95 % interval."""
    values, unit = in_unit(report["seeds"]["makespans_s"])
    mean, half = sum(values) / len(values), half_width(values)
    ax = axes(ax)
    ax.plot(report["seeds"]["seeds"], values, "o", color=COLOURS[0], label="makespan")
    ax.axhline(mean, color=COLOURS[5], linestyle="--", label=f"mean, {mean:.4g} {unit}")
    ax.axhspan(mean - half, mean + half, color=COLOURS[5], alpha=0.15, linewidth=0, label="95 % interval of the mean")
    whole_numbers(ax.xaxis)
    return finish(ax, "seed", f"makespan [{unit}]", name_of(report), f"{len(values)} seeds")


def breakdown(report: Report, table: Any, ax: Axes | None) -> Axes:
    """Draws the time of each rank by kind, as stacked columns."""
    import numpy as np

    def times(key: str) -> Any:
        return column(table, key.removesuffix("_s")) if table is not None else np.array(
            [row.get(key, 0.0) for row in report["ranks"]], float
        )

    ranks, whole = times("rank"), report["makespan_s"]
    tick, second = scale(whole, "s")
    ax = axes(ax)
    below = np.zeros(len(ranks))
    for key, kind in RANK_TIMES.items():
        if (values := times(key) / tick).any():
            colour, hatch = KINDS[kind]
            look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0, "label": kind}
            ax.bar(ranks, values, bottom=below, width=0.86 if len(ranks) <= 96 else 1.0, **look)
            below = below + values
    ink = ax.xaxis.label.get_color()
    ax.axhline(whole / tick, color=ink, linestyle="--", linewidth=1, label=f"makespan, {show(whole)}")
    whole_numbers(ax.xaxis)
    setting = ", ".join(str(report[key]) for key in ("node", "network") if report.get(key))
    what = f"where the time of ranks goes{'; ' if setting else ''}{setting}"
    return finish(ax, "rank", f"time [{second}]", name_of(report), what)


def path(report: Report, ax: Axes | None) -> Axes:
    """Draws the time of the critical path by kind."""
    found = report["critical_path"]
    values, unit = in_unit([row["time_s"] for row in found["kinds"]])
    names = [row["kind"] for row in found["kinds"]]
    colours, hatches = zip(*(KINDS.get(name, (COLOURS[6], "")) for name in names)) if names else ((), ())
    ax = bars(ax, names, values, [f"{100 * row['part']:.3g} %" for row in found["kinds"]], colours, hatches)
    what = f"critical path: {found['steps']} steps, {found['changes']} changes of rank"
    return finish(ax, f"time on the critical path [{unit}]", "", name_of(report), what, "x")


def noise(report: Report, ax: Axes | None) -> Axes:
    """Draws the delay of each rank's end by slow ranks."""
    told = report["noise"]
    later, unit = in_unit([row["delay_s"] for row in told["ranks"]])
    rows = [(row["rank"], value, row["slowed_s"] > 0) for row, value in zip(told["ranks"], later)]
    ax = axes(ax)
    for which, colour, name in ((True, COLOURS[5], "slow itself"), (False, COLOURS[0], "delayed by others")):
        if chosen := [(rank, value) for rank, value, is_slow in rows if is_slow == which]:
            ranks, delays = zip(*chosen)
            ax.bar(ranks, delays, color=colour, width=0.86, label=name)
    whole_numbers(ax.xaxis)
    cost = f"slow ranks cost {show(told['cost_s'])}: {told['slowdown']:.4g} times the makespan without"
    return finish(ax, "rank", f"ends later by [{unit}]", name_of(report), cost)


def jobs(report: Report, ax: Axes | None) -> Axes:
    """Draws the time of each job, with its slowdown over a run alone."""
    rows = report["jobs"]
    last = max([report["makespan_s"], *(row.get("end_s") or 0.0 for row in rows)])
    tick, second = scale(last, "s")
    # A job that has not begun has no bar.
    begins = [(row["start_s"] or 0.0) / tick for row in rows]
    ends = [begin if row["start_s"] is None else (row["end_s"] or last) / tick for begin, row in zip(begins, rows)]
    slower = [f"{row['slowdown']:.3g} times as long as alone" if row.get("slowdown") else "" for row in rows]
    texts = ["background" if row.get("background") else text for row, text in zip(rows, slower)]
    names = [f"{row['name']} ({row['ranks']} ranks)" for row in rows]
    hatches = ["///" if row.get("background") else "" for row in rows]
    ax = bars(ax, names, [end - begin for begin, end in zip(begins, ends)], texts, COLOURS, hatches, left=begins)
    once = [(at, row) for at, row in enumerate(rows) if row.get("alone_s") and row.get("repetitions", 1) == 1]
    alone = [(begins[at] + row["alone_s"] / tick, at) for at, row in once]
    if alone:
        ax.plot(*zip(*alone), "|", color=ax.xaxis.label.get_color(), markersize=16, label="alone")
    ax.set_xlim(0, 1.35 * last / tick or 1.0)
    title = f"{len(rows)} jobs on {str(report.get('fabric', '')).partition(' (')[0]}"
    return finish(ax, f"time [{second}]", "", title, f"makespan {show(report['makespan_s'])}", "x")


def interference(report: Report, ax: Axes | None) -> Axes:
    """Draws the time that the messages of each job lost to those of each job."""
    rows = report["interference"]
    names = list(dict.fromkeys(row["victim"] for row in rows))
    values, unit = in_unit([row["delay_s"] for row in rows])
    lost = {(row["victim"], row["culprit"]): value for row, value in zip(rows, values)}
    squares = [[lost.get((victim, culprit), 0.0) for culprit in names] for victim in names]
    ax = field(ax, squares, names, names, f"time lost [{unit}]")
    return finish(ax, "lost to messages of", "messages of", "how much time messages of each job lost")


def rates(values: Sequence[float], ax: Axes | None) -> Axes:
    """Draws the rates of messages that are under way at once, the fastest first."""
    shown, unit = in_unit(sorted((value for value in values if math.isfinite(value)), reverse=True), "B/s")
    left = len(values) - len(shown)
    below = f"{left} stay within a node and cross no link" if left else ""
    title = f"rates of {len(values)} messages under way at once"
    return finish(curve(ax, shown), "messages of the first step, the fastest first", f"rate [{unit}]", title, below)


def throughput(report: Report, ax: Axes | None) -> Axes:
    """Draws the largest load of each kind of link under steady traffic, with the mean as text."""
    most, mean = report.get("largest_load") or {}, report.get("mean_load") or {}
    names = [f"{kind} links (mean {mean.get(kind, 0.0):.3g})" for kind in most]
    ax = bars(ax, names, list(most.values()), [f"{load:.3g}" for load in most.values()])
    ax.axvline(1.0, color=RULE, linestyle="--", label="its bandwidth, where all nodes send at theirs")
    title = f"{report['traffic']} traffic on {str(report['fabric']).partition(' (')[0]}"
    below = f"every node can use {100 * report['throughput']:.3g} % of its bandwidth; routing {report['routing']}"
    return finish(ax, "largest load [bandwidth of the link]", "", title, below, "x")


def advice(report: Report, ax: Axes | None) -> Axes:
    """Draws the time that each piece of advice would save, the best first."""
    rows = sorted((row for row in report["findings"] if row.get("gain_s")), key=lambda row: -row["gain_s"])
    values, unit = in_unit([row["gain_s"] for row in rows])
    whole = (report.get("simulated") or {}).get("makespan_s")
    parts = [f", {100 * row['gain_s'] / whole:.3g} %" if whole else "" for row in rows]
    texts = [show(row["gain_s"], digits=3) + part for row, part in zip(rows, parts)]
    names = [f"{row['id']}  {short(row['title'], 38)}" for row in rows]
    hatches = ["" if row.get("certainty") == "proven" else "///" for row in rows]
    ax = bars(ax, names, values, texts, [COLOURS[4] if hatch else COLOURS[0] for hatch in hatches], hatches)
    what = "what each change would save, simulated; hatched: to be checked"
    return finish(ax, f"saved time [{unit}]", "", name_of(report), what if rows else "no change saves time", "x")


# --- many runs -------------------------------------------------------------------------------------------------------


def farm(report: Report, ax: Axes | None) -> Axes:
    """Draws the predicted time of a farm over the number of workers, and its bound."""
    rows = sorted(report["predictions"], key=lambda row: row["workers"])
    tick, second = scale(max(row["time_s"] for row in rows), "s")
    lines: dict[str, list[tuple[Any, float, float]]] = {}
    for row in rows:
        name = f"{report.get('varied') or ''} {row.get('value') or ''}".strip() or "predicted"
        half = half_width(row["seeds"]["makespans_s"]) if row.get("seeds") else 0.0
        lines.setdefault(name, []).append((row["workers"], row["time_s"] / tick, half / tick))
    ax = joined(ax, lines)
    if len(lines) == 1:
        workers, bound = [row["workers"] for row in rows], [row["bound_s"] / tick for row in rows]
        ax.plot(workers, bound, color=RULE, linestyle="--", marker=".", label="lower bound")
        for row in rows:
            text, at = f"{100 * row['efficiency']:.3g} %", (row["workers"], row["time_s"] / tick)
            ax.annotate(text, at, (4, 6), textcoords="offset points", fontsize="small")
    places = sorted({row["workers"] for row in rows})
    at_values(ax, places, [f"{place:g}" for place in places])
    ax.set_ylim(0, None)
    below = str(report["setting"]) + ("; figures: efficiency" if len(lines) == 1 else "")
    return finish(ax, "workers", f"time [{second}]", str(report["tasks"]), below)


def tornado(report: Report, ax: Axes | None) -> Axes:
    """Draws the change of the time if each parameter is halved and doubled."""
    ax = axes(ax, min(max(2.2, 1.1 + 0.27 * len(report["varied"])), 12.0))
    ink = ax.xaxis.label.get_color()
    for place, row in enumerate(report["varied"]):
        points = sorted((p for p in row["points"] if p.get("time_s") is not None), key=lambda p: p["number"] or 0.0)
        for point, colour, hatch in zip(points[:1] + points[1:][-1:], (COLOURS[4], COLOURS[0]), ("///", "")):
            drawn = ax.barh(place, 100 * point["change"], height=0.7, color=colour, hatch=hatch, edgecolor="white")
            if abs(point["change"]) > 1e-3:
                ax.bar_label(drawn, [str(point["value"])], padding=4, fontsize="x-small")
    ax.axvline(0, color=ink, linewidth=1)
    ax.set_yticks(range(len(report["varied"])), [f"{row['parameter']} = {row['base']}" for row in report["varied"]])
    ax.set_ylim(len(report["varied"]) - 0.4, -0.6)
    ax.margins(x=0.2)
    label = f"change of the time, {show(report['makespan_s'])} with nothing changed [%]"
    return finish(ax, label, "", name_of(report), "each parameter halved (hatched, light) and doubled", "x")


def whatif(report: Report, ax: Axes | None) -> Axes:
    """Draws the time over each parameter; a single parameter has an axis of numbers."""
    varied = {row["parameter"]: [p for p in row["points"] if p.get("time_s") is not None] for row in report["varied"]}
    varied = {name: points for name, points in varied.items() if points}
    tick, second = scale(max(point["time_s"] for points in varied.values() for point in points), "s")
    is_number = len(varied) == 1 and all(p.get("number") is not None for points in varied.values() for p in points)
    place = (lambda point: point["number"]) if is_number else (lambda point: str(point["value"]))
    lines = {name: [(place(p), p["time_s"] / tick, 0.0) for p in points] for name, points in varied.items()}
    ax = joined(ax, lines)
    if is_number:
        points = sorted(next(iter(varied.values())), key=lambda point: point["number"])
        at_values(ax, [point["number"] for point in points], [str(point["value"]) for point in points])
    ax.axhline(report["makespan_s"] / tick, color=RULE, linestyle="--", label="nothing changed")
    ax.set_ylim(0, 1.1 * ax.get_ylim()[1])
    label = next(iter(varied)) if len(varied) == 1 else "value"
    return finish(ax, label, f"time [{second}]", name_of(report), "what-if")


def comparison(report: Report, ax: Axes | None) -> Axes:
    """Draws mean makespans, best first, with 95 % intervals over seeds and the largest bound of each."""
    all_rows = [row for row in report["rows"] if row.get("makespan")]
    rows = all_rows[:MOST_BARS]
    facets: list[str] = []
    for key in FACETS:
        # A choice that follows from those named before (as the routing of each fabric) is not named.
        said, more = ({tuple(str(row.get(each)) for each in keys) for row in rows} for keys in (facets, [*facets, key]))
        facets += [key] if len(more) > len(said) else []
    varied = [key for row in rows[:1] for key in row.get("varied") or {}]
    varied = [key for key in varied if len({str(row["varied"].get(key)) for row in rows}) > 1]
    of_jobs = list(dict.fromkeys(str(row.get("job")) for row in rows))
    names, texts = [], []
    means = [row["makespan"]["mean_s"] for row in rows]
    errors = [half_width(row["makespan"]["makespans_s"]) for row in rows]
    for row, mean, error in zip(rows, means, errors):
        words = [str(row.get(key)) for key in facets]
        words += [f"{key.rsplit('.', 1)[-1]} {row['varied'].get(key)}" for key in varied]
        names.append(", ".join(words) or str(row.get("pattern")))
        spread = f" ± {100 * error / mean:.2g} %" if error and mean else ""
        texts.append(show(mean) + spread + (", tied" if row.get("tied") else ""))
    factor, unit = scale(max(means, default=1.0), "s")
    colours = [COLOURS[of_jobs.index(str(row.get("job"))) % 8] for row in rows]
    halves = [error / factor for error in errors]
    ax = bars(ax, names, [mean / factor for mean in means], texts, colours, errors=halves)
    known = [max((row.get("bounds", {}).get(key) or 0.0 for key in BOUNDS), default=0.0) for row in rows]
    marks = [(bound / factor, place) for place, bound in enumerate(known) if bound]
    if marks:
        ax.plot(*zip(*marks), "|", color=ax.xaxis.label.get_color(), markersize=14, label="largest lower bound")
    for place, job in enumerate(of_jobs if len(of_jobs) > 1 else ()):
        ax.barh([0], [0], color=COLOURS[place % 8], label=short(job, 40))
    label = f"mean makespan [{unit}]; bars: 95 % intervals over seeds" if any(errors) else f"makespan [{unit}]"
    more_rows = f"the best {MOST_BARS} of {len(all_rows)}" if len(all_rows) > MOST_BARS else f"{len(rows)} combinations"
    return finish(ax, label, "", str(report.get("title", "comparison")), f"{more_rows}, the best first", "x")


def _keys(frame: pd.DataFrame) -> list[str]:
    """Returns the keys of the grid of a sweep that take several values, without its seeds."""
    report = frame.attrs.get("report")
    said = report.get("keys") if isinstance(report, dict) else None
    names = [key for key in (said or frame.columns) if key in frame.columns and key.removesuffix("_s") not in NO_KEYS]
    return [key for key in names if frame[key].astype(str).nunique() > 1]


def _values(frame: pd.DataFrame, key: str) -> tuple[dict[str, float], str] | None:
    """Returns the values of a key as numbers, in order, and their dimension; ``None`` if one is not a number."""
    found = {str(value): number(value) for value in frame[key].drop_duplicates()}
    figures = {text: figure for text, figure in found.items() if figure is not None}
    if len(figures) < len(found):
        return None
    ordered = sorted(figures.items(), key=lambda item: item[1])
    return {text: figure for text, (figure, _) in ordered}, ordered[0][1][1] if ordered else ""


def _measured(frame: pd.DataFrame, given: Sequence[str | None]) -> pd.DataFrame:
    """Returns the rows that have a makespan; refuses names of missing columns."""
    done = frame.rename(columns={"makespan_s": "makespan"})
    done = done[done["makespan"].notna()]
    if done.empty:
        raise ValueError("no point of this sweep has a makespan: its column `error` says why")
    for name in given:
        if name is not None and name not in done.columns:
            raise ValueError(f"no column {name!r} in this sweep; its keys are {', '.join(_keys(done))}")
    return done


def sweep_lines(frame: pd.DataFrame, ax: Axes | None = None, x: str | None = None, y: str | None = None) -> Axes:
    """Draws means over seeds, with 95 % intervals, over the key with most numbers; other choices have a line each."""
    done = _measured(frame, (x, y))
    y, names = y or "makespan", _keys(done)
    candidates = [key for key in names if _values(done, key)] or names or [key for key in ("seed", "id") if key in done]
    x = x or max(candidates, key=lambda key: done[key].nunique())
    others = [key for key in names if key != x]
    numbers = _values(done, x)
    at = numbers[0] if numbers else {str(value): float(place) for place, value in enumerate(done[x].drop_duplicates())}
    factor, unit = scale(float(done[y].max()), "s") if y.endswith(("makespan", "_s", "_bound", "wall")) else (1.0, "")
    groups: dict[str, dict[str, list[float]]] = {}
    for value, *rest, result in done[[x, *others, y]].itertuples(index=False):
        name = ", ".join(f"{key.rsplit('.', 1)[-1]} {one}" for key, one in zip(others, rest))
        groups.setdefault(name, {}).setdefault(str(value), []).append(float(result) / factor)
    lines = {}
    for name, points in list(groups.items())[:MOST_LINES]:
        ordered = sorted((at[value], some) for value, some in points.items())
        lines[name] = [(place, sum(some) / len(some), half_width(some)) for place, some in ordered]
    ax = joined(ax, lines)
    if numbers:
        at_values(ax, list(at.values()), [show(one, numbers[1]) if numbers[1] else f"{one:g}" for one in at.values()])
        results = [mean for line in lines.values() for _, mean, _ in line]
        if ax.get_xscale() == "log" and min(results) > 0 and max(results) >= 8 * min(results):
            ax.set_yscale("log")
    else:
        ax.set_xticks(list(at.values()), [short(value, 18) for value in at])
    several = any(len(some) > 1 for points in groups.values() for some in points.values())
    what = f"{'mean ' if several else ''}{y.removesuffix('_s').replace('_', ' ')}"
    below = "bars: 95 % intervals over seeds" if several else "one run a point"
    if len(groups) > MOST_LINES:
        below += f"; {len(groups) - MOST_LINES} more lines have no room"
    return finish(ax, x, f"{what} [{unit}]" if unit else what, f"{len(done)} points", below, "both")


def sweep_heat(frame: pd.DataFrame, ax: Axes | None = None, x: str | None = None, y: str | None = None) -> Axes:
    """Draws means over two keys."""
    done = _measured(frame, (x, y))
    free = sorted((key for key in _keys(done) if key not in (x, y)), key=lambda key: -done[key].nunique())
    x = x or (free.pop(0) if free else None)
    y = y or (free.pop(0) if free else None)
    if x is None or y is None:
        raise ValueError('a heat map needs two keys with several values each; plot(kind="lines") needs one')
    ordered = [_values(done, key) for key in (y, x)]
    rows, columns = (list(found[0] if found else done[key].astype(str).unique()) for found, key in zip(ordered, (y, x)))
    factor, unit = scale(float(done["makespan"].max()), "s")
    means = done.groupby([done[y].astype(str), done[x].astype(str)])["makespan"].mean() / factor
    values = [[float(means.get((row, column), math.nan)) for column in columns] for row in rows]
    ax = field(ax, values, rows, columns, f"mean makespan [{unit}]")
    return finish(ax, x, y, f"{len(done)} points", "means over all that is not on the axes")


# --- fabrics ---------------------------------------------------------------------------------------------------------


def drawing(svg: str, ax: Axes | None) -> Axes:
    """Draws the simulator's picture of a fabric: lines, boxes, discs and texts."""
    import re
    import xml.etree.ElementTree as tree

    from matplotlib.patches import Circle, Rectangle

    root = tree.fromstring(svg)
    width, height = (float(root.get(key, "0")) for key in ("width", "height"))
    ax = axes(ax, min(max(height / 90, 2.5), 10.0), min(max(width / 90, 4.0), 12.0))
    points = min(ax.figure.get_size_inches()[0] * 72 / width, 1.0) if width else 1.0  # type: ignore[union-attr]
    ink = ax.xaxis.label.get_color()
    for depth, part in enumerate(root.iter()):

        def of(*keys: str, part: Any = part) -> list[float]:
            return [float(part.get(key, "0")) for key in keys]

        # Dark ink takes the colour of the axes' style, so that the picture can be read in dark styles.
        dark = {None: "none", "#1b1f24": ink, "black": ink}
        fill, stroke = (dark.get(part.get(key), part.get(key)) for key in ("fill", "stroke"))
        line = float(part.get("stroke-width", "1")) * points
        look: dict[str, Any] = {"facecolor": fill, "edgecolor": stroke, "linewidth": line, "zorder": 2 + depth * 1e-6}
        kind = part.tag.rpartition("}")[2]
        if kind in ("polyline", "line"):
            at = [float(word) for word in re.split(r"[ ,]+", part.get("points", "").strip()) if word]
            at = at or of("x1", "y1", "x2", "y2")
            dashes = "--" if part.get("stroke-dasharray") else "-"
            alpha = float(part.get("stroke-opacity", "1"))
            ax.plot(at[::2], at[1::2], dashes, color=stroke, linewidth=line, alpha=alpha, zorder=1 + depth * 1e-6)
        elif kind == "rect" and part.get("width") != "100%":
            x, y, wide, high = of("x", "y", "width", "height")
            ax.add_patch(Rectangle((x, y), wide, high, **look))
        elif kind == "circle":
            x, y, radius = of("cx", "cy", "r")
            ax.add_patch(Circle((x, y), radius, **look))
        elif kind == "text" and part.text:
            side = {"middle": "center", "end": "right"}.get(part.get("text-anchor", ""), "left")
            size, colour = float(part.get("font-size", "12")) * 0.8 * points, ink if fill == "none" else fill
            weight = part.get("font-weight", "normal")
            x, y = of("x", "y")
            ax.text(x, y, part.text, ha=side, fontsize=size, color=colour, fontweight=weight, zorder=3)
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax
