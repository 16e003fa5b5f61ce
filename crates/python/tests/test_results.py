"""Results of runs: the program's fingerprints and files, tables without copies, several kinds of work."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import hayase

ROOT = Path(__file__).parents[3]


def program() -> str | None:
    """Finds the program: named, built here, or installed."""
    if named := os.environ.get("HAYASE"):
        return named
    built = ROOT / "target" / "debug" / "hayase"
    return str(built) if built.exists() else shutil.which("hayase")


#: A dozen scenarios of all kinds, with their arguments on the command line.
SCENARIOS = [
    ("torus-4x4", "all-to-all-pairwise", {}),
    ("torus-4x4", "all-to-all-pairwise", {"placement": "random", "seed": 7}),
    ("fat-tree-54", "all-to-all-simple-spread", {"sharing": "equal-share"}),
    ("fat-tree-54", "all-to-all-nd-spread", {"size": "64 KiB", "injection": "sendrecv"}),
    ("torus-8x8", "ring", {"jitter": "1.5 us"}),
    ("dragonfly-72", "uniform-random", {"routing": "ugal-l"}),
    ("torus-4x4", "all-to-all-pairwise", {"transport": "packet:iq"}),
    ("torus-4x4", "incast", {"transport": "contention-free"}),
    ("torus-4x4", "allreduce-ring", {"machine": "myrinet"}),
    (None, "gaussian-elimination:n=64", {"machine": "myrinet"}),
    ("torus-8x8", "ring", {"straggler": "3=50%"}),
    ("fat-tree-54", None, {"jobs": ["a=all-to-all-pairwise:16@random", "b=ring:20"]}),
]


@pytest.mark.parametrize("topology, pattern, settings", SCENARIOS)
def test_reports_are_those_of_the_program(topology, pattern, settings) -> None:
    if (binary := program()) is None:
        pytest.skip("the program is not built")
    words = [binary, "run", "--format", "json"]
    for flag, value in {"topology": topology, "pattern": pattern, **settings}.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                words += [f"--{'job' if flag == 'jobs' else flag}", str(one)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == 2:
        with pytest.raises(hayase.ScenarioError):
            hayase.run(topology, pattern, **settings)
        pytest.fail(f"no scenario: {done.stderr}")
    expected = json.loads(done.stdout)
    result = hayase.run(topology, pattern, **settings)
    assert result.fingerprint == expected["fingerprint"]
    report = dict(result.report)
    for volatile in ("meta",):
        report.pop(volatile), expected.pop(volatile)
    assert without_clock(report) == without_clock(expected)


def without_clock(value):
    """Returns the report without the fields that differ from run to run."""
    if isinstance(value, dict):
        return {key: without_clock(item) for key, item in value.items() if key not in ("wall_s", "meta")}
    return [without_clock(item) for item in value] if isinstance(value, list) else value


def test_fingerprints_are_those_that_the_simulator_is_held_to() -> None:
    """Compares with another process and with one thread, without the program."""
    code = "import hayase; print(hayase.run('fat-tree-54', 'all-to-all-simple-spread', threads=1).fingerprint)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == hayase.run("fat-tree-54", "all-to-all-simple-spread").fingerprint


def test_tables_are_recorded_where_they_are_asked_for() -> None:
    result = hayase.run("torus-4x4", "all-to-all-pairwise", messages=True, links=True, ranks=True, activities=True, path=True)
    assert len(result.links) == 96 and len(result.ranks) == 16
    assert result.links["bytes"].sum() > 0 and result.links["name"][0].startswith("node")
    assert result.ranks["end"].max() == pytest.approx(result.makespan)
    assert set(result.activities["kind"]) <= {"compute", "send overhead", "receive overhead", "send wait", "receive wait", "synchronisation"}
    assert result.path["end"][-1] == pytest.approx(result.makespan)
    with pytest.raises(KeyError, match="there is no column .*nd.*; there are src, dst"):
        result.messages["nd"]
    bare = hayase.run("torus-4x4", "all-to-all-pairwise")
    for name in ("messages", "links", "ranks", "activities", "path"):
        with pytest.raises(LookupError, match=f"{name}=True"):
            getattr(bare, name)


def test_arrow_and_numpy_see_the_same_memory() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    result = hayase.run("torus-4x4", "all-to-all-pairwise", messages=True, links=True)
    table = result.messages.to_arrow()
    assert table.column_names == result.messages.columns and table.num_rows == 240
    for name in table.column_names:
        seen = result.messages[name]
        chunk = table[name].chunk(0)
        assert chunk.buffers()[1].address == seen.__array_interface__["data"][0], name
        assert numpy.array_equal(chunk.to_numpy(), seen)
    names = result.links.to_arrow()["name"].to_pylist()
    assert names == result.links["name"].tolist()
    # The memory lives as long as an array refers to it.
    expected = table["end"].to_pylist()
    del result, seen, chunk
    assert table["end"].to_pylist() == expected
    # A schema alone, and a stream that is never read.
    other = hayase.run("torus-4x4", "ring", messages=True).messages
    assert pyarrow.schema(other).names == other.columns
    for _ in range(100):
        other.__arrow_c_stream__(), other.__arrow_c_schema__()
    pyarrow.table(other).validate(full=True)
    hayase.run("torus-4x4", "ring", links=True).links.to_arrow().validate(full=True)


def test_pandas_and_polars_take_tables() -> None:
    pandas = pytest.importorskip("pandas")
    table = hayase.run("torus-4x4", "ring", messages=True).messages
    assert isinstance(table.to_pandas(), pandas.DataFrame) and len(table.to_pandas()) == 16
    polars = pytest.importorskip("polars")
    assert isinstance(table.to_polars(), polars.DataFrame) and table.to_polars()["end"].max() == table["end"].max()


def test_an_empty_table_is_one() -> None:
    pytest.importorskip("pyarrow")
    result = hayase.run({"crossbar": {"nodes": 1, "bandwidth": 1e9}}, "ring", messages=True)
    assert len(result.messages) in (0, 1)
    assert result.messages.to_arrow().num_rows == len(result.messages["end"]) == len(result.messages)


def test_own_messages_and_placements_are_arrays() -> None:
    rows = numpy.array([[0, 1, 1000], [1, 2, 2000], [2, 0, 0]])
    result = hayase.run("torus-4x4", rows, placement=numpy.array([5, 6, 7]), messages=True)
    assert result["bytes"] == 3000 and sorted(result.messages["bytes"].tolist()) == [0, 1000, 2000]
    named = numpy.array([(0, 1, 1000)], dtype=[("src", "u4"), ("dst", "u4"), ("bytes", "u8")])
    assert hayase.run("torus-4x4", named)["bytes"] == 1000
    # Arrays that are not contiguous, and reversed ones.
    assert hayase.run("torus-4x4", rows[::-1].T.copy().T)["bytes"] == 3000
    for wrong in (rows[:, :2], rows.ravel()):
        with pytest.raises(ValueError, match=re.escape("(n, 3)")):
            hayase.run("torus-4x4", wrong)
    with pytest.raises(ValueError, match="not negative"):
        hayase.run("torus-4x4", -rows)
    with pytest.raises(ValueError, match="whole number"):
        hayase.run("torus-4x4", rows + 0.5)
    with pytest.raises(TypeError, match="the node of each rank"):
        hayase.run("torus-4x4", "ring", placement=numpy.array([0.5]))
    with pytest.raises(hayase.ScenarioError, match="node"):
        hayase.run("torus-4x4", rows, placement=numpy.array([0, 1, 99]))


def test_a_report_is_run_once_more() -> None:
    first = hayase.run("torus-4x4", "all-to-all-pairwise", placement="random", seed=3)
    assert hayase.Scenario.from_report(first.report).run().fingerprint == first.fingerprint
    assert hayase.Scenario.from_report(first.report, seed=4).run().fingerprint != first.fingerprint
    toml = first.scenario.to_toml()
    assert hayase.Scenario.from_toml(toml).run().fingerprint == first.fingerprint
    assert first.scenario.to_dict() == first.report["scenario"]


def test_files_are_those_behind_o(tmp_path: Path) -> None:
    result = hayase.run("torus-4x4", "all-to-all-pairwise")
    for name in ("report.json", "messages.csv", "links.csv", "timeline.svg", "loads.svg", "x.html"):
        result.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    assert json.loads((tmp_path / "report.json").read_text())["fingerprint"] == result.fingerprint
    assert (tmp_path / "messages.csv").read_text().count("\n") == 241
    with pytest.raises(hayase.ScenarioError, match="x.json"):
        result.save(tmp_path / "x.unknown")
    scenario = hayase.Scenario.from_file(tmp_path / "report.json")
    assert scenario.run().fingerprint == result.fingerprint


def test_pages_are_those_of_the_program(tmp_path: Path) -> None:
    result = hayase.run("torus-4x4", "all-to-all-pairwise", placement="random", seeds=2)
    page = result.page(600)
    assert page.html.startswith("<!doctype html>") and result.fingerprint in page.html
    frame = page._repr_html_()
    assert frame.startswith("<iframe") and "height:600px" in frame and frame.count("<script") == 0
    answers = [
        hayase.throughput("torus-4x4", optimum=True),
        hayase.schedule("all-gather", "torus-4x4", plan=True),
        hayase.nccl("all-reduce", machine="h100-8x400g", ranks=16, nodes=2, size="1 MB"),
    ]
    for answer in answers:
        assert answer.page().html.startswith("<!doctype html>")
        answer.save(tmp_path / "x.json")
        assert json.loads((tmp_path / "x.json").read_text())["schema"] == answer["schema"]
    with pytest.raises(hayase.ScenarioError, match="x.html"):
        answers[0].save(tmp_path / "x.unknown")
    with pytest.raises(TypeError, match="run again"):
        hayase.schedule("all-to-all", "torus-4x4", sizes=[(0, 1, 1000)]).page()


def test_seeds_are_statistics() -> None:
    result = hayase.run("torus-4x4", "all-to-all-pairwise", placement="random", seeds=3)
    assert result["seeds"]["seeds"] == [1, 2, 3] and len(result["seeds"]["makespans_s"]) == 3
    with pytest.raises(ValueError, match="`seeds` is a whole number from 1 on, unlike 0"):
        hayase.run("torus-4x4", "ring", seeds=0)


def test_programs_farms_and_jobs_run() -> None:
    replayed = hayase.replay("gaussian-elimination:n=64", "myrinet", activities=True, ranks=True, path=True, messages=True)
    assert replayed.kind == "program" and len(replayed.ranks) == len(replayed["ranks"])
    assert replayed.activities["end"].max() == pytest.approx(replayed.makespan)
    assert replayed.path["end"][-1] == pytest.approx(replayed.makespan)
    twice = hayase.replay("gaussian-elimination:n=64", "myrinet", cpu_speed=2.0)
    assert twice.makespan < replayed.makespan
    farm = hayase.master_slave({"constant": {"count": 64, "time": 1e-3}}, workers=8)
    assert farm.kind == "farm" and farm.makespan == pytest.approx(8e-3)
    jobs = hayase.run("fat-tree-54", jobs=["a=all-to-all-pairwise:16", "b=ring:20"], messages=True, links=True)
    assert jobs.kind == "jobs" and "bytes of a" in jobs.links.columns


def test_tables_and_results_are_dicts() -> None:
    pandas, np = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    result = hayase.run("torus-4x4", "ring", messages=True)
    table = result.messages
    assert list(table.keys()) == table.columns and dict(table)["end"] is table["end"]
    frame = pandas.DataFrame(table)
    assert frame.shape == (16, 6) and frame["end"].max() == result.makespan
    assert np.asarray(table)["bytes"].tolist() == table["bytes"].tolist()
    # Names in files are accepted too.
    assert table["end_s"].tolist() == table["end"].tolist() and "end_s" not in table.columns
    assert set(result) == set(result.report) and dict(result)["makespan_s"] == result.makespan
    assert "bounds" in result and len(result) == len(result.report) and result == result
    with pytest.raises(KeyError, match="there is no column"):
        table["no-such"]


def test_a_topology_that_was_looked_at_can_be_pickled_and_copied() -> None:
    import copy
    import pickle

    torus = hayase.Topology("torus-4x4")
    assert torus.nodes == 16
    for other in (pickle.loads(pickle.dumps(torus)), copy.copy(torus), copy.deepcopy(torus)):
        assert other.nodes == 16
    table = torus.link_table()
    assert len(table["id"]) == torus.links == 96 and (table["bandwidth"] == 1e9).all()


def test_routes_of_a_topology_are_a_table() -> None:
    torus = hayase.Topology("torus-4x4")
    table = torus.route_table()
    assert len(table["src"]) == len(table["path"]) == 16 * 15 and (table["src"] != table["dst"]).all()
    # Distances in a ring of four are 1, 2 and 1; in a 4 x 4 torus 32 / 15 on average, plus two end links.
    assert table["hops"].mean() == pytest.approx(2 * 16 / 15 + 2)
    links = torus.link_table()
    for src, dst, path in zip(table["src"], table["dst"], table["path"]):
        ends = [links["from"][path[0]], *links["to"][path]]
        assert (ends[0], ends[-1]) == (str(src), str(dst)) and (links["to"][path[:-1]] == links["from"][path[1:]]).all()
    one = torus.route_table([(0, 5), (3, 3)], routing="up-down")
    assert one["hops"].tolist() == [4, 0] and len(one["path"][1]) == 0
    assert len(torus.route_table(numpy.empty((0, 2), dtype=int))["src"]) == 0
    with pytest.raises(ValueError, match="no node 16"):
        torus.route_table([(0, 16)])
    with pytest.raises(ValueError, match="rows of two nodes"):
        torus.route_table([0, 1])
    with pytest.raises(ValueError, match="chooses"):
        torus.route_table(routing="min-adaptive")
    with pytest.raises(hayase.ScenarioError, match="no-such"):
        torus.route_table(routing="no-such")


def test_seeds_are_a_table_with_an_interval() -> None:
    run = hayase.run("fat-tree-54", "all-to-all-simple-spread", placement="random", seeds=4, seed=3)
    assert run.seeds["seed"].tolist() == [3, 4, 5, 6] and run.seeds["makespan"][0] == run.makespan
    statistics = run["seeds"]
    half = 3.182 * statistics["sd_s"] / 2
    assert run.interval == pytest.approx((statistics["mean_s"] - half, statistics["mean_s"] + half))
    with pytest.raises(LookupError, match="one seed"):
        hayase.run("torus-4x4", "ring").seeds


def test_settings_are_copied() -> None:
    table = {"torus": {"dims": [4, 4], "bandwidth": 1e9}}
    scenario = hayase.Scenario(table, "ring")
    table["torus"]["bandwidth"] = 5.0
    assert scenario.run().makespan == 2e-5


def test_files_that_cannot_be_written_are_errors_of_the_system(tmp_path) -> None:
    with pytest.raises(OSError, match="cannot write"):
        hayase.run("torus-4x4", "ring").save(tmp_path / "no-such-folder" / "report.json")


def test_mistakes_speak_of_arguments() -> None:
    with pytest.raises(hayase.ScenarioError) as caught:
        hayase.compare("no-such-fabric", "ring")
    assert "--topology" not in str(caught.value) and "topology:1:1" in str(caught.value)
    assert caught.value.mistakes[0][3] == "topology" and "hayase.topologies()" in str(caught.value)


def test_a_replay_of_ranks_is_drawn() -> None:
    pytest.importorskip("matplotlib").use("agg")
    assert hayase.replay("linear:ranks=8,size=20KB", "myrinet", ranks=True).plot().get_xlabel() == "rank"
