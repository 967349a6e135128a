"""Losses of squared residuals that grow more slowly than these, so that few outliers don't decide; as SciPy defines them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adjoint.tensors.functions as f
from adjoint.tensors.conversion import a
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import grad

__all__ = ["LOSSES", "Robust", "robust_loss"]

TINY = 1e-290  # squares from which on the quotient of a loss by them has all digits

LOSSES: dict[Any, Callable[[Tensor], Tensor]] = {  # of squared residuals
    "linear": lambda z: z,
    "soft_l1": lambda z: 2 * z / (1 + f.sqrt(1 + z)),
    "huber": lambda z: f.where(z <= 1, z, 2 * f.sqrt(f.where(z <= 1, 1.0, z)) - 1),
    "cauchy": f.log1p,
    "arctan": f.atan,
}


class Robust:
    """The sum of C² rho(r²/C²) over residuals r, for a loss rho and a scale C."""

    def __init__(self, loss: Callable[[Tensor], Tensor], scale: Tensor) -> None:
        self.loss, self.scale = loss, scale

    def each(self, residuals: Tensor) -> Tensor:
        """What each residual costs."""
        return self.scale**2 * self.loss((residuals / self.scale) ** 2)

    def roots(self, residuals: Tensor) -> Tensor:
        """Numbers with the residuals' signs whose squares are these costs."""
        z = (residuals / self.scale) ** 2
        small = z < TINY
        safe = f.where(small, 1.0, z)
        return residuals * f.sqrt(f.where(small, 1.0, self.loss(safe) / safe))

    def weights(self, residuals: Tensor, least: float) -> Tensor:
        """Half the second derivative of each cost, `least` at the least: the weights of squares that are bent alike."""
        slope = grad(lambda r: self.each(r).sum() / 2)
        return f.maximum(grad(lambda r: slope(r).sum())(residuals), least)


def robust_loss(loss: Any, scale: Any, name: str) -> Robust | None:
    """The loss of that name, or the function rho itself, at a scale; None for the sum of squares."""
    if loss == "linear":
        return None
    if not callable(loss) and loss not in LOSSES:
        raise ValueError(
            f"{name}: loss is one of {', '.join(map(repr, LOSSES))} or a function, got {a(loss)} {loss!r}{at_user()}"
        )
    return Robust(_function(loss, name) if callable(loss) else LOSSES[loss], f.asarray(scale, dtype="float64"))


def _function(loss: Callable[[Tensor], Any], name: str) -> Callable[[Tensor], Tensor]:
    """A loss of the user's own: of what SciPy's give, values with their first and second derivatives, the values alone."""

    def rho(z: Tensor) -> Tensor:
        found = f.asarray(loss(z))
        if found.shape == (3, *z.shape):
            found = found[0]
        if found.shape != z.shape:
            raise ValueError(
                f"{name}: loss(z) gives an array like z, {z.shape}, or that and its derivatives, {(3, *z.shape)}; it gave "
                f"{found.shape}{at_user()}"
            )
        return found

    return rho
