"""Cliffs of programs of many small operations: each is compiled at three lengths, with its gradient, and fails where four times
as many operations take far more than four times as long.

    python -m benchmarks.lengths [name ...]

prints, for each program and length, the seconds of processor time of the first call, from an empty cache, and the milliseconds of
a later one; `<<<` where the first call grew more than half as fast again as the program.
"""

from __future__ import annotations

import importlib
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

LENGTHS = (200, 800, 3200)
FASTER = 1.5  # growth of the time for growth of the length, at most
ENOUGH = 2.0  # seconds of a first call that is looked at

Program = tuple[Callable[..., Any], tuple[Any, ...]]


def programs(ad: Any) -> dict[str, Callable[[int], Program]]:
    """By name, what gives a function for a length, and what it is given."""

    def numbers(*shape: int) -> Any:
        return ad.tensor(np.random.default_rng(0).normal(size=shape))

    def irregular(shape: tuple[int, ...]) -> Callable[[int], Program]:
        def made(n: int) -> Program:
            draw = random.Random(1)
            kinds = [draw.randrange(5) for _ in range(n)]

            def f(x: Any, y: Any) -> Any:
                for kind in kinds:
                    if kind < 2:
                        x = x + y if kind else x - 0.1 * y
                    else:
                        x = ad.tanh(x) if kind == 2 else x * y if kind == 3 else ad.maximum(x, y * 0.5)
                return x.sum()

            return f, (numbers(*shape), numbers(*shape))

        return made

    def network(n: int) -> Program:
        def f(w: Any, b: Any, data: Any) -> Any:
            state, total = 0.0 * b, 0.0
            for t in range(n):
                state = ad.tanh(w @ state + data[t] + b)
                total = total + (state**2).sum()
            return total

        return f, (0.2 * numbers(32, 32), numbers(32), numbers(n, 32))

    def filled(n: int) -> Program:
        def f(x: Any) -> Any:
            y = ad.zeros((n, 4), dtype="float64")
            for t in range(1, n):
                y[t] = ad.tanh(y[t - 1] + x[t])
            return (y * y).sum()

        return f, (numbers(n, 4),)

    def stacked(n: int) -> Program:
        return lambda x: (ad.stack([ad.tanh(x[(7 * i) % n]) for i in range(n)], axis=1) ** 2).sum(), (numbers(n, 12),)

    def joined(n: int) -> Program:
        return lambda x: (ad.concat([x[i : i + 1 + i % 5] * (i + 1.0) for i in range(n)]) ** 2).sum(), (numbers(n + 8),)

    def summed(n: int) -> Program:
        return lambda x: sum([x[i] * float(i % 7 + 1) for i in range(n)]).sum(), (numbers(n, 40),)

    def neighbours(n: int) -> Program:
        def f(x: Any) -> Any:
            rows = [x[i] for i in range(n)]
            return sum([ad.sum((rows[i] * rows[(i + 1) % n] - rows[i - 1]) ** 2) for i in range(n)])

        return f, (numbers(n, 3),)

    def tree(n: int) -> Program:
        def f(x: Any) -> Any:
            rows = [ad.tanh(x[i]) for i in range(n)]
            while len(rows) > 1:
                rows = [sum(rows[k : k + 2], 0.0) * 0.5 for k in range(0, len(rows), 2)]
            return rows[0].sum()

        return f, (numbers(n, 5),)

    def entries(n: int) -> Program:
        m = int(n**0.5)

        def f(x: Any) -> Any:
            rows = [ad.stack([ad.cos(x[i] * x[j] + (i == j)) for i in range(m)]) for j in range(m)]
            return ad.linalg.det(ad.stack(rows) + 2.0 * ad.eye(m, dtype="float64"))

        return f, (numbers(m),)

    def solves(n: int) -> Program:
        def f(a: Any, b: Any) -> Any:
            x = b
            for _ in range(n):
                x = ad.linalg.solve(a + 5 * ad.eye(4, dtype="float64"), x) + b
            return x.sum()

        return f, (numbers(4, 4), numbers(4))

    def lorenz(n: int) -> Program:
        def f(p: Any, y: Any) -> Any:
            a, b, c = y[0], y[1], y[2]
            for _ in range(n):
                a, b, c = a + 0.01 * p[0] * (b - a), b + 0.01 * (a * (p[1] - c) - b), c + 0.01 * (a * b - p[2] * c)
            return a * a + b + c

        return f, (numbers(3), numbers(3))

    return {
        "network over data[t]": network, "array filled row by row": filled, "rows stacked": stacked, "parts joined": joined,
        "rows summed": summed, "neighbours": neighbours, "tree": tree, "determinant of numbers": entries, "solves": solves,
        "Lorenz": lorenz, "irregular, 64": irregular((64,)), "irregular, 5x7": irregular((5, 7)),
    }  # fmt: skip


def measured(name: str, length: int) -> tuple[float, float]:
    """The seconds of the first call and of a later one, in this process."""
    ad: Any = importlib.import_module("adjoint")
    f, given = programs(ad)[name](length)
    step = ad.jit(ad.value_and_grad(f, argnums=tuple(range(len(given)))))
    start = time.process_time()
    step(*given)[0].item()
    first = time.process_time() - start
    later = []
    for _ in range(8):
        start = time.perf_counter()
        step(*given)[0].item()
        later.append(time.perf_counter() - start)
    return first, min(later)


def in_a_process(name: str, length: int) -> tuple[float, float]:
    """The same in a process of its own, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        code = f"from benchmarks import lengths; print(*lengths.measured({name!r}, {length}))"
        environment = {**os.environ, "ADJOINT_CACHE": folder}
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    first, later = map(float, done.stdout.split())
    return first, later


def main(names: list[str]) -> int:
    """How many programs have a cliff."""
    cliffs = 0
    for name in names or list(programs(importlib.import_module("adjoint"))):
        found = [in_a_process(name, length) for length in LENGTHS]
        grown = [
            n * later[0] / (m * first[0])
            for (n, first), (m, later) in itertools.pairwise(zip(LENGTHS, found, strict=True))
        ]
        steep = any([g > FASTER and b[0] > ENOUGH for g, b in zip(grown, found[1:], strict=True)])
        cliffs += steep
        texts = [
            f"{n:,}: {first:.2f} s, {1e3 * later:.3f} ms" for n, (first, later) in zip(LENGTHS, found, strict=True)
        ]
        print(f"{name:26} {';  '.join(texts)}{'  <<<' if steep else ''}", flush=True)
    return cliffs


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
