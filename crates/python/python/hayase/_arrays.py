"""Arrays as tables for the simulator: messages, traffic matrices, placements.

Errors name the row of the array and the expected value. A ``TypeError`` reports a wrong type, a ``ValueError`` a wrong
value or shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hayase import _hayase

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Names of the columns of messages; the first of each is the simulator's.
_NAMES: dict[str, tuple[str, ...]] = {
    "src": ("src", "source"),
    "dst": ("dst", "target", "destination"),
    "bytes": ("bytes", "size"),
    "start": ("start", "start_s"),
}
_EXPECTED = (
    "messages are an array of shape (n, 3): source, destination, bytes; or (n, 4) with the start in seconds; "
    "or a structured array, a DataFrame or a dict of columns with these names"
)
_NUMBERS = "iuf"


def messages(array: object) -> tuple[bytes, bool]:
    """Returns the CSV text of messages to send; true if they have start times.

    >>> print(messages([(0, 1, 20_000), (1, 0, 20_000)])[0].decode(), end="")
    src,dst,bytes
    0,1,20000
    1,0,20000
    """
    columns = _columns(array)
    counts = {name: len(column) for name, column in columns.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"columns of messages have one length, unlike {_listed(f'{n}: {c}' for n, c in counts.items())}"
        )
    if counts["src"] == 0:
        raise ValueError(f"{_EXPECTED}; this one has no message")
    src, dst, size = (
        _whole(columns[name], f"{_NAMES[name][-1] if name != 'bytes' else name} of message")
        for name in ("src", "dst", "bytes")
    )
    if "start" not in columns:
        return _text(src, dst, size), False
    start = _finite(columns["start"], "start of message")
    order, delay = _delays(src, start)
    return _text(src[order], dst[order], size[order], delay), True


def matrix(array: object, order: str = "shift") -> tuple[bytes, int]:
    """Returns the CSV text of the messages of a traffic matrix, and its number of ranks.

    Row i, column j is the number of bytes that rank i sends to rank j; 0 means no message. With ``order="shift"`` rank
    i sends to i + 1 first, then to i + 2 and so on (modulo n), as in a simple spread; with ``"row"`` to 0, 1, 2.

    >>> print(matrix([[0, 5], [7, 0]])[0].decode(), end="")
    src,dst,bytes
    0,1,5
    1,0,7
    """
    import numpy as np

    if order not in ("shift", "row"):
        raise ValueError(f'order is "shift" or "row", unlike {order!r}')
    values = _array(array, "a traffic matrix is an array of shape (n, n): what rank i sends to rank j, in bytes")
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise ValueError(
            f"a traffic matrix has a row and a column for each rank, unlike an array of shape {values.shape}"
        )
    ranks = values.shape[0]
    if ranks == 0:
        raise ValueError("a traffic matrix has at least one rank, unlike an array of shape (0, 0)")
    sizes = _whole(values, "bytes at")
    src, dst = np.nonzero(sizes)
    if len(src) == 0:
        raise ValueError("a traffic matrix has at least one entry above 0")
    if order == "shift":
        by = np.lexsort(((dst - src - 1) % ranks, src))
        src, dst = src[by], dst[by]
    return _text(src, dst, sizes[src, dst]), ranks


def placement(array: object) -> dict[str, Any]:
    """Returns the table of a placement from the node of each rank.

    >>> placement([3, 1, 2])
    {'nodes': {'list': '3,1,2'}}
    """
    import numpy as np

    expected = "a placement is an array of shape (ranks,) of whole numbers: the node of each rank"
    values = _array(array, expected)
    if values.ndim != 1:
        raise ValueError(f"{expected}, unlike one of shape {values.shape}")
    if len(values) == 0:
        raise ValueError(f"{expected}; this one has no rank")
    if values.dtype.kind == "f":
        raise TypeError(f"{expected}; this one holds {values.dtype}")
    nodes = _whole(values, "node of rank")
    different, counts = np.unique(nodes, return_counts=True)
    if len(different) < len(nodes):
        twice = different[counts > 1][0]
        ranks = np.flatnonzero(nodes == twice)
        raise ValueError(f"no node has two ranks, unlike node {twice}: ranks {_listed(map(str, ranks.tolist()))}")
    return {"nodes": {"list": ",".join(map(str, nodes.tolist()))}}


def is_array(value: object) -> bool:
    """True for an array, a DataFrame, or a list or tuple of numbers or rows."""
    if isinstance(value, (str, bytes, Mapping)):
        return False
    return (
        hasattr(value, "__array__")
        or hasattr(value, "__arrow_c_stream__")
        or hasattr(value, "__arrow_c_array__")
        or (hasattr(value, "columns") and hasattr(value, "__getitem__"))
        or isinstance(value, (list, tuple, range))
    )


def is_columns(value: object) -> bool:
    """True if a dict holds the columns of messages, by their names."""
    known = {*_RESULTS, *(each for names in _NAMES.values() for each in names)}
    return isinstance(value, Mapping) and bool(value) and all(name in known for name in value)


def refuse_matrix(array: object) -> None:
    """Refuses an array that may be messages or a traffic matrix. A list of tuples is always messages."""
    if _named(array) is not None:
        return
    rows = array if isinstance(array, (list, tuple)) else ()
    if rows and all(isinstance(row, tuple) for row in rows):
        return
    values = _array(array, _EXPECTED)
    # A 3 x 3 array with a zero diagonal may be a matrix, because messages have bytes.
    if values.shape == (4, 4) or values.shape == (3, 3) and not values.diagonal().any():
        raise TypeError(
            f"an array of shape {values.shape} may be messages or a traffic matrix: say which,"
            " by hayase.Pattern.from_messages or hayase.Pattern.from_matrix"
        )


def _named(array: Any) -> Mapping[str, Any] | None:
    """Returns the named columns of a dict, a DataFrame, a table of Arrow or of an earlier run; else ``None``."""
    if isinstance(array, Mapping):
        return array
    if not hasattr(array, "column_names") and not hasattr(array, "columns") and hasattr(array, "__arrow_c_stream__"):
        import pyarrow  # type: ignore[import-untyped, unused-ignore]

        array = pyarrow.table(array)
    names = getattr(array, "column_names", None) or getattr(array, "columns", None)
    if names is None or not hasattr(array, "__getitem__"):
        return None
    return {str(name): array[name] for name in names}


#: Columns of the messages of a run that hold results.
_RESULTS = ("index", "end", "end_s")


def _columns(array: object) -> dict[str, NDArray[Any]]:
    """Returns the columns of messages by the simulator's names."""
    import numpy as np

    if (named := _named(array)) is None:
        values = _array(array, _EXPECTED)
        if values.dtype.names is not None:
            if values.ndim != 1:
                raise ValueError(f"a structured array of messages has shape (n,), unlike {values.shape}")
            named = {name: values[name] for name in values.dtype.names}
    if named is not None:
        known = {each: name for name, names in _NAMES.items() for each in names}
        named = {name: column for name, column in named.items() if name not in _RESULTS}
        unknown = [name for name in named if name not in known]
        if unknown:
            raise ValueError(
                f"columns of messages are source, destination, bytes and start (or src, dst, size), unlike "
                f"{_listed(map(repr, unknown))}"
            )
        found: dict[str, NDArray[Any]] = {}
        for name, column in named.items():
            if known[name] in found:
                raise ValueError(f"two columns say the {_NAMES[known[name]][-1]} of messages; one of them is {name!r}")
            _there(column, f"column {name!r} holds numbers")
            found[known[name]] = np.asarray(column)
        missing = [
            _NAMES[name][-1] if name != "bytes" else name for name in ("src", "dst", "bytes") if name not in found
        ]
        if missing:
            raise ValueError(f"messages have a source, a destination and bytes; there is no column {_listed(missing)}")
        for name, column in found.items():
            if column.ndim != 1 or column.dtype.kind not in _NUMBERS:
                raise TypeError(
                    f"column {name!r} holds numbers, one a message, unlike {column.dtype} of shape {column.shape}"
                )
        return found
    if values.ndim != 2 or values.shape[1] not in (3, 4):
        raise ValueError(f"{_EXPECTED}; this one has shape {values.shape}")
    return dict(zip(("src", "dst", "bytes", "start"), values.T))


def _array(array: object, expected: str) -> NDArray[Any]:
    """Converts to an array of numbers or a structured array."""
    import numpy as np

    try:
        values = np.asarray(array)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{expected} ({error})") from None
    if values.dtype.names is None and values.dtype.kind not in _NUMBERS and values.size:
        raise TypeError(f"{expected}; this one holds {values.dtype}")
    _there(array, expected)
    return values


def _there(array: object, expected: str) -> None:
    """Refuses an array with masked values, because values under a mask are not meant."""
    import numpy as np

    if np.ma.is_masked(array):
        raise ValueError(f"{expected}; of this one values are masked: fill them, or leave their rows out")


def _whole(values: NDArray[Any], what: str) -> NDArray[Any]:
    """Returns the values as whole numbers, 0 or above."""
    import numpy as np

    if values.dtype.kind == "f":
        # Half precision cannot hold the limit below.
        values = values.astype(np.float64)
        wrong = ~np.isfinite(values) | (values != np.rint(values)) | (np.abs(values) >= 2.0**63)
        if wrong.any():
            place, value = _first(values, wrong)
            raise ValueError(f"{what} {place} is a whole number, unlike {value}")
    if (values < 0).any():
        place, value = _first(values, values < 0)
        raise ValueError(f"{what} {place} is not negative, unlike {int(value)}")
    return values.astype(np.int64) if values.dtype.kind == "f" else values


def _finite(values: NDArray[Any], what: str) -> NDArray[np.float64]:
    """Returns the values as seconds, 0 or above."""
    import numpy as np

    values = values.astype(np.float64)
    wrong = ~np.isfinite(values) | (values < 0)
    if wrong.any():
        place, value = _first(values, wrong)
        raise ValueError(f"{what} {place} is a time in seconds that is not negative, unlike {value}")
    return values


def _delays(senders: NDArray[Any], start: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Returns the order of messages by sender and start, and the delay of each message after the one before [s]."""
    import numpy as np

    order = np.lexsort((start, senders))
    senders, times = senders[order], start[order]
    delay = times.copy()
    if len(times):
        delay[1:] -= np.where(senders[1:] == senders[:-1], times[:-1], 0.0)
    return order, delay


def _text(
    src: NDArray[Any], dst: NDArray[Any], size: NDArray[Any], delay: NDArray[np.float64] | None = None
) -> bytes:
    """Returns the CSV text of messages."""
    import numpy as np

    first, second, third = (column.astype(np.uint64).tobytes() for column in (src, dst, size))
    return _hayase.message_rows(first, second, third, None if delay is None else delay.tobytes())


def _first(values: NDArray[Any], wrong: NDArray[Any]) -> tuple[str, Any]:
    """Returns the place of the first wrong value, and the value."""
    import numpy as np

    place = [int(i) for i in np.argwhere(wrong)[0]]
    return (str(place[0]) if len(place) == 1 else f"[{', '.join(map(str, place))}]"), values[tuple(place)]


def _listed(words: Iterable[str], most: int = 5) -> str:
    """Joins words by commas; long lists are cut, with the number of further words."""
    words = list(words)
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more
