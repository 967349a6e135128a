"""Random compositions of NumPy's functions at odd shapes: values beside NumPy's, gradients beside central differences, under jit
too. Shapes are empty, without axes or of size one among others; some numbers are NaN, infinite or zeros of both signs."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
import adjoint.numpy as anp

SHAPES = [
    (),
    (1,),
    (3,),
    (5,),
    (0,),
    (2, 3),
    (1, 4),
    (4, 1),
    (0, 3),
    (3, 0),
    (2, 1, 3),
    (2, 0, 3),
    (3, 2, 2),
    (2, 3, 1, 2),
]
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)
PROGRAMS, TOGETHER = 240, 30
Array = np.ndarray[Any, Any]


class Steps:
    """Draws steps `x = ...` of the functions of a module m, the array x and an operand y."""

    def __init__(self, seed: int) -> None:
        self.draw, self.numbers = random.Random(seed), np.random.default_rng(seed)

    def axis(self, x: Array, none: bool = True) -> Any:
        choices = [*range(-x.ndim, x.ndim), *([None] if none or not x.ndim else [])]
        return self.draw.choice(choices)

    def index(self, x: Array) -> str:
        parts = []
        for n in x.shape:
            start = self.draw.randrange(-n - 1, n + 1)
            parts.append(
                self.draw.choice(["::-1", "::2", ":", f"{start}::-2", "None, :", str(start % n) if n else ":"])
            )
        if x.ndim and x.shape[0] and self.draw.random() < 0.3:
            parts[0] = str(
                self.numbers.integers(-x.shape[0], x.shape[0], self.draw.choice([(), (4,), (2, 1)])).tolist()
            )
        return f"x[{', '.join(parts) or '...'}]"

    def mask(self, x: Array) -> str:
        return f"m.asarray({(self.numbers.random(x.shape) < 0.7).tolist()}, dtype=bool).reshape({x.shape})"

    def reduced(self, x: Array) -> str:
        name = self.draw.choice(["sum", "mean", "prod", "var", "std", "nansum", "nanmean", "nanstd", "max", "min"])
        start = ", initial=0.3" if name in ("max", "min") else ""
        where = f", where={self.mask(x)}" if self.draw.random() < 0.4 else ""
        return f"m.{name}(x, axis={self.axis(x)}, keepdims={self.draw.random() < 0.5}{start}{where})"

    def along(self, x: Array) -> str:
        call = self.draw.choice([
            "cumsum(x, axis={})", "cumprod(x, axis={})", "sort(x, axis={})", "flip(x, axis={})", "median(x, axis={})",
            "nanmedian(x, axis={})", "ptp(x, axis={})", "repeat(x, 2, axis={})", "roll(x, -4, axis={})",
            "delete(x, [0], axis={})", "insert(x, 0, 2.5, axis={})", "append(x, x, axis={})",
            "average(x, axis={})", "linalg.norm(x, axis={})", "nanmax(x, axis={})",
        ])  # fmt: skip
        return f"m.{call.format(self.axis(x))}"

    def along_one(self, x: Array) -> str:
        call = self.draw.choice([
            "diff(x, n=2, axis={})", "gradient(x, 0.5, axis={})", "trapezoid(x, dx=0.3, axis={})", "fft.hfft(x, 5, axis={})",
            "take_along_axis(x, m.argsort(-x, axis={0}, kind='stable'), axis={0})", "stack([x, -x], axis={})",
            "concatenate(m.array_split(x, [1, 3], axis={0})[::-1], axis={0})", "expand_dims(x, axis={})",
        ])  # fmt: skip
        return f"m.{call.format(self.axis(x, False))}"

    def between(self, x: Array) -> str:
        """Its NumPy makes NaN of equal infinities."""
        q, method = (
            self.draw.choice(["0.3", "[0.1, 0.77]", "0.0"]),
            self.draw.choice(["linear", "lower", "hazen", "nearest"]),
        )
        return f"m.quantile(x, {q}, axis={self.axis(x)}, method='{method}')"

    def plain(self, x: Array) -> str:
        k = self.draw.randrange(-2, 3)
        widths = [(self.draw.randrange(3), self.draw.randrange(3)) for _ in x.shape] or 0
        mode = self.draw.choice(
            ["constant", "edge", "reflect", "symmetric", "wrap", "mean", "maximum", "median", "linear_ramp"]
        )
        return self.draw.choice([
            "m.sin(x)", "m.tanh(x * y)", "x + y", "m.maximum(x, y)", "m.fmin(x, y)", "m.hypot(x, y)", "m.where(x > y, x, y)",
            "m.clip(x, -0.4, 0.9)", "m.nan_to_num(x)", "m.atleast_2d(x)", "m.dstack([x, x])", "m.column_stack([x, x])",
            f"m.tril(x, {k})", f"m.triu(x, {k})", f"m.diagonal(x, {k})", f"m.trace(x, {k})", f"m.rot90(x, {k})", "m.squeeze(x)",
            f"m.transpose(x, {self.draw.sample(range(x.ndim), x.ndim)})", f"m.reshape(x, {x.shape[::-1]})", "m.tile(x, (2, 1))",
            f"m.pad(x, {widths}, mode='{mode}')", f"x[{self.mask(x)}]", "m.outer(x, y)", "m.kron(x, y)",
            "m.einsum('...i->...', x)", "m.matmul(x, m.swapaxes(x, -1, -2))", "m.interp(x, [-1.0, 0.0, 2.0], [1.0, 3.0, 2.0])",
            "m.cov(x, rowvar=False)",
            f"m.correlate(m.ravel(x), [1.0, -2.0, 0.5], '{self.draw.choice(['same', 'full', 'valid'])}')",
            "m.digitize(x, [-1.0, 0.1, 1.0]) * x", "m.select([x > 0.5, x < -0.5], [x * x, -x], x / 3)",
        ])  # fmt: skip

    def programs(self) -> tuple[list[str], Array, Array]:
        """Steps that NumPy takes, and what x and y are at first."""
        shape = self.draw.choice(SHAPES)
        x = self.numbers.normal(size=shape) * 1.5
        special = self.draw.random() < 0.3
        if special:
            x = np.where(self.numbers.random(shape) < 0.3, self.numbers.choice(SPECIAL, shape), x)
        x, y = np.asarray(x), np.asarray(self.numbers.normal(size=self.draw.choice([shape, (), (1,)])))
        kinds = [self.plain, self.plain, self.plain, self.reduced, self.along, self.along_one, self.index]
        steps: list[str] = []
        value = x
        for _ in range(self.draw.randrange(2, 9)):
            step = self.draw.choice(kinds if special else [*kinds, self.between])(value)
            try:
                result = run([step], np, value, y)
            except (ValueError, IndexError, TypeError, ZeroDivisionError):
                continue
            if (
                len(steps) < 4
                and isinstance(result, (np.ndarray, np.float64))
                and result.dtype == "f8"
                and result.size < 1000
            ):
                steps.append(step)
                value = np.asarray(result)
        return steps, x, y


def run(steps: list[str], m: Any, x: Any, y: Any) -> Any:
    for step in steps:
        x = eval(step, {"m": m, "x": x, "y": y})
    return x


def slopes(f: Callable[[Array], float], x: Array, by: float) -> Array:
    """Central differences."""
    found = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        there, back = x.copy(), x.copy()
        there[place] += by
        back[place] -= by
        found[place] = (f(there) - f(back)) / (2 * by)
    return found


@pytest.mark.parametrize("first", range(0, PROGRAMS, TOGETHER))
def test_compositions(first: int) -> None:
    for seed in range(first, first + TOGETHER):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            steps, x, y = Steps(seed).programs()
            check(seed, steps, x, y)


def check(seed: int, steps: list[str], x: Array, y: Array) -> None:
    said = f"program {seed}: {'; '.join(steps)}"
    expected = np.asarray(run(steps, np, x, y))
    tensors = ad.tensor(x), ad.tensor(y)
    found = run(steps, anp, *tensors)
    np.testing.assert_allclose(found.numpy(), expected, 1e-9, 1e-9, err_msg=said)
    assert found.shape == expected.shape and found.dtype == "float64", said
    if not x.size or not expected.size or not (np.isfinite(x).all() and np.isfinite(expected).all() and (x != 0).all()):
        return
    weights = np.cos(np.arange(expected.size)).reshape(expected.shape)
    loss = ad.jit(lambda x, y: (run(steps, anp, x, y) * weights).sum())
    gradient = ad.grad(loss)(*tensors).numpy()
    coarse, fine = [slopes(lambda z: float((run(steps, np, z, y) * weights).sum()), x, by) for by in (1e-5, 1e-6)]
    smooth = np.abs(coarse - fine) <= 1e-4 * (1 + np.abs(coarse))  # elsewhere a step crosses a kink
    np.testing.assert_allclose(gradient[smooth], fine[smooth], 1e-3, 1e-3, err_msg=said)
