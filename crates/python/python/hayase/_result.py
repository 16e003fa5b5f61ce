"""What came of a run."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from hayase import _hayase

if TYPE_CHECKING:
    from hayase._scenario import Scenario


class Result:
    """What came of a run: figures, the report as the program writes it, and what was recorded."""

    def __init__(self, played: _hayase.Played, scenario: Scenario | None) -> None:
        self._played = played
        #: The scenario that was run.
        self.scenario = scenario

    @property
    def makespan(self) -> float:
        """When the last message arrived, or the last rank ended [s]."""
        return self._played.makespan

    @property
    def fingerprint(self) -> str:
        """A number that differs where anything happened at another time."""
        return self._played.fingerprint

    @functools.cached_property
    def report(self) -> dict[str, Any]:
        """The report, as `hayase run --format json` prints it."""
        return json.loads(self._played.report_json)

    def __getitem__(self, key: str) -> Any:
        return self.report[key]

    @property
    def messages(self) -> _hayase.Table:
        """Every message: who sent it to whom, when, and when it arrived."""
        if (table := self._played.messages) is None:
            raise AttributeError("the messages of this run were not recorded: run it with messages=True")
        return table
