"""torch.distributions.transforms: invertible functions with the logarithm of their Jacobian's determinant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint.tensors.located import at_user

from . import constraints
from ._base import broadcast_all
from ._program import torch

F = torch.nn.functional

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class Transform:
    """A function with an inverse: `t(x)`, `t.inv(y)`, `t.log_abs_det_jacobian(x, y)`. Subclasses define `_call`, `_inverse` and
    the last. With `cache_size=1` the inverse of the last result is what it came from.
    """

    bijective: Any = False
    domain: Any = constraints.real
    codomain: Any = constraints.real
    _sign: Any = None

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"cache_size must be 0 or 1, not {cache_size}{at_user()}")
        self._cache_size, self._last = cache_size, (None, None)
        self._inv: Any = None

    @property
    def event_dim(self) -> int:
        """How many axes make one value; the domain's, if the codomain has as many."""
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("use domain.event_dim or codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse, as a transform."""
        if self._inv is None:
            self._inv = _Inverse(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 for an increasing function of numbers, -1 for a decreasing one."""
        if self._sign is None:
            raise NotImplementedError(f"{type(self).__name__}: it has no sign")
        return self._sign

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same with that cache."""
        if self._cache_size == cache_size:
            return self
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, _cache_size=cache_size, _last=(None, None), _inv=None)
        return made

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        """The function."""
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        self._last = (x, y)
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size and y is self._last[1]:
            return self._last[0]
        x = self._inverse(y)
        self._last = (x, y)
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no _call")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no _inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |dy/dx| at x, where y is what x becomes."""
        raise NotImplementedError(f"{type(self).__name__} defines no log_abs_det_jacobian")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of what a value of this shape becomes."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of what becomes a value of this shape."""
        return shape


class _Inverse(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv: Any = transform

    @property
    def domain(self) -> Any:
        """Where it is defined."""
        return self._inv.codomain

    @property
    def codomain(self) -> Any:
        """Where its values lie."""
        return self._inv.domain

    @property
    def bijective(self) -> Any:
        """Whether it is one to one."""
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        """That of the transform."""
        return self._inv.sign

    @property
    def inv(self) -> Any:
        """The transform."""
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same with that cache."""
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Inverse) and self._inv == other._inv

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        """The inverse of the transform."""
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The negative of the transform's."""
        return -self._inv.log_abs_det_jacobian(y, x)

    def __repr__(self) -> str:
        return f"{self._inv!r}.inv"

    def forward_shape(self, shape: Any) -> Any:
        """The transform's inverse_shape."""
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The transform's forward_shape."""
        return self._inv.forward_shape(shape)


def summed(x: Any, axes: int) -> Any:
    """The sum over the last so many axes."""
    return x.reshape((*x.shape[: x.dim() - axes], -1)).sum(-1) if axes > 0 else x


class ComposeTransform(Transform):
    """Transforms one after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @property
    def domain(self) -> Any:
        """Where it is defined."""
        if not self.parts:
            return constraints.real
        domain = self.parts[0].domain
        axes = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            axes = max(axes + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return constraints.independent(domain, axes - domain.event_dim) if axes > domain.event_dim else domain

    @property
    def codomain(self) -> Any:
        """Where its values lie."""
        if not self.parts:
            return constraints.real
        codomain = self.parts[-1].codomain
        axes = self.parts[0].domain.event_dim
        for part in self.parts:
            axes = max(axes + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return constraints.independent(codomain, axes - codomain.event_dim) if axes > codomain.event_dim else codomain

    @property
    def bijective(self) -> Any:
        """Whether all are one to one."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        """The product of the signs."""
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Any:
        """The inverses in the other order."""
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same with that cache."""
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        """All of them."""
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over all."""
        if not self.parts:
            return torch.zeros_like(x)
        axes, total = self.domain.event_dim, 0.0
        for number, part in enumerate(self.parts):
            after = y if number == len(self.parts) - 1 else part(x)
            total = total + summed(part.log_abs_det_jacobian(x, after), axes - part.domain.event_dim)
            axes += part.codomain.event_dim - part.domain.event_dim
            x = after
        return total

    def forward_shape(self, shape: Any) -> Any:
        """The shape of what a value of this shape becomes."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of what becomes a value of this shape."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts!r})"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last axes of a batch are taken as one value."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def domain(self) -> Any:
        """Where it is defined."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        """Where its values lie."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> Any:
        """Whether it is one to one."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        """That of the base."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The base's, summed."""
        return summed(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        """The base's."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The base's."""
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """The last axes in another shape."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = torch.Size(in_shape), torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(
                f"ReshapeTransform: {tuple(in_shape)} and {tuple(out_shape)} differ in elements{at_user()}"
            )

    @property
    def domain(self) -> Any:
        """Real numbers in the first shape."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        """Real numbers in the other."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """0."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        """The shape of what a value of this shape becomes."""
        return self._reshaped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of what becomes a value of this shape."""
        return self._reshaped(shape, self.out_shape, self.in_shape)

    def _reshaped(self, shape: Any, before: Any, after: Any) -> Any:
        cut = len(shape) - len(before)
        if cut < 0 or tuple(shape[cut:]) != tuple(before):
            raise ValueError(
                f"ReshapeTransform: expected a shape that ends with {before}, got {tuple(shape)}{at_user()}"
            )
        return torch.Size((*shape[:cut], *after))


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
