"""Schedules of collective operations, the best possible time beside runs, and orders of an all-to-all."""

import numpy as np
import pytest

import hayase

#: The same fabric as torus-4x4.
TORUS = {"torus": {"dims": [4, 4], "bandwidth": 1e9}}


def test_an_all_gather_is_bounded_by_the_cable_of_each_node() -> None:
    report = hayase.schedule("all-gather", "torus-4x4", size=1_000_000)
    # A node receives the data of 15 others over 1 GB/s.
    assert report["optimum_s"] == pytest.approx(15 * 1e-3) and report["optimum_exact"]
    assert report["worst_cut"] == {"nodes": 15, "bandwidth_Bps": 1e9}
    assert report["operation"] == "all-gather" and report["method"] == "trees" and report["ranks"] == 16
    for key in ("predicted_s", "simulated_s", "simulated_jitter_s"):
        assert 1 - 1e-9 < report[key] / report["optimum_s"] < 1.2
    assert "schedule" in {row["name"] for row in report["algorithms"]}
    assert "<table" in report._repr_html_()
    with pytest.raises(LookupError, match="plan=True"):
        report.plan
    assert hayase.schedule("all-gather", TORUS, size="1 MB")["optimum_s"] == report["optimum_s"]


def test_the_plan_of_an_all_gather_follows_its_links() -> None:
    report = hayase.schedule("all-gather", "torus-4x4", size="1 MB", chunks=2, plan=True)
    plan = report.plan
    assert all(len(column) == report["messages"] for column in plan.values())
    assert plan["src"].dtype == np.int64 and plan["weight"].dtype == float
    received = np.bincount(plan["dst"], weights=plan["bytes"])
    assert received.tolist() == [15e6] * 16
    assert (plan["slot"] == -1).all() and (plan["weight"] == 1).all() and (plan["src"] != plan["dst"]).all()
    assert all(earlier < index for index, after in enumerate(plan["after"]) for earlier in after)
    links = hayase.Topology("torus-4x4").link_table()
    for src, dst, path in zip(plan["src"], plan["dst"], plan["path"]):
        assert links["from"][path[0]] == str(src) and links["to"][path[-1]] == str(dst)
        assert (links["to"][path[:-1]] == links["from"][path[1:]]).all()


def test_an_all_to_all_goes_in_slots() -> None:
    report = hayase.schedule("all-to-all", "torus-4x4", method="order", barrier_cost=1e-6, jitter="2 us", plan=True)
    assert report["slots"] and report["jitter_s"] == 2e-6
    assert set(report.plan["slot"].tolist()) <= set(range(report["slots"]))
    free = hayase.schedule("all-to-all", "torus-4x4", method="order", barrier_cost=0, jitter="2 us")
    assert report["simulated_s"] > free["simulated_s"]


def test_an_all_to_all_takes_sizes_of_each_pair(tmp_path) -> None:
    matrix = np.full((16, 16), 1000) - 1000 * np.eye(16, dtype=int)
    matrix[0] *= 2
    rows = [(src, dst, int(matrix[src, dst])) for src, dst in np.argwhere(matrix).tolist()]
    path = tmp_path / "sizes.csv"
    path.write_text("src,dst,bytes\n" + "".join(f"{src},{dst},{size}\n" for src, dst, size in rows))
    for sizes in (rows, hayase.Pattern.from_matrix(matrix), path):
        report = hayase.schedule("all-to-all", TORUS, sizes=sizes, plan=True)
        # Rank 0 sends 2000 B to each of 15 others.
        assert report["optimum_s"] == pytest.approx(30e-6)
        sent = np.bincount(report.plan["src"], weights=report.plan["bytes"])
        assert sent.tolist() == [30_000] + [15_000] * 15


def test_settings_of_a_schedule_are_those_of_the_program() -> None:
    few = hayase.schedule("broadcast", "torus-4x4", ranks=4, root=2, trees=1, placement=[3, 7, 11, 15], seed=2)
    assert few["ranks"] == 4 and few["trees_per_root"] == 1
    with pytest.raises(TypeError, match="no setting 'routin'"):
        hayase.schedule("all-gather", "torus-4x4", routin="minimal")
    with pytest.raises(TypeError, match="all-gather"):
        hayase.schedule("all-gathr", "torus-4x4")
    with pytest.raises(hayase.ScenarioError, match="no-such"):
        hayase.schedule("all-gather", "no-such-fabric")


def test_the_throughput_is_bounded_over_all_routings() -> None:
    ring = {"torus": {"dims": [8], "bandwidth": 1e9}}
    plain = hayase.throughput(ring)
    assert "optimum_throughput" not in plain
    assert "optimum_throughput" not in hayase.throughput(ring, optimum=False)
    best = hayase.throughput(ring, optimum=True, cables=True)
    least, most = best["optimum_throughput"], best["optimum_throughput_at_most"]
    assert plain["throughput"] <= most + 1e-9 and least <= most <= 1.01 * least + 1e-9
    assert best["optimum_proof"] and best["cables"][0]["optimum_throughput_at_most"] >= least
    loose = hayase.throughput(ring, optimum="20%")
    assert loose["optimum_throughput"] <= loose["optimum_throughput_at_most"]
    with pytest.raises(TypeError, match="optimum"):
        hayase.throughput(ring, cables=True)


def test_runs_are_compared_with_the_best_possible_time() -> None:
    for gap in (True, "2%"):
        run = hayase.run("torus-4x4", "all-to-all-pairwise", optimum=gap)
        least, reached = (run["bounds"][f"optimum_{name}_s"] for name in ("at_least", "reached"))
        assert least <= reached <= run.makespan * (1 + 1e-9) and run["ratio_to_optimum"] == pytest.approx(run.makespan / least)
    assert "ratio_to_optimum" not in hayase.run("torus-4x4", "all-to-all-pairwise", optimum=False).report
    with pytest.raises(hayase.ScenarioError, match="optimum"):
        hayase.run("torus-4x4", "ring", optimum="fast")


def test_an_order_and_the_cost_of_barriers_are_settings() -> None:
    work = ("torus-4x4", "all-to-all-simple-spread")
    free = hayase.run(*work, injection="barrier")
    assert hayase.run(*work, injection="barrier", barrier_cost=1e-6).makespan > free.makespan
    assert hayase.run(*work, injection="barrier", barrier_cost="0 us").fingerprint == free.fingerprint
    assert hayase.run(*work, injection="barrier", order="auto").makespan < free.makespan
    with pytest.raises(TypeError, match="`order` is a text, not list"):
        hayase.run(*work, order=["rank"])


def test_orders_are_compared_with_the_best_possible_time() -> None:
    pytest.importorskip("pandas")
    table = hayase.compare("torus-4x4", "all-to-all-simple-spread", order=["rank", "sign"], optimum="2%")
    assert set(table["order"]) == {"rank", "sign"} and table["place"].min() == 1
    ratio = table["makespan"] / table["optimum_at_least"]
    assert table["ratio_to_optimum"].tolist() == pytest.approx(ratio.tolist())
    assert (table["optimum_at_least"] <= table["optimum_reached"]).all()
    assert len(hayase.compare("torus-4x4", "all-to-all-simple-spread", order="all")) > 2
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    assert hayase.plot(table).get_xlabel()
