"""Means over seeds with what is known of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Quantiles of Student's t for an interval of 95 %, by degrees of freedom from 1; from 31 on by the largest that does.
_QUANTILES = (
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
    2.228,
    2.201,
    2.179,
    2.160,
    2.145,
    2.131,
    2.120,
    2.110,
    2.101,
    2.093,
    2.086,
    2.080,
    2.074,
    2.069,
    2.064,
    2.060,
    2.056,
    2.052,
    2.048,
    2.045,
    2.042,
)
_BEYOND = ((40, 2.021), (60, 2.000), (120, 1.980))


def quantile(freedom: int) -> float:
    """Of Student's t, two-sided 95 %.

    >>> quantile(7)
    2.365
    """
    if freedom < 1:
        return math.nan
    if freedom <= len(_QUANTILES):
        return _QUANTILES[freedom - 1]
    # The next smaller number of the table: a little too wide, never too narrow.
    best = _QUANTILES[-1]
    for least, value in _BEYOND:
        if freedom >= least:
            best = value
    return best


def half_width(values: Sequence[float]) -> float:
    """Half the 95 % interval of the mean of these; 0 of a single one.

    >>> round(half_width([1.0, 2.0, 3.0]), 3)
    2.484
    """
    count = len(values)
    if count < 2:
        return 0.0
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (count - 1))
    return quantile(count - 1) * deviation / math.sqrt(count)
