"""What all pictures have in common: colours, axes with units, room for text.

Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart; whatever a colour says, a
mark, a hatch or a label says too. Ink and paper are those of matplotlib's style, so that dark styles stay dark.
Source: M. Okabe and K. Ito, Color Universal Design, 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._units import scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: One colour after another; neighbours differ in lightness, too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C", "#B8A800")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "-", "-", "-", "--", "--", "--", "--")

#: Kinds of time: colour and hatch. What is waited has the colour of what is waited for, lighter and hatched.
KINDS: dict[str, tuple[str, str]] = {
    "compute": ("#0072B2", ""),
    "send overhead": ("#D55E00", ""),
    "receive overhead": ("#009E73", ""),
    "send wait": ("#F2B48C", "///"),
    "receive wait": ("#A5D9C7", "\\\\\\"),
    "synchronisation": ("#CC79A7", "xxx"),
    "network": ("#B0B0B0", "..."),
}

#: Reference lines: bounds, means.
RULE = "#7F7F7F"


def axes(ax: Axes | None, width: float = 7.0, height: float = 4.0) -> Axes:
    """The axes to draw on: those given, or new ones on a figure of this size [inch]."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from None
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_axisbelow(True)
    return ax


def grid(ax: Axes, along: str) -> None:
    """Faint lines that are read along an axis."""
    ax.grid(True, axis=along, color=RULE, alpha=0.25, linewidth=0.6)  # type: ignore[arg-type]


def title(ax: Axes, text: str, below: str = "") -> None:
    """What the picture is of, and in small letters what is the same for all of it, in lines broken between words."""
    import textwrap

    small = textwrap.wrap(below, 88)
    above = 6 + 13 * len(small)
    ax.set_title("\n".join(textwrap.wrap(text, 62)), loc="left", pad=above, fontsize="large")
    if small:
        lines = "\n".join(small)
        ax.annotate(
            lines, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", fontsize="small", color=RULE
        )


def in_unit(values: Sequence[float], dimension: str) -> tuple[list[float], str]:
    """Figures in one unit, that of the largest, and the unit."""
    factor, unit = scale(max((abs(v) for v in values if v == v), default=0.0), dimension)
    return [v / factor for v in values], unit


def bars(
    ax: Axes,
    names: Sequence[str],
    values: Sequence[float],
    *,
    colours: str | Sequence[str] = COLOURS[0],
    texts: Sequence[str] | None = None,
    errors: Sequence[float] | None = None,
    hatches: Sequence[str] | None = None,
) -> Any:
    """Bars that lie, the first one on top, with a text behind each."""
    places = range(len(names))
    drawn = ax.barh(
        places,
        values,
        color=colours if isinstance(colours, str) else list(colours),
        height=0.72,
        xerr=errors,
        error_kw={"ecolor": ax.xaxis.label.get_color(), "elinewidth": 1.1, "capsize": 2.5},
    )
    for patch, hatch in zip(drawn, hatches or ()):
        patch.set_hatch(hatch)
        patch.set_edgecolor("white")
    ax.set_yticks(list(places), [short(name, 52) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    if texts is not None:
        ends = [value + (errors[i] if errors is not None else 0) for i, value in enumerate(values)]
        for place, end, text in zip(places, ends, texts):
            ax.annotate(text, (max(end, 0.0), place), (4, 0), textcoords="offset points", va="center", fontsize="small")
        ax.margins(x=0.14)
        low, high = min([0.0, *values]), max([0.0, *ends])
        ax.set_xlim(low - 0.02 * (high - low) if low < 0 else 0.0, high + 0.16 * (high - low) or 1.0)
    grid(ax, "x")
    return drawn


def legend(ax: Axes, columns: int = 4, **options: Any) -> None:
    """A legend below the axes, where it hides nothing."""
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    from matplotlib.transforms import ScaledTranslation

    figure = ax.get_figure(root=True)
    if figure is None:
        return
    below = ax.transAxes + ScaledTranslation(0, -38 / 72, figure.dpi_scale_trans)
    ax.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=below,
        ncols=min(columns, len(labels)),
        frameon=False,
        fontsize="small",
        borderaxespad=0,
        **options,
    )


def short(text: str, most: int = 44) -> str:
    """A name that leaves room for the picture; what is left out is in its middle."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2 - 1]}…{text[-(most - most // 2):]}"


def height(rows: int, least: float = 2.2, most: float = 12.0) -> float:
    """Of a figure with so many bars [inch]."""
    return min(max(least, 1.1 + 0.27 * rows), most)


def seconds(table: Any, name: str) -> Any:
    """A column of times [s]; files call it ``end_s``, tables in memory ``end``."""
    import numpy as np

    names = list(table.columns)
    return np.asarray(table[name if name in names else f"{name}_s"], float)


def whole_numbers() -> Any:
    """Ticks at whole numbers: ranks, seeds."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(integer=True)
