"""Ctrl-C, callbacks, deadlocks and forks: exceptions of Python, and never the end of the interpreter."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import hayase

#: Takes much longer than any test.
LONG = dict(topology={"torus": {"dims": [32, 32], "bandwidth": 1e9}}, pattern="all-to-all-simple-spread")


def test_ctrl_c_ends_a_run() -> None:
    code = f"import hayase; print('ready', flush=True); hayase.run(**{LONG!r})"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said and time.monotonic() - begun < 10


def test_an_exception_in_a_callback_ends_the_run() -> None:
    class Enough(Exception):
        pass

    calls = []

    def tell(now: float, done: int, total: int) -> None:
        calls.append((now, done, total))
        if done > 0:
            raise Enough

    with pytest.raises(Enough):
        hayase.run(**LONG, progress=tell)
    assert calls[-1][1] <= calls[-1][2] == 1024 * 1023
    with pytest.raises(TypeError, match="progress"):
        hayase.run("torus-4x4", "ring", progress=3)


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
    hayase.run("fat-tree-54", "all-to-all-simple-spread", size="1 MB", jitter="10 us")
    after = len(ticks)
    stop.set()
    thread.join()
    assert after > before


def test_a_deadlock_is_said() -> None:
    with pytest.raises(hayase.Deadlock) as caught:
        hayase.run("torus-4x4", "all-to-all-pairwise", faults="100 %")
    assert str(caught.value)


def test_a_fork_after_a_run_runs() -> None:
    hayase.run("torus-4x4", "ring")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if hayase.run("torus-4x4", "all-to-all-pairwise").makespan > 0 else 1
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the run in the fork hangs")


@pytest.mark.parametrize("wrong", [3, 3.5, ["torus-4x4"], object(), {1, 2}])
def test_what_is_no_topology_is_a_type_error(wrong) -> None:
    with pytest.raises(TypeError, match="a topology is a name, a path, a dict"):
        hayase.run(wrong, "ring")


def test_values_of_the_wrong_kind_are_mistakes() -> None:
    for settings in ({"size": -5}, {"size": 0.5}, {"size": "20"}, {"jitter": "1 KB"}, {"seed": -1}, {"placement": "nowhere"}):
        with pytest.raises(hayase.ScenarioError) as caught:
            hayase.run("torus-4x4", "ring", **settings)
        assert caught.value.mistakes and all(len(mistake) == 6 for mistake in caught.value.mistakes)
    with pytest.raises(ValueError):
        hayase.run("torus-4x4", "ring", size=float("nan"))
    with pytest.raises(ValueError, match="threads=0"):
        hayase.run("torus-4x4", "ring", threads=0)
    with pytest.raises(TypeError):
        hayase.run("torus-4x4", "ring", size=object())
