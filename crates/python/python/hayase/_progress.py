"""Progress: whom to tell how far something is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

Tell = Callable[[float, int, int], object]


@contextlib.contextmanager
def told(progress: bool | Tell | None, unit: str) -> Iterator[Tell | None]:
    """What to call with simulated seconds, what is done, and of how much."""
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        if not callable(progress):
            raise TypeError(f"`progress` is True, None or a function, not {type(progress).__name__}")
        yield progress
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    bar: Any = tqdm(unit=f" {unit}", unit_scale=True, leave=False)

    def tell(_now: float, done: int, total: int) -> None:
        bar.total = total or None
        bar.update(done - bar.n)

    try:
        yield tell
    finally:
        bar.close()
