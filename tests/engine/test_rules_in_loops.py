"""Derivative rules of one's own in loops and branches that read tensors from outside: beside the same program written out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from support import some

X = np.array([0.2, 0.3])
FIRST, SECOND = np.array([2.0, 3.0]), np.array([4.0, 5.0])


def by_vjp(b: Any, w: Any) -> Any:
    @ad.custom_vjp
    def f(b: Any) -> Any:
        return b * 2.0

    f.def_vjp(lambda b: (b * 2.0, (ad.sin(b) * w, w * 2)), lambda saved, u: (u * saved[0] + saved[1] * u,))
    return f(b)


def by_two_results(b: Any, w: Any) -> Any:
    @ad.custom_vjp
    def f(a: Any, b: Any) -> Any:
        return a * 2.0, b * 3.0

    f.def_vjp(lambda a, b: ((a * 2.0, b * 3.0), None), lambda _, u: (u[0] * w, u[1] * w * 2))
    y = f(b, b * 0.5)
    return y[0] + y[1] * 0.1


def by_function(b: Any, w: Any) -> Any:
    class F(ad.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, u: Any) -> Any:
            return u * w

    return F.apply(b)


def by_host_call(b: Any, w: Any) -> Any:
    return ad.host_call(lambda v: v * 2.0, b, shape=b.shape, dtype="float64", vjp=lambda u, x: (u * w,))


def by_fixed_point(b: Any, w: Any) -> Any:
    return ad.fixed_point(lambda z: 0.3 * ad.sin(z * w) + b * 2.0, b * 0.0).x


def by_constant(b: Any, w: Any) -> Any:
    """What the rule computes of constants alone was NaN."""
    identity = ad.tensor(np.eye(2))

    @ad.custom_vjp
    def f(b: Any) -> Any:
        return b * 2.0

    f.def_vjp(lambda b: (b * 2.0, None), lambda _, u: (((identity + identity * 0.0) @ u) * w,))
    return f(b)


RULES = [by_vjp, by_two_results, by_function, by_host_call, by_fixed_point, by_constant]
INSIDE: dict[str, Callable[[Any], Any]] = {
    "alone": lambda f: f,
    "cond": lambda f: lambda c: ad.cond(c.sum() > -100, f, lambda z: z * 3.0, c),
    "scan": lambda f: lambda c: ad.scan(lambda a, _: (f(a) * 0.5, None), c, length=2)[0],
    "while_loop": lambda f: lambda c: ad.while_loop(lambda a: a[0] < 2, lambda a: (a[0] + 1, f(a[1]) * 0.5), (0, c))[1],
    "vmap": lambda f: lambda c: ad.vmap(lambda a: f(a * ad.ones((2,), dtype="float64")).sum())(c),
    "checkpoints in a row": lambda f: (lambda g: lambda c: g(g(c) * 0.3))(ad.checkpoint(f)),
    "cond of scan": lambda f: (
        lambda c: ad.cond(
            c.sum() > -100, lambda c: ad.scan(lambda a, _: (f(a) * 0.5, None), c, length=2)[0], lambda z: z * 3.0, c
        )
    ),
}


def written_out(f: Any, x: Any) -> Any:
    c = x
    for t in (x, x * 0.5, x):
        c = f(c) * 0.25 + t
    return c


LOOPS: dict[str, Callable[[Any, Any], Any]] = {
    "scan with memory": lambda f, x: ad.scan(
        lambda c, t: (f(c) * 0.25 + t, None), x, ad.stack([x, x * 0.5, x]), memory=1
    )[0],
    "while_loop": lambda f, x: ad.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, f(c[1]) * 0.25 + ad.stack([x, x * 0.5, x])[c[0]]), (0, x)
    )[1],
}


def found(loop: Callable[[Any, Any], Any], rule: Any, inside: Any) -> list[Any]:
    """Gradients through a loop: compiled before and after what the rule reads changes; for each example, with other tensors read;
    and the derivative of a gradient by what the rule reads."""
    w, x = ad.variable(FIRST), ad.tensor(X)

    def gradient(w: Any) -> Any:
        return ad.grad(lambda z: loop(inside(lambda b: rule(b, w)), z).sum())(x)

    compiled = ad.jit(lambda x: ad.grad(lambda z: loop(inside(lambda b: rule(b, w)), z).sum())(x))
    results = [compiled(x).numpy()]
    w.data = ad.tensor(SECOND)
    results += [compiled(x).numpy(), gradient(w).numpy()]
    results.append(ad.vmap(gradient)(ad.tensor(np.stack([FIRST, SECOND]))).numpy())
    results.append(ad.grad(lambda w: gradient(w).sum())(ad.tensor(FIRST)).numpy())
    return results


@pytest.mark.parametrize(("rule", "place"), some(itertools.product(RULES, INSIDE), 2))
def test_rules_read_what_is_outside_of_a_loop(rule: Any, place: str) -> None:
    inside = INSIDE[place]
    expected = found(written_out, rule, inside)
    assert not np.allclose(expected[0], expected[1])  # it matters what the rule reads
    for name, loop in LOOPS.items():
        for got, want in zip(found(loop, rule, inside), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-7, err_msg=name)


def test_a_rule_that_raises_is_asked_only_for_derivatives() -> None:
    @ad.custom_vjp
    def f(x: Any) -> Any:
        return x * 2.0

    def backward(_: Any, u: Any) -> Any:
        raise ArithmeticError("no derivative here")

    f.def_vjp(lambda x: (x * 2.0, None), backward)
    x = ad.variable(X)
    y = ad.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, f(c[1])), (0, x))[1]
    np.testing.assert_allclose(y.numpy(), 8 * X)
    with pytest.raises(ArithmeticError, match="no derivative here"):
        ad.gradients(y.sum(), x).numpy()
