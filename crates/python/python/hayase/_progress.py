"""Progress bars in terminals and notebooks, by tqdm where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Callback for progress: simulated seconds, finished part, total.
Tell = Callable[[float, int, int], object]


@contextmanager
def told(progress: bool | Tell | None, unit: str = "messages", what: str = "hayase") -> Iterator[Tell | None]:
    """Provides the callback for progress: the given function, a bar for ``True``, or ``None``.

    Without tqdm there is no bar and no error. The bar is removed at the end of the run, even if the run fails.
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
    """Callback that updates a bar."""

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
        # Warnings of tqdm in notebooks without widgets do not help the user of a simulation.
        warnings.simplefilter("ignore")
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm(total=None, unit=f" {unit}", desc=what, unit_scale=True, leave=False, mininterval=0.1)
