"""Runs beside other work of the interpreter, and runs that do not end."""

import threading
import time

import pytest

import hayase


def test_progress_is_told_at_the_end() -> None:
    calls = []
    hayase.run("torus-4x4", "all-to-all-pairwise", progress=lambda *told: calls.append(told))
    assert calls


def test_other_threads_go_on_meanwhile() -> None:
    ticks = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    hayase.run("fat-tree-432", "all-to-all-simple-spread", size="1 MB", jitter="10 us")
    after = len(ticks)
    stop.set()
    thread.join()
    assert after > before


def test_a_deadlock_is_said() -> None:
    with pytest.raises(hayase.Deadlock) as caught:
        hayase.run("torus-4x4", "all-to-all-pairwise", faults="100 %")
    assert str(caught.value)



def test_a_makespan_may_be_estimated() -> None:
    settings = {"workload.uniform-random.messages": 800}
    result = hayase.run("fat-tree-54", "uniform-random", placement="random", estimate="5%", settings=settings)
    estimate = result.report["estimate"]
    assert estimate["low_s"] < estimate["makespan_s"] < estimate["high_s"] and estimate["simulated_part"] < 1
    assert result.makespan == estimate["makespan_s"]
    exact = hayase.run("fat-tree-54", "ring", estimate="1%").report
    assert exact["estimate"] is None and exact["estimate_reason"]
    with pytest.raises(hayase.ScenarioError, match="1 %"):
        hayase.run("fat-tree-54", "ring", estimate="abc")


def test_calls_do_not_wait_for_each_other() -> None:
    began, ended, in_time = threading.Event(), threading.Event(), []

    def hold(*_: object) -> None:
        began.set()
        in_time.append(ended.wait(60))

    long = threading.Thread(
        target=lambda: hayase.run("fat-tree-1024", "all-to-all-simple-spread", placement="random", progress=hold)
    )
    long.start()
    assert began.wait(60)
    hayase.run("torus-4x4", "ring", threads=1)
    ended.set()
    long.join()
    assert all(in_time), "the short run waited for the long one"
