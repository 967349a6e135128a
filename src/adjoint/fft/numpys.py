"""The functions of `numpy.fft` with NumPy's own arguments, and NumPy's `convolve` and `correlate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import fft
from adjoint.tensors.composing import as_tensors
from adjoint.tensors.functions import conj, flip

__all__ = ["FUNCTIONS"]


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    # NumPy's "same" is as large as the longer operand
    a, v = as_tensors(a, v)
    return fft.convolve(v, a, mode) if v.size > a.size else fft.convolve(a, v, mode)


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = as_tensors(a, v)
    if v.size > a.size:  # NumPy exchanges them, and turns the result: of an even length "same" has another middle then
        return conj(flip(_correlate(v, a, mode)))
    return _convolve(a, conj(flip(v)), mode)


FUNCTIONS: dict[Any, Any] = {
    **{
        getattr(np.fft, name): getattr(fft, name)
        for name in fft.__all__
        if hasattr(np.fft, name) and "freq" not in name
    },
    np.convolve: _convolve,
    np.correlate: _correlate,
}
