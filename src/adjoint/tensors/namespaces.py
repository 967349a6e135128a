"""NumPy's functions that have a namespace of their own, such as `numpy.linalg`: ours are loaded when first called."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

# NumPy's module, and the module of ours that has the table `FUNCTIONS` of what stands for its functions
MODULES = {"numpy.linalg": "adjoint.linalg.numpys", "numpy.fft": "adjoint.fft.numpys"}
# functions of NumPy's main namespace that belong to one of them
NAMES = {
    **dict.fromkeys(("kron", "trace", "diagonal", "cross"), "adjoint.linalg.numpys"),
    **dict.fromkeys(("convolve", "correlate"), "adjoint.fft.numpys"),
}

__all__ = ["namespaced"]


def namespaced(function: Any) -> Callable[..., Any] | None:
    """Our function in place of NumPy's; None if there is none."""
    module = getattr(function, "__module__", "")
    place = NAMES.get(function.__name__) if module == "numpy" else MODULES.get(module)
    if place is None:
        return None
    return importlib.import_module(place).FUNCTIONS.get(function)  # type: ignore[no-any-return]
