"""Executes the code of docs/guide/python.md; run as a program, this file needs only Hayase."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/guide/python.md"


def play() -> None:
    """Executes the blocks of the page one after the other."""
    text = PAGE.read_text()
    blocks = [
        (text.count("\n", 0, match.start()) + 2, match[1])
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]
    assert len(blocks) >= 6
    names: dict[str, object] = {}
    for line, block in blocks:
        # Blocks keep the line numbers of the page.
        exec(compile("\n" * (line - 1) + block, str(PAGE), "exec"), names)
    assert Path("report.json").exists()


def test_the_page_works_as_it_stands(tmp_path, monkeypatch):
    import pytest

    if not PAGE.exists():
        pytest.skip("no checkout around the tests")
    for needed in ("matplotlib", "networkx", "pandas"):
        pytest.importorskip(needed)
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    play()


if __name__ == "__main__":
    play()
