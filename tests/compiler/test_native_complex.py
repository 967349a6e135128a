"""Complex numbers in native code, beside NumPy's kernels: every special number, broadcasts, tails, and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad

SPECIAL = np.array([0.0, -0.0, 1.0, -2.5, 1e300, -1e-300, np.inf, -np.inf, np.nan])
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "negative": lambda a, b: -a,
    "sign": lambda a, b: ad.sign(a),
    "square": lambda a, b: a**2,
    "conj": lambda a, b: ad.conj(a),
    "abs": lambda a, b: abs(a),
    "real and imag": lambda a, b: ad.real(a) - ad.imag(b),
    "where": lambda a, b: ad.where(ad.real(a) > 0, a, b),
}


def both(backends: Callable[[str], None], f: Callable[..., Any], *arrays: Any) -> tuple[Any, Any]:
    found = []
    for backend in ("numpy", "native"):
        backends(backend)
        compiled = ad.jit(f)
        with np.errstate(all="ignore"):
            found.append(compiled(*[ad.tensor(x) for x in arrays]).numpy())
        if backend == "native":
            assert "numpy" not in ad.execution.explain(compiled, stage="units")
    return found[0], found[1]


@pytest.mark.parametrize("name", OPERATIONS)
def test_special_numbers(name: str, backends: Callable[[str], None]) -> None:
    """Parts that are NaN, infinite or zero come out as NumPy's, but for products of infinities, where a NaN may stand in another
    part."""
    re, im = np.meshgrid(SPECIAL, SPECIAL)
    z = (re + 0j).ravel()
    z.imag = im.ravel()
    a, b = np.repeat(z, len(z)), np.tile(z, len(z))
    if name == "divide":  # which overflows on the way differs with the order of the products
        kept = (np.abs(a.real) < 1e200) & (np.abs(a.imag) < 1e200) & (np.abs(b) > 0.5) & (np.abs(b) < 1e200)
        a, b = a[kept], b[kept]
    numpy, native = both(backends, OPERATIONS[name], a, b)
    np.testing.assert_array_equal(np.isnan(native.real), np.isnan(numpy.real))
    np.testing.assert_array_equal(np.isnan(native.imag), np.isnan(numpy.imag))
    np.testing.assert_allclose(np.nan_to_num(native.real), np.nan_to_num(numpy.real), 1e-14)
    np.testing.assert_allclose(np.nan_to_num(native.imag), np.nan_to_num(numpy.imag), 1e-14, 1e-320)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (7, 5), (2, 3, 40)])
def test_gradients(dtype: str, shape: tuple[int, ...], backends: Callable[[str], None]) -> None:
    random = np.random.default_rng(0)
    z, w = [(random.normal(size=shape) + 1j * random.normal(size=shape) + 2).astype(dtype) for _ in range(2)]

    def loss(z: Any, w: Any) -> Any:
        return abs(z * w / (w + 3j) - ad.conj(z) * 2.5).sum() + (ad.imag(z * z) ** 2).sum()

    tolerance = {"complex64": 1e-5, "complex128": 1e-13}[dtype]
    for place in (0, 1):
        numpy, native = both(backends, ad.grad(loss, argnums=place), z, w)
        assert native.dtype == numpy.dtype == dtype
        np.testing.assert_allclose(native, numpy, tolerance, tolerance)


def test_division_by_zero_is_numpys(backends: Callable[[str], None]) -> None:
    a, b = np.array([1 + 2j, 0j, -1 + 0j]), np.zeros(3, complex)
    numpy, native = both(backends, OPERATIONS["divide"], a, b)
    np.testing.assert_array_equal(native, numpy)


PRODUCTS: list[tuple[tuple[int, ...], tuple[int, ...], Callable[..., Any]]] = [
    ((5, 7), (7, 3), lambda a, b: a @ b),
    ((7, 5), (3, 7), lambda a, b: a.mT @ b.mT),
    ((4, 5, 7), (7, 3), lambda a, b: a @ b),
    ((4, 5, 7), (2, 4, 3, 5), lambda a, b: b @ a),
    ((9, 1), (1, 9), lambda a, b: a @ b @ a),
    ((4, 5, 7), (7,), lambda a, b: a @ b),
    ((1, 8, 6), (1, 8, 6), lambda a, b: ad.conj(a[:, ::2, 1::2]).mT @ b[:, 4:]),
    ((8, 6), (8, 3), lambda a, b: ad.conj(a).mT @ b),
    ((40, 30), (30, 50), lambda a, b: (a @ b).mT * 2),
]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_products_of_matrices(dtype: str, backends: Callable[[str], None]) -> None:
    pytest.importorskip("scipy_openblas32")
    random = np.random.default_rng(0)
    for *shapes, f in PRODUCTS:
        a, b = [(random.normal(size=s) + 1j * random.normal(size=s)).astype(dtype) for s in shapes]
        cases: list[Callable[..., Any]] = [f]
        if "128" in dtype and a.ndim == b.ndim == 2:  # sums over what was repeated, and writes into slices, are NumPy's
            cases.append(ad.grad(lambda a, b, f=f: abs(f(a, b) * (1 + 2j)).sum()))
        for g in cases:
            numpy, native = both(backends, g, a, b)
            assert native.dtype == numpy.dtype and native.shape == numpy.shape
            np.testing.assert_allclose(native, numpy, 0, 8 * np.finfo(dtype).eps * np.abs(numpy).max())


def written(x: ad.Tensor, index: Any, value: ad.Tensor) -> ad.Tensor:
    """x after a write into it."""
    x[index] = value
    return x


MOVES: dict[str, Callable[..., Any]] = {
    "slices into zeros": lambda a, b: ad.pad(a * 2, ((1, 2), (3, 0))),
    "joined": lambda a, b: ad.concat([a * 2, b[::-1], a[:2, ::2][:, [0, 0, 1, 1, 2, 2, 0]]], axis=0),
    "rows": lambda a, b: (a * 2)[ad.tensor([3, 0, 0, -1])],
    "elements": lambda a, b: a[ad.tensor([3, 0]), ad.tensor([6, 2])] * b[0, :2],
    "added": lambda a, b: ad.segment_sum(a * 2, ad.tensor([1, 0, 1, 1, 2]), num_segments=4),
    "a slice": lambda a, b: written(a * 1, (slice(1, 3), slice(None, None, 2)), b[:2, :4] * 3),
    "some rows": lambda a, b: written(a * 1, ad.tensor([4, 0]), b[:2] * 3),
    "stacked": lambda a, b: ad.stack([a, b * 2], axis=1),
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_moves(name: str, dtype: str, backends: Callable[[str], None]) -> None:
    random = np.random.default_rng(1)
    a, b = [(random.normal(size=(5, 7)) + 1j * random.normal(size=(5, 7))).astype(dtype) for _ in range(2)]
    a[0, 1], a[2, 2] = complex(-0.0, np.inf), complex(np.nan, -0.0)
    numpy, native = both(backends, MOVES[name], a, b)
    assert native.dtype == numpy.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(native, numpy)
    a[0, 1], a[2, 2] = 1, 2
    numpy, native = both(backends, ad.grad(lambda a, b: abs(MOVES[name](a, b) * 2j).sum()), a, b)
    np.testing.assert_allclose(native, numpy, 0, 1e-6 if dtype == "complex64" else 1e-14)
