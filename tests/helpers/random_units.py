"""Random programs around one unit of a rare kind: how its operands lie in memory, what is computed just before and behind it, and
its derivatives of first and second order, at lengths around those at which code changes.

`drawn(seed, sizes)` records one. What is drawn of `seed` alone is its structure; so other `sizes` give programs that are equal
but for extents, whose code may follow from each other's. `random_graphs` draws long programs of common operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

F = ad.nn.functional
L = ad.linalg
LENGTHS = [*range(1, 14), 15, 16, 17, 19, 23, 24, 25, 31, 32, 33, 37, 40, 47, 48, 49, 63, 64, 65, 67, 70, 96, 97]
LONG = [127, 128, 129, 193, 255, 256, 257, 511, 512, 513]
STACKS = [1, 2, 3, 4, 5, 7, 8, 9, 11, 16, 17, 20, 33]
MOST = 1 << 14  # elements of an array
WORK = 1 << 20  # multiplications of a product

REAL: tuple[Callable[[Any], Any], ...] = (
    ad.sin, ad.tanh, lambda x: ad.exp(x * 0.1), lambda x: -x, ad.sigmoid, lambda x: ad.sqrt(x * x + 1.0), F.gelu,
    lambda x: ad.relu(x) + 0.1 * x, lambda x: 1.0 / (x * x + 1.0), lambda x: x * 0.5, lambda x: x + 1.0, abs,
    lambda x: ad.clip(x, -1.0, 1.5), lambda x: ad.tanh(x.mT).mT if x.ndim > 1 else x,
)  # fmt: skip
COMPLEX: tuple[Callable[[Any], Any], ...] = (
    lambda x: ad.sin(x * 0.3), ad.conj, lambda x: -x, lambda x: x * 0.5j, lambda x: x / (ad.abs(x) + 1.0),
    lambda x: x * x * 0.3, lambda x: ad.real(x) + 0.2 * x,
)  # fmt: skip


class Unit:
    """What is drawn: the structure by one generator, sizes and data by others."""

    def __init__(self, seed: int, sizes: int) -> None:
        self.random = np.random.default_rng(seed)
        self.lengths, self.data = np.random.default_rng([seed, sizes]), np.random.default_rng([seed, sizes, 1])
        self.real = "float32" if self.random.random() < 0.5 else "float64"
        self.variables: list[ad.Tensor] = []

    def choose(self, values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def length(self, values: Any = None) -> int:
        values = values or (LONG if self.lengths.random() < 0.08 else LENGTHS)
        return int(values[int(self.lengths.integers(len(values)))])

    def dtype(self, share: float = 0.15) -> str:
        complex_one = "complex64" if self.real == "float32" else "complex128"
        return complex_one if self.chance(share) else self.real

    def shape(self, *, least: int = 1, most: int = 3) -> list[int]:
        count = int(self.random.integers(least, most + 1))
        shape = [self.length(STACKS if k < count - 2 else None) for k in range(count)]
        while np.prod(shape) > MOST:
            shape[int(np.argmax(shape))] = self.length(range(1, 20))
        return shape

    def leaf(self, shape: Any, dtype: str) -> ad.Tensor:
        """Values that lie in order, transposed, apart, backwards, or are repeated."""
        shape, way = list(shape), self.choose("oooatspbr") if shape else "o"
        axis = int(self.random.integers(len(shape))) if shape else 0
        given, index = list(shape), [slice(None)] * len(shape)
        if way == "s":
            given[axis], index[axis] = 2 * shape[axis] + 1, slice(1, 1 + 2 * shape[axis], 2)
        elif way == "p":
            given[axis], index[axis] = shape[axis] + 3, slice(2, 2 + shape[axis])
        elif way == "t":
            given = shape[::-1]
        elif way == "r":
            given[axis] = 1
        values = self.data.normal(size=given) + (1j * self.data.normal(size=given) if dtype[0] == "c" else 0)
        x = ad.variable(np.asarray(values).astype(dtype)) if self.chance(0.75) else ad.tensor(values.astype(dtype))
        self.variables += [x] if x.requires_grad else []
        if way == "t":
            return ad.permute_dims(x, tuple(range(len(shape)))[::-1])
        if way == "b":
            return ad.flip(x, axis=axis)
        return ad.broadcast_to(x, tuple(shape)) if way == "r" else x[tuple(index)] if way in "sp" else x

    def operand(self, shape: Any, dtype: str) -> ad.Tensor:
        x = self.leaf(shape, dtype)
        for _ in range(self.choose([0, 0, 1, 1, 2])):
            x = self.beside(x)
        return x

    def beside(self, x: ad.Tensor) -> ad.Tensor:
        """What a loop nest computes of it."""
        is_complex, kind, dtype = is_complex_one(x), self.random.random(), x.dtype.name
        if kind < 0.55 or not x.ndim:
            return self.choose(COMPLEX if is_complex else REAL)(x)  # type: ignore[no-any-return]
        if kind < 0.8:
            y = self.leaf([n if self.chance(0.55) else 1 for n in x.shape], dtype)
            if is_complex or self.chance(0.6):
                return self.choose([lambda: x + y, lambda: x * y, lambda: y - x, lambda: x / (ad.abs(y) + 1.0)])()  # type: ignore[no-any-return]
            return ad.maximum(x, y) if self.chance(0.5) else ad.where(y > 0, x, x * 0.5 + 0.25)
        axis = int(self.random.integers(x.ndim))
        if is_complex or self.chance(0.5):
            return x - ad.mean(x, axis=axis, keepdims=True) * 0.5
        return ad.softmax(x, axis=axis) if self.chance(0.5) else F.layer_norm(x, x.shape[-1:])

    def moved(self, x: ad.Tensor) -> ad.Tensor:
        axis = int(self.random.integers(x.ndim))
        return self.choose([  # type: ignore[no-any-return]
            lambda: ad.permute_dims(x, tuple(range(x.ndim))[::-1]), lambda: x.reshape((-1,)), lambda: ad.flip(x, axis=axis),
            lambda: ad.concat([x, x * 0.5], axis=axis), lambda: ad.roll(x, 2, axis=axis), lambda: ad.stack([x, x * x], axis=axis),
            lambda: x[tuple([slice(n // 3, None, 2) if k == axis else slice(None) for k, n in enumerate(x.shape)])],
            lambda: ad.pad(x, [(1, 2) if k == axis else (0, 0) for k in range(x.ndim)]),
        ])()  # fmt: skip

    def reduced(self, x: ad.Tensor) -> ad.Tensor:
        axes = tuple([k for k in range(x.ndim) if self.chance(0.5)]) or (x.ndim - 1,)
        keep = self.chance(0.4)
        if is_complex_one(x):
            return ad.sum(x, axis=axes, keepdims=keep)
        f = self.choose([ad.sum, ad.mean, ad.var, ad.max, ad.min, ad.logsumexp])
        return f(x, axis=axes, keepdims=keep)  # type: ignore[no-any-return]


def is_complex_one(x: ad.Tensor) -> bool:
    return bool(x.dtype.name.startswith("complex"))


def product(u: Unit) -> ad.Tensor:
    """Matrices or stacks of them, of which one may be the same for all, behind and before what nests compute."""
    stack, (n, k, m) = u.length(STACKS), [u.length() for _ in range(3)]
    while n * k * m * stack > WORK or stack * max(n * k, k * m, n * m) > MOST:
        stack, (n, k, m) = u.length([1, 2, 3, 5, 7]), [u.length(range(1, 30)) for _ in range(3)]
    dtype = u.dtype()
    first, second = [[stack] if u.chance(0.6) else [1] if u.chance(0.3) else [] for _ in range(2)]
    x, y = u.operand([*first, n, k], dtype), u.operand([*second, k, m], dtype)
    z = x @ y / float(np.sqrt(k))
    further = u.choose("none right gram back".split())
    if further == "right":
        return u.beside(z) @ u.operand([m, u.length(range(1, 20))], dtype) / float(np.sqrt(m))
    return (
        z.mT @ x / float(np.sqrt(n)) if further == "back" else z @ z.mT / float(np.sqrt(m)) if further == "gram" else z
    )


def convolution(u: Unit) -> ad.Tensor:
    groups, kernel, stride, padding = (
        u.choose([1, 1, 2]),
        u.choose([1, 2, 3, 3, 5]),
        u.choose([1, 1, 2]),
        u.choose([0, 1]),
    )
    side = [u.length(range(kernel, 16)) for _ in range(2)]
    given, made = groups * u.length(range(1, 20)), groups * u.length(range(1, 20))
    x = u.operand([u.length([1, 2, 3]), given, *side], u.real)
    y = F.conv2d(
        x, u.operand([made, given // groups, kernel, kernel], u.real), stride=stride, padding=padding, groups=groups
    )
    y = u.beside(y / float(kernel * np.sqrt(given)))
    if min(y.shape[2:]) < 4:
        return y
    return u.choose(
        [lambda: y, lambda: F.max_pool2d(y, 2), lambda: F.avg_pool2d(y, 3, 2, 1), lambda: F.max_pool2d(y, 3, 1)]
    )()  # type: ignore[no-any-return]


def transform(u: Unit) -> ad.Tensor:
    shape, name = u.shape(), u.choose(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
    axis = int(u.random.integers(len(shape)))
    x = u.operand(shape, u.real if name in ("rfft", "ihfft") else u.dtype(0.7))
    y = getattr(ad.fft, name)(x, n=u.length(range(1, 70)) if u.chance(0.4) else max(2, shape[axis]), axis=axis)
    return y / float(np.sqrt(shape[axis]))  # type: ignore[no-any-return]


def running(u: Unit) -> ad.Tensor:
    shape = u.shape()
    x, axis = u.operand(shape, u.real), int(u.random.integers(len(shape)))
    return u.choose([  # type: ignore[no-any-return]
        lambda: ad.cumulative_sum(x, axis=axis), lambda: ad.cumulative_prod(1 + 0.1 * ad.tanh(x), axis=axis),
        lambda: ad.logcumsumexp(x, axis=axis), lambda: ad.flip(ad.cumulative_sum(ad.flip(x, axis=axis), axis=axis), axis=axis),
        lambda: ad.sort(x, axis=axis), lambda: ad.take_along_axis(x, ad.argsort(-x, axis=axis), axis=axis),
        lambda: ad.max(x, axis=axis) + ad.argmax(x, axis=axis).astype(u.real),
        lambda: x + ad.searchsorted(ad.sort(u.operand([u.length()], u.real)), x).astype(u.real),
    ])()  # fmt: skip


def factorization(u: Unit) -> ad.Tensor:
    n, stack, dtype = u.length(range(1, 50)), u.choose([[], [u.length(STACKS)]]), u.dtype(0.25)
    stack = stack if n < 20 else stack[:0]
    a, one = u.operand([*stack, n, n], dtype), ad.tensor(np.eye(n).astype(dtype))
    good = a * float(0.3 / np.sqrt(n)) + 2.0 * one
    positive = a @ ad.conj(a.mT) / float(n) + one
    apart = ad.tensor(np.diag(np.linspace(1, 3, n)).astype(dtype)) + 0.1 * (a + ad.conj(a.mT)) / float(n)
    columns = [*stack, n, u.length(range(1, 20))]
    return u.choose([  # type: ignore[no-any-return]
        lambda: L.solve(good, u.operand(columns, dtype)), lambda: L.inv(good), lambda: L.cholesky(positive),
        lambda: L.det(good * 0.5), lambda: L.slogdet(good)[1], lambda: L.eigvalsh(apart), lambda: L.svdvals(apart),
        lambda: L.solve_triangular(good, u.operand(columns, dtype), lower=True), lambda: L.expm(a * float(0.5 / np.sqrt(n))),
    ])()  # fmt: skip


def indexed(u: Unit) -> ad.Tensor:
    shape = u.shape(least=2)
    x, axis = u.operand(shape, u.dtype()), int(u.random.integers(len(shape)))
    rows = ad.tensor(u.data.integers(-shape[axis], shape[axis], u.length(range(1, 30))))
    first = ad.tensor(u.data.integers(-shape[0], shape[0], 3))

    def written() -> ad.Tensor:
        z, start = x * 0.5, shape[-1] // 3
        z[..., start:] = u.beside(z[..., start:])
        return z

    def replaced() -> ad.Tensor:
        z = u.beside(x)
        z[first] = u.leaf([3, *shape[1:]], x.dtype.name)
        return z

    return u.choose([  # type: ignore[no-any-return]
        written, replaced, lambda: ad.take(x, rows, axis=axis), lambda: ad.concat([u.beside(x), x], axis=axis),
        lambda: ad.stack([x, u.beside(x)], axis=axis), lambda: x[first] * 2.0, lambda: ad.linalg.diagonal(x),
        lambda: ad.tril(x), lambda: u.moved(x),
    ])()  # fmt: skip


def attention(u: Unit) -> ad.Tensor:
    n, m, d = u.length(LENGTHS), u.length(LENGTHS), u.length(range(1, 33))
    q, k, v = [u.operand([2, 3, x, d], u.real) for x in (n, m, m)]
    return ad.softmax(u.beside(q @ k.mT / float(np.sqrt(d))), axis=-1) @ v


def loop(u: Unit) -> ad.Tensor:
    n, rows = u.length(range(1, 30)), u.choose([[], [3]])
    w, h, xs = (
        u.operand([n, n], u.real),
        u.operand([*rows, n], u.real),
        u.operand([u.length(range(1, 9)), *rows, n], u.real),
    )
    way = u.choose(["product", "elements", "total"])

    def step(h: ad.Tensor, x: ad.Tensor) -> tuple[ad.Tensor, ad.Tensor]:
        if way == "product":
            return ad.tanh(h @ w / float(np.sqrt(n)) + x), h * 2.0
        return (h * 0.9 + ad.sin(x), h * x) if way == "elements" else (ad.maximum(h, x), ad.softmax(h + x, axis=-1))

    last, ys = ad.scan(step, h, xs)
    return ys + last  # type: ignore[no-any-return]


def narrow(u: Unit) -> ad.Tensor:
    u.real, kind = "float32", u.choose(["float16", "bfloat16"])
    n, k, m = [u.length(range(1, 66)) for _ in range(3)]
    y = u.operand([n, k], "float32").astype(kind) @ u.operand([k, m], "float32").astype(kind) / float(np.sqrt(k))
    return u.choose([lambda: y, lambda: ad.softmax(y, axis=-1), lambda: ad.concat([y, y], axis=-1)[..., ::2]])().astype(
        "float32"
    )  # type: ignore[no-any-return]


KINDS = (product, product, product, convolution, transform, running, factorization, indexed, attention, loop, narrow)


def weighed(u: Unit, x: ad.Tensor) -> ad.Tensor:
    """A number that depends on all elements."""
    x = ad.real(x * (0.7 - 0.3j)) if is_complex_one(x) else x
    return ad.sum(x * ad.tensor(u.data.normal(size=x.shape).astype(x.dtype.name)))


def drawn(seed: int, sizes: int = 0) -> tuple[list[ad.Tensor], float]:
    """What a random program computes, and how far rounding may carry it, in proportion to the largest number."""
    u = Unit(seed, sizes)
    kind = u.choose(KINDS)
    y = kind(u)
    for _ in range(int(u.random.integers(0, 3))):
        way = u.random.random()
        y = y if not y.ndim else u.reduced(y) if way < 0.3 else u.moved(y) if way < 0.45 else u.beside(y)
    outputs = [y]
    if u.variables and u.chance(0.8) and (total := weighed(u, y)).requires_grad:
        slopes = [g for g in ad.gradients(total, u.variables) if g is not None]
        outputs += slopes
        if u.chance(0.3) and slopes and (again := weighed(u, ad.sin(slopes[0]))).requires_grad:
            outputs += [g for g in ad.gradients(again, u.variables) if g is not None]
    tolerance = 0.1 if kind is narrow else {"float32": 1e-3, "float64": 1e-9}[u.real]
    return [x for x in outputs if x.node.inputs], tolerance
