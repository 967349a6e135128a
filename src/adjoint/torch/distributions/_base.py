"""What all distributions have: shapes, checks, and the core's distribution that computes."""

from __future__ import annotations

import functools
import math
from typing import Any

from adjoint.dtypes import DType, default_dtype, promote
from adjoint.execution import ValueNeededError
from adjoint.primitives.core import cast
from adjoint.tensors.located import at_user

from .._tensor import Core, as_torch, node_of
from . import constraints
from ._program import torch

__all__ = ["Computed", "Distribution", "ExponentialFamily", "broadcast_all", "holds"]


def holds(check: Any) -> bool:
    """Whether a condition holds everywhere; True where values aren't known, under a transformation."""
    try:
        return bool(check.detach().all())
    except ValueNeededError:
        return True


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of one shape. Numbers take the dtype of the first tensor."""
    given = [x.dtype for x in values if isinstance(x, Core)]
    kind = given[0] if given else default_dtype()
    tensors = []
    for x in values:
        if not isinstance(x, (Core, int, float, bool)):
            raise ValueError(f"expected numbers or tensors, got {type(x).__name__}{at_user()}")
        tensors.append(as_torch(x) if isinstance(x, Core) else torch.tensor(x, dtype=kind))
    return tuple(torch.broadcast_tensors(*tensors)) if len(tensors) > 1 else tuple(tensors)


class Distribution:
    """A distribution, or a batch of them, as PyTorch has it. Values are checked unless `validate_args=False`."""

    has_rsample: Any = False
    has_enumerate_support: Any = False
    arg_constraints: Any = {}
    support: Any = None
    _validate = True
    _derived: tuple[str, ...] = ()  # parameters that follow from others, and aren't checked

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether parameters and values are checked where nothing else is said."""
        Distribution._validate = value

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: Any = None) -> None:
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)
        if validate_args is not None:
            self._validate = validate_args
        if self._validate:
            self._check_parameters()

    def _check_parameters(self) -> None:
        for name, constraint in (self.arg_constraints or {}).items():
            if constraints.is_dependent(constraint) or name in self._derived:
                continue
            value = getattr(self, name)
            if value is not None and not holds(constraint.check(value.detach())):
                raise ValueError(
                    f"{type(self).__name__}: {name} of shape {tuple(value.shape)} must satisfy {constraint}, and doesn't:\n"
                    f"{value}{at_user()}"
                )

    # Shapes -----------------------------------------------------------------------------------------------------------

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one value."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        return torch.Size(sample_shape) + self.batch_shape + self.event_shape

    # attributes that are tensors, with how many of their last axes belong to one value
    parameters: dict[str, int] = {}

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with a larger batch: its parameters broadcast."""
        if not self.parameters:
            raise self._missing("expand")
        made = object.__new__(type(self)) if _instance is None else _instance
        made.__dict__.update(self.__dict__)
        for name, axes in self.parameters.items():
            x = self.__dict__.get(name)
            if x is not None:
                made.__dict__[name] = x.expand((*batch_shape, *x.shape[x.dim() - axes :]))
        made._batch_shape = torch.Size(batch_shape)
        return made

    # Values -----------------------------------------------------------------------------------------------------------

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Core):
            raise ValueError(f"{type(self).__name__}: a value is a tensor, not {type(value).__name__}{at_user()}")
        shape, event = tuple(value.shape), tuple(self.event_shape)
        expected = tuple(self.batch_shape) + event
        if len(event) and shape[len(shape) - len(event) :] != event:
            raise ValueError(
                f"{type(self).__name__}: the last axes of a value are {event}; its shape is {shape}{at_user()}"
            )
        for a, b in zip(reversed(shape), reversed(expected), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(f"{type(self).__name__}: a value of shape {shape} for the shape {expected}{at_user()}")
        support = self.support
        if support is not None and not holds(support.check(value.detach())):
            raise ValueError(
                f"{type(self).__name__}: a value must lie in {support}; it is\n{value}\nvalidate_args=False takes it{at_user()}"
            )

    def _checked(self, value: Any) -> Any:
        if self._validate:
            self._validate_sample(value)
        return as_torch(value)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, as constants to every derivative."""
        with torch.no_grad():
            return self.rsample(sample_shape).detach()

    def sample_n(self, n: int) -> Any:
        """So many draws."""
        return self.sample((n,))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that differentiate by the parameters."""
        raise self._missing("rsample")

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the probability of a count."""
        raise self._missing("log_prob")

    def cdf(self, value: Any) -> Any:
        """The probability of at most this value."""
        raise self._missing("cdf")

    def icdf(self, value: Any) -> Any:
        """The value whose cdf this is."""
        raise self._missing("icdf")

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        raise self._missing("entropy")

    def perplexity(self) -> Any:
        """The exponential of the entropy."""
        return torch.exp(self.entropy())

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution, along a new first axis."""
        raise self._missing("enumerate_support")

    @property
    def mean(self) -> Any:
        """The expectation."""
        raise self._missing("mean")

    @property
    def mode(self) -> Any:
        """The value of the highest density."""
        raise self._missing("mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise self._missing("variance")

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__}: {what} isn't defined{at_user()}")

    def __repr__(self) -> str:
        names = [k for k in (self.arg_constraints or {}) if k in self.__dict__]
        shown = [f"{k}: {self.__dict__[k] if not self.__dict__[k].dim() else self.__dict__[k].size()}" for k in names]
        return f"{type(self).__name__}({', '.join(shown)})"


class ExponentialFamily(Distribution):
    """Distributions whose density is an exponential of sufficient statistics."""


class Computed(Distribution):
    """A distribution that one of the core's computes. Its parameters are attributes, read in every call: what is written to
    them counts.
    """

    core: Any
    names: tuple[str, ...] = ()  # of the core's parameters, which are attributes here too

    def _core(self, value: Any = None) -> Any:
        """The core's distribution, in the dtype that parameters and value have together."""
        nodes = [node_of(getattr(self, name)) for name in self.names]
        kind = functools.reduce(promote, [n.dtype if n.dtype.inexact else default_dtype() for n in nodes])
        if value is not None:
            kind = _beside(value.node.type, kind, all(n.type.ndim == 0 for n in nodes))
        made = object.__new__(self.core)
        for name, node in zip(self.names, nodes, strict=True):
            held = object.__new__(Core)
            held.node = cast(node, kind)
            setattr(made, name, held)
        return made

    def _ask(self, what: str, value: Any = None) -> Any:
        """A method or a property of the core's."""
        core = self._core(value)
        try:
            if value is None:
                found = getattr(core, what)
                return as_torch(found() if callable(found) else found)
            return as_torch(getattr(core, what)(_plain(value)))
        except TypeError as error:
            if "closed form" in str(error):
                raise self._missing(what) from None
            raise

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that differentiate by the parameters."""
        if not self.has_rsample:
            raise self._missing("rsample")
        return self._draw(sample_shape)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, as constants to every derivative."""
        with torch.no_grad():
            return self._draw(sample_shape).detach()

    def _draw(self, sample_shape: Any) -> Any:
        core = self._core()
        found = as_torch(core._draw(tuple(self._extended_shape(sample_shape)), None))
        return found if found.dtype is core.dtype else found.to(core.dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the probability of a count."""
        return self._ask("log_prob", self._checked(value))

    def cdf(self, value: Any) -> Any:
        """The probability of at most this value."""
        return self._ask("cdf", self._checked(value))

    def icdf(self, value: Any) -> Any:
        """The value whose cdf this is."""
        return self._ask("icdf", as_torch(value))

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        return self._whole(self._ask("entropy"), event=False)

    @property
    def mean(self) -> Any:
        """The expectation."""
        return self._whole(self._ask("mean"))

    @property
    def variance(self) -> Any:
        """The variance."""
        return self._whole(self._ask("variance"))

    def _whole(self, x: Any, event: bool = True) -> Any:
        shape = tuple(self._extended_shape() if event else self.batch_shape)
        return x if tuple(x.shape) == shape else x.expand(shape)


def _beside(value: Any, kind: DType, numbers: bool) -> DType:
    """The dtype of a result, of that of the parameters and of a value's type: what has no axes counts for less."""
    if not value.dtype.inexact or (value.ndim > 0) == numbers:
        return value.dtype if value.dtype.inexact and numbers else kind
    return promote(value.dtype, kind)


def _plain(x: Any) -> Any:
    made = object.__new__(Core)
    made.node = node_of(x)
    return made


LOG_2PI = math.log(2 * math.pi)
