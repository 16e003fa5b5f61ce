"""The program `hayase` in the wheel equals that of cargo: commands, exit codes, signals, streams, children."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "hayase"]
#: Run that takes seconds in any build, and checks for Ctrl-C.
LONG = ["run", "-t", "fat-tree-3456", "-p", "all-to-all-simple-spread", "--placement", "random"]


def hayase(*words: str, **how: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*PROGRAM, *words], capture_output=True, text=True, timeout=300, **how)  # type: ignore[call-overload]


def test_exit_codes_are_those_of_the_program(tmp_path: Path) -> None:
    done = hayase("run", "-t", "torus-4x4", "-p", "ring", "-o", "report.json", cwd=tmp_path)
    assert done.returncode == 0 and "makespan" in done.stdout
    assert '"fingerprint"' in (tmp_path / "report.json").read_text()
    assert hayase("--version").stdout.startswith("hayase ")
    usage = hayase("run", "--no-such-option")
    assert usage.returncode == 2 and "Usage: hayase run" in usage.stderr
    (tmp_path / "bad.toml").write_text('topology = "torus-4x4"\n[workload.all-to-all]\nalgorithm = "simple-sprad"\n')
    wrong = hayase("check", "bad.toml", cwd=tmp_path)
    assert wrong.returncode == 2 and "bad.toml:3:13" in wrong.stderr
    cut = hayase("run", "-t", "torus-4x4", "-p", "ring", "--faults", "node 0 <-> (0,0)")
    assert cut.returncode == 3, cut.stderr


def test_the_program_imports_nothing_but_itself() -> None:
    code = (
        "import sys; from hayase.__main__ import main; sys.argv[1:] = ['--version']; main()\n"
        "heavy = {'numpy', 'pandas', 'asyncio', 'dataclasses', 'inspect', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(str(sorted(heavy)) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def interruptible() -> None:
    """Enables Ctrl-C in a new process: a shell that runs the tests in the background ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(words: list[str], folder: Path) -> "subprocess.Popen[str]":
    running = subprocess.Popen(
        [*PROGRAM, *words, "--progress", "always"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible if os.name == "posix" else None,
    )
    assert running.stderr is not None
    # The first line of progress shows that the run is under way.
    assert running.stderr.readline()
    return running


def test_ctrl_c_reports_what_has_happened(tmp_path: Path) -> None:
    running = started([*LONG, "-o", "report.json"], tmp_path)
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    _, error = running.communicate(timeout=120)
    assert running.returncode == 130, error
    assert "stopping" in error and "Traceback" not in error
    assert '"interrupted"' in (tmp_path / "report.json").read_text()
    assert time.monotonic() - began < 60


def test_ctrl_c_ends_what_does_not_listen() -> None:
    # Before a command handles the signal, it ends the process without a traceback of Python.
    code = (
        "import hayase._hayase as inner, os, signal, sys\n"
        "inner.main = None\n"
        "import hayase.__main__ as program\n"
        "class Sends:\n"
        "    def main(words, again): os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.modules['hayase._hayase'] = Sends\n"
        "program.main()"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=interruptible)
    assert done.returncode == -signal.SIGINT and done.stderr == ""


def test_nobody_reads_to_the_end() -> None:
    running = subprocess.Popen([*PROGRAM, "topology", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None and running.stderr is not None
    running.stdout.close()
    assert running.wait(60) == 0 and running.stderr.read() == b""


@pytest.mark.skipif(os.name != "posix", reason="closed streams are those of a shell")
def test_closed_streams_are_not_those_of_files(tmp_path: Path) -> None:
    words = " ".join(f"'{word}'" for word in [*PROGRAM, "run", "-t", "torus-4x4", "-p", "ring", "-o", "report.json"])
    done = subprocess.run(["sh", "-c", f"{words} <&- >&- 2>&-"], cwd=tmp_path)
    text = (tmp_path / "report.json").read_text()
    assert done.returncode == 0 and text.startswith("{") and "makespan " not in text


def test_names_of_files_may_be_any_bytes(tmp_path: Path) -> None:
    name = os.fsdecode(b"na\xefve \xff.json")
    done = subprocess.run([*PROGRAM, "run", "-t", "torus-4x4", "-p", "ring", "-o", name], cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / name).exists()


def test_scripts_for_clusters_start_it_again(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('topology = "torus-4x4"\nworkload = "ring"\n[grid]\nsize = ["1 KB", "2 KB"]\n')
    assert hayase("sweep", "plan.toml", "-o", "out", "--submit", "slurm", cwd=tmp_path).returncode == 0
    script = (tmp_path / "out" / "submit.slurm").read_text()
    assert f"exec {sys.executable} -m hayase sweep plan.toml" in script
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "submit").write_text(script)
    run = subprocess.run(["sh", "submit"], cwd=tmp_path, env=os.environ | {"SLURM_ARRAY_TASK_ID": "0"})
    assert run.returncode == 0
    assert "missing    0" in hayase("sweep", "plan.toml", "-o", "out", "--count", cwd=tmp_path).stdout


def test_it_runs_itself_to_measure(tmp_path: Path) -> None:
    done = hayase("bench", "fat-tree-54/random/max-min", "--quick", "--repeats", "1", "--csv", cwd=tmp_path)
    assert done.returncode == 0 and "fat-tree-54/random/max-min" in done.stdout, done.stderr


@pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="there is no Open MPI")
def test_launchers_of_mpi_start_it(tmp_path: Path) -> None:
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = ["measure", "communication", "--seconds", "1", "--largest", "4KiB", "--format", "json", "--"]
    done = hayase(*words, "mpirun.openmpi", "-np", "2", "--oversubscribe", env=os.environ | allowed, cwd=tmp_path)
    assert done.returncode == 0 and '"times"' in done.stdout, done.stderr


@pytest.mark.skipif(shutil.which("mpicc.openmpi") is None, reason="there is no Open MPI")
def test_programs_are_recorded_by_the_recorder_that_it_carries(tmp_path: Path) -> None:
    source = '#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n'
    (tmp_path / "barrier.c").write_text(source)
    subprocess.run(["mpicc.openmpi", "-g", "barrier.c", "-o", "barrier"], cwd=tmp_path, check=True)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = ["record", "-o", "run", "--", "mpirun.openmpi", "-np", "2", "--oversubscribe", "./barrier"]
    done = hayase(*words, env=os.environ | allowed, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "barrier.c" in hayase("trace", "sites", "run", cwd=tmp_path).stdout
