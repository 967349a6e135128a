"""What an invertible function is, and those made of others: compositions, over more axes, of another shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.tensors.located import at_user

from . import constraints
from ._program import torch

F = torch.nn.functional

__all__ = ["ComposeTransform", "IndependentTransform", "ReshapeTransform", "Transform", "identity_transform", "summed"]


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
