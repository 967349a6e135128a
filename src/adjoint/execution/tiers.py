"""Which program runs a plan: NumPy's or a native one.

ADJOINT_BACKEND chooses, read once: `numpy` (the default) for the interpreter alone, `auto` to compile a structure when it
has come back often enough for that to pay, `native` to compile every structure at once. A structure that native code
can't serve runs on the interpreter all the same.
"""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

from adjoint.execution.plan import Plan
from adjoint.execution.programs import choose
from adjoint.graph.collector import collector_paused

BACKENDS = ("numpy", "auto", "native")
PATIENCE = 20  # runs of a plan of small arrays before it is compiled: NumPy takes about as long for them as LLVM for it
LARGE = 1 << 18  # elements computed in all: from here on compiling pays at once


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
    def at_first_sight(self) -> bool:
        """Whether structures are compiled before they come back."""
        return self.backend == "native"

    def patience(self, plan: Plan) -> int:
        """How many runs of a plan to wait before it is compiled."""
        if self.backend == "native":
            return 0
        elements = 0
        for step in plan.steps:
            if type(step.type) is not tuple:
                elements += step.type.size
        return 0 if elements >= LARGE else PATIENCE


tiers = Tiers()


def program_of(plan: Plan, at_once: bool = False) -> Any:
    """The program for a plan's next run; with `at_once`, the best there is, without waiting for it to come back."""
    with plan.lock, collector_paused():
        if at_once and plan.program is None and tiers.backend != "numpy":
            plan.program = _native(plan) or choose(plan)
            return plan.program
        if tiers.backend == "numpy":
            plan.patience = 0
            plan.program = plan.program or choose(plan)
        elif plan.program is None:
            plan.patience = tiers.patience(plan)
            if not plan.patience:
                plan.program = _native(plan) or choose(plan)
            else:
                steps = plan.steps
                plan.program = choose(plan)
                plan.steps = steps
        else:
            plan.patience -= 1
            if not plan.patience:
                plan.program = _native(plan) or plan.program
                plan.steps = []
        return plan.program


def _native(plan: Plan) -> Any:
    """The plan compiled; None where native code can't serve it."""
    native = importlib.import_module("adjoint.execution.native")  # heavy: first when something is to be compiled
    lacking = native.missing()
    if lacking is None:
        return native.compile_plan(plan)
    tiers.backend = "numpy"
    if not tiers.noticed:
        tiers.noticed = True
        warnings.warn(f"adjoint computes with NumPy alone: {lacking}", RuntimeWarning, stacklevel=2)
    return None
