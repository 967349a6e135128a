"""Running extremes, and the running logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import Any

import adjoint.batch.running as _batching  # noqa: F401 - fills in the batching rules
from adjoint.graph import Node
from adjoint.primitives.core import inexact, ops
from adjoint.shapes import normalize_axis
from adjoint.tensors.composing import Operand, composite
from adjoint.tensors.conversion import as_node
from adjoint.tensors.functions import cumulative_prod, cumulative_sum
from adjoint.tensors.tensor import Tensor

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "logcumsumexp"]


def _whole(x: Any, axis: int | None) -> tuple[Node, int]:
    node = as_node(x)
    if axis is None:
        return ops.reshape(node, (node.type.size,)), 0
    return node, normalize_axis(axis, node.ndim, "axis")


def _running(name: str, x: Any, axis: int | None, largest: bool) -> Tensor:
    def values() -> Node:
        node, place = _whole(x, axis)
        return ops.cumulative_extreme(node, place, largest)

    return composite(name, values)


def cummax(x: Operand, /, axis: int | None = None) -> Tensor:
    """The largest of the elements up to each one along an axis (None: of the flattened x); NaN from the first NaN on.

    Of equal elements the first gets the derivative.

    >>> import adjoint as ad
    >>> ad.cummax(ad.tensor([1.0, 3.0, 2.0]))
    Tensor([1., 3., 3.])
    """
    return _running("cummax", x, axis, largest=True)


def cummin(x: Operand, /, axis: int | None = None) -> Tensor:
    """The smallest of the elements up to each one along an axis (None: of the flattened x); NaN from the first NaN on.

    Of equal elements the first gets the derivative.

    >>> import adjoint as ad
    >>> ad.cummin(ad.tensor([2.0, 3.0, 1.0]))
    Tensor([2., 2., 1.])
    """
    return _running("cummin", x, axis, largest=False)


def logcumsumexp(x: Operand, /, axis: int | None = None) -> Tensor:
    """log of the sums of exp(x) up to each element along an axis (None: of the flattened x), without overflow. Real x.

    >>> import adjoint as ad
    >>> ad.logcumsumexp(ad.tensor([1000.0, 0.0]))
    Tensor([1000., 1000.])
    """

    def sums() -> Node:
        node, place = _whole(x, axis)
        if node.dtype.kind == "c":
            raise TypeError("logcumsumexp: not defined for complex numbers")
        return ops.logcumsumexp(inexact(node), place)

    return composite("logcumsumexp", sums)


def cumsum(x: Operand, /, axis: int | None = None, dtype: Any = None) -> Tensor:
    """NumPy's name of `cumulative_sum`: axis None takes the flattened x.

    >>> import adjoint as ad
    >>> ad.cumsum(ad.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([ 1.,  3.,  6., 10.])
    """
    return cumulative_sum(x, axis, dtype=dtype) if axis is not None else cumulative_sum(_flat(x), 0, dtype=dtype)


def cumprod(x: Operand, /, axis: int | None = None, dtype: Any = None) -> Tensor:
    """NumPy's name of `cumulative_prod`: axis None takes the flattened x.

    >>> import adjoint as ad
    >>> ad.cumprod(ad.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([ 1.,  2.,  6., 24.])
    """
    return cumulative_prod(x, axis, dtype=dtype) if axis is not None else cumulative_prod(_flat(x), 0, dtype=dtype)


def _flat(x: Any) -> Tensor:
    return composite("flatten", lambda: _whole(x, None)[0])
