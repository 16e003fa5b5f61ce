"""Parts of pictures: axes with units, bars, lines, spans and squares, by matplotlib.

Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart. Marks, hatches, widths
or labels repeat everything that a colour shows. Text and background follow matplotlib's style: dark styles stay dark.
Source: M. Okabe and K. Ito, Color Universal Design, 2008.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hayase._units import scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours of successive series; neighbours differ in lightness too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C", "#B8A800")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
#: Colour of reference lines: bounds, means.
RULE = "#7F7F7F"


def axes(ax: Axes | None, height: float = 4.0, width: float = 7.0) -> Axes:
    """Returns the given axes, or new ones on a figure of this size [inch]."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from None
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    return ax


def finish(ax: Axes, x: str, y: str, title: str, below: str = "", grid: str = "y") -> Axes:
    """Adds axis labels, the title and, below the axes, a legend."""
    import textwrap

    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title("\n".join(textwrap.wrap(title, 72) + textwrap.wrap(below, 84)), loc="left", fontsize="medium")
    ax.grid(True, axis=grid, color=RULE, alpha=0.25, linewidth=0.6)  # type: ignore[arg-type]
    figure = ax.get_figure(root=True)
    if ax.get_legend_handles_labels()[0] and figure is not None:
        from matplotlib.transforms import ScaledTranslation

        under = ax.transAxes + ScaledTranslation(0, -38 / 72, figure.dpi_scale_trans)
        place: dict[str, Any] = {"bbox_to_anchor": (0.5, 0), "bbox_transform": under, "borderaxespad": 0}
        ax.legend(loc="upper center", ncols=3, frameon=False, fontsize="small", **place)
    return ax


def name_of(report: Mapping[str, Any]) -> str:
    """Returns the subject of a report: a program by the name of its file, or a workload, and the fabric."""
    said = str(report.get("program") or report.get("workload") or "")
    name, _, rest = said.partition(" (")
    name = f"{name.rsplit('/', 1)[-1]} ({rest}" if rest else name.rsplit("/", 1)[-1]
    return " on ".join(part for part in (name, str(report.get("fabric", "")).partition(" (")[0]) if part)


def short(text: str, most: int = 44) -> str:
    """Cuts a long name in its middle, so that it leaves room for the picture."""
    return text if len(text) <= most else f"{text[: most // 2 - 1]}…{text[most // 2 - most:]}"


def in_unit(values: Sequence[float], dimension: str = "s") -> tuple[list[float], str]:
    """Returns figures in the unit of the largest, and the unit."""
    factor, unit = scale(max((abs(value) for value in values if math.isfinite(value)), default=0.0), dimension)
    return [value / factor for value in values], unit


def column(table: Any, name: str) -> Any:
    """Returns a column of times [s]; files call it ``end_s``, tables in memory ``end``."""
    import numpy as np

    return np.asarray(table[name if name in list(table.columns) else f"{name}_s"], float)


def bars(
    ax: Axes | None,
    names: Sequence[str],
    values: Sequence[float],
    texts: Sequence[str],
    colours: Sequence[str] = COLOURS[:1],
    hatches: Sequence[str] = (),
    errors: Sequence[float] | None = None,
    left: Sequence[float] | float = 0.0,
) -> Axes:
    """Draws horizontal bars, the first one on top, with a text behind each."""
    ax = axes(ax, min(max(2.2, 1.1 + 0.27 * len(names)), 12.0))
    line = {"ecolor": ax.xaxis.label.get_color(), "capsize": 2.5}
    drawn = ax.barh(range(len(names)), values, 0.72, left, color=list(colours), xerr=errors, error_kw=line)
    for patch, hatch in zip(drawn, hatches):
        patch.set(hatch=hatch, edgecolor="white")
    ax.bar_label(drawn, texts, padding=4, fontsize="small")
    ax.set_yticks(range(len(names)), [short(name, 52) for name in names])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.margins(x=0.3)
    return ax


def whole(axis: Any) -> None:
    """Sets ticks at whole numbers only, for ranks and seeds."""
    axis.get_major_locator().set_params(integer=True)


def curve(ax: Axes | None, values: Sequence[float]) -> Axes:
    """Draws values in their order, as steps."""
    ax = axes(ax)
    places = range(1, len(values) + 1)
    ax.fill_between(places, values, step="mid", color=COLOURS[0], alpha=0.3, linewidth=0)
    ax.step(places, values, where="mid", color=COLOURS[0])
    ax.set_xlim(0.5, len(values) + 0.5)
    ax.set_ylim(0, None)
    return ax


def joined(ax: Axes | None, lines: Mapping[str, Sequence[tuple[Any, float, float]]]) -> Axes:
    """Draws named lines through points with intervals."""
    ax = axes(ax)
    for place, (name, points) in enumerate(lines.items()):
        across, values, errors = zip(*points)
        look: dict[str, Any] = {"color": COLOURS[place % 8], "marker": MARKS[place % 8], "linestyle": "-" if place < 4 else "--"}
        ax.errorbar(across, values, yerr=errors if any(errors) else None, capsize=3, label=name or None, **look)
    return ax


def at_values(ax: Axes, values: Sequence[float], texts: Sequence[str]) -> None:
    """Sets ticks at the tried values, or some of them; the axis is logarithmic if the values differ much."""
    first, last = values[0], values[-1]
    if first > 0 and last >= 8 * first:
        ax.set_xscale("log")
    every = max(1, -(-len(values) // 8))
    ax.set_xticks(values[::every], texts[::every])
    ax.minorticks_off()


def spread(ax: Axes | None, rows: int, spans: Sequence[tuple[str, str, float, Any, Any, Any]], last: float) -> Axes:
    """Draws rows of spans. Each kind has a name, a colour, a fraction of the height, and its rows, begins and ends."""
    ax = axes(ax, min(max(2.6, 1.4 + 0.22 * rows), 9.0), 8.5)
    high = min(max(0.6, 450 / max(rows, 1)), 14.0)
    for name, colour, part, row, begin, end in spans:
        ax.hlines(row, begin, end, colors=colour, linewidth=part * high, label=name)
    ax.set_xlim(0, last or 1.0)
    ax.set_ylim(rows - 0.4, -0.6)
    whole(ax.yaxis)
    return ax


def field(ax: Axes | None, values: list[list[float]], rows: list[str], columns: list[str], figure: str) -> Axes:
    """Draws a square for each pair with its figure, darker for larger figures."""
    ax = axes(ax, 2.0 + 0.5 * len(rows), 2.6 + 0.9 * len(columns))
    most = max((value for row in values for value in row if value == value), default=0.0) or 1.0
    shown = ax.imshow(values, cmap="Blues", vmin=0, vmax=most, aspect="auto")
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if value == value and len(rows) * len(columns) <= 400:
                ink = "white" if value > 0.6 * most else "#1b1f24"
                ax.text(x, y, f"{value:.3g}", ha="center", va="center", fontsize="small", color=ink)
    ax.set_xticks(range(len(columns)), [short(name, 16) for name in columns])
    ax.set_yticks(range(len(rows)), [short(name, 24) for name in rows])
    ax.figure.colorbar(shown, ax=ax, label=figure)
    return ax


