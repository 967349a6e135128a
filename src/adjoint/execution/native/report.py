"""How a plan runs natively, unit by unit: what each computes, what passes through memory, how long it takes."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from adjoint.execution.native.fuse import Fusion, Host, Nest, Product, Unit, Window
from adjoint.execution.native.ir import ITEMSIZE
from adjoint.execution.native.joining import join
from adjoint.execution.native.lowering import LOWERED, REDUCTIONS
from adjoint.execution.native.machine import CELL, NumberMachine
from adjoint.execution.native.program import FOR_GOOD, Native, compile_plan
from adjoint.execution.native.recomputing import recompute
from adjoint.execution.passes import simplified
from adjoint.execution.plan import Plan
from adjoint.shapes import size_of

ROUNDS = 5


class Kernel(NamedTuple):
    """One kernel: `kind` is loops, product, window, move or numpy, or how often a stretch of operations on single numbers is
    done; bytes read and written; floating operations; seconds."""

    kind: str
    shape: tuple[int, ...]
    operations: tuple[str, ...]
    bytes: int
    flops: int
    seconds: float


def kernels(plan: Plan, leaves: list[Any], numbers: list[Any]) -> list[Kernel] | None:
    """The kernels of a plan in order, each timed on these values; None where nothing can be compiled."""
    if any(type(t) is not tuple and t.size == 0 for t in plan.types):
        return None
    chosen = compile_plan(plan, for_good=True) if len(plan.steps) > FOR_GOOD else None
    if isinstance(chosen, NumberMachine):
        return _stretches(chosen, leaves, numbers)
    fusion = Fusion(simplified(plan))
    if all(isinstance(unit, Host) for unit in fusion.units):
        return None
    recompute(fusion)
    join(fusion)
    program = Native(fusion, apart=True)
    units = [unit for unit in fusion.units if not isinstance(unit, Nest) or unit.stored]
    seconds = [float("inf")] * len(units)
    calls = program.calls
    spent: list[float] = []

    def timed(function: Any) -> Any:
        def run(argument: int) -> None:
            start = time.perf_counter()
            function(argument)
            spent.append(time.perf_counter() - start)

        return run

    program.calls = [(timed(function) if function is not None else None, step) for function, step in calls]
    hosts = program.run_host

    def run_host(*arguments: Any) -> None:
        start = time.perf_counter()
        hosts(*arguments)
        spent.append(time.perf_counter() - start)

    program.run_host = run_host  # type: ignore[method-assign, assignment]
    for _ in range(ROUNDS):
        spent.clear()
        with np.errstate(all="ignore"):
            program.run(leaves, numbers, True)
        seconds = [min(pair) for pair in zip(seconds, spent, strict=True)]
    return [_kernel(fusion, unit, taken) for unit, taken in zip(units, seconds, strict=True)]


def _stretches(machine: NumberMachine, leaves: list[Any], numbers: list[Any]) -> list[Kernel]:
    """The stretches of a program of single numbers."""
    seconds = machine.timed(leaves, numbers, ROUNDS)
    return [
        Kernel(
            found.label,
            (),
            tuple([name for name, count in found.operations.items() for _ in range(count)]),
            CELL * 3 * (found.stop - found.start),
            found.stop - found.start,
            taken,
        )
        for found, taken in zip(machine.stretches, seconds, strict=True)
    ]


def _kernel(fusion: Fusion, unit: Unit, seconds: float) -> Kernel:
    if isinstance(unit, Nest):
        products = unit.made
        names = [f"{_named(p)} {_flat(p.step.type.shape)}" for p in products]
        names += [
            s.op.name for s in unit.steps if s.op.name in LOWERED or s.op.name in REDUCTIONS or s.op.name == "copy"
        ]
        flops = sum(_multiplications(p) for p in products)
        for step in unit.steps:
            if step.op.name in LOWERED or step.op.name in REDUCTIONS:
                per_row = unit.level[step.output] != "element" and step.op.name not in REDUCTIONS
                flops += size_of(fusion.shapes[step.output]) if per_row else size_of(unit.domain)
        return Kernel("loops", unit.domain, tuple(names), _traffic(fusion, unit), flops, seconds)
    step = unit.step
    shape = step.type.shape if type(step.type) is not tuple else ()
    if isinstance(unit, Product):
        return Kernel("product", shape, (_named(unit),), _traffic(fusion, unit), _multiplications(unit), seconds)
    if isinstance(unit, Window):
        return Kernel("window", shape, (_named(unit),), _traffic(fusion, unit), _multiplications(unit), seconds)
    kind = "numpy" if isinstance(unit, Host) else "move"
    return Kernel(kind, shape, (step.op.name,), _traffic(fusion, unit), 0, seconds)


def _named(made: Product | Window) -> str:
    return f"{made.step.op.name} ({made.library})" if made.library else made.step.op.name


def _multiplications(made: Product | Window) -> int:
    """The multiplications and additions of a matrix product, a convolution or one of its derivatives; of a pool, 0."""
    if isinstance(made, Product):
        return 2 * size_of(made.step.type.shape) * made.a.shape[-1]
    result = made.step.type.shape
    first, second = made.reads[0].shape, made.reads[-1].shape
    images, weights = {
        "convolution": (result, second),
        "convolution_input_gradient": (first, second),
        "convolution_weight_gradient": (second, result),
    }.get(made.step.op.name, ((0,), (0, 1)))
    return 2 * size_of(images) * size_of(weights[1:])


def _flat(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "1"


def _traffic(fusion: Fusion, unit: Unit) -> int:
    """Bytes of the arrays that a unit reads and writes, each counted once."""
    roots: set[int] = set()
    if isinstance(unit, Nest):
        inner = set(unit.level) - set(unit.stored)
        tiles = set(unit.tiles)
        for step in unit.steps:
            roots |= {fusion.views[i].root for i in step.inputs if i in fusion.views and i not in unit.level}
        roots |= set(unit.stored)
        for product in unit.made:
            roots |= {*[view.root for view in product.reads], product.step.output}
        roots -= inner | tiles
    elif not isinstance(unit, Host):
        roots = {view.root for view in unit.reads} | {unit.step.output}
    else:
        roots = {fusion.views[i].root for i in (*unit.step.inputs, unit.step.output) if i in fusion.views}
    return sum(size_of(fusion.shapes[r]) * ITEMSIZE[fusion.dtypes[r]] for r in roots if r in fusion.shapes)
