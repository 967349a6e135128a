"""Transforms beyond the table: with NumPy alone, arguments that don't fit, NumPy's names, compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft

import adjoint as ad
import adjoint.numpy.fft
import adjoint.torch
from adjoint.primitives import fourier_kernels
from derivative_checks import check_derivatives


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 16])
def test_cosine_and_sine_transforms_with_numpy_alone(n: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fourier_kernels, "scipy_fft", lambda: None)
    x = (normal(3, n) + 1j * normal(3, n, seed=1) if dtype.startswith("c") else normal(3, n)).astype(dtype)
    for kind, function in (("c", scipy.fft.dct), ("s", scipy.fft.dst)):
        for number in (1, 2, 3, 4):
            if (kind, number, n) == ("c", 1, 1):
                continue
            found = fourier_kernels.trigonometric(x, kind, number, (-1,))
            assert found.dtype == x.dtype
            np.testing.assert_allclose(found, function(x, number), atol=20 * n * np.finfo(dtype).eps)
    np.testing.assert_allclose(
        ad.fft.dctn(ad.tensor(x.real)).numpy(), scipy.fft.dctn(x.real), atol=50 * n * np.finfo(dtype).eps
    )


def test_fourier_transforms_with_numpy_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    x = normal(3, 4)
    with_scipy = [f(ad.tensor(x)).numpy() for f in (ad.fft.fftn, ad.fft.ifftn, ad.fft.rfftn, ad.fft.irfftn)]
    monkeypatch.setattr(fourier_kernels, "scipy_fft", lambda: None)
    monkeypatch.setattr(fourier_kernels, "ducc_fft", lambda: None)
    alone = [f(ad.tensor(x + 0.0)).numpy() for f in (ad.fft.fftn, ad.fft.ifftn, ad.fft.rfftn, ad.fft.irfftn)]
    for one, other in zip(with_scipy, alone, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14)


@pytest.mark.parametrize("library", ["ducc0", "scipy", "numpy"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axes", [(0,), (-1,), (0, 2), (-3, -2), (0, 1, 2)])
def test_kernels(library: str, dtype: str, axes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What each library gives, fresh and in memory that is given."""
    if library == "ducc0":
        pytest.importorskip("ducc0")
    else:
        monkeypatch.setattr(fourier_kernels, "ducc_fft", lambda: None)
    if library == "numpy":
        monkeypatch.setattr(fourier_kernels, "scipy_fft", lambda: None)
    x = normal(4, 17, 6).astype(dtype)
    wide = np.result_type(dtype, "complex64")
    z, tolerance = (x + 1j * x[::-1]).astype(wide), 200 * np.finfo(dtype).eps
    half = scipy.fft.rfftn(x, axes=axes)
    n = x.shape[axes[-1]]
    for norm in ("backward", "ortho", "forward"):
        cases = [
            (fourier_kernels.fft, (z, axes, False, norm), scipy.fft.fftn(z, axes=axes, norm=norm)),
            (fourier_kernels.fft, (x, axes, True, norm), scipy.fft.ifftn(x, axes=axes, norm=norm)),
            (fourier_kernels.rfft, (x, axes, norm), scipy.fft.rfftn(x, axes=axes, norm=norm)),
            (fourier_kernels.irfft, (half, axes, n, norm),
             scipy.fft.irfftn(half, [x.shape[a] for a in axes], axes=axes, norm=norm)),
        ]  # fmt: skip
        for kernel, given, expected in cases:
            out = np.full(expected.shape, np.nan, expected.dtype)
            assert kernel(*given, expected.shape, expected.dtype, out) is out
            for found in (out, kernel(*given, expected.shape, expected.dtype)):
                assert found.dtype == expected.dtype
                np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())
        np.testing.assert_array_equal(half, scipy.fft.rfftn(x, axes=axes))  # isn't written to


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: ad.fft.fft(ad.ones((2, 0))), ValueError, "at least one element along axis -1"),
        (lambda: ad.fft.fft(ad.ones(3), n=0), ValueError, "at least one element"),
        (lambda: ad.fft.fft(ad.ones(3), norm="orthogonal"), ValueError, "norm is 'backward', 'ortho' or 'forward'"),
        (lambda: ad.fft.fft(ad.ones(3), axis=1), IndexError, "axis 1 is out of bounds"),
        (lambda: ad.fft.fftn(ad.ones((3, 3)), axes=(0, -2)), ValueError, "name an axis twice"),
        (lambda: ad.fft.fftn(ad.ones((3, 3)), s=(2,), axes=(0, 1)), ValueError, "1 lengths for 2 axes"),
        (lambda: ad.fft.rfft(ad.tensor([1j])), TypeError, "expected real numbers, got complex"),
        (lambda: ad.fft.irfft(ad.tensor([1j])), ValueError, "give its length"),
        (lambda: ad.fft.dct(ad.ones(3), 5), ValueError, "type is 1, 2, 3 or 4"),
        (lambda: ad.fft.dct(ad.ones(1), 1), ValueError, "at least two elements"),
        (lambda: ad.fft.convolve(ad.ones(3), ad.ones((3, 1))), ValueError, "equally many axes"),
        (
            lambda: ad.fft.convolve(ad.ones((3, 1)), ad.ones((1, 3)), "valid"),
            ValueError,
            "at least the other along every axis",
        ),
        (lambda: ad.fft.convolve(ad.ones(3), ad.ones(0)), ValueError, "no elements"),
        (lambda: ad.fft.convolve(ad.ones(3), ad.ones(3), "circular"), ValueError, "mode is"),
        (lambda: ad.fft.fftfreq(0), ValueError, "at least one element"),
    ],
)
def test_wrong_arguments(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


ALONG_ONE = "fft ifft rfft irfft hfft ihfft dct idct dst idst".split()


@pytest.mark.parametrize("name", ALONG_ONE)
@pytest.mark.parametrize("n", [-1, 0, -2, 2.0, 2.5, "2"])
def test_a_length_is_a_positive_integer(name: str, n: Any) -> None:
    """-1 took the whole axis, as it does among the lengths of several axes."""
    numpys = getattr(np.fft if hasattr(np.fft, name) else scipy.fft, name)
    with pytest.raises((ValueError, TypeError)):
        numpys(np.ones((2, 3)), n=n)
    calls = [getattr(ad.fft, name)] + [getattr(adjoint.numpy.fft, name) for _ in range(hasattr(np.fft, name))]
    for call in calls:
        with pytest.raises((ValueError, TypeError), match=r"at least one element|integer"):
            call(ad.ones((2, 3)), n=n)
    if hasattr(adjoint.torch.fft, name):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            getattr(adjoint.torch.fft, name)(adjoint.torch.ones(2, 3), n=n)


@pytest.mark.parametrize("name", "fftn ifftn rfftn irfftn dctn idctn dstn idstn fft2 ifft2 rfft2 irfft2".split())
def test_minus_one_among_lengths_is_the_axis_own(name: str) -> None:
    x = normal(4, 5)
    reference = getattr(np.fft if hasattr(np.fft, name) else scipy.fft, name)
    for s in ((-1, 3), (2, -1), (-1, -1), (6, -1)):
        for axes in ((0, 1), (1, 0)):
            found = getattr(ad.fft, name)(ad.tensor(x), s=s, axes=axes)
            np.testing.assert_allclose(found.numpy(), reference(x, s=s, axes=axes), atol=1e-12)
            assert found.shape == reference(x, s=s, axes=axes).shape
    for s in ((0, 2), (2, -2), (2.0, 2)):
        with pytest.raises((ValueError, TypeError)):
            getattr(ad.fft, name)(ad.tensor(x), s=s)


@pytest.mark.parametrize("name", "irfftn irfft2 hfftn hfft2".split())
def test_pytorchs_minus_one_is_the_length_by_default(name: str) -> None:
    x, both = adjoint.torch.ones(2, 3), getattr(adjoint.torch.fft, name)
    assert both(x, s=(2, -1), dim=(0, 1)).shape == both(x, dim=(0, 1)).shape == (2, 4)
    assert both(x, s=(2, -1), dim=(1, 0)).shape == (2, 2)


def test_a_fast_length_of_what_is_no_integer_raises() -> None:
    with pytest.raises(TypeError):
        ad.fft.next_fast_len(2.5)  # type: ignore[arg-type]  # it looked for ever


def test_a_batch_without_elements_has_a_transform() -> None:
    assert ad.fft.fft(ad.ones((0, 4))).numpy().shape == (0, 4)
    assert ad.fft.rfft(ad.ones((0, 5))).numpy().shape == (0, 3)
    assert ad.fft.irfft(ad.ones((0, 5))).numpy().shape == (0, 8)
    assert ad.fft.dct(ad.ones((0, 5))).numpy().shape == (0, 5)


@pytest.mark.parametrize("target", [1, 2, 7, 13, 121, 1000, 1021, 4099])
def test_fast_lengths_are_scipys(target: int) -> None:
    assert ad.fft.next_fast_len(target) == scipy.fft.next_fast_len(target)
    assert ad.fft.next_fast_len(target, real=True) == scipy.fft.next_fast_len(target, real=True)


def test_numpys_names_record() -> None:
    x, v = ad.variable(normal(6)), ad.tensor(normal(3, seed=1))
    for function in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.hfft, np.fft.fftshift):
        found = function(x)
        assert isinstance(found, ad.Tensor) and found.requires_grad
        np.testing.assert_allclose(found.numpy(), function(x.numpy()), atol=1e-14)
    np.testing.assert_allclose(np.fft.irfft(np.fft.rfft(x), n=6).numpy(), x.numpy(), atol=1e-14)
    for function in (np.convolve, np.correlate):
        for mode in ("full", "same", "valid"):
            for one, other in ((x, v), (v, x)):
                found = function(one, other, mode)
                assert isinstance(found, ad.Tensor)
                np.testing.assert_allclose(found.numpy(), function(one.numpy(), other.numpy(), mode), atol=1e-14)


@pytest.mark.parametrize("sizes", [(6, 3), (1, 1), (3, 6), (500, 20), (5000, 20), (90, 40), (40, 90)])
def test_what_is_not_finite_stays_where_it_is(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    for special in ("neither", "first", "second"):
        a, v = (rng.normal(size=n).round(1) for n in sizes)
        hurt = {"neither": [], "first": [a], "second": [v]}[special]
        for x in hurt:
            x[len(x) // 3] = np.nan
            if min(sizes) <= 32:
                x[0] = np.inf
        with np.errstate(invalid="ignore"):
            for function in (np.convolve, np.correlate):
                for mode in ("full", "same", "valid"):
                    expected = function(a, v, mode)
                    assert bool(hurt) != bool(np.isfinite(expected).all())
                    for f in (function, ad.jit(function)):
                        np.testing.assert_allclose(f(ad.tensor(a), ad.tensor(v), mode).numpy(), expected, atol=1e-12)
                    np.testing.assert_allclose(function(ad.variable(a), v, mode).numpy(), expected, atol=1e-12)
    ad.check_grads(lambda a, v: np.convolve(a, v, "same"), [normal(n) for n in sizes], order=2)


@pytest.mark.parametrize("small", [(2, 3), (5, 7), (8, 9)])
def test_infinities_in_a_convolution_of_images(small: tuple[int, int]) -> None:
    a, b = normal(9, 10), normal(*small, seed=1)
    b[0, -1], a[2, 2] = np.inf, np.nan
    expected = np.zeros((8 + small[0], 9 + small[1]))
    for i, j in np.ndindex(small):
        expected[i : i + 9, j : j + 10] += a * b[i, j]
    assert np.isnan(expected).any() and np.isinf(expected).any() and np.isfinite(expected).any()
    np.testing.assert_allclose(ad.fft.convolve(a, b, method="direct").numpy(), expected)


def poisson(right: ad.Tensor) -> ad.Tensor:
    """The periodic solution of Δu = right on a square of length 2π, without its mean."""
    n = right.shape[0]
    across, along = ad.fft.fftfreq(n, 1 / n, dtype="float64"), ad.fft.rfftfreq(n, 1 / n, dtype="float64")
    squares = across[:, None] ** 2 + along**2
    inverse = ad.where(squares == 0, 0.0, 1 / ad.where(squares == 0, 1.0, squares))
    return ad.fft.irfftn(-ad.fft.rfftn(right) * inverse, s=right.shape)


def test_a_spectral_poisson_solver_interpreted_and_compiled() -> None:
    grid = np.arange(16) * 2 * np.pi / 16
    wave = np.sin(3 * grid)[:, None] * np.cos(2 * grid)
    np.testing.assert_allclose(poisson(ad.tensor(-13 * wave)).numpy(), wave, atol=1e-14)
    energy = lambda f: (poisson(f) ** 2).sum()  # noqa: E731 - used three times
    right = ad.tensor(normal(16, 16))
    one = ad.grad(energy)(right).numpy()
    compiled = ad.jit(ad.grad(energy))
    for other in (ad.grad(energy)(right), ad.grad(energy)(right), compiled(right), compiled(right)):
        np.testing.assert_allclose(other.numpy(), one, atol=1e-14)
    check_derivatives(lambda f: [energy(f)], [normal(4, 4)])


def test_a_long_transform_in_both_precisions() -> None:
    x = normal(2**16 + 1)
    exact = np.fft.rfft(x)
    np.testing.assert_allclose(ad.fft.rfft(ad.tensor(x)).numpy(), exact, atol=1e-10)
    found = ad.fft.rfft(ad.tensor(x.astype("float32")))
    assert found.dtype == ad.complex64
    np.testing.assert_allclose(found.numpy(), exact, atol=2e-3)


def test_a_spectrum_that_is_read_again_is_not_written_over() -> None:
    right, factors = normal(128, 128), normal(128, 65)

    def spectrum(r: Any, w: Any, xp: Any) -> Any:
        return xp.fft.rfft2(r) * w

    def twice(r: Any, w: Any, xp: Any) -> Any:
        s = spectrum(r, w, xp)
        return xp.fft.irfft2(s), xp.fft.irfft2(s, axes=(1, 0))[:3] + s.real[0, 0], xp.abs(s).sum()

    cases: list[Any] = [
        lambda r, w, xp: (xp.fft.irfft2(spectrum(r, w, xp)),),  # by itself: the program writes over the spectrum
        lambda r, w, xp: (spectrum(r, w, xp), xp.fft.irfft2(spectrum(r, w, xp))),
        twice,
    ]
    for case in cases:
        compiled = ad.jit(lambda r, w, case=case: case(r, w, ad))
        for r in (right, right + 1, right):
            wanted = case(r, factors, np)
            for found, exact in zip(compiled(ad.tensor(r), ad.tensor(factors)), wanted, strict=True):
                np.testing.assert_allclose(found.numpy(), exact, atol=1e-9)
