"""The OpenBLAS of the wheel scipy-openblas32, on one thread: matrix products and LAPACK, called from native code or by ctypes."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from adjoint import _optional

__all__ = ["library"]


@functools.cache
def library() -> Any:
    """The library; None where the wheel is missing or doesn't load."""
    package = _optional.try_load("scipy_openblas32")
    if package is None:
        return None
    try:
        loaded = ctypes.CDLL(f"{package.get_lib_dir()}/{package.get_library(fullname=True)}")
        loaded.scipy_openblas_set_num_threads(1)
        return loaded
    except (AttributeError, OSError):
        return None
