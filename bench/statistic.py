"""Medians of paired rounds, with intervals that assume nothing about the distribution.

The interval of a median is that between two order statistics: of n independent values each lies below the median with
probability 1/2, so the number below it is binomial (sign test; Conover, Practical Nonparametric Statistics, 3.2).
"""

import math
import statistics

LEVEL = 0.95


def median_interval(values, level=LEVEL):
    """Two order statistics that enclose the median with at least `level`, and the true level; `None` for too few values."""
    values = sorted(values)
    count = len(values)
    tail, rank = 0.0, 0
    while rank < count // 2:
        next_tail = tail + math.comb(count, rank) / 2**count
        if 2 * next_tail > 1 - level:
            break
        tail, rank = next_tail, rank + 1
    if rank == 0:
        return None
    return {"low": values[rank - 1], "high": values[count - rank], "level": 1 - 2 * tail}


def median_of(values):
    """Median with its interval, of the values that were measured; `None` if none was."""
    measured = [value for value in values if value is not None]
    if not measured:
        return None
    return {"median": statistics.median(measured), "interval": median_interval(measured), "count": len(measured)}


def paired_ratio(numerators, denominators):
    """Median of the ratios round by round: what changes from round to round falls out of it."""
    pairs = zip(numerators, denominators, strict=True)
    return median_of([top / bottom for top, bottom in pairs if top is not None and bottom])


def quantile(ordered, ratio):
    """The least value that at least this share of the ordered values does not exceed."""
    return ordered[max(0, math.ceil(ratio * len(ordered)) - 1)]
