"""Systems of equations, inverses and least squares."""

from __future__ import annotations

from typing import Any, NamedTuple

from adjoint.composites import linalg
from adjoint.tensors.conversion import as_node, as_nodes
from adjoint.tensors.composing import Operand, composite, composites, value_of
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor


class LstsqResult(NamedTuple):
    """What `lstsq` gives.

    >>> import adjoint as ad
    >>> ad.linalg.lstsq(ad.tensor([[1.0], [1.0]]), ad.tensor([1.0, 3.0])).residuals
    Tensor([2.])
    """

    x: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def solve(a: Operand, b: Operand, /) -> Tensor:
    """x with a x = b: a (..., n, n), b (n,) or (..., n, k); leading axes broadcast.

    Larger matrices (n > 16) are factored once, for the derivatives too. Raises LinAlgError for a singular matrix, ValueError
    where shapes don't fit.

    >>> import adjoint as ad
    >>> ad.linalg.solve(ad.tensor([[2.0, 0.0], [1.0, 1.0]]), ad.tensor([2.0, 3.0]))
    Tensor([1., 2.])
    """
    return composite("solve", linalg.solve, *as_nodes((a, b)))


def solve_triangular(
    a: Operand, b: Operand, /, *, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Tensor:
    """x with a x = b, where one triangle of a (..., n, n) is read: the upper one, or with `lower` the lower; b (n,) or
    (..., n, k).

    trans: 0 or "N" for a, 1 or "T" for its transpose, 2 or "C" for its conjugate transpose. With `unit_diagonal` the diagonal
    counts as ones. Raises LinAlgError for a zero on the diagonal.

    >>> import adjoint as ad
    >>> ad.linalg.solve_triangular(ad.tensor([[2.0, 0.0], [1.0, 1.0]]), ad.tensor([2.0, 3.0]), lower=True)
    Tensor([1., 2.])
    """
    return composite("solve_triangular", linalg.solve_triangular, *as_nodes((a, b)), trans, lower, unit_diagonal)


def _pair(name: str, given: Any, meaning: str) -> tuple[Any, Any]:
    """The two parts of factors. A tensor is none, though a stack of two matrices could be taken apart."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise TypeError(f"{name}: the factors are a pair, {meaning}; got {type(given).__name__}{at_user()}")
    return given[0], given[1]


def cho_solve(factor: tuple[Operand, bool], b: Operand, /) -> Tensor:
    """x with a x = b, from a's Cholesky factor: a pair of the factor (..., n, n) and whether it is the lower one, as
    `cho_factor` gives it; b (n,) or (..., n, k).

    >>> import adjoint as ad
    >>> lower = ad.linalg.cholesky(ad.tensor([[4.0, 2.0], [2.0, 5.0]]))
    >>> ad.linalg.cho_solve((lower, True), ad.tensor([8.0, 12.0]))
    Tensor([1., 2.])
    """
    c, lower = _pair(
        "cho_solve", factor, "(the factor, whether it is the lower one), such as (ad.linalg.cholesky(a), True)"
    )
    return composite("cho_solve", linalg.cho_solve, as_node(c), bool(lower), as_node(b))


def lu_solve(factors: tuple[Operand, Operand], b: Operand, /, *, trans: Any = 0) -> Tensor:
    """x with a x = b, from what `lu_factor` gave for a; trans as in `solve_triangular`; b (n,) or (..., n, k).

    >>> import adjoint as ad
    >>> factors = ad.linalg.lu_factor(ad.tensor([[2.0, 1.0], [0.0, 1.0]]))
    >>> ad.linalg.lu_solve(factors, ad.tensor([2.0, 3.0]), trans=1)
    Tensor([1., 2.])
    """
    packed, pivots = _pair("lu_solve", factors, "what ad.linalg.lu_factor(a) gives")
    return composite("lu_solve", linalg.lu_solve, as_node(packed), as_node(pivots), as_node(b), trans)


def inv(x: Operand, /) -> Tensor:
    """The inverse of (..., n, n). Raises LinAlgError for a singular matrix.

    >>> import adjoint as ad
    >>> ad.linalg.inv(ad.tensor([[2.0, 0.0], [0.0, 4.0]]))
    Tensor([[0.5 , 0.  ],
            [0.  , 0.25]])
    """
    return composite("inv", linalg.inv, as_node(x))


def pinv(x: Operand, /, *, rtol: Any = None) -> Tensor:
    """The pseudoinverse (..., n, m) of (..., m, n); singular values up to rtol times the largest count as 0 (default:
    max(m, n) times the precision). rtol may be an array, a number for each matrix; no derivative goes through it.

    Its derivative is that for changes that keep the rank (Golub & Pereyra 1973).

    >>> import adjoint as ad
    >>> ad.linalg.pinv(ad.tensor([[2.0], [0.0]]))
    Tensor([[0.5, 0. ]])
    """
    return composite("pinv", linalg.pinv, as_node(x), value_of(rtol))


def lstsq(a: Operand, b: Operand, /, rcond: float | None = None) -> LstsqResult:
    """x of least norm among those that make |a x - b| least: a (..., m, n), b (m,) or (..., m, k), leading axes broadcast.

    Gives x, sums of squared residuals (..., k) (empty where m <= n), the rank of a and its singular values. rcond as in
    `pinv`, by which x is computed; derivatives are those for changes that keep the rank.

    >>> import adjoint as ad
    >>> points = ad.tensor([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> ad.linalg.lstsq(points, ad.tensor([1.0, 3.0, 5.0])).x.numpy().round(5)
    array([2., 1.], dtype=float32)
    """
    return LstsqResult(*composites("lstsq", linalg.lstsq, *as_nodes((a, b)), rcond))


def tensorinv(a: Operand, /, ind: int = 2) -> Tensor:
    """The inverse of `tensordot` with a over its last axes: the first `ind` axes of a hold as many elements as the others.

    >>> import adjoint as ad
    >>> ad.linalg.tensorinv(2.0 * ad.reshape(ad.eye(4), (2, 2, 4))).shape
    (4, 2, 2)
    """
    return composite("tensorinv", linalg.tensorinv, as_node(a), ind)


def tensorsolve(a: Operand, b: Operand, /, axes: Any = None) -> Tensor:
    """x with tensordot(a, x, x.ndim) = b; `axes` of a are moved to its end first.

    >>> import adjoint as ad
    >>> ad.linalg.tensorsolve(2.0 * ad.reshape(ad.eye(4), (2, 2, 4)), ad.ones((2, 2)))
    Tensor([0.5, 0.5, 0.5, 0.5])
    """
    return composite("tensorsolve", linalg.tensorsolve, *as_nodes((a, b)), axes)
