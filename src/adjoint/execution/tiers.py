"""Which program runs a plan: NumPy's or a native one.

ADJOINT_BACKEND chooses, read once: `numpy` (the default) for the interpreter alone, `auto` to compile a structure when
it is seen again, `native` to compile every structure at once. A structure that native code can't serve runs on the
interpreter all the same.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from adjoint.execution.native import compile_plan, missing
from adjoint.execution.plan import Plan

BACKENDS = ("numpy", "auto", "native")


def _chosen() -> str:
    backend = os.environ.get("ADJOINT_BACKEND", "numpy")
    if backend not in BACKENDS:
        raise ValueError(f"ADJOINT_BACKEND must be one of {', '.join(BACKENDS)}, got {backend!r}")
    return backend


class Tiers:
    """The backend in use; `noticed` once the user has been told that its parts are missing."""

    def __init__(self) -> None:
        self.backend = _chosen()
        self.noticed = False

    @property
    def compiles(self) -> bool:
        """Whether structures that come back are compiled."""
        return self.backend != "numpy"

    @property
    def at_first_sight(self) -> bool:
        """Whether structures are compiled before they come back."""
        return self.backend == "native"


tiers = Tiers()


def native_program(plan: Plan) -> Any:
    """The plan compiled; None where native code can't serve it."""
    lacking = missing()
    if lacking is None:
        return compile_plan(plan)
    tiers.backend = "numpy"
    if not tiers.noticed:
        tiers.noticed = True
        warnings.warn(f"adjoint computes with NumPy alone: {lacking}", RuntimeWarning, stacklevel=2)
    return None
