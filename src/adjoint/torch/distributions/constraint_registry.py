"""torch.distributions.constraint_registry: transforms from all real numbers to where a constraint holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.tensors.located import at_user

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Makers of transforms, by the class of a constraint: `registry(constraint)` is a transform onto its set."""

    def __init__(self) -> None:
        self._made: dict[type, Callable[[Any], Any]] = {}
        self._same: dict[int, Callable[[Any], Any]] = {}  # for constraints that share a class

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Register a function of a constraint that gives a transform, for a class of constraints or that of an instance."""
        if factory is None:
            return lambda f: self.register(constraint, f)
        if isinstance(constraint, type):
            self._made[constraint] = factory
        elif isinstance(constraint, constraints._Elementwise):
            self._same[id(constraint)] = factory
        else:
            self._made[type(constraint)] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform onto a constraint's set. Raises NotImplementedError where none is known."""
        factory = self._same.get(id(constraint)) or self._made.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"no transform onto {constraint} is registered{at_user()}")
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()
T, C = transforms, constraints


def _independent(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    def make(constraint: Any) -> Any:
        base = registry(constraint.base_constraint)
        return T.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    return make


def _interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return T.SigmoidTransform()
    return T.ComposeTransform([T.SigmoidTransform(), T.AffineTransform(low, high - low)])


def _above(constraint: Any) -> Any:
    return T.ComposeTransform([T.ExpTransform(), T.AffineTransform(constraint.lower_bound, 1)])


def _below(constraint: Any) -> Any:
    return T.ComposeTransform([T.ExpTransform(), T.AffineTransform(constraint.upper_bound, -1)])


def _parts(registry: ConstraintRegistry) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    return (
        lambda c: T.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths),
        lambda c: T.StackTransform([registry(part) for part in c.cseq], c.dim),
    )


for _registry in (biject_to, transform_to):
    _registry.register(C.real, lambda c: T.identity_transform)
    _registry.register(C.independent, _independent(_registry))
    _registry.register(C.positive, lambda c: T.ExpTransform() if c is C.positive else _above(c))
    _registry.register(C.nonnegative, lambda c: T.ExpTransform() if c is C.nonnegative else _above(c))
    _registry.register(C.less_than, _below)
    for _kind in (C.interval, C.half_open_interval):
        _registry.register(_kind, _interval)
    _registry.register(C.lower_cholesky, lambda c: T.LowerCholeskyTransform())
    for _set in (C.positive_definite, C.positive_semidefinite):
        _registry.register(_set, lambda c: T.PositiveDefiniteTransform())
    _registry.register(C.corr_cholesky, lambda c: T.CorrCholeskyTransform())
    _cat, _stack = _parts(_registry)
    _registry.register(C.cat, _cat)
    _registry.register(C.stack, _stack)
biject_to.register(C.simplex, lambda c: T.StickBreakingTransform())
transform_to.register(C.simplex, lambda c: T.SoftmaxTransform())
