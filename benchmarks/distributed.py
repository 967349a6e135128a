"""`python -m benchmarks.distributed`: what training by two ranks costs and saves, against its four bars.

`--processor` takes the processor's time in place of the clock's: on a busy machine that says what is computed, without waiting.

Needs the extra `mpi` and two idle cores. Two ranks are started by `mpiexec`, a core and a thread each. What one rank does
alone is timed in the same job, in turns with what both do, so that a machine that slows down slows down both; figures are medians
over rounds of the ratios within a round. The bytes are counted, with two ranks and with four.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.train import char_loss
from adjoint.train.networks import CharTransformer
from benchmarks.networks import convolutional

ROUNDS, STEPS = 9, 20
VOCABULARY, CONTEXT = 96, 64
ITEMS, ITEM_SECONDS = 1000, 1e-3

CLOCK = time.process_time if os.environ.get("ADJOINT_BENCHMARK_PROCESSOR") else time.perf_counter

Step = Callable[[], Any]
BARS = {
    "transformer: 2 ranks / 1 rank": 0.6,
    "bytes, 2 ranks / least": 1.05,
    "bytes, 4 ranks / least": 1.05,
    "CNN: what sums add / step": 0.15,
    "CNN: waiting for sums / step": 0.15,
    "map: 2 ranks / 1": 0.6,
}


def transformer(batch: int) -> tuple[ad.nn.Module, Callable[[Any, Any], ad.Tensor], np.ndarray, np.ndarray]:
    """The network of `adjoint train gpt-text`, its loss, and a batch."""
    ad.random.seed(0)
    codes = np.random.default_rng(0).integers(0, VOCABULARY, (2, batch, CONTEXT))
    return CharTransformer(VOCABULARY, CONTEXT), char_loss, codes[0], codes[1]


def cnn(batch: int) -> tuple[ad.nn.Module, Callable[[Any, Any], ad.Tensor], np.ndarray, np.ndarray]:
    """The convolutional network of `networks.py`, its loss, and a batch."""
    ad.random.seed(0)
    generator = np.random.default_rng(0)
    images = generator.standard_normal((batch, 1, 28, 28)).astype(np.float32)
    return convolutional(ad.nn), ad.nn.functional.cross_entropy, images, generator.integers(0, 10, batch)


def training_step(network: Any, batch: int, together: bool) -> tuple[Step, Any]:
    """A compiled step of Adam on a batch, and, where all ranks do it together, what `data_parallel` gave."""
    model, loss_of, x, y = network(batch)
    optimizer = ad.optim.Adam(model.parameters(), lr=1e-4)
    parallel = ad.distributed.data_parallel(model, optimizer) if together else None

    @ad.jit
    def descend(x: Any, y: Any) -> Any:
        loss = loss_of(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    inputs, targets = ad.tensor(x), ad.tensor(y)

    def step() -> float:
        return float(descend(inputs, targets).item())

    for _ in range(3):  # traced, compiled, warm
        step()
    return step, parallel


def seconds(work: Step) -> float:
    """How long it takes, from when all ranks are here; by the processor's time, what the rank takes that takes most."""
    ad.distributed.barrier()
    started = CLOCK()
    work()
    taken = CLOCK() - started
    return taken if CLOCK is time.perf_counter else float(ad.distributed.all_reduce(ad.tensor(taken), "max").item())


def several(step: Step) -> Step:
    """Some steps, one after another."""

    def work() -> None:
        for _ in range(STEPS):
            step()

    return work


def against_one(one: Step, all_of_them: Step, rounds: int = ROUNDS) -> float:
    """The time of what all ranks do over that of what rank 0 does alone: the median over rounds, taken in turns."""
    ratios = []
    first = ad.distributed.rank() == 0
    for _ in range(rounds):
        alone = seconds(one if first else lambda: None)  # while the others sleep
        ratios.append(seconds(all_of_them) / alone)
    return statistics.median(ratios)


def steps_of_the_transformer() -> dict[str, float]:
    """Half the batch on each of two ranks, and the whole on one."""
    one, _ = training_step(transformer, 32, together=False) if ad.distributed.rank() == 0 else (lambda: None, None)
    ad.distributed.barrier()
    both, _ = training_step(transformer, 16, together=True)
    return {"transformer: 2 ranks / 1 rank": against_one(several(one), several(both))}


def bytes_of_a_step() -> dict[str, float]:
    """What a rank sends in a step over the least that a sum over all ranks can do with, everything counted."""
    size = ad.distributed.world_size()
    step, parallel = training_step(transformer, 8, together=True)
    group = ad.distributed.world()

    def sent() -> int:
        return group.engine.bytes_sent + group.background.engine.bytes_sent

    before = sent()
    for _ in range(STEPS):
        parallel.mean(step())
    least = 2 * (size - 1) / size * sum(p.size * p.dtype.itemsize for p in parallel.parameters)
    return {f"bytes, {size} ranks / least": (sent() - before) / STEPS / least}


def overlap() -> dict[str, float]:
    """The share of the CNN's step that isn't there where each rank trains for itself, and that in which it stands still."""
    alone, _ = training_step(cnn, 32, together=False)
    step, parallel = training_step(cnn, 32, together=True)
    added, waiting = [], []
    for _ in range(ROUNDS):
        without = seconds(several(alone))
        before = parallel.seconds_waited
        taken = seconds(several(step))
        waiting.append((parallel.seconds_waited - before) / taken)
        added.append(1 - without / taken)
    found = {"CNN: what sums add / step": statistics.median(added)}
    if CLOCK is time.perf_counter:  # waiting takes no time of the processor
        found["CNN: waiting for sums / step"] = statistics.median(waiting)
    return found


def work_for_a_while(number: int) -> int:
    """Work of the processor, so long as an item takes."""
    end = time.process_time() + ITEM_SECONDS
    while time.process_time() < end:
        pass
    return number


def items() -> dict[str, float]:
    """`map` over two ranks, against the list that one makes."""

    def one() -> list[int]:
        return [work_for_a_while(k) for k in range(ITEMS)]

    def both() -> list[int]:
        return ad.distributed.map(work_for_a_while, range(ITEMS), progress=False)

    return {"map: 2 ranks / 1": against_one(one, both, 3)}


def bucket_times(network: str, batch: int) -> dict[str, Any]:
    """A step without its waiting, and when in it each bucket of gradients was ready: [seconds since the start, bytes]. Times are
    the processor's, of the thread that computes."""
    step, parallel = training_step({"transformer": transformer, "cnn": cnn}[network], batch, together=True)
    behind = parallel.group.background
    ready: list[tuple[float, int]] = []
    begin = behind.begin

    def noted(what: str, arrays: Any, soon: bool = False) -> int:
        ready.append((time.thread_time(), sum(x.nbytes for x in arrays)))
        return int(begin(what, arrays, soon))

    behind.begin = noted
    rounds, steps = [], []
    for _ in range(ROUNDS * 2):
        ready.clear()
        ad.distributed.barrier()
        started = time.thread_time()
        step()
        steps.append(time.thread_time() - started)
        rounds.append([at - started for at, _ in ready])
    return {
        "step": statistics.median(steps),
        "ready": np.median(rounds, axis=0).tolist(),
        "bytes": [n for _, n in ready],
    }


WORKS: dict[str, Callable[..., dict[str, Any]]] = {
    work.__name__: work for work in (steps_of_the_transformer, bytes_of_a_step, overlap, items)
}


def in_ranks(ranks: int, name: str, *arguments: Any) -> dict[str, Any]:
    """What rank 0 of a new job finds."""
    beside = str(Path(sys.executable).parent)
    program = shutil.which("mpiexec", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if program is None:
        raise SystemExit("mpiexec wasn't found: pip install 'adjoint[mpi]'")
    command = [program, "-n", str(ranks), sys.executable, "-m", "benchmarks.distributed", name, *map(str, arguments)]
    inside = {**os.environ, "ADJOINT_NUM_THREADS": "1"}
    done = subprocess.run(command, env=inside, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def rank_main(name: str, *arguments: str) -> None:
    """One rank's part."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[ad.distributed.rank() % len(cores)]})
    if name == "bucket_times":
        found = bucket_times(arguments[0], int(arguments[1]))
    else:
        found = WORKS[name]()
    if ad.distributed.rank() == 0:
        print(json.dumps(found), flush=True)


def main() -> int:
    """Print the table; 1 where a bar isn't kept."""
    found: dict[str, float] = {}
    for ranks, name in [(2, work) for work in WORKS] + [(4, "bytes_of_a_step")]:
        for what, figure in in_ranks(ranks, name).items():
            found[what] = figure
            note = "" if figure <= BARS[what] else "   MISSED"
            print(f"{what:<32} {figure:6.3f}   bar {BARS[what]}{note}", flush=True)
    return int(any(figure > BARS[what] for what, figure in found.items()))


if __name__ == "__main__":
    if sys.argv[1:] == ["--processor"]:
        os.environ["ADJOINT_BENCHMARK_PROCESSOR"] = "1"
        sys.exit(main())
    elif sys.argv[1:]:
        rank_main(*sys.argv[1:])
    else:
        sys.exit(main())
