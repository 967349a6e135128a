"""Random programs of every kind of unit: loop nests, products, moves, pools, host steps, with their gradients.

`drawn(seed)` records one. Its arrays have any shapes, among them lengths around those at which code changes: whole vectors,
tiles, blocks of sums. Run as a script, this file prints a hash of the bits that native code gives for each seed, to compare two
versions of the engine: `python tests/helpers/random_graphs.py 0 1000 --bits 256 --threads 2`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import nn
from adjoint.execution.native.program import compile_nests
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.plan import Plan, build

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 129, 256, 513)
LARGE = (1000, 1025, 2048, 3000, 5000)
MOST = 1 << 15  # elements of an array
STEPS = (3, 24)

Made = ad.Tensor | None


class Program:
    """Tensors made so far, and how to make another one of them."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.dtype = "float32" if self.random.random() < 0.6 else "float64"
        self.sizes = [self.length() for _ in range(4)]
        self.variables: list[ad.Tensor] = []
        self.made: list[ad.Tensor] = []
        for _ in range(int(self.random.integers(1, 5))):
            self.leaf(self.shape())

    def choose(self, values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def length(self) -> int:
        return int(self.choose(LARGE if self.random.random() < 0.08 else LENGTHS))

    def shape(self) -> tuple[int, ...]:
        count = int(self.random.integers(1, 5))
        shape: list[int] = []
        for _ in range(count):
            n = self.choose(self.sizes) if self.random.random() < 0.8 else self.length()
            shape.append(n if np.prod(shape, dtype=int) * n <= MOST else int(self.random.integers(1, 4)))
        return tuple(shape)

    def values(self, shape: tuple[int, ...]) -> Any:
        kind = self.random.random()
        if kind < 0.1:  # zeros of both signs, and what is far from 1
            return self.random.choice([0.0, -0.0, 1.0, -2.5, 1e3], shape).astype(self.dtype)
        return self.random.normal(size=shape).astype(self.dtype)

    def leaf(self, shape: tuple[int, ...]) -> ad.Tensor:
        if self.random.random() < 0.7:
            made = ad.variable(self.values(shape))
            self.variables.append(made)
        else:
            made = ad.tensor(self.values(shape))
        self.made.append(made)
        return made

    def any(self) -> ad.Tensor:
        recent = self.made[-4:] if self.random.random() < 0.6 else self.made
        found: ad.Tensor = self.choose(recent)
        return found

    def partner(self, x: ad.Tensor) -> ad.Tensor | float:
        """What may be combined with x element by element."""
        kind = self.random.random()
        if kind < 0.15:
            return float(self.choose([0.0, 1.0, -1.0, 2.0, 0.5, -1.75, 3.0]))
        if kind < 0.35:  # broadcast along some axes
            shape = tuple([n if self.random.random() < 0.5 else 1 for n in x.shape])
            return self.leaf(shape[int(self.random.integers(0, len(shape))) :] if shape else ())
        like = [y for y in self.made if y.shape == x.shape]
        return self.choose(like)

    def step(self) -> None:
        x = self.any()
        if not x.shape and self.random.random() < 0.7:
            return
        made = self.choose(MAKERS)(self, x)
        if made is not None and 0 < made.size <= 4 * MOST:
            self.made.append(made)

    def outputs(self) -> list[ad.Tensor]:
        """What is asked for: some of what was made, and gradients of a sum over it."""
        floating = [x for x in self.made if x.dtype in (ad.float32, ad.float64)]
        asked = list({id(x): x for x in [floating[-1], *[self.choose(floating) for _ in range(3)]]}.values())
        found = [x for x in asked if x.node.inputs]
        if self.variables and self.random.random() < 0.7:
            total = sum([(x * x).sum() if self.random.random() < 0.5 else x.sum() for x in asked])
            if isinstance(total, ad.Tensor) and total.requires_grad:
                found += [g for g in ad.gradients(total, self.variables) if g is not None and g.node.inputs]
        return found or [self.made[-1] * 2.0 + 1.0]


# How one tensor is made of another ------------------------------------------------------------------------------------


UNARY: tuple[Callable[[Any], Any], ...] = (
    lambda x: ad.sin(x), lambda x: ad.tanh(x), lambda x: ad.exp(x * 0.1), lambda x: -x, lambda x: abs(x),
    lambda x: ad.sigmoid(x), lambda x: ad.sqrt(x * x + 1.0), lambda x: ad.log(x * x + 0.5), lambda x: x**2, lambda x: x**3,
    lambda x: nn.functional.relu(x), lambda x: nn.functional.gelu(x), lambda x: ad.clip(x, -0.5, 1.5),
    lambda x: 1.0 / (x * x + 1.0), lambda x: x.detach() + x, lambda x: ad.erf(x) if hasattr(ad, "erf") else ad.cos(x),
)  # fmt: skip
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / (y * y + 1.0), lambda x, y: ad.maximum(x, y),
    lambda x, y: ad.minimum(x, y), lambda x, y: ad.where(x > y, x, y * 0.5), lambda x, y: ad.hypot(x, y),
)  # fmt: skip


def unary(p: Program, x: ad.Tensor) -> Made:
    return p.choose(UNARY)(x)  # type: ignore[no-any-return]


def binary(p: Program, x: ad.Tensor) -> Made:
    return p.choose(BINARY)(x, p.partner(x))  # type: ignore[no-any-return]


def axes_of(p: Program, x: ad.Tensor) -> Any:
    kind = p.random.random()
    if kind < 0.15:
        return None
    if kind < 0.6:
        return -1
    return tuple(sorted(p.random.choice(x.ndim, int(p.random.integers(1, x.ndim + 1)), replace=False).tolist()))


def reduction(p: Program, x: ad.Tensor) -> Made:
    if not x.ndim:
        return None
    axes, keep = axes_of(p, x), bool(p.random.random() < 0.5)
    f = p.choose([ad.sum, ad.mean, ad.max, ad.min, ad.sum, ad.var])
    return f(x, axis=axes, keepdims=keep)  # type: ignore[no-any-return]


def rowwise(p: Program, x: ad.Tensor) -> Made:
    if not x.ndim:
        return None
    axis = int(p.random.integers(x.ndim))
    kind = p.random.integers(4)
    if kind == 0:
        return ad.softmax(x, axis=axis)
    if kind == 1:
        return ad.log_softmax(x, axis=axis)
    if kind == 2:
        return ad.logsumexp(x, axis=axis)
    return nn.functional.layer_norm(x, x.shape[-1:])


def product(p: Program, x: ad.Tensor) -> Made:
    if x.ndim < 2 or x.size > MOST:
        return None
    m = p.choose(p.sizes) if p.random.random() < 0.7 else p.length()
    if x.size * m > 1 << 22 or x.shape[-2] * m > MOST:
        return None
    kind = p.random.random()
    if kind < 0.25:
        return x @ x.mT
    batch = x.shape[:-2] if kind < 0.5 else ()
    if np.prod(batch, dtype=int) * x.shape[-1] * m > MOST:
        return None
    if kind < 0.75:
        return x @ p.leaf((*batch, x.shape[-1], m))
    return x @ p.leaf((*batch, m, x.shape[-1])).mT


def movement(p: Program, x: ad.Tensor) -> Made:
    if not x.ndim:
        return None
    kind = int(p.random.integers(5))
    if kind == 0:
        return ad.permute_dims(x, tuple(p.random.permutation(x.ndim).tolist()))
    if kind == 1:
        return x.reshape((-1,)) if p.random.random() < 0.5 else x.reshape((*x.shape[:-1], 1, x.shape[-1]))
    if kind == 2:
        index: list[Any] = []
        for n in x.shape:
            start = int(p.random.integers(n))
            stop = int(p.random.integers(start + 1, n + 1))
            index.append(start if p.random.random() < 0.2 else slice(start, stop, int(p.choose([1, 1, 1, 2]))))
        return x[tuple(index)]
    if kind == 3:
        times = int(p.random.integers(2, 4))
        return ad.broadcast_to(x[None], (times, *x.shape)) if x.size * times <= MOST else None
    return ad.flip(x, axis=int(p.random.integers(x.ndim)))


def joined(p: Program, x: ad.Tensor) -> Made:
    if not x.ndim:
        return None
    like = [y for y in p.made if y.shape == x.shape]
    parts = [p.choose(like) for _ in range(int(p.random.integers(2, 4)))]
    axis = int(p.random.integers(x.ndim))
    return ad.concat(parts, axis=axis) if p.random.random() < 0.6 else ad.stack(parts, axis=axis)


def indexed(p: Program, x: ad.Tensor) -> Made:
    if not x.ndim:
        return None
    count = int(p.random.integers(1, 9))
    axis = int(p.random.integers(x.ndim))
    index = ad.tensor(p.random.integers(-x.shape[axis], x.shape[axis], count))
    kind = p.random.random()
    if kind < 0.5:
        return ad.take(x, index, axis=axis)
    if kind < 0.8:
        return (
            x[index]
            if p.random.random() < 0.5 and axis == 0
            else x[..., ad.tensor(p.random.integers(0, x.shape[-1], count))]
        )
    start = int(p.random.integers(x.shape[0]))
    z = x * 1.0
    z[start:] = p.random.normal() if p.random.random() < 0.5 else ad.sin(x[start:])
    return z


def pooled(p: Program, x: ad.Tensor) -> Made:
    channels = int(p.random.integers(1, 5))
    side = int(p.random.integers(4, 13))
    images = p.leaf((int(p.random.integers(1, 4)), channels, side, side))
    if p.random.random() < 0.3:
        return nn.functional.max_pool2d(images, 2, 2)
    made = int(p.random.integers(1, 9))
    y = nn.functional.conv2d(images, p.leaf((made, channels, 3, 3)), padding=1)
    if p.random.random() < 0.5:
        return y
    y = ad.relu(y + p.leaf((made, 1, 1))) if p.random.random() < 0.5 else ad.tanh(y * 0.5) * y
    pool = nn.functional.max_pool2d if p.random.random() < 0.6 else nn.functional.avg_pool2d
    return pool(y, int(p.random.integers(1, 4))) if p.random.random() < 0.7 else y


def carried(p: Program, x: ad.Tensor) -> Made:
    """A short recurrence: equal stretches, one after another."""
    if x.ndim < 2 or x.shape[-1] > 65 or x.size > 1 << 13:
        return None
    w = p.leaf((x.shape[-1], x.shape[-1]))
    h = x
    for _ in range(int(p.random.integers(2, 6))):
        h = ad.tanh(h @ w * 0.1 + x) * 0.5 + h * 0.25
    return h


MAKERS: tuple[Callable[[Program, ad.Tensor], Made], ...] = (
    unary, unary, unary, binary, binary, binary, binary, reduction, reduction, rowwise, product, product, movement, movement,
    joined, indexed, pooled, carried,
)  # fmt: skip


def drawn(seed: int) -> list[ad.Tensor]:
    """What a random program computes; nothing is evaluated."""
    p = Program(seed)
    for _ in range(int(p.random.integers(*STEPS))):
        p.step()
    return p.outputs()


def planned(outputs: list[ad.Tensor]) -> tuple[Plan, list[Any], list[Any]]:
    """A plan of the outputs with its leaves and numbers."""
    c = canonicalize([y.node for y in outputs])
    plan = build(c, list(dict.fromkeys([c.number[y.node] for y in outputs])), False)
    return plan, [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]


def native(outputs: list[ad.Tensor]) -> list[Any] | None:
    """What machine code gives; None where there is nothing for it."""
    plan, leaves, numbers = planned(outputs)
    program = compile_nests(plan)
    if program is None:
        return None
    with np.errstate(all="ignore"):
        return program.run(leaves, numbers, True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--bits", type=int)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    if given.bits:
        os.environ["ADJOINT_VECTOR_BITS"] = str(given.bits)
    ad.set_num_threads(given.threads)
    for seed in range(given.first, given.last):
        try:
            found = native(drawn(seed))
        except Exception as error:
            print(seed, type(error).__name__, error, flush=True)
            continue
        digest = hashlib.sha256()
        for array in found or ():
            digest.update(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
        print(seed, None if found is None else digest.hexdigest()[:16], flush=True)


if __name__ == "__main__":
    main()
