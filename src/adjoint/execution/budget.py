"""What compiling may cost: a program is compiled at once where that surely pays, and else once as much was lost without.

Programs that differ in extents alone are relatives: every length of a sentence makes one, and each token of a growing cache.
A few of them are compiled like others, and more as long as those that were compiled are run again. When more keep coming and
don't come back, none is compiled before the interpreter has spent on it what compiling its relatives took. But where a program
follows from its relatives' (see `native.relatives`) it costs next to nothing, and is made when its graph is met first.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from adjoint.graph.node import Site, origin_of

FEW = 8  # relatives that are compiled without asking
PLANNING = 2  # times what stamping a program takes, with the plan that it is stamped for, if that is built
TO_FIND_OUT = 2  # that are compiled at first sight: what the third is follows from these, if it does
TO_MEASURE = 10  # that are then made of others at first sight, these included, to tell what that takes
COMES_BACK = 1.5  # times what NumPy takes a program may take at first sight, for its graph may come back
RECENT = 8  # graphs that were met first, over which what NumPy takes is averaged
EARLY = 4  # times less must have been spent for that where a few relatives have come already: more are likely
PAYS = 2  # runs of each, on average, for which it was worth it
MOST_FAMILIES = 1 << 14


class Family:
    """What compiling programs of one structure took so far, and how often these were run. If some of them followed from others,
    it `follows`; that took at least `stamping` seconds, with all that comes before. The interpreter has `spent` seconds on `met`
    graphs that were new, on `each` of the last ones so many; `tries` were compiled. All are seconds of the processor."""

    __slots__ = ("count", "each", "follows", "met", "runs", "seconds", "spent", "stamping", "tries")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = self.spent = self.each = 0.0
        self.stamping = math.inf
        self.tries = self.met = 0
        self.follows = False
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
        if found is None or otherwise == math.inf:
            return otherwise
        if found.follows or found.count < found.tries:
            return 0.0
        if not found.is_in_vain:
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

    def at_first_sight(self, family: Any, otherwise: float) -> bool:
        """Whether a program is to be made of a graph that is met first: because it follows from others in little more time than
        NumPy takes or, where NumPy has spent on others what compiling one takes, to find that out."""
        found = self.families.get(family)
        if found is None:
            return False
        if found.stamping < COMES_BACK * found.each:
            return True
        needed = otherwise / EARLY if found.met >= FEW else otherwise
        if found.tries < (TO_MEASURE if found.follows else TO_FIND_OUT) and found.spent >= needed:
            found.tries += 1
            return True
        return False

    def spend(self, family: Any, seconds: float) -> None:
        """The interpreter has computed a graph that was met first."""
        found = self.known(family)
        found.spent += seconds
        found.met += 1
        found.each += (seconds - found.each) / min(found.met, RECENT)  # those of a sequence that grows take ever longer

    def has_relatives(self, family: Any) -> tuple[bool, bool]:
        """Whether a graph of this family has others, and whether some of these were compiled, or one of them is to be."""
        found = self.families.get(family)
        return (False, False) if found is None else (found.met + found.count > 1, found.count + found.tries > 0)

    def known(self, family: Any) -> Family:
        """What is known of a family."""
        found = self.families.get(family)
        if found is None:
            if len(self.families) >= MOST_FAMILIES:
                del self.families[next(iter(self.families))]
            found = self.families[family] = Family()
        return found

    def note(self, family: Any, seconds: float, program: Any, planned: bool = False) -> None:
        """A program of a family was compiled; `planned` if its plan was built before."""
        found = self.known(family)
        found.count += 1
        found.seconds += seconds
        if getattr(program, "stamped", False):
            found.follows = True
            if not program.patterned:
                found.stamping = min(found.stamping, seconds * PLANNING if planned else seconds)
        program.runs = found.runs


budget = Budget()
