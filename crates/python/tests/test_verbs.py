"""Comparisons, sweeps, rates, throughput and what-if equal those of the program."""

import pytest

import hayase

pandas = pytest.importorskip("pandas")


def test_a_comparison_is_a_frame() -> None:
    torus = hayase.Topology({"torus": {"dims": [4, 4], "bandwidth": 2e9}}, name="faster")
    table = hayase.compare(["torus-4x4", torus], "all-to-all-pairwise", placement=["regular", "random"], seeds=2)
    assert len(table) == 4 and table.attrs["report"]["schema"].startswith("hayase-comparison")
    means = table.set_index(["topology", "placement"])["makespan"]
    assert means["faster.toml", "regular"] == pytest.approx(means["torus-4x4", "regular"] / 2)
    assert table["place"].min() == 1
    size = hayase.compare("torus-4x4", "ring", vary={"workload.ring.size": ["1 KB", "2 KB"]})
    assert len(size) == 2
    for one in ("1 KB", ["1 KB"], ("1 KB",)):
        assert len(hayase.compare("torus-4x4", "ring", vary={"workload.ring.size": one})) == 1
    with pytest.raises(TypeError, match="`vary` is a dict"):
        hayase.compare("torus-4x4", "ring", vary=["size"])
    with pytest.raises(hayase.ScenarioError, match="no-such"):
        hayase.compare(["no-such-fabric"], "ring")


def test_a_sweep_is_kept_and_resumed(tmp_path) -> None:
    plan = {
        "topology": "torus-4x4",
        "workload": "ring",
        "grid": {"size": ["1 KB", "2 KB", "4 KB"], "placement": ["regular", "random"]},
    }
    table = hayase.sweep(plan, tmp_path / "out")
    assert len(table) == 6 and table.attrs["report"]["run"] == 6
    again = hayase.sweep(plan, tmp_path / "out")
    assert again.attrs["report"]["run"] == 0 and again.equals(table)
    for shard in range(2):
        hayase.sweep(plan, tmp_path / "shards", shard=(shard, 2))
    assert hayase.sweep(plan, tmp_path / "shards").drop(columns=[]).equals(table)
    with pytest.raises(ValueError, match="`shard` is a whole number from 0 to 1, unlike 2"):
        hayase.sweep(plan, tmp_path / "shards", shard=(2, 2))
    xarray = pytest.importorskip("xarray")
    data = hayase.sweep(plan, tmp_path / "out", as_="xarray")
    assert isinstance(data, xarray.Dataset) and dict(data.sizes) == {"size": 3, "placement": 2}
    assert hayase.to_xarray(table).equals(data)


def test_dimensions_are_in_the_order_of_the_plan(tmp_path) -> None:
    pytest.importorskip("xarray")
    sizes, nodes = ["10 KB", "2 KB", "1 MB", "30 KB"], ["regular", "random", "block"]
    plan = {"topology": "torus-4x4", "workload": "ring", "grid": {"placement": nodes, "size": sizes}}
    table = hayase.sweep(plan, tmp_path / "out")
    data = hayase.to_xarray(table)
    assert data.indexes["size"].tolist() == sizes and data.indexes["placement"].tolist() == nodes
    assert data["makespan"].sel(size="1 MB", placement="regular") == pytest.approx(1e-3)
    # The order also follows from some of the rows, because rows of each placement show a part of the order of sizes.
    key = table.attrs["report"]["keys"]
    part = table[[row[key[1]] != table[key[1]].iloc[0] or row[key[0]] != table[key[0]].iloc[0] for _, row in table.iterrows()]]
    part.attrs = table.attrs
    found = hayase.to_xarray(part)
    for each in key:
        assert found.indexes[each].tolist() == data.indexes[each].tolist()
    assert int(found["makespan"].isnull().sum()) == 1


def test_words_of_a_comparison_are_words() -> None:
    for wrong in ({"max-min": {}}, ["max-min", None], [True], [["max-min"]]):
        with pytest.raises(TypeError, match="`sharing` of a comparison is a word"):
            hayase.compare("torus-4x4", "ring", sharing=wrong)


def test_a_sweep_of_a_file_is_the_programs(tmp_path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('topology = "torus-4x4"\nworkload = "ring"\n[grid]\nseed = "1..=3"\nsize = ["1 KB"]\n')
    table = hayase.sweep(plan, tmp_path / "out")
    assert len(table) == 3 and (tmp_path / "out" / "0-of-1.jsonl").exists()
    plan.write_text('topology = "torus-4x4"\nworkload = "rin"\n[grid]\nseed = "1..=3"\n')
    with pytest.raises(hayase.ScenarioError, match="plan.toml"):
        hayase.sweep(plan, tmp_path / "out")


def test_rates_and_throughput() -> None:
    assert (hayase.rates("torus-4x4", "ring")["rate"] == 1e9).all()
    answer = hayase.throughput({"torus": {"dims": [4, 4], "bandwidth": 1e9}}, "bisection", seeds=2)
    assert 0 < answer["throughput"] <= 1.0 + 1e-9
    assert hayase.throughput("torus-4x4", simulate=True, rounds=10)["simulated"]["throughput"] > 0
    with pytest.raises(hayase.ScenarioError, match="traffic"):
        hayase.throughput("torus-4x4", "no-such")


def test_what_if() -> None:
    table = hayase.whatif("linear:ranks=4,size=20KB", "myrinet", vary={"L": ["1 us", "2 us"]})
    assert len(table) == 2 and (table["parameter"] == "L").all()


def test_names() -> None:
    assert "torus-4x4" in hayase.topologies() and "myrinet" in hayase.machines()
    assert "ring" in hayase.patterns() and "random" in hayase.placements() and hayase.presets()


def test_parts_of_one_name_are_told_apart() -> None:
    narrow = hayase.Topology({"torus": {"dims": [4, 4], "bandwidth": 1e9}}, name="net")
    wide = hayase.Topology({"torus": {"dims": [4, 4], "bandwidth": 2e9}}, name="net")
    table = hayase.compare([narrow, wide], "ring").set_index("topology")
    assert table.loc["net.toml", "makespan"] == 2 * table.loc["net-2.toml", "makespan"]
    few, many = (hayase.Pattern.from_messages([(0, 1, size)], name="one") for size in (1000, 3000))
    table = hayase.compare("torus-4x4", [few, many]).set_index("pattern")
    assert table.loc["one-2.toml", "makespan"] == pytest.approx(3 * table.loc["one.toml", "makespan"])
    networkx = pytest.importorskip("networkx")
    stars = [hayase.Topology.from_networkx(networkx.star_graph(n), bandwidth=1e9, name="star") for n in (4, 6)]
    assert hayase.compare(stars, "ring")["topology"].tolist() == ["star.toml", "star-2.toml"]


def test_comparisons_take_placements_as_arrays_and_parts_that_fail() -> None:
    import numpy as np

    nodes = np.random.default_rng(1).permutation(16)
    table = hayase.compare("torus-4x4", "all-to-all-pairwise", placement=[nodes, "regular"])
    own = hayase.run("torus-4x4", "all-to-all-pairwise", placement=nodes).makespan
    assert table.set_index("placement").loc["nodes.csv", "makespan"] == own
    assert len(hayase.compare("torus-4x4", "ring", faults=0.05)) == 2
    assert hayase.run("torus-4x4", "ring", faults=0.05).fingerprint == hayase.run("torus-4x4", "ring", faults="5 %").fingerprint
    with pytest.raises(ValueError, match="from 0 to 1"):
        hayase.run("torus-4x4", "ring", faults=5)


def test_a_sweep_takes_parts_and_gives_numbers(tmp_path) -> None:
    torus = hayase.Topology({"torus": {"dims": [4, 4], "bandwidth": 2e9}}, name="own")
    plan = {"workload": "ring", "grid": {"topology": [torus, "torus-4x4"], "size": ["1 KB", "2 KB"]}}
    table = hayase.sweep(plan, tmp_path / "out")
    assert table["topology"].tolist() == ["own.toml"] * 2 + ["torus-4x4"] * 2
    assert table["size_bytes"].tolist() == [1000.0, 2000.0] * 2
    assert table["makespan"].tolist() == pytest.approx([5e-7, 1e-6, 1e-6, 2e-6])
    pattern = hayase.Pattern.from_messages([(0, 1, 1000)])
    assert len(hayase.sweep({"topology": torus, "workload": pattern, "grid": {"seed": [1, 2]}}, tmp_path / "one")) == 2


def test_many_runs_at_once() -> None:
    wanted = [hayase.run("torus-4x4", "ring", placement="random", seed=seed).fingerprint for seed in range(5)]
    many = [dict(topology="torus-4x4", pattern="ring", placement="random", seed=seed) for seed in range(5)]
    assert [result.fingerprint for result in hayase.run_many(many, threads=2)] == wanted
    wrong = [hayase.Scenario("torus-4x4", "rin"), *many[:1]]
    with pytest.raises(hayase.ScenarioError, match="rin"):
        hayase.run_many(wrong)
    first, second = hayase.run_many(wrong, return_exceptions=True)
    assert isinstance(first, hayase.ScenarioError) and second.fingerprint == wanted[0]
    assert hayase.run_many([]) == []


def test_bounds_are_those_of_a_run() -> None:
    own = hayase.run("fat-tree-54", "all-to-all-simple-spread", placement="random", jitter="2 us")["bounds"]
    assert hayase.bounds("fat-tree-54", "all-to-all-simple-spread", placement="random", jitter="2 us") == pytest.approx(own)


def test_help_lists_the_settings_of_each_verb() -> None:
    for verb in (hayase.rates, hayase.throughput, hayase.replay, hayase.predict, hayase.master_slave, hayase.advise):
        assert "Settings: " in verb.__doc__ and "sharing" in verb.__doc__
    assert "cpu_speed" in hayase.replay.__doc__ and "workers" in hayase.master_slave.__doc__


def test_frames_are_refused_before_anything_runs(monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'hayase\[pandas\]'"):
        hayase.compare("no-such-fabric", "ring")
