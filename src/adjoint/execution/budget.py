"""What compiling may cost: a program is compiled at once where that surely pays, and else once as much was lost without.

Programs that differ in extents alone are relatives: every length of a sentence makes one, and each token of a growing cache.
A few of them are compiled like others, and more as long as those that were compiled are run again. When more keep coming and
don't come back, none is compiled before the interpreter has spent on it what compiling its relatives took.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from adjoint.graph.node import Site, origin_of

FEW = 8  # relatives that are compiled without asking
PAYS = 2  # runs of each, on average, for which it was worth it
MOST_FAMILIES = 1 << 12


class Family:
    """What compiling programs of one structure took so far, and how often these were run."""

    __slots__ = ("count", "runs", "seconds")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self.runs = [0]  # which the programs share

    @property
    def is_in_vain(self) -> bool:
        """Whether programs keep coming that are hardly run again."""
        return self.count >= FEW + self.runs[0] / PAYS


class Budget:
    """The families of programs that were compiled; `said` once the user was told that one of them is too large."""

    def __init__(self) -> None:
        self.families: dict[Any, Family] = {}
        self.said = False

    def price(self, family: Any, asked: tuple[Site, int], otherwise: float) -> float:
        """The seconds that the interpreter may spend on one more program of a family before it is compiled, if it is `otherwise`
        for programs without relatives. `asked` is where the user recorded it."""
        found = self.families.get(family)
        if found is None or otherwise == math.inf or not found.is_in_vain:
            return otherwise
        each = found.seconds / found.count
        if not self.said and otherwise < each:
            self.said = True
            warnings.warn(
                f"{found.count} programs that differ in nothing but extents were compiled, each in {1000 * each:.0f} ms, more "
                f"keep coming, and few come back ({origin_of(*asked)}). From here on such a program is left to NumPy until that "
                "has taken as long as compiling it would. Arrays that are padded to a few lengths, or filled step by step, share "
                "their programs",
                RuntimeWarning,
                stacklevel=2,
            )
        return max(otherwise, each)

    def note(self, family: Any, seconds: float, program: Any) -> None:
        """A program of a family was compiled."""
        if len(self.families) >= MOST_FAMILIES and family not in self.families:
            del self.families[next(iter(self.families))]
        found = self.families.setdefault(family, Family())
        found.count += 1
        found.seconds += seconds
        program.runs = found.runs


budget = Budget()
