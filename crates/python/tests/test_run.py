"""Runs from Python equal those of the program."""

import threading

import numpy
import pytest

import hayase


def test_a_run_has_a_makespan_and_a_report() -> None:
    result = hayase.run("torus-4x4", "all-to-all-pairwise", size=20_000)
    assert result.makespan == result["makespan_s"] > 0
    assert result.fingerprint == result.report["fingerprint"]
    assert hayase.run("torus-4x4", "all-to-all-pairwise", size="20 KB").fingerprint == result.fingerprint
    table = {"torus": {"dims": [4, 4], "bandwidth": 1e9}}
    faster = hayase.run({"torus": {"dims": [4, 4], "bandwidth": 2e9}}, "all-to-all-pairwise", size=20_000)
    slower = hayase.run(table, "all-to-all-pairwise", size=20_000)
    assert slower.makespan == pytest.approx(2 * faster.makespan)


def test_mistakes_come_all_at_once_with_their_places() -> None:
    with pytest.raises(hayase.ScenarioError) as caught:
        hayase.run({"torus": {"dims": [4, 4], "bandwith": 1e9}}, "all-to-al-pairwise", sharing="maxmin")
    error = caught.value
    assert isinstance(error, ValueError) and len(error.mistakes) >= 3
    code, message, _help, file, line, column = next(m for m in error.mistakes if m[0] == "unknown-key")
    assert "bandwith" in message and file == "settings" and line > 0 and column > 0
    assert "did you mean" in str(error) and "^^^" in str(error)
    with pytest.raises(TypeError, match="did you mean 'placement'"):
        hayase.run("torus-4x4", "ring", placment="random")


def test_messages_are_seen_without_a_copy() -> None:
    result = hayase.run("torus-4x4", "all-to-all-pairwise", messages=True)
    end = result.messages["end"]
    assert len(end) == 240 == len(result.messages) and end.max() == result.makespan
    assert not end.flags.writeable and not end.flags.owndata
    again = result.messages["end"]
    assert end.__array_interface__["data"] == again.__array_interface__["data"]
    kept = end.copy()
    del result, again
    assert numpy.array_equal(kept, end)
    with pytest.raises(LookupError, match="messages=True"):
        hayase.run("torus-4x4", "all-to-all-pairwise").messages


def test_other_threads_go_on_and_several_run_at_once() -> None:
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(hayase.run("torus-4x4", "all-to-all-pairwise").fingerprint))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and len(set(results)) == 1


def test_dotted_keys_and_presets_are_settings() -> None:
    plain = hayase.run("torus-4x4", "ring").makespan
    for bandwidth in (2e9, 2_000_000_000, "2 GB/s"):
        settings = {"topology.torus.bandwidth": bandwidth}
        assert hayase.run("torus-4x4", "ring", settings=settings).makespan == plain / 2, bandwidth
    assert hayase.run("torus-4x4", "ring", settings={"seed": 4})["scenario"]["seed"] == 4
    with pytest.raises(hayase.ScenarioError, match="no-such"):
        hayase.run("torus-4x4", "ring", preset="no-such")


def test_a_time_as_a_number_is_the_same_as_with_its_unit() -> None:
    with_number = hayase.run("torus-4x4", "ring", jitter=1.5e-6)
    assert with_number.fingerprint == hayase.run("torus-4x4", "ring", jitter="1.5 us").fingerprint
    assert with_number.fingerprint != hayase.run("torus-4x4", "ring").fingerprint
