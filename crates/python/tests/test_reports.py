"""The types of reports match the library."""

import subprocess
import sys
from pathlib import Path

import hayase
from hayase import reports

HERE = Path(__file__).parents[1]


def test_the_types_are_what_the_schema_says() -> None:
    subprocess.run([sys.executable, str(HERE / "reports.py"), "--check"], check=True)


def test_reports_have_the_keys_of_their_types() -> None:
    for result, kind in (
        (hayase.run("torus-4x4", "all-to-all-pairwise"), reports.Report),
        (hayase.replay("gaussian-elimination:n=64", "myrinet"), reports.ReplayReport),
        (hayase.run("fat-tree-54", jobs=["a=ring:8", "b=ring:8"]), reports.JobsReport),
        (hayase.master_slave({"constant": {"count": 8, "time": 1e-3}}, workers=2), reports.FarmReport),
        (hayase.schedule("all-gather", "torus-4x4"), reports.ScheduleReport),
        (hayase.llm("gpt-3-175b", machine="a100-8x200g", search=True), reports.TrainingReport),
        (hayase.nccl("all-reduce", ranks=8, nodes=1, size="1MiB", machine="h100-8x400g"), reports.NcclReport),
    ):
        known = kind.__annotations__
        assert set(result.report) <= set(known)
        needed = {key for key, said in known.items() if "NotRequired" not in str(said)}
        assert needed <= set(result.report)
