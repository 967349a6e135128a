"""Rows of the functions of arrays that load when first named: sets, statistics, calculus, joining and writing."""

from __future__ import annotations

import numpy as np

from operation_rows import Static, array, case, row, value

LONE = np.array([1.0, 0.0, 2.0, 1.0])
SORTED = Static(np.array([-1.0, 0.0, 0.5, 0.5, 2.0]))


# fmt: off
SETS = [
    row("searchsorted", np.searchsorted, case(SORTED, array(3)), case(SORTED, array(2, 3), side="right"),
        value(SORTED, np.array([np.nan, np.inf, -np.inf, 0.5])), case(SORTED, Static(0.5))),
    row("isin", np.isin, case(array(2, 3), Static(np.array([1.0, 2.0]))), value(LONE, Static(np.array([1.0, np.nan]))),
        value(LONE, Static(np.array([])), invert=True)),
    row("unique_values", np.unique, case(array(5)), value(LONE), case(array(2, 3)), value(np.array([3.0, 1.0, 3.0])),
        dtypes="fi"),
    row("unique_counts", lambda x: tuple(np.unique_counts(x)), case(array(5)), value(LONE), case(array(2, 3)), dtypes="fi"),
    row("unique_inverse", lambda x: tuple(np.unique_inverse(x)), case(array(5)), value(LONE), case(array(2, 3)), dtypes="fi"),
    row("unique_all", lambda x: tuple(np.unique_all(x)), case(array(5)), value(LONE), case(array(2, 3)), dtypes="fi"),
]

ARRAYS = [*SETS]
