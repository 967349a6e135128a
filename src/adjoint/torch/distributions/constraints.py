"""torch.distributions.constraints: sets of numbers, vectors and matrices, and whether values lie in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._program import torch

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent",
    "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot",
    "positive", "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square",
    "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of values: `check(value)` says, for each, whether it is in it. `event_dim` axes make one value."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Whether each value is in the set: a tensor of bools."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = ", ".join(f"{k}={v}" for k, v in vars(self).items() if not k.startswith("_"))
        return f"{type(self).__name__}({bounds})"


class _Elementwise(Constraint):
    """A set of numbers, told by a function."""

    def __init__(self, name: str, test: Callable[[Any], Any], discrete: bool = False) -> None:
        self._name, self._test, self.is_discrete = name, test, discrete

    def check(self, value: Any) -> Any:
        """Whether each number is in the set."""
        return self._test(value)

    def __repr__(self) -> str:
        return f"{self._name}()"


class _Dependent(Constraint):
    """A set that depends on other parameters: it can't be checked alone."""

    def __init__(self, *, is_discrete: Any = None, event_dim: Any = None) -> None:
        self.is_discrete, self.event_dim = bool(is_discrete), event_dim or 0

    def __call__(self, *, is_discrete: Any = None, event_dim: Any = None) -> _Dependent:
        """The same with what is known of it."""
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Any) -> Any:
        """Always raises."""
        raise ValueError("a dependent constraint can't be checked alone")


class dependent_property(property, _Dependent):
    """A property that gives a constraint that depends on an object's own parameters."""

    def __init__(self, fn: Any = None, *, is_discrete: Any = None, event_dim: Any = None) -> None:
        property.__init__(self, fn)
        self.is_discrete, self.event_dim = bool(is_discrete), event_dim or 0

    def __call__(self, fn: Any = None, **options: Any) -> Any:
        """As a decorator with arguments."""
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class independent(Constraint):
    """Values of which each part is in a set, the last axes taken as one value."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        """Whether values are counts."""
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        """How many axes make one value."""
        return int(self.base_constraint.event_dim) + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        """Whether all parts are."""
        result = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        if result.dim() < n:
            raise ValueError(f"expected a value with at least {self.event_dim} axes, got {value.dim()}")
        return result.reshape((*result.shape[: result.dim() - n], -1)).all(-1)


class _Bounded(Constraint):
    def __init__(self, lower_bound: Any = None, upper_bound: Any = None) -> None:
        if lower_bound is not None:
            self.lower_bound = lower_bound
        if upper_bound is not None:
            self.upper_bound = upper_bound


class interval(_Bounded):
    """Numbers from lower_bound to upper_bound, both included."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound, upper_bound)

    def check(self, value: Any) -> Any:
        """Whether it is between them."""
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class half_open_interval(interval):
    """Numbers from lower_bound to upper_bound, without the latter."""

    def check(self, value: Any) -> Any:
        """Whether it is between them."""
        return (self.lower_bound <= value) & (value < self.upper_bound)


class integer_interval(interval):
    """Whole numbers from lower_bound to upper_bound."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        """Whether it is one of them."""
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class greater_than(_Bounded):
    """Numbers above lower_bound."""

    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound)

    def check(self, value: Any) -> Any:
        """Whether it is above."""
        return self.lower_bound < value


class greater_than_eq(greater_than):
    """Numbers from lower_bound on."""

    def check(self, value: Any) -> Any:
        """Whether it isn't below."""
        return self.lower_bound <= value


class less_than(_Bounded):
    """Numbers below upper_bound."""

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(None, upper_bound)

    def check(self, value: Any) -> Any:
        """Whether it is below."""
        return value < self.upper_bound


class _IntegersFrom(greater_than):
    is_discrete = True

    def check(self, value: Any) -> Any:
        """Whether it is a whole number from the bound on."""
        return (value % 1 == 0) & (value >= self.lower_bound)


class multinomial(Constraint):
    """Vectors of counts whose sum is at most upper_bound."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Any) -> Any:
        """Whether each vector is one."""
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)


class _OfEvents(_Elementwise):
    """A set of vectors or matrices, told by a function."""

    def __init__(self, name: str, test: Callable[[Any], Any], event_dim: int, discrete: bool = False) -> None:
        super().__init__(name, test, discrete)
        self.event_dim = event_dim


class _Joined(Constraint):
    """Constraints of the parts of an axis."""

    def __init__(self, cseq: Sequence[Any], dim: int = 0, lengths: Any = None) -> None:
        self.cseq, self.dim = list(cseq), dim
        self._lengths = lengths

    @property
    def is_discrete(self) -> bool:
        """Whether a part is of counts."""
        return any(c.is_discrete for c in self.cseq)


class cat(_Joined):
    """Constraints of stretches of an axis, of these lengths."""

    def __init__(self, cseq: Sequence[Any], dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim, [1] * len(cseq) if lengths is None else list(lengths))
        self.lengths = self._lengths

    @property
    def event_dim(self) -> int:
        """How many axes make one value."""
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Any) -> Any:
        """Whether each part is in its set."""
        parts = torch.split(value, self.lengths, self.dim)
        return torch.cat([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class stack(_Joined):
    """Constraints of the places of an axis."""

    @property
    def event_dim(self) -> int:
        """How many axes make one value."""
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        """Whether each place is in its set."""
        parts = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return torch.stack([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class MixtureSameFamilyConstraint(Constraint):
    """What a mixture's components take."""

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        """Whether values are counts."""
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        """How many axes make one value."""
        return int(self.base_constraint.event_dim)

    def check(self, value: Any) -> Any:
        """Whether each is in every component's set."""
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return result.reshape((*result.shape[: value.dim() - self.event_dim], -1)).all(-1)


def _near_one(x: Any) -> Any:
    return (x - 1).abs() < 1e-6


def _is_corr_cholesky(x: Any) -> Any:
    tolerance = torch.finfo(x.dtype).eps * x.size(-1) * 10
    norms = (torch.linalg.norm(x.detach(), dim=-1) - 1).abs() <= tolerance
    return norms.all(dim=-1) & _is_lower_cholesky(x)


def _is_lower_cholesky(x: Any) -> Any:
    return _is_lower_triangular(x) & (torch.diagonal(x, dim1=-2, dim2=-1) > 0).min(-1)[0]


def _is_lower_triangular(x: Any) -> Any:
    return (x.tril() == x).reshape((*x.shape[:-2], -1)).min(-1)[0]


def _is_square(x: Any) -> Any:
    return torch.full(x.shape[:-2], x.shape[-2] == x.shape[-1], dtype=torch.bool)


def _is_symmetric(x: Any) -> Any:
    is_square = _is_square(x)
    if not bool(is_square.all()):
        return is_square
    return torch.isclose(x, x.mT, atol=1e-6).all(-2).all(-1)


def _is_positive(strictly: bool) -> Callable[[Any], Any]:
    def check(x: Any) -> Any:
        is_symmetric = _is_symmetric(x)
        if not bool(is_symmetric.all()):
            return is_symmetric
        lowest = torch.linalg.eigvalsh(x.detach())[..., 0]
        return lowest > 0 if strictly else lowest >= 0

    return check


dependent = _Dependent()
boolean = _Elementwise("Boolean", lambda x: (x == 0) | (x == 1), discrete=True)
real = _Elementwise("Real", lambda x: x == x)
nonnegative_integer, positive_integer = _IntegersFrom(0), _IntegersFrom(1)
positive, nonnegative = greater_than(0.0), greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
real_vector = independent(real, 1)
one_hot = _OfEvents("OneHot", lambda x: ((x == 0) | (x == 1)).all(-1) & x.sum(-1).eq(1), 1, discrete=True)
simplex = _OfEvents("Simplex", lambda x: torch.all(x >= 0, dim=-1) & _near_one(x.sum(-1)), 1)
lower_triangular = _OfEvents("LowerTriangular", _is_lower_triangular, 2)
lower_cholesky = _OfEvents("LowerCholesky", _is_lower_cholesky, 2)
corr_cholesky = _OfEvents("CorrCholesky", _is_corr_cholesky, 2)
square = _OfEvents("Square", _is_square, 2)
symmetric = _OfEvents("Symmetric", _is_symmetric, 2)
positive_semidefinite = _OfEvents("PositiveSemidefinite", _is_positive(strictly=False), 2)
positive_definite = _OfEvents("PositiveDefinite", _is_positive(strictly=True), 2)
