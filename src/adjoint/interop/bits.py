"""Numbers of 8 and 16 bits in files. NumPy lacks bfloat16, so there it is its bits, as uint16, and floats of 8 bits."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from adjoint import _optional
from adjoint.dtypes import bfloat16

__all__ = ["EIGHT_BITS", "as_bits", "from_bits", "from_eight_bits"]

Array = np.ndarray[Any, Any]

# Bits of the exponent and of the fraction, and what is subtracted from the exponent. "fn": no infinities; "uz": no negative zero,
# whose bits are the one NaN (P. Micikevicius and others, 2022, https://arxiv.org/abs/2209.05433, and OCP's formats for e8m0).
EIGHT_BITS = {
    "float8_e4m3fn": (4, 3, 7), "float8_e5m2": (5, 2, 15), "float8_e4m3fnuz": (4, 3, 8), "float8_e5m2fnuz": (5, 2, 16),
    "float8_e8m0fnu": (8, 0, 127),
}  # fmt: skip


def as_bits(numbers: Array) -> Array:
    """An array, of uint16 where it was of bfloat16."""
    return numbers.view(np.uint16) if numbers.dtype.kind == "V" else numbers


def from_bits(bits: Array) -> Array:
    """The numbers of bfloat16 whose bits these are (uint16): float32, which holds them exactly, without the package ml_dtypes."""
    if _optional.try_load("ml_dtypes") is None:
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return bits.view(bfloat16.dtype)


@functools.cache
def _values(name: str) -> Array:
    """All 256 numbers of a format, in the order of their bits."""
    exponent_bits, fraction_bits, bias = EIGHT_BITS[name]
    bits = np.arange(256)
    if not fraction_bits:  # without a sign, and without a zero
        return np.where(bits == 255, np.nan, np.ldexp(1.0, bits - bias)).astype(np.float32)
    exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1)
    fraction = (bits & ((1 << fraction_bits) - 1)) / (1 << fraction_bits)
    size = np.ldexp(np.where(exponent > 0, 1 + fraction, fraction), np.maximum(exponent, 1) - bias)
    values = np.where(bits < 128, size, -size)
    if name.endswith("uz"):
        values[128] = np.nan
    elif name.endswith("fn"):
        values[[127, 255]] = np.nan
    else:
        last = exponent == (1 << exponent_bits) - 1
        values = np.where(last, np.where(fraction > 0, np.nan, np.copysign(np.inf, values)), values)
    numbers: Array = values.astype(np.float32)
    return numbers


def from_eight_bits(bits: Array, name: str) -> Array:
    """The numbers of a format of 8 bits (uint8) as float32, which holds them exactly."""
    return _values(name)[bits]
