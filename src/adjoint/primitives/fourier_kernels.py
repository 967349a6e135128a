"""Kernels of Fourier, cosine and sine transforms: ducc0's or SciPy's where these are installed, or NumPy's.

ducc0's take the widest vectors of the processor; on 512 by 512 numbers they need 0.6 to 0.8 of the time of the others.
NumPy's write into memory that they are given, where pages of memory that nobody has touched before cost as much as a transform
of them; so in float64 they are taken along axes along which they are as fast. SciPy keeps float32 in float32: 2 to 6 times as
fast. The cosine and sine transforms that NumPy lacks are made of its Fourier transforms here (J. Makhoul, IEEE Trans. Acoust.,
Speech, Signal Process. 28 (1980), 27-34, for types 2 and 3).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint import _optional

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]


@functools.cache
def scipy_fft() -> Any:
    """SciPy's transforms; None where SciPy isn't installed."""
    return _optional.try_load("scipy.fft")


@functools.cache
def ducc_fft() -> Any:
    """ducc0's transforms; None where it isn't installed."""
    return _optional.try_load("ducc0.fft")


def _by_ducc(kind: str, x: Array, axes: Axes, inverse: bool, norm: str, out: Array | None, **more: Any) -> Array:
    """A transform (c2c, r2c or c2r) by ducc0, which is told by a number what it divides by: 1, √n or n."""
    divides = 1 if norm == "ortho" else 2 * (inverse == (norm == "backward"))
    function = getattr(ducc_fft(), kind)
    found: Array = function(x, axes=axes, forward=not inverse, inorm=divides, out=out, nthreads=1, **more)
    return found


TOGETHER = 16  # elements behind an axis from which NumPy transforms as many lines at once as SciPy
LENT = 1 << 26  # bytes of memory for halves of a transform that a thread keeps


class _Spare(threading.local):
    """Memory for what is needed between two halves of a transform, in use by one of them at a time."""

    memory: Array | None = None

    @contextmanager
    def lend(self, shape: tuple[int, ...], dtype: Any) -> Iterator[Array]:
        """An array of such numbers, whatever they are."""
        memory, self.memory = self.memory, None  # a transform that interrupts this one gets other memory
        nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if memory is None or memory.nbytes < nbytes:
            memory = np.empty(nbytes, np.uint8)
        yield np.ndarray(shape, dtype, memory)
        if memory.nbytes <= LENT:
            self.memory = memory


_spare = _Spare()


def _by_numpy(x: Array, axes: Axes) -> bool:
    """Whether NumPy's transforms are taken."""
    if scipy_fft() is None:
        return True
    if x.dtype not in (np.float64, np.complex128) or not x.flags.c_contiguous:
        return False
    return all(int(np.prod(x.shape[a % x.ndim + 1 :])) not in range(2, TOGETHER) for a in axes)


def _transformed(x: Array, axes: Axes, inverse: bool, norm: str, out: Array) -> Array:
    """The transform over axes by NumPy, in memory that may be x's own."""
    function = np.fft.ifft if inverse else np.fft.fft
    for axis in reversed(axes):
        x = function(x, axis=axis, norm=norm, out=out)  # type: ignore[arg-type]
    return x


def _written(result: Array, dtype: Any, out: Array | None) -> Array:
    """A result in the memory that was given for it, if some was."""
    if out is None:
        return np.asarray(result, dtype)
    out[...] = result
    return out


def fft(x: Array, axes: Axes, inverse: bool, norm: str, shape: Any, dtype: Any, out: Array | None = None) -> Array:
    """The discrete Fourier transform over axes, of real or complex x, as complex numbers."""
    if not x.size:
        return _written(np.zeros(shape), dtype, out)
    if axes and ducc_fft() is not None:
        return _by_ducc("c2c", np.asarray(x, dtype), axes, inverse, norm, out)
    if axes and _by_numpy(x, axes):
        return _transformed(x, axes, inverse, norm, np.empty(shape, dtype) if out is None else out)
    library = scipy_fft() or np.fft
    return _written((library.ifftn if inverse else library.fftn)(x, axes=axes, norm=norm), dtype, out)


def rfft(x: Array, axes: Axes, norm: str, shape: Any, dtype: Any, out: Array | None = None) -> Array:
    """The transform of real x, whose other half is conjugate: of the last of the axes the first n // 2 + 1."""
    if not x.size:
        return _written(np.zeros(shape), dtype, out)
    if ducc_fft() is not None:
        return _by_ducc("r2c", x, axes, inverse=False, norm=norm, out=out)
    if _by_numpy(x, axes):
        out = np.empty(shape, dtype) if out is None else out
        spectrum = np.fft.rfft(x, axis=axes[-1], norm=norm, out=out)  # type: ignore[arg-type]
        return _transformed(spectrum, axes[:-1], inverse=False, norm=norm, out=out)
    return _written((scipy_fft() or np.fft).rfftn(x, axes=axes, norm=norm), dtype, out)


def irfft(
    x: Array, axes: Axes, n: int, norm: str, shape: Any, dtype: Any, out: Array | None = None, spent: bool = False
) -> Array:
    """The inverse of `rfft`: n real numbers along the last of the axes. An x that is `spent` may be written over."""
    if not x.size:
        return _written(np.zeros(shape), dtype, out)
    if ducc_fft() is not None:
        return _by_ducc("c2r", x, axes, inverse=True, norm=norm, out=out, lastsize=n)
    others, last = axes[:-1], axes[-1]
    if _by_numpy(x, axes):
        out = np.empty(shape, dtype) if out is None else out
        if spent and x.flags.writeable:  # without other memory, which 2 MB of numbers would have to come to from afar
            first = _transformed(x, others, inverse=True, norm=norm, out=x)
            return np.fft.irfft(first, n, axis=last, norm=norm, out=out)  # type: ignore[arg-type]
        with _spare.lend(x.shape, x.dtype) as half:
            first = _transformed(x, others, inverse=True, norm=norm, out=half) if others else x
            return np.fft.irfft(first, n, axis=last, norm=norm, out=out)  # type: ignore[arg-type]
    library = scipy_fft() or np.fft
    if others:  # by themselves: SciPy takes three times as long over all axes together
        x = library.ifftn(x, axes=others, norm=norm)
    return _written(library.irfft(x, n, axis=last, norm=norm), dtype, out)


def trigonometric(x: Array, kind: str, type: int, axes: Axes) -> Array:
    """The cosine ("c") or sine ("s") transform of a type, unscaled as SciPy's are, over axes."""
    if not x.size:
        return np.zeros_like(x)
    library = scipy_fft()
    if library is not None:
        return np.asarray((library.dctn if kind == "c" else library.dstn)(x, type, axes=axes), x.dtype)
    if x.dtype.kind == "c":
        return np.asarray(
            trigonometric(x.real, kind, type, axes) + 1j * trigonometric(x.imag, kind, type, axes), x.dtype
        )
    for axis in axes:
        lines = np.moveaxis(x, axis, -1)
        x = np.moveaxis((_cosine if kind == "c" else _sine)(lines, type), -1, axis)
    return np.ascontiguousarray(x)


def _turn(angles: Array, dtype: Any) -> Array:
    """exp(-i π angle) in the complex dtype of a real one."""
    return np.exp(-1j * np.pi * angles).astype(np.result_type(dtype, np.complex64))


def _cosine(x: Array, type: int) -> Array:
    n = x.shape[-1]
    k = np.arange(n)
    if type == 1:
        return np.fft.rfft(np.concatenate([x, x[..., -2:0:-1]], -1)).real
    if type == 2:
        spectrum = np.fft.fft(np.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], -1))
        return 2 * (spectrum * _turn(k / (2 * n), x.dtype)).real
    if type == 3:
        weights = _turn(-k / (2 * n), x.dtype)
        weights[0] = 0.5
        sums = 2 * n * np.fft.ifft(x * weights).real
        result = np.empty_like(x)
        result[..., ::2], result[..., 1::2] = sums[..., : (n + 1) // 2], sums[..., : (n - 1) // 2 : -1]
        return result
    spectrum = np.fft.fft(x * _turn(k / (2 * n), x.dtype), 2 * n)[..., :n]
    return 2 * (spectrum * _turn((2 * k + 1) / (4 * n), x.dtype)).real


def _sine(x: Array, type: int) -> Array:
    n = x.shape[-1]
    signs = np.where(np.arange(n) % 2, -1, 1).astype(x.dtype)
    if type == 1:
        zero = np.zeros((*x.shape[:-1], 1), x.dtype)
        return -np.fft.rfft(np.concatenate([zero, x, zero, -x[..., ::-1]], -1)).imag[..., 1 : n + 1]
    if type == 2:
        return _cosine(signs * x, 2)[..., ::-1]
    return signs * _cosine(x[..., ::-1], type)
