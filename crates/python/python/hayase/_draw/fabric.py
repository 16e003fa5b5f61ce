"""The drawing of a fabric, as the simulator lays it out, on axes of matplotlib."""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree
from typing import TYPE_CHECKING, Any

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawing(svg: str, ax: Axes | None = None) -> Axes:
    """Draws the lines, boxes, discs and texts of a picture of a fabric.

    The simulator's pictures consist of nothing else, so what is drawn here is what ``save("x.svg")`` writes.
    """
    from matplotlib.patches import Circle, Rectangle

    root = tree.fromstring(svg)
    width, height = (float(root.get(key, "0")) for key in ("width", "height"))
    ax = style.axes(ax, min(max(width / 90, 4.0), 12.0), min(max(height / 90, 2.5), 10.0))
    points_of = min(ax.figure.get_size_inches()[0] * 72 / width, 1.0) if width else 1.0  # type: ignore[union-attr]
    ink = ax.xaxis.label.get_color()
    for depth, part in enumerate(root.iter()):
        kind = part.tag.removeprefix(_NAMESPACE)
        fill, stroke = part.get("fill"), part.get("stroke")
        line = float(part.get("stroke-width", "1")) * points_of
        look: dict[str, Any] = {
            "facecolor": _colour(fill, ink),
            "edgecolor": _colour(stroke, ink) if stroke else "none",
            "linewidth": line,
        }
        if kind in ("polyline", "line"):
            xs, ys = _points(part)
            ax.plot(
                xs,
                ys,
                color=_colour(stroke, ink),
                linewidth=line,
                zorder=1 + depth * 1e-6,
                solid_capstyle="round",
                linestyle="--" if part.get("stroke-dasharray") else "-",
                alpha=float(part.get("stroke-opacity", "1")),
            )
        elif kind == "rect" and part.get("width") != "100%":
            x, y, w, h = (float(part.get(key, "0")) for key in ("x", "y", "width", "height"))
            ax.add_patch(Rectangle((x, y), w, h, zorder=2 + depth * 1e-6, **look))
        elif kind == "circle":
            x, y, r = (float(part.get(key, "0")) for key in ("cx", "cy", "r"))
            ax.add_patch(Circle((x, y), r, zorder=2 + depth * 1e-6, **look))
        elif kind == "text" and part.text:
            side = {"middle": "center", "end": "right"}.get(part.get("text-anchor", ""), "left")
            ax.text(
                float(part.get("x", "0")),
                float(part.get("y", "0")),
                part.text,
                ha=side,
                va="baseline",
                fontsize=float(part.get("font-size", "12")) * 0.8 * points_of,
                color=_colour(fill, ink),
                fontweight=part.get("font-weight", "normal"),
                zorder=3,
            )
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _points(part: tree.Element) -> tuple[list[float], list[float]]:
    if part.get("points") is None:
        return [float(part.get(key, "0")) for key in ("x1", "x2")], [float(part.get(key, "0")) for key in ("y1", "y2")]
    numbers = [float(word) for word in re.split(r"[ ,]+", part.get("points", "").strip()) if word]
    return numbers[::2], numbers[1::2]


def _colour(said: str | None, ink: object) -> object:
    """Dark ink of the picture is that of the axes' style, so that dark styles can be read."""
    if said is None or said in ("#1b1f24", "black"):
        return ink
    from matplotlib.colors import to_rgb

    if said in ("#5a6270", "#4a5563") and sum(to_rgb(ink)) > 1.5:  # type: ignore[arg-type]
        return "#b4bac4"
    return said
