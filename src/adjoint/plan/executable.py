"""What is known of a plan besides what it says: the program that runs it, and what running it has cost."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, Protocol

import numpy as np

from adjoint import _forks
from adjoint.graph.node import Site
from adjoint.plan.masks import Masking
from adjoint.plan.plan import Plan

SLOT_BYTES = 500  # of Python's objects that a slot needs: a type, a step, a part of the key


class Program(Protocol):
    """What runs a plan: on NumPy step by step, on the tape, on the machine for single numbers, or native code."""

    @property
    def alone(self) -> bool:
        """Whether it calls nothing of NumPy's, and so needs no settings of it."""

    @property
    def masks(self) -> bool:
        """Whether zero times infinity is zero in it anyway, so that it runs once."""

    @property
    def nbytes(self) -> int:
        """About the bytes that it owns."""

    def run(self, leaves: list[Any], numbers: list[Any], masked: bool, donated: Collection[int] = ()) -> list[Any]:
        """The results, by masked kernels or by plain ones. They may take the memory of the leaves at `donated`."""


class Executable:
    """A plan and how it runs. Caches hold these.

    family     what the plan has in common with those that differ in extents alone: see `budget`
    asked      where the user recorded what it computes
    masking    when masked kernels run; the plan's own from when NumPy runs it
    spent      seconds in the interpreter, up to the `price` of compiling: see `tiers`
    each       how many runs the last one that was timed stands for; one in so many is timed, when `unpriced` has come to 0
    remembered the bytes that the cache of plans has counted for it, if it is there
    """

    __slots__ = (
        "asked", "each", "family", "lock", "masking", "plan", "price", "program", "remembered", "spent", "unpriced"
    )  # fmt: skip

    def __init__(
        self, plan: Plan, family: Any = None, asked: tuple[Site, int] = (None, 0), program: Program | None = None
    ) -> None:
        self.plan, self.family, self.asked, self.program = plan, family, asked, program
        self.masking = Masking(always=True, some=True, checked=[])
        self.spent, self.price = 0.0, math.inf
        self.each = self.unpriced = 1
        self.remembered: int | None = None
        # of `program`; of this thread too, which may be here already, interrupted by a finalizer or a signal's handler
        self.lock = _forks.rlock()

    @property
    def nbytes(self) -> int:
        """About the bytes that remembering it takes, its program's included."""
        constants: int = sum([x.nbytes for x in self.plan.constants.values() if isinstance(x, np.ndarray)])
        return (
            SLOT_BYTES * (len(self.plan.types) + 16) + constants + (0 if self.program is None else self.program.nbytes)
        )
