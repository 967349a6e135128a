"""NumPy's and SciPy's functions that have a namespace of their own, such as `numpy.linalg`: ours are loaded when first called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

# NumPy's module, and the module of ours that has the table `FUNCTIONS` of what stands for its functions
MODULES = {
    "numpy.linalg": "adjoint.linalg.numpys",
    "numpy.fft": "adjoint.fft.numpys",
    "numpy.lib.stride_tricks": "adjoint.numpy.functions",
}
# functions of NumPy's main namespace that belong to one of them
NAMES = {
    **dict.fromkeys(("kron", "cross"), "adjoint.linalg.numpys"),
    **dict.fromkeys(("convolve", "correlate"), "adjoint.fft.numpys"),
    **dict.fromkeys(("sinc", "i0"), "adjoint.special.numpys"),
}

__all__ = ["namespaced", "special_ufunc"]


def namespaced(function: Any) -> Callable[..., Any] | None:
    """Our function in place of NumPy's; None if there is none."""
    module = getattr(function, "__module__", "")
    place = NAMES.get(function.__name__, "adjoint.numpy.functions") if module == "numpy" else MODULES.get(module)
    if place is None:
        return None
    return importlib.import_module(place).FUNCTIONS.get(function)  # type: ignore[no-any-return]


def special_ufunc(ufunc: Any) -> Callable[..., Any] | None:
    """Our function in place of a universal function of `scipy.special`, or of `exp2` or `cbrt`; None if there is none."""
    if ufunc is not np.exp2 and ufunc is not np.cbrt:
        # Whoever has one of its functions has loaded it; what its own code calls for `zeta` stands in the module of ufuncs.
        loaded = sys.modules.get("scipy.special")
        places = (loaded, getattr(loaded, "_ufuncs", None))
        if not any(getattr(place, ufunc.__name__, None) is ufunc for place in places):
            return None
    return importlib.import_module("adjoint.special.numpys").UFUNCS.get(ufunc.__name__)  # type: ignore[no-any-return]
