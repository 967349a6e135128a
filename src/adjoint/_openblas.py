"""The OpenBLAS of the wheel scipy-openblas32, on one thread: matrix products and LAPACK, called from native code or by ctypes."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from adjoint import _optional

__all__ = ["library"]


@functools.cache
def library() -> Any:
    """The library; None where the wheel is missing or doesn't load. It is found by its place: the package itself, when imported,
    reads its own version, which takes as long as loading the library."""
    folder = _optional.folder_of("scipy_openblas32")
    if folder is None:
        return None
    try:
        inside = os.path.join(folder, "lib")
        name = next(name for name in sorted(os.listdir(inside)) if name.startswith("libscipy_openblas"))
        loaded = ctypes.CDLL(os.path.join(inside, name))
        loaded.scipy_openblas_set_num_threads(1)
        return loaded
    except (AttributeError, OSError, StopIteration):
        return None
