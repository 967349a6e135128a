"""The no-U-turn sampler of M. Hoffman and A. Gelman (JMLR 15, 2014), one leapfrog step at a time.

The draw is chosen among the points of the trajectory by their weights, as M. Betancourt ("A conceptual introduction to
Hamiltonian Monte Carlo", 2017) does. The trees of the recursion are never built: the leaves of a new subtree come in order, and a
leaf that ends an aligned block of 2, 4, 8, ... leaves is compared with the one that began it (so D. Phan, N. Pradhan and M.
Jankowiak, "Composable effects for flexible and accelerated probabilistic programming in NumPyro", 2019).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import adjoint.tensors.functions as f
from adjoint.sample.trajectories import (
    DIVERGED,
    NEVER,
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

__all__ = ["Tree"]


class Tree(NamedTuple):
    """A trajectory of one chain that is being doubled, and what the next draw may be."""

    left: Point
    right: Point
    size: Numbers  # leaves of the trajectory before this doubling
    weight: Numbers  # the logarithm of the sum of their weights
    sample: Sample  # the one chosen among them
    here: Point  # the latest leaf of the new subtree, or the end that it goes on from
    direction: Numbers
    leaves: Numbers  # of the subtree so far
    grown: Numbers  # the logarithm of the sum of their weights
    candidate: Sample  # the one chosen among them
    first: Numbers  # (levels, n): positions of the leaves that began the current blocks of 2, 4, 8, ...
    momenta: Numbers  # (levels, n): their momenta
    energy: Numbers  # minus the energy that the trajectory started with
    accepted: Numbers  # the sum of the probabilities to accept
    steps: Numbers
    step_size: StepSize

    @classmethod
    def at(cls, sample: Sample, normal: Any, metric: Metric, size: Any, levels: int) -> Tree:
        """All chains at the beginning of a trajectory (NumPy)."""
        zero, one = np.zeros_like(size), np.ones_like(size)
        roots = np.asarray(metric.root)
        momentum = normal * roots if roots.ndim == 1 else normal @ roots.T
        point = Point(sample.position, momentum, sample.slope)
        energy = sample.density - 0.5 * (normal**2).sum(-1)
        kept = np.zeros((len(size), levels, normal.shape[-1]))
        return cls(point, point, one, zero, sample, point, one, zero, zero + NEVER, sample, kept, kept, energy, zero, zero,
                   StepSize.at(size))  # fmt: skip

    def stepped(
        self, function: ValueAndGradient, normal: Tensor, uniform: Tensor, metric: Metric, target: Tensor
    ) -> tuple[Tree, Emitted]:
        """One leapfrog step. `normal` becomes a momentum where a draw is ready; `uniform`: three numbers."""
        here, density, energy = leapfrog(function, self.here, self.direction * self.step_size.now, metric)
        change = finite(energy - self.energy)
        chance = f.log(1.0 - uniform)
        grown = f.logaddexp(self.grown, change)
        leaf = Sample(here.position, here.slope, density)
        candidate = chosen(chance[0] < change - grown, leaf, self.candidate)
        first, momenta, turning = self.turned(here)
        diverging = change < DIVERGED
        bad = turning | diverging
        full = self.leaves + 1.0 == self.size
        whole = full & ~bad
        sample = chosen(whole & (chance[1] < grown - self.weight), candidate, self.sample)
        left = chosen(whole & (self.direction < 0), here, self.left)
        right = chosen(whole & (self.direction > 0), here, self.right)
        span = right.position - left.position
        back = ((span * left.momentum).sum() <= 0) | ((span * right.momentum).sum() <= 0)
        size = self.size * f.where(full, 2.0, 1.0)
        ready = bad | (whole & (back | (size >= 2.0 ** self.first.shape[0])))
        steps, accepted = self.steps + 1.0, self.accepted + f.exp(f.minimum(change, 0.0))
        told = Emitted(sample.position, ready, sample.density, -self.energy, accepted / steps, steps, f.log2(size), diverging,
                       self.step_size.now)  # fmt: skip
        subtree = full | bad
        direction = f.where(subtree, f.where(uniform[2] < 0.5, -1.0, 1.0), self.direction)
        fresh, fresh_energy = started(sample, normal, metric)
        onward = chosen(subtree, chosen(direction < 0, left, right), here)
        moved = Tree(
            left=chosen(ready, fresh, left),
            right=chosen(ready, fresh, right),
            size=f.where(ready, 1.0, size),
            weight=f.where(ready, 0.0, f.where(whole, f.logaddexp(self.weight, grown), self.weight)),
            sample=sample,
            here=chosen(ready, fresh, onward),
            direction=direction,
            leaves=f.where(subtree, 0.0, self.leaves + 1.0),
            grown=f.where(subtree, NEVER, grown),
            candidate=candidate,
            first=first,
            momenta=momenta,
            energy=f.where(ready, fresh_energy, self.energy),
            accepted=f.where(ready, 0.0, accepted),
            steps=f.where(ready, 0.0, steps),
            step_size=jumped(self.step_size, ready, accepted / steps, target),
        )
        return moved, told

    def turned(self, here: Point) -> tuple[Tensor, Tensor, Tensor]:
        """The beginnings of the blocks with this leaf among them, and whether a block that it ends has turned round."""
        blocks = 2.0 ** np.arange(1, self.first.shape[0] + 1)
        begins = f.floor(self.leaves / blocks) * blocks == self.leaves
        count = self.leaves + 1.0
        ends = f.floor(count / blocks) * blocks == count
        first = f.where(begins[:, None], here.position, self.first)
        momenta = f.where(begins[:, None], here.momentum, self.momenta)
        span = (here.position - first) * self.direction
        back = ((span * here.momentum).sum(-1) <= 0) | ((span * momenta).sum(-1) <= 0)
        return first, momenta, (ends & back).any()
