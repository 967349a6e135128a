"""`check_grads`: exact derivatives against central differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adjoint import tree
from adjoint.dtypes import as_dtype
from adjoint.execution import evaluate
from adjoint.graph import array_type
from adjoint.primitives.core import leaf as leaf_node
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import _is_array, jvp, vjp

__all__ = ["check_grads"]

Array = np.ndarray[Any, Any]
ListFunction = Callable[..., list[Tensor]]

MODES = ("forward", "reverse")
TOLERANCES = {8: 1e-6, 4: 5e-3}  # by the bytes of a real number
MOST_ELEMENTS = 10_000  # tried one by one to find the one that disagrees


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("forward", "reverse"),
    *,
    step: float | None = None,
    tolerance: float | None = None,
    seed: int = 0,
) -> None:
    """Compare the derivatives of f at args with central differences, up to an order; AssertionError where they
    disagree.

    Each order is compared with one difference of the exact derivative an order lower, in every combination of the
    modes: along a random direction first, and where that disagrees element by element. The error names the first input
    and element, both derivatives, their difference and the step.

    args: a tuple with one entry for each argument, nested containers allowed; f returns tensors, in containers or not.
    Give float64 inputs: in float32 a difference has three digits. step: how far to go to either side, by default the
    cube root of the precision. tolerance: how much derivatives may differ, absolutely and relative to the largest, by
    default 1e-6 (float32: 5e-3). seed: of the random directions. Raises ValueError for other modes or nothing to check.

    >>> import adjoint as ad
    >>> ad.check_grads(lambda x, y: ad.sin(x) * y, (ad.tensor([1.0, 2.0], dtype="float64"), 3.0))
    """
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"check_grads: args is a tuple with one entry for each argument{at_user()}")
    unknown = [m for m in modes if m not in MODES]
    if unknown or not modes:
        raise ValueError(f"check_grads: modes are 'forward' and 'reverse', got {list(modes)}{at_user()}")
    if order < 1:
        raise ValueError(f"check_grads: order is at least 1, got {order}{at_user()}")
    leaves, structure = tree.flatten(tuple(args))
    paths = tree.paths(tuple(args), "args")
    points: list[Array] = []
    names: list[str] = []
    places: list[int] = []
    for i, (leaf, path) in enumerate(zip(leaves, paths, strict=True)):
        node = as_node(leaf) if _is_array(leaf) else None
        if node is not None and node.dtype.inexact:
            evaluate([node])
            points.append(np.array(node.value))
            names.append(path)
            places.append(i)

    def flat(*tensors: Tensor) -> list[Tensor]:
        call = list(leaves)
        for i, t in zip(places, tensors, strict=True):
            call[i] = t
        results = tree.flatten(f(*structure.unflatten(call)))[0]
        nodes = [as_node(y) for y in results if _is_array(y)]
        return [wrap(n) for n in nodes if n.dtype.inexact]

    if not points:
        raise ValueError(f"check_grads: no floating or complex input to differentiate by{at_user()}")
    bits = min(p.real.dtype.itemsize for p in points)
    check = _Check(
        getattr(f, "__name__", "f"),
        names,
        step if step is not None else float(np.finfo(np.float32 if bits == 4 else np.float64).eps) ** (1 / 3),
        tolerance if tolerance is not None else TOLERANCES[bits],
        np.random.default_rng(seed),
        tuple(modes),
    )
    problem = check.run(flat, points, order, ())
    if problem is not None:
        raise AssertionError(f"check_grads: {problem}{at_user()}")


class _Check:
    """What stays the same through the orders."""

    def __init__(
        self, name: str, names: list[str], step: float, tolerance: float, generator: Any, modes: tuple[str, ...]
    ) -> None:
        self.name = name
        self.names = names
        self.step = step
        self.tolerance = tolerance
        self.generator = generator
        self.modes = modes

    def run(self, f: ListFunction, points: list[Array], order: int, trail: tuple[str, ...]) -> str | None:
        """The first disagreement in words; None if there is none."""
        values = _values(f(*_tensors(points)))
        if not values:
            return f"{self.name} returns nothing floating or complex"
        direction, cotangent = self._random_like(points), self._random_like(values)
        numeric = self.difference(f, points, direction)
        for mode in self.modes:
            if mode == "forward":
                exact = self.pushed(f, points, direction)
                wrong = any(self.differ(a, b) for a, b in zip(exact, numeric, strict=True))
            else:
                gradients = self.pulled(f, points, cotangent)
                bound = sum(
                    float(np.linalg.norm(a) * np.linalg.norm(b)) for a, b in zip(cotangent, numeric, strict=True)
                )
                gap = abs(_inner(gradients, direction) - _inner(cotangent, numeric))
                wrong = not gap <= self.tolerance * (1 + bound)
            if wrong:
                return self.located(f, points, mode, cotangent, trail)
        if order > 1:
            derivatives: dict[str, ListFunction] = {
                "forward": lambda *tensors: list(jvp(f, tensors, tuple(_tensors(direction)))[1]),
                "reverse": lambda *tensors: list(vjp(f, *tensors)[1](_tensors(cotangent))),
            }
            for mode in self.modes:
                problem = self.run(derivatives[mode], points, order - 1, (*trail, mode))
                if problem is not None:
                    return problem
        return None

    def located(
        self, f: ListFunction, points: list[Array], mode: str, cotangent: list[Array], trail: tuple[str, ...]
    ) -> str:
        """Which input and which of its elements: each moved by itself."""
        gradients = self.pulled(f, points, cotangent) if mode == "reverse" else None
        first = ""
        count = total = tried = 0
        for k, (point, name) in enumerate(zip(points, self.names, strict=True)):
            for index, unit in _units(point):
                if tried >= MOST_ELEMENTS:
                    break
                tried += 1
                direction = [unit if i == k else np.zeros_like(p) for i, p in enumerate(points)]
                numeric = self.difference(f, points, direction)
                if gradients is None:
                    exact = self.pushed(f, points, direction)
                    pairs = [(a, b) for a, b in zip(exact, numeric, strict=True) if self.differ(a, b)]
                    if not pairs:
                        continue
                    a, b = pairs[0]
                    at = np.unravel_index(int(np.argmax(_distance(a, b))), a.shape)
                    found, expected = a[at], b[at]
                    place = f", output element {_index(at)}" if a.ndim else ""
                else:
                    g = gradients[k][index]
                    found = float(np.real(g) if unit[index] == 1 else np.imag(g))
                    expected = _inner(cotangent, numeric)
                    place = ""
                    if abs(found - expected) <= self.tolerance * (1 + abs(expected)):
                        continue
                count += 1
                if not first:
                    part = "" if unit[index] == 1 else " (imaginary part)"
                    gap = abs(found - expected)
                    relative = f", {gap / abs(expected):.2%}" if expected else ""
                    first = (
                        f"input {name}, element {_index(index)}{part}{place}: {_number(found)}, by central differences "
                        f"{_number(expected)} (they differ by {gap:.3g}{relative}; step {self.step:.3g})"
                    )
                    total = point.size
            if first:
                break
        over = "".join(f" of the {mode}-mode derivative" for mode in reversed(trail))
        what = f"{mode} mode at order {len(trail) + 1}{over and f' (the derivative{over})'} of {self.name} disagrees"
        if not first:
            return f"{what} along a random direction, though along no single element (step {self.step:.3g})"
        return f"{what} first at {first}; {count} of the {total} elements of this input do"

    def differ(self, a: Array, b: Array) -> bool:
        """Whether two derivatives are further apart than the tolerance."""
        scale = float(np.abs(b[np.isfinite(b)]).max(initial=0))
        return not bool(np.all(_distance(a, b) <= self.tolerance * (1 + scale)))

    def difference(self, f: ListFunction, points: list[Array], direction: list[Array]) -> list[Array]:
        """The directional derivative of every output, numerically."""
        sides = []
        for sign in (1, -1):
            moved = [np.asarray(x + sign * self.step * d, x.dtype) for x, d in zip(points, direction, strict=True)]
            sides.append(_values(f(*_tensors(moved))))
        return [(plus - minus) / (2 * self.step) for plus, minus in zip(*sides, strict=True)]

    def pushed(self, f: ListFunction, points: list[Array], direction: list[Array]) -> list[Array]:
        return _values(jvp(f, tuple(_tensors(points)), tuple(_tensors(direction)))[1])

    def pulled(self, f: ListFunction, points: list[Array], cotangent: list[Array]) -> list[Array]:
        return _values(vjp(f, *_tensors(points))[1](_tensors(cotangent)))

    def _random_like(self, arrays: Sequence[Array]) -> list[Array]:
        drawn = []
        for x in arrays:
            normal = self.generator.normal(size=x.shape)
            if x.dtype.kind == "c":
                normal = normal + 1j * self.generator.normal(size=x.shape)
            drawn.append(np.asarray(normal, x.dtype))
        return drawn


def _tensors(arrays: Sequence[Array]) -> list[Tensor]:
    return [wrap(leaf_node(x, array_type(x.shape, as_dtype(x.dtype)))) for x in arrays]


def _values(tensors: Sequence[Tensor]) -> list[Array]:
    evaluate([t.node for t in tensors])
    return [np.asarray(t.node.value) for t in tensors]


def _inner(left: Sequence[Array], right: Sequence[Array]) -> float:
    """Re<left, right>: reverse mode is the adjoint of forward mode under it."""
    return float(sum(np.real(np.vdot(a, b)) for a, b in zip(left, right, strict=True)))


def _distance(a: Array, b: Array) -> Array:
    """|a - b|: 0 where both are the same infinity or both NaN, infinite where only one is finite."""
    with np.errstate(invalid="ignore"):
        gap = np.abs(a - b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.where(np.isnan(gap), np.inf, gap))


def _units(point: Array) -> Iterator[tuple[Any, Array]]:
    """Each element's index with the unit array there; for complex arrays the imaginary unit too."""
    for index in np.ndindex(point.shape):
        for one in (1, 1j) if point.dtype.kind == "c" else (1,):
            unit = np.zeros_like(point)
            unit[index] = one
            yield index, unit


def _index(index: Sequence[Any]) -> str:
    return f"[{', '.join(str(int(i)) for i in index)}]"


def _number(x: Any) -> str:
    return f"{x:.7g}"
