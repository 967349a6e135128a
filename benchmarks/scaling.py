"""`python -m benchmarks.scaling`: a simulation of data-parallel training by up to 1,024 ranks.

It is a simulation. Measured are, by two ranks on this machine (the extra `mpi`), the step of one rank without waiting, and when
in it each bucket of gradients was ready. Everything else is a model:

- A message of b bytes takes α + b / β seconds (R. Hockney, 1994). A sum over n ranks takes, as a ring, 2 (n - 1) messages of
  b / n bytes (P. Patarasuk and X. Yuan, 2009); as a binomial tree, there and back, 2 ⌈log₂ n⌉ messages of b bytes. Ours, an
  all-to-all there and one back, sends as many messages of the same sizes as the ring.
- A rank exchanges one bucket at a time, in the order in which they are ready, while the reverse pass goes on. A bucket's sum
  begins when the slowest rank has it. The step ends when the reverse pass has ended everywhere and the last sum is there.
- A rank's computing takes its measured time, times a log-normal factor of median 1, drawn for each rank and step: the stragglers.

Each rank keeps its batch, so the whole batch grows with the ranks; efficiency is the time of one rank's step over the job's.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.distributed import in_ranks

RANKS = tuple(2**k for k in range(11))
BATCHES = {"transformer": 16, "cnn": 32}
ENOUGH = 0.5  # below this efficiency we say that it has stopped scaling


@dataclasses.dataclass(frozen=True)
class Network:
    """What connects the ranks: seconds of latency α for a message, bytes a second β. Round numbers, not measured."""

    name: str
    latency: float
    bandwidth: float


NETWORKS = (
    Network("Ethernet, 10 Gbit/s", 30e-6, 1.2e9),
    Network("Ethernet, 100 Gbit/s", 10e-6, 12e9),
    Network("InfiniBand, 200 Gbit/s", 2e-6, 24e9),
)


@dataclasses.dataclass(frozen=True)
class Profile:
    """One rank's step: how long it computes, and when (seconds since its start) which buckets (bytes) are ready."""

    step: float
    ready: Sequence[float]
    sizes: Sequence[int]


def ring(network: Network, ranks: int, size: float) -> float:
    """Seconds of a sum of `size` bytes over a ring."""
    return 2 * (ranks - 1) * (network.latency + size / ranks / network.bandwidth)


def tree(network: Network, ranks: int, size: float) -> float:
    """Seconds of a sum of `size` bytes to the root of a binomial tree, and back."""
    return 2 * math.ceil(math.log2(ranks)) * (network.latency + size / network.bandwidth)


SUMS: dict[str, Callable[[Network, int, float], float]] = {"ring": ring, "tree": tree}


def step_time(
    profile: Profile, network: Network, ranks: int, kind: str, *, overlap: bool = True, slowest: float = 1.0
) -> float:
    """Seconds of one step, in which the slowest rank computes `slowest` times as long as measured."""
    ends = profile.step * slowest
    if ranks == 1:
        return ends
    free = 0.0
    for ready, size in zip(profile.ready, profile.sizes, strict=True):
        begins = max(free, ready * slowest if overlap else ends)
        free = begins + SUMS[kind](network, ranks, size)
    return max(ends, free)


def simulated(
    profile: Profile, network: Network, ranks: int, kind: str, *, overlap: bool, spread: float, steps: int = 200
) -> float:
    """Mean seconds of a step, the ranks' times drawn with a standard deviation of `spread` of their logarithm."""
    generator = np.random.default_rng(ranks)
    slowest = np.exp(spread * generator.standard_normal((steps, ranks)).max(axis=1))
    return statistics.fmean(
        step_time(profile, network, ranks, kind, overlap=overlap, slowest=float(s)) for s in slowest
    )


def measured(name: str) -> Profile:
    """The profile of a network by two ranks of this machine."""
    found = in_ranks(2, "bucket_times", name, BATCHES[name])
    return Profile(found["step"], found["ready"], found["bytes"])


def table(profile: Profile, spread: float) -> list[str]:
    """A line for each network and way to sum: the efficiencies, and where it stops scaling."""
    ways = [("ring", True, spread), ("ring", False, spread), ("tree", True, spread), ("ring", True, 0.0)]
    shown = [n for n in RANKS if n in (2, 8, 32, 128, 512, 1024)]
    lines = [f"{'':<58}" + "".join(f"{n:>7}" for n in shown) + f"   below {ENOUGH:.0%} from"]
    for network in NETWORKS:
        for kind, overlap, drawn in ways:
            found = {
                n: profile.step / simulated(profile, network, n, kind, overlap=overlap, spread=drawn) for n in RANKS
            }
            ends = next((f"{n:,} ranks" for n in RANKS if found[n] < ENOUGH), "nowhere here")
            beside = f"{kind}{'' if overlap else ', no overlap'}{'' if drawn else ', no stragglers'}"
            lines.append(
                f"{network.name + ': ' + beside:<58}" + "".join(f"{found[n]:7.0%}" for n in shown) + f"   {ends}"
            )
    return lines


def main() -> None:
    """Measure, simulate, print."""
    parser = argparse.ArgumentParser(description="Simulate data-parallel training by up to 1,024 ranks.")
    parser.add_argument("--spread", type=float, default=0.05, help="of the ranks' times, relative (default: 0.05)")
    spread = parser.parse_args().spread
    print(f"A simulation: efficiencies by number of ranks; stragglers spread by {spread:.0%}")
    for name, batch in BATCHES.items():
        profile = measured(name)
        ready = ", ".join(f"{r * 1e3:.1f} ms" for r in profile.ready)
        print(
            f"\n{name}, {batch} examples a rank: measured step {profile.step * 1e3:.1f} ms, "
            f"{sum(profile.sizes) / 1e6:.2f} MB of gradients in {len(profile.sizes)} buckets, ready after {ready}"
        )
        print("\n".join(table(profile, spread)))


if __name__ == "__main__":
    main()
