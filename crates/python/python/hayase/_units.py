"""Quantities with units: seconds, bytes and bytes per second."""

from __future__ import annotations

import math
import re

#: Units of each dimension, ascending; a figure is shown in the largest unit in which it is at least 1.
_UNITS: dict[str, tuple[tuple[float, str], ...]] = {
    "s": ((1e-12, "ps"), (1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s")),
    "B": ((1.0, "B"), (1e3, "KB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")),
    "B/s": ((1.0, "B/s"), (1e3, "KB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")),
}

#: Factor of each unit to seconds, bytes or bytes per second.
_FACTORS: dict[str, tuple[float, str]] = {
    **{unit: (factor, "s") for factor, unit in _UNITS["s"]},
    **{unit: (factor, "B") for factor, unit in _UNITS["B"]},
    **{unit: (factor, "B/s") for factor, unit in _UNITS["B/s"]},
    **{f"{prefix}iB": (1024.0**power, "B") for power, prefix in enumerate("KMGT", 1)},
    **{f"{prefix}iB/s": (1024.0**power, "B/s") for power, prefix in enumerate("KMGT", 1)},
    **{f"{prefix}bit/s": (1000.0**power / 8, "B/s") for power, prefix in enumerate(("", "k", "M", "G", "T"))},
    "Kbit/s": (125.0, "B/s"),
    "kB": (1e3, "B"),
    "kB/s": (1e3, "B/s"),
    "min": (60.0, "s"),
    "h": (3600.0, "s"),
}

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z/]*)\s*\Z")


def scale(largest: float, dimension: str) -> tuple[float, str]:
    """Returns the unit for figures with this maximum: its factor and its name.

    >>> scale(0.0025, "s")
    (0.001, 'ms')
    """
    best = _UNITS[dimension][0]
    if not math.isfinite(largest) or largest == 0:
        return 1.0, dimension
    for factor, unit in _UNITS[dimension]:
        if abs(largest) >= factor * (1 - 1e-9):
            best = (factor, unit)
    return best


def show(value: float | None, dimension: str = "s", digits: int = 4) -> str:
    """Formats a figure with its unit.

    >>> show(0.0010600000001), show(20000, "B"), show(None)
    ('1.06 ms', '20 KB', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return f"0 {dimension}"
    factor, unit = scale(value, dimension)
    return f"{value / factor:.{digits}g} {unit}"


def number(value: object) -> tuple[float, str] | None:
    """Converts a quantity to seconds, bytes or bytes per second, with its dimension; ``None`` if it is not a quantity.

    >>> number("20 KB"), number("1.5 us"), number(7), number("fast")
    ((20000.0, 'B'), (1.5e-06, 's'), (7.0, ''), None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value), ""
    match = _QUANTITY.match(str(value))
    if match is None:
        return None
    if not match[2]:
        return float(match[1]), ""
    if match[2] not in _FACTORS:
        return None
    factor, dimension = _FACTORS[match[2]]
    # Division by the inverse is exact where the factor is not: 1.5 us is 1.5e-06 s.
    scaled = float(match[1]) * factor if factor >= 1 else float(match[1]) / round(1 / factor)
    return scaled, dimension
