"""Functions of `scipy.special`, and NumPy's of the same kind, for tensors handed to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import special
from adjoint.tensors.elementwise import expm1, log1p

__all__ = ["FUNCTIONS", "UFUNCS"]

FUNCTIONS: dict[Any, Any] = {np.sinc: special.sinc, np.i0: special.i0}

# by the names of universal functions
UFUNCS: dict[str, Any] = {
    **{name: getattr(special, name) for name in special.__all__ if name != "lambertw"},
    "psi": special.digamma,
    "jn": special.jv,
    "yn": special.yv,
    "kn": special.kv,
    "_riemann_zeta": special.zeta,
    "exp1": lambda x: special.expn(1, x),
    "_zeta": special.zeta,
    "expm1": expm1,
    "log1p": log1p,
}
