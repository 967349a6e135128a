"""Programs that Hypothesis draws: smooth steps that NumPy computes too, with dead branches between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import adjoint as ad

Values = list[Any]


@dataclass(frozen=True)
class Step:
    """One instruction: a smooth function of earlier values, the same for NumPy (through ``np``) and for tensors."""

    text: str
    compute: Callable[[Any, Values], Any]


@dataclass(frozen=True)
class Program:
    """Inputs, and steps that each append a value; the last few are the outputs."""

    inputs: tuple[np.ndarray, ...]
    steps: tuple[Step, ...]
    outputs: int

    def run(self, library: Any, inputs: Sequence[Any]) -> Values:
        found = list(inputs)
        with np.errstate(all="ignore"):
            for step in self.steps:
                found.append(step.compute(library, found))
        return found

    def of_tensors(self, *inputs: ad.Tensor) -> list[ad.Tensor]:
        return self.run(ad, inputs)[-self.outputs :]

    def __repr__(self) -> str:
        shapes = ", ".join(str(x.shape) for x in self.inputs)
        return f"inputs {shapes}; " + "; ".join(step.text for step in self.steps) + f"; the last {self.outputs}"


# Smooth everywhere and bounded enough that programs of them stay so. Each in names that NumPy and the engine share.
UNARY: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda lib, x: lib.sin(x),
    "cos": lambda lib, x: lib.cos(x * 1.5),
    "tanh": lambda lib, x: lib.tanh(x),
    "atan": lambda lib, x: lib.atan(x),
    "exp": lambda lib, x: lib.exp(lib.tanh(x)),
    "expm1": lambda lib, x: lib.expm1(lib.sin(x)),
    "log": lambda lib, x: lib.log(1.5 + lib.cos(x)),
    "log1p": lambda lib, x: lib.log1p(x * x),
    "sqrt": lambda lib, x: lib.sqrt(1 + x**2),
    "asinh": lambda lib, x: lib.asinh(x),
    "square": lambda lib, x: lib.square(lib.tanh(x)),
    "reciprocal": lambda lib, x: 1 / (1 + x * x),
    "negative": lambda lib, x: -x,
    "power": lambda lib, x: (1.1 + lib.sin(x)) ** 1.7,
    "base": lambda lib, x: 2.0 ** lib.tanh(x),
    "flip": lambda lib, x: lib.flip(x),
    "prod": lambda lib, x: lib.prod(1 + 0.1 * lib.sin(x), axis=None, keepdims=True),
}
BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda lib, x, y: x + y,
    "subtract": lambda lib, x, y: x - 0.5 * y,
    "multiply": lambda lib, x, y: x * lib.tanh(y),
    "divide": lambda lib, x, y: x / (1.5 + lib.sin(y)),
    "power": lambda lib, x, y: (1.2 + lib.cos(x)) ** lib.tanh(y),
    "hypot": lambda lib, x, y: lib.hypot(1 + x * x, y),
    "atan2": lambda lib, x, y: lib.atan2(x, 1.1 + lib.cos(y)),
    "logaddexp": lambda lib, x, y: lib.logaddexp(x, y),
}


# Infinite or undefined in value and slope wherever they are computed: for branches that are not taken.
DEAD: dict[str, Callable[[Any, Any], Any]] = {
    "log": lambda lib, x: lib.log(x * 0),
    "reciprocal": lambda lib, x: 1 / (x * 0),
    "sqrt": lambda lib, x: lib.sqrt(x - x) * 3,
    "nan": lambda lib, x: lib.sqrt(-1 - x * x),
    "power": lambda lib, x: (x - x) ** -1.5,
    "overflow": lambda lib, x: lib.exp(1000 + x) * lib.sin(x),
}


def broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(one[::-1], other[::-1], strict=False))


KINDS = ["one", "two", "two", "reduce", "move", "index", "assign", "matmul", "concat", "where", "dead"]


@st.composite
def steps(draw: st.DrawFn, shapes: list[tuple[int, ...]]) -> tuple[Step, tuple[int, ...]]:
    """An instruction that fits the values so far."""
    i = draw(st.integers(0, len(shapes) - 1))
    shape = shapes[i]
    kind = draw(st.sampled_from(KINDS))
    others = [j for j, other in enumerate(shapes) if broadcast(shape, other)]
    j = draw(st.sampled_from(others))
    axis = draw(st.integers(-len(shape), len(shape) - 1)) if shape else None
    if kind == "two":
        name = draw(st.sampled_from(sorted(BINARY)))
        return step(f"{name}({i}, {j})", lambda lib, v: BINARY[name](lib, v[i], v[j]), shapes)
    if kind == "reduce" and shape:
        name, keep = draw(st.sampled_from(["sum", "mean", "var"])), draw(st.booleans())
        return step(
            f"{name}({i}, {axis}, {keep})", lambda lib, v: getattr(lib, name)(v[i], axis=axis, keepdims=keep), shapes
        )
    if kind == "move" and shape:
        order = tuple(draw(st.permutations(range(len(shape)))))
        return step(f"permute({i}, {order})", lambda lib, v: lib.permute_dims(v[i], order), shapes)
    if kind == "index" and shape:
        index = draw(st.sampled_from([0, -1, slice(None, None, -1), slice(0, None, 2), (..., None), [0, 0, -1]]))
        return step(f"{i}[{index}]", lambda lib, v: v[i][index], shapes)
    if kind == "assign" and shape:
        index = draw(st.sampled_from([0, -1, slice(0, None, 2), [0]]))

        def assign(lib: Any, v: Values) -> Any:
            changed = v[i] * 1
            changed[index] = lib.sin(v[j]).sum() * 0.3
            changed += v[i]
            return changed

        return step(f"{i}[{index}] = sum(sin({j}))", assign, shapes)
    if kind == "matmul":
        fits = [j for j, other in enumerate(shapes) if len(shape) == 2 == len(other) and shape[1] == other[0]]
        if fits:
            k = draw(st.sampled_from(fits))
            return step(f"{i} @ {k}", lambda lib, v: lib.matmul(v[i], v[k]) * 0.4, shapes)
    if kind == "concat" and shape:
        return step(f"concat({i}, {i})", lambda lib, v: lib.concat([v[i], lib.cos(v[i])], axis=axis), shapes)
    if kind == "where":
        return step(f"where({j}, {i})", lambda lib, v: lib.where(lib.ones_like(v[j]) > 0, v[i], v[j] * 1e300), shapes)
    if kind == "dead":
        name = draw(st.sampled_from(sorted(DEAD)))

        def live(lib: Any, v: Values) -> Any:
            return lib.where(lib.cos(v[i] * 0) > 0, v[i], DEAD[name](lib, v[j]))

        return step(f"where(True, {i}, dead {name}({j}))", live, shapes)
    name = draw(st.sampled_from(sorted(UNARY)))
    return step(f"{name}({i})", lambda lib, v: UNARY[name](lib, v[i]), shapes)


def step(
    text: str, compute: Callable[[Any, Values], Any], shapes: list[tuple[int, ...]]
) -> tuple[Step, tuple[int, ...]]:
    with np.errstate(all="ignore"):
        return Step(text, compute), np.shape(compute(np, [np.zeros(shape) for shape in shapes]))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    shapes = draw(st.lists(st.sampled_from([(), (3,), (2, 3), (3, 2), (2, 1), (1, 3), (3, 3)]), min_size=1, max_size=3))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    inputs = tuple(generator.uniform(-1.5, 1.5, shape) for shape in shapes)
    chosen = []
    for _ in range(draw(st.integers(1, 8))):
        new, shape = draw(steps(shapes))
        assume(np.prod(shape, dtype=int) <= 64 and len(shape) <= 4)
        chosen.append(new)
        shapes = [*shapes, shape]
    program = Program(inputs, tuple(chosen), draw(st.integers(1, min(2, len(chosen)))))
    assume(all(np.abs(value).max(initial=0) < 50 for value in program.run(np, inputs)))
    return program
