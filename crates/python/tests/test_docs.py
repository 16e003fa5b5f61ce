"""What docs/python.md shows works as it stands there, line after line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs/python.md"


def test_the_page_works_as_it_stands(tmp_path, monkeypatch):
    if not PAGE.exists():
        pytest.skip("no checkout around the tests")
    for needed in ("matplotlib", "networkx", "pandas"):
        pytest.importorskip(needed)
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    blocks = [
        (text.count("\n", 0, match.start()) + 2, match[1])
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]
    assert len(blocks) >= 6
    names: dict[str, object] = {}
    for line, block in blocks:
        # The lines of a block are those of the page.
        exec(compile("\n" * (line - 1) + block, str(PAGE), "exec"), names)
    assert (tmp_path / "report.json").exists()
