"""What running sums and their kin carry from one element of a line to the next."""

from __future__ import annotations

from collections.abc import Callable

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops import vector_math
from adjoint.compiler.loops.build import Emitter, Value

State = tuple[Value, ...]


class Formula(NamedTuple):
    """What is carried on after the first element of an operand, what then after each, of the elements of all operands, and the
    result that it stands for."""

    start: Callable[[Emitter, Value], State]
    step: Callable[..., State]
    result: Callable[[Emitter, State], Value]


def _plain(step: Callable[..., Value]) -> Formula:
    """The result itself is carried on. The first one is the last operand's element."""
    return Formula(lambda e, x: (x,), lambda e, state, *given: (step(e, state[0], *given),), lambda e, state: state[0])


# A running sum of exponentials is the largest exponent so far, and the sum with that one taken off, which is at least 1.


def _exponential(e: Emitter, state: State, x: Value) -> State:
    largest, total = state
    smaller, rises = vector_math.exp_of_difference(e, x, largest), e.compare("gt", x, largest)
    total = e.select(rises, e.fma(total, smaller, 1.0), e.add(total, smaller))
    return vector_math.maximum(e, largest, x), total


def _logarithm(e: Emitter, state: State) -> Value:
    return e.add(state[0], vector_math.log(e, state[1]))


EXPONENTIALS = Formula(lambda e, x: (x, e.constant(1.0, x.dtype)), _exponential, _logarithm)

FORMULAS: dict[str, Formula] = {
    "cumulative_sum": _plain(lambda e, before, x: e.add(before, x)),
    "cumulative_prod": _plain(lambda e, before, x: e.multiply(before, x)),
    "cumulative_max": _plain(vector_math.maximum),
    "cumulative_min": _plain(vector_math.minimum),
    "linear_recurrence": _plain(lambda e, before, a, b: e.add(b, e.multiply(a, before))),
    "logcumsumexp": EXPONENTIALS,
}
