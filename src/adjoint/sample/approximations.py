"""Normal approximations of a density: around its mode, and the nearest one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import adjoint.tensors.functions as f
from adjoint import linalg, random, tree
from adjoint.sample.chains import one_number
from adjoint.solvers.minima import minimize
from adjoint.tensors.leaving import custom_code
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.jit import jit
from adjoint.transforms.grad import stop_gradient, value_and_grad
from adjoint.transforms.jacobians import hessian
from adjoint.transforms.loops import scan
from adjoint.transforms.ravel import ravel_tree
from adjoint.transforms.vmap import vmap

__all__ = ["Approximation", "laplace", "variational"]

FAMILIES = ("mean_field", "full_rank")
DECAY, SCALE_DECAY, TINY = 0.9, 0.999, 1e-8  # of Adam
AVERAGED = 4  # the last one of so many parts of the steps is averaged


class Approximation:
    """A normal distribution of a tree of numbers.

    `mean` is a tree, and `sd` its standard deviations; `covariance` is the matrix of all numbers in order, `factor` its Cholesky
    factor. `evidence` is the logarithm of the integral of the density: an estimate of it (Laplace) or a lower bound
    (variational), whose course over the steps is in `history`.

    >>> import adjoint as ad
    >>> found = ad.sample.laplace(lambda x: -2 * (x["a"] - 1) ** 2, {"a": 0.0})
    >>> found
            mean         sd
    a          1        0.5
    """

    def __init__(
        self, mean: Tensor, factor: Tensor, unravel: Callable[[Any], Any], evidence: Tensor, history: Tensor
    ) -> None:
        self._mean, self._unravel = mean, unravel
        self.factor = factor
        self.evidence = evidence
        self.history = history

    @property
    def mean(self) -> Any:
        """The means, as a tree."""
        return self._unravel(self._mean)

    @property
    def covariance(self) -> Tensor:
        """The covariances of all numbers of the tree in order, a matrix."""
        return self.factor @ self.factor.T

    @property
    def sd(self) -> Any:
        """The standard deviations, as a tree."""
        return self._unravel(f.sqrt((self.factor**2).sum(-1)))

    def sample(self, count: int, key: Any = 0) -> Any:
        """Draws: a tree whose leaves have an axis of this length in front.

        >>> import adjoint as ad
        >>> ad.sample.laplace(lambda x: -(x**2).sum(), ad.zeros(3)).sample(100).shape
        (100, 3)
        """
        used = random.key(key) if isinstance(key, (int, np.integer)) else key
        normal = random.normal((count, len(self._mean)), key=used, dtype="float64")
        return vmap(self._unravel)(self._mean + normal @ self.factor.T)

    def __repr__(self) -> str:
        mean, deviation = self.mean, self.sd
        rows = []
        for path, m, s in zip(tree.paths(mean), tree.flatten(mean)[0], tree.flatten(deviation)[0], strict=True):
            name = path.strip("[]'\"").replace("']", "") or "x"
            for index in np.ndindex(m.shape):
                label = name + (f"[{', '.join(map(str, index))}]" if index else "")
                rows.append((label, f"{m[index].item():.4g}", f"{s[index].item():.4g}"))
        width = max([len(label) for label, *_ in rows], default=0)
        return "\n".join([f"{label:<{width}} {a:>10} {b:>10}" for label, a, b in [("", "mean", "sd"), *rows]])


def _vector(initial: Any) -> tuple[Tensor, Callable[[Any], Any]]:
    whole = tree.map(lambda x: f.asarray(x).astype("float64"), stop_gradient(initial))
    return ravel_tree(whole)


def laplace(log_density: Callable[[Any], Any], initial: Any) -> Approximation:
    """The normal distribution at the mode of a density whose curvature there is the density's.

    log_density(x) is the logarithm of the density at a tree x of tensors like `initial`, where the search for the mode
    (`ad.minimize`) begins. The covariance is the inverse of minus the Hessian. Computed in float64. Raises ValueError where no
    mode is found, or where the curvature isn't negative in every direction.

    >>> import adjoint as ad
    >>> found = ad.sample.laplace(lambda x: 3 * x - ad.exp(x), 0.0)  # the logarithm of a gamma variable
    >>> round(found.mean.item(), 4), round(found.sd.item(), 4)
    (1.0986, 0.5774)
    """
    start, unravel = _vector(initial)

    def negative(v: Tensor) -> Tensor:
        return -one_number(log_density(unravel(v)))

    with custom_code():
        found = minimize(negative, start)
        mode = stop_gradient(found.x)
        curvature = stop_gradient(hessian(negative)(mode))
        if not bool(found.success.item()):
            raise ValueError(f"laplace: no mode was found from the initial values; start nearer to it{at_user()}")
        values = linalg.eigvalsh(curvature)
        if not bool((values > 0).all().item()):
            raise ValueError(
                f"laplace: the density doesn't fall in every direction from the mode (the least eigenvalue of minus the Hessian "
                f"is {values.min().item():.3g}); a parameter may not matter{at_user()}"
            )
        factor = linalg.cholesky(linalg.inv(curvature))
        evidence = -negative(mode) + len(mode) / 2 * math.log(2 * math.pi) - f.log(values).sum() / 2
    return Approximation(mode, factor, unravel, stop_gradient(evidence), f.zeros(0))


class _Adam(NamedTuple):
    """Parameters that climb, by D. Kingma and J. Ba (2015)."""

    mean: Tensor
    scale: Tensor  # logarithms of standard deviations, or of a factor's diagonal beside what is below it
    slopes: tuple[Tensor, Tensor]
    squares: tuple[Tensor, Tensor]

    def stepped(self, gradients: tuple[Tensor, Tensor], count: Tensor, rate: Tensor) -> _Adam:
        slopes = tree.map(lambda m, g: DECAY * m + (1 - DECAY) * g, self.slopes, gradients)
        squares = tree.map(lambda v, g: SCALE_DECAY * v + (1 - SCALE_DECAY) * g * g, self.squares, gradients)
        first, second = 1 - DECAY**count, 1 - SCALE_DECAY**count
        moved = tree.map(
            lambda x, m, v: x + rate * (m / first) / (f.sqrt(v / second) + TINY),
            (self.mean, self.scale),
            slopes,
            squares,
        )
        mean, scale = moved
        return _Adam(mean, scale, slopes, squares)


def variational(
    log_density: Callable[[Any], Any],
    initial: Any,
    *,
    family: str = "mean_field",
    steps: int = 2000,
    samples: int = 16,
    rate: float = 0.05,
    key: Any = 0,
) -> Approximation:
    """The normal distribution nearest to a density: the one with the largest evidence lower bound.

    log_density(x) is the logarithm of the density at a tree x of tensors like `initial`. The family: "mean_field", all numbers
    independent, or "full_rank", any covariance. The bound's gradient is estimated from `samples` reparameterised draws and their
    mirror images in each of the steps, which are Adam's with a rate that falls to 0 as a cosine; the parameters of the last
    quarter are averaged. A. Kucukelbir, D. Tran, R. Ranganath, A. Gelman and D. Blei (JMLR 18, 2017). Computed in float64, as one
    loop.

    Raises ValueError for another family, and where the bound isn't finite in the end.

    >>> import adjoint as ad
    >>> found = ad.sample.variational(lambda x: -2 * (x["a"] - 1) ** 2, {"a": 0.0})
    >>> round(found.mean["a"].item(), 2), round(found.sd["a"].item(), 2)
    (1.0, 0.5)
    """
    if family not in FAMILIES:
        raise ValueError(f"variational: family is one of {', '.join(map(repr, FAMILIES))}, got {family!r}{at_user()}")
    for what, number in (("steps", steps), ("samples", samples)):
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"variational: {what} is a whole number from 1 on, got {number!r}{at_user()}")
    start, unravel = _vector(initial)
    n = len(start)
    used = random.key(key) if isinstance(key, (int, np.integer)) else key

    def factor_of(scale: Tensor) -> Tensor:
        return f.tril(scale, k=-1) + _matrix(f.exp(linalg.diagonal(scale))) if scale.ndim == 2 else f.exp(scale)

    def bound(parameters: tuple[Tensor, Tensor], normal: Tensor) -> Tensor:
        mean, scale = parameters
        logarithms = linalg.diagonal(scale) if scale.ndim == 2 else scale
        factor = factor_of(scale)
        moved = normal * factor if factor.ndim == 1 else normal @ factor.T
        values = vmap(lambda v: one_number(log_density(unravel(v))))(mean + moved)
        return values.mean() + logarithms.sum() + n / 2 * (1 + math.log(2 * math.pi))

    def climb(start: Tensor, used: Tensor) -> Any:
        scale = f.zeros((n, n) if family == "full_rank" else n, dtype="float64")
        zero = f.zeros_like(start), f.zeros_like(scale)

        def step(state: _Adam, number: Tensor) -> tuple[_Adam, Any]:
            half = random.normal((samples, n), key=random.fold_in(used, number), dtype="float64")
            value, gradients = value_and_grad(bound)((state.mean, state.scale), f.concat([half, -half]))
            share = number.astype("float64") / steps
            moved = state.stepped(gradients, number.astype("float64") + 1, rate * (1 + f.cos(math.pi * share)) / 2)
            return moved, (value, moved.mean, moved.scale)

        values, means, scales = scan(step, _Adam(start, scale, zero, zero), f.arange(steps))[1]
        last = max(steps // AVERAGED, 1)
        scale = scales[-last:].mean(0)
        factor = factor_of(scale) if scale.ndim == 2 else _matrix(f.exp(scale))
        return means[-last:].mean(0), factor, values[-last:].mean(), values

    with custom_code():
        mean, factor, evidence, history = stop_gradient(jit(climb)(start, used))
    if not bool(f.isfinite(evidence).item()):
        raise ValueError(f"variational: the bound isn't finite; start elsewhere, or with a smaller rate{at_user()}")
    return Approximation(mean, factor, unravel, evidence, history)


def _matrix(x: Tensor) -> Tensor:
    return f.eye(len(x), dtype="float64") * x
