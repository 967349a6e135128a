"""Rows of the table of operations: what one says, and how its inputs are drawn.

A row names the function, the NumPy or SciPy function that it must equal, and the inputs to try. In a case
``array(2, 3)`` stands for a random array of that shape, drawn from the row's domain in the dtype under test: these get
differentiated. ``integers`` and ``mask`` stand for arrays that never are; a NumPy array is used as it is; ``Static``
and keywords pass through.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import adjoint as ad

FLOATS = ("float64", "float32")
COMPLEXES = ("complex128", "complex64")
INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")
DTYPES = {"f": FLOATS, "c": COMPLEXES, "i": INTEGERS, "s": INTEGERS[:4], "b": ("bool",)}


@dataclass(frozen=True)
class Spec:
    """An array to draw: ``kind`` is "inexact" (the dtype under test), "integer" or "mask"."""

    shape: tuple[int, ...]
    domain: tuple[float, float] | None = None
    kind: str = "inexact"

    def draw(self, generator: np.random.Generator, domain: tuple[float, float], dtype: str) -> np.ndarray:
        low, high = self.domain or domain
        if self.kind == "mask" or dtype == "bool":
            return np.asarray(generator.random(self.shape) < 0.5)
        if self.kind == "integer" or np.dtype(dtype).kind in "iu":
            wanted = np.dtype("int16" if self.kind == "integer" else dtype)
            first = max(math.ceil(low), 0) if wanted.kind == "u" else math.ceil(low)
            return np.asarray(generator.integers(first, math.floor(high) + 1, self.shape), wanted)
        values = generator.uniform(low, high, self.shape)
        if np.dtype(dtype).kind == "c":  # above the real axis, where every function here is away from its branch cut
            values = values + 1j * generator.uniform(0.2, 0.9, self.shape)
        return np.asarray(values, dtype)


@dataclass(frozen=True)
class Static:
    """An argument that is handed over untouched, arrays inside it included."""

    value: Any


@dataclass(frozen=True, eq=False)
class Case:
    """One call: positional arguments with specs in them, keywords as they are."""

    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    only_value: bool = False


def array(*shape: int, domain: tuple[float, float] | None = None) -> Spec:
    return Spec(shape, domain)


def integers(*shape: int, domain: tuple[float, float]) -> Spec:
    return Spec(shape, domain, "integer")


def mask(*shape: int) -> Spec:
    return Spec(shape, None, "mask")


def case(*arguments: Any, **keywords: Any) -> Case:
    return Case(arguments, keywords)


def value(*arguments: Any, **keywords: Any) -> Case:
    """A case whose derivative is not compared: special values, corners, casts that lose precision."""
    return Case(arguments, keywords, only_value=True)


@dataclass(frozen=True)
class Operation:
    """A row. ``dtypes`` are letters: floats, complex, integers, signed, bool; ``call`` is for what has no name."""

    name: str
    reference: Callable[..., Any]
    cases: Sequence[Case]
    domains: tuple[tuple[float, float], ...] = ((-2.0, 2.0),)
    dtypes: str = "f"
    call: Callable[..., Any] | None = None
    compare_dtype: bool = True

    @property
    def function(self) -> Callable[..., Any]:
        return self.call or functools.reduce(getattr, self.name.split("."), ad)

    @property
    def dtype_names(self) -> list[str]:
        return [name for letter in self.dtypes for name in DTYPES[letter]]

    def draw(self, case: Case, dtype: str) -> list[Any]:
        """Arguments with NumPy arrays in place of the specs; the same arrays each time."""
        generator = np.random.default_rng([zlib.crc32(self.name.encode()), self.cases.index(case)])
        domains = iter([*self.domains, *[self.domains[-1]] * 9])

        def realize(leaf: Any) -> Any:
            if isinstance(leaf, Spec):
                return leaf.draw(generator, next(domains), dtype)
            return leaf.astype(dtype) if is_inexact(leaf) and np.can_cast(leaf.dtype, dtype, "same_kind") else leaf

        return map_leaves(realize, list(case.arguments))

    def of_numpy(self, case: Case, arguments: list[Any]) -> list[np.ndarray]:
        plain = map_leaves(lambda leaf: leaf.value if isinstance(leaf, Static) else leaf, arguments)
        return outputs(self.reference(*plain, **case.keywords))

    def of_tensors(self, case: Case, arguments: list[Any], tensors: Sequence[ad.Tensor]) -> list[ad.Tensor]:
        """Call it with ``tensors`` in place of the floating arrays of ``arguments``, in order."""
        remaining = iter(tensors)

        def tensor(leaf: Any) -> Any:
            if isinstance(leaf, np.ndarray):
                return next(remaining) if is_inexact(leaf) else ad.tensor(leaf)
            return leaf.value if isinstance(leaf, Static) else leaf

        return outputs(self.function(*map_leaves(tensor, arguments), **case.keywords))


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """``function`` on each leaf of nested lists and tuples."""
    if type(tree) in (list, tuple):
        return type(tree)(map_leaves(function, item) for item in tree)
    return function(tree)


def is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc"


def inexact_arrays(arguments: list[Any]) -> list[np.ndarray]:
    """The arrays that get differentiated, in order."""
    found: list[Any] = []
    map_leaves(found.append, arguments)
    return [leaf for leaf in found if is_inexact(leaf)]


def outputs(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


# fmt: off
# ---- what many rows share ---------------------------------------------------------------------------------------------

ONE = (case(array(2, 3, 4)), case(array()), case(array(3)), case(array(0, 3)))
TWO = (
    case(array(3), array(2, 3)), case(array(), array()), case(array(2, 1), array(1, 3)), case(array(2, 3), array()),
    case(array(0, 3), array(3)), case(array(1, 3), array(2, 1, 1)),
)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
HALVES = np.array([-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 1e20])
LARGE = np.array([-1000.0, -40.0, 0.0, 40.0, 1000.0])
PAIRS = np.array([0.0, -0.0, 1.0, np.nan, np.inf, -3.0]), np.array([-0.0, 0.0, np.nan, 1.0, np.inf, 2.0])
SMALL = np.array([1e-12, -1e-12, 0.0])


def row(name: str, reference: Any, *cases: Case, **more: Any) -> Operation:
    return Operation(name, reference, cases, **more)


def one(
    name: str, reference: Any, low: float = -2, high: float = 2, dtypes: str = "f", special: np.ndarray | None = SPECIAL
) -> Operation:
    cases = ONE if special is None else (*ONE, value(special))
    return row(name, reference, *cases, domains=((low, high),), dtypes=dtypes)


def two(name: str, reference: Any, *domains: tuple[float, float], dtypes: str = "f", special: bool = True) -> Operation:
    cases = (*TWO, value(*PAIRS)) if special else TWO
    return row(name, reference, *cases, domains=domains or ((-2, 2),), dtypes=dtypes)
