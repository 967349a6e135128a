"""Numbers of 16 bits, which tensors don't have: they become float32, which holds them exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["widened"]


def widened(numbers: np.ndarray[Any, Any], bfloat16: bool = False) -> np.ndarray[Any, Any]:
    """An array, of float32 where it was of float16, or of bfloat16 given by its bits (uint16): the upper half of a float32."""
    if bfloat16:
        return (numbers.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return numbers.astype(np.float32) if numbers.dtype == np.float16 else numbers
