"""Plans and units are well formed after every stage of the compiler, and what isn't is refused (loops: test_loop_programs)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
import random_graphs
from adjoint import nn, optim
from adjoint.compiler import pipeline
from adjoint.compiler.fuse.fuse import Fusion
from adjoint.compiler.fuse.kinds import Nest, Product
from adjoint.compiler.targets.target import tuned
from adjoint.graph import array_type
from adjoint.plan.plan import Plan
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
        assert isinstance(pipeline.lowered(step.replay().plan, check), Fusion)


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


def change(name: str, **fields: Any) -> Callable[[Plan], None]:
    def changed(found: Plan) -> None:
        k = place(found, name)
        found.steps[k] = found.steps[k]._replace(**fields)

    return changed


def exchange(found: Plan) -> None:
    k = place(found, "exp")
    found.steps[k - 1], found.steps[k] = found.steps[k], found.steps[k - 1]


def again(found: Plan) -> None:
    found.steps.append(found.steps[0])


def longer(found: Plan) -> None:
    k = place(found, "subtract")
    found.steps[k] = found.steps[k]._replace(inputs=(0, found.steps[k].inputs[1]))  # x, of 40 columns


def shape_of_a_constant(found: Plan) -> None:
    slot = len(found.types)
    found.types.append(array_type((3,), found.steps[0].type.dtype))
    found.constants[slot] = np.zeros((4,), found.types[slot].dtype.dtype)


def unmade_result(found: Plan) -> None:
    number, index, _, kept = found.outputs[0]
    found.types.append(found.types[0])
    found.outputs[0] = (number, index, len(found.types) - 1, kept)


BROKEN_PLANS: dict[str, tuple[Callable[[Plan], None], str]] = {
    "two steps exchanged": (exchange, r"%\d+ isn't made before, in .*exp"),
    "a step twice": (again, "is made twice"),
    "another type": (change("exp", type=array_type((6, 17), ad.float64)), r"%\d+ is float64\[6, 16\], in .*exp"),
    "an operand of another shape": (longer, "doesn't broadcast to the result, in .*subtract"),
    "one array of two that isn't there": (change("select_output", type=array_type((1,), ad.float64)), "%"),
    "a constant of another shape": (shape_of_a_constant, "the constant %.* is 4, and its slot float64"),
    "a result that nobody makes": (unmade_result, "the result %.* isn't made"),
    "a leaf less": (lambda found: found.leaf_types.pop(), "leaves and the free numbers"),
    "a check of nothing": (lambda found: found.checked.append(99), "is checked that there isn't"),
}  # fmt: skip


@pytest.mark.parametrize("how", BROKEN_PLANS)
def test_a_broken_plan_is_refused(how: str) -> None:
    broken, (break_it, match) = plan(), BROKEN_PLANS[how]
    break_it(broken)
    with pytest.raises(ValueError, match=match):
        check_plan(broken)
    with pytest.raises(ValueError, match=f"after plan: .*{match}"):
        check("plan", broken)


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


def beyond(found: Fusion) -> None:
    one = product_of(found)
    one.reads = (one.a._replace(offset=40), one.b)


def not_its_shape(found: Fusion) -> None:
    product_of(found).shape = (6, 17)


def does_not_fit(found: Fusion) -> None:
    one = product_of(found)
    one.b = one.b._replace(shape=(39, 16))


def total_read(found: Fusion) -> None:
    nest = nest_of(found)
    nest.level[next(s.output for s in nest.steps if s.op.name == "exp")] = "total"


def nobody_computes(found: Fusion) -> None:
    nest_of(found).stored.append(0)


def out_of_order(found: Fusion) -> None:
    nest_of(found).steps.reverse()


def without_a_step(found: Fusion) -> None:
    nest_of(found).steps.pop()


def another_dtype(found: Fusion) -> None:
    found.dtypes[0] = "float32"
    found.views[99], found.dtypes[99] = found.views[0], "float64"
    step = next(step for unit in found.units if isinstance(unit, Nest) for step in unit.steps if step.inputs == (0,))
    nest = next(unit for unit in found.units if isinstance(unit, Nest) and step in unit.steps)
    nest.steps[nest.steps.index(step)] = step._replace(inputs=(99,))


BROKEN_UNITS: dict[str, tuple[Callable[[Fusion], Any], str]] = {
    "in another order": (lambda found: found.units.reverse(), r"unit \d: it reads %\d+, which isn't there yet"),
    "one twice": (lambda found: found.units.append(found.units[0]), "is written twice"),
    "one lost": (lambda found: found.units.remove(product_of(found)), "isn't there yet"),
    "elements beyond the end": (beyond, "it reads elements 40 to 279 of the 240"),
    "an array of another dtype": (another_dtype, "it reads float32 of %0 as float64"),
    "a product of another shape": (not_its_shape, "isn't 6×17"),
    "matrices that don't fit": (does_not_fit, "can't be multiplied"),
    "a total that is read": (total_read, "is a total, which nobody can read here"),
    "what nobody computes is stored": (nobody_computes, "%0 is stored and not computed"),
    "steps in another order": (out_of_order, "is read before it is computed"),
    "a step that is lost": (without_a_step, "the levels aren't those of its steps"),
    "rows of no axis": (lambda found: setattr(nest_of(found), "split", 3), "a row of 2 axes can't begin at the 3th"),
    "a result that nobody stores": (lambda found: found.units.pop(), "the result %.* is nowhere"),
}  # fmt: skip


@pytest.mark.parametrize("how", BROKEN_UNITS)
def test_broken_units_are_refused(how: str) -> None:
    broken, (break_it, match) = units(), BROKEN_UNITS[how]
    break_it(broken)
    with pytest.raises(ValueError, match=match):
        check_units(broken)


def test_every_pair_of_exchanged_steps_that_matters_is_seen() -> None:
    """Steps may change places exactly where neither reads the other."""
    for first, second in itertools.pairwise(range(len(plan().steps))):
        broken = plan()
        a, b = broken.steps[first], broken.steps[second]
        broken.steps[first], broken.steps[second] = b, a
        if a.output in b.inputs:
            with pytest.raises(ValueError, match="isn't made before"):
                check_plan(broken)
        else:
            check_plan(broken)
