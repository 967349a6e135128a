"""Discrete Fourier transforms, cosine and sine transforms, convolution: NumPy's `fft` and SciPy's, differentiable.

Integers become the default floating dtype; float32 gives complex64. n and s cut or fill with zeros, as in NumPy: n is at least
one, or ValueError is raised; in s -1 is an axis's own length. norm says
which direction divides by the number of elements: "backward" (None; the inverse), "forward", "ortho" (both, by its root).
Derivatives of a transform are transforms again. Compiled code has transforms of its own for lengths of small factors; all else
is computed by SciPy's where SciPy is installed, by NumPy's elsewhere.
"""

from __future__ import annotations

from typing import Any

import adjoint.batch.fourier as _batching  # noqa: F401 - fills in the batching rules
from adjoint.composites import fourier
from adjoint.dtypes import default_dtype
from adjoint.tensors.conversion import array_node, as_node, as_nodes, dtype_of
from adjoint.tensors.composing import Operand, composite, on_cpu
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor


def fft(x: Operand, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform along an axis: element k is the sum of x[j] exp(-2πi jk/n). Complex.

    x: real or complex, (..., n) along the axis. Raises ValueError for no elements along it.

    >>> import adjoint as ad
    >>> abs(ad.fft.fft(ad.tensor([3.0, 4.0, 0.0, 4.0])))
    Tensor([11.,  3.,  5.,  3.])
    """
    return composite("fft", fourier.along_one, fourier.fft, "fft", as_node(x), n, axis, norm, False)


def ifft(x: Operand, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`: exp(2πi jk/n), by default divided by n. Complex.

    >>> import adjoint as ad
    >>> ad.fft.ifft(ad.fft.fft(ad.tensor([1.0, 2.0]))).real
    Tensor([1., 2.])
    """
    return composite("ifft", fourier.along_one, fourier.fft, "ifft", as_node(x), n, axis, norm, True)


def rfft(x: Operand, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The first n // 2 + 1 elements of the Fourier transform of real x; the others are their conjugates.

    Raises TypeError for complex x.

    >>> import adjoint as ad
    >>> abs(ad.fft.rfft(ad.tensor([3.0, 4.0, 0.0, 4.0])))
    Tensor([11.,  3.,  5.])
    """
    return composite("rfft", fourier.along_one, fourier.rfft, "rfft", as_node(x), n, axis, norm)


def irfft(x: Operand, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`: n real elements, by default 2 (m - 1) of m.

    Imaginary parts of the first element, and for even n of the last, aren't read.

    >>> import adjoint as ad
    >>> ad.fft.irfft(ad.fft.rfft(ad.tensor([1.0, 2.0, 3.0])), n=3)
    Tensor([1., 2., 3.])
    """
    return composite("irfft", fourier.along_one, fourier.irfft, "irfft", as_node(x), n, axis, norm)


def hfft(x: Operand, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The transform of a signal that is Hermitian in time, given by its first half: n real elements, by default 2 (m - 1) of m.

    >>> import adjoint as ad
    >>> ad.fft.hfft(ad.tensor([1.0, 2.0, 3.0]))
    Tensor([ 8., -2.,  0., -2.])
    """
    return composite("hfft", fourier.along_one, fourier.hfft, "hfft", as_node(x), n, axis, norm)


def ihfft(x: Operand, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`: n // 2 + 1 complex elements of n real ones.

    >>> import adjoint as ad
    >>> ad.fft.ihfft(ad.tensor([8.0, -2.0, 0.0, -2.0])).real
    Tensor([1., 2., 3.])
    """
    return composite("ihfft", fourier.along_one, fourier.ihfft, "ihfft", as_node(x), n, axis, norm)


def fft2(x: Operand, /, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The transform `fft` over the last two axes. s gives lengths.

    >>> import adjoint as ad
    >>> ad.fft.fft2(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("fft2", fourier.fft, "fft2", as_node(x), s, axes, norm, False)


def fftn(x: Operand, /, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The transform `fft` over axes (None: all, or the last len(s)). s gives lengths.

    >>> import adjoint as ad
    >>> ad.fft.fftn(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("fftn", fourier.fft, "fftn", as_node(x), s, axes, norm, False)


def ifft2(x: Operand, /, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The transform `ifft` over the last two axes. s gives lengths.

    >>> import adjoint as ad
    >>> ad.fft.ifft2(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("ifft2", fourier.fft, "ifft2", as_node(x), s, axes, norm, True)


def ifftn(x: Operand, /, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The transform `ifft` over axes (None: all, or the last len(s)). s gives lengths.

    >>> import adjoint as ad
    >>> ad.fft.ifftn(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("ifftn", fourier.fft, "ifftn", as_node(x), s, axes, norm, True)


def rfft2(x: Operand, /, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The transform `rfft` over the last two axes; `fft` along all but the last. s gives lengths.

    >>> import adjoint as ad
    >>> ad.fft.rfft2(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("rfft2", fourier.rfft, "rfft2", as_node(x), s, axes, norm)


def rfftn(x: Operand, /, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The transform `rfft` over axes (None: all, or the last len(s)); `fft` along all but the last. s gives lengths.

    >>> import adjoint as ad
    >>> ad.fft.rfftn(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("rfftn", fourier.rfft, "rfftn", as_node(x), s, axes, norm)


def irfft2(x: Operand, /, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `rfft2` over the last two axes, by default; s gives their lengths.

    >>> import adjoint as ad
    >>> ad.fft.irfft2(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("irfft2", fourier.irfft, "irfft2", as_node(x), s, axes, norm)


def irfftn(x: Operand, /, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn` over axes (None: all, or the last len(s)); s gives their lengths.

    >>> import adjoint as ad
    >>> ad.fft.irfftn(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("irfftn", fourier.irfft, "irfftn", as_node(x), s, axes, norm)


def hfft2(x: Operand, /, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The transform `hfft` over the last two axes; `fft` along all but the last. s gives lengths.

    >>> import adjoint as ad
    >>> ad.fft.hfft2(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("hfft2", fourier.hfft, "hfft2", as_node(x), s, axes, norm)


def hfftn(x: Operand, /, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The transform `hfft` over axes (None: all, or the last len(s)); `fft` along all but the last. s gives lengths.

    >>> import adjoint as ad
    >>> ad.fft.hfftn(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("hfftn", fourier.hfft, "hfftn", as_node(x), s, axes, norm)


def ihfft2(x: Operand, /, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of `hfft2` over the last two axes, by default; s gives their lengths.

    >>> import adjoint as ad
    >>> ad.fft.ihfft2(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("ihfft2", fourier.ihfft, "ihfft2", as_node(x), s, axes, norm)


def ihfftn(x: Operand, /, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn` over axes (None: all, or the last len(s)); s gives their lengths.

    >>> import adjoint as ad
    >>> ad.fft.ihfftn(ad.ones((2, 2))).shape
    (2, 2)
    """
    return composite("ihfftn", fourier.ihfft, "ihfftn", as_node(x), s, axes, norm)


def dct(
    x: Operand,
    /,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: Any = None,
) -> Tensor:
    """The discrete cosine transform of a type, 1 to 4, along an axis: type 2 is 2 Σ x[j] cos(πk(2j+1)/2n). As SciPy scales it.

    x: real or complex. orthogonalize (by default where norm="ortho"): with factors at the ends that make the matrix of types
    1, 2 and 3 orthogonal. Raises ValueError for another type.

    >>> import adjoint as ad
    >>> ad.fft.dct(ad.tensor([1.0, 1.0]))
    Tensor([4., 0.])
    """
    return composite(
        "dct", fourier.along_one, fourier.trigonometric, "dct", as_node(x), n, axis, norm, "c", type, orthogonalize, False
    )  # fmt: skip


def dctn(
    x: Operand, /, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, *, orthogonalize: Any = None
) -> Tensor:
    """`dct` over axes (None: all, or the last len(s)); s gives their lengths.

    >>> import adjoint as ad
    >>> ad.fft.dctn(ad.ones((2, 3))).shape
    (2, 3)
    """
    return composite("dctn", fourier.trigonometric, "dctn", as_node(x), s, axes, norm, "c", type, orthogonalize, False)


def idct(
    x: Operand,
    /,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: Any = None,
) -> Tensor:
    """The inverse of `dct`.

    x: real or complex. orthogonalize (by default where norm="ortho"): with factors at the ends that make the matrix of types
    1, 2 and 3 orthogonal. Raises ValueError for another type.

    >>> import adjoint as ad
    >>> ad.fft.idct(ad.tensor([4.0, 0.0]))
    Tensor([1., 1.])
    """
    return composite(
        "idct", fourier.along_one, fourier.trigonometric, "idct", as_node(x), n, axis, norm, "c", type, orthogonalize, True
    )  # fmt: skip


def idctn(
    x: Operand, /, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, *, orthogonalize: Any = None
) -> Tensor:
    """`idct` over axes (None: all, or the last len(s)); s gives their lengths.

    >>> import adjoint as ad
    >>> ad.fft.idctn(ad.ones((2, 3))).shape
    (2, 3)
    """
    return composite("idctn", fourier.trigonometric, "idctn", as_node(x), s, axes, norm, "c", type, orthogonalize, True)


def dst(
    x: Operand,
    /,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: Any = None,
) -> Tensor:
    """The discrete sine transform of a type, 1 to 4, along an axis: type 2 is 2 Σ x[j] sin(π(k+1)(2j+1)/2n). As SciPy scales it.

    x: real or complex. orthogonalize (by default where norm="ortho"): with factors at the ends that make the matrix of types
    1, 2 and 3 orthogonal. Raises ValueError for another type.

    >>> import adjoint as ad
    >>> ad.fft.dst(ad.tensor([1.0]))
    Tensor([2.])
    """
    return composite(
        "dst", fourier.along_one, fourier.trigonometric, "dst", as_node(x), n, axis, norm, "s", type, orthogonalize, False
    )  # fmt: skip


def dstn(
    x: Operand, /, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, *, orthogonalize: Any = None
) -> Tensor:
    """`dst` over axes (None: all, or the last len(s)); s gives their lengths.

    >>> import adjoint as ad
    >>> ad.fft.dstn(ad.ones((2, 3))).shape
    (2, 3)
    """
    return composite("dstn", fourier.trigonometric, "dstn", as_node(x), s, axes, norm, "s", type, orthogonalize, False)


def idst(
    x: Operand,
    /,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: Any = None,
) -> Tensor:
    """The inverse of `dst`.

    x: real or complex. orthogonalize (by default where norm="ortho"): with factors at the ends that make the matrix of types
    1, 2 and 3 orthogonal. Raises ValueError for another type.

    >>> import adjoint as ad
    >>> ad.fft.idst(ad.tensor([2.0]))
    Tensor([1.])
    """
    return composite(
        "idst", fourier.along_one, fourier.trigonometric, "idst", as_node(x), n, axis, norm, "s", type, orthogonalize, True
    )  # fmt: skip


def idstn(
    x: Operand, /, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, *, orthogonalize: Any = None
) -> Tensor:
    """`idst` over axes (None: all, or the last len(s)); s gives their lengths.

    >>> import adjoint as ad
    >>> ad.fft.idstn(ad.ones((2, 3))).shape
    (2, 3)
    """
    return composite("idstn", fourier.trigonometric, "idstn", as_node(x), s, axes, norm, "s", type, orthogonalize, True)


def fftshift(x: Operand, /, axes: Any = None) -> Tensor:
    """Zero frequency moved to the middle of axes (None: all). Any dtype.

    >>> import adjoint as ad
    >>> ad.fft.fftshift(ad.fft.fftfreq(4))
    Tensor([-0.5 , -0.25,  0.  ,  0.25])
    """
    return composite("fftshift", fourier.shift, "fftshift", as_node(x), axes, False)


def ifftshift(x: Operand, /, axes: Any = None) -> Tensor:
    """The inverse of `fftshift`.

    >>> import adjoint as ad
    >>> ad.fft.ifftshift(ad.fft.fftshift(ad.arange(5.0)))
    Tensor([0., 1., 2., 3., 4.])
    """
    return composite("ifftshift", fourier.shift, "ifftshift", as_node(x), axes, True)


def fftfreq(n: int, /, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of `fft` for n samples d apart, in the default floating dtype unless said. ValueError for n < 1.

    >>> import adjoint as ad
    >>> ad.fft.fftfreq(4, 0.5)
    Tensor([ 0. ,  0.5, -1. , -0.5])
    """
    on_cpu("fftfreq", device)
    return wrap(
        array_node(
            fourier.frequencies(n, d, real=False, name="fftfreq"),
            default_dtype() if dtype is None else dtype_of(dtype),
            None,
        )
    )


def rfftfreq(n: int, /, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of `rfft` for n samples d apart, in the default floating dtype unless said. ValueError for n < 1.

    >>> import adjoint as ad
    >>> ad.fft.rfftfreq(4, 0.5)
    Tensor([0. , 0.5, 1. ])
    """
    on_cpu("rfftfreq", device)
    return wrap(
        array_node(
            fourier.frequencies(n, d, real=True, name="rfftfreq"),
            default_dtype() if dtype is None else dtype_of(dtype),
            None,
        )
    )


def next_fast_len(target: int, /, real: bool = False) -> int:
    """The smallest length of at least `target` whose prime factors are at most 11, or for real transforms 5.

    >>> import adjoint as ad
    >>> ad.fft.next_fast_len(13), ad.fft.next_fast_len(13, real=True)
    (14, 15)
    """
    return fourier.next_fast_len(target, real)


def convolve(x: Operand, y: Operand, /, mode: str = "full", method: str = "auto") -> Tensor:
    """The convolution over all axes of two arrays with equally many: element k is the sum of x[j] y[k - j].

    mode: "full"; "same", as large as x, from its middle; "valid", where the shorter lies inside the other. method: "direct" adds
    products (integers and short operands by default), "fft" transforms. Raises ValueError where shapes don't fit.

    >>> import adjoint as ad
    >>> ad.fft.convolve(ad.tensor([1.0, 2.0, 3.0]), ad.tensor([1.0, 10.0]))
    Tensor([ 1., 12., 23., 30.])
    """
    return composite("convolve", fourier.convolve, "convolve", *as_nodes((x, y)), mode, method)


def fftconvolve(x: Operand, y: Operand, /, mode: str = "full", axes: Any = None) -> Tensor:
    """`convolve` by Fourier transforms, over axes (None: all); the other axes broadcast.

    >>> import adjoint as ad
    >>> ad.fft.fftconvolve(ad.tensor([1.0, 2.0, 3.0]), ad.tensor([1.0, 10.0])).numpy().round(4)
    array([ 1., 12., 23., 30.], dtype=float32)
    """
    return composite("fftconvolve", fourier.convolve, "fftconvolve", *as_nodes((x, y)), mode, "fft", axes)


def correlate(x: Operand, y: Operand, /, mode: str = "full", method: str = "auto") -> Tensor:
    """The correlation over all axes: element k is the sum of x[j + k] conj(y[j]). mode and method as in `convolve`.

    >>> import adjoint as ad
    >>> ad.fft.correlate(ad.tensor([1.0, 2.0, 3.0]), ad.tensor([0.0, 1.0]), mode="valid")
    Tensor([2., 3.])
    """
    return composite("correlate", fourier.correlate, "correlate", *as_nodes((x, y)), mode, method)


__all__ = [
    "convolve",
    "correlate",
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftconvolve",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "next_fast_len",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
