"""Types: of the package, of typical use, of mistakes that a type checker finds; words equal those of the schema."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import hayase
from hayase import _settings

HERE = Path(__file__).resolve().parent
PACKAGE = Path(hayase.__file__).parent


def mypy(*files: Path, cache: Path) -> list[str]:
    pytest.importorskip("mypy")
    # mypy finds an installed package by itself and needs no path.
    installed = "site-packages" in PACKAGE.parts
    environment = os.environ if installed else {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--no-error-summary",
            "--cache-dir",
            str(cache),
            "--config-file",
            str(HERE / "typing/mypy.ini"),
            *[str(file) for file in files if file != PACKAGE],
            *(["-p", "hayase"] if PACKAGE in files else []),
        ],
        capture_output=True,
        text=True,
        env=environment,
        cwd=cache,
    )
    assert ran.returncode in (0, 1), ran.stderr
    return ran.stdout.splitlines()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def test_the_package_is_typed(cache):
    assert mypy(PACKAGE, cache=cache) == []


def test_typical_use_is_typed(cache):
    assert mypy(HERE / "typing/use.py", cache=cache) == []


def test_mistakes_are_found_and_nothing_else(cache):
    marked = [
        number
        for number, line in enumerate((HERE / "typing/wrong.py").read_text().splitlines(), 1)
        if line.endswith("# wrong")
    ]
    found = [
        int(match[1])
        for line in mypy(HERE / "typing/wrong.py", cache=cache)
        if (match := re.search(r"wrong\.py:(\d+): error", line))
    ]
    assert sorted(set(found)) == marked


def test_everything_public_is_documented():
    for name in hayase.__all__:
        if name != "__version__":
            assert getattr(hayase, name).__doc__, name


def test_the_words_are_those_of_the_schema():
    checkout = HERE.parents[2] / "src/scenario/schema.json"
    if not checkout.exists():
        pytest.skip("no checkout around the tests")
    schema = json.loads(checkout.read_text())

    def words(part):
        if "$ref" in part:
            return words(schema["$defs"][part["$ref"].rsplit("/", 1)[-1]])
        found = set(part.get("enum", ())) | ({part["const"]} if isinstance(part.get("const"), str) else set())
        for each in part.get("anyOf", []) + part.get("oneOf", []):
            found |= words(each)
        return found

    for key, literal in {
        "sharing": _settings.SharingName,
        "routing": _settings.RoutingName,
        "placement": _settings.PlacementName,
        "node": _settings.NodeName,
    }.items():
        said = words(schema["properties"][key])
        # Files and lists of nodes are placements too, but not names.
        assert set(get_args(literal)) == said - ({"file", "nodes"} if key == "placement" else set()), key
    transports = {word.partition(":")[0] for word in get_args(_settings.TransportName)}
    assert transports == words(schema["properties"]["transport"])


def test_every_key_of_a_scenario_is_a_setting():
    checkout = HERE.parents[2] / "src/scenario/schema.json"
    if not checkout.exists():
        pytest.skip("no checkout around the tests")
    properties = json.loads(checkout.read_text())["properties"]
    keys = {key.replace("-", "_") for key in properties} - {"topology", "workload", "job", "files"}
    assert keys <= set(_settings.Settings.__annotations__)
