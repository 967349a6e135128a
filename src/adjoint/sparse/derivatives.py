"""`sparse_jacobian` and `sparse_hessian`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint.primitives.core import marker
from adjoint.sparse.patterns import colours, scipy_sparse
from adjoint.sparse.patterns import pattern as pattern_of
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.jit import jit
from adjoint.transforms.grad import grad
from adjoint.transforms.jacobians import linearize
from adjoint.transforms.vmap import vmap

__all__ = ["sparse_hessian", "sparse_jacobian"]


def sparse_jacobian(function: Callable[..., Any], *, pattern: Any = None) -> Callable[..., Any]:
    """A function that gives the Jacobian of `function` by its first argument, as a SciPy sparse array (outputs, inputs).

    Both are arrays, whose elements are numbered in order. The pattern comes from the recorded graph: slices, joins, elementwise
    operations, sums and products with sparse matrices are followed element by element, of others every element counts
    as depending on all (so does the inside of loops). Columns that share no row are computed together, in one compiled
    program; it is traced anew where `jit` would. `pattern`, a SciPy sparse array, takes the place of the one that is found.

    Raises what `jit` raises, where a value is asked for; TypeError for results that aren't one array.

    >>> import adjoint as ad
    >>> jacobian = ad.sparse_jacobian(lambda x: x[1:] * x[:-1])(ad.tensor([1.0, 2.0, 3.0]))
    >>> jacobian.toarray().tolist(), jacobian.nnz
    ([[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]], 4)
    """
    scipy_sparse()  # a trace refuses what a module's first import does

    def compressed(x: Tensor, *args: Any) -> tuple[Any, ...]:
        start = wrap(marker(f.flatten(x).node, tracked=True))

        def flat(v: Tensor) -> Tensor:
            out = function(f.reshape(v, x.shape), *args)
            if not isinstance(out, Tensor):
                raise TypeError(
                    f"sparse_jacobian: the function returns one tensor, not {type(out).__name__}{at_user()}"
                )
            return f.flatten(out)

        where = pattern_of(flat(start).node, start.node) if pattern is None else scipy_sparse().csr_array(pattern)
        entries = where.tocoo()
        chosen = colours(where)
        count = int(chosen.max(initial=-1)) + 1
        seeds = np.zeros((count, x.size))
        seeds[chosen, np.arange(x.size)] = 1
        value, push = linearize(flat, start)
        if not count or not entries.nnz:
            return f.zeros(0, dtype=value.dtype), entries.row, entries.col, np.array(where.shape)
        products = vmap(push)(f.asarray(seeds, dtype=x.dtype))
        numbers = chosen[entries.col] * where.shape[0] + entries.row
        values = f.take(f.flatten(products), f.asarray(numbers.astype(np.int64)), axis=0)
        return values, entries.row, entries.col, np.array(where.shape)

    program = jit(lambda x, *args: tuple([f.asarray(part) for part in compressed(x, *args)]))

    def transformed(x: Any, *args: Any) -> Any:
        given = f.asarray(x)
        given = given if given.dtype.inexact else given.astype(float)
        values, rows, columns, shape = [np.array(part) for part in program(given, *args)]
        return scipy_sparse().coo_array((values, (rows, columns)), shape=tuple(shape.tolist())).tocsr()

    return transformed


def sparse_hessian(function: Callable[..., Any], *, pattern: Any = None) -> Callable[..., Any]:
    """A function that gives the second derivatives of `function`, one number, by its first argument, an array, as a SciPy
    sparse array: the Jacobian of the gradient. See `sparse_jacobian`.

    >>> import adjoint as ad
    >>> chain = lambda x: ((x[1:] - x[:-1]) ** 2).sum()
    >>> ad.sparse_hessian(chain)(ad.tensor([1.0, 2.0, 4.0])).toarray().tolist()
    [[2.0, -2.0, 0.0], [-2.0, 4.0, -2.0], [0.0, -2.0, 2.0]]
    """
    return sparse_jacobian(grad(function), pattern=pattern)
