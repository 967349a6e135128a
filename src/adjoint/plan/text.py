"""Plans as text for people: slots by their names, types, and the user's line of each step."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.dtypes import DType
from adjoint.graph.node import Origin, Site, origin_of

if TYPE_CHECKING:
    from adjoint.plan.plan import Plan, Step

LONGEST = 60  # characters of attributes, of a list of lines
SIDE = 72  # column in which the user's line stands
READABLE = (int, float, complex, str, tuple, DType)  # attributes of steps


class Labels:
    """How the slots of a plan are written: a leaf by its name, a constant number by its digits, others as %7."""

    def __init__(self, plan: Plan | None = None) -> None:
        self.names: dict[int, str] = {}
        self.sites: Mapping[int, tuple[Site, int]] = {}
        if plan is None:
            return
        self.sites = plan.sites
        taken: set[str] = set()
        for slot, name in plan.names.items():
            if name not in taken:
                taken.add(name)
                self.names[slot] = name
        for slot, array in plan.constants.items():
            if isinstance(array, np.ndarray) and array.ndim == 0:
                self.names[slot] = f"{array.item():.6g}" if array.dtype.kind == "f" else str(array.item())

    def name(self, slot: int) -> str:
        return self.names.get(slot) or f"%{slot}"

    def line(self, slot: int) -> str:
        """The user's file and line of a step; empty where it isn't known."""
        where = self.origin(slot)
        return "" if where is None else short(where)

    def origin(self, slot: int) -> Origin | None:
        site = self.sites.get(slot)
        found = None if site is None else origin_of(*site)
        return found if found is not None and found.file else None

    def lines(self, slots: Sequence[int]) -> str:
        """The lines of several steps, each once."""
        found = list(dict.fromkeys([line for slot in slots if (line := self.line(slot))]))
        text = ", ".join(found)
        return text if len(text) <= LONGEST else f"{', '.join(found[:2])} and {len(found) - 2} more lines"


def short(origin: Origin) -> str:
    """A file's name without its folders, the line, and the innermost named scope."""
    scope = f" ({origin.scopes[-1]})" if origin.scopes else ""
    return f"{os.path.basename(origin.file)}:{origin.line}{scope}"


PLAIN = Labels()


def beside(left: str, right: str) -> str:
    """A line, and in a column beside it a remark."""
    return f"{left.ljust(SIDE)} {right}" if right else left


def shape_text(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) or "1"


def type_text(type: Any) -> str:
    return f"({', '.join(map(str, type))})" if isinstance(type, tuple) else str(type)


def step_text(step: Step, labels: Labels = PLAIN) -> str:
    """`%7 = sum[(0,)](x)  float32[5]`."""
    attributes = f"[{step.attributes}]" if isinstance(step.attributes, READABLE) else ""
    if len(attributes) > LONGEST:
        attributes = f"{attributes[: LONGEST - 4]}...]"
    given = ", ".join([labels.name(i) for i in step.inputs])
    return f"{labels.name(step.output)} = {step.op.name}{attributes}({given})  {type_text(step.type)}"


def plan_text(plan: Plan) -> str:
    """A plan's leaves, constants, steps and results."""
    labels = Labels(plan)
    leaves, numbers = len(plan.leaf_types), len(plan.number_types)
    lines = [f"steps {len(plan.steps)}, leaves {leaves}, free numbers {numbers}, results {len(plan.outputs)}"]
    lines += [f"  {labels.name(slot)}  {type_text(plan.types[slot])}  leaf" for slot in range(leaves)]
    if numbers:
        last = f" to %{leaves + numbers - 1}" if numbers > 1 else ""
        lines.append(f"  %{leaves}{last}  free numbers")
    for slot, array in plan.constants.items():
        if slot not in labels.names:
            lines.append(f"  {labels.name(slot)}  {type_text(plan.types[slot])}  constant of shape {np.shape(array)}")
    lines += [beside(f"  {step_text(step, labels)}", labels.line(step.output)) for step in plan.steps]
    kept = {slot for _, _, slot, is_kept in plan.outputs if is_kept}
    wanted = list(dict.fromkeys([slot for _, _, slot, _ in plan.outputs]))
    lines.append("  results: " + ", ".join([labels.name(s) for s in wanted if s not in kept]))
    if kept:
        lines.append("  kept for the reverse pass: " + ", ".join([labels.name(s) for s in wanted if s in kept]))
    return "\n".join(lines)
