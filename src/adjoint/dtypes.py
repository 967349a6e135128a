"""Element types: the Array API standard's thirteen and two of 16 bits, how they promote, and the default floating type.

Promotion follows the Array API standard (https://data-apis.org/array-api/latest/API_specification/type_promotion.html)
with three additions: an integer or bool with a floating type gives that floating type, a Python scalar never widens, and
float16 with bfloat16, of which neither holds the other's numbers, gives float32.
"""

from __future__ import annotations

import itertools
import os
from contextvars import ContextVar
from typing import Any

import numpy as np

from adjoint import _optional
from adjoint.unknown import Unknown

__all__ = ["DTYPES", "DType", "as_dtype", "default_dtype", "get_default_dtype", "promote", "set_default_dtype"]

PREFIX = "adjoint."  # of the name in a repr, which names the dtype too
KIND_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


class DType:
    """One element type. Compares equal to its name, with or without `adjoint.` before it, and to its NumPy dtype;
    `np.dtype(t)` accepts it."""

    __slots__ = ("bits", "dtype", "inexact", "kind", "name", "narrow", "types")

    def __init__(self, name: str) -> None:
        self.name = name
        self.dtype = np.dtype(name)
        self._describe(self.dtype.kind, self.dtype.itemsize * 8)

    def _describe(self, kind: str, bits: int) -> None:
        self.kind = kind
        self.bits = bits
        self.inexact = kind in "fc"
        # Storage: what is computed with such numbers is computed in float32 and rounded once (see `primitives.core`).
        self.narrow = self.inexact and bits == 16
        # shape -> ArrayType, filled by graph.node.array_type
        self.types: dict[tuple[int, ...], Any] = {}

    @property
    def is_floating_point(self) -> bool:
        """Whether numbers have a fraction and are real."""
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Whether numbers have an imaginary part."""
        return self.kind == "c"

    @property
    def is_signed(self) -> bool:
        """Whether there are negative numbers."""
        return self.kind in "ifc"

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.bits // 8

    @property
    def char(self) -> str:
        """NumPy's letter for it, which SciPy asks for."""
        return self.dtype.char

    @property
    def type(self) -> Any:
        """NumPy's type of its numbers."""
        return self.dtype.type

    def __repr__(self) -> str:
        return PREFIX + self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str):
            return self.name == other.removeprefix(PREFIX)
        if other is None:  # which to NumPy means float64
            return False
        try:
            return bool(self.dtype == other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


class Bfloat16(DType):
    """The upper half of a float32. NumPy lacks it, so its NumPy dtype is that of the package ml_dtypes, which is imported when
    numbers are made of it: ImportError without it."""

    __slots__ = ()

    def __init__(self) -> None:
        self.name = "bfloat16"
        self._describe("f", 16)
        self.types = {}

    def __getattr__(self, name: str) -> Any:  # only asked for what isn't there: `dtype`, at first
        if name != "dtype":
            raise AttributeError(name)
        library = _optional.load("ml_dtypes", purpose="making numbers of bfloat16, which NumPy lacks,", extra="half")
        self.dtype = np.dtype(library.bfloat16)
        BY_NUMPY[self.dtype] = self
        return self.dtype

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        return other == PREFIX + self.name or _name_of(other) == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def _name_of(dtype: Any) -> Any:
    """What a dtype from elsewhere is called; a name is its own."""
    return dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None)


NAMES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
DTYPES: dict[str, DType] = {name: DType(name) for name in NAMES}
BY_NUMPY: dict[Any, DType] = {d.dtype: d for d in DTYPES.values()}
bfloat16 = DTYPES["bfloat16"] = Bfloat16()

bool_ = DTYPES["bool"]
int8, int16, int32, int64 = (DTYPES[n] for n in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (DTYPES[n] for n in ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = DTYPES["float16"], DTYPES["float32"], DTYPES["float64"]
complex64, complex128 = DTYPES["complex64"], DTYPES["complex128"]


def _chosen_default() -> DType:
    """float32, or what ADJOINT_DEFAULT_DTYPE says. Raises ValueError for another value."""
    given = os.environ.get("ADJOINT_DEFAULT_DTYPE") or "float32"
    if given not in ("float32", "float64"):
        raise ValueError(f"ADJOINT_DEFAULT_DTYPE must be float32 or float64, got {given!r}")
    return DTYPES[given]


_default = [_chosen_default()]
# The floating type of 16 bits in which PyTorch's interface computes what its `autocast` lists; None: there is none around.
AUTOCAST: ContextVar[DType | None] = ContextVar("adjoint_autocast", default=None)


def default_dtype() -> DType:
    """The type that Python floats take."""
    return _default[0]


get_default_dtype = default_dtype


def set_default_dtype(dtype: Any) -> None:
    """Set the type that Python floats take: float32 or float64. At the start it is what the environment variable
    ADJOINT_DEFAULT_DTYPE says, or else float32.

    Raises TypeError for any other type.

    >>> import adjoint as ad
    >>> ad.set_default_dtype("float64")
    >>> ad.tensor(1.5).dtype
    adjoint.float64
    >>> ad.set_default_dtype("float32")
    """
    chosen = as_dtype(dtype)
    if chosen not in (float32, float64):
        raise TypeError(f"set_default_dtype: expected float32 or float64, got {chosen.name}")
    _default[0] = chosen


def as_dtype(dtype: Any) -> DType:
    """The DType for a DType, a name, a NumPy dtype or one of Python's bool, int, float, complex. Raises TypeError."""
    if isinstance(dtype, DType):
        return dtype
    if dtype is float:
        return default_dtype()
    if dtype is complex:
        return complex_of(default_dtype())
    try:
        known_name = dtype.removeprefix(PREFIX) if isinstance(dtype, str) else dtype
        if _name_of(known_name) == "bfloat16":
            return bfloat16
        return BY_NUMPY[np.dtype(known_name).newbyteorder("=")]
    except (KeyError, TypeError):
        known = ", ".join(DTYPES)
        text = getattr(dtype, "kind", "") in ("U", "S", "T")
        numbered = " (text isn't computed with; np.unique(labels, return_inverse=True) numbers labels)" if text else ""
        raise TypeError(f"unknown dtype {str(_name_of(dtype) or dtype)!r}; adjoint has {known}{numbered}") from None


def complex_of(dtype: DType) -> DType:
    """The complex type with the precision of a floating type."""
    return complex128 if dtype.name in ("float64", "complex128") else complex64


def real_of(dtype: DType) -> DType:
    """The real type with the precision of a complex type; any other type unchanged."""
    return dtype if dtype.kind != "c" else (float64 if dtype is complex128 else float32)


def _promote(a: DType, b: DType) -> DType | None:
    low, high = sorted((a, b), key=lambda d: (KIND_ORDER[d.kind], d.bits))
    if low.narrow and high.narrow and low is not high:
        return float32
    if KIND_ORDER[high.kind] >= 2:
        if high.kind == "c" and low is float64:
            return complex128
        return high
    if {low.kind, high.kind} == {"u", "i"}:
        unsigned, signed = (low, high) if low.kind == "u" else (high, low)
        bits = max(signed.bits, unsigned.bits * 2)
        return DTYPES.get(f"int{bits}")
    return high


_TABLE = {(a, b): _promote(a, b) for a, b in itertools.product(DTYPES.values(), repeat=2)}


def promote(a: DType, b: DType) -> DType:
    """The common type of two arrays. Raises TypeError for uint64 with a signed integer, which have none."""
    common = _TABLE[a, b]
    if common is None:
        raise TypeError(f"no common type for {a.name} and {b.name}; cast one of them with astype")
    return common


def scalar_dtype(value: Any, beside: DType | None) -> DType:
    """The type that a Python scalar takes beside an array of type `beside` (None: alone). It never widens `beside`."""
    if type(value) is Unknown:
        value = value.value  # for its kind
    if isinstance(value, bool):
        return beside or bool_
    if isinstance(value, int):
        return beside if beside is not None and beside.kind != "b" else int64
    if isinstance(value, float):
        return beside if beside is not None and beside.inexact else default_dtype()
    return complex_of(beside if beside is not None and beside.inexact else default_dtype())
