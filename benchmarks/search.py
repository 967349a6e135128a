"""Search for schedules: times other numbers of the tuning table (`compiler/targets/target.py`) and prints the row to commit.

    python -m benchmarks.search                                       # all fields, on products: some ten minutes
    python -m benchmarks.search --works steps --field packed_from     # one field, on training steps
    python -m benchmarks.search --field heights --try "((4, 6), (3, 9), (2, 14), (1, 14))"
    python -m benchmarks.search --works small --field literal         # extents in the code, not as arguments

Fields are searched one after the other, each from what was best for those before. A candidate runs in a process of its own,
beside one with the numbers as they are; rounds alternate between them, and what is compared is processor time, so that other
work on the machine disturbs little. A candidate is taken if it gives the same bits, all works together take less than 0.985 of
the time, and none of them more than 1.03. With `--bits` results may differ in the last bits: then say so in `docs/compiler.md`.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.compiler.targets.target import NEVER, Tuning, target, tuned
from benchmarks import cliffs, native, networks

ENOUGH, WORST = 0.985, 1.03
CANDIDATES: dict[str, tuple[Any, ...]] = {
    "heights": (
        ((4, 6), (3, 8), (2, 12), (1, 12)),
        ((4, 6), (3, 9), (2, 14), (1, 14)),
        ((4, 4), (3, 6), (2, 8), (1, 8)),
        ((2, 6), (1, 10)),
        ((2, 4), (1, 8)),
    ),
    "fetched_ahead": (4, 8, 16),
    "packed_from": (48, 96, 192),
    "packed_from_if_short": (96, 256, 512),
    "packed_from_in_batch": (12, 24, 48),
    "gathered_from": (256, 512, 1 << 11, 1 << 13),
    "gathered": (48, 96, 192),
    "most_packed": (1 << 16, 1 << 17, 1 << 18),
    "most_ranges": (8, 16, 32),
    "jammed": (4, 8, 16),
    "divided_from": (2, 4, 8, NEVER),
    "recomputed": (2, 4, 8),
    "literal": (8, NEVER),
}

# What is timed ---------------------------------------------------------------------------------------------------------

# Layouts (n as it lies, t transposed), rows, sums and columns: layers forward, their reverse, gradients of weights.
PRODUCTS = (
    ("nn", 512, 64, 192), ("nn", 512, 256, 64), ("nn", 1024, 128, 384), ("nn", 1024, 512, 128), ("nn", 512, 512, 512),
    ("nt", 512, 192, 64), ("nt", 1024, 384, 128), ("nt", 64, 784, 128), ("tn", 64, 512, 192), ("tn", 256, 512, 64),
    ("tn", 128, 1024, 384), ("tn", 512, 1024, 128), ("tn", 784, 64, 128), ("tn", 256, 4096, 256),
)  # fmt: skip


def product(layout: str, n: int, k: int, m: int) -> Callable[[], Any]:
    """A matrix product, repeated for about two milliseconds."""
    random = np.random.default_rng(0)
    shapes = [(n, k) if layout[0] == "n" else (k, n), (k, m) if layout[1] == "n" else (m, k)]
    a, b = [ad.variable(random.standard_normal(shape).astype(np.float32)) for shape in shapes]
    f = ad.function([a, b], [(a if layout[0] == "n" else a.mT) @ (b if layout[1] == "n" else b.mT)])
    given, times = (a.numpy(), b.numpy()), max(1, int(1e8 / (n * k * m)))

    def run() -> Any:
        for _ in range(times):
            (result,) = f(*given)
        return result.numpy()

    return run


def step(network: str) -> Callable[[], Any]:
    """A training step under `ad.jit`; its loss."""
    if network == "CNN":
        case = networks.of_adjoint(networks.convolutional, compiled=True)(ad)
        return lambda: case.step(0)
    if network == "transformer":
        built = native.transformer()["adjoint"](ad)
        jitted = ad.jit(lambda: built.step(0))
        return lambda: jitted().numpy()
    kinds: dict[str, tuple[Callable[[Any, int], Any], int, Callable[[], tuple[Any, ...]]]]
    kinds = {"GPT": (cliffs.gpt, 4, cliffs.tokens), "ResNet": (cliffs.resnet, 2, cliffs.images)}
    make, depth, data = kinds[network]
    compiled = ad.jit(cliffs.step_of(ad, make, depth))
    given = [ad.tensor(x) for x in data()]
    return lambda: compiled(*given).numpy()


def formula(f: Callable[..., Any], *shapes: tuple[int, ...]) -> Callable[[], Any]:
    """The gradient by its first argument of the sum of what a function gives, under `ad.jit`."""
    random = np.random.default_rng(0)
    given = [ad.tensor(random.standard_normal(shape).astype(np.float32)) for shape in shapes]
    gradient = ad.jit(ad.grad(lambda *xs: (f(*xs) ** 2).sum()))

    def run() -> Any:
        for _ in range(20):
            result = gradient(*given)
        return result.numpy()

    return run


def normalized(x: Any) -> Any:
    """Rows of mean 0 and variance 1."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / ad.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def laplacian(x: Any) -> Any:
    """Of the inner points of a grid."""
    return x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]


# Short inner dimensions, where loops have the least to do for what they cost.
SMALL: dict[str, tuple[Any, ...]] = {
    **{
        f"softmax of rows of {n}": (lambda x: ad.softmax(x, axis=-1), (60_000 // n, n))
        for n in (3, 10, 12, 20, 33, 100)
    },
    **{f"layer norm of rows of {n}": (normalized, (60_000 // n, n)) for n in (12, 24, 64)},
    **{f"layer of {n}": (lambda w, x: ad.tanh(x @ w), (n, n), (512, n)) for n in (10, 12, 16, 24, 48)},
    **{f"256 products of {n}": (lambda x, y: x @ y, (256, n, n), (256, n, n)) for n in (9, 12, 16, 24, 40)},
    "grid": (laplacian, (200, 200)),
    "outer": (lambda x, y: ad.tanh(x[:, :, None] * y), (200, 30), (30, 12)),
    "sum over rows": (lambda x: ad.sin(x).sum(0), (3000, 12)),
}

WORKS: dict[str, dict[str, Callable[[], Callable[[], Any]]]] = {
    "small": {name: (lambda given=given: formula(*given)) for name, given in SMALL.items()},  # type: ignore[misc]
    "products": {" ".join(map(str, p)): (lambda p=p: product(*p)) for p in PRODUCTS},  # type: ignore[misc]
    "steps": {name: (lambda name=name: step(name)) for name in ("transformer", "CNN", "GPT", "ResNet")},  # type: ignore[misc]
}


def serve(works: str, changes: dict[str, Any]) -> None:
    """Be a worker: print a digest of all results, then the times of all works for every line read."""
    with tuned(**changes):
        runs = [build() for build in WORKS[works].values()]
        digest = hashlib.sha256()
        for run in runs:
            for _ in range(3):
                digest.update(np.asarray(run()).tobytes())
    print(digest.hexdigest(), flush=True)
    for _ in sys.stdin:
        times = []
        for run in runs:
            start = time.process_time()
            run()
            times.append(time.process_time() - start)
        print(json.dumps(times), flush=True)


# The search ------------------------------------------------------------------------------------------------------------


class Candidate:
    """A worker process with other numbers in the table."""

    def __init__(self, works: str, changes: dict[str, Any]) -> None:
        call = f"from benchmarks.search import serve; serve({works!r}, {changes!r})"
        one = dict.fromkeys(("ADJOINT_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, "-c", call],
            cwd=Path(__file__).parent.parent,
            env={**os.environ, **one, "ADJOINT_BACKEND": "native"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Candidate:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def read(self) -> str:
        """A line of its answer. Raises RuntimeError where the process has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"a candidate's process ended with status {self.process.wait()}")
        return line

    def times(self) -> list[float]:
        """The times of all works."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found: list[float] = json.loads(self.read())
        return found


def compare(works: str, changes: Sequence[dict[str, Any]], rounds: int) -> list[tuple[bool, list[float]]]:
    """For each of several tables whether it gives the bits of the first, and each work's ratio to the first's time."""
    with ExitStack() as stack:
        candidates = [stack.enter_context(Candidate(works, given)) for given in changes]
        digests = [candidate.read() for candidate in candidates]
        taken = [[candidate.times() for candidate in candidates] for _ in range(rounds)]
    result = []
    for k, digest in enumerate(digests):
        ratios = [statistics.median(row[k][work] / row[0][work] for row in taken) for work in range(len(WORKS[works]))]
        result.append((digest == digests[0], ratios))
    return result


def search(works: str, fields: dict[str, tuple[Any, ...]], rounds: int, bits: bool) -> dict[str, Any]:
    """The numbers that are better than those of this processor's row."""
    best: dict[str, Any] = {}
    for field, values in fields.items():
        now = best.get(field, getattr(target().tuning, field))
        others = [value for value in values if value != now]
        found = compare(works, [best, *[{**best, field: value} for value in others]], rounds)
        scores = []
        for value, (same, ratios) in zip([now, *others], found, strict=True):
            score, worst = statistics.geometric_mean(ratios), max(ratios)
            taken = (same or bits) and score < ENOUGH and worst < WORST
            scores.append((score if taken else 1.0, value))
            note = "" if same else "  other bits"
            print(f"{field} = {value}: {score:.3f}, from {min(ratios):.3f} to {worst:.3f}{note}", flush=True)
        least, value = min(scores, key=lambda pair: pair[0])
        if least < 1:
            best[field] = value
    return best


def main(arguments: Sequence[str] | None = None) -> int:
    """Search, and print what is better."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--works", choices=sorted(WORKS), default="products", help="what is timed (products)")
    parser.add_argument("--field", action="append", choices=Tuning._fields, help="a number of the table (repeatable)")
    parser.add_argument("--try", dest="values", action="append", metavar="VALUE", help="a value for the one field")
    parser.add_argument("--rounds", type=int, default=15, help="rounds for each field (15)")
    parser.add_argument("--bits", action="store_true", help="results may differ in the last bits")
    options = parser.parse_args(arguments)
    fields = {field: CANDIDATES.get(field, ()) for field in options.field or CANDIDATES}
    if options.values:
        if len(fields) != 1:
            parser.error("--try needs one --field")
        fields = dict.fromkeys(fields, tuple([ast.literal_eval(value) for value in options.values]))
    best = search(options.works, fields, options.rounds, options.bits)
    row = ", ".join([f"{field}={value!r}" for field, value in best.items()]) or "nothing is better"
    print(f"{target().name}: {row}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
