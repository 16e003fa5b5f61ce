"""Pictures of a run of a pattern: load over time, links, bounds, seeds; of jobs, of rates, of steady traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._units import scale, show
from . import style
from .student import half_width
from .style import seconds

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from . import Report, Rows

#: Up to so many links have a bar and a name each.
_NAMED = 30
#: Points of a curve over time.
_POINTS = 1500
#: Most messages whose bars can be told apart.
_MOST_BARS = 5000
_BOUNDS = {
    "injection_s": "injection",
    "busiest_link_s": "busiest link",
    "bisection_s": "bisection",
    "path_s": "critical path",
    "computation_s": "computation",
}


def _title(ax: Axes, report: Report, what: str) -> None:
    fabric = str(report.get("fabric", "")).partition(" (")[0]
    said = " on ".join(part for part in (str(report.get("workload", "")), fabric) if part)
    style.title(ax, said, what)


def bounds(report: Report, ax: Axes | None = None) -> Axes:
    """The makespan beside its lower bounds."""
    held = {name: report["bounds"].get(key) for key, name in _BOUNDS.items()}
    held = {name: value for name, value in held.items() if value is not None}
    names, seconds = ["makespan", *held], [report["makespan_s"], *held.values()]
    values, unit = style.in_unit(seconds, "s")
    ax = style.axes(ax, height=style.height(len(names)))
    texts = [show(seconds[0])] + [
        f"{show(s)}, makespan is {seconds[0] / s:.3g} times this" if s else show(s) for s in seconds[1:]
    ]
    style.bars(ax, names, values, colours=[style.COLOURS[0]] + ["#9DB8C7"] * len(held), texts=texts)
    ax.set_xlim(0, max(values) * 1.55 or 1.0)
    ax.set_xlabel(f"time [{unit}]")
    _title(ax, report, "lower bounds of the makespan")
    return ax


def links(report: Report, table: Rows | None, ax: Axes | None = None) -> Axes:
    """How much of each link's bandwidth was used over the makespan: by name, or of many the busiest first."""
    if table is None:
        rows = sorted(report.get("links", ()), key=lambda row: -row["utilisation"])
        names, used = [row["name"] for row in rows], [100.0 * row["utilisation"] for row in rows]
        what = f"the {len(rows)} busiest links (links=True keeps all)"
    else:
        order = sorted(range(len(table["utilisation"])), key=lambda i: -float(table["utilisation"][i]))
        names = [str(table["name"][i]) for i in order]
        used = [100.0 * float(table["utilisation"][i]) for i in order]
        what = f"all {len(names)} links, the busiest first"
    if len(names) <= _NAMED:
        ax = style.axes(ax, height=style.height(len(names)))
        style.bars(ax, names, used, texts=[f"{value:.3g} %" for value in used])
        ax.set_xlabel("utilisation over the makespan [%]")
    else:
        ax = style.axes(ax)
        ax.fill_between(range(1, len(used) + 1), used, step="mid", color=style.COLOURS[0], alpha=0.35, linewidth=0)
        ax.step(range(1, len(used) + 1), used, where="mid", color=style.COLOURS[0])
        mean = sum(used) / len(used)
        ax.axhline(mean, color=style.RULE, linestyle="--", linewidth=1)
        ax.annotate(
            f"mean {mean:.3g} %",
            (1, mean),
            (0, 3),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            fontsize="small",
            color=style.RULE,
        )
        ax.annotate(names[0], (1, used[0]), (4, 4), textcoords="offset points", fontsize="small")
        ax.set_xlim(0, len(used) + 1)
        ax.set_ylim(0, 1.12 * used[0] or 1.0)
        ax.set_xlabel("links, the busiest first")
        ax.set_ylabel("utilisation over the makespan [%]")
        style.grid(ax, "y")
    _title(ax, report, what)
    return ax


def load(report: Report, messages: Rows, ax: Axes | None = None) -> Axes:
    """The bandwidth that messages have in all over time, each its mean while it is under way, and the bounds."""
    import numpy as np

    start, end = seconds(messages, "start"), seconds(messages, "end")
    size = np.asarray(messages["bytes"], float)
    last = float(end.max()) if len(end) else report["makespan_s"]
    moments = np.linspace(0.0, last or 1.0, min(_POINTS, max(60, 4 * len(end))) + 1)
    delivered = _delivered(start, end, size, moments)
    rate = np.diff(delivered) / np.diff(moments)
    factor, unit = scale(float(rate.max(initial=0.0)), "B/s")
    tick, second = scale(last, "s")
    ax = style.axes(ax)
    ax.stairs(rate / factor, moments / tick, fill=True, color=style.COLOURS[0], alpha=0.35)
    ax.stairs(rate / factor, moments / tick, color=style.COLOURS[0], linewidth=1.2, label="bandwidth of all messages")
    mean = report["bytes"] / last / factor if last else 0.0
    ax.axhline(mean, color=style.COLOURS[5], linestyle="--", linewidth=1.2, label=f"mean, {mean:.4g} {unit}")
    marks = {name: report.get("bounds", {}).get(key) for key, name in _BOUNDS.items()}
    at: dict[float, list[str]] = {}
    for name, value in marks.items():
        if value and value <= last:
            at.setdefault(round(value / tick, 9), []).append(name)
    for (moment, names), line in zip(sorted(at.items()), (":", "-.", (0, (5, 1)), (0, (1, 4)), "--")):
        ax.axvline(moment, color=style.RULE, linestyle=line, linewidth=1.2, label=f"{' and '.join(names)} bound")
    ax.set_xlim(0, last / tick or 1.0)
    ax.set_ylim(0, None)
    ax.set_xlabel(f"time [{second}]")
    ax.set_ylabel(f"bandwidth [{unit}]")
    style.grid(ax, "y")
    style.legend(ax, columns=3)
    ratio = report.get("ratio_to_bound")
    _title(ax, report, f"makespan {show(report['makespan_s'])}" + (f", {ratio:.3g} times its bound" if ratio else ""))
    return ax


def _delivered(
    start: NDArray[np.float64], end: NDArray[np.float64], size: NDArray[np.float64], moments: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Bytes that have arrived by each moment, each message at an even pace from its start to its end."""
    import numpy as np

    whole = np.zeros(len(moments))
    at_once = end <= start
    if at_once.any():
        order = np.argsort(end[at_once])
        whole += np.concatenate(([0.0], np.cumsum(size[at_once][order])))[
            np.searchsorted(end[at_once][order], moments, side="right")
        ]
    start, end, size = start[~at_once], end[~at_once], size[~at_once]
    pace = size / (end - start)
    for times, sign in ((start, 1.0), (end, -1.0)):
        order = np.argsort(times)
        by = np.searchsorted(times[order], moments, side="right")
        slope = np.concatenate(([0.0], np.cumsum(pace[order])))[by]
        offset = np.concatenate(([0.0], np.cumsum((pace * times)[order])))[by]
        whole += sign * (slope * moments - offset)
    return whole


def timeline(report: Report, messages: Rows, ax: Axes | None = None) -> Axes:
    """Who sends when: a row for each rank, a bar for each message, two tones in turn."""
    import numpy as np
    from matplotlib.collections import PolyCollection

    start, end = seconds(messages, "start"), seconds(messages, "end")
    src = np.asarray(messages["src"], int)
    if len(src) > _MOST_BARS:
        raise ValueError(
            f'{len(src)} messages have no room as bars, {_MOST_BARS} have: plot(kind="load") draws any number'
        )
    index = np.asarray(messages["index"], int)
    ranks = int(src.max(initial=0)) + 1
    tick, second = scale(float(end.max(initial=0.0)), "s")
    ax = style.axes(ax, height=min(max(2.4, 1.2 + 0.2 * ranks), 9.0))
    for turn, colour in enumerate((style.COLOURS[0], style.COLOURS[4])):
        chosen = index % 2 == turn
        box = np.stack(
            [
                np.stack([start[chosen] / tick, src[chosen] - 0.4], 1),
                np.stack([end[chosen] / tick, src[chosen] - 0.4], 1),
                np.stack([end[chosen] / tick, src[chosen] + 0.4], 1),
                np.stack([start[chosen] / tick, src[chosen] + 0.4], 1),
            ],
            1,
        )
        ax.add_collection(PolyCollection(list(box), facecolors=colour, edgecolors="white", linewidths=0.3))
    ax.set_xlim(0, float(end.max(initial=0.0)) / tick or 1.0)
    ax.set_ylim(ranks - 0.4, -0.6)
    ax.set_xlabel(f"time [{second}]")
    ax.set_ylabel("sending rank")
    style.grid(ax, "x")
    _title(ax, report, "messages under way, one after another in two tones")
    return ax


def seeds(report: Report, ax: Axes | None = None) -> Axes:
    """The makespan with each seed, and the mean with its 95 % interval."""
    drawn = report["seeds"]
    values, unit = style.in_unit(drawn["makespans_s"], "s")
    mean, half = sum(values) / len(values), half_width(values)
    ax = style.axes(ax)
    ax.plot(drawn["seeds"], values, "o", color=style.COLOURS[0], label="makespan")
    ax.axhline(mean, color=style.COLOURS[5], linestyle="--", label=f"mean, {mean:.4g} {unit}")
    ax.axhspan(
        mean - half, mean + half, color=style.COLOURS[5], alpha=0.15, linewidth=0, label="95 % interval of the mean"
    )
    ax.xaxis.set_major_locator(style.whole_numbers())
    ax.set_xlabel("seed")
    ax.set_ylabel(f"makespan [{unit}]")
    style.grid(ax, "y")
    style.legend(ax)
    _title(ax, report, f"{len(values)} seeds")
    return ax


def jobs(report: Report, ax: Axes | None = None) -> Axes:
    """When each job ran, and how much slower than alone."""
    rows = report["jobs"]
    ax = style.axes(ax, height=style.height(len(rows)))
    last = max([report["makespan_s"], *(row.get("end_s") or 0.0 for row in rows)])
    tick, second = scale(last, "s")
    for place, row in enumerate(rows):
        begin = (row["start_s"] or 0.0) / tick
        # A job that never began has no bar.
        end = begin if row["start_s"] is None else (row["end_s"] or last) / tick
        hatch = "///" if row.get("background") else ""
        ax.barh(
            place,
            end - begin,
            left=begin,
            height=0.6,
            color=style.COLOURS[place % len(style.COLOURS)],
            hatch=hatch,
            edgecolor="white",
        )
        alone, slower = row.get("alone_s"), row.get("slowdown")
        if alone and row.get("repetitions", 1) == 1:
            ax.plot(
                [begin + alone / tick] * 2,
                [place - 0.42, place + 0.42],
                color=ax.xaxis.label.get_color(),
                linewidth=1.4,
                label="alone" if not ax.get_legend_handles_labels()[0] else None,
            )
        text = "background" if row.get("background") else f"{slower:.3g} times as long as alone" if slower else ""
        ax.annotate(text, (end, place), (5, 0), textcoords="offset points", va="center", fontsize="small")
    ax.set_yticks(range(len(rows)), [style.short(f"{row['name']} ({row['ranks']} ranks)") for row in rows])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(0, 1.35 * last / tick or 1.0)
    ax.set_xlabel(f"time [{second}]")
    style.grid(ax, "x")
    style.legend(ax)
    style.title(
        ax,
        f"{len(rows)} jobs on {str(report.get('fabric', '')).partition(' (')[0]}",
        f"makespan {show(report['makespan_s'])}",
    )
    return ax


def interference(report: Report, ax: Axes | None = None) -> Axes:
    """How much time the messages of each job lost to those of each other."""
    rows = report["interference"]
    names = list(dict.fromkeys(row["victim"] for row in rows))
    values, unit = style.in_unit([row["delay_s"] for row in rows], "s")
    lost = [[0.0] * len(names) for _ in names]
    for row, value in zip(rows, values):
        lost[names.index(row["victim"])][names.index(row["culprit"])] = value
    return _squares(
        lost,
        names,
        names,
        ax,
        f"time lost [{unit}]",
        "lost to messages of",
        "messages of",
        "how much time messages of each job lost",
        "summed over all messages",
    )


def _squares(
    values: list[list[float]],
    rows: list[str],
    columns: list[str],
    ax: Axes | None,
    figure: str,
    across: str,
    down: str,
    text: str,
    below: str,
) -> Axes:
    """A square for each pair, darker where the figure is larger, with the figure in it."""
    ax = style.axes(ax, 2.6 + 0.9 * len(columns), 2.0 + 0.5 * len(rows))
    most = max((v for row in values for v in row if v == v), default=0.0) or 1.0
    shown = ax.imshow(values, cmap="Blues", vmin=0, vmax=most, aspect="auto")
    if len(rows) * len(columns) <= 400:
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                if value == value:
                    ax.text(
                        x,
                        y,
                        f"{value:.3g}",
                        ha="center",
                        va="center",
                        fontsize="small",
                        color="white" if value > 0.6 * most else "#1b1f24",
                    )
    ax.set_xticks(range(len(columns)), [style.short(name, 16) for name in columns])
    ax.set_yticks(range(len(rows)), [style.short(name, 24) for name in rows])
    ax.tick_params(length=0)
    ax.set_xlabel(across)
    ax.set_ylabel(down)
    ax.figure.colorbar(shown, ax=ax, label=figure)
    style.title(ax, text, below)
    return ax


def rates(rows: list[dict[str, Any]], ax: Axes | None = None) -> Axes:
    """The rates that all messages have at once, the fastest first."""
    values = sorted((float("inf") if row["rate_Bps"] is None else row["rate_Bps"] for row in rows), reverse=True)
    finite = [value for value in values if value != float("inf")]
    shown, unit = style.in_unit(finite, "B/s")
    ax = style.axes(ax)
    ax.step(range(1, len(shown) + 1), shown, where="mid", color=style.COLOURS[0])
    ax.fill_between(range(1, len(shown) + 1), shown, step="mid", color=style.COLOURS[0], alpha=0.3, linewidth=0)
    ax.set_ylim(0, None)
    ax.set_xlim(0.5, len(shown) + 0.5)
    ax.set_xlabel("messages of the first step, the fastest first")
    ax.set_ylabel(f"rate [{unit}]")
    style.grid(ax, "y")
    left = len(values) - len(finite)
    style.title(
        ax,
        f"rates of {len(rows)} messages under way at once",
        f"{left} stay within a node and cross no link" if left else "",
    )
    return ax


def throughput(report: Report, ax: Axes | None = None) -> Axes:
    """The load of each kind of link under steady traffic: its largest and its mean."""
    most, mean = report.get("largest_load") or {}, report.get("mean_load") or {}
    names = list(most)
    ax = style.axes(ax, height=style.height(2 * len(names)))
    for offset, values, colour, name in (
        (-0.2, most, style.COLOURS[0], "the most loaded"),
        (0.2, mean, style.COLOURS[4], "mean"),
    ):
        drawn = ax.barh(
            [i + offset for i in range(len(names))],
            [values.get(n, 0.0) for n in names],
            height=0.38,
            color=colour,
            label=name,
        )
        ax.bar_label(drawn, fmt="%.3g", padding=3, fontsize="small")
    ax.axvline(
        1.0, color=style.RULE, linestyle="--", linewidth=1, label="its bandwidth, where all nodes send at theirs"
    )
    ax.set_yticks(range(len(names)), [f"{name} links" for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(0, 1.15 * max([1.0, *most.values()]))
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("load [bandwidth of the link]")
    style.grid(ax, "x")
    style.legend(ax, columns=3)
    style.title(
        ax,
        f"{report['traffic']} traffic on {str(report['fabric']).partition(' (')[0]}",
        f"every node can use {100 * report['throughput']:.3g} % of its bandwidth; routing {report['routing']}",
    )
    return ax
