"""Discrete Fourier transforms of a few numbers, written out, and the powers of a root of unity.

Transforms are forward ones: element k is Σ x[j] exp(-2πi jk/n). Each number is a vector, so that as many transforms as there are
lanes are done at once. The powers of two are Cooley's and Tukey's (Math. Comp. 19 (1965), 297), the odd lengths add what is
symmetric and what isn't apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.compiler.loops.build import Complex, Emitter, Value
from adjoint.compiler.loops.complex_math import add, subtract


def factors_of(n: int) -> list[int] | None:
    """n as a product of 3, 5, 7, 11, 13, 2, 4 and 8, of as few as there can be; None where it has other factors."""
    odd = []
    for prime in (13, 11, 7, 5, 3):
        while n % prime == 0:
            odd.append(prime)
            n //= prime
    power = n.bit_length() - 1
    if n != 1 << power:
        return None
    fours = {0: 0, 1: 2, 2: 1}[power % 3]
    if power == 1:
        return [*odd, 2]
    return [*odd, *[4] * fours, *[8] * ((power - 2 * fours) // 3)]


def roots_of_unity(k: Any, n: int) -> Any:
    """exp(-2πi k/n) in extended precision where there is one: the angle within a quarter, quarters by exact turns."""
    quarters, rest = np.divmod(4 * np.asarray(k, np.int64), n)
    angle = rest.astype(np.longdouble) * (2 * np.arctan(np.longdouble(1)) / n)
    re, im = np.cos(angle), -np.sin(angle)
    turns = [(re, im), (im, -re), (-re, -im), (-im, re)]
    quarters = quarters % 4
    return [sum([np.where(quarters == q, turns[q][part], 0) for q in range(4)]) for part in (0, 1)]


def turned(e: Emitter, a: Complex) -> Complex:
    """-i a."""
    return Complex(a.im, e.negative(a.re), a.dtype)


def multiply(e: Emitter, a: Complex, re: Value, im: Value) -> Complex:
    """a (re + i im), each part by a multiplication and a fused one."""
    real = e.fma(a.re, re, e.negative(e.multiply(a.im, im)))
    return Complex(real, e.fma(a.re, im, e.multiply(a.im, re)), a.dtype)


def exchanged(a: Complex) -> Complex:
    """The parts exchanged. Before and behind a transform that makes it the inverse one, which divides by nothing."""
    return Complex(a.im, a.re, a.dtype)


def butterfly(e: Emitter, x: Sequence[Complex]) -> list[Complex]:
    """The transform of as many numbers as one of these factors says."""
    if len(x) == 2:
        return [add(e, *x), subtract(e, *x)]
    if len(x) == 4:
        (a, b), (c, d) = butterfly(e, x[::2]), butterfly(e, x[1::2])
        # b ∓ i d, without a negation
        minus = Complex(e.add(b.re, d.im), e.subtract(b.im, d.re), a.dtype)
        plus = Complex(e.subtract(b.re, d.im), e.add(b.im, d.re), a.dtype)
        return [add(e, a, c), minus, subtract(e, a, c), plus]
    return _of_eight(e, x) if len(x) == 8 else _of_odd(e, x)


def _of_eight(e: Emitter, x: Sequence[Complex]) -> list[Complex]:
    even, odd = butterfly(e, x[::2]), butterfly(e, x[1::2])
    root = math.sqrt(0.5)
    # odd elements by (1 - i)/√2, -i and (-1 - i)/√2
    one = (e.add(odd[1].re, odd[1].im), e.subtract(odd[1].im, odd[1].re))
    three = (e.subtract(odd[3].im, odd[3].re), e.negative(e.add(odd[3].re, odd[3].im)))
    found: list[Any] = [None] * 8
    for k, ((re, im), by) in enumerate(
        [((odd[0].re, odd[0].im), 1.0), (one, root), (turned(e, odd[2])[:2], 1.0), (three, root)]
    ):
        for place, sign in ((k, 1.0), (k + 4, -1.0)):
            if by == 1:
                combine = e.add if sign > 0 else e.subtract
                parts = combine(even[k].re, re), combine(even[k].im, im)
            else:
                parts = e.fma(re, sign * by, even[k].re), e.fma(im, sign * by, even[k].im)
            found[place] = Complex(*parts, even[k].dtype)
    return found


def _of_odd(e: Emitter, x: Sequence[Complex]) -> list[Complex]:
    n, half = len(x), len(x) // 2
    sums = [add(e, x[q], x[n - q]) for q in range(1, half + 1)]
    differences = [subtract(e, x[q], x[n - q]) for q in range(1, half + 1)]
    total = x[0]
    for one in sums:
        total = add(e, total, one)
    found: list[Any] = [total, *[None] * (n - 1)]
    for k in range(1, half + 1):
        cosines = [math.cos(2 * math.pi * (k * q % n) / n) for q in range(1, half + 1)]
        sines = [math.sin(2 * math.pi * (k * q % n) / n) for q in range(1, half + 1)]
        re, im = x[0].re, x[0].im
        for one, by in zip(sums, cosines, strict=True):
            re, im = e.fma(one.re, by, re), e.fma(one.im, by, im)
        up, down = e.multiply(differences[0].im, sines[0]), e.multiply(differences[0].re, sines[0])
        for one, by in zip(differences[1:], sines[1:], strict=True):
            up, down = e.fma(one.im, by, up), e.fma(one.re, by, down)
        found[k] = Complex(e.add(re, up), e.subtract(im, down), x[0].dtype)
        found[n - k] = Complex(e.subtract(re, up), e.add(im, down), x[0].dtype)
    return found
