"""Patterns and placements from arrays: equal results to other forms, and mistakes of arrays."""

from __future__ import annotations

import numpy as np
import pytest

import hayase
from hayase import Pattern

FABRIC = "torus:dims=[3,5],bandwidth=1 GB/s"


def test_an_even_traffic_matrix_is_a_simple_spread():
    matrix = 20_000 * (1 - np.eye(15, dtype=int))
    own = hayase.run(FABRIC, "all-to-all-simple-spread", size="20 KB", placement="random", seed=5)
    mine = hayase.run(FABRIC, Pattern.from_matrix(matrix), placement="random", seed=5)
    assert (mine.fingerprint, mine.makespan) == (own.fingerprint, own.makespan)


def test_the_order_of_rows_is_another_pattern():
    matrix = 20_000 * (1 - np.eye(15, dtype=int))
    by_row = hayase.run(FABRIC, Pattern.from_matrix(matrix, order="row"))
    # All ranks send to rank 0 first, then to rank 1, so messages arrive at a node one after another.
    assert by_row.makespan > hayase.run(FABRIC, Pattern.from_matrix(matrix)).makespan


@pytest.mark.parametrize("ranks", [1, 2, 15])
def test_a_ring_as_rows_columns_and_structures(ranks):
    own = hayase.run(FABRIC, {"ring": {"size": 1000, "ranks": ranks}}) if ranks > 1 else None
    src = np.arange(ranks)
    rows = np.stack([src, (src + 1) % ranks, np.full(ranks, 1000)], axis=1)
    structured = np.zeros(ranks, dtype=[("source", "u4"), ("destination", "i8"), ("bytes", "f8")])
    structured["source"], structured["destination"], structured["bytes"] = rows.T
    columns = {"src": rows[:, 0], "dst": rows[:, 1], "size": rows[:, 2]}
    results = [
        hayase.run(FABRIC, each)
        for each in (rows, rows.tolist(), rows.astype(float), structured, Pattern.from_messages(columns))
    ]
    assert len({result.fingerprint for result in results}) == 1
    if own is not None:
        assert results[0].fingerprint == own.fingerprint


def test_data_frames_do():
    import pandas as pd

    frame = pd.DataFrame({"source": [0, 1], "destination": [1, 0], "bytes": [5000, 5000]})
    assert hayase.run(FABRIC, frame).makespan == 5e-6


def test_recorded_messages_are_messages():
    first = hayase.run(FABRIC, "all-to-all-simple-spread", size="10 KB", messages=True)
    sent = {name: first.messages[name] for name in ("src", "dst", "bytes", "start")}
    again = hayase.run(FABRIC, Pattern.from_messages(sent))
    # Messages sent at their recorded start times arrive at their recorded ends.
    assert again.makespan == pytest.approx(first.makespan, rel=1e-9)


def test_starts_are_kept_whatever_the_order():
    rows = [(0, 1, 1000, 9e-6), (0, 2, 1000, 0.0), (3, 4, 1000, 2.5e-6)]
    result = hayase.run(FABRIC, rows, messages=True)
    starts = dict(zip(result.messages["dst"].tolist(), result.messages["start"].tolist()))
    assert starts == pytest.approx({1: 9e-6, 2: 0.0, 4: 2.5e-6})


def test_columns_as_a_dict_are_messages():
    rows = np.array([(0, 1, 1000), (1, 2, 500), (14, 0, 2**40)])
    columns = {"source": rows[:, 0], "destination": rows[:, 1], "bytes": rows[:, 2]}
    assert hayase.run(FABRIC, columns).fingerprint == hayase.run(FABRIC, rows).fingerprint
    with pytest.raises(ValueError, match="no column destination"):
        hayase.run(FABRIC, {"source": [0], "bytes": [1]})


def test_texts_of_messages_are_those_of_the_numbers():
    from hayase import _arrays

    numbers = np.random.default_rng(3)
    for rows in (1, 2, 997):
        src, dst = numbers.integers(0, 15, rows), numbers.integers(0, 2**24, rows)
        size = numbers.integers(0, 2**63, rows, dtype=np.uint64, endpoint=True)
        size[0] = 0
        text, _ = _arrays.messages({"src": src, "dst": dst, "size": size})
        plain = "".join(f"{s},{d},{b}\n" for s, d, b in zip(src.tolist(), dst.tolist(), size.tolist()))
        assert text.decode() == "src,dst,bytes\n" + plain
        start = numbers.random(rows) * 10.0 ** numbers.integers(-12, 3, rows)
        text, has_starts = _arrays.messages({"src": src, "dst": dst, "size": size, "start": start})
        assert has_starts
        clock: dict[int, float] = {}
        for line in text.decode().splitlines()[1:]:
            rank, _, _, delay = line.split(",")
            # Numbers are read back unchanged.
            clock[int(rank)] = clock.get(int(rank), 0.0) + float(delay.removesuffix(" s"))
        for rank, end in clock.items():
            assert end == pytest.approx(start[src == rank].max(), rel=1e-12)


def test_a_million_messages_are_a_pattern_soon():
    import time

    rows = np.stack([np.arange(1_000_000) % 15, np.arange(1, 1_000_001) % 15, np.full(1_000_000, 1000)], axis=1)
    began = time.process_time()
    Pattern.from_messages(rows)
    # Composed number by number in Python, it would take more than a second.
    assert time.process_time() - began < 0.8


def test_arrays_need_not_be_contiguous_or_writable():
    rows = np.zeros((8, 6), dtype=np.int32)
    rows[:, 0], rows[:, 2], rows[:, 4] = np.arange(8), np.arange(1, 9), 1000
    view = rows[::-1, ::2]
    view.flags.writeable = False
    assert not view.flags.c_contiguous
    halves = rows[::-1, ::2].astype(np.float16)
    assert hayase.run(FABRIC, halves).fingerprint == hayase.run(FABRIC, view).fingerprint
    assert hayase.run(FABRIC, view).fingerprint == hayase.run(FABRIC, np.ascontiguousarray(view)).fingerprint


@pytest.mark.parametrize(
    ("messages", "error", "said"),
    [
        (np.zeros((3, 2)), ValueError, r"shape \(n, 3\).*this one has shape \(3, 2\)"),
        (np.zeros((0, 3)), ValueError, "no message"),
        (np.full((2, 3), np.inf, dtype=np.float16), ValueError, "whole number, unlike inf"),
        (np.ma.masked_array(np.ones((2, 3), int), mask=[[0, 1, 0], [0, 0, 0]]), ValueError, "masked"),
        (np.zeros(3), ValueError, r"shape \(3,\)"),
        ([(0, 1, "20 KB")], TypeError, "this one holds <U"),
        ([(0, 1), (1, 2, 3)], TypeError, "inhomogeneous"),
        (np.array([[True, False, True]]), TypeError, "bool"),
        ([(0, 1, 2.5)], ValueError, "bytes of message 0 is a whole number, unlike 2.5"),
        ([(0, 1, 5), (0, -1, 5)], ValueError, "destination of message 1 is not negative, unlike -1"),
        ([(0, 1, -5)], ValueError, "bytes of message 0 is not negative"),
        ([(0, 1, np.nan)], ValueError, "whole number, unlike nan"),
        ([(0, 1, 2.0**70)], ValueError, "whole number"),
        ([(0, 1, 5, -1.0)], ValueError, "start of message 0"),
        ([(0, 1, 5, np.inf)], ValueError, "start of message 0"),
        ({"src": [0], "dst": [1]}, ValueError, "no column bytes"),
        ({"src": [0], "dst": [1], "bytes": [1], "weight": [1]}, ValueError, "'weight'"),
        ({"src": [0], "source": [0], "dst": [1], "bytes": [1]}, ValueError, "two columns"),
        ({"src": [0], "dst": [1, 2], "bytes": [1]}, ValueError, "one length"),
        ({"src": ["a"], "dst": [1], "bytes": [1]}, TypeError, "column 'src' holds numbers"),
        (7, ValueError, r"shape \(\)"),
    ],
)
def test_what_is_no_messages(messages, error, said):
    with pytest.raises(error, match=said):
        Pattern.from_messages(messages)


@pytest.mark.parametrize(
    ("matrix", "error", "said"),
    [
        (np.ones((2, 3)), ValueError, r"unlike an array of shape \(2, 3\)"),
        (np.zeros((0, 0)), ValueError, "at least one rank"),
        (np.zeros((3, 3)), ValueError, "at least one entry above 0"),
        (-np.eye(2), ValueError, r"bytes at \[0, 0\] is not negative"),
        ([[0, 0.5], [0, 0]], ValueError, r"bytes at \[0, 1\] is a whole number"),
        ([["a"]], TypeError, "traffic matrix"),
    ],
)
def test_what_is_no_matrix(matrix, error, said):
    with pytest.raises(error, match=said):
        Pattern.from_matrix(matrix)


def test_a_placement_is_that_of_a_list():
    nodes = np.random.default_rng(3).permutation(15)
    mine = hayase.run(FABRIC, "all-to-all-simple-spread", placement=nodes)
    own = hayase.run(FABRIC, "all-to-all-simple-spread", placement={"nodes": {"list": ",".join(map(str, nodes))}})
    assert mine.fingerprint == own.fingerprint
    assert mine.fingerprint != hayase.run(FABRIC, "all-to-all-simple-spread").fingerprint


@pytest.mark.parametrize(
    ("placement", "error", "said"),
    [
        ([0, 1, 1], ValueError, "no node has two ranks, unlike node 1: ranks 1, 2"),
        (np.array([]), ValueError, "has no rank"),
        ([-1, 0], ValueError, "node of rank 0 is not negative"),
        ([0.5], TypeError, "the node of each rank; this one holds float64"),
        (np.eye(2), ValueError, r"shape \(2, 2\)"),
        (np.array(["a"]), TypeError, "<U1"),
    ],
)
def test_what_is_no_placement(placement, error, said):
    with pytest.raises(error, match=said):
        hayase.run(FABRIC, "ring", placement=placement)


def test_out_of_range_is_a_scenario_error():
    with pytest.raises(hayase.ScenarioError, match="node 15|15 nodes"):
        hayase.run(FABRIC, "ring", placement=np.arange(1, 16))
    with pytest.raises(hayase.ScenarioError, match="100 ranks do not fit on the 15 nodes"):
        hayase.run(FABRIC, [(0, 99, 10)])


def test_jobs_take_patterns_and_placements():
    ring = Pattern.from_messages([(0, 1, 1000), (1, 0, 1000)])
    result = hayase.run(
        FABRIC,
        jobs=[
            {"name": "a", "workload": ring, "placement": np.array([3, 4])},
            {"name": "b", "workload": "ring", "ranks": 3},
        ],
    )
    assert [job["name"] for job in result["jobs"]] == ["a", "b"]
    assert result["jobs"][0]["messages"] == 2


def test_what_may_be_a_matrix_is_asked_for():
    with pytest.raises(TypeError, match=r"shape \(4, 4\) may be messages or a traffic matrix"):
        hayase.run(FABRIC, np.arange(16).reshape(4, 4))
    with pytest.raises(TypeError, match="traffic matrix"):
        hayase.run(FABRIC, [[0, 5, 5], [5, 0, 5], [5, 5, 0]])
    rows = [(0, 1, 1000), (1, 2, 1000), (2, 0, 1000)]
    assert hayase.run(FABRIC, rows).fingerprint == hayase.run(FABRIC, np.array(rows)).fingerprint


def test_tables_of_arrow_and_of_runs_are_messages_and_placements():
    pyarrow = pytest.importorskip("pyarrow")
    first = hayase.run(FABRIC, "all-to-all-simple-spread", size="10 KB", messages=True)
    again = hayase.run(FABRIC, first.messages)
    assert again.makespan == pytest.approx(first.makespan, rel=1e-9)
    for table in (pyarrow.table(first.messages), pyarrow.table(first.messages).to_batches()[0]):
        assert hayase.run(FABRIC, table).fingerprint == again.fingerprint
    nodes = np.random.default_rng(1).permutation(15)
    mine = hayase.run(FABRIC, "ring", placement=pyarrow.array(nodes)).fingerprint
    assert mine == hayase.run(FABRIC, "ring", placement=nodes).fingerprint
    changed = nodes.copy()
    scenario = hayase.Scenario(FABRIC, "ring", placement=changed)
    changed[:] = changed[::-1].copy()
    assert scenario.run().fingerprint == mine


def test_own_parts_are_in_reports_and_texts(tmp_path, monkeypatch):
    import networkx as nx

    star = hayase.Topology.from_networkx(nx.star_graph(6), bandwidth="1 GB/s", name="net")
    pattern = Pattern.from_messages([(0, 1, 20_000), (2, 1, 20_000)])
    result = hayase.run(star, pattern, placement=[5, 3, 1])
    # There is another fabric of the same name.
    other = hayase.Topology.from_networkx(nx.star_graph(9), bandwidth="2 GB/s")
    other.save(tmp_path / "net.json")
    monkeypatch.chdir(tmp_path)
    result.save("report.json")
    again = [
        hayase.Scenario.from_report(result.report),
        hayase.Scenario.from_toml(result.scenario.to_toml()),
        hayase.Scenario.from_file("report.json"),
    ]
    assert {each.run().fingerprint for each in again} == {result.fingerprint}
    assert set(result["scenario"]["files"]) == {"net.json", *pattern.files}
    assert "files" not in hayase.run("torus-4x4", "ring")["scenario"]
    jobs = hayase.run(star, jobs=[{"name": "a", "workload": {"ring": {"ranks": 3, "size": "1 KB"}}}])
    assert hayase.Scenario.from_report(jobs.report).run().fingerprint == jobs.fingerprint
