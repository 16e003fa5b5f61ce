"""Graphs of networkx as fabrics, and fabrics as graphs of networkx.

networkx is imported only to create a graph; any object that behaves like one can be read.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

from hayase._units import number as quantity

if TYPE_CHECKING:
    import networkx as nx

#: Kinds of vertices that are nodes, which hold ranks, and of switches, which only forward messages.
NODES = ("node", "host", "endpoint", "server", "nic", "terminal", "compute")
SWITCHES = ("switch", "router")

#: Largest number of names that one mistake lists.
_MOST = 5

Kind = str | Callable[[Any], str]


class Mistakes:
    """Mistakes of a graph: for each kind, all vertices or edges that have it, in the order in which they are found."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], list[str]] = {}

    def add(self, code: str, message: str, who: str, remedy: str) -> None:
        """Adds a mistake; ``message`` has a place ``{}`` for the vertices or edges that have it."""
        self._found.setdefault((code, message, remedy), []).append(who)

    def all(self) -> list[tuple[str, str, str]]:
        """Returns code, message and remedy of each mistake."""
        return [(code, message.format(_named(who)), remedy) for (code, message, remedy), who in self._found.items()]


def node_link(
    graph: Any,
    bandwidth: str | float,
    latency: str | float | None,
    kind: Kind | None,
) -> tuple[str, list[Hashable], list[tuple[str, str, str]]]:
    """Returns the node-link JSON of a graph, the labels of its nodes by number, and its mistakes."""
    mistakes = Mistakes()
    directed, labels = bool(graph.is_directed()), list(graph.nodes)
    number = {label: i for i, label in enumerate(labels)}
    if not labels:
        mistakes.add("no-nodes", "the graph has no vertices{}", "", "add nodes, switches and edges between them")
    _names(labels, mistakes)
    edges = [(number[u], number[v], data) for u, v, data in graph.edges(data=True)]
    neighbours: list[set[int]] = [set() for _ in labels]
    into: list[set[int]] = [set() for _ in labels]
    written = []
    for source, target, data in edges:
        who = _edge(labels[source], labels[target], directed)
        if source == target:
            mistakes.add(
                "loop", "edges lead from a vertex to itself: {}", who, "a message to oneself needs no link; remove them"
            )
        neighbours[source].add(target)
        into[target].add(source)
        if not directed:
            neighbours[target].add(source)
            into[source].add(target)
        edge: dict[str, Any] = {"source": source, "target": target}
        wide = _attribute(data, bandwidth)
        if wide is None:
            mistakes.add(
                "no-bandwidth",
                f"edges have no {_said(bandwidth)}: {{}}",
                who,
                'give each edge a bandwidth, a number of bytes per second or a text such as "100 Gbit/s", '
                "or one to all of them: bandwidth=12.5e9",
            )
        elif not _is_quantity(wide, above=0.0):
            mistakes.add(
                "bad-bandwidth",
                "a bandwidth is a number of bytes per second above 0 or a text with a unit: {}",
                f"{wide!r} of {who}",
                'such as 12.5e9 or "100 Gbit/s"',
            )
        edge["bandwidth"] = wide if isinstance(wide, str) else _float(wide)
        late = _attribute(data, latency)
        if late is not None:
            if not _is_quantity(late, above=None):
                mistakes.add(
                    "bad-latency",
                    "a latency is a number of seconds from 0 on or a text with a unit: {}",
                    f"{late!r} of {who}",
                    'such as 5e-7 or "500 ns"',
                )
            edge["latency"] = late if isinstance(late, str) else _float(late)
        written.append(edge)
    nodes = _kinds(graph, labels, kind, [n | i for n, i in zip(neighbours, into)], mistakes)
    if all(isinstance(labels[i], int) for i in nodes) and sorted(labels[i] for i in nodes) == list(range(len(nodes))):
        nodes.sort(key=lambda i: labels[i])
    _joined(labels, nodes, neighbours, into, directed, mistakes)
    ranked = {vertex: True for vertex in nodes}
    order = nodes + [i for i in range(len(labels)) if i not in ranked]
    vertices = [{"id": i, "name": _label(labels[i]), "kind": "node" if i in ranked else "switch"} for i in order]
    data = {"directed": directed, "multigraph": True, "graph": {}, "nodes": vertices, "edges": written}
    wrong = mistakes.all()
    return ("" if wrong else json.dumps(data, allow_nan=False)), [labels[i] for i in nodes], wrong


def to_graph(text: str) -> nx.Graph[Any]:
    """Returns a graph of networkx from the node-link JSON of a fabric, with the names of the fabric."""
    try:
        import networkx as nx
    except ImportError:
        raise ImportError("to_networkx needs networkx: pip install networkx") from None
    data = json.loads(text)
    graph: Any = nx.node_link_graph(data, edges="edges")
    named: nx.Graph[Any] = nx.relabel_nodes(graph, {vertex["id"]: vertex["name"] for vertex in data["nodes"]})
    return named


def _names(labels: list[Hashable], mistakes: Mistakes) -> None:
    """Refuses equal names of vertices, which could not be told apart in reports."""
    seen: set[str] = set()
    for label in labels:
        name = _label(label)
        if name in seen:
            mistakes.add(
                "same-name",
                "vertices have the same name as another: {}",
                repr(name),
                "names are the labels as texts; relabel them",
            )
        seen.add(name)


def _kinds(
    graph: Any, labels: list[Hashable], kind: Kind | None, beside: list[set[int]], mistakes: Mistakes
) -> list[int]:
    """Returns the vertices that are nodes, in the order of the graph."""
    said: list[Any]
    if callable(kind):
        said = [kind(label) for label in labels]
    else:
        said = [None if kind is None else data.get(kind) for _, data in graph.nodes(data=True)]
    if all(word is None for word in said):
        nodes = [i for i, others in enumerate(beside) if len(others) == 1]
        if not nodes and labels:
            mistakes.add(
                "no-nodes",
                "no vertex is a node: none says so, and none has one neighbour only{}",
                "",
                'say of each vertex what it is: kind="node" or kind="switch"',
            )
        return nodes
    nodes = []
    for i, (label, word) in enumerate(zip(labels, said)):
        if word is None:
            mistakes.add(
                "no-kind",
                "some vertices say what they are, these do not: {}",
                repr(label),
                'where one vertex has a kind, all have: "node" or "switch"',
            )
        elif word in NODES:
            nodes.append(i)
        elif word not in SWITCHES:
            mistakes.add(
                "unknown-choice",
                "a vertex is a node or a switch: {}",
                f"{word!r} of {label!r}",
                f"nodes are called {', '.join(NODES)}; switches are called {', '.join(SWITCHES)}",
            )
    if not nodes and any(word in SWITCHES for word in said):
        mistakes.add(
            "no-nodes", "no vertex is a node, all are switches{}", "", 'give the vertices that have ranks kind="node"'
        )
    return nodes


def _joined(
    labels: list[Hashable],
    nodes: list[int],
    neighbours: list[set[int]],
    into: list[set[int]],
    directed: bool,
    mistakes: Mistakes,
) -> None:
    """Checks that every node reaches every other node."""
    alone = [i for i in nodes if not neighbours[i] and not into[i]]
    if len(nodes) > 1:
        for i in alone:
            mistakes.add(
                "no-link", "nodes have no edge: {}", repr(labels[i]), "join each node to a switch or to another node"
            )
    rest = [i for i in nodes if i not in set(alone)]
    if not rest:
        return
    first = rest[0]
    there, back = _reached(first, neighbours), _reached(first, into) if directed else None
    for i in rest:
        if i not in there:
            mistakes.add(
                "unreachable",
                f"no way leads from {labels[first]!r} to nodes: {{}}",
                repr(labels[i]),
                "a fabric is connected" + ("; edges of a directed graph lead one way only" if directed else ""),
            )
        elif back is not None and i not in back:
            mistakes.add(
                "unreachable",
                f"no way leads back to {labels[first]!r} from nodes: {{}}",
                repr(labels[i]),
                "edges of a directed graph lead one way only: add those back, or make the graph undirected",
            )


def _reached(first: int, beside: list[set[int]]) -> set[int]:
    """Returns all vertices that can be reached from a vertex."""
    seen, queue = {first}, deque([first])
    while queue:
        for other in beside[queue.popleft()]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return seen


def _attribute(data: dict[Any, Any], key: str | float | None) -> Any:
    """Returns the attribute of an edge with this name, or the value for all edges."""
    if key is None:
        return None
    if isinstance(key, str) and not _is_written(key):
        return data.get(key)
    return key


def _is_written(text: str) -> bool:
    """True if a text is a quantity ("100 Gbit/s") and not the name of an attribute."""
    return text[:1].isdigit()


def _said(key: str | float) -> str:
    return "bandwidth" if key == "bandwidth" else f"bandwidth (attribute {key!r})"


def _is_quantity(value: Any, above: float | None) -> bool:
    """True for a number above `above` (or not negative, without it), or a text with a unit."""
    if isinstance(value, str):
        return _is_written(value) and (quantity(value) or ("", "?"))[1] != ""
    number = _float(value)
    return math.isfinite(number) and (number >= 0 if above is None else number > above)


def _float(value: Any) -> float:
    """Converts to a number, also from numpy; NaN if that is impossible."""
    if isinstance(value, (bool, str, bytes)):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _label(label: Hashable) -> str:
    """Returns the name of a vertex; tuples are named like switches of grids, "(0,1)"."""
    if isinstance(label, tuple):
        return f"({','.join(_label(part) for part in label)})"
    return str(label)


def _edge(source: Hashable, target: Hashable, directed: bool) -> str:
    return f"{source!r} {'->' if directed else '--'} {target!r}"


def _named(who: Iterable[str]) -> str:
    names = [name for name in who if name]
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
