"""What notebooks show of results: small pieces of HTML without scripts, everything in them escaped.

Colours are those of the page with some of its ink taken away, so that light and dark notebooks can be read alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ._units import show

Report = Mapping[str, Any]

#: Rows of a table that are shown; how many more there are is said.
_MOST_ROWS = 10

_LINE = "1px solid rgba(128,128,128,.35)"
_CELL = "padding:.15em .9em .15em 0;border:none;background:none;vertical-align:top"
_TABLE = "border-collapse:collapse;margin:.3em 0;font-variant-numeric:tabular-nums;border:none;font-size:inherit"
#: Up to so many characters a cell is not broken.
_WHOLE = 28


def _paragraph(text: str, style: str = "") -> str:
    return f'<div style="{style}">{text}</div>'


def _bar(part: float) -> str:
    """A bar for a part of a whole."""
    width = 100 * min(max(part, 0.0), 1.0)
    return (
        '<span style="display:inline-block;width:6em;height:.7em;border-radius:2px;background:rgba(128,128,128,.18)">'
        f'<span style="display:block;width:{width:.1f}%;height:100%;border-radius:2px;background:#0072B2"></span>'
        "</span>"
    )


class Bar:
    """A cell that is drawn as a bar, with its figure behind it."""

    def __init__(self, part: float, text: str) -> None:
        self.part, self.text = part, text


def _cell(value: object) -> str:
    if isinstance(value, Bar):
        return f"{_bar(value.part)} {escape(value.text)}"
    return escape("–" if value is None else str(value))


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, all_rows: int | None = None) -> str:
    """A table of the first rows, numbers to the right; ``all_rows`` is how many there are."""
    whole = len(rows) if all_rows is None else all_rows
    right = [all(isinstance(row[i], (int, float)) or _is_figure(row[i]) for row in rows) for i in range(len(headings))]
    align = [f"{_CELL};text-align:{'right' if side else 'left'}" for side in right]
    head = "".join(
        f'<th style="{style};font-weight:600;border-bottom:{_LINE}">{escape(text)}</th>'
        for style, text in zip(align, headings)
    )
    body = "".join(
        '<tr style="background:none">'
        + "".join(f'<td style="{style}{_whole(value)}">{_cell(value)}</td>' for style, value in zip(align, row))
        + "</tr>"
        for row in rows[:_MOST_ROWS]
    )
    shown = min(len(rows), _MOST_ROWS)
    more = _paragraph(f"{whole - shown:,} more", "opacity:.65;font-size:90%") if whole > shown else ""
    return (
        f'<table style="{_TABLE}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )


def _whole(value: object) -> str:
    return ";white-space:nowrap" if isinstance(value, Bar) or len(str(value)) <= _WHOLE else ""


def _is_figure(value: object) -> bool:
    return isinstance(value, str) and value[:1].isdigit() and value[-1:] in "s%BW/" and len(value) < 16


def _figures(pairs: Iterable[tuple[str, object]]) -> str:
    """Figures side by side: the name in small letters above each."""
    cells = "".join(
        f'<div style="margin:0 1.6em .4em 0"><div style="font-size:80%;opacity:.7">{escape(name)}</div>'
        f'<div style="font-variant-numeric:tabular-nums">{_cell(value)}</div></div>'
        for name, value in pairs
        if value is not None
    )
    return f'<div style="display:flex;flex-wrap:wrap;margin:.4em 0">{cells}</div>'


def _page(title: str, below: str, *parts: str) -> str:
    said = _paragraph(escape(below), "opacity:.7;font-size:90%") if below else ""
    head = _paragraph(escape(title), "font-weight:600")
    return f'<div style="line-height:1.35;margin:.2em 0">{head}{said}{"".join(parts)}</div>'


def _folded(summary: str, inside: str) -> str:
    return f'<details><summary style="cursor:pointer;opacity:.8">{escape(summary)}</summary>{inside}</details>'


def _setting(report: Report) -> str:
    """How a run was made: the words of its scenario."""
    scenario = report.get("scenario") or {}
    words = []
    for key in ("placement", "routing", "sharing", "transport"):
        value = scenario.get(key)
        if isinstance(value, Mapping) and value:
            words.append(f"{key} {next(iter(value))}")
    if "seed" in scenario:
        words.append(f"seed {scenario['seed']}")
    return ", ".join(words)


def _time(report: Report) -> list[tuple[str, object]]:
    """What every run says."""
    seeds = report.get("seeds")
    spread: list[tuple[str, object]] = []
    if isinstance(seeds, Mapping) and seeds.get("makespans_s"):
        spread = [
            (f"mean of {len(seeds['makespans_s'])} seeds", show(seeds["mean_s"])),
            ("standard deviation", show(seeds["sd_s"])),
        ]
    status = report.get("status")
    return [
        ("makespan", show(report.get("makespan_s"))),
        *spread,
        ("status", None if status == "complete" else status),
        ("messages", f"{report['messages']:,}" if "messages" in report else None),
        ("bytes", show(report["bytes"], "B") if "bytes" in report else None),
    ]


_BOUNDS = {
    "injection_s": "injection",
    "busiest_link_s": "busiest link",
    "bisection_s": "bisection",
    "path_s": "critical path",
    "computation_s": "computation",
}


def _bounds(report: Report) -> str:
    held = [(name, (report.get("bounds") or {}).get(key)) for key, name in _BOUNDS.items()]
    rows: list[list[object]] = []
    for name, value in held:
        if value:
            times = report["makespan_s"] / value
            rows.append([name, show(value), Bar(1 / times if times else 0, f"makespan is {times:.4g} times this")])
    return table(["lower bound", "time", ""], rows) if rows else ""


def _links(report: Report) -> str:
    rows = report.get("links") or []
    cells = [
        [
            row["name"],
            show(row["capacity_bps"], "B/s"),
            show(row["bytes"], "B"),
            Bar(row["utilisation"], f"{100 * row['utilisation']:.3g} %"),
            row["peak_flows"],
        ]
        for row in rows
    ]
    return (
        _folded(
            f"the {len(rows)} busiest links", table(["link", "capacity", "bytes", "utilisation", "peak flows"], cells)
        )
        if cells
        else ""
    )


def _breakdown(report: Report) -> str:
    rows = report.get("breakdown") or []
    cells = [
        [
            row["kind"],
            Bar(row["part"], f"{100 * row['part']:.3g} %"),
            show(row["mean_s"]),
            show(row["most_s"]),
            row["most_rank"],
        ]
        for row in rows
        if row["most_s"] > 0
    ]
    path = report.get("critical_path")
    said = ""
    if path:
        kinds = ", ".join(f"{row['kind']} {100 * row['part']:.3g} %" for row in path["kinds"])
        said = _paragraph(
            escape(f"Critical path: {path['steps']:,} steps, {path['changes']:,} changes of rank; {kinds}"),
            "font-size:90%",
        )
    return (table(["where time goes", "part", "mean", "most", "by rank"], cells) if cells else "") + said


def _waits(report: Report) -> str:
    rows = report.get("waits") or []
    cells = [[row["rank"], row["peer"], row["kind"], show(row["time_s"]), row["count"]] for row in rows]
    return _folded("longest waits", table(["rank", "for rank", "kind", "time", "times"], cells)) if cells else ""


def _noise(report: Report) -> str:
    told = report.get("noise")
    if not told:
        return ""
    return _paragraph(
        escape(
            f"Slow ranks cost {show(told['cost_s'])}: {told['slowdown']:.4g} times the makespan without them "
            f"({show(told['without_s'])})."
        ),
        "font-size:90%",
    )


def _run(report: Report) -> str:
    ratio, contention = report.get("ratio_to_bound"), report.get("contention")
    figures = _time(report) + [
        (
            "bandwidth per node",
            show(report["bandwidth_per_node_bps"], "B/s") if report.get("bandwidth_per_node_bps") else None,
        ),
        ("ratio to bound", f"{ratio:.4g}" if ratio else None),
        ("contention", f"{contention:.4g}" if contention else None),
        ("fingerprint", report.get("fingerprint")),
    ]
    return _page(
        f"{report.get('workload', '')} on {report.get('fabric', '')}",
        _setting(report),
        _figures(figures),
        _bounds(report),
        _noise(report),
        _breakdown(report),
        _links(report),
    )


def _replay(report: Report) -> str:
    error = report.get("error")
    figures = _time(report) + [
        ("measured", show(report["measured_s"]) if report.get("measured_s") else None),
        ("error", f"{100 * error:+.3g} %" if error is not None else None),
        ("fingerprint", report.get("fingerprint")),
    ]
    below = ", ".join(str(report[key]) for key in ("node", "network") if report.get(key))
    return _page(
        str(report.get("program", "")).rsplit("/", 1)[-1],
        below,
        _figures(figures),
        _noise(report),
        _breakdown(report),
        _waits(report),
    )


def _jobs(report: Report) -> str:
    rows = [
        [
            row["name"],
            row["workload"],
            row["ranks"],
            row["placement"],
            show(row.get("makespan_s")),
            show(row.get("alone_s")),
            f"{row['slowdown']:.4g}" if row.get("slowdown") else None,
        ]
        for row in report["jobs"]
    ]
    lost = [[row["victim"], row["culprit"], show(row["delay_s"])] for row in report.get("interference") or ()]
    return _page(
        f"{len(rows)} jobs on {report.get('fabric', '')}",
        _setting(report),
        _figures([*_time(report), ("fingerprint", report.get("fingerprint"))]),
        table(["job", "workload", "ranks", "placement", "makespan", "alone", "slowdown"], rows),
        _folded("interference", table(["messages of", "lost to", "time"], lost)) if lost else "",
    )


def _farm(report: Report) -> str:
    most = max((row["time_s"] for row in report["predictions"]), default=1.0) or 1.0
    rows = [
        [
            *([row["value"]] if report.get("varied") else []),
            row["workers"],
            Bar(row["time_s"] / most, show(row["time_s"])),
            f"{100 * row['efficiency']:.3g} %",
            f"{100 * row['master_utilisation']:.3g} %",
            show(row["bound_s"]),
        ]
        for row in report["predictions"]
    ]
    heads = [
        *([str(report["varied"])] if report.get("varied") else []),
        "workers",
        "time",
        "efficiency",
        "master busy",
        "lower bound",
    ]
    return _page(f"{report['tasks']}: {report['task_count']:,} tasks", str(report["setting"]), table(heads, rows))


def _throughput(report: Report) -> str:
    most, mean = report.get("largest_load") or {}, report.get("mean_load") or {}
    top = max([1.0, *most.values()])
    rows = [
        [kind, Bar(load / top, f"{load:.4g}"), f"{mean[kind]:.4g}" if kind in mean else None]
        for kind, load in most.items()
    ]
    worst = report.get("bottleneck")
    figures: list[tuple[str, object]] = [
        ("throughput", f"{100 * report['throughput']:.4g} % of every node's bandwidth")
    ]
    if report.get("deviation"):
        figures.append((f"standard deviation over {report['seeds']} seeds", f"{100 * report['deviation']:.3g} %"))
    if worst:
        figures.append(("bottleneck", f"{worst['link']} ({worst['kind']})"))
    return _page(
        f"{report['traffic']} traffic on {report['fabric']}",
        f"routing {report['routing']}",
        _figures(figures),
        table(["links", "largest load", "mean load"], rows) if rows else "",
    )


def _advice(report: Report) -> str:
    whole = (report.get("simulated") or {}).get("makespan_s")
    rows = [
        [
            row["id"],
            (
                Bar(row["gain_s"] / whole, f"{show(row['gain_s'], digits=3)}, {100 * row['gain_s'] / whole:.3g} %")
                if row.get("gain_s") is not None and whole
                else None
            ),
            row["certainty"],
            row["title"],
        ]
        for row in report["findings"]
    ]
    facts = report.get("facts") or {}
    notes = "".join(_paragraph(escape(str(note)), "opacity:.7;font-size:90%") for note in report.get("notes", ()))
    return _page(
        f"advice on {str(report.get('program', '')).rsplit('/', 1)[-1]}",
        ", ".join(f"{k} {v}" for k, v in facts.items()),
        _figures([("makespan", show(whole) if whole else None)]),
        table(["id", "saves", "certainty", "what"], rows),
        notes,
    )


def _whatif(report: Report) -> str:
    rows = []
    for row in report["varied"]:
        for point in row["points"]:
            change = point.get("change")
            rows.append(
                [
                    row["parameter"],
                    row["base"],
                    point["value"],
                    show(point.get("time_s")),
                    f"{100 * change:+.3g} %" if change is not None else point.get("failed"),
                ]
            )
    limits = report.get("limits") or {}
    figures = _time(report)[:1] + [
        (key.removesuffix("_s").replace("_", " "), show(value)) for key, value in limits.items() if value is not None
    ]
    return _page(
        f"what if: {str(report.get('program', '')).rsplit('/', 1)[-1]}",
        ", ".join(str(report[key]) for key in ("node", "network") if report.get(key)),
        _figures(figures),
        table(["parameter", "is", "becomes", "time", "change"], rows),
    )


def _comparison(report: Report) -> str:
    most = max((row["makespan"]["mean_s"] for row in report["rows"] if row.get("makespan")), default=1.0) or 1.0
    rows = []
    for row in report["rows"]:
        makespan = row.get("makespan")
        if makespan:
            rows.append(
                [
                    row["place"],
                    row["topology"],
                    row["pattern"],
                    row["placement"],
                    row.get("sharing") or row.get("transport"),
                    Bar(makespan["mean_s"] / most, show(makespan["mean_s"])),
                    show(makespan["sd_s"]) if len(makespan["seeds"]) > 1 else None,
                    f"{row['ratio_to_best']:.4g}" if row.get("ratio_to_best") else None,
                ]
            )
    return _page(
        str(report.get("title", "comparison")),
        "" if report.get("complete", True) else "interrupted",
        table(["place", "fabric", "pattern", "placement", "sharing", "mean makespan", "sd", "to the best"], rows),
    )


_PAGES: tuple[tuple[str, Callable[[Report], str]], ...] = (
    ("hayase-report", _run),
    ("hayase-replay", _replay),
    ("hayase-jobs", _jobs),
    ("hayase-master-slave", _farm),
    ("hayase-throughput", _throughput),
    ("hayase-advice", _advice),
    ("hayase-whatif", _whatif),
    ("hayase-comparison", _comparison),
)


def page(report: Report) -> str:
    """What a notebook shows of a report."""
    schema = str(report.get("schema", ""))
    for name, make in _PAGES:
        if schema.startswith(name):
            return make(report)
    return _page(
        schema or "report",
        "",
        _figures((key, value) for key, value in report.items() if isinstance(value, (str, int, float))),
    )


def columns(data: Any, what: str) -> str:
    """What a notebook shows of a table of columns: its first and last rows."""
    names, count = list(data.columns), len(data)
    half = _MOST_ROWS // 2
    places = list(range(count)) if count <= _MOST_ROWS else [*range(half), *range(count - half, count)]
    arrays = [data[name] for name in names]
    rows: list[list[object]] = [[place, *(_figure(array[place]) for array in arrays)] for place in places]
    if count > _MOST_ROWS:
        rows[half:half] = [["…"] * (len(names) + 1)]
    body = "".join(
        '<tr style="background:none">'
        + "".join(f'<td style="{_CELL};text-align:right">{_cell(value)}</td>' for value in row)
        + "</tr>"
        for row in rows
    )
    head = "".join(
        f'<th style="{_CELL};text-align:right;font-weight:600;border-bottom:{_LINE}">{escape(name)}</th>'
        for name in ["", *names]
    )
    note = _paragraph(f"{escape(what)}: {count:,} rows, {len(names)} columns", "opacity:.7;font-size:90%")
    return (
        f'<div>{note}<table style="{_TABLE}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _figure(value: Any) -> object:
    """A number of an array, short enough to be read."""
    item = getattr(value, "item", None)
    value = item() if item is not None else value
    return f"{value:.7g}" if isinstance(value, float) else value


def picture(svg: str, title: str) -> str:
    """A drawing as an image: what is in it cannot reach the page."""
    from base64 import b64encode

    data = b64encode(svg.encode()).decode()
    style = "max-width:100%;background:#fff;border-radius:4px"
    return f'<img alt="{escape(title, quote=True)}" style="{style}" src="data:image/svg+xml;base64,{data}">'
