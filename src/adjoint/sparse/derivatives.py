"""`sparse_jacobian` and `sparse_hessian`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint.primitives.core import marker
from adjoint.sparse.colouring import COLOURINGS, Recovery, scipy_sparse
from adjoint.sparse.patterns import pattern as pattern_of
from adjoint.sparse.pictures import PatternPicture
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.jit import jit
from adjoint.transforms.grad import grad, stop_gradient
from adjoint.transforms.jacobians import linearize
from adjoint.transforms.vmap import vmap

__all__ = ["SparseDerivative", "sparse_hessian", "sparse_jacobian"]

Array = np.ndarray[Any, Any]


class SparseDerivative:
    """What `sparse_jacobian` and `sparse_hessian` give: call it for the derivative, a SciPy sparse array.

    After a call `pattern` is the pattern that was used, a sparse array of ones, and `colours` the colour of each column; both can
    be given to another one. Tests of what changes are `jit`'s.

    >>> import adjoint as ad
    >>> hessian = ad.sparse_hessian(lambda x: (x[1:] * x[:-1]).sum())
    >>> hessian(ad.ones(4)).nnz, hessian.colours.tolist()
    (6, [0, 1, 0, 2])
    """

    def __init__(self, function: Callable[..., Any], pattern: Any, colouring: Any, symmetric: bool) -> None:
        scipy_sparse()  # a trace refuses what a module's first import does
        self._colouring, self._symmetric = colouring, symmetric
        self._latest: tuple[Any, Array] | None = None
        self._solved: Recovery | None = None
        self._program = jit(_compressed(function, pattern, colouring, symmetric))

    @property
    def pattern(self) -> Any:
        """The pattern of the latest call, a SciPy sparse array of ones. Raises ValueError before the first."""
        return self._used()[0]

    @property
    def colours(self) -> Array:
        """The colour of each column in the latest call. Raises ValueError before the first."""
        return self._used()[1]

    def picture(self) -> PatternPicture:
        """A picture of the pattern, its columns in their colours: shown by notebooks, and `save("pattern.svg")`.

        >>> import adjoint as ad
        >>> jacobian = ad.sparse_jacobian(lambda x: x[1:] * x[:-1])
        >>> entries = jacobian(ad.ones(4)).nnz
        >>> print(jacobian.picture())
        ●●··
        ·●●·
        ··●●
        """
        return PatternPicture(*self._used())

    def _used(self) -> tuple[Any, Array]:
        if self._latest is None:
            raise ValueError(f"sparse derivative: the pattern is found in the first call{at_user()}")
        return self._latest

    def __call__(self, x: Any, *args: Any) -> Any:
        """The derivative at x."""
        given = f.asarray(x)
        given = given if given.dtype.inexact else given.astype(float)
        values, *constants = [part.numpy() for part in self._program(given, *args)]
        indptr, indices, shape, colours = constants
        sparse, rows = scipy_sparse(), tuple(shape.tolist())
        latest = self._latest
        if latest is None or not (
            latest[0].shape == rows
            and np.array_equal(latest[0].indptr, indptr)
            and np.array_equal(latest[0].indices, indices)
        ):
            where = sparse.csr_array((np.ones(indices.size, np.int8), indices.copy(), indptr.copy()), shape=rows)
            self._latest = latest = where, colours.copy()
            self._solved = Recovery(where, colours, self._symmetric) if self._may_substitute() else None
        entries = values.copy() if self._solved is None else self._solved.entries(values)
        return sparse.csr_array((entries, indices.copy(), indptr.copy()), shape=rows)

    def _may_substitute(self) -> bool:
        """Whether entries may have to follow one from the other."""
        return self._symmetric and (not isinstance(self._colouring, str) or self._colouring == "acyclic")


def _where(y: Tensor, start: Tensor, given: Any, symmetric: bool) -> Any:
    found = pattern_of(y.node, start.node) if given is None else given
    where = scipy_sparse().csr_array(found, dtype=np.int8)
    if symmetric:
        where = scipy_sparse().csr_array(where + where.T)
    where.sum_duplicates()
    where.data[:] = 1
    return where


def _recovery(where: Any, chosen: Any, symmetric: bool) -> Recovery:
    """How the entries of a pattern come out of products."""
    colours = COLOURINGS[chosen](where) if isinstance(chosen, str) else np.asarray(chosen)
    if colours.shape != (where.shape[1],):
        raise ValueError(
            f"sparse derivative: {where.shape[1]} columns need a colour each, got shape {colours.shape}{at_user()}"
        )
    return Recovery(where, colours, symmetric)


def _compressed(function: Callable[..., Any], given: Any, colouring: Any, symmetric: bool) -> Callable[..., Any]:
    """What gives the products' entries that matter, and the pattern with its colours, which are constant in a trace."""

    def compressed(x: Tensor, *args: Any) -> tuple[Tensor, ...]:
        start = wrap(marker(f.flatten(x).node, tracked=True))

        def flat(v: Tensor) -> Tensor:
            out = function(f.reshape(v, x.shape), *args)
            if not isinstance(out, Tensor):
                raise TypeError(
                    f"sparse_jacobian: the function returns one tensor, not {type(out).__name__}{at_user()}"
                )
            return f.flatten(out)

        recovery = _recovery(_where(flat(start), start, given, symmetric), colouring, symmetric)
        where = recovery.pattern
        constants = [f.asarray(c) for c in (where.indptr, where.indices, np.array(where.shape), recovery.colours)]
        value, push = linearize(flat, start)
        if not recovery.count or not where.nnz:
            return (f.zeros(0, dtype=value.dtype), *constants)
        seeds = np.zeros((recovery.count, x.size))
        seeds[recovery.colours, np.arange(x.size)] = 1
        products = vmap(push)(f.asarray(seeds, dtype=x.dtype))
        values = f.take(f.flatten(products), f.asarray(recovery.numbers), axis=0)
        return (stop_gradient(values), *constants)  # what nothing differentiates is one call of compiled code

    return compressed


def sparse_jacobian(
    function: Callable[..., Any], *, pattern: Any = None, colouring: Any = "column"
) -> SparseDerivative:
    """A function that gives the Jacobian of `function` by its first argument, as a SciPy sparse array (outputs, inputs).

    Both are arrays, whose elements are numbered in order. The pattern comes from the recorded graph: slices, joins, elementwise
    operations, sums and products with sparse matrices are followed element by element, of others every element counts
    as depending on all (so does the inside of loops). Columns that share no row are computed together, in one compiled
    program; it is traced anew where `jit` would. `pattern`, a SciPy sparse array, takes the place of the one that is found, and
    `colouring`, a number for each column, that of the colours. See `SparseDerivative` for what it keeps.

    Raises what `jit` raises, where a value is asked for; TypeError for results that aren't one array, ValueError for colours
    under which two columns of one row are added up.

    >>> import adjoint as ad
    >>> jacobian = ad.sparse_jacobian(lambda x: x[1:] * x[:-1])(ad.tensor([1.0, 2.0, 3.0]))
    >>> jacobian.toarray().tolist(), jacobian.nnz
    ([[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]], 4)
    """
    _check("sparse_jacobian", colouring, ("column",))
    return SparseDerivative(function, pattern, colouring, symmetric=False)


def sparse_hessian(function: Callable[..., Any], *, pattern: Any = None, colouring: Any = "star") -> SparseDerivative:
    """A function that gives the second derivatives of `function`, one number, by its first argument, an array, as a SciPy
    sparse array. See `sparse_jacobian`.

    The colouring: "star", from whose products every entry or its mirror image is read; "acyclic", fewer colours, the entries
    follow by substitution; "column", as for Jacobians; or a number for each column. A. Gebremedhin, F. Manne and A. Pothen (SIAM
    Review 47, 2005).

    >>> import adjoint as ad
    >>> chain = lambda x: ((x[1:] - x[:-1]) ** 2).sum()
    >>> ad.sparse_hessian(chain)(ad.tensor([1.0, 2.0, 4.0])).toarray().tolist()
    [[2.0, -2.0, 0.0], [-2.0, 4.0, -2.0], [0.0, -2.0, 2.0]]
    >>> [int(ad.sparse_hessian(chain, colouring=c)(ad.ones(50)).nnz) for c in ("star", "acyclic", "column")]
    [148, 148, 148]
    """
    _check("sparse_hessian", colouring, tuple(COLOURINGS))
    return SparseDerivative(grad(function), pattern, colouring, symmetric=True)


def _check(name: str, colouring: Any, known: tuple[str, ...]) -> None:
    if isinstance(colouring, str) and colouring not in known:
        raise ValueError(
            f"{name}: colouring is {', '.join(map(repr, known))} or a number for each column, got {colouring!r}{at_user()}"
        )
