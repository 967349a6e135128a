"""What plans and their units must be like: steps read what was made before them, and units read what lies in memory by then.

`loop_check` says the same of loops. Each raises ValueError for what isn't well formed, and names the step or the unit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Line, Nest, Product, Unit, View
from adjoint.compiler.fuse.padded import PADDED
from adjoint.graph import ArrayType
from adjoint.plan.plan import Plan, Step
from adjoint.plan.text import shape_text, type_text
from adjoint.shapes import size_of

LEVELS = {"element", "row", "total"}


def check(name: str, state: Any) -> None:
    """Check what a stage of the compiler gave: to be told of each, as `pipeline.lowered` does."""
    try:
        check_plan(state) if isinstance(state, Plan) else check_units(state)
    except ValueError as error:
        raise ValueError(f"after {name}: {error}") from error


# Plans -------------------------------------------------------------------------------------------------------------------------


def check_plan(plan: Plan) -> None:
    """Raise ValueError, with the step, where a plan isn't well formed."""
    given = [*plan.leaf_types, *plan.number_types]
    if plan.types[: len(given)] != given:
        raise ValueError("the first slots aren't the leaves and the free numbers")
    made = set(range(len(given)))
    for slot, value in plan.constants.items():
        _check_constant(plan, slot, value, made)
    made.update(plan.constants)
    for step in plan.steps:
        _check_step(plan, step, made)
        made.add(step.output)
    for _, index, slot, _ in plan.outputs:
        if slot not in made:
            raise ValueError(f"the result %{slot} isn't made")
        if index is not None and not isinstance(plan.types[slot], tuple):
            raise ValueError(f"the result %{slot} is one array, and its array {index} is asked for")
    if not set(plan.masking.checked) <= set(range(len(plan.outputs))):
        raise ValueError("a result is checked that there isn't")


def _check_constant(plan: Plan, slot: int, value: Any, made: set[int]) -> None:
    if slot in made or not 0 <= slot < len(plan.types):
        raise ValueError(f"the constant %{slot} has no slot of its own")
    t = plan.types[slot]
    if isinstance(value, np.ndarray) and isinstance(t, ArrayType):
        if value.ndim and value.shape != t.shape:
            raise ValueError(f"the constant %{slot} is {shape_text(value.shape)}, and its slot {type_text(t)}")
        if t.dtype.dtype is not None and value.dtype != t.dtype.dtype:
            raise ValueError(f"the constant %{slot} is {value.dtype}, and its slot {type_text(t)}")


def _check_step(plan: Plan, step: Step, made: set[int]) -> None:
    def fail(reason: str) -> None:
        raise ValueError(f"{reason}, in {step}")

    if not 0 <= step.output < len(plan.types):
        fail(f"there is no slot %{step.output}")
    if step.output in made:
        fail(f"%{step.output} is made twice")
    for slot in step.inputs:
        if slot not in made:
            fail(f"%{slot} isn't made before")
    if step.type != plan.types[step.output]:
        fail(f"%{step.output} is {type_text(plan.types[step.output])}")
    types = [plan.types[slot] for slot in step.inputs]
    if step.op.elementwise:
        for slot, t in zip(step.inputs, types, strict=True):
            if isinstance(t, tuple) or not (_is_single(plan, slot) or _broadcasts(t.shape, step.type.shape)):
                fail(f"%{slot}, {type_text(t)}, doesn't broadcast to the result")
    elif step.op.name == "select_output":
        if not isinstance(types[0], tuple) or types[0][step.attributes] != step.type:
            fail(f"{type_text(types[0])} has no such array {step.attributes}")
    elif step.op.name == "reshape" and types[0].size != step.type.size and not _is_single(plan, step.inputs[0]):
        fail(f"%{step.inputs[0]} has {types[0].size} elements")


def _is_single(plan: Plan, slot: int) -> bool:
    """Whether a slot holds one number, whatever the shape: a free number, or a constant."""
    first = len(plan.leaf_types)
    return first <= slot < first + len(plan.number_types) or np.ndim(plan.constants.get(slot, (0,))) == 0


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    if len(shape) > len(to):
        return False
    return all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))


# Units -------------------------------------------------------------------------------------------------------------------------


def check_units(fusion: Fusion) -> None:
    """Raise ValueError, with the unit, where units aren't well formed."""
    plan = fusion.plan
    there = {*range(len(plan.leaf_types) + len(plan.number_types)), *plan.constants}
    for number, unit in enumerate(fusion.units, 1):
        try:
            _check_unit(fusion, unit, there)
        except ValueError as error:
            raise ValueError(f"unit {number}: {error}, in {unit.lines()[0]}") from error
        there.update(unit.outputs)
    for slot in fusion.results:
        root = slot if slot in fusion.objects else fusion.views[slot].root
        if root not in there:
            raise ValueError(f"the result %{slot} is nowhere")


def _check_unit(fusion: Fusion, unit: Unit, there: set[int]) -> None:
    own: set[int] = set()
    if isinstance(unit, Nest):
        own = {*unit.stored, *unit.tiles, *unit.outputs, *[one.step.output for one in unit.made]}
        _check_nest(fusion, unit)
    for root in fusion.roots(unit) - own:
        if root not in there:
            raise ValueError(f"it reads %{root}, which isn't there yet")
    if isinstance(unit, Host):
        return
    made = unit.made if isinstance(unit, Nest) else [unit]
    for one in made:
        for view in one.reads:
            _check_view(fusion, view)
        if isinstance(one, Product):
            _check_product(one)
    for slot in unit.outputs:
        if slot not in fusion.shapes:
            raise ValueError(f"nobody knows the shape of %{slot}")
        if slot in there and not _writes_again(unit, slot):
            raise ValueError(f"%{slot} is written twice")


def _writes_again(unit: Unit, slot: int) -> bool:
    """Whether a unit may write an array that is there: a transform in place, and a nest a part, beside what others write."""
    if isinstance(unit, Line):
        return unit.kind == "transform"
    return isinstance(unit, Nest) and any(piece.root == slot for piece in unit.into.values())


def _check_view(fusion: Fusion, view: View) -> None:
    if not size_of(view.shape):
        return
    reach = [(n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)]
    first, last = view.offset + sum(min(r, 0) for r in reach), view.offset + sum(max(r, 0) for r in reach)
    size = size_of(fusion.shapes[view.root])
    if first < 0 or last >= size:
        raise ValueError(f"it reads elements {first} to {last} of the {size} of %{view.root}")


def _check_nest(fusion: Fusion, nest: Nest) -> None:
    if nest.split is not None and not 0 <= nest.split <= len(nest.domain):
        raise ValueError(f"a row of {len(nest.domain)} axes can't begin at the {nest.split}th")
    computed = {step.output for step in nest.steps}
    if set(nest.level) != computed:
        raise ValueError("the levels aren't those of its steps")
    done: set[int] = set()
    for step in nest.steps:
        if nest.level[step.output] not in LEVELS:
            raise ValueError(f"%{step.output} has the level {nest.level[step.output]!r}")
        if step.output in done:
            raise ValueError(f"%{step.output} is computed twice")
        for slot in step.inputs:
            if slot in computed and slot not in done:
                raise ValueError(f"%{slot} is read before it is computed")
            if slot in computed and nest.level[slot] == "total":
                raise ValueError(f"%{slot} is a total, which nobody can read here")
        done.add(step.output)
        if nest.level[step.output] == "element":
            _check_domain(fusion, nest, step)
    _check_stored(nest, computed)
    given = {slot for step in nest.steps if step.op is not PADDED for slot in step.inputs} - computed
    for slot in given:
        view = fusion.views[slot]
        _check_view(fusion, view)
        if fusion.dtypes[slot] != fusion.dtypes[view.root]:
            raise ValueError(f"it reads {fusion.dtypes[view.root]} of %{view.root} as {fusion.dtypes[slot]}")


def _check_domain(fusion: Fusion, nest: Nest, step: Step) -> None:
    shape = fusion.shapes.get(step.output)
    if shape is not None and size_of(shape) != size_of(nest.domain):
        raise ValueError(f"%{step.output} has {size_of(shape)} elements, and the loops {size_of(nest.domain)}")


def _check_stored(nest: Nest, computed: set[int]) -> None:
    for slot in _slots(nest.stored, nest.into):
        if slot not in computed:
            raise ValueError(f"%{slot} is stored and not computed")
    inside = {one.step.output for one in nest.made}
    for slot in nest.tiles:
        if slot not in computed and slot not in inside:
            raise ValueError(f"of %{slot} a tile is kept, and nobody makes it")


def _slots(*groups: Iterable[int]) -> set[int]:
    return {slot for group in groups for slot in group}


def _check_product(product: Product) -> None:
    a, b, shape = product.a.shape, product.b.shape, product.shape
    if a[-1] != b[-2]:
        raise ValueError(f"{shape_text(a)} and {shape_text(b)} can't be multiplied")
    if (a[-2], b[-1]) != shape[-2:]:
        raise ValueError(f"{shape_text(a)} by {shape_text(b)} isn't {shape_text(shape)}")
    if product.choice is not None and not product.choice.rows > 0:
        raise ValueError(f"ranges of {product.choice.rows} rows")
