"""Numbers of 16 bits in files. NumPy lacks bfloat16, so there it is its bits, as uint16."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import _optional
from adjoint.dtypes import bfloat16

__all__ = ["as_bits", "from_bits"]

Array = np.ndarray[Any, Any]


def as_bits(numbers: Array) -> Array:
    """An array, of uint16 where it was of bfloat16."""
    return numbers.view(np.uint16) if numbers.dtype.kind == "V" else numbers


def from_bits(bits: Array) -> Array:
    """The numbers of bfloat16 whose bits these are (uint16): float32, which holds them exactly, without the package ml_dtypes."""
    if _optional.try_load("ml_dtypes") is None:
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return bits.view(bfloat16.dtype)
