"""The functions of `numpy.fft` with NumPy's own arguments, and NumPy's `convolve` and `correlate`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import fft
from adjoint.composites.fourier import DIRECT
from adjoint.tensors.composing import as_tensors

__all__ = ["FUNCTIONS"]


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    # NumPy's "same" is as large as the longer operand
    a, v = as_tensors(a, v)
    a, v = (v, a) if v.size > a.size else (a, v)
    if a.ndim != 1 or v.ndim != 1 or v.size <= DIRECT or not f.result_type(a, v).inexact:
        return fft.convolve(a, v, mode)
    reached: Any = None
    clean = [a, v]
    for k, (x, other) in enumerate(((a, v.size), (v, a.size))):
        if not _surely_finite(x):
            bad = ~f.isfinite(x)
            clean[k] = f.where(bad, 0.0, x)
            count = f.cumulative_sum(f.pad(bad.astype("int32"), ((0, other - 1),)), dtype="int32")
            changed = count != f.pad(count[:-other], ((other, 0),))
            reached = changed if reached is None else reached | changed
    if reached is None:
        return fft.convolve(a, v, mode)
    # A transform would spread what isn't finite over all elements. Those that it is part of are NaN here, the others right.
    return _part(f.where(reached, math.nan, fft.convolve(*clean)), a.size, v.size, mode)


def _surely_finite(x: Any) -> bool:
    """Whether all elements are finite, whatever the graph is evaluated for."""
    known = x.node.value
    return known is not None and not x.node.tracked and bool(np.isfinite(known).all())


def _part(full: Any, n: int, m: int, mode: str) -> Any:
    """The elements of a convolution of n with at most as many, m, that belong to a mode."""
    size = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    start = (n + m - 1 - size) // 2
    return full[start : start + size]


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = as_tensors(a, v)
    if v.size > a.size:  # NumPy exchanges them, and turns the result: of an even length "same" has another middle then
        return f.conj(f.flip(_correlate(v, a, mode)))
    return _convolve(a, f.conj(f.flip(v)), mode)


FUNCTIONS: dict[Any, Any] = {
    **{
        getattr(np.fft, name): getattr(fft, name)
        for name in fft.__all__
        if hasattr(np.fft, name) and "freq" not in name
    },
    np.convolve: _convolve,
    np.correlate: _correlate,
}
