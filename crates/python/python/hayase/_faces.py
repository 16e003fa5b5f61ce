"""Interfaces of fabrics, patterns and results: graphs, arrays, pictures, display in notebooks."""

from __future__ import annotations

import functools
import html
import os
import tempfile
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from hayase import _arrays, _hayase

if TYPE_CHECKING:
    from pathlib import Path

    import networkx as nx
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from hayase._graph import Kind
    from hayase._scenario import Part
    from hayase._verbs import Call


def attached(kind: str, ending: str, text: str | bytes) -> tuple[str, bytes]:
    """Returns a file in memory and its name; the name contains a hash, so that equal texts have equal names."""
    import hashlib

    content = text.encode() if isinstance(text, str) else text
    return f"{kind}-{hashlib.blake2b(content, digest_size=4).hexdigest()}.{ending}", content


class TopologyFace:
    """Fabric as a graph, as a picture and in a notebook."""

    spec: str | dict[str, Any]
    files: dict[str, bytes]
    #: Labels of the nodes of a fabric from networkx, in the order of their numbers.
    labels: list[Hashable] | None = None

    if TYPE_CHECKING:

        def __init__(
            self, spec: str | Mapping[str, Any], files: Mapping[str, bytes] | None = None, *, name: str | None = None
        ) -> None: ...

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        *,
        bandwidth: str | float = "bandwidth",
        latency: str | float | None = "latency",
        kind: Kind | None = "kind",
        name: str | None = None,
    ) -> Self:
        """Creates a fabric from a graph of networkx: `Graph`, `DiGraph`, `MultiGraph` or `MultiDiGraph`.

        An edge is a cable with a link each way; an edge of a directed graph is one link. Parallel edges are parallel
        cables.

        bandwidth, latency: the name of an attribute of edges, or one value for all edges: a number of bytes per second
            or of seconds, or a text with a unit. The default latency is 0.
        kind: the name of an attribute of vertices, or a function of a vertex. Its value is "node" (or "host",
            "endpoint", "server" ...) for vertices that hold ranks, else "switch" (or "router"). If one vertex has a
            kind, all must have one. If none has, the vertices with exactly one neighbour are nodes.
        name: the name in reports and pictures.

        Nodes are numbered in the order of the graph, or by their labels if these are 0, 1, ... n - 1. `labels` holds
        the label of each node. All mistakes of the graph are reported in one `ScenarioError`.

        >>> import networkx as nx
        >>> star = Topology.from_networkx(nx.star_graph(4), bandwidth="1 GB/s")
        >>> star.nodes, star.switches, star.labels
        (4, 1, [1, 2, 3, 4])
        """
        missing = [each for each in ("nodes", "edges", "is_directed") if not hasattr(graph, each)]
        if missing:
            raise TypeError(f"a graph of networkx is expected, not {type(graph).__name__}")
        from hayase import _graph

        text, labels, wrong = _graph.node_link(graph, bandwidth, latency, kind)
        if wrong:
            raise _mistakes(wrong)
        file, content = attached("graph", "json", text)
        if name is not None:
            file = f"{name}.json"
        made = cls({"graph": {"file": file}}, {file: content}, name=name)
        made.labels = labels
        return made

    def to_networkx(self) -> nx.Graph[Any]:
        """Returns the fabric as a graph of networkx: a `MultiGraph`, or a `MultiDiGraph` if links differ by direction.

        Vertices have their names in reports and a `kind`; edges have a `bandwidth` [B/s] and a `latency` [s].

        >>> torus = Topology("torus-4x4").to_networkx()
        >>> torus.number_of_nodes(), torus.nodes["node 3"]["kind"]
        (32, 'node')
        """
        from hayase import _graph

        return _graph.to_graph(self._fabric.text("json"))

    def __getstate__(self) -> dict[str, Any]:
        # The built fabric is not pickled; it is built again.
        return {key: value for key, value in self.__dict__.items() if key != "_fabric"}

    @functools.cached_property
    def _fabric(self) -> _hayase.Fabric:
        from hayase._scenario import Scenario

        return _hayase.Fabric(Scenario(self)._texts())  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self._fabric.name

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self._fabric.nodes

    @property
    def switches(self) -> int:
        """Number of switches."""
        return self._fabric.switches

    @property
    def links(self) -> int:
        """Number of links; each has one direction."""
        return self._fabric.links

    def link_table(self) -> dict[str, Any]:
        """Returns all links as columns: arrays `id`, `from`, `to`, `bandwidth` [B/s] and `latency` [s].

        >>> table = Topology("torus-4x4").link_table()
        >>> len(table["id"]), float(table["bandwidth"].max())
        (96, 1000000000.0)
        """
        import csv
        import io

        import numpy as np

        header, *rows = csv.reader(io.StringIO(self._fabric.text("csv")))
        texts = dict(zip(header, zip(*rows))) if rows else {name: () for name in header}
        kinds = {"bandwidth": float, "latency": float}
        return {name: np.array(column, dtype=kinds.get(name, str)) for name, column in texts.items()}

    def route_table(
        self, pairs: ArrayLike | None = None, *, routing: str | Mapping[str, Any] | Part | None = None
    ) -> dict[str, Any]:
        """Returns the routes of pairs of nodes as columns: arrays `src`, `dst`, `hops` and `path`.

        pairs: rows of two nodes (default: each node with each other node).
        routing: the rule (default: that of the fabric's family). A rule that chooses a route when a message starts has
            no fixed route for a pair and is refused.

        `path` has an array for each pair: the links from source to destination, as rows of `link_table()`. A pair
        without a route has -1 `hops`.

        >>> torus = Topology("torus-4x4")
        >>> table = torus.route_table([(0, 5)])
        >>> int(table["hops"][0]), torus.link_table()["to"][table["path"][0]].tolist()
        (4, ['(0,0)', '(1,0)', '(1,1)', '5'])
        """
        import numpy as np

        fabric = self._fabric
        if routing is not None:
            from hayase._scenario import Scenario

            fabric = _hayase.Fabric(Scenario(self, routing=routing)._texts())  # type: ignore[arg-type]
        asked = None
        if pairs is not None:
            rows = np.asarray(pairs)
            if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu" or (rows < 0).any():
                raise ValueError("pairs are rows of two nodes, by their numbers: [(0, 5), (3, 1)]")
            asked = (rows[:, 0].tolist(), rows[:, 1].tolist())
        table, links = fabric.routes(asked)
        columns: dict[str, Any] = {name: table[name] for name in table.columns}
        path = np.empty(len(table), dtype=object)
        for row, end in enumerate(np.cumsum(np.maximum(columns["hops"], 0)).tolist()):
            path[row] = links["link"][end - max(int(columns["hops"][row]), 0) : end]
        return {**columns, "path": path}

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draws the fabric: nodes, switches and cables."""
        from hayase._pictures import drawing

        return drawing(self._svg, ax)

    def save(self, path: str | Path) -> None:
        """Writes the fabric as a picture (.svg), a graph (.json, .dot) or a table of links (.csv)."""
        kind = os.path.splitext(path)[1].removeprefix(".")
        if kind not in ("svg", "json", "dot", "csv"):
            raise ValueError(f"a fabric is written as .svg, .json, .dot or .csv, unlike {str(path)!r}")
        text = self._svg if kind == "svg" else self._fabric.text(kind)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    @property
    def _svg(self) -> str:
        return self._fabric.text("svg", self.spec if isinstance(self.spec, str) else None)

    def _repr_svg_(self) -> str:
        return self._svg


def _mistakes(wrong: list[tuple[str, str, str]]) -> _hayase.ScenarioError:
    """Returns one exception for all mistakes of a graph."""
    count = f"\n\n{len(wrong)} mistakes" if len(wrong) > 1 else ""
    text = "\n\n".join(f"error[{code}]: {message}\n  |\n  = help: {remedy}" for code, message, remedy in wrong)
    error = _hayase.ScenarioError(text + count)
    error.mistakes = [(code, message, remedy, None, None, None) for code, message, remedy in wrong]
    return error


class PatternFace:
    """Patterns from arrays."""

    spec: str | dict[str, Any]
    files: dict[str, bytes]

    if TYPE_CHECKING:

        def __init__(
            self, spec: str | Mapping[str, Any], files: Mapping[str, bytes] | None = None, *, name: str | None = None
        ) -> None: ...

    @classmethod
    def from_messages(
        cls,
        messages: ArrayLike | Mapping[str, Any] | Any,
        *,
        ranks: int | None = None,
        injection: str | None = None,
        name: str | None = None,
    ) -> Self:
        """Creates a pattern of messages: rows of source, destination and bytes, in the order in which ranks send them.

        messages: an array of shape (n, 3), or (n, 4) with the start of each in seconds; or a structured array, a
            DataFrame, a table of Arrow or of an earlier run, or a dict of columns `source`, `destination`, `bytes` and
            `start` (or `src`, `dst`, `size`).
        ranks: the number of ranks (default: one for each node).
        injection: the rule for the start of a rank's next message (default "queue": when the last one is delivered).
            Messages with starts are sent at these times, independently of other messages ("all").
        name: the name in comparisons.

        >>> pattern = Pattern.from_messages([(0, 1, 20_000), (1, 0, 20_000)])
        """
        text, starts = _arrays.messages(messages)
        return cls._of("messages", text, ranks, injection or ("all" if starts else None), name)

    @classmethod
    def from_matrix(
        cls,
        matrix: ArrayLike,
        *,
        order: Literal["shift", "row"] = "shift",
        injection: str | None = None,
        name: str | None = None,
    ) -> Self:
        """Creates a pattern from a traffic matrix of shape (n, n): bytes from rank i to rank j, 0 for no message.

        order: rank i sends to i + 1, i + 2, ... (modulo n; "shift", as in a simple spread), or to 0, 1, ... ("row").
        name: the name in comparisons.

        >>> pattern = Pattern.from_matrix([[0, 5000], [7000, 0]])
        """
        text, ranks = _arrays.matrix(matrix, order)
        return cls._of("matrix", text, ranks, injection, name)

    @classmethod
    def _of(cls, kind: str, text: bytes, ranks: int | None, injection: str | None, name: str | None) -> Self:
        file, content = attached(kind, "csv", text)
        table: dict[str, Any] = {"path": file}
        if ranks is not None:
            table["ranks"] = ranks
        if injection is not None:
            table["injection"] = injection
        return cls({"file": table}, {file: content}, name=name)


class Page:
    """Page of a result for a browser: the text `html`; a notebook shows it."""

    def __init__(self, html: str, height: int) -> None:
        self.html = html
        #: Height in a notebook [pixels].
        self.height = height

    def __repr__(self) -> str:
        return f"<hayase.Page of {len(self.html)} characters>"

    def _repr_html_(self) -> str:
        # A document of its own: the page's styles and scripts do not reach the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="hayase" sandbox="allow-scripts allow-downloads"'
            f' style="width:100%;height:{self.height}px;border:0"></iframe>'
        )


class ReportFace:
    """Pictures, files and the page of a report."""

    if TYPE_CHECKING:

        @property
        def report(self) -> dict[str, Any]: ...

        def save(self, path: str | os.PathLike[str]) -> None: ...

    def page(self, height: int = 800) -> Page:
        """Returns the page that `-o x.html` of the command writes; a notebook shows it, `height` pixels high.

        >>> import hayase
        >>> hayase.run("torus-4x4", "ring").page().html.startswith("<!doctype html>")
        True
        """
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            self.save(path)
            with open(path, encoding="utf-8") as file:
                return Page(file.read(), height)

    def plot(self, kind: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draws the report with matplotlib and returns the axes; `kind` is one of `plots()`, by default the first."""
        from hayase import _plot

        return _plot.draw(self.report, kind, ax, self._table)

    def plots(self) -> list[str]:
        """Returns the kinds of picture that `plot()` can draw of this result, the default first."""
        from hayase import _plot

        return list(_plot.kinds(self.report, self._table))

    def _table(self, name: str) -> Any | None:
        """Returns a recorded table; `None` if it was not recorded."""
        try:
            return getattr(self, name)
        except (AttributeError, LookupError):
            return None


class Answer(ReportFace, dict[str, Any]):
    """Answer of a command: the program's JSON as a dict, with pictures and, in notebooks, the program's table."""

    def __init__(self, answer: Mapping[str, Any], html: str | None = None, call: Call | None = None) -> None:
        super().__init__(answer)
        self._html = html
        self._call = call

    def _repr_html_(self) -> str | None:
        return self._html

    @property
    def report(self) -> dict[str, Any]:
        """The answer itself."""
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file as `-o` of the command does: `x.json`, `x.html`, ...; the command is run again."""
        if self._call is None:
            raise TypeError("this answer holds no command that could be run again")
        self._call.write(path)
