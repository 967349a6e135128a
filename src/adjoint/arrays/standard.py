"""What the Array API standard asks of a namespace beside its functions: what dtypes, devices and limits it has.

Standard: https://data-apis.org/array-api/2025.12/
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adjoint import shapes
from adjoint.dtypes import DTYPES, DType, complex_of, default_dtype, int64, real_of
from adjoint.tensors.composing import DTypeLike, on_cpu
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import MISTAKES, at_user, explained
from adjoint.tensors.tensor import Tensor

__all__ = ["FloatInfo", "IntegerInfo", "NamespaceInfo", "__array_namespace_info__", "broadcast_shapes", "can_cast", "finfo",
           "iinfo", "isdtype"]  # fmt: skip


class FloatInfo(NamedTuple):
    """The limits of a floating dtype, as Python's numbers: what `finfo` gives.

    >>> import adjoint as ad
    >>> ad.finfo(ad.float32).max
    3.4028234663852886e+38
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntegerInfo(NamedTuple):
    """The limits of an integer dtype: what `iinfo` gives.

    >>> import adjoint as ad
    >>> ad.iinfo(ad.int8).max
    127
    """

    bits: int
    max: int
    min: int
    dtype: DType


def _dtype_in(x: Any) -> DType:
    return x.dtype if isinstance(x, Tensor) else dtype_of(getattr(x, "dtype", x) if isinstance(x, np.ndarray) else x)


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a floating dtype, or of an array's; of a complex one, those of its parts. Raises TypeError for others.

    `eps` is the distance from 1 to the next number, `smallest_normal` the smallest positive number with all digits.

    >>> import adjoint as ad
    >>> ad.finfo("float64").eps
    2.220446049250313e-16
    """
    dtype = _dtype_in(type)
    if not dtype.inexact:
        raise TypeError(f"finfo: {dtype.name} isn't a floating dtype; ad.iinfo tells of integers{at_user()}")
    if dtype.name == "bfloat16":  # 8 bits of precision and float32's exponents
        limit = (2 - 2.0**-7) * 2.0**127
        return FloatInfo(16, 2.0**-7, limit, -limit, 2.0**-126, dtype)
    info = np.finfo(dtype.dtype)
    limits = float(info.eps), float(info.max), float(info.min), float(info.smallest_normal)
    return FloatInfo(info.bits, *limits, dtype=real_of(dtype))


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer dtype, or of an array's. Raises TypeError for others.

    >>> import adjoint as ad
    >>> ad.iinfo("uint8").max
    255
    """
    dtype = _dtype_in(type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: {dtype.name} isn't an integer dtype; ad.finfo tells of floating ones{at_user()}")
    info = np.iinfo(dtype.dtype)
    return IntegerInfo(info.bits, int(info.max), int(info.min), dtype)


KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc",
}  # fmt: skip


def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Whether a dtype is of a kind: another dtype, one of the standard's words, or a tuple of such.

    The words are bool, signed integer, unsigned integer, integral, real floating, complex floating, numeric. Raises
    ValueError for another word.

    >>> import adjoint as ad
    >>> ad.isdtype(ad.float32, ("integral", "real floating"))
    True
    """
    found = dtype_of(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(found, k) for k in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"isdtype: kind is a dtype or one of {', '.join(KINDS)}, not {kind!r}{at_user()}")
        return found.kind in KINDS[kind]
    return found is dtype_of(kind)


def can_cast(from_: Any, to: DTypeLike, /) -> bool:
    """Whether a dtype, or an array's, can become another without loss of range: as NumPy's `can_cast` with "safe".

    >>> import adjoint as ad
    >>> ad.can_cast(ad.int32, ad.float64), ad.can_cast(ad.float64, ad.float32)
    (True, False)
    """
    return casts(from_, to, "safe")


def casts(from_: Any, to: DTypeLike, rule: Any) -> bool:
    """Whether a dtype, or an array's, becomes another by one of NumPy's rules: "safe", "same_kind", ..."""
    return bool(np.can_cast(_dtype_in(from_).dtype, dtype_of(to).dtype, rule))


def broadcast_shapes(*given: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes broadcast to. Raises ValueError where they don't.

    >>> import adjoint as ad
    >>> ad.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    try:
        return shapes.broadcast_shapes("broadcast_shapes", *(shapes.as_shape(shape) for shape in given))
    except MISTAKES as error:
        raise explained(error, "broadcast_shapes") from None


class NamespaceInfo:
    """What the namespace has, in the standard's words: made by `__array_namespace_info__`.

    >>> import adjoint as ad
    >>> ad.__array_namespace_info__().default_device()
    'cpu'
    """

    def capabilities(self) -> dict[str, Any]:
        """Masks as indices and shapes that depend on values are there; arrays have at most 64 axes, as NumPy's."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The one device."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """All devices: one."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """What Python's numbers become, and the dtype of indices."""
        on_cpu("default_dtypes", device)
        real = default_dtype()
        return {"real floating": real, "complex floating": complex_of(real), "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The dtypes by name: all, or those of a kind, as `isdtype` has them."""
        on_cpu("dtypes", device)
        names = [name for name in DTYPES if name in STANDARD]
        return {name: DTYPES[name] for name in names if kind is None or isdtype(DTYPES[name], kind)}


# The dtypes that the standard knows.
STANDARD = frozenset(name for name, dtype in DTYPES.items() if not dtype.narrow)


def __array_namespace_info__() -> NamespaceInfo:
    """What the namespace has: capabilities, devices, dtypes, as the Array API standard asks.

    >>> import adjoint as ad
    >>> ad.__array_namespace_info__().default_dtypes()["real floating"]
    adjoint.float32
    """
    return NamespaceInfo()
