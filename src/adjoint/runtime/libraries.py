"""Addresses of the functions that native code calls: OpenBLAS's products and the C library's mathematics."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from typing import Any

from adjoint import _openblas

# The C library's mathematics by name, and None for what the process has loaded anyway. `ctypes.util.find_library` asks programs,
# which takes up to 50 ms.
MATHEMATICS: dict[str, list[str | None]] = {
    "win32": ["msvcrt"],
    "darwin": ["libm.dylib", None],
    "linux": ["libm.so.6", None],
}

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
        _found["libm"] = _libm()
    return _address(getattr(_found["libm"], name))


def _libm() -> Any:
    *names, last = MATHEMATICS.get(sys.platform, [None])
    for name in names:
        with contextlib.suppress(OSError):  # musl has all in one
            return ctypes.CDLL(name)
    return ctypes.CDLL(last)
