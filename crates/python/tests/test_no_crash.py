"""Mistakes raise exceptions that name the expected value; the interpreter goes on."""

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import hayase

TORUS = {"torus": {"dims": [4, 4], "bandwidth": 1e9}}


def interruptible() -> None:
    """Enables Ctrl-C in a new process: a shell that runs the tests in the background ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(code: str, timeout: float = 120) -> "subprocess.CompletedProcess[str]":
    """Runs code in a process of its own, so that a crash does not end the tests."""
    command = [sys.executable, "-c", code]
    hears = interruptible if os.name == "posix" else None
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, preexec_fn=hears)


@pytest.mark.parametrize(
    "topology, pattern, settings",
    [
        (7, "ring", {}),
        (None, "ring", {}),
        (b"torus-4x4", "ring", {}),
        ([], "ring", {}),
        (TORUS, 3.5, {}),
        (TORUS, object(), {}),
        (TORUS, "ring", {"seed": "one"}),
        (TORUS, "ring", {"seed": -1}),
        (TORUS, "ring", {"seed": 1.5}),
        (TORUS, "ring", {"seed": 2**64}),
        (TORUS, "ring", {"seed": True}),
        (TORUS, "ring", {"size": -1}),
        (TORUS, "ring", {"size": float("nan")}),
        (TORUS, "ring", {"size": float("inf")}),
        (TORUS, "ring", {"size": "20 parsecs"}),
        (TORUS, "ring", {"size": 10**400}),
        (TORUS, "ring", {"size": {1, 2}}),
        (TORUS, "ring", {"placement": object()}),
        (TORUS, "ring", {"placement": {"listed": {"nodes": [0, 0]}}}),
        (TORUS, "ring", {"sharing": "maxmin"}),
        (TORUS, "ring", {"transport": {1: 2}}),
        (TORUS, "ring", {"settings": ["topology.torus.bandwidth"]}),
        (TORUS, "ring", {"faults": 3}),
        (TORUS, "ring", {"jobs": 3}),
        (TORUS, "ring", {"threads": 0}),
        (TORUS, "ring", {"threads": -1}),
        (TORUS, "ring", {"threads": "two"}),
        (TORUS, "ring", {"progress": "yes"}),
        (TORUS, "ring", {"no_such_setting": 1}),
        ({"torus": {"dims": [], "bandwidth": 1e9}}, "ring", {}),
        ({"torus": {"dims": [-4], "bandwidth": 1e9}}, "ring", {}),
        ({"torus": {"dims": [4], "bandwidth": -1e9}}, "ring", {}),
        ({"torus": {"dims": [2**40, 2**40], "bandwidth": 1e9}}, "ring", {}),
        ({"no-such-family": {}}, "ring", {}),
        ({}, "ring", {}),
        ("\0", "ring", {}),
        ("torus-4x4\ud800", "ring", {}),
        ("no-such-fabric", "ring", {}),
    ],
)
def test_wrong_values_and_types_are_said(topology: object, pattern: object, settings: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)) as caught:
        hayase.run(topology, pattern, **settings)  # type: ignore[arg-type]
    assert len(str(caught.value)) > 10, "an exception says what was expected"


def test_a_table_that_holds_itself_is_said() -> None:
    table: dict[str, object] = {}
    table["torus"] = table
    with pytest.raises((ValueError, RecursionError)):
        hayase.run(table, "ring")
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises((ValueError, RecursionError)):
        hayase.run({"torus": {"dims": deep}}, "ring")


def test_what_would_not_fit_is_said_before_memory_is_taken() -> None:
    began = time.monotonic()
    with pytest.raises((MemoryError, hayase.ScenarioError)):
        hayase.run({"torus": {"dims": [3000, 3000], "bandwidth": 1e9}}, "all-to-all-pairwise", messages=True)
    assert time.monotonic() - began < 30


def test_an_exception_in_a_callback_ends_the_run() -> None:
    class Enough(Exception):
        pass

    def stop(*_: object) -> None:
        raise Enough("seen enough")

    began = time.monotonic()
    with pytest.raises(Enough, match="seen enough"):
        hayase.run("fat-tree-3456", "all-to-all-simple-spread", placement="random", progress=stop)
    assert time.monotonic() - began < 60
    assert hayase.run(TORUS, "ring").makespan > 0


def test_a_callback_that_cannot_be_called_so_is_said() -> None:
    with pytest.raises(TypeError):
        hayase.run("fat-tree-1024", "all-to-all-simple-spread", placement="random", progress=lambda: None)


def test_a_callback_may_run_another() -> None:
    inner: list[float] = []

    def another(*_: object) -> None:
        if not inner:
            inner.append(hayase.run(TORUS, "ring").makespan)

    outer = hayase.run("fat-tree-250", "all-to-all-simple-spread", placement="random", progress=another)
    assert inner == [hayase.run(TORUS, "ring").makespan] and outer.makespan > 0


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_ctrl_c_is_an_exception_soon() -> None:
    code = (
        "import hayase, os, signal, threading, time\n"
        "def interrupt():\n"
        "    time.sleep(2); sent.append(time.monotonic()); os.kill(os.getpid(), signal.SIGINT)\n"
        "sent = []\n"
        "threading.Thread(target=interrupt).start()\n"
        "try:\n"
        "    hayase.run('fat-tree-3456', 'all-to-all-simple-spread', placement='random')\n"
        "except KeyboardInterrupt:\n"
        "    print(time.monotonic() - sent[0])\n"
        "print(hayase.run('torus-4x4', 'ring').makespan > 0)"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr
    late, again = done.stdout.split()
    assert float(late) < 2 and again == "True"


def child_fingerprint(_: int) -> str:
    return hayase.run(TORUS, "all-to-all-pairwise", placement="random").fingerprint


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_of_every_kind_simulate(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    here = child_fingerprint(0)
    # All cores are used before the fork, so that there are threads that the fork does not have.
    hayase.run("fat-tree-54", "all-to-all-simple-spread", threads=2)
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(child_fingerprint, range(4), timeout=120)) == [here] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_in_the_middle_of_a_run_goes_on() -> None:
    code = (
        "import hayase, os, threading, time\n"
        "running = threading.Thread(target=lambda: hayase.run('fat-tree-250', 'all-to-all-simple-spread', placement='random'))\n"
        "running.start(); time.sleep(0.2)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if hayase.run('torus-4x4', 'ring').makespan > 0 else 1)\n"
        "print(os.waitpid(child, 0)[1]); running.join()"
    )
    done = run(code)
    assert done.returncode == 0 and done.stdout.strip() == "0", done.stderr


def test_many_threads_at_once_have_the_results_of_one() -> None:
    alone = [hayase.run(TORUS, "all-to-all-pairwise", placement="random", seed=seed).fingerprint for seed in range(12)]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        runs = [
            pool.submit(hayase.run, TORUS, "all-to-all-pairwise", placement="random", seed=seed) for seed in range(12)
        ]
        assert [one.result().fingerprint for one in runs] == alone


def test_one_scenario_in_several_threads() -> None:
    scenario = hayase.Scenario(TORUS, "all-to-all-pairwise", placement="random")
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(scenario.run().fingerprint)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6 and len(set(found)) == 1


def test_the_interpreter_may_end_in_the_middle_of_a_run() -> None:
    for daemon in (True, False):
        code = (
            "import hayase, threading, time\n"
            "work = lambda: hayase.run('fat-tree-250', 'all-to-all-simple-spread', placement='random')\n"
            f"threading.Thread(target=work, daemon={daemon}).start(); time.sleep(0.3); print('ends')"
        )
        done = run(code)
        assert done.returncode == 0 and done.stdout == "ends\n", (daemon, done.returncode, done.stderr)


def test_arrays_live_as_long_as_somebody_looks() -> None:
    end = hayase.run(TORUS, "all-to-all-pairwise", messages=True).messages["end"]
    kept = end.copy()
    # Other memory is allocated and written.
    rubbish = [numpy.full(240, float(i)) for i in range(500)]
    assert numpy.array_equal(end, kept) and len(rubbish) == 500
    with pytest.raises(ValueError):
        end[0] = 1.0
    with pytest.raises(ValueError):
        end.setflags(write=True)


def test_a_column_that_is_not_there_names_those_that_are() -> None:
    table = hayase.run(TORUS, "ring", messages=True).messages
    with pytest.raises(KeyError, match="end"):
        table["ende"]
    with pytest.raises(TypeError):
        table[0]


def test_pickles_come_back_or_are_refused() -> None:
    for thing in (hayase.Scenario(TORUS, "ring"), hayase.run(TORUS, "ring"), hayase.run(TORUS, "ring", messages=True)):
        try:
            again = pickle.loads(pickle.dumps(thing))
        except (TypeError, pickle.PicklingError) as refused:
            assert "pickle" in str(refused)
            continue
        if isinstance(thing, hayase.Scenario):
            assert again.run().fingerprint == thing.run().fingerprint
        else:
            assert again.fingerprint == thing.fingerprint


def test_what_the_extension_makes_is_not_made_by_hand() -> None:
    from hayase import _hayase

    for kind in (_hayase.Played, _hayase.Table):
        with pytest.raises(TypeError):
            kind()


def test_another_interpreter_of_the_process_imports_it_or_is_told() -> None:
    try:
        import _interpreters as interpreters  # type: ignore[import-not-found]
    except ImportError:
        interpreters = pytest.importorskip("_xxsubinterpreters")
    # The extension may be loaded already.
    for first in ("import hayase\n", ""):
        code = (
            f"{first}import {interpreters.__name__} as interpreters\n"
            "it = interpreters.create()\n"
            "try:\n"
            "    said = interpreters.run_string(it, 'import hayase; hayase.run(\"torus-4x4\", \"ring\")')\n"
            "    print(said)\n"
            "except Exception as error:\n"
            "    print(type(error).__name__, error)"
        )
        done = run(code)
        assert done.returncode == 0, (done.returncode, done.stderr)


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_a_handler_of_ones_own_is_called_in_a_run() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        began = time.monotonic()
        while not seen and time.monotonic() - began < 60:
            hayase.run("fat-tree-250", "all-to-all-simple-spread", placement="random")
        assert seen == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, before)


def test_messages_that_do_not_fit_are_refused_before_the_run() -> None:
    torus = {"torus": {"dims": [300, 300], "bandwidth": 1e9}}
    with pytest.raises(hayase.ScenarioError, match="free"):
        hayase.run(torus, "all-to-all-simple-spread", messages=True)


@pytest.mark.parametrize(
    "asked, said",
    [
        ({"seeds": 0}, "`seeds` is a whole number from 1 on, unlike 0"),
        ({"seeds": -1}, "`seeds` is a whole number from 1 on, unlike -1"),
        ({"seeds": 2**64}, "unlike 18446744073709551616"),
        ({"seeds": 1.5}, "not float"),
        ({"seeds": True}, "not bool"),
        ({"threads": 0}, "`threads` is a whole number from 1 on"),
        ({"threads": "two"}, "not str"),
    ],
)
def test_numbers_of_runs_say_what_they_are(asked: dict[str, object], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        hayase.run(TORUS, "ring", **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("shard", [(1,), (0, 0), (-1, 2), (2, 2), (0.5, 2), (0, 2**40)])
def test_parts_of_a_sweep_say_what_they_are(shard: tuple[int, int], tmp_path: object) -> None:
    plan = {"topology": "torus-4x4", "workload": "ring", "grid": {"seed": "1..=3"}}
    with pytest.raises((TypeError, ValueError), match="`shard` is"):
        hayase.sweep(plan, f"{tmp_path}/out", shard=shard)


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
@pytest.mark.parametrize(
    "work",
    [
        "hayase.run('fat-tree-3456', 'all-to-all-simple-spread', placement='random')",
        "hayase.run('fat-tree-250', 'all-to-all-simple-spread', placement='random', seeds=5000)",
        "hayase.compare('fat-tree-250', 'all-to-all-simple-spread', placement='random', seeds=5000)",
        "hayase.sweep({'topology': 'fat-tree-250', 'workload': 'all-to-all-simple-spread', "
        "'grid': {'seed': '1..=5000'}}, tempfile.mkdtemp())",
    ],
)
def test_ctrl_c_is_heard_within_a_fifth_of_a_second(work: str) -> None:
    code = (
        "import hayase, os, signal, tempfile, threading, time\n"
        "def interrupt():\n"
        "    time.sleep(1.5); sent.append(time.monotonic()); os.kill(os.getpid(), signal.SIGINT)\n"
        "sent = []\n"
        "threading.Thread(target=interrupt).start()\n"
        "try:\n"
        f"    {work}\n"
        "except KeyboardInterrupt:\n"
        "    print(time.monotonic() - sent[0])\n"
    )
    # The best of several: other programs may occupy the processor when the signal arrives.
    late: list[float] = []
    while not late or (late[-1] >= 0.2 and len(late) < 3):
        late.append(float(run(code).stdout))
    assert min(late) < 0.2, late
