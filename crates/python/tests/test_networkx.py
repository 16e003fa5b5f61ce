"""Graphs of networkx as fabrics: the same times as our own families, and mistakes of graphs."""

from __future__ import annotations

import itertools
import json

import networkx as nx
import numpy as np
import pytest

import hayase
from hayase import Topology


def same(one, other, pattern, **settings):
    """Checks that both run to the same bits."""
    first, second = hayase.run(one, pattern, **settings), hayase.run(other, pattern, **settings)
    assert first.fingerprint == second.fingerprint
    assert first.makespan == second.makespan


def grid(dims, bandwidth=1e9, node="node {}"):
    """Returns a periodic grid of switches with a node each, numbered like a torus: the first dimension fastest."""
    graph = nx.Graph()
    switches = [tuple(reversed(place)) for place in itertools.product(*(range(size) for size in reversed(dims)))]
    for number, switch in enumerate(switches):
        graph.add_node(node.format(number), kind="node")
        graph.add_node(switch, kind="switch")
        graph.add_edge(node.format(number), switch, bandwidth=bandwidth)
    for axis, size in enumerate(dims):
        for switch in switches:
            beside = tuple((place + 1) % size if which == axis else place for which, place in enumerate(switch))
            graph.add_edge(switch, beside, bandwidth=bandwidth)
    return graph


PATTERNS = ["all-to-all-simple-spread", "all-to-all-bruck", "incast", "ring"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("nodes", [2, 7, 16])
def test_a_star_is_a_crossbar(nodes, pattern):
    star = Topology.from_networkx(nx.star_graph(nodes), bandwidth=1e9, latency=1e-6)
    crossbar = {"crossbar": {"nodes": nodes, "bandwidth": 1e9, "latency": 1e-6}}
    same(star, crossbar, pattern)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("dims", [(5,), (4, 4), (3, 5), (3, 3, 3)])
def test_a_periodic_grid_is_a_torus_where_all_shortest_paths_are_used(dims, pattern):
    torus = {"torus": {"dims": list(dims), "bandwidth": 1e9}}
    same(Topology.from_networkx(grid(dims)), torus, pattern, routing="spray", placement="random")


@pytest.mark.parametrize("placement", ["regular", "random"])
def test_a_periodic_grid_is_a_torus_with_the_routes_of_one(placement, tmp_path):
    # An odd torus has no ties, so dimension order depends only on the destination and can be written as tables.
    graph = Topology.from_networkx(grid((5, 5)))
    tables = forwarding(Topology({"torus": {"dims": [5, 5], "bandwidth": 1e9}}), dimension_order((5, 5)))
    (tmp_path / "tables.csv").write_text(tables)
    mine = hayase.run(
        graph,
        "all-to-all-simple-spread",
        placement=placement,
        routing={"tables": {"file": str(tmp_path / "tables.csv")}},
    )
    own = hayase.run({"torus": {"dims": [5, 5], "bandwidth": 1e9}}, "all-to-all-simple-spread", placement=placement)
    assert (mine.fingerprint, mine.makespan) == (own.fingerprint, own.makespan)


def dimension_order(dims):
    """Returns the next switch of a torus on the path between two switches: x first, the shorter way round."""

    def step(at, to):
        for axis, size in enumerate(dims):
            ahead = (to[axis] - at[axis]) % size
            if ahead:
                move = 1 if ahead <= size // 2 else -1
                return tuple((place + move) % size if which == axis else place for which, place in enumerate(at))
        return None

    return step


def forwarding(fabric, step):
    """Returns forwarding tables of a torus as text, by a rule for the next switch."""
    graph = fabric.to_networkx()
    home = {node: next(iter(graph[node])) for node in graph if node.startswith("node ")}
    place = lambda name: tuple(int(part) for part in name.strip("()").split(","))
    name = lambda switch: f"({','.join(map(str, switch))})"
    lines = ["switch,link,destinations"]
    for switch in (vertex for vertex in graph if vertex.startswith("(")):
        for node, at in home.items():
            onward = step(place(switch), place(at))
            to = node if onward is None else name(onward)
            lines.append(f'"{switch}","{switch} -> {to}",{node.removeprefix("node ")}')
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_regular_graph_is_the_custom_fabric_of_its_links(seed, tmp_path):
    graph = nx.Graph()
    for number in range(24):
        graph.add_node(number, kind="node")
        graph.add_edge(number, f"s{number // 2}", bandwidth=12.5e9, latency=1e-7)
    for one, other in nx.random_regular_graph(5, 12, seed=seed).edges:
        graph.add_edge(f"s{one}", f"s{other}", bandwidth=12.5e9, latency=1e-7)
    for vertex in graph:
        graph.nodes[vertex]["kind"] = "switch" if isinstance(vertex, str) else "node"
    lines = ["id,from,to,bandwidth,latency"]
    for number, (one, other) in enumerate(graph.edges):
        lines += [f"{number}a,{one},{other},12.5 GB/s,100 ns", f"{number}b,{other},{one},12.5 GB/s,100 ns"]
    (tmp_path / "links.csv").write_text("\n".join(lines) + "\n")
    custom = {"custom": {"nodes": 24, "links": str(tmp_path / "links.csv")}}
    for routing in ("shortest-path", "spray"):
        same(Topology.from_networkx(graph), custom, "all-to-all-simple-spread", routing=routing, placement="random")


@pytest.mark.parametrize("name", ["jellyfish-720", "fat-tree-54", "slim-fly-200"])
def test_a_family_comes_back_from_networkx(name):
    # The pattern has few messages, because the fabrics are large and the build for tests is slow.
    graph = Topology.from_networkx(Topology(name).to_networkx())
    for routing in ("shortest-path", "spray"):
        same(graph, name, "ring", routing=routing, placement="random")


def test_a_dragonfly_built_by_hand_is_ours(tmp_path):
    p, a, h, bandwidth = 2, 4, 2, 1e9
    own = {"dragonfly": {"p": p, "a": a, "h": h, "bandwidth": bandwidth}}
    family = Topology(own).to_networkx()
    mine = nx.Graph()
    switch = lambda group, place: f"g{group}.s{place}"
    groups = a * h + 1
    for node in range(groups * a * p):
        at = switch(node // (a * p), node % (a * p) // p)
        mine.add_node(f"node {node}", kind="node")
        mine.add_node(at, kind="switch")
        mine.add_edge(f"node {node}", at, bandwidth=bandwidth)
    for group in range(groups):
        for one, other in itertools.combinations(range(a), 2):
            mine.add_edge(switch(group, one), switch(group, other), bandwidth=bandwidth)
    between = {}
    # Cable c of group g leads to the c-th of the other groups, in ascending order.
    for group in range(groups):
        for cable in range(a * h):
            other = cable if cable < group else cable + 1
            between[group, other] = switch(group, cable // h)
    for (group, other), at in between.items():
        if group < other:
            mine.add_edge(at, between[other, group], bandwidth=bandwidth)
    assert nx.utils.graphs_equal(
        nx.Graph(mine.edges), nx.Graph(nx.Graph(family).edges)
    ), "the cables are those of the family"
    # The minimal route of a dragonfly: to the switch with the cable, over it, to the switch of the node.
    lines = ["switch,link,destinations"]
    for at, node in itertools.product([switch(g, s) for g in range(groups) for s in range(a)], range(groups * a * p)):
        group, home = int(at[1:].split(".")[0]), switch(node // (a * p), node % (a * p) // p)
        there = node // (a * p)
        if at == home:
            to = f"node {node}"
        elif group == there:
            to = home
        else:
            to = between[group, there] if between[group, there] != at else between[there, group]
        lines.append(f"{at},{at} -> {to},{node}")
    (tmp_path / "tables.csv").write_text("\n".join(lines) + "\n")
    graph = Topology.from_networkx(mine)
    for placement in ("regular", "random"):
        settings = {"placement": placement, "size": "20 KB"}
        ours = hayase.run(own, "all-to-all-simple-spread", **settings)
        theirs = hayase.run(
            graph, "all-to-all-simple-spread", routing={"tables": {"file": str(tmp_path / "tables.csv")}}, **settings
        )
        assert (ours.fingerprint, ours.makespan) == (theirs.fingerprint, theirs.makespan)


def test_to_networkx_has_kinds_bandwidths_and_latencies():
    graph = Topology("torus-4x4").to_networkx()
    assert sorted(data["kind"] for _, data in graph.nodes(data=True)) == ["node"] * 16 + ["switch"] * 16
    assert {data["bandwidth"] for *_, data in graph.edges(data=True)} == {1e9}
    assert {data["latency"] for *_, data in graph.edges(data=True)} == {0.0}


def test_directed_and_parallel_edges():
    both = nx.MultiDiGraph()
    for node in range(3):
        for _ in range(2):
            both.add_edge(node, "s", bandwidth=1e9)
            both.add_edge("s", node, bandwidth=2e9)
    both.add_nodes_from(
        [(0, {"kind": "host"}), (1, {"kind": "server"}), (2, {"kind": "endpoint"}), ("s", {"kind": "router"})]
    )
    fabric = Topology.from_networkx(both)
    assert (fabric.nodes, fabric.switches, fabric.links) == (3, 1, 12)
    # A node sends at 1 GB/s and receives one message at a time: two messages of 20 KB, one after the other.
    assert hayase.run(fabric, "all-to-all-simple-spread", size=20_000).makespan == 40e-6


def test_nodes_are_numbered_by_the_graph_or_by_labels_from_0():
    graph = nx.Graph()
    for node in (2, 0, 1):
        graph.add_edge(node, "s", bandwidth=1e9)
    assert Topology.from_networkx(graph).labels == [0, 1, 2]
    assert Topology.from_networkx(nx.relabel_nodes(graph, {0: 7})).labels == [2, 7, 1]


def test_a_function_says_what_vertices_are_and_figures_hold_for_all():
    graph = nx.path_graph(4)
    fabric = Topology.from_networkx(
        graph, kind=lambda v: "node" if v in (0, 3) else "switch", bandwidth="10 Gbit/s", latency=2e-6
    )
    assert fabric.labels == [0, 3]
    assert hayase.run(fabric, [(0, 1, 1250)]).makespan == pytest.approx(1e-6 + 6e-6, rel=1e-12)


def test_numbers_of_numpy_do():
    graph = nx.Graph()
    graph.add_edge(np.int64(0), "s", bandwidth=np.float32(1e9), latency=np.int32(0))
    graph.add_edge(np.int64(1), "s", bandwidth=np.int64(10**9))
    assert hayase.run(Topology.from_networkx(graph), [(0, 1, 1000)]).makespan == 1e-6


def wrong(graph, **options):
    with pytest.raises(hayase.ScenarioError) as caught:
        Topology.from_networkx(graph, **options)
    return caught.value


def test_all_mistakes_of_a_graph_are_one_error_that_names_vertices_and_edges():
    graph = nx.Graph()
    graph.add_edge("a", "s", bandwidth=1e9)
    graph.add_edge("b", "s")
    graph.add_edge("c", "t", bandwidth=-5.0)
    graph.add_edge("d", "t", bandwidth=1e9, latency=-1.0)
    error = wrong(graph)
    assert {code for code, *_ in error.mistakes} == {"no-bandwidth", "bad-bandwidth", "bad-latency", "unreachable"}
    assert "'s' -- 'b'" in str(error)
    assert "-5.0 of 'c' -- 't'" in str(error)
    assert "no way leads from 'a' to nodes: 'c', 'd'" in str(error)
    assert str(error).endswith("4 mistakes")


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), True, [1], "fast"])
def test_bandwidths_that_are_none(value):
    graph = nx.star_graph(3)
    nx.set_edge_attributes(graph, value, "bandwidth")
    assert [code for code, *_ in wrong(graph).mistakes] == ["bad-bandwidth"]


def test_other_graphs_that_are_no_fabrics():
    assert "no vertices" in str(wrong(nx.Graph()))
    assert "no vertex is a node" in str(wrong(nx.cycle_graph(5), bandwidth=1e9))
    ring = nx.cycle_graph(3)
    nx.set_node_attributes(ring, "switch", "kind")
    assert "all are switches" in str(wrong(ring, bandwidth=1e9))
    ring.nodes[1]["kind"] = "nodule"
    assert "'nodule' of 1" in str(wrong(ring, bandwidth=1e9))
    del ring.nodes[1]["kind"]
    assert "these do not: 1" in str(wrong(ring, bandwidth=1e9))
    looped = nx.star_graph(3)
    looped.add_edge(1, 1)
    assert "from a vertex to itself: 1 -- 1" in str(wrong(looped, bandwidth=1e9))
    one_way = nx.DiGraph([(0, "s"), ("s", 1)])
    nx.set_node_attributes(one_way, {0: "node", 1: "node", "s": "switch"}, "kind")
    assert "back to 0 from nodes: 1" in str(wrong(one_way, bandwidth=1e9))
    twins = nx.Graph([(1, "s"), ("1", "s")])
    assert "same name" in str(wrong(twins, bandwidth=1e9))
    many = nx.star_graph(100)
    assert "and 95 more" in str(wrong(many))
    with pytest.raises(TypeError, match="a graph of networkx is expected, not dict"):
        Topology.from_networkx({})


def test_nodes_without_an_edge():
    graph = nx.star_graph(3)
    nx.set_node_attributes(graph, "node", "kind")
    graph.nodes[0]["kind"] = "switch"
    graph.add_node("far", kind="node")
    assert "nodes have no edge: 'far'" in str(wrong(graph, bandwidth=1e9))


def test_two_joined_nodes_and_names_with_quotes():
    graph = nx.Graph()
    graph.add_edge('<b>"0"</b>', "s", bandwidth=1e9)
    fabric = Topology.from_networkx(graph)
    assert fabric.nodes == 2
    assert "<b>" not in fabric._repr_svg_()


def test_the_text_of_a_graph_is_that_of_networkx():
    # The file that from_networkx attaches is a node-link graph that networkx reads too.
    fabric = Topology.from_networkx(nx.star_graph(3), bandwidth=1e9)
    (text,) = fabric.files.values()
    assert nx.node_link_graph(json.loads(text), edges="edges").number_of_edges() == 3
