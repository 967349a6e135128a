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
