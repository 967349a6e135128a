"""Positions in sorted arrays: found by bisection, so they have no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.dtypes import int64, promote
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives.core import cast, register

__all__ = ["SEARCHSORTED", "searchsorted"]


def _kernel(side: Any, type: Any) -> Any:
    def kernel(rows: Any, values: Any) -> Any:
        if rows.ndim == 1:
            return np.searchsorted(rows, values, side).astype(np.int64, copy=False)
        found = np.empty(values.shape, np.int64)
        for place in np.ndindex(*rows.shape[:-1]):
            found[place] = np.searchsorted(rows[place], values[place], side)
        return found

    return kernel


SEARCHSORTED = Primitive("searchsorted", _kernel, (None, None), swallows=True)


@register
def searchsorted(rows: Node, values: Node, side: str) -> Node:
    """Where each of the values (..., m) would be inserted into the sorted rows (..., n); a single row serves all values."""
    # `same_type` would warn that derivatives are computed in float64 from here on: positions have none.
    dtype = promote(rows.dtype, values.dtype)
    rows, values = cast(rows, dtype), cast(values, dtype)
    if rows.dtype.kind == "c":
        raise TypeError("searchsorted: complex numbers have no order")
    return record(SEARCHSORTED, (rows, values), side, array_type(values.shape, int64))
