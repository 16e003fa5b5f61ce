from collections.abc import Callable
from typing import Any

__version__: str

def main(words: list[str], program: list[str]) -> int: ...

class ScenarioError(ValueError):
    mistakes: list[tuple[str, str, str | None, str | None, int | None, int | None]]

class Deadlock(RuntimeError): ...

class Table:
    columns: list[str]
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Any: ...

class Played:
    makespan: float
    fingerprint: str
    report_json: str
    messages: Table | None

class Texts:
    def __init__(self, said: str, files: list[tuple[str, bytes]]) -> None: ...
    def run(
        self,
        *,
        messages: bool = ...,
        links: bool = ...,
        ranks: bool = ...,
        progress: Callable[[float, int, int], object] | None = ...,
        threads: int | None = ...,
    ) -> Played: ...
