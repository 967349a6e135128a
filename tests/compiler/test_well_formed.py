"""Plans and units are well formed after every stage of the compiler, and what isn't is refused (loops: test_loop_programs)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
import adjoint.nn.functional as F
import random_graphs
from adjoint import nn, optim
from adjoint.compiler import pipeline
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Nest, Product, Unit
from adjoint.compiler.targets.target import tuned
from adjoint.graph import array_type
from adjoint.plan.plan import Plan, Step
from plan_check import check, check_plan, check_units
from test_loop_programs import KINDS
from test_native import normal, planned

PROGRAMS = 200


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_unit(kind: str) -> None:
    make, changes, _ = KINDS[kind]
    with tuned(**changes):
        assert isinstance(pipeline.lowered(planned(*make())[0], check), Fusion)


def test_random_programs() -> None:
    for seed in range(PROGRAMS):
        pipeline.lowered(random_graphs.planned(random_graphs.drawn(seed))[0], check)


def test_training_steps() -> None:
    """Attention with its update; images with theirs."""
    ad.random.seed(0)
    encoder = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    images = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 4)
    )
    for model, shape in ((encoder, (3, 6, 16)), (images, (5, 1, 8, 8))):
        optimizer = optim.AdamW(model.parameters(), lr=1e-2)

        @ad.jit
        def step(x: ad.Tensor, model: Any = model, optimizer: Any = optimizer) -> ad.Tensor:
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        step(ad.tensor(normal(*shape, dtype="float32")))
        assert isinstance(pipeline.lowered(step.replay().executable.plan, check), Fusion)


# What isn't well formed ------------------------------------------------------------------------------------------------------


def plan() -> Plan:
    """Of a product, a softmax of it, and one array of a step that gives two."""
    x, w = ad.variable(normal(6, 40)), ad.variable(normal(40, 16))
    q, r = ad.linalg.qr(w[:16])
    found, _, _ = planned(ad.softmax(x @ w * 0.5, axis=-1) + 1, q @ r)
    check_plan(found)
    return found


def place(found: Plan, name: str) -> int:
    return next(k for k, step in enumerate(found.steps) if step.op.name == name)


def change(name: str, **fields: Any) -> Callable[[Plan], Plan]:
    def changed(found: Plan) -> Plan:
        k = place(found, name)
        return with_step(found, k, found.steps[k]._replace(**fields))

    return changed


def with_step(found: Plan, k: int, step: Step) -> Plan:
    return found.with_steps([*found.steps[:k], step, *found.steps[k + 1 :]])


def exchanged(found: Plan, k: int) -> Plan:
    """The plan in which the kth step comes before the one in front of it."""
    steps = found.steps
    return found.with_steps([*steps[: k - 1], steps[k], steps[k - 1], *steps[k + 1 :]])


def longer(found: Plan) -> Plan:
    k = place(found, "subtract")
    return with_step(found, k, found.steps[k]._replace(inputs=(0, found.steps[k].inputs[1])))  # x, of 40 columns


def shape_of_a_constant(found: Plan) -> Plan:
    t = array_type((3,), found.steps[0].type.dtype)
    constants = {**found.constants, len(found.types): np.zeros((4,), t.dtype.dtype)}
    return found._replace(types=[*found.types, t], constants=constants)


def unmade_result(found: Plan) -> Plan:
    number, index, _, kept = found.outputs[0]
    outputs = [(number, index, len(found.types), kept), *found.outputs[1:]]
    return found._replace(types=[*found.types, found.types[0]], outputs=outputs)


def check_of_nothing(found: Plan) -> Plan:
    found.masking.checked.append(99)
    return found


BROKEN_PLANS: dict[str, tuple[Callable[[Plan], Plan], str]] = {
    "two steps exchanged": (lambda found: exchanged(found, place(found, "exp")), r"%\d+ isn't made before, in .*exp"),
    "a step twice": (lambda found: found.with_steps([*found.steps, found.steps[0]]), "is made twice"),
    "another type": (change("exp", type=array_type((6, 17), ad.float64)), r"%\d+ is float64\[6, 16\], in .*exp"),
    "an operand of another shape": (longer, "doesn't broadcast to the result, in .*subtract"),
    "one array of two that isn't there": (change("select_output", type=array_type((1,), ad.float64)), "%"),
    "a constant of another shape": (shape_of_a_constant, "the constant %.* is 4, and its slot float64"),
    "a result that nobody makes": (unmade_result, "the result %.* isn't made"),
    "a leaf less": (lambda found: found._replace(leaf_types=found.leaf_types[1:]), "leaves and the free numbers"),
    "a check of nothing": (check_of_nothing, "is checked that there isn't"),
}  # fmt: skip


@pytest.mark.parametrize("how", BROKEN_PLANS)
def test_a_broken_plan_is_refused(how: str) -> None:
    break_it, match = BROKEN_PLANS[how]
    broken = break_it(plan())
    with pytest.raises(ValueError, match=match):
        check_plan(broken)
    with pytest.raises(ValueError, match=f"after plan: .*{match}"):
        check("plan", broken)


def test_a_plan_never_changes() -> None:
    found = plan()
    before = str(found)
    for name in ("steps", "placed", "types", "outputs", "masking", "program"):
        with pytest.raises(AttributeError):
            setattr(found, name, [])
    other = found.with_steps(found.steps[:-1])
    assert str(found) == before != str(other)
    assert other.length == found.length - 1 and other.types is found.types


def units() -> Fusion:
    """A product, and loops of rows behind it; a sum of both."""
    x, w = ad.variable(normal(6, 40)), ad.variable(normal(40, 16))
    found = pipeline.lowered(planned(ad.softmax(x @ w * 0.5, axis=-1), ad.sum(x))[0])
    assert isinstance(found, Fusion)
    check_units(found)
    return found


def nest_of(found: Fusion) -> Nest:
    return next(unit for unit in found.units if isinstance(unit, Nest) and len(unit.domain) == 2 and unit.split == 1)


def product_of(found: Fusion) -> Product:
    return next(unit for unit in found.units if isinstance(unit, Product))


def changed(found: Fusion, unit: Unit, **fields: Any) -> Fusion:
    """The units with one that has other fields."""
    return found.with_units([one._replace(**fields) if one is unit else one for one in found.units])


def beyond(found: Fusion) -> Fusion:
    one = product_of(found)
    return changed(found, one, a=one.a._replace(offset=40))


def not_its_shape(found: Fusion) -> Fusion:
    return changed(found, product_of(found), shape=(6, 17))


def does_not_fit(found: Fusion) -> Fusion:
    one = product_of(found)
    return changed(found, one, b=one.b._replace(shape=(39, 16)))


def total_read(found: Fusion) -> Fusion:
    nest = nest_of(found)
    return changed(found, nest, level={**nest.level, next(s.output for s in nest.steps if s.op.name == "exp"): "total"})


def nobody_computes(found: Fusion) -> Fusion:
    nest = nest_of(found)
    return changed(found, nest, stored=(*nest.stored, 0))


def out_of_order(found: Fusion) -> Fusion:
    nest = nest_of(found)
    return changed(found, nest, steps=nest.steps[::-1])


def without_a_step(found: Fusion) -> Fusion:
    nest = nest_of(found)
    return changed(found, nest, steps=nest.steps[:-1])


def another_dtype(found: Fusion) -> Fusion:
    dtypes = {**found.dtypes, 0: "float32", 99: "float64"}
    found = found._replace(dtypes=dtypes, views={**found.views, 99: found.views[0]})
    step = next(step for unit in found.units if isinstance(unit, Nest) for step in unit.steps if step.inputs == (0,))
    nest = next(unit for unit in found.units if isinstance(unit, Nest) and step in unit.steps)
    steps = [step._replace(inputs=(99,)) if one is step else one for one in nest.steps]
    return found.with_units([one.computing(steps, one.level) if one is nest else one for one in found.units])


BROKEN_UNITS: dict[str, tuple[Callable[[Fusion], Fusion], str]] = {
    "in another order": (lambda found: found.with_units(found.units[::-1]), r"unit \d: it reads %\d+, which isn't there yet"),
    "one twice": (lambda found: found.with_units([*found.units, found.units[0]]), "is written twice"),
    "one lost": (
        lambda found: found.with_units([one for one in found.units if not isinstance(one, Product)]),
        "isn't there yet",
    ),
    "elements beyond the end": (beyond, "it reads elements 40 to 279 of the 240"),
    "an array of another dtype": (another_dtype, "it reads float32 of %0 as float64"),
    "a product of another shape": (not_its_shape, "isn't 6×17"),
    "matrices that don't fit": (does_not_fit, "can't be multiplied"),
    "a total that is read": (total_read, "is a total, which nobody can read here"),
    "what nobody computes is stored": (nobody_computes, "%0 is stored and not computed"),
    "steps in another order": (out_of_order, "is read before it is computed"),
    "a step that is lost": (without_a_step, "the levels aren't those of its steps"),
    "rows of no axis": (lambda found: changed(found, nest_of(found), split=3), "a row of 2 axes can't begin at the 3th"),
    "a result that nobody stores": (lambda found: found.with_units(found.units[:-1]), "the result %.* is nowhere"),
}  # fmt: skip


@pytest.mark.parametrize("how", BROKEN_UNITS)
def test_broken_units_are_refused(how: str) -> None:
    break_it, match = BROKEN_UNITS[how]
    broken = break_it(units())
    with pytest.raises(ValueError, match=match):
        check_units(broken)


def heads(batch: int = 70) -> list[ad.Tensor]:
    """Attention, a network's gradient, a stencil, a pool behind a convolution, a system of equations: units of most kinds."""
    q, k, v = [ad.variable(normal(batch, 32, 32, dtype="float32")) for _ in range(3)]
    image, weights = (
        ad.variable(normal(2, 3, 16, 16, dtype="float32")),
        ad.variable(normal(8, 3, 3, 3, dtype="float32")),
    )
    pooled = F.max_pool2d(ad.relu(F.conv2d(image, weights, padding=1)), 2)
    attended = ad.softmax(q @ k.transpose(0, 2, 1), axis=-1) @ v
    rows = ad.roll(q[0], 1, axis=0) * 2 + q[0].T
    solved = ad.linalg.solve(v[:, :3, :3] + 3 * np.eye(3, dtype="f4"), k[:, :3, :1])
    loss = attended.sum() + pooled.sum() + (rows[::2] ** 2).sum() + ad.cumsum(solved, axis=0).sum()
    return [attended, *ad.gradients(loss, [q, k, v, weights]), ad.fft.rfft(v[0]), q[0][np.array([3, 1])]]


def test_units_are_frozen() -> None:
    """A pass makes other units: no field of one can be set, nor an entry of what a field holds."""
    found = pipeline.lowered(planned(*heads())[0])
    assert isinstance(found, Fusion)
    every = [one for unit in found.units for one in [unit, *(unit.made if isinstance(unit, Nest) else ())]]
    assert len({type(unit) for unit in every}) >= 6
    for unit in every:
        for name in (*unit._fields, "another"):
            with pytest.raises(AttributeError):
                setattr(unit, name, None)
        for value in unit:
            assert not isinstance(value, list | dict | set), unit
            with pytest.raises(TypeError):
                value[0] = None
    with pytest.raises(TypeError):
        found.units[0] = found.units[1]  # type: ignore[index]


def test_passes_leave_the_units_that_they_are_given() -> None:
    """What each stage gave is the same once all others have run."""
    seen: list[tuple[Fusion, str]] = []
    with tuned(joined_from=1, followed_from=1):
        pipeline.lowered(planned(*heads())[0], lambda _, state: seen.append((state, repr(getattr(state, "units", "")))))
    before = [(state, text) for state, text in seen if isinstance(state, Fusion)]
    assert len({text for _, text in before}) >= 2, "no pass has changed anything"
    for state, text in before:
        assert repr(state.units) == text


def test_every_pair_of_exchanged_steps_that_matters_is_seen() -> None:
    """Steps may change places exactly where neither reads the other."""
    for second in range(1, len(plan().steps)):
        broken = exchanged(plan(), second)
        b, a = broken.steps[second - 1 : second + 1]
        if a.output in b.inputs:
            with pytest.raises(ValueError, match="isn't made before"):
                check_plan(broken)
        else:
            check_plan(broken)
