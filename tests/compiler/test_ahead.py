"""What the steps of a small loop compute of slices alone is computed for many steps at once: the same bits, both ways, at
every length, and only where it pays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.control.body import close, planned_alone
from adjoint.machine import ahead
from adjoint.machine.scalars import ScalarLoop, loop_of
from adjoint.runtime import llvm
from loop_check import check
from loop_interpreter import Pointer, Run

LENGTHS = [1, 3, 8, 9, 21]


def step(c: Any, k: Any, x: Any, y: Any, u: Any) -> Any:
    """A carry, a constant, slices of three numbers, one of another dtype, and one that is read as it is."""
    angle = ad.sin(x[:2] * k) * ad.exp(-x[1:])
    other = ad.tanh(y).astype("float64")
    return c * k + ad.sum(angle) * u + other, angle[::-1], ad.cos(c + x[0])


def loop(dtype: str = "float64", function: Any = step) -> ScalarLoop:
    """The compiled loop of a step."""
    shapes = {"c": (), "k": (), "x": (3,), "y": (), "u": ()}
    dtypes = dict.fromkeys(shapes, "float64") | {"y": dtype}
    given = {name: ad.variable(np.zeros(shape, dtypes[name])) for name, shape in shapes.items()}
    inputs = [given[name].node for name in ("k", "c", "x", "y", "u")]
    outputs, inside, _ = close(inputs, [y.node for y in function(**given)])
    assert not inside
    plan, order, picks = planned_alone(inputs, outputs)
    found = loop_of(plan, order, [x.type for x in inputs], [y.type for y in outputs], 1, 1, picks)
    assert found is not None
    return found


def arrays(length: int, dtype: str) -> tuple[list[Any], list[Any]]:
    """Arrays for such a loop, and those of them that it writes. One angle is for the C library."""
    random = np.random.default_rng(length)
    x, y = random.normal(size=(length, 3)), random.normal(size=length).astype(dtype)
    x[length // 2] *= 1e9
    results = [np.zeros(()), np.zeros((length, 2)), np.zeros(length)]
    return [np.array(0.7), np.array(0.1), x, y, random.normal(size=length), *results], results


def ran(found: ScalarLoop, length: int, dtype: str, backwards: bool) -> list[Any]:
    given, results = arrays(length, dtype)
    assert found.run(given, length - 1 if backwards else 0, -1 if backwards else 1, length) == length
    return results


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_no_bit_changes(dtype: str, backwards: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [loop(dtype)]
    monkeypatch.setattr(ahead, "WORTH", 10**9)
    found.append(loop(dtype))
    assert found[0].text("loops") != found[1].text("loops") or llvm.vector_bits() < 256
    for length in LENGTHS:
        for a, b in zip(*[ran(one, length, dtype, backwards) for one in found], strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("backwards", [False, True])
def test_the_loop_interpreter_gives_these_bits(backwards: bool) -> None:
    found = loop()
    check([found.written])
    for length in LENGTHS:
        given, results = arrays(length, "float64")
        given[2] /= 1e9  # the interpreter has no C library
        inputs = [x.copy() for x in given]
        first, by = (length - 1, -1) if backwards else (0, 1)
        found.run(inputs, first, by, length)
        pointers = [Pointer(x.reshape(-1).view("u1"), 0) for x in given]
        assert Run({}, {}).call(found.written, [[*pointers, *[None] * len(found.fixed)], first, by, length]) == length
        for a, b in zip(results, inputs[-3:], strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_is_soon_done_stays_where_it_is() -> None:
    def short(c: Any, k: Any, x: Any, y: Any, u: Any) -> Any:
        return c * ad.abs(x[0]) + u * k + y, x[:2] * 2.0, ad.cos(c)

    assert "& 7" not in loop(function=short).text("loops")


def test_gradients_of_loops_are_those_of_the_formula() -> None:
    def last(a: Any) -> Any:
        return ad.while_loop(
            lambda c: c[1] < 1000, lambda c: (c[0] + 1e-3 * a * ad.sin(c[0]), c[1] + 1), (1.0 + 0 * a, 0)
        )[0]

    # x' = a sin x: tan(x / 2) grows by e to the a
    f, a = ad.jit(ad.value_and_grad(last)), ad.tensor(0.8)
    for _ in range(3):
        value, slope = f(a)
    angle = 2 * np.arctan(np.tan(0.5) * np.exp(0.8))
    assert abs(value.item() - angle) < 1e-3 and abs(slope.item() - np.sin(angle)) < 1e-3
