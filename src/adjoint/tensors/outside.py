"""SciPy's solvers on tensors: their own code computes with arrays.

An optimizer asks for a gradient and then works on it with NumPy's functions, some of which write, and with compiled code that
takes arrays alone. So NumPy's functions, called by such code, get what the tensors hold. A tensor that is tracked doesn't
leave that way: the derivative would be lost.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import numpy as np

from adjoint.tensors.named import Named

__all__ = ["bare", "computes_on_arrays", "waits_for_us"]

SOLVERS = ("scipy.optimize", "scipy.integrate", "scipy.sparse", "scipy.interpolate", "scipy._lib")


def computes_on_arrays(frame: FrameType) -> bool:
    """Whether a frame is code of one of SciPy's solvers."""
    return str(frame.f_globals.get("__name__")).startswith(SOLVERS)


def bare(x: Any) -> Any:
    """A tensor's array, which may be written into; anything else as it is."""
    return np.array(x) if isinstance(x, Named) else x


def waits_for_us(frame: FrameType) -> bool:
    """Whether a frame is a product of SciPy's sparse matrices that would convert a tensor on its right."""
    return frame.f_code.co_name == "_matmul_dispatch" and computes_on_arrays(frame)
