"""What Hamiltonian samplers share: a leapfrog step, momenta, and the step size that adapts itself.

A sampler is a function of a state that does one leapfrog step of one chain, whatever comes after it: a tree that grows, a draw
that is ready, a new momentum. So all chains go on side by side, each in the middle of a draw of its own, and none waits
for the longest trajectory among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import adjoint.tensors.functions as f
from adjoint import tree
from adjoint.tensors.tensor import Tensor

__all__ = [
    "DIVERGED", "NEVER", "Emitted", "Metric", "Numbers", "Point", "Sample", "StepSize", "ValueAndGradient", "chosen", "finite",
    "jumped", "leapfrog", "started",
]  # fmt: skip

DIVERGED = -1000.0  # a trajectory whose energy has risen by more is given up
NEVER = -1e300  # the logarithm of no weight
# The constants of the 2014 article's section 3.2.1.
SHRINKAGE, STABILIZATION, DECAY = 0.05, 10.0, 0.75

Numbers = Any  # a tensor in the loop, an array of NumPy's between its pieces
ValueAndGradient = Callable[[Tensor], tuple[Tensor, Tensor]]


class Point(NamedTuple):
    """A point of a trajectory; `slope` is the gradient of the logarithm of the density."""

    position: Numbers
    momentum: Numbers
    slope: Numbers


class Sample(NamedTuple):
    """What may become a draw."""

    position: Numbers
    slope: Numbers
    density: Numbers  # its logarithm


class Metric(NamedTuple):
    """The inverse mass: a vector for a diagonal one, or a matrix; `root` times standard normal numbers are momenta."""

    inverse: Numbers
    root: Numbers


class StepSize(NamedTuple):
    """The dual averaging of Y. Nesterov as Hoffman and Gelman (2014, section 3.2) use it."""

    now: Numbers
    draws: Numbers
    error: Numbers  # the average of what was aimed at without what was accepted
    average: Numbers  # the logarithm of the step size that is kept in the end
    centre: Numbers  # what the logarithm is drawn to

    @classmethod
    def at(cls, size: Any) -> StepSize:
        """At the beginning, from a step size (NumPy)."""
        zero = np.zeros_like(size)
        return cls(size, zero, zero, np.log(size), np.log(10 * size))

    def adapted(self, accepted: Tensor, target: Tensor) -> StepSize:
        """After a draw whose steps were accepted with this probability on average."""
        draws = self.draws + 1.0
        error = self.error + (target - accepted - self.error) / (draws + STABILIZATION)
        size = self.centre - f.sqrt(draws) / SHRINKAGE * error
        share = draws**-DECAY
        return StepSize(f.exp(size), draws, error, share * size + (1 - share) * self.average, self.centre)


class Emitted(NamedTuple):
    """What a step tells: the state's sample, whether it is a draw, and about that draw."""

    position: Numbers
    ready: Numbers
    density: Numbers
    energy: Numbers
    accepted: Numbers  # the mean probability to accept
    steps: Numbers
    depth: Numbers
    diverging: Numbers
    step_size: Numbers

    @classmethod
    def unpacked(cls, rows: Any) -> Emitted:
        """What steps told, of an array (steps, numbers): the position's first."""
        n = rows.shape[1] - len(cls._fields) + 1
        _, ready, *rest = [rows[:, n + k - 1] for k in range(len(cls._fields))]
        return cls(rows[:, :n], ready > 0, *rest)._replace(diverging=rest[5] > 0)


def product(matrix: Tensor, x: Tensor) -> Tensor:
    """A diagonal or a whole matrix times a vector."""
    return matrix * x if matrix.ndim == 1 else matrix @ x


def chosen(condition: Tensor, first: Any, second: Any) -> Any:
    """The one tree or the other."""
    return tree.map(lambda x, y: f.where(condition, x, y), first, second)


def leapfrog(function: ValueAndGradient, at: Point, step: Tensor, metric: Metric) -> tuple[Point, Tensor, Tensor]:
    """One step of the leapfrog method; also the logarithm of the density there, and minus the energy."""
    half = at.momentum + 0.5 * step * at.slope
    position = at.position + step * product(metric.inverse, half)
    density, slope = function(position)
    momentum = half + 0.5 * step * slope
    return Point(position, momentum, slope), density, density - kinetic(momentum, metric)


def kinetic(momentum: Tensor, metric: Metric) -> Tensor:
    """The energy of a momentum."""
    return 0.5 * (momentum * product(metric.inverse, momentum)).sum()


def finite(x: Tensor) -> Tensor:
    """A logarithm in which what isn't a number is no weight."""
    return f.where(abs(x) < -NEVER, x, NEVER)


def started(sample: Sample, normal: Tensor, metric: Metric) -> tuple[Point, Tensor]:
    """The beginning of a trajectory with a new momentum, and minus its energy."""
    point = Point(sample.position, product(metric.root, normal), sample.slope)
    return point, sample.density - 0.5 * (normal * normal).sum()


def jumped(step_size: StepSize, ready: Tensor, accepted: Tensor, target: Tensor) -> StepSize:
    """The step size after a step that may have made a draw; a target of 0 leaves it as it is."""
    return chosen(ready & (target > 0), step_size.adapted(accepted, target), step_size)
