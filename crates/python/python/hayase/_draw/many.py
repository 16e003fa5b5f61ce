"""Pictures of many runs: comparisons and sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._units import number, scale, show
from . import style
from .runs import _squares
from .student import half_width

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from . import Report

#: What rows of a comparison may differ in, in the order in which a name says it.
_FACETS = ("pattern", "topology", "placement", "machine", "transport", "sharing", "routing", "injection", "faults")
#: Columns of a sweep that are no keys of its grid.
_RESULTS = (
    "id",
    "status",
    "makespan",
    "injection_bound",
    "busiest_link_bound",
    "bisection_bound",
    "path_bound",
    "computation_bound",
    "ratio_to_bound",
    "error",
    "wall",
    "fingerprint",
    "seed",
    "mean",
    "sd",
    "efficiency",
)
#: Lines that can be told apart.
_MOST_LINES = 8
_MOST_BARS = 40


def comparison(report: Report, ax: Axes | None = None) -> Axes:
    """Mean makespans, best first, with 95 % intervals over seeds and the largest bound of each."""
    rows = [row for row in report["rows"] if row.get("makespan")]
    left = len(rows) - _MOST_BARS
    rows = rows[:_MOST_BARS]
    facets: list[str] = []
    for key in _FACETS:
        # What follows from what is said already (the routing of each fabric) is not said.
        said = {tuple(str(row.get(each)) for each in facets) for row in rows}
        if len({tuple(str(row.get(each)) for each in [*facets, key]) for row in rows}) > len(said):
            facets.append(key)
    varied = (
        [key for key in (rows[0].get("varied") or {}) if len({str(row["varied"].get(key)) for row in rows}) > 1]
        if rows
        else []
    )
    of_jobs = list(dict.fromkeys(str(row.get("job")) for row in rows))
    names, means, errors, texts, colours = [], [], [], [], []
    for row in rows:
        words = [str(row.get(key)) for key in facets] + [
            f"{key.rsplit('.', 1)[-1]} {row['varied'].get(key)}" for key in varied
        ]
        names.append(", ".join(words) or str(row.get("pattern")))
        means.append(row["makespan"]["mean_s"])
        errors.append(half_width(row["makespan"]["makespans_s"]))
        tied = ", tied" if row.get("tied") else ""
        texts.append(
            f"{show(means[-1])}"
            + (f" ± {100 * errors[-1] / means[-1]:.2g} %" if errors[-1] and means[-1] else "")
            + tied
        )
        colours.append(style.COLOURS[of_jobs.index(str(row.get("job"))) % 8])
    values, unit = style.in_unit(means, "s")
    factor = scale(max(means, default=1.0), "s")[0]
    ax = style.axes(ax, 8.0, style.height(len(rows)))
    style.bars(ax, names, values, errors=[error / factor for error in errors], texts=texts, colours=colours)
    known = [max((b for b in row.get("bounds", {}).values() if b), default=None) for row in rows]
    for place, bound in enumerate(known):
        if bound:
            ax.plot(
                [bound / factor] * 2,
                [place - 0.4, place + 0.4],
                color=ax.xaxis.label.get_color(),
                linewidth=1.6,
                label="largest lower bound" if place == next(i for i, b in enumerate(known) if b) else None,
            )
    ax.set_xlim(0, 1.3 * max([v + e / factor for v, e in zip(values, errors)], default=1.0))
    if len(of_jobs) > 1:
        for place, job in enumerate(of_jobs):
            ax.barh([-10], [0], color=style.COLOURS[place % 8], label=style.short(job, 40))
    ax.set_xlabel(f"mean makespan [{unit}]; bars: 95 % intervals over seeds" if any(errors) else f"makespan [{unit}]")
    style.legend(ax, columns=2)
    style.title(
        ax,
        str(report.get("title", "comparison")),
        f"the best {_MOST_BARS} of {left + _MOST_BARS}" if left > 0 else f"{len(rows)} combinations, the best first",
    )
    return ax


def keys(frame: pd.DataFrame) -> list[str]:
    """The keys of the grid of a sweep, without its seeds, that take several values."""
    report = frame.attrs.get("report")
    said = report.get("keys") if isinstance(report, dict) else None
    names = [key for key in (said or frame.columns) if key in frame.columns and key.removesuffix("_s") not in _RESULTS]
    return [key for key in names if frame[key].astype(str).nunique() > 1]


def _axis(frame: pd.DataFrame, key: str) -> list[tuple[Any, float | None, str]]:
    """The values of a key in order, with their figures and their dimension."""
    found = []
    for value in frame[key].drop_duplicates():
        figure = number(value)
        found.append((value, None if figure is None else figure[0], "" if figure is None else figure[1]))
    if all(figure is not None for _, figure, _ in found):
        found.sort(key=lambda one: one[1])  # type: ignore[arg-type, return-value]
    return found


def _measured(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that have a makespan."""
    if "makespan_s" in frame.columns:
        frame = frame.rename(columns={"makespan_s": "makespan"})
    done = frame[frame["makespan"].notna()]
    if done.empty:
        raise ValueError("no point of this sweep has a makespan: its column `error` says why")
    return done


def lines(frame: pd.DataFrame, ax: Axes | None = None, x: str | None = None, y: str | None = None) -> Axes:
    """Means over seeds, with 95 % intervals, against the key with most numbers; a line for each combination of others."""
    done = _measured(frame)
    y = y or "makespan"
    if y not in done.columns:
        raise ValueError(f"no column {y!r} in this sweep; it has {', '.join(done.columns)}")
    names = keys(done)
    if x is not None and x not in done.columns:
        raise ValueError(f"no column {x!r} in this sweep; its keys are {', '.join(names)}")
    if x is None:
        numbers = [key for key in names if all(figure is not None for _, figure, _ in _axis(done, key))]
        candidates = numbers or names
        x = (
            max(candidates, key=lambda key: len(_axis(done, key)))
            if candidates
            else ("seed" if "seed" in done else done.columns[0])
        )
    others = [key for key in names if key != x]
    places = _axis(done, x)
    numeric = all(figure is not None for _, figure, _ in places)
    at = {str(value): (figure if numeric else place) for place, (value, figure, _) in enumerate(places)}
    is_time = y == "makespan" or y.endswith(("_s", "_bound", "wall"))
    factor, unit = scale(float(done[y].max()), "s") if is_time else (1.0, "")
    groups: dict[str, dict[str, list[float]]] = {}
    for row in done[[x, *others, y]].itertuples(index=False):
        name = ", ".join(f"{key.rsplit('.', 1)[-1]} {value}" for key, value in zip(others, row[1:-1]))
        groups.setdefault(name, {}).setdefault(str(row[0]), []).append(float(row[-1]) / factor)
    ax = style.axes(ax)
    for place, (name, points) in enumerate(groups.items()):
        if place >= _MOST_LINES:
            break
        order = sorted(points, key=lambda value: at[value] or 0)
        means = [sum(points[value]) / len(points[value]) for value in order]
        errors = [half_width(points[value]) for value in order]
        ax.errorbar(
            [at[value] or 0 for value in order],
            means,
            yerr=errors if any(errors) else None,
            capsize=3,
            label=name or None,
            color=style.COLOURS[place],
            marker=style.MARKS[place],
            linestyle=style.LINES[place],
        )
    dimension = places[0][2] if numeric else ""
    figures = [figure for _, figure, _ in places if figure is not None]
    if not numeric:
        ax.set_xticks(range(len(places)), [style.short(str(value), 18) for value, _, _ in places])
    elif min(figures) > 0 and max(figures) >= 8 * min(figures):
        ax.set_xscale("log")
        step = max(1, -(-len(figures) // 8))
        ax.set_xticks(figures[::step], [show(f, dimension) if dimension else f"{f:g}" for f in figures[::step]])
        ax.minorticks_off()
        values = [v for points in groups.values() for some in points.values() for v in some]
        if min(values) > 0 and max(values) >= 8 * min(values):
            ax.set_yscale("log")
    elif dimension:
        ax.set_xticks(figures, [show(f, dimension) for f in figures])
    ax.set_xlabel(x)
    several = any(len(some) > 1 for points in groups.values() for some in points.values())
    what = f"{'mean ' if several else ''}{y.removesuffix('_s').replace('_', ' ')}"
    ax.set_ylabel(f"{what} [{unit}]" if unit else what)
    style.grid(ax, "both")
    style.legend(ax, columns=2)
    more = f"; {len(groups) - _MOST_LINES} more lines have no room" if len(groups) > _MOST_LINES else ""
    style.title(ax, f"{len(done)} points", ("bars: 95 % intervals over seeds" if several else "one run a point") + more)
    return ax


def heat(frame: pd.DataFrame, ax: Axes | None = None, x: str | None = None, y: str | None = None) -> Axes:
    """Means over everything else against two keys."""
    done = _measured(frame)
    names = sorted(keys(done), key=lambda key: -len(_axis(done, key)))
    for given in (x, y):
        if given is not None and given not in done.columns:
            raise ValueError(f"no column {given!r} in this sweep; its keys are {', '.join(names)}")
    free = [key for key in names if key not in (x, y)]
    x = x or (free.pop(0) if free else None)
    y = y or (free.pop(0) if free else None)
    if x is None or y is None:
        raise ValueError('a heat map needs two keys with several values each; plot(kind="lines") needs one')
    across, down = _axis(done, x), _axis(done, y)
    factor, unit = scale(float(done["makespan"].max()), "s")
    text = done.assign(**{"x": done[x].astype(str), "y": done[y].astype(str)})
    means = text.groupby(["y", "x"])["makespan"].mean() / factor
    values = [[float(means.get((str(b[0]), str(a[0])), float("nan"))) for a in across] for b in down]
    return _squares(
        values,
        [str(b[0]) for b in down],
        [str(a[0]) for a in across],
        ax,
        f"mean makespan [{unit}]",
        x,
        y,
        f"{len(done)} points",
        "means over all that is not on the axes",
    )
