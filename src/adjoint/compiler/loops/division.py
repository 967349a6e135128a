"""Division of a row by one number, without a division for each element.

Multiplied by the reciprocal r, a quotient's last digit may be wrong; with what is left, a - qb, from one fused operation,
q + r(a - qb) is the quotient rounded correctly (Markstein, "Computation of elementary functions on the IBM RISC System/6000
processor", 1990), while neither it nor what is left falls out of the range of normal numbers. Elsewhere the processor
divides. Where q is more than one unit off, what is left is rounded as well; that changes no quotient for any two mantissas of
up to 12 bits, nor in float32 for any that lies next to the middle of two numbers.
"""

from __future__ import annotations

import math

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops.build import Emitter, Value
from adjoint.compiler.loops.vector_math import BIAS, MANTISSA

# Numerators and divisors from 2**-n to 2**n, so that quotients and remainders are normal numbers.
RANGE = {"float32": 50, "float64": 450}


class Divisor(NamedTuple):
    """A divisor, the same in all lanes. `span` is how far numerators' bits may lie above the lowest, 0 if it is no good
    divisor; `zero` is the numerator 0, or NaN if that needs care too."""

    value: Value
    reciprocal: Value
    span: Value
    zero: Value


def divisor(e: Emitter, b: Value) -> Divisor:
    """What can be computed of a division before its numerators are known."""
    n, dtype = RANGE[b.dtype], b.dtype
    size = e.absolute(b)
    usable = e.both(e.compare("ge", size, 2.0**-n), e.compare("le", size, 2.0**n))
    unsigned = "u" + e.bits(b).dtype
    span = e.select(usable, e.constant((2 * n) << MANTISSA[dtype], unsigned), e.constant(0, unsigned))
    return Divisor(b, e.divide(1.0, b), span, e.select(usable, e.constant(0.0, dtype), e.constant(math.nan, dtype)))


def quotient(e: Emitter, a: Value, by: Divisor) -> Value:
    """a divided by a divisor, rounded correctly."""
    bits = e.bits(e.absolute(a))
    lowest = (BIAS[a.dtype] - RANGE[a.dtype]) << MANTISSA[a.dtype]
    above = e.subtract(Value(bits.name, "u" + bits.dtype), e.constant(lowest, bits.dtype))
    zero = e.compare("eq", a, by.zero)
    ordinary = e.either(e.compare("lt", above, by.span), zero)
    estimate = e.multiply(a, by.reciprocal)
    left = e.fma(e.negative(estimate), by.value, a)
    result = e.select(zero, estimate, e.fma(left, by.reciprocal, estimate))
    slot = e.variable(result)
    rare = e.invert(ordinary)
    with e.when_any(rare):
        e.set(slot, e.select(rare, e.divide(a, by.value), result))
    return e.get(slot, a.dtype)
