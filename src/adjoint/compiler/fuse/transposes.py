"""Which way round a matrix lies, and which products are computed transposed."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.compiler.fuse.kinds import View
from adjoint.plan.plan import Step


def _exchanges(step: Step) -> bool:
    """Whether a permutation exchanges the last two axes and no other."""
    axes = tuple(range(len(step.type.shape)))
    return bool(step.attributes == (*axes[:-2], *axes[:-3:-1]))


def turned_products(steps: Sequence[Step], read: set[int]) -> set[int]:
    """The products that are read transposed alone: they are computed that way round, as (AB)ᵀ = BᵀAᵀ."""
    products = {step.output for step in steps if step.op.name == "matmul"}
    read = set(read)
    turned: set[int] = set()
    apart = products.isdisjoint
    for step in steps if products else ():
        if apart(step.inputs):
            continue
        for slot in step.inputs:
            if slot in products:
                (turned if step.op.name == "permute_dims" and _exchanges(step) else read).add(slot)
    return turned - read


def is_matrix(view: View) -> bool:
    """Whether the last two axes are a matrix as the library takes it, in rows or in columns."""
    (n, m), (s, t) = view.shape[-2:], view.strides[-2:]
    rows = (t == 1 or m == 1) and (s >= m or n == 1)
    columns = (s == 1 or n == 1) and (t >= n or m == 1)
    return rows or columns
