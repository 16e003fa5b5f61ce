"""Results of runs, and tables of their records."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hayase import _hayase
from hayase._faces import ReportFace

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

    from hayase._scenario import Scenario


class Table(dict[str, Any]):
    """Table: a dict of columns.

    numpy and all readers of Arrow share the numbers without a copy. Arrays keep the memory alive and are read-only.

    >>> import hayase
    >>> table = hayase.run("torus-4x4", "ring", messages=True).messages
    >>> len(table), table.columns
    (16, ['src', 'dst', 'index', 'bytes', 'start', 'end'])
    >>> float(table["end"].max())
    2e-05
    """

    def __init__(self, table: _hayase.Table, name: str) -> None:
        super().__init__((column, table[column]) for column in table.columns)
        self._table = table
        #: Name of the table: `messages`, `links`, ...
        self.name = name

    @property
    def columns(self) -> list[str]:
        """Names of the columns; times are in seconds, sizes in bytes."""
        return self._table.columns

    def __len__(self) -> int:
        return len(self._table)

    # Equality of tables is identity: that of arrays is no single value.
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __missing__(self, name: str) -> Any:
        return self._table[name]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        """Returns the rows as a structured array, a copy; `pandas.DataFrame(table)` accepts it."""
        import numpy as np

        if copy is False:
            raise ValueError("rows of a table are a copy; its columns are not: table[name]")
        rows = np.empty(len(self), dtype=[(name, column.dtype) for name, column in self.items()])
        for name, column in self.items():
            rows[name] = column
        return rows if dtype is None else rows.astype(dtype)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<hayase.Table of {len(self)} {self.name}: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str | None:
        try:
            html: str = self.to_pandas()._repr_html_()  # type: ignore[operator]
        except ImportError:
            return None
        return html

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the table as a DataFrame on the same memory."""
        import pandas

        return pandas.DataFrame(dict(self), copy=False)

    def to_arrow(self) -> pyarrow.Table:
        """Returns the table as a table of pyarrow on the same memory."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """Returns the table as a DataFrame of polars."""
        import polars

        return polars.DataFrame(self)


class Result(ReportFace, Mapping[str, Any]):
    """Result of a run: figures, the report of the program as a mapping, and recorded tables."""

    def __init__(self, played: _hayase.Played, scenario: Scenario, seeds: int = 1) -> None:
        self._played = played
        self._seeds = seeds
        #: The scenario that was run.
        self.scenario = scenario

    @property
    def makespan(self) -> float:
        """Arrival of the last message, or end of the last rank [s]."""
        return self._played.makespan

    @property
    def fingerprint(self) -> str:
        """Hash of the run; it differs if anything happened at another time."""
        return self._played.fingerprint

    @property
    def kind(self) -> str:
        """Kind of work: `pattern`, `program`, `jobs` or `farm`."""
        return self._played.kind

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """Report, as `hayase run --format json` prints it; `hayase.reports` has its types."""
        return dict(json.loads(self._played.report_json()))

    def __getitem__(self, key: str) -> Any:
        return self.report[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.report)

    def __len__(self) -> int:
        return len(self.report)

    # Equality of results is identity: different runs may have equal results.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<hayase.Result of a {self.kind}: makespan {self.makespan} s, fingerprint {self.fingerprint}>"

    def _repr_html_(self) -> str:
        return self._played.html()

    def _recorded(self, name: str) -> Table:
        if (table := self._played.table(name)) is None:
            raise LookupError(f"the {name} of this run were not recorded: run it with {name}=True")
        return Table(table, name)

    @property
    def messages(self) -> Table:
        """All messages: sender, receiver, size, start and arrival."""
        return self._recorded("messages")

    @property
    def links(self) -> Table:
        """All links: bytes carried and utilisation."""
        return self._recorded("links")

    @property
    def ranks(self) -> Table:
        """All ranks: end, and time by kind of activity."""
        return self._recorded("ranks")

    @property
    def activities(self) -> Table:
        """All activities of ranks, in order of their ends."""
        return self._recorded("activities")

    @property
    def path(self) -> Table:
        """Critical path, step by step."""
        return self._recorded("path")

    @property
    def seeds(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """Columns `seed` and `makespan` [s] of a run with `seeds=`; `interval` is the interval of the mean.

        >>> import hayase
        >>> run = hayase.run("torus-4x4", "all-to-all-pairwise", placement="random", seeds=4)
        >>> run.seeds["seed"].tolist(), run.interval[0] < min(run.interval[1], run.makespan * 2)
        ([1, 2, 3, 4], True)
        """
        import numpy as np

        if not (seeds := self.report.get("seeds")):
            raise LookupError("this run has one seed: run it with seeds=8")
        return {"seed": np.array(seeds["seeds"], np.uint64), "makespan": np.array(seeds["makespans_s"], float)}

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean makespan over seeds [s], by Student's t."""
        from hayase._pictures import half_width

        makespans = self.seeds["makespan"].tolist()
        mean, half = sum(makespans) / len(makespans), half_width(makespans)
        return mean - half, mean + half

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file. Its name selects the content, as with `-o` of `hayase run` (`report.json`, `x.html`,
        `messages.csv`, `links.csv`, `timeline.svg`, ...). The scenario is run again if the report lacks the content."""
        name = os.fspath(path)
        words = ["run", f"--output={name}"]
        if self._seeds > 1:
            words.append(f"--seeds={self._seeds}")
        self.scenario._texts().verb(words)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a result holds memory of its own and cannot be pickled; its report and its scenario can")
