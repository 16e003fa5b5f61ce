"""Scenarios: work and the machine it runs on, given by names, tables and arrays."""

from __future__ import annotations

import copy
import difflib
import json
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hayase import _arrays, _hayase
from hayase._faces import PatternFace, TopologyFace, attached
from hayase._result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from hayase._settings import PatternLike, Settings, TopologyLike

#: Values of `progress`: `None`, a bar (`True`), or a function of simulated seconds, finished part and total.
Progress: TypeAlias = "bool | Callable[[float, int, int], object] | None"

#: Keys of a scenario that are settings of the same name, with `_` for `-`.
TABLES = (
    "seed",
    "ranks_per_node",
    "resolution",
    "symmetry",
    "link",
    "routing",
    "placement",
    "sharing",
    "transport",
    "node",
    "collectives",
    "estimate",
)
#: Settings that stand for keys of the workload.
OF_WORK = ("size", "size_of", "injection", "order", "jitter", "barrier_cost")
#: Settings that stand for several keys, or for texts of their own.
OTHERS = ("preset", "machine", *OF_WORK, "optimum", "jobs", "noise", "straggler", "faults", "settings")
#: Tables that can be recorded in addition to the report.
RECORDED = ("messages", "links", "ranks", "activities", "path")


class Part:
    """Part of a scenario: a name, a path or a table, with the files in memory that it names."""

    def __init__(
        self,
        spec: str | os.PathLike[str] | Mapping[str, Any],
        files: Mapping[str, bytes] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        if isinstance(spec, Mapping):
            self.spec: str | dict[str, Any] = copy.deepcopy(dict(spec))
        elif isinstance(spec, (str, os.PathLike)):
            self.spec = os.fspath(spec)
        else:
            raise TypeError(
                f"a {type(self).__name__.lower()} is a name, a path, a dict or a hayase.{type(self).__name__},"
                f" not {type(spec).__name__}"
            )
        #: Files that the table names, by name.
        self.files: dict[str, bytes] = dict(files or {})
        #: Name in comparisons.
        self.name = name

    def __repr__(self) -> str:
        return f"hayase.{type(self).__name__}({self.spec!r})"

    def put_into(self, files: dict[str, bytes]) -> str | dict[str, Any]:
        """Adds the files of this part to `files`, and returns the part with their names there."""
        spec = self.spec
        for name, content in self.files.items():
            found = unused(name, content, files)
            files[found] = content
            spec = renamed(spec, name, found)
        return spec


def unused(name: str, content: bytes, files: Mapping[str, bytes]) -> str:
    """Returns a free name for a file: its own, or with a number if another file has that name."""
    stem, dot, ending = name.rpartition(".")
    found, number = name, 1
    while files.get(found, content) != content:
        number += 1
        found = f"{stem}-{number}{dot}{ending}" if dot else f"{name}-{number}"
    return found


def renamed(value: Any, old: str, new: str) -> Any:
    """Replaces every value that equals `old` by `new`, in dicts and lists too."""
    if isinstance(value, dict):
        return {key: renamed(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [renamed(each, old, new) for each in value]
    return new if value == old and isinstance(value, str) else value


class Topology(TopologyFace, Part):
    """Fabric: a shipped name (`"fat-tree-54"`), a family with its keys (`"torus:dims=[4,4],bandwidth=1 GB/s"`), the
    path of a file, or a table (`{"torus": {"dims": [4, 4], "bandwidth": 1e9}}`)."""


class Pattern(PatternFace, Part):
    """Workload: a shipped name (`"all-to-all-pairwise"`), a program by rule, the path of a file or a trace, or a table
    (`{"all-to-all": {"algorithm": "pairwise", "size": 20_000}}`)."""


def plain(value: Any) -> Any:
    """Converts values that JSON does not have: arrays and numbers of numpy, paths."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if (tolist := getattr(value, "tolist", None)) is not None:
        return tolist()
    raise TypeError(f"a number, a text, a list or a dict is expected, not {type(value).__name__}: {value!r}")


def as_json(value: Any) -> str:
    """Returns the value as JSON; refuses nan and inf."""
    return json.dumps(value, default=plain, allow_nan=False)


def part_of(kind: type[Part], said: Any) -> Part:
    """Converts an argument to a topology or a pattern."""
    if isinstance(said, Part):
        if not isinstance(said, kind):
            raise TypeError(f"a hayase.{kind.__name__} is expected, not a hayase.{type(said).__name__}")
        return said
    if kind is Pattern and (_arrays.is_array(said) or _arrays.is_columns(said)):
        _arrays.refuse_matrix(said)
        return Pattern.from_messages(said)
    return kind(said)


class Routing(Part):
    """Routing rule: a name, or a table (`{"paths": {"file": "paths.csv"}}`)."""

    @classmethod
    def from_paths(cls, rows: Iterable[tuple[Any, ...]]) -> Routing:
        """Creates routes from a table: rows of source, destination and path, or source, destination, weight and path.

        rows: a source or destination is the number of a node, or the name of a switch, which stands for all its nodes.
            A path is a list of the names of nodes and switches from source to destination. If a pair has several
            paths, each message is divided among them by weight.

        >>> ring = [(a, b, [f"node {a}", "L1.0", f"node {b}"]) for a in range(4) for b in range(4) if a != b]
        >>> run({"crossbar": {"nodes": 4, "bandwidth": 1e9}}, "ring", routing=Routing.from_paths(ring)).makespan
        2e-05
        """
        import csv
        import io

        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("src", "dst", "weight", "path"))
        for row in rows:
            if len(row) not in (3, 4):
                raise ValueError(f"a route is (source, destination, path) or has a weight before its path, unlike {row!r}")
            path = row[-1] if isinstance(row[-1], str) else " -> ".join(map(str, row[-1]))
            writer.writerow((row[0], row[1], row[2] if len(row) == 4 else "", path))
        name, content = attached("paths", "csv", file.getvalue())
        return cls({"paths": {"file": name}}, {name: content})


def unknown(key: str, known: Iterable[str]) -> TypeError:
    """Returns the exception for an unknown setting."""
    known = list(known)
    near = difflib.get_close_matches(key, known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
    return TypeError(f"there is no setting {key!r}{hint}")


def counted(name: str, value: Any, least: int, most: int = 2**64 - 1) -> int:
    """Returns a whole number after checking its limits."""
    number = operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else None
    if number is None:
        raise TypeError(f"`{name}` is a whole number, not {type(value).__name__}: {value!r}")
    if not least <= number <= most:
        raise ValueError(f"`{name}` is a whole number from {least} {'on' if most >= 2**32 else f'to {most}'}, unlike {number}")
    return number


class Scenario:
    """Scenario: work and the machine it runs on. It is read and checked when it is first used, and kept.

    >>> scenario = Scenario("torus-4x4", "all-to-all-pairwise", size="20 KB")
    >>> scenario.run().makespan > 0
    True
    """

    def __init__(
        self, topology: TopologyLike | None = None, pattern: PatternLike | None = None, **settings: Unpack[Settings]
    ) -> None:
        self._said: dict[str, Any] = {}
        self._files: dict[str, bytes] = {}
        self._built: _hayase.Texts | None = None
        self._take(topology, pattern, cast("dict[str, Any]", settings))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **settings: Unpack[Settings]) -> Scenario:
        """Creates the scenario of a file (TOML, or a JSON report); settings override its keys."""
        scenario = cls(None, None, **settings)
        scenario._said["file"] = os.fspath(path)
        return scenario

    @classmethod
    def from_toml(cls, text: str, **settings: Unpack[Settings]) -> Scenario:
        """Creates the scenario of a TOML text; paths in it are relative to the working directory."""
        scenario = cls(None, None, **settings)
        scenario._said["text"] = ["scenario", text]
        return scenario

    @classmethod
    def from_report(cls, report: Mapping[str, Any] | str, **settings: Unpack[Settings]) -> Scenario:
        """Creates the scenario of a report, to run it again."""
        scenario = cls(None, None, **settings)
        scenario._said["report"] = report if isinstance(report, str) else as_json(dict(report))
        return scenario

    def _take(self, topology: Any, pattern: Any, settings: dict[str, Any]) -> None:
        tables: dict[str, Any] = {}
        for key, kind, said in (("topology", Topology, topology), ("workload", Pattern, pattern)):
            if said is not None:
                tables[key] = part_of(kind, said).put_into(self._files)
        for key, value in settings.items():
            if value is None:
                continue
            value = self._unpacked(key, value)
            if key in TABLES:
                tables[key.replace("_", "-")] = value
            elif key in OTHERS:
                self._option(key, value, tables)
            else:
                raise unknown(key, [*TABLES, *OTHERS])
        self._said["settings"] = tables

    def _unpacked(self, key: str, value: Any) -> Any:
        """Replaces parts and arrays in a setting: notes their files, and converts placements and messages to tables."""
        if isinstance(value, Part):
            return value.put_into(self._files)
        if isinstance(value, Mapping):
            return {str(name): self._unpacked(str(name), each) for name, each in value.items()}
        if key == "placement" and _arrays.is_array(value):
            return _arrays.placement(value)
        if key == "workload" and _arrays.is_array(value):
            return self._unpacked(key, Pattern.from_messages(value))
        if isinstance(value, (list, tuple)):
            return [self._unpacked("", each) for each in value]
        # The content of an array may change later, so it is copied.
        return value.tolist() if hasattr(value, "tolist") else value

    def _option(self, key: str, value: Any, tables: dict[str, Any]) -> None:
        if key == "settings":
            if not isinstance(value, Mapping):
                raise TypeError("`settings` is a dict of dotted keys: {'topology.torus.bandwidth': '1 GB/s'}")
            self._said["set"] = [[name, plainly(setting)] for name, setting in value.items()]
        elif key in ("jobs", "straggler"):
            several = [value] if isinstance(value, (str, Mapping)) else list(value)
            texts, listed = ("jobs", "job") if key == "jobs" else ("stragglers", "straggler")
            self._said[texts] = [one for one in several if isinstance(one, str)]
            if rest := [dict(one) for one in several if not isinstance(one, str)]:
                tables[listed] = rest
        elif key in ("noise", "faults") and isinstance(value, Mapping):
            tables[key] = value
        elif key == "faults" and isinstance(value, (int, float)) and not isinstance(value, bool):
            self._said[key] = failing(value)
        elif key == "faults" and isinstance(value, (list, tuple)):
            tables[key] = {"links": list(value)}
        elif key == "machine" and isinstance(value, Mapping):
            tables.update(value if "node" in value else {"node": value})
        elif key in ("preset", "machine"):
            self._said[key] = os.fspath(value)
        elif key == "optimum":
            # As `--optimum` without a value.
            tables |= {} if value is False else {key: "1%" if value is True else value}
        elif key in ("noise", "faults", "injection", "order") and not isinstance(value, str):
            raise TypeError(
                f"`{key}` is a text{dict(noise=' or a dict', faults=', a number or a dict').get(key, '')},"
                f" not {type(value).__name__}"
            )
        else:
            self._said[key] = value

    def _texts(self) -> _hayase.Texts:
        if self._built is None:
            self._built = _hayase.Texts(as_json(self._said), list(self._files.items()))
        return self._built

    def __getstate__(self) -> dict[str, Any]:
        return {"_said": self._said, "_files": self._files, "_built": None}

    def __repr__(self) -> str:
        tables = self._said["settings"]
        return f"hayase.Scenario({', '.join(f'{key}={value!r}' for key, value in tables.items())})"

    def check(self) -> str:
        """Checks the scenario and describes it in one line, as `hayase check` does.

        >>> Scenario("torus-4x4", "ring").check()
        'torus 4x4 (16 nodes, 16 switches, 96 links), ring, 20 KB, 16 messages, 320 KB, 1 step, injection queue'

        Raises:
            ScenarioError: the scenario is wrong; it lists all mistakes.
        """
        return self._texts().check()

    def to_dict(self) -> dict[str, Any]:
        """Returns the scenario with all defaults filled in, as in reports."""
        return dict(json.loads(self._texts().to_json()))

    def to_toml(self) -> str:
        """Returns the scenario with all defaults filled in, as the text of a scenario file."""
        return _hayase.toml(self._texts().to_json())

    def run(
        self,
        *,
        messages: bool = False,
        links: bool = False,
        ranks: bool = False,
        activities: bool = False,
        path: bool = False,
        seeds: int = 1,
        progress: Progress = None,
        threads: int | None = None,
    ) -> Result:
        """Runs the scenario. The first arguments select the tables that are recorded in addition to the report.

        Raises:
            ScenarioError: the scenario is wrong; it lists all mistakes.
            Deadlock: the run does not end.
        """
        from hayase._progress import told

        asked = dict(messages=messages, links=links, ranks=ranks, activities=activities, path=path)
        tables = [name for name, wanted in asked.items() if wanted]
        counted("seeds", seeds, 1)
        if threads is not None:
            counted("threads", threads, 1)
        with told(progress, "messages") as tell:
            played = self._texts().run(tables, seeds=seeds, progress=tell, threads=threads)
        return Result(played, self, seeds)


def failing(part: float) -> str:
    """Formats a fraction of failing links for the program.

    >>> failing(0.01)
    '1 %'
    """
    if not 0 <= part <= 1:
        raise ValueError(f"a part of the links that fails is a number from 0 to 1, or a text, unlike {part}")
    return f"{100 * part:.15g} %"


def plainly(value: Any) -> Any:
    """Returns the value of a dotted key as plain JSON; texts are written as in `--set`."""
    return value if isinstance(value, (str, bool, int, float)) else json.loads(as_json(value))


def run_many(
    scenarios: Iterable[Scenario | Mapping[str, Any]],
    *,
    messages: bool = False,
    links: bool = False,
    ranks: bool = False,
    activities: bool = False,
    path: bool = False,
    return_exceptions: bool = False,
    progress: Progress = None,
    threads: int | None = None,
) -> list[Result]:
    """Runs scenarios, as many at once as there are cores; returns their results in the same order.

    scenarios: `Scenario`s, or dicts of the arguments of `run`.
    return_exceptions: return the exception of a failed scenario in its place; else raise the first one after all have
        ended.

    >>> few = [dict(topology="torus-4x4", pattern="ring", size=size) for size in (1000, 2000)]
    >>> [result.makespan for result in run_many(few)]
    [1e-06, 2e-06]
    """
    from hayase._progress import told

    asked = dict(messages=messages, links=links, ranks=ranks, activities=activities, path=path)
    listed = [each if isinstance(each, Scenario) else Scenario(**each) for each in scenarios]
    if threads is not None:
        counted("threads", threads, 1)
    with told(progress, "runs") as tell:
        played = _hayase.run_many(
            [scenario._texts() for scenario in listed],
            [name for name, wanted in asked.items() if wanted],
            progress=tell,
            threads=threads,
        )
    results: list[Any] = []
    for scenario, each in zip(listed, played):
        if isinstance(each, BaseException) and not return_exceptions:
            raise each
        results.append(each if isinstance(each, BaseException) else Result(each, scenario))
    return results


def run(
    topology: TopologyLike | None = None,
    pattern: PatternLike | None = None,
    *,
    messages: bool = False,
    links: bool = False,
    ranks: bool = False,
    activities: bool = False,
    path: bool = False,
    seeds: int = 1,
    progress: Progress = None,
    threads: int | None = None,
    **settings: Unpack[Settings],
) -> Result:
    """Runs a pattern, a program, a farm or jobs on a fabric.

    Settings are the keys of a scenario, with `_` for `-`; numbers are seconds, bytes and bytes per second, texts have
    their units.

    >>> run("torus-4x4", "ring", size=20_000).makespan
    2e-05
    """
    return Scenario(topology, pattern, **settings).run(
        messages=messages,
        links=links,
        ranks=ranks,
        activities=activities,
        path=path,
        seeds=seeds,
        progress=progress,
        threads=threads,
    )
