"""Fourier transforms within native programs: beside NumPy's in float64, at each width, on any number of threads, to the bit as
loops say; what is left to NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compiler.loops import butterflies
from adjoint.compiler.targets.target import target, tuned
from adjoint.execution.native.program import compile_nests
from adjoint.runtime import llvm
from derivative_checks import check_derivatives
from loop_oracle import Oracle
from support import some
from test_native import planned

pytestmark = pytest.mark.skipif(not target().fma, reason="without fused multiplication NumPy transforms")
Backend = Callable[[str], None]
WIDTHS = [bits for bits in (128, 256, 512) if bits <= llvm.vector_bits()]
WIDE = {"float32": "complex64", "float64": "complex128"}
LENGTHS = (2, 4, 6, 15, 22, 26, 32, 64, 90)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape)


def kinds(f: Any) -> set[str]:
    """Of which kinds a compiled function's kernels are."""
    return {kernel.kind for kernel in ad.execution.explain(f).kernels}


def compiled(name: str, **options: Any) -> Any:
    """A function of `ad.fft`, compiled."""
    function = getattr(ad.fft, name)
    return ad.jit(lambda x: function(x, **options))


def near(found: Any, exact: Any, dtype: str) -> None:
    """Whether the error, as a whole, is a few roundings."""
    assert found.shape == exact.shape and found.dtype.itemsize == np.dtype(dtype).itemsize * (
        1 + (exact.dtype.kind == "c")
    )
    assert np.linalg.norm(found - exact) <= 4 * np.finfo(dtype).eps * np.linalg.norm(exact)


@pytest.mark.parametrize(("dtype", "n"), some(itertools.product(WIDE, LENGTHS), 2))
def test_values_along_an_axis(n: int, dtype: str, backends: Backend) -> None:
    backends("native")
    x = normal(5, 11, n).astype(dtype)
    z = (x + 1j * x[::-1]).astype(WIDE[dtype])
    for axis in (-1, 1):
        real, full = [np.moveaxis(a, -1, axis).copy() for a in (x, z)]
        half = np.moveaxis(z[..., : n // 2 + 1], -1, axis).copy()
        cases: list[Any] = [("fft", full, {}), ("ifft", full, {}), ("fft", real, {})]
        if n % 2 == 0 and n > 2:
            cases += [("rfft", real, {}), ("irfft", half, {"n": n})]
        for (name, given, more), norm in zip(
            cases, ("backward", "backward", "ortho", "forward", "backward"), strict=False
        ):
            f = compiled(name, axis=axis, norm=norm, **more)
            exact = getattr(np.fft, name)(given.astype(np.result_type(given, "float64")), axis=axis, norm=norm, **more)
            near(f(ad.tensor(given)).numpy(), exact, dtype)
            assert kinds(f) == {"transform"}


@pytest.mark.parametrize("axes", [(0,), (-1, -2), (0, 2), (2, 0, 1)])
def test_several_axes_one_after_the_other(axes: tuple[int, ...], backends: Backend) -> None:
    backends("native")
    x = normal(8, 12, 10)
    given = ad.tensor(x)
    sizes = [x.shape[a] for a in axes]
    f = ad.jit(lambda t: (ad.fft.rfftn(2 * t, axes=axes), ad.fft.irfftn(ad.fft.rfftn(t, axes=axes), s=sizes, axes=axes),
                          ad.fft.fftn(t + 1j * t, axes=axes)[1:], ad.fft.ifft(t[::2].mT, axis=1)))  # fmt: skip
    full, part = np.fft.fftn(x + 1j * x, axes=axes), np.fft.ifft(np.swapaxes(x[::2], 1, 2), axis=1)
    exact = (np.fft.rfftn(2 * x, axes=axes), x, full[1:], part)
    for found, wanted in zip(f(given), exact, strict=True):
        near(found.numpy(), wanted, "float64")
    assert kinds(f) <= {"transform", "loops"}
    np.testing.assert_array_equal(given.numpy(), x)


def test_derivatives_and_batches(backends: Backend) -> None:
    backends("native")

    def energy(x: ad.Tensor) -> ad.Tensor:
        spectrum = ad.fft.rfftn(ad.sin(x))
        return (ad.fft.irfftn(spectrum * spectrum, s=x.shape) ** 2).sum() + ad.abs(ad.fft.fft(x, axis=0)).sum()

    check_derivatives(lambda x: [energy(x)], [normal(6, 4)])
    batch = ad.tensor(normal(3, 6, 4))
    together = ad.jit(ad.vmap(ad.grad(energy)))(batch).numpy()
    for found, one in zip(together, batch, strict=True):
        np.testing.assert_allclose(found, ad.grad(energy)(one).numpy(), rtol=1e-12)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("shape", [(20, 21), (3, 24), (16, 32)])
def test_loops_say_every_bit(
    shape: tuple[int, int], dtype: str, backends: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machine code gives what the loop interpreter does, at every width the same."""
    backends("native")
    x, widths = ad.variable(normal(*shape).astype(dtype)), []
    z = ad.fft.fftn(x + 1j * x[::-1])
    outputs = [z, ad.fft.ifft(z, axis=0), *([ad.fft.irfft2(ad.fft.rfft2(x), s=shape)] if shape[1] % 2 == 0 else [])]
    plan, leaves, numbers = planned(*outputs)
    for bits in WIDTHS:
        monkeypatch.setenv("ADJOINT_VECTOR_BITS", str(bits))
        program = compile_nests(plan)
        assert program is not None
        found = program.run(leaves, numbers, True)
        for one, loops in zip(found, Oracle(program.fusion, leaves, numbers).run(), strict=True):
            np.testing.assert_array_equal(one, loops)
        widths.append([one.tobytes() for one in found])
    assert all(one == widths[0] for one in widths)


def test_bits_dont_depend_on_threads(backends: Backend) -> None:
    backends("native")
    x, found, before = ad.tensor(normal(300, 250)), [], ad.get_num_threads()
    f = ad.jit(lambda x: ad.fft.irfft2(ad.fft.rfft2(x) * 2))
    for threads in (1, 2):
        ad.set_num_threads(threads)
        found.append(f(x).numpy())
    ad.set_num_threads(before)
    np.testing.assert_array_equal(*found)
    near(found[0], 2 * x.numpy(), "float64")


def test_what_is_left_to_numpy(backends: Backend) -> None:
    backends("native")
    for n, name in ((17, "fft"), (15, "rfft"), (2, "rfft"), (1, "fft"), (34, "rfft"), (64, "fft")):
        f, x = compiled(name), normal(3, n)
        with tuned(longest_transform=63):
            near(f(ad.tensor(x)).numpy(), getattr(np.fft, name)(x), "float64")
            assert "numpy" in kinds(f), (n, name)


def test_what_is_not_finite_stays_in_its_line(backends: Backend) -> None:
    backends("native")
    x = normal(9, 16)
    x[4, 3], x[7, 0] = np.inf, np.nan
    found = ad.jit(lambda x: ad.fft.rfft(x * 1.0))(ad.tensor(x)).numpy()
    np.testing.assert_array_equal(np.isfinite(found).all(1), np.isfinite(x).all(1))
    assert not np.isfinite(found[[4, 7]].sum(1)).any()


def test_roots_of_unity_and_factors() -> None:
    mpmath = pytest.importorskip("mpmath")
    for n in (7, 12, 1024, 4099):
        k = np.arange(0, n, max(n // 40, 1))
        re, im = [np.asarray(x, np.float64) for x in butterflies.roots_of_unity(k, n)]
        with mpmath.workdps(40):
            exact = [mpmath.expjpi(-2 * mpmath.mpf(int(i)) / n) for i in k]
        for found, wanted in ((re, [w.real for w in exact]), (im, [w.imag for w in exact])):
            assert all(
                abs(a - w) <= np.spacing(max(abs(a), 1e-300)) for a, w in zip(found.tolist(), wanted, strict=True)
            )
    for n in range(1, 300):
        factors = butterflies.factors_of(n)
        assert (factors is None) == any(n % p == 0 for p in range(17, 300) if all(p % q for q in range(2, p)))
        assert factors is None or np.prod(factors, dtype=int) == n
