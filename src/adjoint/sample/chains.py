"""`nuts` and `hmc`: many chains as one compiled loop, and what adapts between its pieces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import random, tree
from adjoint.sample.draws import Draws
from adjoint.sample.paths import Path
from adjoint.sample.trajectories import Emitted, Metric, Point, Sample, leapfrog
from adjoint.sample.trees import Tree
from adjoint.tensors.leaving import custom_code
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.jit import jit
from adjoint.transforms.grad import stop_gradient, value_and_grad
from adjoint.transforms.loops import scan
from adjoint.transforms.ravel import ravel_tree
from adjoint.transforms.vmap import vmap

__all__ = ["hmc", "nuts", "one_number"]

Array = np.ndarray[Any, Any]

PIECES = (1024, 512)  # steps of all chains in one call: of many, and of the last few; a call costs as much as 200 steps
KEYS = 64  # made at once
ROOM = 1 << 22  # numbers that a piece may draw
FIRST, DOUBLING, LAST = 75, 25, 50  # draws of the parts of a warm-up of at least 150, as Stan has them
TRIED = 2.0 ** np.arange(-16, 5)  # step sizes to begin with
STARTS = 100  # how often a start is drawn anew where the density isn't finite
METRICS = ("diagonal", "dense", "unit")


def nuts(
    log_density: Callable[[Any], Any],
    initial: Any,
    *,
    draws: int = 1000,
    warmup: int = 1000,
    chains: int = 4,
    key: Any = 0,
    metric: str = "diagonal",
    target_accept: float = 0.8,
    max_depth: int = 10,
    jitter: float = 1.0,
) -> Draws:
    """Draws from a density by the no-U-turn sampler of M. Hoffman and A. Gelman (JMLR 15, 2014).

    log_density(x) is the logarithm of the density, up to a constant, at a tree x of tensors like `initial`: one number, finite
    for all real x (transform what is bounded, and add the logarithm of the slope). Every chain starts at `initial` with uniform
    numbers from -jitter to jitter added; `initial` may also be a function of a key that gives such a tree. Computed in float64.

    The step size is adapted by dual averaging so that steps are accepted with probability `target_accept`; the metric
    ("diagonal", "dense", or "unit" for none) is the covariance of the draws of all chains in windows of doubling length. Both
    stay fixed after the first `warmup` draws, which are dropped. A trajectory has at most 2**max_depth - 1 steps. `key` is a seed
    or a key of `ad.random`: the same one gives the same draws.

    Chains run side by side in one compiled loop, each in the middle of a trajectory of its own. Gives `Draws`. Raises
    ValueError where no finite start is found or an argument is out of range, TypeError for a density that isn't one number.

    >>> import adjoint as ad
    >>> found = ad.sample.nuts(lambda x: -0.5 * ((x["a"] - 3.0) ** 2).sum(), {"a": ad.zeros(2)}, draws=500, warmup=500)
    >>> found["a"].shape, abs(found["a"].mean().item() - 3.0) < 0.2
    ((4, 500, 2), True)
    """
    if not isinstance(max_depth, int) or not 1 <= max_depth <= 20:
        raise ValueError(f"nuts: max_depth is a whole number from 1 to 20, got {max_depth!r}{at_user()}")
    run = _Run("nuts", log_density, initial, chains, key, metric, target_accept, jitter, Tree, max_depth)
    return run.drawn(draws, warmup)


def hmc(
    log_density: Callable[[Any], Any],
    initial: Any,
    *,
    steps: int = 16,
    draws: int = 1000,
    warmup: int = 1000,
    chains: int = 4,
    key: Any = 0,
    metric: str = "diagonal",
    target_accept: float = 0.8,
    jitter: float = 1.0,
) -> Draws:
    """Draws from a density by Hamiltonian Monte Carlo with trajectories of `steps` leapfrog steps.

    S. Duane, A. Kennedy, B. Pendleton and D. Roweth (Physics Letters B 195, 1987); R. Neal, "MCMC using Hamiltonian dynamics"
    (2011). The step size of each trajectory is varied by up to a fifth. The other arguments, and what it gives and raises, are
    those of `nuts`, which finds the length of a trajectory by itself.

    >>> import adjoint as ad
    >>> found = ad.sample.hmc(lambda x: -0.5 * (x**2).sum(), ad.zeros(3), draws=500, warmup=300)
    >>> found.values.shape
    (4, 500, 3)
    """
    if not isinstance(steps, int) or steps < 1:
        raise ValueError(f"hmc: steps is a whole number from 1 on, got {steps!r}{at_user()}")
    run = _Run("hmc", log_density, initial, chains, key, metric, target_accept, jitter, Path, steps)
    return run.drawn(draws, warmup)


class _Run:
    """One call: the compiled loop, and where its chains are."""

    def __init__(
        self, name: str, log_density: Any, initial: Any, chains: int, key: Any, metric: str, target: float, jitter: float,
        kind: Any, limit: int,
    ) -> None:  # fmt: skip
        if metric not in METRICS:
            raise ValueError(f"{name}: metric is one of {', '.join(map(repr, METRICS))}, got {metric!r}{at_user()}")
        if not 0 < target < 1:
            raise ValueError(f"{name}: target_accept is between 0 and 1, got {target!r}{at_user()}")
        if not isinstance(chains, int) or chains < 1:
            raise ValueError(f"{name}: chains is a whole number from 1 on, got {chains!r}{at_user()}")
        self.name, self.chains, self.target, self.kind, self.limit, self.shape = (
            name,
            chains,
            target,
            kind,
            limit,
            metric,
        )
        self.key = random.key(key) if isinstance(key, (int, np.integer)) else key
        self.keys: list[Tensor] = []
        first = initial(self.next_key()) if callable(initial) else initial
        whole = tree.map(lambda x: f.asarray(x).astype("float64"), stop_gradient(first))
        vector, self.unravel = ravel_tree(whole)
        self.size = vector.size
        self.compiled = _Compiled.of(log_density, kind, limit, whole)
        most = max(16, ROOM // max(chains * self.size, 1))
        self.lengths = [min(length, most) for length in PIECES]
        self.pace = 8.0  # steps for each draw
        self.use(np.ones(self.size) if metric != "dense" else np.eye(self.size))
        self.begin(initial, vector.numpy(), jitter)

    def next_key(self) -> Tensor:
        """A key that nothing else uses."""
        if not self.keys:
            self.keys = list(f.unstack(random.split(self.key, KEYS)))
            self.key = self.keys.pop()
        return self.keys.pop()

    def normal(self, *shape: int) -> Array:
        return np.array(random.normal(shape, key=self.next_key(), dtype="float64"))

    def use(self, inverse: Array) -> None:
        """Set the metric: the variances, or the covariance matrix."""
        root: Array
        if inverse.ndim == 1:
            root = 1 / np.sqrt(inverse)
        else:
            root = np.linalg.inv(np.linalg.cholesky(inverse)).T
        self.metric = Metric(f.asarray(inverse), f.asarray(root))

    def begin(self, initial: Any, start: Array, jitter: float) -> None:
        """Find starts where the density is finite, and a first step size."""
        x = np.empty((self.chains, self.size))
        wanted: Array = np.ones(self.chains, bool)
        for _ in range(STARTS):
            spread = np.array(random.uniform(x.shape, -jitter, jitter, key=self.next_key(), dtype="float64"))
            for chain in np.flatnonzero(wanted):
                if callable(initial):
                    start = np.array(ravel_tree(stop_gradient(initial(self.next_key())))[0], np.float64)
                    x[chain] = start
                else:
                    x[chain] = start + spread[chain]
            density, slope = self.compiled.looked(x)
            wanted = ~(np.isfinite(density) & np.isfinite(slope).all(axis=-1))
            if not wanted.any():
                break
        else:
            raise ValueError(
                f"{self.name}: the density or its gradient isn't finite at {STARTS} starts around the initial values; start "
                f"elsewhere, or with a smaller jitter{at_user()}"
            )
        self.restart(Sample(x, slope, density))

    def restart(self, sample: Sample, size: Array | None = None) -> None:
        """Begin new trajectories at the samples (NumPy). Without a step size, the largest one with which a step is accepted with
        probability 1/2, and all smaller ones, is where the search begins."""
        normal = self.normal(self.chains, self.size)
        if size is None:
            changes = self.compiled.tried(sample, normal, self.metric)
            good = np.logical_and.accumulate(changes > math.log(0.5), axis=1).sum(axis=1)
            size = np.take(TRIED, np.maximum(good - 1, 0))
        state = self.kind.at(sample, normal, self.metric, size, self.limit)
        self.state = f.asarray(self.compiled.layout.packed(state))

    def until(self, count: int, target: float) -> list[Emitted]:
        """Steps until every chain has so many draws: what they told, chain by chain (NumPy)."""
        found: list[list[Array]] = [[] for _ in range(self.chains)]
        totals = np.zeros(self.chains, int)
        aim = f.asarray(float(target))
        steps = 0
        while totals.min() < count:
            length = self.lengths[int((count - totals.min()) * self.pace < self.lengths[0])]
            self.state, told = self.compiled.piece(self.state, self.next_key(), self.metric, aim, length)
            steps += length
            rows = told.numpy()
            ready = rows[:, :, self.size] > 0
            totals += ready.sum(axis=0)
            for chain in range(self.chains):
                found[chain].append(rows[ready[:, chain], chain])
        self.pace = steps / totals.min()
        return [Emitted.unpacked(np.concatenate(parts)) for parts in found]

    def drawn(self, draws: int, warmup: int) -> Draws:
        """Warm up, and draw."""
        for what, number in (("draws", draws), ("warmup", warmup)):
            if not isinstance(number, int) or number < (what == "draws"):
                raise ValueError(f"{self.name}: {what} is a whole number, got {number!r}{at_user()}")
        with custom_code():
            self.warm_up(warmup)
            parts = self.until(draws, 0.0)
        told = Emitted(*[np.stack([getattr(p, name)[:draws] for p in parts]) for name in Emitted._fields])
        positions = f.asarray(told.position)
        values = vmap(vmap(self.unravel))(positions)
        statistics = {
            "acceptance_rate": told.accepted, "diverging": told.diverging, "energy": told.energy, "lp": told.density,
            "n_steps": told.steps.astype(int), "step_size": told.step_size, "tree_depth": told.depth.astype(int),
        }  # fmt: skip
        return Draws(values, {k: f.asarray(v) for k, v in statistics.items()}, self.metric.inverse)

    def warm_up(self, warmup: int) -> None:
        """Adapt the step size, and the metric after each window."""
        for count, ends_window in schedule(warmup, self.shape != "unit"):
            parts = self.until(count, self.target)
            state = self.compiled.layout.unpacked(self.state.numpy())
            sizes = np.exp(state.step_size.average)
            if ends_window:
                self.use(self.covariance([p.position for p in parts]))
            self.restart(state.sample, None if ends_window else sizes)

    def covariance(self, positions: list[Array]) -> Array:
        """Of the draws of all chains, each around its own mean; shrunk to a thousandth as Stan does."""
        centred = np.concatenate([x - x.mean(axis=0) for x in positions])
        n = max(len(centred) - len(positions), 1)
        share = n / (n + 5.0)
        if self.shape == "diagonal":
            return share * (centred**2).sum(axis=0) / n + 1e-3 * (1 - share)
        found: Array = share * (centred.T @ centred) / n + 1e-3 * (1 - share) * np.eye(self.size)
        return found


def schedule(warmup: int, windows: bool) -> list[tuple[int, bool]]:
    """The parts of a warm-up: how many draws, and whether a window of the metric ends there."""
    if warmup == 0:
        return []
    if not windows or warmup < 20:
        return [(warmup, False)]
    first, last = (FIRST, LAST) if warmup >= FIRST + DOUBLING + LAST else (int(0.15 * warmup), int(0.1 * warmup))
    rest = warmup - first - last
    parts, length = [(first, False)], min(DOUBLING, rest)
    while rest > 0:
        if rest < 3 * length:
            length = rest
        parts.append((length, True))
        rest, length = rest - length, 2 * length
    return [*parts, (last, False)]


class Layout:
    """The states of all chains as one array (chains, numbers), so that a call of a piece passes few things."""

    def __init__(self, kind: Any, size: int, limit: int) -> None:
        zero, vector = np.zeros(1), np.zeros((1, size))
        metric = Metric(f.ones(size), f.ones(size))
        state = kind.at(Sample(vector, vector, zero), vector, metric, np.ones(1), limit)
        leaves, self.structure = tree.flatten(state)
        self.shapes = [x.shape[1:] for x in leaves]
        self.unravel = ravel_tree(self.structure.unflatten([f.zeros(s, dtype="float64") for s in self.shapes]))[1]

    def packed(self, state: Any) -> Array:
        return np.concatenate([x.reshape(len(x), -1) for x in tree.flatten(state)[0]], axis=1)

    def unpacked(self, packed: Array) -> Any:
        ends = np.cumsum([math.prod(s) for s in self.shapes])
        parts = np.split(packed, ends[:-1], axis=1)
        return self.structure.unflatten([x.reshape(-1, *s) for x, s in zip(parts, self.shapes, strict=True)])


class _Compiled:
    """The functions of a density that are compiled once for all calls of a sampler with it."""

    def __init__(self, log_density: Any, kind: Any, limit: int, example: Any) -> None:
        vector, unravel = ravel_tree(example)
        self.layout = Layout(kind, vector.size, limit)
        unpack = self.layout.unravel
        one = value_and_grad(lambda v: one_number(log_density(unravel(v))))

        def looked(x: Tensor) -> Any:
            return vmap(one)(x)

        def tried(point: Point, metric: Metric) -> Tensor:
            energy = lambda size: leapfrog(one, point, size, metric)[2]  # noqa: E731
            return vmap(energy)(f.asarray(TRIED))

        def piece(packed: Tensor, key: Tensor, metric: Metric, target: Tensor, length: int) -> Any:
            stream = random.source(key)
            normal = stream.normal((length, len(packed), vector.size), dtype="float64")
            uniform = stream.uniform((length, len(packed), 3), dtype="float64")

            def stepped(state: Tensor, z: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
                moved, told = kind.stepped(unpack(state), one, z, u, metric, target)
                return ravel_tree(moved)[0], ravel_tree(told)[0]

            step = vmap(stepped)
            return scan(lambda s, x: step(s, *x), packed, (normal, uniform))

        self.look, self.piece = jit(looked), jit(piece)
        self.try_ = jit(lambda points, metric: vmap(lambda p: tried(p, metric))(points))

    @classmethod
    def of(cls, log_density: Any, kind: Any, limit: int, example: Any) -> _Compiled:
        """Kept with the density, so that they last as long as it does."""
        leaves, structure = tree.flatten(example)
        key = kind, limit, structure, tuple([x.shape for x in leaves])
        try:
            kept = vars(log_density).setdefault("_adjoint_samplers", {})
        except TypeError:
            kept = {}
        if key not in kept:
            kept[key] = cls(log_density, kind, limit, example)
        return kept[key]

    def looked(self, x: Array) -> tuple[Array, Array]:
        """The logarithms of the density and their gradients."""
        density, slope = self.look(f.asarray(x))
        return np.array(density), np.array(slope)

    def tried(self, sample: Sample, normal: Array, metric: Metric) -> Array:
        """The logarithms of the probabilities that one step of each of the sizes is accepted: (chains, sizes)."""
        roots = np.asarray(metric.root)
        momentum = normal * roots if roots.ndim == 1 else normal @ roots.T
        points = Point(*[f.asarray(x) for x in (sample.position, momentum, sample.slope)])
        before = sample.density - 0.5 * (normal**2).sum(-1)
        changes = np.array(self.try_(points, metric)) - np.asarray(before)[:, None]
        return np.where(np.isfinite(changes), changes, -np.inf)


def one_number(value: Any) -> Tensor:
    """The value of a density. Raises TypeError for anything but one number."""
    result = f.asarray(value)
    if result.size != 1:
        raise TypeError(f"the log density is one number, got shape {result.shape}{at_user()}")
    return f.reshape(result, ())
