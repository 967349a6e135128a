"""torch.distributions.transforms: invertible functions with the logarithm of their Jacobian's determinant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint.tensors.located import at_user

from . import constraints
from ._base import broadcast_all
from ._program import torch
from ._transform import ComposeTransform, IndependentTransform, ReshapeTransform, Transform, identity_transform, summed

F = torch.nn.functional

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class _Elementwise(Transform):
    bijective, _sign = True, 1

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    __hash__ = object.__hash__


class ExpTransform(_Elementwise):
    """eˣ."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """x."""
        return x


class PowerTransform(Transform):
    """x to a power, for positive x."""

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        """The exponent's."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool((self.exponent == other.exponent).all())

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |exponent · y / x|."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        """Broadcast with the exponent's."""
        return torch.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(_Elementwise):
    """1/(1 + e⁻ˣ)."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        info = torch.finfo(x.dtype)
        return torch.sigmoid(x).clamp(info.tiny, 1.0 - info.eps)

    def _inverse(self, y: Any) -> Any:
        info = torch.finfo(y.dtype)
        y = y.clamp(info.tiny, 1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log(y (1 - y))."""
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Elementwise):
    """log(1 + eˣ)."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return F.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log sigmoid(x)."""
        return -F.softplus(-x)


class TanhTransform(_Elementwise):
    """The hyperbolic tangent."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log(1 - y²), in a form that doesn't cancel."""
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Transform):
    """The modulus, which isn't one to one."""

    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """loc + scale · x; the last `event_dim` axes make one value."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """How many axes make one value."""
        return self._event_dim

    @property
    def domain(self) -> Any:
        """Real numbers."""
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    @property
    def codomain(self) -> Any:
        """Real numbers."""
        return self.domain

    @property
    def sign(self) -> Any:
        """The scale's."""
        if isinstance(self.scale, (int, float)):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = ((self.loc, other.loc), (self.scale, other.scale))
        return all(bool((torch.as_tensor(a) == torch.as_tensor(b)).all()) for a, b in pairs)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |scale|, summed over a value."""
        shape = x.shape
        if isinstance(self.scale, (int, float)):
            result = torch.full_like(x, math.log(abs(self.scale)))
        else:
            result = self.scale.abs().log()
        if self._event_dim:
            result = result.expand(torch.broadcast_shapes(result.shape, shape))
            result = summed(result, self._event_dim)
            shape = shape[: len(shape) - self._event_dim]
        return result.expand(torch.broadcast_shapes(result.shape, shape))

    def forward_shape(self, shape: Any) -> Any:
        """Broadcast with the parameters'."""
        return torch.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


class SoftmaxTransform(Transform):
    """exp(x), normalised: from vectors to probabilities, not one to one."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return torch.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(Transform):
    """From n numbers to n + 1 probabilities: each takes its part of what is left."""

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = object.__hash__

    def _left(self, x: Any) -> Any:
        """How many parts there are at each place, from the last one to come."""
        n = x.shape[-1]
        return torch.arange(n, 0, -1, dtype=x.dtype)

    def _call(self, x: Any) -> Any:
        part = torch.sigmoid(x - self._left(x).log()).clamp(torch.finfo(x.dtype).tiny, 1 - torch.finfo(x.dtype).eps)
        rest = (1 - part).cumprod(-1)
        return F.pad(part, [0, 1], value=1) * F.pad(rest, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        kept = y[..., :-1]
        rest = (1 - kept.cumsum(-1)).clamp(min=torch.finfo(y.dtype).tiny)
        return kept.log() - rest.log() + self._left(kept).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum of the logarithms of the slopes."""
        x = x - self._left(x).log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """One more along the last axis."""
        return torch.Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        """One less along the last axis."""
        return torch.Size((*shape[:-1], shape[-1] - 1))


class LowerCholeskyTransform(Transform):
    """From matrices to lower triangular ones with a positive diagonal, its exponential."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + torch.diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + torch.diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Transform):
    """From matrices to positive definite ones."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """From n(n - 1)/2 numbers to the Cholesky factor of a correlation matrix: partial correlations tanh(x), row by row."""

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x: Any) -> Any:
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        x = x.clamp(-1 + eps, 1 - eps)
        r = _lower(x, -1)
        left = (1 - r.square()).sqrt().cumprod(-1)
        full = r + torch.eye(r.shape[-1], dtype=r.dtype)
        return full * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = 1 - (y * y).cumsum(-1)
        shifted = F.pad(left[..., :-1], [1, 0], value=1)
        n = y.shape[-1]
        rows, columns = torch.tril_indices(n, n, -1)
        t = y[..., rows, columns] / shifted[..., rows, columns].sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Of the products of a row, and of tanh."""
        left = 1 - (y * y).cumsum(-1)
        n = y.shape[-1]
        rows, columns = torch.tril_indices(n, n, -2)
        products = 0.5 * left[..., rows, columns].log().sum(-1)
        slopes = -2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(-1)
        return products + slopes

    def forward_shape(self, shape: Any) -> Any:
        """A square matrix."""
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError(f"CorrCholeskyTransform: {shape[-1]} isn't n (n - 1) / 2{at_user()}")
        return torch.Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        """A vector."""
        n = shape[-1]
        return torch.Size((*shape[:-2], n * (n - 1) // 2))


def _lower(x: Any, diagonal: int) -> Any:
    """The numbers of a vector below the diagonal of a matrix, row by row."""
    n = round((0.25 + 2 * x.shape[-1]) ** 0.5 + 0.5)
    if n * (n - 1) // 2 != x.shape[-1]:
        raise ValueError(f"CorrCholeskyTransform: {x.shape[-1]} isn't n (n - 1) / 2{at_user()}")
    rows, columns = torch.tril_indices(n, n, diagonal)
    made = x.new_zeros((*x.shape[:-1], n, n))
    made[..., rows, columns] = x
    return made


class _Parts(Transform):
    """Transforms of the parts of an axis."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> Any:
        """Whether all are one to one."""
        return all(t.bijective for t in self.transforms)

    @property
    def domain(self) -> Any:
        """Where it is defined."""
        return self._constraint([t.domain for t in self.transforms])

    @property
    def codomain(self) -> Any:
        """Where its values lie."""
        return self._constraint([t.codomain for t in self.transforms])

    def _constraint(self, parts: Any) -> Any:
        return constraints.stack(parts, self.dim)

    def _taken(self, x: Any) -> list[Any]:
        if x.size(self.dim) != len(self.transforms):
            raise ValueError(f"{len(self.transforms)} transforms for an axis of {x.size(self.dim)}{at_user()}")
        return [x.select(self.dim, i) for i in range(x.size(self.dim))]

    def _joined(self, parts: list[Any]) -> Any:
        return torch.stack(parts, self.dim)

    def _call(self, x: Any) -> Any:
        return self._joined([t(part) for t, part in zip(self.transforms, self._taken(x), strict=True)])

    def _inverse(self, y: Any) -> Any:
        return self._joined([t.inv(part) for t, part in zip(self.transforms, self._taken(y), strict=True)])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Each part's."""
        parts = zip(self.transforms, self._taken(x), self._taken(y), strict=True)
        return self._joined([t.log_abs_det_jacobian(a, b) for t, a, b in parts])


class StackTransform(_Parts):
    """A transform for each place of an axis."""


class CatTransform(_Parts):
    """A transform for each stretch of an axis, of these lengths."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    @property
    def length(self) -> int:
        """The length of the axis."""
        return sum(self.lengths)

    @property
    def event_dim(self) -> int:
        """The largest of the parts'."""
        return max(t.event_dim for t in self.transforms)

    def _constraint(self, parts: Any) -> Any:
        return constraints.cat(parts, self.dim, self.lengths)

    def _taken(self, x: Any) -> list[Any]:
        return list(torch.split(x, self.lengths, self.dim))

    def _joined(self, parts: list[Any]) -> Any:
        return torch.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Each part's; their sum where the axis belongs to a value."""
        found = []
        for t, a, b in zip(self.transforms, self._taken(x), self._taken(y), strict=True):
            found.append(summed(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += self.event_dim
        if dim < 0:
            return torch.cat(found, dim)
        total = found[0]
        for part in found[1:]:
            total = total + part
        return total


class CumulativeDistributionTransform(_Elementwise):
    """The cdf of a distribution of numbers."""

    codomain = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """Where the distribution's values lie."""
        return self.distribution.support

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the density."""
        return self.distribution.log_prob(x)
