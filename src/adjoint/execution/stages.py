"""Any stage of any formula or compiled function, as text: see `explain`, and `of` for one node of a picture.

What is shown is made by the compiler's own list of stages (`compiler/pipeline.py`), for the very plan that runs.
"""

from __future__ import annotations

import functools
import importlib
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.execution.evaluate import described, described_body, evaluation_lock
from adjoint.execution.numpy_programs import choose
from adjoint.execution.replay import Replay
from adjoint.execution.tiers import native_backend, tiers
from adjoint.graph import ArrayType, Node, topological
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.executable import Executable
from adjoint.plan.plan import Plan, Step, built, with_sites
from adjoint.plan.text import Labels, beside, step_text
from adjoint.primitives.core import FULL
from adjoint.tree import flatten

__all__ = ["Formula", "Nested", "Printed", "Subject", "Texts", "nested", "of", "subject_of"]


class Printed(str):
    """Text that Python's prompt shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Subject:
    """What is explained: a plan, the values to time it on, and how it came to be run so.

    report   what the compiler makes of it; None where NumPy runs it
    reason   why there is no native program
    when     when the program runs that is shown
    """

    def __init__(self, plan: Plan, leaves: list[Any], numbers: list[Any], for_good: bool, running: Any = None) -> None:
        self.plan = plan
        self.leaves = leaves
        self.numbers = numbers
        self.report: Any = None
        self.reason = ""
        self.when = ""
        native = native_backend()
        if native is None:
            self.reason = "ADJOINT_BACKEND is numpy" if tiers.noticed is False else "native code can't run here"
            return
        price = 0.0 if for_good else tiers.price(Executable(plan))
        if price == float("inf"):
            self.reason = "it computes few numbers, and under set_deterministic only larger plans are compiled"
            return
        report = importlib.import_module("adjoint.execution.native.report").Report(plan, for_good, running)
        if report.program is None:
            self.reason = report.reason
            return
        self.report = report
        if price:
            self.when = f"compiled once NumPy has spent {1e3 * price:.1f} ms on it; until then NumPy runs the plan"
        elif not for_good:
            self.when = "compiled when it is computed for the second time"

    @property
    def backend(self) -> str:
        return "numpy" if self.report is None else "native"

    def text(self, stage: str, target: str | None = None) -> Printed:
        """A stage as text, or "all" of them, as for another processor where a `target` is named. Raises ValueError for what is
        none."""
        pipeline = importlib.import_module("adjoint.compiler.pipeline")
        if stage == pipeline.ALL:
            return Printed(pipeline.in_order([(name, self.text(name, target)) for name in pipeline.NAMES]))
        if stage not in pipeline.NAMES:
            raise ValueError(f"explain: the stages are {', '.join(pipeline.NAMES)}, or {pipeline.ALL}; got {stage!r}")
        if target is not None:
            if native_backend() is None:
                raise ValueError("explain: code for another processor is written where native code can run")
            with importlib.import_module("adjoint.compiler.targets.target").instead(target):
                return Printed(pipeline.as_text(self.plan, stage))
        if self.report is not None:
            text = self.report.text(stage)
        elif stage == "plan":
            text = str(self.plan)
        else:
            program = type(choose(self.plan)).__name__
            text = f"NumPy runs the plan step by step ({program}): {self.reason}\n{self.plan}"
        labels = Labels(self.plan)
        for step in self.plan.steps:
            for inside in nested(step):
                head = f"{beside(step_text(step, labels), labels.line(step.output))}\n{inside.label}:"
                text += f"\n\n{head}\n{textwrap.indent(inside.text(stage), '  ')}"
        return Printed(text)


class Nested:
    """What a step of a plan repeats or chooses, as a subject of its own, whose values are ones.

    label   how often, or which
    loop    the native loop over all steps, where the body is small
    """

    def __init__(self, inside: Any) -> None:
        self.label: str = inside.label
        plan = described_body(inside.body.outputs, set(inside.body.inputs))
        plan = plan._replace(alone=inside.stepped() is not None)
        self.subject = Subject(plan, [_stand_in(t) for t in plan.leaf_types], [], for_good=True)
        self.loop = inside.loop()
        self.inside = inside

    def seconds(self) -> float:
        """What a step of the native loop takes."""
        return min([float(self.inside.timed(self.loop, 1000)) for _ in range(5)])

    def text(self, stage: str) -> str:
        """A stage as text."""
        if self.loop is None or stage == "plan":
            return str(self.subject.text(stage))
        code = self.loop.text(stage) if stage in ("loops", "llvm", "assembly") else str(self.subject.plan)
        return f"one native loop does all steps, its carries in registers\n{code}"


def nested(step: Step) -> list[Nested]:
    """What a step repeats or chooses; nothing for one that just computes."""
    graphs = step.op.graphs
    return [] if graphs is None else [Nested(inside) for inside in graphs(step.attributes)]


def subject_of(outputs: Sequence[Any]) -> Subject:
    """What `explain` is asked about: tensors or nodes whose values are pending, in any nesting, or one compiled function."""
    if len(outputs) == 1:
        function: Any = outputs[0].func if isinstance(outputs[0], functools.partial) else outputs[0]
        if hasattr(function, "replay"):
            return _of_replay(function.replay(), function.leaf_names())
    if not outputs:
        raise ValueError("explain: nothing is given; explain takes tensors that are pending, or one compiled function")
    nodes = [x.node if hasattr(x, "node") else x for x in flatten(list(outputs), opaque=True)[0]]
    for x in nodes:
        if hasattr(x, "replay"):
            raise TypeError("explain: a compiled function is explained alone, but it was given beside others")
        if not isinstance(x, Node):
            more = (
                ": give explain what a call returns, or ad.jit of the function once it was called"
                if callable(x)
                else ""
            )
            raise TypeError(f"explain: expected tensors or one compiled function, got {type(x).__name__}{more}")
    pending = [x for x in nodes if x.value is None]
    if not pending:
        raise ValueError("explain: everything here has been computed; explain it before its value is asked for")
    c, plan = described(pending)
    return Subject(plan, [value_array(x) for x in c.leaves], [v for v, _ in c.numbers], for_good=False)


def _stand_in(t: ArrayType) -> Any:
    """Ones, or positions 0. Square matrices have more on the diagonal, or none could be inverted."""
    found = (np.ones if t.inexact else np.zeros)(t.shape, t.dtype.dtype)
    if t.inexact and t.ndim > 1 and t.shape[-1] == t.shape[-2]:
        n = np.arange(t.shape[-1])
        found[..., n, n] += len(n)
    return found


def _of_replay(replay: Replay, leaf_names: Sequence[str | None]) -> Subject:
    """A compiled function, with ones (and positions 0) in place of what calls give it."""
    plan = replay.executable.plan
    found = {slot: name for slot, k in replay.places if (name := leaf_names[k]) is not None}
    plan = plan._replace(names={**plan.names, **found})
    if not plan.steps and len(plan.types) > len(plan.leaf_types) + len(plan.number_types) + len(plan.constants):
        raise ValueError("explain: this function has more steps than are kept to be read")
    leaves: list[Any] = [_stand_in(t) for t in plan.leaf_types]
    for k, value in replay.constants:
        leaves[k] = value
    numbers = [t.dtype.dtype.type(1) for t in plan.number_types]
    return Subject(plan, leaves, numbers, for_good=True, running=replay.program)


class Texts(NamedTuple):
    """What becomes of one node. `step` is its step in the plan; the others are empty where no code computes it, as for leaves
    and views. `place` says which unit it is, counted from 1."""

    step: str
    unit: str
    loops: str
    llvm: str
    assembly: str
    place: int | None


class Formula:
    """The nodes below some outputs, whether they have values or not, as evaluating the outputs together computes them."""

    def __init__(self, outputs: Sequence[Node]) -> None:
        twins = _pending_twins(outputs)
        with evaluation_lock():
            c = canonicalize([twins[x] for x in outputs])
            plan, builder = built(c, list(range(c.roots)), keep=False)
            plan = with_sites(plan, builder)
        slots = builder.slot_of
        self.slots = {x: slots[twin] for x, twin in twins.items() if twin in slots}
        self.subject = Subject(plan, [value_array(x) for x in c.leaves], [v for v, _ in c.numbers], for_good=True)
        self.steps = {step.output: step for step in plan.steps}
        self.labels = Labels(plan)
        self.units: dict[int, tuple[str, ...]] = {}

    def of(self, node: Node) -> Texts | None:
        """What becomes of a node; None for one that isn't part of the formula or not computed in it."""
        slot = self.slots.get(node)
        step = self.steps.get(slot) if slot is not None else None
        if slot is None or step is None:
            return None
        text = beside(step_text(step, self.labels), self.labels.line(slot))
        report = self.subject.report
        index = None if report is None else report.unit_of(slot)
        if index is None:
            return Texts(text, "", "", "", "", None)
        if index not in self.units:  # which are compiled to be read
            self.units[index] = tuple(
                [report.unit_text(index, name) for name in ("units", "loops", "llvm", "assembly")]
            )
        unit, loops, llvm, assembly = self.units[index]
        return Texts(text, unit, loops, llvm, assembly, index + 1)


def of(node: Node) -> Texts | None:
    """What becomes of a node when it alone is asked for: its step in the plan, its unit, the loops, LLVM's text, the machine
    code. It may have its value already. For several nodes of one graph make a `Formula` once.

    >>> import adjoint as ad
    >>> x = ad.variable([1.0, 2.0, 3.0], name="x")
    >>> ad.execution.stages.of((x * x).node).step
    '%1 = multiply(x, x)  float32[3]                                          ...
    """
    return Formula([node]).of(node)


def _pending_twins(outputs: Sequence[Node]) -> dict[Node, Node]:
    """A copy of each node below the outputs, without its value."""
    twins: dict[Node, Node] = {}
    for node in topological(outputs, lambda node: True):
        leaf = not node.inputs and node.op is not FULL
        value = node.value if leaf else None
        given = tuple([twins[x] for x in node.inputs])
        twins[node] = Node(
            node.op, given, node.attributes, node.type, node.site, node.offset, node.tracked and leaf, value
        )
    return twins
