"""Running sums, products, extremes, sums of exponentials and recurrences within native programs, beside NumPy's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.execution.native.program import compile_nests
from adjoint.runtime import llvm
from loop_oracle import Oracle
from support import some
from test_native import planned

Backend = Callable[[str], None]
WIDTHS = [bits for bits in (128, 256, 512) if bits <= llvm.vector_bits()]
SHAPES = ((1,), (8,), (37,), (3, 19), (21, 16), (2, 1, 7), (3, 5, 4), (4, 600))
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "cumsum": (ad.cumsum, np.cumsum),
    "cumprod": (ad.cumprod, np.cumprod),
    "cummax": (ad.cummax, np.maximum.accumulate),
    "cummin": (ad.cummin, np.minimum.accumulate),
    "logcumsumexp": (ad.logcumsumexp, np.logaddexp.accumulate),
}


def drawn(dtype: str, *shape: int) -> np.ndarray:
    x = np.random.default_rng(shape).normal(size=shape)
    return (3 * x).astype(dtype) if dtype != "float32" else x.astype(dtype)


def kinds(f: Any) -> set[str]:
    """Of which kinds a compiled function's kernels are."""
    return {kernel.kind for kernel in ad.execution.explain(f).kernels}


@pytest.mark.parametrize(
    ("name", "dtype", "shape"), some(itertools.product(FUNCTIONS, ("float32", "float64", "int64"), SHAPES), 3), ids=str
)
def test_values(name: str, dtype: str, shape: tuple[int, ...], backends: Backend) -> None:
    if dtype == "int64" and name == "logcumsumexp":
        pytest.skip("not of integers")
    backends("native")
    ours, exact = FUNCTIONS[name]
    given = ad.tensor(drawn(dtype, *shape))
    for axis in range(len(shape)):
        f = ad.jit(
            lambda x, axis=axis: (ours(x, axis=axis), ad.flip(ours(ad.flip(x, axis=axis), axis=axis), axis=axis))
        )
        there, back = [x.numpy() for x in f(given)]
        x = given.numpy()
        wanted = exact(x, axis=axis), np.flip(exact(np.flip(x, axis), axis=axis), axis)
        assert there.dtype == wanted[0].dtype and kinds(f) <= {"running", "loops"}
        if name == "logcumsumexp":
            tolerance = 8 * np.finfo(dtype).eps
            np.testing.assert_allclose(there, wanted[0], tolerance, tolerance)
            np.testing.assert_allclose(back, wanted[1], tolerance, tolerance)
        else:
            np.testing.assert_array_equal(there, wanted[0])
            np.testing.assert_array_equal(back, wanted[1])


@pytest.mark.parametrize("shape", [(40,), (3, 40), (20, 40), (40, 3)])
def test_exponentials_at_the_edges(shape: tuple[int, ...], backends: Backend) -> None:
    backends("native")
    axis = int(np.argmax(shape))
    patterns = [
        [-np.inf, -np.inf, 1.0, -np.inf, 2.0], [1e4, -1e4, 1e4, 0.0], [0.0, np.inf, 1.0, np.inf, -np.inf],
        [700.0, np.nan, 3.0, np.inf], [-1e308, 1e308, -1e308], [-745.0, -746.0, 0.0, -745.0], [np.inf, -np.inf], [0.0] * 40,
    ]  # fmt: skip
    f = ad.jit(lambda x: ad.logcumsumexp(x * 1.0, axis=axis))
    for pattern in patterns:
        x = np.moveaxis(np.broadcast_to(np.resize(pattern, 40), (*[n for n in shape if n != 40], 40)), -1, axis).copy()
        x = x.reshape(shape)
        with np.errstate(all="ignore"):
            exact = np.logaddexp.accumulate(x, axis)
        np.testing.assert_allclose(f(ad.tensor(x)).numpy(), exact, 1e-14, 1e-14)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str, backends: Backend) -> None:
    ours = FUNCTIONS[name][0]
    for shape, axis in (((50,), 0), ((4, 13), 0), ((20, 13), 1), ((2, 5, 3), 1)):
        x, found = ad.tensor(drawn("float64", *shape)), []
        for backend in ("numpy", "native"):
            backends(backend)
            f = ad.jit(lambda x, axis=axis: ad.value_and_grad(lambda x: (ours(x, axis=axis) ** 2).sum())(x))
            found.append([y.numpy() for y in f(x)])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(b, a, 1e-12, 1e-12 * np.abs(a).max())


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_loops_say_every_bit(dtype: str, bits: int, backends: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    backends("native")
    monkeypatch.setenv("ADJOINT_VECTOR_BITS", str(bits))
    outputs = []
    for shape in ((37,), (3, 19), (19, 18), (2, 5, 3)):
        x = ad.variable(drawn(dtype, *shape)) if dtype != "int64" else ad.tensor(drawn(dtype, *shape))
        axis = len(shape) // 2
        outputs += [ad.cumsum(x, axis=axis), ad.cummin(ad.flip(x, axis=axis), axis=axis)]
        if dtype != "int64":
            outputs += [ad.logcumsumexp(x, axis=axis), ad.gradients(ad.cumprod(x, axis=axis).sum(), [x])[0]]
    plan, leaves, numbers = planned(*outputs)
    program = compile_nests(plan)
    assert program is not None
    for one, loops in zip(
        program.run(leaves, numbers, True), Oracle(program.fusion, leaves, numbers).run(), strict=True
    ):
        np.testing.assert_array_equal(one, loops)


def test_bits_dont_depend_on_threads(backends: Backend) -> None:
    backends("native")
    x, found, before = ad.tensor(drawn("float64", 300, 1200)), [], ad.get_num_threads()
    f = ad.jit(lambda x: (ad.logcumsumexp(x, axis=0), ad.logcumsumexp(x, axis=1), ad.cumsum(x, axis=1)))
    for threads in (1, 2):
        ad.set_num_threads(threads)
        found.append([y.numpy() for y in f(x)])
    ad.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_long_sum_of_exponentials_keeps_its_digits(backends: Backend) -> None:
    backends("native")
    x = drawn("float64", 200_000)
    found = ad.jit(lambda x: ad.logcumsumexp(x * 1.0))(ad.tensor(x)).numpy()
    exact = np.log(np.cumsum(np.exp(x.astype(np.longdouble)))).astype(np.float64)
    np.testing.assert_allclose(found, exact, 1e-14)


def test_other_dtypes_and_layouts(backends: Backend) -> None:
    backends("native")
    x = drawn("float64", 12, 10)
    cases: list[Any] = [
        (lambda t: ad.cumsum(t.mT, axis=1), lambda a: np.cumsum(a.T, 1)),
        (lambda t: ad.cumsum(t[::2, 1:], axis=0), lambda a: np.cumsum(a[::2, 1:], 0)),
        (lambda t: ad.cumsum(ad.broadcast_to(t[:1], (12, 10)), axis=0), lambda a: np.cumsum(np.broadcast_to(a[:1], (12, 10)), 0)),
        (lambda t: ad.cumsum(t > 0, axis=0), lambda a: np.cumsum(a > 0, 0)),
        (lambda t: ad.cumsum(t + 1j * t, axis=0), lambda a: np.cumsum(a + 1j * a, 0)),
        (lambda t: ad.cummax(ad.flip(t[3], axis=0), axis=0), lambda a: np.maximum.accumulate(a[3, ::-1])),
    ]  # fmt: skip
    for ours, exact in cases:
        found = ad.jit(lambda t, ours=ours: ours(t * 1.0))(ad.tensor(x)).numpy()
        np.testing.assert_array_equal(found, exact(x))
