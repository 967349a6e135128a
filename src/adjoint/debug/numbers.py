"""Numbers and arrays in a few characters."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["brief", "number"]

SHOWN = 6


def number(x: Any) -> str:
    """One number, with five digits."""
    value = x.item() if hasattr(x, "item") else x
    if isinstance(value, (bool, int)):
        return str(value)
    return f"{value:.5g}"


def brief(x: Any) -> str:
    """A number, a short array in full, or what a long one is like."""
    array = np.asarray(x)
    if array.size == 1:
        return number(array.reshape(-1)[0]) if array.ndim == 0 else f"[{number(array.reshape(-1)[0])}]"
    if array.size <= SHOWN and array.ndim == 1:
        return f"[{', '.join(number(v) for v in array)}]"
    norm = float(np.linalg.norm(array.astype(float if array.dtype.kind in "biu" else array.dtype).reshape(-1)))
    return f"<{array.dtype.name}{list(array.shape)}, norm {norm:.5g}>"
