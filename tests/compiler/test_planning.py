"""What planning remembers on its way so that nothing is worked out twice: hashes of keys, what nests read, where arrays are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compiler.excerpts import NOWHERE, key_of
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Nest
from adjoint.compiler.loops.build import BYTES
from adjoint.compiler.pipeline import lowered
from adjoint.compiler.tables import Shared, Start
from adjoint.execution.native.program import Native, Outline
from adjoint.nn import functional as F
from adjoint.plan.hashed import Hashed
from adjoint.plan.order import ordered
from adjoint.plan.plan import Step
from test_native import planned
from test_padded import stencil


class Counted:
    """A part of a key that counts how often it is hashed. It equals those of its name, and all have one hash."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.hashed = 0

    def __hash__(self) -> int:
        self.hashed += 1
        return 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counted) and self.name == other.name


def test_a_long_key_is_hashed_once_and_compared_in_full() -> None:
    part = Counted("a")
    key = Hashed((part, 2))
    table = {key: "found"}
    assert table[key] == "found" and part.hashed == 1
    assert table[Hashed((Counted("a"), 2))] == "found" and part.hashed == 1
    assert Hashed((Counted("b"), 2)) not in table  # of the same hash
    assert Hashed((Counted("a"), 3)) not in table
    assert (Counted("a"), 2) not in table


def read_again(x: Any) -> list[ad.Tensor]:
    """Two cheap values of one source that are read behind a product."""
    weights = x.T @ x
    source = F.softplus(x @ weights)
    halves, quarters = source * 0.5, source * -0.25
    turned = ad.tanh(source @ weights)
    return [halves * turned, ad.exp(quarters + turned)]


def neighbours(x: Any) -> list[ad.Tensor]:
    """The reverse pass of a stencil times a number: the neighbours of such products."""
    u = ad.variable(np.zeros(x.shape, "f4"))
    number = ad.tensor(np.asarray(0.3, "f4"))
    return list(ad.gradients(number * stencil(u, (1, 1)), [u], x))


def attention(x: Any) -> list[ad.Tensor]:
    heads = ad.reshape(x, (4, 64, 64)) if x.shape == (256, 64) else ad.stack([x, x * 2, x + 1])
    weights = ad.softmax(heads @ ad.matrix_transpose(heads), axis=-1)
    y = F.layer_norm(weights @ heads, (heads.shape[-1],))
    return [y, *ad.gradients((y * heads).sum(), [x])]


def joined(x: Any) -> list[ad.Tensor]:
    parts = ad.concat([x[:, ::2], ad.flip(x)[:, 1::2]], axis=1)
    return [parts.sum(-1), ad.cumulative_sum(parts, axis=0), ad.pad(parts, [(1, 1), (0, 0)])[2:] * x[1:].sum()]


PROGRAMS = [read_again, neighbours, attention, joined]
SHAPES = [(64, 64), (256, 64), (300, 300)]


def states_of(program: Any, shape: tuple[int, int]) -> tuple[list[Any], Any]:
    """What the compiler's stages give, in turn, and the last."""
    states: list[Any] = []
    plan, _, _ = planned(*program(ad.variable(np.random.default_rng(1).normal(size=shape).astype("f4"))))
    last = lowered(plan, lambda name, state: states.append(state))
    assert isinstance(last, Fusion)
    return states, plan


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_nests_know_what_they_read_in_every_stage(program: Any, shape: tuple[int, int]) -> None:
    plan, _, _ = planned(*program(ad.variable(np.random.default_rng(1).normal(size=shape).astype("f4"))))
    nests = 0

    def seen(name: str, state: Any) -> None:
        nonlocal nests
        for unit in state.units if isinstance(state, Fusion) else ():
            if isinstance(unit, Nest):
                nests += 1
                read = {i for step in unit.steps for i in step.inputs if i not in unit.level}
                assert unit.read == read
                assert state.roots(unit) >= {state.views[i].root for i in read}

    assert isinstance(lowered(plan, seen), Fusion) and nests


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_places_of_a_program_are_those_in_its_table(program: Any, shape: tuple[int, int]) -> None:
    _, plan = states_of(program, shape)
    fusion = lowered(plan)
    assert isinstance(fusion, Fusion)
    native = Native(fusion)
    inner = {}
    for key, at in native.table.positions.items():
        assert key != NOWHERE
        if type(key) is Start and key.root in native.inner_roots:
            inner[at] = native.inner_roots[key.root] + key.offset * BYTES[fusion.dtypes[key.root]]
        elif type(key) is Shared:
            inner[at] = native.offsets[key]
    assert dict(native.inner.tolist()) == inner


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_stored_has_a_place(program: Any) -> None:
    """And what stays in registers has none."""
    states, _ = states_of(program, (256, 64))
    fusion = states[-1]
    for unit in fusion.units:
        if isinstance(unit, Nest) and unit.stored:
            _, starts = key_of(fusion, unit)
            roots = {start.root for start in starts if type(start) is Start}
            assert roots.issuperset(unit.stored)
            read = {fusion.views[i].root for i in unit.read}
            assert roots.issuperset(read)
            assert roots <= {NOWHERE.root, *read, *unit.stored, *[p.step.output for p in unit.made]}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_last_reader_of_an_array_is_the_last_that_reads_it(program: Any) -> None:
    states, _ = states_of(program, (300, 300))
    fusion = states[-1]
    last: dict[int, int] = {}
    for index, unit in enumerate(fusion.units):
        for root in fusion.roots(unit):
            last[root] = index
    assert Outline(fusion).last_uses == last


def test_results_come_by_their_depth_each_behind_what_it_needs() -> None:
    """Depth first, inputs in their order, however often one of them is read."""
    large = ad.variable(np.ones((64, 64), "f4")).node.type

    def step(output: int, *inputs: int) -> Step:
        return Step(ad.exp(ad.variable(1.0)).node.op, None, None, None, inputs, output, large)  # type: ignore[arg-type]

    # 0 is given; 5 is deep and asked for first, 6 is shallow; 2 is read three times
    steps = [step(1, 0), step(2, 1), step(3, 2, 1), step(4, 3, 2), step(5, 4, 2), step(6, 2, 0)]
    found = ordered(steps, [5, 6], [large] * 7, 1)
    assert [x.output for x in found] == [1, 2, 6, 3, 4, 5]


def centred(x: Any, again: Any = lambda a: 0.0, later: Any = lambda a: 0.0) -> list[ad.Tensor]:
    """Two arrays that are read once their sums by column are known, the second made of the first one."""
    a = ad.sin(x)
    b = ad.exp(a - a.sum(0) / 7) + again(a)
    return [ad.tanh(b * b.sum(0)) + later(a)]


HANDED_ON: dict[str, tuple[Any, bool]] = {
    "read last": (centred, True),
    "read again at other elements": (lambda x: centred(x, again=lambda a: a[::-1]), False),
    "read later": (lambda x: centred(x, later=lambda a: a), False),
    "multiplied by, too": (lambda x: centred(x, again=lambda a: (a.T @ a).sum()), True),
    "rows are read twice": (lambda x: [y.sum(0) for y in (ad.softmax(ad.sin(x) - ad.sin(x).sum(0), axis=-1),)], False),
}


@pytest.mark.parametrize("shape", [(300, 40), (37, 5), (4000, 70)], ids=str)
@pytest.mark.parametrize("name", HANDED_ON)
def test_an_inner_array_takes_the_memory_of_one_that_is_read_last(name: str, shape: tuple[int, int]) -> None:
    """The same bits as where each has memory of its own, for any number of threads."""
    program, expected = HANDED_ON[name]
    x = ad.variable(np.random.default_rng(1).normal(size=shape).astype("f4"))
    plan, leaves, numbers = planned(*program(x))
    fusion = lowered(plan)
    assert isinstance(fusion, Fusion)
    native, apart = Native(fusion), Outline(fusion)
    apart.handed_on = {}
    handed = native.outline.handed_on
    assert any(fusion.shapes[slot] == shape for slot in handed) == expected, str(fusion)
    for slot, before in handed.items():
        assert native.offsets[slot] == native.offsets[before]
    (right,) = Native(fusion, outline=apart).run(leaves, numbers, False)
    threads = ad.get_num_threads()
    try:
        for count in (1, 2, 3):
            ad.set_num_threads(count)
            for _ in range(2):
                (found,) = native.run(leaves, numbers, False)
                assert found.tobytes() == right.tobytes()
    finally:
        ad.set_num_threads(threads)
