"""Scenarios: what runs on what, said by names, tables and arrays, and run."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hayase import _hayase
from hayase._result import Result

#: What `progress` may be: nothing, a bar, or a function of simulated seconds, messages delivered and messages in all.
Progress = bool | Callable[[float, int, int], object] | None

#: Keys of a scenario, and what stands for several of them.
TABLES = (
    "seed",
    "resolution",
    "link",
    "routing",
    "placement",
    "sharing",
    "transport",
    "node",
    "collectives",
)
#: Settings that are no key of a scenario by themselves.
OTHERS = ("preset", "machine", "size", "injection", "jitter", "jobs", "noise", "straggler", "faults", "settings")


class Part:
    """A part of a scenario: a name or a table, with the files in memory that it names."""

    def __init__(self, spec: str | Mapping[str, Any], files: Mapping[str, bytes] | None = None) -> None:
        self.spec: str | dict[str, Any] = spec if isinstance(spec, str) else dict(spec)
        self.files: dict[str, bytes] = dict(files or {})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.spec!r})"


class Topology(Part):
    """A fabric: a shipped name (`"fat-tree-54"`, `"torus-4x4"`), the path of a file, or a table
    (`{"torus": {"dims": [4, 4], "bandwidth": 1e9}}`)."""


class Pattern(Part):
    """A workload: a shipped name (`"all-to-all-pairwise"`), the path of a file, or a table
    (`{"all-to-all": {"algorithm": "pairwise", "size": 20_000}}`)."""


def plain(value: Any) -> Any:
    """What JSON has no word for, as what it has: arrays and numbers of numpy, paths, tuples."""
    if isinstance(value, Path):
        return str(value)
    tolist = getattr(value, "tolist", None)
    if tolist is not None:
        return tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        raise TypeError(f"a list is expected, not a set: {value!r}")
    raise TypeError(f"a number, a text, a list or a dict is expected, not {type(value).__name__}")


def as_part(kind: type[Part], said: Any) -> Part:
    """What was given as a topology or a pattern, as one."""
    if isinstance(said, Part):
        if not isinstance(said, kind):
            raise TypeError(f"a {kind.__name__} is expected, not a {type(said).__name__}")
        return said
    if isinstance(said, Path):
        return kind(str(said))
    if isinstance(said, (str, Mapping)):
        return kind(said)
    raise TypeError(
        f"a {kind.__name__.lower()} is a name, a path, a dict or a hayase.{kind.__name__}, not {type(said).__name__}"
    )


class Scenario:
    """What runs on what; nothing is read or checked before that is asked for.

    >>> Scenario("torus-4x4", "all-to-all-pairwise", size="20 KB").run().makespan > 0
    True
    """

    def __init__(self, topology: Any = None, pattern: Any = None, **settings: Any) -> None:
        self._said: dict[str, Any] = {}
        self._files: dict[str, bytes] = {}
        self._built: _hayase.Texts | None = None
        self._take(topology, pattern, settings)

    def _take(self, topology: Any, pattern: Any, settings: dict[str, Any]) -> None:
        tables: dict[str, Any] = {}
        for key, kind, said in (("topology", Topology, topology), ("workload", Pattern, pattern)):
            if said is not None:
                part = as_part(kind, said)
                tables[key] = part.spec
                self._files.update(part.files)
        for key, value in settings.items():
            if value is None:
                continue
            if key in TABLES:
                if isinstance(value, Part):
                    self._files.update(value.files)
                    value = value.spec
                tables[key] = value
            elif key in OTHERS:
                self._option(key, value, tables)
            else:
                known = [*TABLES, *OTHERS]
                near = difflib.get_close_matches(key, known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
                raise TypeError(f"there is no setting {key!r}{hint}")
        self._said["settings"] = tables

    def _option(self, key: str, value: Any, tables: dict[str, Any]) -> None:
        if key == "settings":
            self._said["set"] = list(dict(value).items())
        elif key == "jobs":
            jobs = [value] if isinstance(value, (str, Mapping)) else list(value)
            self._said["jobs"] = [job for job in jobs if isinstance(job, str)]
            if listed := [job for job in jobs if not isinstance(job, str)]:
                tables["job"] = listed
        elif key == "straggler":
            slow = [value] if isinstance(value, (str, Mapping)) else list(value)
            self._said["stragglers"] = [one for one in slow if isinstance(one, str)]
            if listed := [one for one in slow if not isinstance(one, str)]:
                tables["straggler"] = listed
        elif key in ("noise", "faults") and isinstance(value, Mapping):
            tables[key] = value
        else:
            self._said[key] = value

    def _texts(self) -> _hayase.Texts:
        if self._built is None:
            said = json.dumps(self._said, default=plain, allow_nan=False)
            self._built = _hayase.Texts(said, list(self._files.items()))
        return self._built

    def run(
        self,
        *,
        messages: bool = False,
        links: bool = False,
        ranks: bool = False,
        progress: Progress = None,
        threads: int | None = None,
    ) -> Result:
        """Runs it; what is to be recorded beside the report is asked for here."""
        tell = progress if callable(progress) else None
        played = self._texts().run(messages=messages, links=links, ranks=ranks, progress=tell, threads=threads)
        return Result(played, self)


def run(
    topology: Any,
    pattern: Any = None,
    *,
    messages: bool = False,
    links: bool = False,
    ranks: bool = False,
    progress: Progress = None,
    threads: int | None = None,
    **settings: Any,
) -> Result:
    """Runs a pattern on a fabric.

    >>> run("torus-4x4", "all-to-all-pairwise").makespan > 0
    True
    """
    scenario = Scenario(topology, pattern, **settings)
    return scenario.run(messages=messages, links=links, ranks=ranks, progress=progress, threads=threads)
