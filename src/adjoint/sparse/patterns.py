"""Which elements of a graph's result depend on which elements of its input, whatever their values are.

Each node gets a matrix of zeros and ones: its elements by those of the input. What moves elements is asked where they go by
running it on their numbers; of what isn't known every element depends on all that any element of its inputs depends on: a
pattern may be too large, and never too small.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.dtypes import float64
from adjoint.graph import Node, array_type, topological
from adjoint.primitives.core import CAST, DETACH
from adjoint.primitives.normalized import NORMALIZED
from adjoint.sparse.colouring import scipy_sparse

__all__ = ["pattern"]


def pattern(y: Node, x: Node) -> Any:
    """The pattern of the Jacobian, a SciPy sparse array (elements of y, elements of x) of ones."""
    sparse = scipy_sparse()
    n = x.type.size
    found: dict[Node, Any] = {x: sparse.csr_array(sparse.eye_array(n, dtype=np.int8, format="csr"))}
    for node in topological([y], lambda z: z is not x and z.value is None):
        if node is not x:
            found[node] = _of(node, found, n)
    result = found.get(y)
    return sparse.csr_array((y.type.size, n), dtype=np.int8) if result is None else result


def _of(node: Node, found: dict[Node, Any], n: int) -> Any:
    """The pattern of a node, None for one that has no derivative by the input."""
    before = [found.get(x) for x in node.inputs]
    if node.type.__class__ is tuple or node.op is DETACH or all([p is None for p in before]):
        return None if all([p is None for p in before]) or node.op is DETACH else _joined(before, 1)
    if not node.dtype.inexact:
        return None
    if node.op in NORMALIZED:  # the others are for its derivative, which is that of the first
        return before[0]
    name = node.op.name
    if node.op is CAST or (node.op.linear and (node.op.rearranges or node.op.passes_on)):
        return _moved(node, before, n)
    if node.op.elementwise:
        return _ones(sum([p for p in before if p is not None]))
    if name == "put_onto":
        return _put_onto(node, before, n)
    if node.op.combines:
        return _summed(node, before[0])
    if name == "sparse_product" and node.inputs[0].ndim == 1:
        return _ones(abs(node.attributes.matrix) @ before[0])
    return _joined(before, node.type.size)


def _ones(matrix: Any) -> Any:
    matrix = scipy_sparse().csr_array(matrix)
    matrix.data = np.ones_like(matrix.data, np.int8)
    return matrix


def _joined(before: list[Any], size: int) -> Any:
    """Every element depends on all that anything does."""
    counts = [np.asarray(p.sum(axis=0)).ravel() for p in before if p is not None]
    reached = np.asarray(np.sum(counts, axis=0) > 0)
    row = scipy_sparse().csr_array(reached.astype(np.int8)[None])
    return scipy_sparse().csr_array(scipy_sparse().vstack([row] * size, format="csr"))


def _moved(node: Node, before: list[Any], n: int) -> Any:
    """The operation on the numbers of the elements, from 1 on: 0 where it puts zeros."""
    sparse = scipy_sparse()
    numbers, start = [], 1
    for x in node.inputs:
        numbers.append(np.arange(start, start + x.type.size, dtype=np.float64).reshape(x.shape))
        start += x.type.size
    if node.op is CAST:
        placed = numbers[0]
    else:
        placed = np.asarray(node.op.kernel(node.attributes, array_type(node.shape, float64))(*numbers))
    whole = [sparse.csr_array((x.type.size, n), dtype=np.int8) if p is None else p
             for x, p in zip(node.inputs, before, strict=True)]  # fmt: skip
    stacked = sparse.vstack([sparse.csr_array((1, n), dtype=np.int8), *whole], format="csr")
    return sparse.csr_array(stacked[placed.ravel().astype(np.int64)])


def _put_onto(node: Node, before: list[Any], n: int) -> Any:
    """What one input depends on, and in their places what the other's elements do."""
    sparse = scipy_sparse()
    onto, value = node.inputs
    parts = [sparse.csr_array((x.type.size, n), dtype=np.int8) if p is None else p
             for x, p in zip(node.inputs, before, strict=True)]  # fmt: skip
    numbers = np.arange(1, value.type.size + 1, dtype=np.float64).reshape(value.shape)
    placed = node.op.kernel(node.attributes, array_type(node.shape, float64))(np.zeros(onto.shape), numbers)
    stacked = sparse.vstack([sparse.csr_array((1, n), dtype=np.int8), parts[1]], format="csr")
    return _ones(parts[0] + stacked[placed.ravel().astype(np.int64)])


def _summed(node: Node, before: Any) -> Any:
    """An element of a reduction depends on what the elements that it is made of depend on."""
    x = node.inputs[0]
    axes = node.attributes if isinstance(node.attributes, tuple) else (node.attributes,)
    if not all([isinstance(axis, int) for axis in axes]):
        return _joined([before], node.type.size)
    kept = tuple([1 if k in axes else size for k, size in enumerate(x.shape)])
    if int(np.prod(kept)) != node.type.size:
        return _joined([before], node.type.size)
    rows = np.broadcast_to(np.arange(node.type.size).reshape(kept), x.shape).ravel()
    shape = (node.type.size, x.type.size)
    gathers = scipy_sparse().csr_array((np.ones(rows.size, np.int32), (rows, np.arange(rows.size))), shape=shape)
    return _ones(gathers @ before)
