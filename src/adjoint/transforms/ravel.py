"""A tree of arrays as one vector."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adjoint import tree
from adjoint.dtypes import default_dtype, promote
from adjoint.graph import array_type
from adjoint.primitives.core import cast, ops
from adjoint.tensors.conversion import a, as_node
from adjoint.tensors.located import at_user, recording_at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import _is_array, standing_for

__all__ = ["ravel_tree"]


def ravel_tree(value: Any) -> tuple[Tensor, Callable[[Any], Any]]:
    """All numbers of a tree of tensors as one vector, and the function that makes such a tree of a vector again.

    The vector has the dtype that all leaves are promoted to (the default dtype without any leaf); the leaves of a tree made from
    one have the dtypes that they came with, so an integer among floating leaves comes back as an integer, without a derivative.
    Raises TypeError for a leaf that is no array, and the returned function ValueError
    for a vector of another length.

    >>> import adjoint as ad
    >>> vector, unravel = ad.ravel_tree({"slope": ad.tensor([1.0, 2.0]), "offset": 3.0})
    >>> vector
    Tensor([1., 2., 3.])
    >>> unravel(vector * 10)
    {'slope': Tensor([10., 20.]), 'offset': Tensor(30.)}
    """
    leaves, structure = tree.flatten(value)
    for leaf, path in zip(leaves, tree.paths(value), strict=True):
        if not _is_array(leaf):
            raise TypeError(f"ravel_tree: the leaf {path or 'given'} is {a(leaf)}, not a tensor or a number{at_user()}")
    with recording_at_user():
        nodes = [as_node(leaf) for leaf in leaves]
        types = [x.type for x in nodes]
        kind = functools.reduce(promote, [t.dtype for t in types]) if types else default_dtype()
        parts = [ops.reshape(cast(x, kind), (x.type.size,)) for x in nodes]
        whole = (
            parts[0] if len(parts) == 1 else ops.concat(parts, 0) if parts else ops.full(0.0, array_type((0,), kind))
        )
    total = sum([t.size for t in types])

    def unravel(vector: Any) -> Any:
        with recording_at_user():
            node = as_node(vector)
            if node.shape != (total,):
                raise ValueError(f"unravel: expected a vector of {total} numbers, got shape {node.shape}{at_user()}")
            found, start = [], 0
            for t, leaf in zip(types, leaves, strict=True):
                part = ops.slice_(node, ((start, t.size, 1),)) if len(types) > 1 else node
                found.append(standing_for(leaf, cast(ops.reshape(part, t.shape), t.dtype)))
                start += t.size
        return structure.unflatten(found)

    return wrap(whole), unravel
