"""Which program runs a plan: NumPy's or a native one.

ADJOINT_BACKEND chooses, read once: `auto` (the default) compiles a structure when it has come back so often that the interpreter
has spent on it what compiling takes (see `prices` and `budget`), or half of that where it is large; `native` compiles every
structure at once; `numpy` is the interpreter alone. A structure that native code can't serve runs on the interpreter.
"""

from __future__ import annotations

import importlib
import math
import os
import warnings
from collections.abc import Sequence
from time import thread_time
from typing import Any

from adjoint import _forks
from adjoint.execution import prices
from adjoint.execution.budget import budget
from adjoint.execution.numpy_programs import TINY, choose, is_tiny
from adjoint.graph import Node
from adjoint.graph.collector import without_collector
from adjoint.plan.executable import Executable, Program
from adjoint.plan.plan import Plan
from adjoint.runtime.interrupts import Uninterrupted

BACKENDS = ("numpy", "auto", "native")
LARGE = 1 << 18  # elements computed in all: from here on a structure that came back likely comes again,
EARLY = 2  # and so much less needs to have been lost before it is compiled,
AT_ONCE = 0.5  # or nothing, for so many seconds of compiling in a process
FROM_DISK = 5  # times less is the price of what is in the cache
HUGE = 1 << 22  # elements from which one that is new may be worth compiling,
SHORT = 1000  # nodes: of a longer one, so many times more,
PER_ELEMENT = 1e-9  # because NumPy takes so many seconds for each
DETERMINISTIC_FROM = 1 << 12  # elements: where results must not depend on what ran before, smaller plans are NumPy's
SECONDS = 0.006  # what the tape machine, relatives and small plans take at most: for a plan, and for each of its steps
SECONDS_PER_STEP = 0.0005
LOADING = 0.04  # what loading the compiler takes, once in a process
STEPS_THAT_COUNT = 64  # of a long plan of small arrays: the tape machine takes over then
LONG = 2000  # steps
_importing = _forks.waited_for()  # in the child of a fork in the midst of an import nobody would ever end that


def _chosen() -> str:
    backend = os.environ.get("ADJOINT_BACKEND") or "auto"
    if backend not in BACKENDS:
        raise ValueError(f"ADJOINT_BACKEND must be one of {', '.join(BACKENDS)}, got {backend!r}")
    return backend


class Tiers:
    """The backend in use; `noticed` once the user has been told that its parts are missing;
    `loading` what is left of the seconds that the interpreter may lose before the compiler is loaded.

    With `deterministic`, the program of a plan is a pure function of the plan, the machine and the versions, and every
    structure has a plan from the start: equal computations give equal bits, whatever was computed before.
    """

    def __init__(self) -> None:
        self.backend = _chosen()
        self.deterministic = False
        self.noticed = False
        self.loading = LOADING
        self.at_once = AT_ONCE

    def patience(self, spent: float) -> float:
        """The seconds that the interpreter may go on with a plan on which it has spent its price: the compiler is loaded first
        when so much was lost on all such plans together. Plans without a price don't wait."""
        if spent > 0 and self.loading > 0:
            self.loading -= spent
            return max(self.loading, 0.0)
        return 0.0

    def at_first_sight(self, nodes: Sequence[Node], family: Any) -> bool:
        """Whether a structure of these nodes gets a plan before it comes back."""
        if self.deterministic or self.backend != "auto":
            return self.deterministic or self.backend == "native"
        elements: int = sum([x.type.size for x in nodes if x.value is None and type(x.type) is not tuple])
        if elements > TINY * len(nodes) and budget.at_first_sight(family, SECONDS + SECONDS_PER_STEP * len(nodes)):
            return True
        gain = PER_ELEMENT * elements - self.loading
        huge = elements >= HUGE * max(1.0, len(nodes) / SHORT)
        if elements < HUGE or (not huge and gain < prices.seconds(set(), len(nodes))):
            return False  # of long graphs, kinds needn't be looked for
        price = prices.seconds(prices.kinds_of_nodes(nodes), len(nodes))
        return gain >= price or (huge and self.is_allowed(price))

    def is_allowed(self, price: float) -> bool:
        """Whether something large is compiled before anything was lost on it: what most programs consist of costs little, and
        they wait for nothing; of many structures, or of dear ones, it isn't known that they stay."""
        return price <= self.at_once

    def spend(self, family: Any, seconds: float) -> None:
        """The interpreter has computed a graph that was met first."""
        budget.spend(family, seconds)

    def has_relatives(self, family: Any) -> tuple[bool, bool]:
        """Whether a graph of this family has others that may tell of it, and whether some were compiled, or one is to be."""
        return (False, False) if self.deterministic or self.backend == "numpy" else budget.has_relatives(family)

    def note(self, family: Any, seconds: float, program: Any) -> None:
        """A program was made without a plan."""
        budget.note(family, seconds, program)

    def price(self, executable: Executable) -> float:
        """The seconds that the interpreter may spend on a plan before it is compiled; infinity for ever."""
        if self.backend == "numpy":
            return math.inf
        if self.backend == "native":
            return 0.0
        plan = executable.plan
        elements = sum(plan.sizes())
        if self.deterministic:
            return 0.0 if elements >= DETERMINISTIC_FROM else math.inf
        count = plan.length
        if is_tiny(plan):  # for the tape machine: nothing is compiled that grows with the plan
            return 0.0 if count >= LONG else SECONDS + SECONDS_PER_STEP * min(count, STEPS_THAT_COUNT)
        kinds = prices.kinds_of(plan)
        price, paid = prices.seconds(kinds, count), prices.paid(kinds)
        if elements >= LARGE:
            price = 0.0 if paid or self.is_allowed(price) else price / EARLY
        else:  # what is small mostly has few kernels
            price = min(price / FROM_DISK if paid else price, SECONDS + SECONDS_PER_STEP * count)
        found = budget.price(executable.family, executable.asked, price)
        in_vain = found > price  # relatives that don't come back: then the first sight doesn't count
        return found + executable.spent if in_vain else found


tiers = Tiers()


def program_of(executable: Executable, at_once: bool = False) -> Program:
    """The program for a plan's next run; with `at_once`, the best there is, without waiting for it to come back."""
    with executable.lock:
        return without_collector(_chosen_program, executable, at_once)


def _chosen_program(executable: Executable, at_once: bool) -> Program:
    # An interrupt may come anywhere, and what it interrupts with may evaluate this very structure. So a program is put in its
    # place by one assignment when all of it is there; the steps go after that.
    plan = executable.plan
    if executable.program is None:
        executable.price = 0.0 if at_once and tiers.backend != "numpy" else tiers.price(executable)
    spent, price = executable.spent, executable.price
    wait = 0.0 if at_once or spent < price or not price else tiers.patience(spent)
    if wait:
        executable.price = spent + wait
    elif spent >= price:
        if plan.length:
            native_backend()  # to load the compiler, which `loading` has paid for, isn't to compile
        started = thread_time()
        native = _native(plan, at_once) if plan.length else None
        if native is not None:
            took = thread_time() - started
            tiers.at_once -= took
            executable.program = native
            if not (getattr(native, "stamped", False) or is_tiny(plan)):
                prices.note(prices.kinds_of(native.shorter or plan), plan.length, took)
            if not at_once:
                budget.note(executable.family, took, native, planned=True)
        executable.price = math.inf
    if executable.program is None:
        executable.masking, executable.program = plan.masking, choose(plan)
    if executable.price == math.inf and not plan.sites:  # nobody will want to read them
        executable.plan = plan.with_steps(())
    return executable.program


def _native(plan: Plan, for_good: bool) -> Any:
    """The plan compiled; None where native code can't serve it."""
    native = native_backend()
    if native is None:
        return None
    with Uninterrupted():
        return native.compile_plan(plan, for_good)


def native_backend() -> Any:
    """What compiles; None where nothing shall be compiled, or can be, which is said once."""
    if tiers.backend == "numpy":
        return None
    with Uninterrupted():
        with _importing:
            native = importlib.import_module(
                "adjoint.execution.native"
            )  # heavy: first when something is to be compiled
        lacking = native.missing()
        tiers.loading = 0.0
    if lacking is None:
        return native
    tiers.backend = "numpy"
    if not tiers.noticed:
        tiers.noticed = True
        warnings.warn(f"adjoint computes with NumPy alone: {lacking}", RuntimeWarning, stacklevel=2)
    return None
