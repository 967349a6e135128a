"""Hamiltonian Monte Carlo (S. Duane, A. Kennedy, B. Pendleton and D. Roweth, Physics Letters B 195, 1987), a step at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import adjoint.tensors.functions as f
from adjoint.sample.trajectories import (
    DIVERGED,
    Emitted,
    Metric,
    Numbers,
    Point,
    Sample,
    StepSize,
    ValueAndGradient,
    chosen,
    finite,
    jumped,
    leapfrog,
    started,
)  # fmt: skip
from adjoint.tensors.tensor import Tensor

__all__ = ["Path"]

SPREAD = (
    0.2  # a trajectory's step size is varied by so much, for one that fits a period of the density would go nowhere
)


class Path(NamedTuple):
    """A trajectory of one chain of a fixed number of steps."""

    sample: Sample
    here: Point
    left: Numbers  # steps that remain
    total: Numbers
    factor: Numbers  # of the step size, in this trajectory
    energy: Numbers  # minus the energy that it started with
    step_size: StepSize

    @classmethod
    def at(cls, sample: Sample, normal: Any, metric: Metric, size: Any, steps: int) -> Path:
        """All chains at the beginning of a trajectory (NumPy)."""
        roots = np.asarray(metric.root)
        momentum = normal * roots if roots.ndim == 1 else normal @ roots.T
        energy = sample.density - 0.5 * (normal**2).sum(-1)
        total = np.full_like(size, steps)
        return cls(sample, Point(sample.position, momentum, sample.slope), total, total, np.ones_like(size), energy,
                   StepSize.at(size))  # fmt: skip

    def stepped(
        self, function: ValueAndGradient, normal: Tensor, uniform: Tensor, metric: Metric, target: Tensor
    ) -> tuple[Path, Emitted]:
        """One leapfrog step. `normal` becomes a momentum where a draw is ready."""
        here, density, energy = leapfrog(function, self.here, self.factor * self.step_size.now, metric)
        change = finite(energy - self.energy)
        diverging = change < DIVERGED
        ready = (self.left <= 1.0) | diverging
        accepted = f.exp(f.minimum(change, 0.0))
        taken = ready & (uniform[0] < accepted) & ~diverging
        sample = chosen(taken, Sample(here.position, here.slope, density), self.sample)
        steps = self.total - self.left + 1.0
        told = Emitted(sample.position, ready, sample.density, -self.energy, accepted, steps, f.log2(steps), diverging,
                       self.factor * self.step_size.now)  # fmt: skip
        fresh, fresh_energy = started(sample, normal, metric)
        moved = Path(
            sample=sample,
            here=chosen(ready, fresh, here),
            left=f.where(ready, self.total, self.left - 1.0),
            total=self.total,
            factor=f.where(ready, 1.0 + SPREAD * (2.0 * uniform[1] - 1.0), self.factor),
            energy=f.where(ready, fresh_energy, self.energy),
            step_size=jumped(self.step_size, ready, accepted, target),
        )
        return moved, told
