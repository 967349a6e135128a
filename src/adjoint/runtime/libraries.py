"""Addresses of the functions that native code calls: OpenBLAS's products and the C library's mathematics."""

from __future__ import annotations

import ctypes
import ctypes.util
from typing import Any

from adjoint import _openblas

_found: dict[str, Any] = {}


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def product(name: str) -> int | None:
    """The address of cblas_sgemm or cblas_dgemm; None where there is no library."""
    library = _openblas.library()
    function = None if library is None else getattr(library, f"scipy_{name}", None)
    return None if function is None else _address(function)


def missing() -> str | None:
    """Why OpenBLAS can't be used here; None if it can."""
    return None if product("cblas_sgemm") else "scipy-openblas32 doesn't load here (pip install scipy-openblas32)"


def mathematics(name: str) -> int:
    """The address of a function of the C library, such as `sinf`."""
    if "libm" not in _found:
        _found["libm"] = ctypes.CDLL(ctypes.util.find_library("m") or ctypes.util.find_library("msvcrt"))
    return _address(getattr(_found["libm"], name))
