"""Time several engines at the same work, side by side.

Every engine runs in a worker process of its own, which answers over pipes in JSON lines. Rounds alternate between the
engines, and a figure is the median over rounds of the *paired* ratio (ours over the peer's, within one round), so a
machine that slows down for a while slows both sides of a pair. Before anything is timed, the engines' numbers for the
same data are compared; a mismatch fails the run.

A benchmark module defines `WORKS: list[Work]`; `__main__.py` names the modules.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

OURS = "adjoint"

# What a worker imports for an engine, and hands to its builder. Two engines may share a module.
MODULES = {OURS: "adjoint", "torch": "torch", "autograd": "autograd", "micrograd": "micrograd.nn", "numpy": "numpy"}
MODULES |= {"torch.compile": "torch", "jax": "jax", "casadi": "casadi", "diffrax": "diffrax", "blackjax": "blackjax"}
MODULES["onnxruntime"] = "onnxruntime"
MODULES["python"] = "builtins"  # the language alone: how fast the machine is at the moment

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ADJOINT_NUM_THREADS")
UNITS = {"µs": 1e6, "ms": 1e3}
ROUND_SECONDS = 0.05  # a round repeats a short step until it has lasted about this long
ANSWER_SECONDS = 300.0  # a worker silent for longer is ended
FEWEST_ROUNDS = 5


@dataclass(frozen=True)
class Case:
    """One engine's side of a work, built inside its worker.

    `prepare(index)` runs off the clock before every step; its result is the step's argument, and `index` never repeats.
    What `step` returns is freed off the clock, what it does not return is freed on it.
    `check()` gives the numbers that engines must agree on. Times are divided by `operations`.
    """

    step: Callable[[Any], Any]
    prepare: Callable[[int], Any] = lambda index: index
    check: Callable[[], Sequence[float]] | None = None
    operations: int = 1


@dataclass(frozen=True)
class Work:
    """One line of the table: a bar, and a builder for each engine (ours and its peers).

    `judge` says what the bar bounds: the ratio to the best peer, our own figure, or what we take beyond the peer.
    With `returned`, a sample is the number, in this unit, that the step returns, and not its time.
    """

    name: str
    bar: float
    engines: Mapping[str, Callable[[Any], Case]]
    judge: Literal["ratio", "own", "extra"] = "ratio"
    unit: Literal["µs", "ms", "B"] = "ms"
    tolerance: float = 1e-9
    returned: bool = False


@dataclass
class Result:
    """What was found: figures in the work's unit, `figure` being the one that the bar bounds."""

    work: str
    verdict: Literal["ok", "miss", "mismatch", "failed", "not measured"]
    bar: float
    judge: str
    unit: str
    ours: float | None = None
    peer: str | None = None
    peers: dict[str, float] = field(default_factory=dict)
    figure: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 0
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)


# --- the worker's side ------------------------------------------------------------------------------------------------


def _version(module: str) -> str:
    try:
        return importlib.metadata.version(module.partition(".")[0])
    except importlib.metadata.PackageNotFoundError:
        return "source"


def _samples(case: Case, quantity: bool) -> Iterator[float]:
    """Yield one sample for each round, after a first step off the record."""
    index = 0

    def once() -> float:
        nonlocal index
        argument = case.prepare(index)
        index += 1
        start = time.perf_counter()
        result = case.step(argument)
        elapsed = time.perf_counter() - start
        return float(result) if quantity else elapsed

    once()
    repeats = 1 if quantity else max(1, min(1000, round(ROUND_SECONDS / once())))
    while True:
        # The median inside a round as well: a mean would count the times that another process took the core.
        yield statistics.median(once() for _ in range(repeats)) / case.operations


def serve(module: str, work_name: str, engine: str, threads: int, exact: bool = False) -> None:
    """Be one engine's worker for one work: answer with the checked numbers, then with a sample for every line read. `exact`
    numbers of ours don't depend on what the clock has compiled."""
    # What an engine prints must not get between the answers: answers keep the pipe, printing goes to standard error.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    work = next(work for work in importlib.import_module(module).WORKS if work.name == work_name)
    name = MODULES[engine]
    if hasattr(os, "sched_setaffinity"):  # the only way to hold XLA to a number of threads
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    try:
        peer = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != name.partition(".")[0]:
            raise
        answers.write(json.dumps({"missing": engine}) + "\n")
        return
    if hasattr(peer, "set_num_threads"):
        peer.set_num_threads(threads)
    if exact:
        peer.set_deterministic(True)
    case = work.engines[engine](peer)
    values = [] if case.check is None else [float(value) for value in case.check()]
    if exact:
        peer.set_deterministic(False)
    samples = _samples(case, quantity=work.returned)
    answers.write(json.dumps({"version": _version(name), "values": values}) + "\n")
    for _ in sys.stdin:
        answers.write(json.dumps({"sample": next(samples)}) + "\n")


# --- the driver's side ------------------------------------------------------------------------------------------------


class Worker:
    """The driver's end of a worker process; use as a context manager, so that none outlives its work."""

    def __init__(self, module: str, work: Work, engine: str, threads: int, exact: bool = False) -> None:
        call = f"from benchmarks.harness import serve; serve({module!r}, {work.name!r}, {engine!r}, {threads}, {exact})"
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
        # An installed package has its bytecode on disk; without it, start-up times would measure the compiler.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", call],
            cwd=Path(__file__).parent.parent,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.engine = engine

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def answer(self) -> dict[str, Any]:
        """Read one answer. Raises RuntimeError when the worker fails or stays silent too long."""
        assert self.process.stdout is not None
        timer = threading.Timer(ANSWER_SECONDS, self.process.kill)
        timer.start()
        try:
            line = self.process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            raise RuntimeError(f"{self.engine}'s worker ended with status {self.process.wait()} instead of answering")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def sample(self) -> float:
        """Have one round run; returns its sample (seconds for one operation, or bytes)."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.answer()["sample"])


def disagreement(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The largest difference between two lists of numbers, relative to the largest of `theirs`; inf if incomparable."""
    if len(ours) != len(theirs):
        return float("inf")
    scale = max((abs(value) for value in theirs), default=0.0) or 1.0
    differences = [abs(one - other) / scale for one, other in zip(ours, theirs, strict=True)]
    # A NaN on either side must fail, and max() would pass over it.
    return max(differences, default=0.0) if all(d == d for d in differences) else float("inf")


def spread(figures: Sequence[float]) -> tuple[float, float, float]:
    """The median and the 10th and 90th percentiles."""
    if len(figures) == 1:
        return figures[0], figures[0], figures[0]
    tenths = statistics.quantiles(figures, n=10, method="inclusive")
    return statistics.median(figures), tenths[0], tenths[8]


def measure(work: Work, module: str, *, rounds: int, seconds: float, threads: int) -> Result:
    """Run one work in all its engines and judge it. Rounds stop after `seconds`, but never before the fewest."""
    result = Result(work.name, "failed", work.bar, work.judge, work.unit)
    samples: dict[str, list[float]] = {}
    with ExitStack() as stack:
        values: dict[str, list[float]] = {}
        workers: list[Worker] = []
        for engine in work.engines:
            worker = stack.enter_context(Worker(module, work, engine, threads))
            try:
                hello = worker.answer()
            except RuntimeError as error:
                result.notes.append(str(error))
                return result
            if "missing" in hello:
                result.notes.append(f"{engine} not installed")
                continue
            workers.append(worker)
            values[engine], result.versions[engine] = hello["values"], hello["version"]
        for engine, theirs in values.items():
            if OURS in values and engine != OURS and values[OURS] and theirs:
                apart = disagreement(values[OURS], theirs)
                if not apart <= work.tolerance:
                    result.verdict = "mismatch"
                    result.notes.append(f"{OURS} and {engine} differ by {apart:.2g}, allowed {work.tolerance:.2g}")
                    return result
        start = time.perf_counter()
        try:
            while result.rounds < rounds and (result.rounds < FEWEST_ROUNDS or time.perf_counter() - start < seconds):
                for worker in workers if result.rounds % 2 else reversed(workers):
                    samples.setdefault(worker.engine, []).append(worker.sample())
                result.rounds += 1
        except RuntimeError as error:
            result.notes.append(str(error))
            return result
    scale = 1.0 if work.returned else UNITS[work.unit]
    medians = {engine: statistics.median(taken) * scale for engine, taken in samples.items()}
    result.ours = medians.pop(OURS, None)
    result.peers = medians
    if medians:
        result.peer = min(medians, key=medians.__getitem__)
    if result.ours is None or (work.judge != "own" and result.peer is None):
        result.verdict = "not measured"
        return result
    ours = samples[OURS]
    if work.judge == "own":
        figures = [sample * scale for sample in ours]
    else:
        assert result.peer is not None
        pairs = list(zip(ours, samples[result.peer], strict=True))
        figures = [own / other if work.judge == "ratio" else (own - other) * scale for own, other in pairs]
    result.figure, result.low, result.high = spread(figures)
    result.verdict = "ok" if result.figure <= work.bar else "miss"
    return result


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return ""
    return f"{value:.0f} {unit}".rstrip() if abs(value) >= 1000 else f"{value:.3g} {unit}".rstrip()


def _rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """The cells of the table, its head first."""
    rows: list[tuple[str, ...]] = [("work", "ours", "best peer", "figure", "p10–p90", "bar", "")]
    for result in results:
        unit = {"ratio": "×", "own": result.unit, "extra": f"{result.unit} more"}[result.judge]
        peer = f"{_number(result.peers[result.peer], result.unit)} {result.peer}" if result.peer else ""
        noise = f"{_number(result.low)}–{_number(result.high)}" if result.figure is not None else ""
        verdict = " · ".join([result.verdict, *result.notes])
        figure, bar = (_number(value, unit) for value in (result.figure, result.bar))
        rows.append((result.work, _number(result.ours, result.unit), peer, figure, noise, bar, verdict))
    return rows


def table(results: Sequence[Result]) -> str:
    """The results as aligned text."""
    rows = _rows(results)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "─" * (sum(widths[:-1]) + 2 * len(widths) + 2), *lines[1:]])


def markdown(results: Sequence[Result]) -> str:
    """The results as the table of the README: a missed bar's figure is bold."""
    head, *rows = _rows(results)
    lines = [head[:-1], ("---",) * (len(head) - 1)]
    for work, ours, peer, figure, noise, bar, verdict in rows:
        lines.append((work, ours, peer, figure if verdict == "ok" else f"**{figure or verdict}**", noise, bar))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(modules: Sequence[ModuleType], arguments: Sequence[str] | None = None) -> int:
    """Run the works of benchmark modules and print the table; returns 1 when numbers disagree or an engine fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Time adjoint beside its peers.")
    parser.add_argument("--only", action="append", metavar="NAME", help="works with NAME in their name (repeatable)")
    parser.add_argument("--rounds", type=int, default=15, help="rounds for each work (15)")
    parser.add_argument("--seconds", type=float, default=40.0, help="begin no round of a work after this long (40)")
    parser.add_argument("--threads", type=int, default=1, help="threads that every engine may use (1)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON instead of the table")
    form.add_argument("--markdown", action="store_true", help="print the table as benchmarks/README.md has it")
    options = parser.parse_args(arguments)
    works = [(work, module.__name__) for module in modules for work in module.WORKS]
    chosen = [
        (work, name) for work, name in works if not options.only or any(part in work.name for part in options.only)
    ]
    if not chosen:
        parser.error(f"no work is named so; there are: {'; '.join(work.name for work, _ in works)}")
    load = [os.getloadavg()[0]]
    results: list[Result] = []
    for work, module in chosen:
        print(f"{work.name} …", file=sys.stderr, flush=True)
        results.append(measure(work, module, rounds=options.rounds, seconds=options.seconds, threads=options.threads))
    load.append(os.getloadavg()[0])
    machine = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "threads": options.threads,
        "load": load,
        "engines": {name: version for result in results for name, version in result.versions.items()},
    }
    if options.json:
        print(json.dumps({"machine": machine, "results": [asdict(result) for result in results]}, indent=1))
    else:
        print(markdown(results) if options.markdown else table(results))
        engines = ", ".join(f"{name} {version}" for name, version in sorted(machine["engines"].items()))
        print(
            f"\nPython {machine['python']}, {engines}; {options.threads} thread(s) on {machine['cores']} cores, "
            f"load {load[0]:.1f} at the start and {load[1]:.1f} at the end (ours included)"
        )
    return int(any(result.verdict in ("mismatch", "failed") for result in results))
