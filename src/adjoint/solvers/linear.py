"""Linear systems by products alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import adjoint.tensors.functions as f
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.loops import while_loop

__all__ = ["bicgstab", "conjugate_gradients"]

Product = Callable[[Tensor], Tensor]


def _ratio(p: Tensor, q: Tensor) -> Tensor:
    """p/q, and 0 where the method has broken down."""
    return f.where(q == 0, 0.0, p / f.where(q == 0, 1.0, q))


def bicgstab(product: Product, b: Tensor, tolerance: float | None = None, steps: int | None = None) -> Tensor:
    """x with product(x) = b, by the stabilised bi-conjugate gradient method of H. van der Vorst (SIAM J. Sci. Stat. Comput. 13,
    1992). NaN where the residual has not come below the tolerance times that of zero."""
    eps = float(np.finfo(b.dtype.dtype).eps)
    tolerance = eps**0.75 if tolerance is None else tolerance
    limit = (b**2).sum() * tolerance**2
    most = steps or 10 * b.shape[0] + 100

    def going(carry: tuple[Tensor, ...]) -> Tensor:
        return ((carry[1] ** 2).sum() > limit) & (carry[-1] < most)

    def body(carry: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        x, r, p, rho, k = carry
        v = product(p)
        alpha = _ratio(rho, (b * v).sum())
        s = r - alpha * v
        t = product(s)
        omega = _ratio((t * s).sum(), (t * t).sum())
        x = x + alpha * p + omega * s
        r = s - omega * t
        following = (b * r).sum()
        beta = _ratio(following, rho) * _ratio(alpha, omega)
        return x, r, r + beta * (p - omega * v), following, k + 1

    x, r, *_ = while_loop(going, body, (f.zeros_like(b), b, b, (b * b).sum(), 0))
    return f.where((r**2).sum() <= limit, x, float("nan"))


def conjugate_gradients(
    product: Product, b: Tensor, tolerance: float | None = None, steps: int | None = None
) -> Tensor:
    """x with product(x) = b for a symmetric positive definite product, by the method of M. Hestenes and E. Stiefel (1952).
    NaN where the residual has not come below the tolerance times that of zero."""
    eps = float(np.finfo(b.dtype.dtype).eps)
    tolerance = eps**0.75 if tolerance is None else tolerance
    limit = (b**2).sum() * tolerance**2
    most = steps or 10 * b.shape[0] + 100

    def going(carry: tuple[Tensor, ...]) -> Tensor:
        return (carry[3] > limit) & (carry[-1] < most)

    def body(carry: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        x, r, p, rho, k = carry
        v = product(p)
        alpha = _ratio(rho, (p * v).sum())
        x, r = x + alpha * p, r - alpha * v
        following = (r * r).sum()
        return x, r, r + _ratio(following, rho) * p, following, k + 1

    x, _, _, rho, _ = while_loop(going, body, (f.zeros_like(b), b, b, (b * b).sum(), 0))
    return f.where(rho <= limit, x, float("nan"))
