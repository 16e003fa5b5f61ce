"""Pictures and pages: the parts that all must have. Their look is checked by eye."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as tree

import numpy as np
import pytest

import hayase

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from matplotlib.axes import Axes  # noqa: E402

UNIT = re.compile(r"\[(ps|ns|us|ms|s|%|[KMGT]?B(/s)?)\]")


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def run():
    return hayase.run("torus-4x4", "all-to-all-simple-spread", placement="random", messages=True, links=True)


def test_every_picture_of_a_run_has_axes_with_units(run):
    assert run.plots()[:3] == ["load", "messages", "links"]
    assert "bounds" in run.plots()
    for kind in run.plots():
        axes = run.plot(kind)
        assert isinstance(axes, Axes)
        assert UNIT.search(axes.get_xlabel() + axes.get_ylabel()), kind
        assert axes.get_title(loc="left")
        axes.figure.canvas.draw()


def test_the_load_over_time_adds_up_to_the_bytes_of_the_run(run):
    axes = run.plot("load")
    steps = next(patch for patch in axes.patches if hasattr(patch, "get_data"))
    rate, edges, _ = steps.get_data()
    # The area has the unit GB/s times us: kilobytes.
    assert np.sum(rate * np.diff(edges)) * 1e3 == pytest.approx(run["bytes"], rel=1e-6)


def test_messages_that_take_no_time_are_in_the_load():
    result = hayase.run("torus-4x4", [(0, 0, 5000), (0, 1, 5000)], messages=True)
    rate, edges, _ = next(p for p in result.plot("load").patches if hasattr(p, "get_data")).get_data()
    assert np.sum(rate * np.diff(edges)) > 0


def test_axes_that_are_given_are_drawn_on(run):
    import matplotlib.pyplot as plt

    _, (left, right) = plt.subplots(1, 2)
    assert run.plot("bounds", ax=left) is left
    assert hayase.plot(run, "links", ax=right) is right


def test_a_picture_that_is_not_there_says_what_to_record():
    result = hayase.run("torus-4x4", "ring")
    with pytest.raises(ValueError, match="messages=True; it has 'links', "):
        result.plot("load")
    with pytest.raises(ValueError, match="no picture 'pie'"):
        result.plot("pie")
    with pytest.raises(TypeError, match="not int"):
        hayase.plot(7)


def test_the_smallest_runs_have_pictures():
    for pattern in ([(0, 1, 0)], [(0, 0, 10)], [(0, 1, 1)]):
        result = hayase.run({"crossbar": {"nodes": 2, "bandwidth": 1e9}}, pattern, messages=True, links=True)
        for kind in result.plots():
            result.plot(kind).figure.canvas.draw()
        assert result._repr_html_()


def test_many_links_are_a_curve_and_few_are_bars(run):
    few = hayase.run({"crossbar": {"nodes": 3, "bandwidth": 1e9}}, "ring", links=True).plot("links")
    assert [label.get_text() for label in few.get_yticklabels()]
    assert "busiest first" in run.plot("links").get_xlabel()


def test_comparisons_and_sweeps(tmp_path):
    table = hayase.compare(
        ["torus-4x4"], ["all-to-all-pairwise", "all-to-all-bruck"], placement=["regular", "random"], seeds=3
    )
    axes = hayase.plot(table)
    assert [label.get_text() for label in axes.get_yticklabels()][0].startswith("all-to-all")
    assert "95 %" in axes.get_xlabel()
    plan = {"topology": "torus-4x4", "workload": "ring", "grid": {"size": ["1 KB", "2 KB", "4 KB"], "seed": [1, 2]}}
    points = hayase.sweep(plan, tmp_path / "out")
    assert hayase.plot(points).get_xlabel() == "size"
    with pytest.raises(ValueError, match="two keys"):
        hayase.plot(points, "heat")
    with pytest.raises(ValueError, match="no column 'colour'"):
        hayase.plot(points, x="colour")


def test_jobs(run):
    jobs = [{"name": "<a>", "ranks": 8, "workload": "ring"}, {"name": "b", "ranks": 8, "workload": "ring"}]
    result = hayase.interference("torus-4x4", jobs)
    assert result.plots()[:2] == ["jobs", "interference"]
    for kind in result.plots():
        result.plot(kind).figure.canvas.draw()
    assert "<a>" not in result._repr_html_()
    assert "&lt;a&gt;" in result._repr_html_()


def test_steady_traffic_and_slow_ranks():
    steady = hayase.throughput("torus-4x4", traffic="uniform")
    assert "bandwidth" in steady.plot().get_xlabel()
    assert "bottleneck" in steady._repr_html_()
    slow = hayase.run(
        "torus-4x4", {"all-to-all": {"algorithm": "pairwise", "size": "1 KB"}}, straggler="3=50%", node="ideal"
    )
    if "noise" in slow.report:
        assert "ends later" in slow.plot("noise").get_ylabel()


def test_farms():
    farm = hayase.master_slave("exponential:count=200,mean=1ms", workers=[2, 4, 8])
    assert farm.plot().get_xlabel() == "workers"
    assert "master busy" in farm._repr_html_()


def test_topologies():
    for name in ("torus-4x4", "fat-tree-54", "dragonfly-72"):
        fabric = hayase.Topology(name)
        axes = fabric.plot()
        assert len(axes.lines) + len(axes.patches) > 30
        assert any(text.get_text() == name for text in axes.texts)
        assert tree.fromstring(fabric._repr_svg_()).tag.endswith("svg")


def test_a_fabric_is_written_as_picture_graph_and_table(tmp_path):
    fabric = hayase.Topology("torus-4x4")
    for ending in ("svg", "json", "dot", "csv"):
        fabric.save(tmp_path / f"x.{ending}")
    assert tree.fromstring((tmp_path / "x.svg").read_text()).tag.endswith("svg")
    assert len(json.loads((tmp_path / "x.json").read_text())["nodes"]) == 32
    with pytest.raises(ValueError, match=r"\.svg, \.json, \.dot or \.csv"):
        fabric.save(tmp_path / "x.png")


def pages(run):
    yield run._repr_html_()
    yield run.messages._repr_html_()
    yield hayase.run("torus-4x4", "ring", jobs=None)._repr_html_()


def test_pages_are_those_of_the_program(run):
    page = run._repr_html_()
    assert "makespan" in page and "<table>" in page and "(1,1) -&gt; (1,2)" in page
    steady = hayase.throughput("torus-4x4")
    assert dict(steady) == steady.report and "<table>" in steady._repr_html_()
    # A dict made from an answer has no table of the program.
    assert type(steady)(dict(steady))._repr_html_() is None


def test_pages_are_well_formed_have_no_scripts_and_fit(run):
    for page in pages(run):
        assert "<script" not in page and "onerror" not in page and "http" not in page
        assert len(page) < 20_000
        for tag in ("div", "table", "td", "th", "tr", "pre", "p"):
            assert len(re.findall(f"<{tag}[ >]", page)) == page.count(f"</{tag}>"), tag


def test_names_from_outside_are_escaped():
    nx = pytest.importorskip("networkx")
    evil = '<img src=x onerror="alert(1)">'
    graph = nx.Graph()
    graph.add_edges_from(((node, evil) for node in range(3)), bandwidth=1e9)
    fabric = hayase.Topology.from_networkx(graph)
    result = hayase.run(fabric, "ring", links=True)
    for page in (result._repr_html_(), result.links._repr_html_(), fabric._repr_svg_()):
        assert "<img" not in page and "&lt;img" in page


def test_dark_styles_stay_dark(run):
    import matplotlib.pyplot as plt

    with plt.style.context("dark_background"):
        axes = hayase.Topology("torus-4x4").plot()
        assert axes.figure.get_facecolor()[:3] == (0, 0, 0)
        assert any(text.get_color() == "white" for text in axes.texts)


def test_a_bar_shows_progress_and_goes(monkeypatch):
    from hayase import _progress

    bars = []

    class Bar:
        total, n, closed = None, 0, False

        def __init__(self, **said):
            bars.append(self)

        def set_postfix_str(self, text, refresh):
            self.text = text

        def refresh(self):
            pass

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm.auto", type(sys)("tqdm.auto"))
    sys.modules["tqdm.auto"].tqdm = Bar
    with pytest.raises(ZeroDivisionError), _progress.told(True) as tell:
        tell(2e-3, 5, 10)
        raise ZeroDivisionError
    (bar,) = bars
    assert (bar.n, bar.total, bar.text, bar.closed) == (5, 10, "simulated 2 ms", True)


def test_without_tqdm_there_is_no_bar(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert hayase.run("torus-4x4", "ring", progress=True).makespan > 0


def test_progress_that_is_no_function():
    with pytest.raises(TypeError, match="progress is True, None or a function"):
        hayase.run("torus-4x4", "ring", progress=3)
