"""Progress bars in terminals and notebooks, by tqdm where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: What is told of how far a run is: simulated seconds, what is done, of how many.
Tell = Callable[[float, int, int], object]


@contextmanager
def told(progress: bool | Tell | None, unit: str = "messages", what: str = "hayase") -> Iterator[Tell | None]:
    """Whom to tell how far a run is: the function that was given, a bar where ``True`` was, or nobody.

    Without tqdm there is no bar, and no mistake either. The bar goes when the run ends, whatever ends it.
    """
    if progress is None or progress is False:
        yield None
    elif progress is not True:
        if not callable(progress):
            raise TypeError(f"progress is True, None or a function of three numbers, not {type(progress).__name__}")
        yield progress
    else:
        bar = _bar(unit, what)
        if bar is None:
            yield None
            return
        try:
            yield _Shown(bar)
        finally:
            bar.close()


class _Shown:
    """Tells a bar."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __call__(self, now: float, done: int, total: int) -> None:
        bar = self._bar
        if total and bar.total != total:
            bar.total = total
        if now:
            from ._units import show

            bar.set_postfix_str(f"simulated {show(now, digits=3)}", refresh=False)
        bar.n = done
        bar.refresh()


def _bar(unit: str, what: str) -> Any | None:
    import warnings

    with warnings.catch_warnings():
        # What tqdm says of itself in notebooks without widgets is of no use to who asked for a simulation.
        warnings.simplefilter("ignore")
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm(total=None, unit=f" {unit}", desc=what, unit_scale=True, leave=False, mininterval=0.1)
