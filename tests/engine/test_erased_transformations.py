"""Random programs with jit, checkpoint, vmap, loops, branches, solvers and derivative rules of one's own around their parts,
beside the same programs with all of these erased: loops written out in Python, branches chosen by `where`, rules left to the
engine.

Compared are values and derivatives of up to the third order, in both modes, by the argument and by a tensor that all parts close
over; and compiled functions once more after that tensor has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as ad

N, STEPS = 3, 3
Function = Callable[[Any], Any]


@dataclass
class Drawn:
    """A program: the numbers of what is done, and numbers to do it with."""

    kind: int
    c: float
    place: int
    parts: tuple[Drawn, ...]


def programs(depth: int) -> Any:
    parts = st.just(()) if depth == 0 else st.tuples(programs(depth - 1), programs(depth - 1))
    kinds = st.integers(0, len(LEAVES) - 1) if depth == 0 else st.integers(0, len(ERASED) - 1)
    return st.builds(Drawn, kinds, st.floats(-1.5, 1.5), st.integers(0, N - 1), parts)


class Surroundings:
    """What programs close over."""

    def __init__(self, w: Any) -> None:
        self.w = w


LEAVES: list[Callable[[Drawn, Surroundings], Function]] = [
    lambda d, s: lambda x: ad.sin(x) + d.c,
    lambda d, s: lambda x: ad.tanh(x) * d.c,
    lambda d, s: lambda x: x * x * 0.3 - d.c * x,
    lambda d, s: lambda x: s.w @ x,
    lambda d, s: lambda x: (ad.sin(s.w) * d.c) @ x + ad.exp(-(s.w[d.place] ** 2)),
    lambda d, s: lambda x: ad.exp(-x * x) * x[d.place],
    lambda d, s: lambda x: ad.flip(ad.cumulative_sum(x), axis=0) * 0.5,
]


def by_rule(d: Drawn, s: Surroundings, f: Function, kind: str) -> Function:
    """sin(c x) x w with a rule of its own, behind f."""
    c = d.c

    def plain(x: Any) -> Any:
        return ad.sin(x * c) * x * s.w.detach()[0]

    def slope(x: Any) -> Any:
        return s.w.detach()[0] * (ad.cos(x * c) * c * x + ad.sin(x * c))

    def called(x: Any) -> Any:
        if kind == "erased":
            return plain(x)
        if kind == "host_call":
            own = s.w.detach()[0]
            return own * ad.host_call(
                lambda v: np.sin(v * c) * v, x, shape=x.shape, dtype="float64",
                vjp=lambda u, x: (u * (ad.cos(x * c) * c * x + ad.sin(x * c)),),
            )  # fmt: skip
        if kind == "custom_vjp":
            vjp = ad.custom_vjp(plain)
            vjp.def_vjp(lambda x: (plain(x), x), lambda x, u: (u * slope(x),))
            return vjp(x)
        jvp = ad.custom_jvp(plain)
        jvp.def_jvp(lambda p, t: (plain(p[0]), t[0] * slope(p[0])))
        return jvp(x)

    return lambda x: called(f(x))


def stepping(f: Function, g: Function) -> Callable[[Any, Any], Any]:
    return lambda carry, t: ad.tanh(f(carry) * 0.5 + t) + g(carry) * 0.1


def written_out(d: Drawn, f: Function, g: Function) -> Function:
    def run(x: Any) -> Any:
        step, carry = stepping(f, g), x
        for k in range(STEPS):
            carry = step(carry, x * (k * 0.5))
        return carry

    return run


def scanned(d: Drawn, f: Function, g: Function, **options: Any) -> Function:
    def run(x: Any) -> Any:
        step = stepping(f, g)
        given = ad.stack([x * (k * 0.5) for k in range(STEPS)])
        return ad.scan(lambda carry, t: (step(carry, t), None), x, given, **options)[0]

    return run


def counted(d: Drawn, f: Function, g: Function) -> Function:
    def run(x: Any) -> Any:
        step = stepping(f, g)
        return ad.while_loop(lambda c: c[0] < STEPS, lambda c: (c[0] + 1, step(c[1], x * (c[0] * 0.5))), (0, x))[1]

    return run


def solved(f: Function, solve: Function | None) -> Function:
    """z with z + 0.3 sin z = f(x): by a solver, or by steps of Newton's until nothing changes, third derivatives included."""

    def run(x: Any) -> Any:
        b = f(x)
        if solve is not None:
            return solve(b)
        z = b
        for _ in range(8):
            z = z - (z + 0.3 * ad.sin(z) - b) / (1 + 0.3 * ad.cos(z))
        return z

    return run


SOLVERS: list[Function] = [
    lambda b: ad.fixed_point(lambda z: b - 0.3 * ad.sin(z), b * 0.0, tolerance=1e-13).x,
    lambda b: ad.root(lambda z, b: z + 0.3 * ad.sin(z) - b, b, b).x,
    lambda b: ad.minimize(lambda z: (0.5 * z * z - 0.3 * ad.cos(z) - b * z).sum(), b, tolerance=1e-12).x,
    lambda b: ad.least_squares(lambda z: z + 0.3 * ad.sin(z) - b, b).x,
    ad.implicit(
        lambda b: ad.fixed_point(lambda z: b - 0.3 * ad.sin(z), b, tolerance=1e-13).x,
        lambda z, b: z + 0.3 * ad.sin(z) - b,
    ),
]


def relaxed(d: Drawn, f: Function, erased: bool) -> Function:
    """y(0.7) of y' = f(x) - y from y(0) = x."""

    def run(x: Any) -> Any:
        b = f(x)
        if erased:
            return b + (x - b) * np.exp(-0.7)
        way = "adjoint" if d.c > 0 else "steps"
        return ad.odeint(lambda y, t: b - y, x, [0.0, 0.7], rtol=1e-10, atol=1e-10, derivative=way)[1]

    return run


def in_place(d: Drawn, f: Function, g: Function) -> Function:
    def run(x: Any) -> Any:
        z = x + 0.0
        z[d.place] = f(x)[0] * x[1]
        z[d.place - 1] += x[2]
        z[:2] *= x[d.place]
        return z + g(z)

    return run


def drawing(d: Drawn, f: Function, g: Function, erased: bool) -> Function:
    """Each turn draws by a key of its own."""

    def run(x: Any) -> Any:
        key = ad.random.key(d.place)

        def step(carry: Any, t: Any) -> Any:
            noise = ad.random.normal((N,), key=ad.random.fold_in(key, t), dtype="float64")
            return f(carry) * 0.5 + noise * ad.tanh(g(x))

        if not erased:
            return ad.scan(lambda carry, t: (step(carry, t), None), x, ad.arange(STEPS), memory=1 if d.c > 0 else None)[
                0
            ]
        carry = x
        for t in range(STEPS):
            carry = step(carry, t)
        return carry

    return run


Pair = tuple[Function, Function]


def chosen(d: Drawn, parts: Any) -> Function:
    f, g = parts
    return lambda x: ad.where(x.sum() > d.c, f(x), g(x) * 2.0)


# For each kind of program: erased, and as it is, given the two parts of either.
ERASED: list[Callable[[Drawn, Surroundings, Any, Any], Pair]] = [
    lambda d, s, e, w: (lambda x: e[0](e[1](x)), lambda x: w[0](w[1](x))),
    lambda d, s, e, w: (lambda x: e[0](x) * e[1](x) * 0.5 + x, lambda x: w[0](x) * w[1](x) * 0.5 + x),
    lambda d, s, e, w: (e[0], ad.jit(w[0])),
    lambda d, s, e, w: (e[0], ad.checkpoint(w[0])),
    lambda d, s, e, w: (e[0], ad.checkpoint(ad.jit(w[0]))),
    lambda d, s, e, w: (written_out(d, *e), scanned(d, *w)),
    lambda d, s, e, w: (written_out(d, *e), scanned(d, *w, memory=1)),
    lambda d, s, e, w: (written_out(d, *e), scanned(d, *w, unroll=2)),
    lambda d, s, e, w: (written_out(d, *e), counted(d, *w)),
    lambda d, s, e, w: (
        chosen(d, e), lambda x: ad.cond(x.sum() > d.c, w[0], lambda x: w[1](x) * 2.0, x)
    ),
    lambda d, s, e, w: (
        chosen(d, e), lambda x: ad.switch((x.sum() > d.c).astype("int64"), [lambda x: w[1](x) * 2.0, w[0]], x)
    ),
    lambda d, s, e, w: (
        lambda x: (e[0](x) + e[0](x * 0.7)) * 0.5,
        lambda x: ad.vmap(w[0])(ad.stack([x, x * 0.7])).mean(axis=0),
    ),
    lambda d, s, e, w: (
        lambda x: ad.stack([e[0](x * x[k]).sum() * x[k] for k in range(N)]),
        lambda x: ad.map(lambda t: w[0](x * t).sum() * t, x),
    ),
    lambda d, s, e, w: (by_rule(d, s, e[0], "erased"), by_rule(d, s, w[0], "custom_vjp")),
    lambda d, s, e, w: (by_rule(d, s, e[0], "erased"), by_rule(d, s, w[0], "custom_jvp")),
    lambda d, s, e, w: (by_rule(d, s, e[0], "erased"), by_rule(d, s, w[0], "host_call")),
    lambda d, s, e, w: (solved(e[0], None), solved(w[0], SOLVERS[int(abs(d.c) * 97) % len(SOLVERS)])),
    lambda d, s, e, w: (relaxed(d, e[0], True), relaxed(d, w[0], False)),
    lambda d, s, e, w: (in_place(d, *e), in_place(d, *w)),
    lambda d, s, e, w: (drawing(d, *e, True), drawing(d, *w, False)),
    lambda d, s, e, w: (lambda x: e[0](e[0](x) * 0.5), twice(ad.checkpoint(w[0]))),
    lambda d, s, e, w: (
        lambda x: e[0](x) + ad.stop_gradient(e[1](x)) * x, ad.jit(lambda x: w[0](x) + ad.stop_gradient(w[1](x)) * x)
    ),
    lambda d, s, e, w: (lambda x: ad.jacfwd(e[0])(x) @ x * 0.3, lambda x: ad.jacrev(w[0])(x) @ x * 0.3),
    lambda d, s, e, w: (
        lambda x: ad.jvp(e[0], (x,), (ad.cos(x),))[1], lambda x: ad.linearize(w[0], x)[1](ad.cos(x))
    ),
    lambda d, s, e, w: (
        lambda x: ad.grad(lambda y: (e[0](y) * s.w[0]).sum())(x),
        lambda x: ad.grad(ad.jit(lambda y: (w[0](y) * s.w[0]).sum()))(x),
    ),
]  # fmt: skip


def twice(f: Function) -> Function:
    return lambda x: f(f(x) * 0.5)


def built(d: Drawn, s: Surroundings) -> Pair:
    if not d.parts:
        leaf = LEAVES[d.kind](d, s)
        return leaf, leaf
    pairs = [built(part, s) for part in d.parts]
    return ERASED[d.kind](d, s, [e for e, _ in pairs], [w for _, w in pairs])


def by_argument(way: Callable[[Function, Any], Function]) -> Callable[[Function, Surroundings, Any], Any]:
    return lambda f, s, v: way(f, v)


def gradient(f: Function, v: Any) -> Function:
    return ad.grad(lambda x: (f(x) * v).sum())


def by_surroundings(f: Function, s: Surroundings, v: Any) -> Function:
    """The gradient by what all parts close over."""

    def value(x: Any, w: Any) -> Any:
        kept, s.w = s.w, w
        try:
            return (f(x) * v).sum()
        finally:
            s.w = kept

    return lambda x: ad.grad(lambda w: value(x, w))(s.w * 1.0)


WAYS: dict[str, Callable[[Function, Surroundings, Any], Function]] = {
    "value": by_argument(lambda f, v: f),
    "gradient": by_argument(gradient),
    "tangent": by_argument(lambda f, v: lambda x: ad.jvp(f, (x,), (v,))[1]),
    "jacfwd": by_argument(lambda f, v: ad.jacfwd(f)),
    "forward over reverse": by_argument(lambda f, v: lambda x: ad.jvp(gradient(f, v), (x,), (v,))[1]),
    "reverse over reverse": by_argument(lambda f, v: ad.grad(lambda x: (gradient(f, v)(x) ** 2).sum())),
    "hessian": by_argument(lambda f, v: ad.hessian(lambda x: (f(x) * v).sum())),
    "for each example": by_argument(lambda f, v: lambda x: ad.vmap(gradient(f, v))(ad.stack([x, x * 0.3]))),
    "by what is closed over": by_surroundings,
}


@settings(max_examples=2 * settings().max_examples)
@given(programs(2), st.sampled_from(sorted(WAYS)), st.integers(0, 10**6))
def test_transformations_erased(drawn: Drawn, way: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    x, v = [ad.tensor(generator.normal(size=N) * 0.7) for _ in range(2)]
    s = Surroundings(ad.variable(generator.normal(size=(N, N)) * 0.6))
    erased, whole = [WAYS[way](f, s, v) for f in built(drawn, s)]
    compiled = whole if way == "by what is closed over" else ad.jit(whole)
    for again in range(2):
        expected = erased(x).numpy()
        if not np.all(np.isfinite(expected)) or np.abs(expected).max() > 1e6:
            return
        for f in (whole, compiled):
            np.testing.assert_allclose(f(x).numpy(), expected, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected).max()))
        if not again:
            s.w.data = ad.tensor(generator.normal(size=(N, N)) * 0.6)
