"""Functions of parts of arrays called for all parts at once, as batches."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from adjoint.shapes import broadcast_shapes, normalize_axis, size_of
from adjoint.tensors.composing import Operand, as_tensor
from adjoint.tensors.functions import broadcast_to, moveaxis, reshape
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.vmap import vmap

__all__ = ["apply_along_axis", "vectorize"]

Shape = tuple[int, ...]


def apply_along_axis(function: Callable[..., Any], axis: int, x: Operand, /, *args: Any, **keywords: Any) -> Tensor:
    """A function of one-dimensional arrays called for every line of x along an axis; its axes take the place of that one.

    The lines are batched as by `vmap`, so the function may not branch on their values.

    >>> import adjoint as ad
    >>> ad.apply_along_axis(lambda v: v / v.sum(), 1, ad.tensor([[1.0, 3.0], [2.0, 2.0]]))
    Tensor([[0.25, 0.75],
            [0.5 , 0.5 ]])
    """
    t = as_tensor(x)
    place = normalize_axis(axis, t.ndim, "apply_along_axis")
    lead = (*t.shape[:place], *t.shape[place + 1 :])
    lines = reshape(moveaxis(t, place, -1), (size_of(lead), t.shape[place]))
    found = as_tensor(vmap(lambda line: as_tensor(function(line, *args, **keywords)))(lines))
    inner = found.shape[1:]
    spread = reshape(found, (*lead, *inner))
    source = tuple(range(len(lead), len(lead) + len(inner)))
    return moveaxis(spread, source, tuple(range(place, place + len(inner))))


CORE = re.compile(r"\(([^()]*)\)")


def _parsed(signature: str) -> tuple[list[list[str]], list[list[str]]]:
    before, arrow, after = signature.partition("->")
    if not arrow:
        raise ValueError(f"vectorize: a signature is written as '(n),(n)->()', not {signature!r}{at_user()}")
    sides = [
        [[d.strip() for d in core.split(",") if d.strip()] for core in CORE.findall(side)] for side in (before, after)
    ]
    return sides[0], sides[1]


def vectorize(
    function: Callable[..., Any], /, *, signature: str | None = None, excluded: Any = ()
) -> Callable[..., Any]:
    """A function of numbers as one of arrays, broadcast together: called once, for all elements, as a batch (`vmap`).

    With a signature, NumPy's, such as "(n),(n)->()", of arrays with so many last axes. `excluded`: positions of arguments that
    are handed over as they are. The function may not branch on values; `ad.where` chooses.

    >>> import adjoint as ad
    >>> distance = ad.vectorize(lambda a, b: ad.norm(a - b), signature="(n),(n)->()")
    >>> distance(ad.zeros((2, 3)), ad.ones(3))
    Tensor([1.7321, 1.7321])
    """
    given = None if signature is None else _parsed(signature)[0]

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        batched = [i for i in range(len(args)) if i not in excluded]
        if given is not None and len(given) != len(batched):
            raise ValueError(
                f"vectorize: the signature has {len(given)} arguments, {len(batched)} are given{at_user()}"
            )
        arrays = [as_tensor(args[i]) for i in batched]
        ranks = [len(core) for core in given] if given is not None else [0] * len(arrays)
        lead = broadcast_shapes("vectorize", *(a.shape[: a.ndim - r] for a, r in zip(arrays, ranks, strict=True)))
        inner = [a.shape[a.ndim - r :] for a, r in zip(arrays, ranks, strict=True)]
        flat = [
            reshape(broadcast_to(a, (*lead, *core)), (size_of(lead), *core))
            for a, core in zip(arrays, inner, strict=True)
        ]

        def one(*parts: Any) -> Any:
            full = list(args)
            for i, part in zip(batched, parts, strict=True):
                full[i] = part
            return function(*full, **keywords)

        if not lead:
            return one(*arrays)
        found = vmap(one)(*flat)
        if isinstance(found, (tuple, list)):
            return tuple([reshape(y, (*lead, *y.shape[1:])) for y in found])
        return reshape(found, (*lead, *found.shape[1:]))

    return call
