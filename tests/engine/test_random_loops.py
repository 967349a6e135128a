"""Random loops: written out in Python, found in what was recorded, said by scan and while_loop; values, first and second
derivatives, early exits, branches and inner loops."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

Carry = tuple[ad.Tensor, ...]
MORE = 150
CHOSEN = "ad.where(t % 3.0 < 1.0, 0, ad.where({} > 0.0, 1, 2).max())"
GOES_ON = "lambda s: (s[0] < 9) & (ad.sum(s[1] ** 2) > 0.3)"


def term(draw: random.Random, shapes: list[tuple[int, ...]], i: int, depth: int = 0) -> str:
    """A formula for the next value of a carry, of the carries c, an input x, the number t of the step and parameters p."""

    def inner() -> str:
        return term(draw, shapes, i, depth + 1)

    own = [f"c[{j}]" for j, shape in enumerate(shapes) if shape == shapes[i]]
    a, p = draw.choice(own), f"p[{draw.randrange(3)}]"
    if depth > 2:
        return a
    kinds: list[Callable[[], str]] = [
        lambda: f"ad.sin({inner()})",
        lambda: f"({inner()} * {inner()})",
        lambda: f"({inner()} + 0.3 * {inner()})",
        lambda: f"ad.tanh({a} * {p})",
        lambda: f"({a} + x)",
        lambda: f"ad.where({a} > 0.1, {inner()}, {a} * 0.5)",
        lambda: f"({a} / (1.0 + {a} ** 2))",
        lambda: f"({p} * {a} + 0.1 * t)",
        lambda: f"({a} - {p})",
        lambda: f"({a} + ad.sum(c[{draw.randrange(len(shapes))}]) * 0.05)",
        lambda: f"ad.maximum({a}, {inner()} - 0.2)",
        lambda: f"ad.exp(-{a} ** 2)",
        lambda: f"ad.cond(ad.sum({a}) > 0.0, lambda v: v * 0.9, lambda v: ad.sin(v) - 0.1, {a})",
        lambda: f"ad.switch({CHOSEN.format(a)}, [ad.sin, lambda v: v * {p}, lambda v: v - 0.1 * v * v], {a})",
        lambda: f"ad.while_loop({GOES_ON}, lambda s: (s[0] + 1, ad.sin(s[1]) * 0.8), (0, {inner()}))[1]",
        lambda: f"ad.scan(lambda v, y: (v * 0.9 + y, v), {a}, ad.stack([{a}, {inner()}]))[1][1]",
        lambda: f"ad.fori_loop(0, {draw.randrange(1, 4)}, lambda i, v: ad.tanh(v) + 0.1 * i, {a})",
        lambda: f"({a} @ {draw.choice(own)} * 0.2)" if shapes[i] == (2, 2) else f"ad.roll({a}, 1)" if shapes[i] else a,
    ]
    return draw.choice(kinds)()


class Program:
    """A random step, how often it is repeated, and what it starts with."""

    def __init__(self, seed: int) -> None:
        draw, normal = random.Random(seed), np.random.default_rng(seed).normal
        shapes = [draw.choice([(), (), (3,), (2, 2)]) for _ in range(draw.randrange(1, 4))]
        carries = ", ".join(term(draw, shapes, i) for i in range(len(shapes)))
        self.text = f"lambda c, x, t, p: ({carries},)"
        self.step: Callable[[Any, Any, Any, Any], Carry] = eval(self.text, {"ad": ad})
        self.length = draw.choice([2, 3, 5, 8, 13, 21, 40])
        self.limit, self.memory = draw.uniform(0.2, 3), draw.choice([None, 2, 5])
        self.start = [ad.tensor(normal(size=shape) * 0.5, dtype="float64") for shape in shapes]
        self.weights = [ad.tensor(normal(size=shape), dtype="float64") for shape in shapes]
        self.xs, self.p, self.v = (ad.tensor(normal(size=n), dtype="float64") for n in (self.length, 3, 3))

    def loss(self, c: Any) -> ad.Tensor:
        return sum([ad.sum(a * w) for a, w in zip(c, self.weights, strict=True)])  # type: ignore[return-value]

    def goes_on(self, c: Carry) -> ad.Tensor:
        return ad.sum(ad.abs(c[0])) < self.limit

    def written_out(self, steps: int) -> Callable[..., ad.Tensor]:
        def loss(p: Any, *c: ad.Tensor) -> ad.Tensor:
            for t in range(steps):
                c = self.step(c, self.xs[t], float(t), p)
            return self.loss(c)

        return loss

    def scanned(self, p: Any, *c: ad.Tensor) -> ad.Tensor:
        xs = (self.xs, ad.arange(self.length, dtype="float64"))
        return self.loss(ad.scan(lambda c, x: (self.step(c, x[0], x[1], p), c[0]), c, xs)[0])

    def until(self, p: Any, *c: ad.Tensor) -> ad.Tensor:
        def step(state: Any) -> Any:
            t, c = state
            return t + 1, self.step(c, self.xs[t], t.astype("float64"), p)

        options = {} if self.memory is None else {"memory": self.memory}
        start = (ad.tensor(0), c)
        return self.loss(
            ad.while_loop(lambda s: ad.logical_and(s[0] < self.length, self.goes_on(s[1])), step, start, **options)[1]
        )

    def steps_until(self) -> int:
        c: Carry = tuple(self.start)
        for t in range(self.length):
            if not self.goes_on(c):
                return t
            c = self.step(c, self.xs[t], float(t), self.p)
        return self.length

    def everything(self, loss: Callable[..., ad.Tensor]) -> Callable[..., Any]:
        """The value, the gradients by all inputs, a tangent and the gradients of a directional derivative."""
        places = tuple(range(1 + len(self.start)))

        def slope(p: Any, *c: ad.Tensor) -> ad.Tensor:
            return ad.sum(ad.grad(loss)(p, *c) * self.v)

        def found(p: Any, *c: ad.Tensor) -> Any:
            value, gradients = ad.value_and_grad(loss, argnums=places)(p, *c)
            return value, gradients, ad.jvp(lambda q: loss(q, *c), (p,), (self.v,))[1], ad.grad(slope, places)(p, *c)

        return found

    def check(self, expected: Callable[..., ad.Tensor], *losses: Callable[..., ad.Tensor]) -> None:
        wanted = numbers(self.everything(expected)(self.p, *self.start))
        scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1.0)
        for loss in (expected, *losses):
            plain = self.everything(loss)
            fast = ad.jit(plain)
            for f in (plain, fast, fast):
                found = numbers(f(self.p, *self.start))
                np.testing.assert_allclose(found, wanted, 1e-8, 1e-11 * scale, err_msg=self.text)


def numbers(tree: Any) -> np.ndarray:
    return np.concatenate([x.numpy().ravel() for x in ad.tree.flatten(tree)[0]])


def check_loops(seed: int) -> None:
    program = Program(seed)
    program.check(program.written_out(program.length), program.scanned)


def check_early_exits(seed: int) -> None:
    program = Program(seed)
    program.check(program.written_out(program.steps_until()), program.until)
    points = ad.stack([program.p, program.p * 0.7, -program.p])
    both = ad.value_and_grad(lambda p: program.until(p, *program.start))
    each = [numbers(both(p)) for p in points]
    values, gradients = ad.vmap(both)(points)
    np.testing.assert_allclose(
        np.column_stack([values.numpy(), gradients.numpy()]), each, 1e-8, 1e-10, err_msg=program.text
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_loops(seed: int) -> None:
    check_loops(seed)


@pytest.mark.parametrize("seed", range(6))
def test_random_loops_that_end_early(seed: int) -> None:
    check_early_exits(seed)


@pytest.mark.slow
@pytest.mark.parametrize("check", [check_loops, check_early_exits])
def test_many_random_loops(check: Callable[[int], None]) -> None:
    for seed in range(100, 100 + MORE):
        check(seed)
