"""Plans that differ in extents alone: the program stamped from a pattern is the one that the compiler makes of the plan."""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.compiler import linking, units
from adjoint.compiler.extents import Sheet
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.build import BYTES
from adjoint.compiler.tables import Start
from adjoint.compiler.targets.target import Sizes, tuned
from adjoint.execution.native import kindred, relatives
from adjoint.execution.native.program import Native, compile_nests
from adjoint.execution.native.remembered import Remembered
from adjoint.execution.numpy_programs import Streaming
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.executable import Executable
from adjoint.plan.plan import Plan, build
from adjoint.runtime import onednn
from adjoint.runtime.memory import ALIGNMENT, Lifetime
from adjoint.shapes import size_of

pytest.importorskip("llvmlite")

Recorded = tuple[Plan, list[Any], list[Any]]


def recorded(outputs: Sequence[ad.Tensor]) -> Recorded:
    c = canonicalize([y.node for y in outputs])
    plan = build(c, list(dict.fromkeys([c.number[y.node] for y in outputs])), False)
    return plan, [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]


def stamped(plan: Plan) -> Native | None:
    """What a plan's relatives say of its program; None where the compiler has to be asked."""
    return relatives._followed(plan)


def handed_on(native: Native, *lives: Lifetime) -> bool:
    """Whether one of two arrays takes the other's memory in the unit that reads this last."""
    before, behind = sorted(lives, key=lambda life: life.first)
    return native.outline.handed_on.get(behind.key) == before.key and before.last == behind.first  # type: ignore[arg-type]


def laid_out(native: Native) -> None:
    """No two arrays lie in the same place at the same time, and all have the room that they need."""
    roots = {root for root in native.produced if root not in native.fresh}
    assert roots == set(native.inner_roots) and roots | set(native.table.shared) == set(native.offsets)
    needs = {root: size_of(native.fusion.shapes[root]) * BYTES[native.fusion.dtypes[root]] for root in roots}
    placed = [(native.lifetime(key, size), native.offsets[key]) for key, size in (needs | native.table.shared).items()]
    for k, (one, at) in enumerate(placed):
        assert at % ALIGNMENT == 0 and at + one.size <= native.scratch_start
        for other, place in placed[:k]:
            if one.first <= other.last and other.first <= one.last:
                apart = at + one.size <= place or place + other.size <= at
                assert apart or (at == place and handed_on(native, one, other))
    starts = {at: key for key, at in native.table.positions.items()}
    for at, offset in native.inner.tolist():
        key = starts[at]
        own = key.offset * BYTES[native.fusion.dtypes[key.root]] if type(key) is Start else 0
        assert offset == native.offsets[key.root if type(key) is Start else key] + own


def same(found: Native, expected: Native) -> None:
    """Two programs are equal in all that they are called with and in everything that has a place. Where vectors leave nothing
    over, code that would compute what they leave serves as well as code without."""
    a, b = found.linked, expected.linked
    if a.calls[:, 0].tolist() != b.calls[:, 0].tolist():
        assert a.calls[:, 2:].tolist() == b.calls[:, 2:].tolist() and len(a.arguments) != len(b.arguments)
        laid_out(found)
        return
    assert a.calls[:, [0, 2, 3]].tolist() == b.calls[:, [0, 2, 3]].tolist()
    assert (a.calls[:, 1] - a.arguments.ctypes.data).tolist() == (b.calls[:, 1] - b.arguments.ctypes.data).tolist()
    assert a.arguments.tolist() == b.arguments.tolist()
    assert a.own.scratch == b.own.scratch and a.launches == b.launches
    assert [rows for rows, _ in a.stretches] == [rows for rows, _ in b.stretches]
    assert list(found.table.positions.items()) == list(expected.table.positions.items())
    assert found.table.checks == expected.table.checks
    assert found.table.shared == expected.table.shared
    laid_out(found)
    for name in (
        "scratch_size",
        "fresh",
        "shares",
        "lasting",
        "as_they_come",
        "places",
    ):
        assert getattr(found, name) == getattr(expected, name), name
    assert (
        found.inner[:, 0].tolist() == expected.inner[:, 0].tolist() and found.moves.tolist() == expected.moves.tolist()
    )
    assert found.fresh_makers == expected.fresh_makers and found.leaf_places == expected.leaf_places
    assert found.outline.long == expected.outline.long
    assert found.fusion.results == expected.fusion.results
    for slot in found.fusion.results:
        assert found.fusion.views.get(slot) == expected.fusion.views.get(slot)
    numbers = [n for shape in found.fusion.shapes.values() for n in shape]
    assert all(type(n) is int for n in numbers)


def run(native: Native, leaves: list[Any], numbers: list[Any]) -> list[bytes]:
    with np.errstate(all="ignore"):
        return [x.dtype.str.encode() + repr(x.shape).encode() + x.tobytes() for x in native.run(leaves, numbers, True)]


def check(program: Recorded) -> bool:
    """Whether the program of a plan was stamped; then it is the compiler's."""
    plan, leaves, numbers = program
    found, expected = stamped(plan), compile_nests(plan)
    if found is None:
        return False
    assert expected is not None
    same(found, expected)
    assert run(found, leaves, numbers) == run(expected, leaves, numbers)
    return True


def check_kin(outputs: Sequence[ad.Tensor], kind: Any = "kind") -> bool:
    """Whether the plan of a graph followed from others'; then it is the graph's own, with the compiler's program."""
    c = canonicalize([y.node for y in outputs])
    wanted = list(dict.fromkeys([c.number[y.node] for y in outputs]))
    c.places = None
    found = kindred.executable_of_kin(c, tuple(wanted), kind, True)
    if not isinstance(found, Executable):
        return False
    plan = build(c, wanted, keep=False, ordered=False)
    for name in ("outputs", "has_products", "has_algebra", "forgotten", "ordered", "leaf_types", "number_types"):
        assert getattr(found.plan, name) == getattr(plan, name), name
    expected = compile_nests(plan)
    assert expected is not None and isinstance(found.program, Native)
    same(found.program, expected)
    leaves, numbers = [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]
    assert run(found.program, leaves, numbers) == run(expected, leaves, numbers)
    return True


@pytest.fixture(autouse=True)
def forgotten() -> Any:
    for known in (relatives._known, relatives._first, kindred._known):
        known.clear()
    yield
    for known in (relatives._known, relatives._first, kindred._known):
        known.clear()


def test_a_plan_with_other_numbers_has_as_many_steps() -> None:
    plan, _, _ = recorded([ad.exp(ad.tensor(np.ones((3, 4)))).sum() + 1.0])
    described = relatives.describe(plan)
    assert described is not None
    with Sheet() as sheet:
        made = relatives.with_sizes(plan, sheet, described.numbers)
    assert made.length == len(made.placed) == plan.length > 1


def test_what_was_used_longest_ago_is_let_go() -> None:
    known: Remembered[str] = Remembered(16)
    for k in range(4):
        known.put(k, f"of {k}", 4)
    assert known.get(0) == "of 0" and known.get(9) is None and known.weight == 16
    known.put(4, "of 4", 3)  # too much: what is left weighs 14 at most
    assert list(known) == ["of 3", "of 0", "of 4"] and known.weight == 11
    known.put(0, "grown", 10)
    assert list(known) == ["of 4", "grown"] and known.weight == 13 and 3 not in known
    known.put(5, "alone", 100)
    assert list(known) == ["alone"]
    for k in range(100):
        known.put(k, "light", 0)
    assert known.weight <= 16 and len(list(known)) <= 16


def test_what_ran_a_plan_before_is_let_go_with_it() -> None:
    with ad.no_grad():
        plan, _, _ = recorded(attention(5))
    executable = Executable(plan, program=Streaming(plan))
    program = weakref.ref(executable.program)
    assert stamped(executable.plan) is None and [len(kept) for kept in relatives._first] == [1]
    del executable
    assert program() is None


# Known shapes of programs -----------------------------------------------------------------------------------------------


def normal(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape).astype("f4")


def attention(n: int) -> list[ad.Tensor]:
    """A layer of a small transformer, with its gradients."""
    x = ad.variable(normal(2, n, 16))
    weights = [ad.variable(normal(16, 48) / 4), ad.variable(normal(16, 16) / 4), ad.variable(normal(16, 64) / 4)]
    parts = (nn.functional.layer_norm(x, (16,)) @ weights[0]).reshape((2, n, 3, 2, 8))
    q, k, v = [ad.permute_dims(parts[:, :, i], (0, 2, 1, 3)) for i in range(3)]
    mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + ad.permute_dims(mixed, (0, 2, 1, 3)).reshape((2, n, 16)) @ weights[1]
    y = nn.functional.gelu(x @ weights[2])
    loss = nn.functional.cross_entropy(y.reshape((-1, 64)), ad.tensor(np.arange(2 * n) % 64))
    return [loss, y, *ad.gradients(loss, weights)]


def cache(n: int) -> list[ad.Tensor]:
    """A token more in a cache."""
    keys, values, x = (ad.tensor(normal(*shape)) for shape in ((n, 32), (n, 32), (1, 32)))
    w = [ad.tensor(normal(32, 32) / 6) for _ in range(5)]
    h = x / (x * x).mean() ** 0.5
    keys, values = ad.concat([keys, h @ w[0]]), ad.concat([values, h @ w[1]])
    mixed = ad.softmax((h @ w[2]) @ keys.mT / 6, -1) @ values @ w[3]
    h = x + mixed
    return [keys, values, h + nn.functional.gelu(h @ w[4])]


def sampled(n: int) -> list[ad.Tensor]:
    """The last row of two layers, as it is read of a text that grows."""
    x = ad.tensor(normal(1, n, 32))
    for _ in range(2):
        parts = (x @ ad.tensor(normal(32, 96) / 6)).reshape((1, n, 3, 4, 8))
        q, k, v = [ad.permute_dims(parts[:, :, i], (0, 2, 1, 3)) for i in range(3)]
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + ad.permute_dims(mixed, (0, 2, 1, 3)).reshape((1, n, 32))
        x = x + nn.functional.gelu(x @ ad.tensor(normal(32, 64) / 6)) @ ad.tensor(normal(64, 32) / 8)
    return [x[:, -1] @ ad.tensor(normal(32, 11))]


def ranked(n: int) -> list[ad.Tensor]:
    """What attends to a text, in the order of its last row, which NumPy sorts."""
    x, w = ad.tensor(normal(n, 32)), [ad.tensor(normal(32, 32) / 6) for _ in range(4)]
    scores = (x @ w[0]) @ (x @ w[1]).mT / 6
    y = nn.functional.gelu((ad.softmax(scores, -1) @ (x @ w[2])) @ w[3])
    last = y[-1] - y.mean()
    return [ad.take_along_axis(last, ad.argsort(last), axis=0) * 2, y]


LENGTHS = (24, 31, 25, 55, 1, 2, 7, 8, 9, 16, 17, 32, 33, 48, 64, 65, 127, 128, 256, 41, 47, 53)


@pytest.mark.parametrize("made", [attention, cache, sampled, ranked])
def test_lengths_share_their_plan(made: Callable[[int], list[ad.Tensor]]) -> None:
    held = [check(recorded(made(n))) for n in LENGTHS]
    assert held.count(False) <= 4  # the first, and those whose structure is another: of one token, say
    patterns = [len(one.known) for one in relatives._known]
    assert max(patterns) <= len(LENGTHS) // 2


@pytest.mark.parametrize("made", [cache, sampled, ranked])
def test_lengths_share_their_plan_before_they_have_one(made: Callable[[int], list[ad.Tensor]]) -> None:
    held = [check_kin(made(n)) for n in LENGTHS]
    assert held.count(False) <= 4  # the first, the one of a single token, and those that the tape serves
    (kin,) = [one for one in kindred._known if one is not None and one.known]
    assert not kin.reason and len(kin.known) <= len(LENGTHS) // 2


def test_a_text_that_grows_needs_little_new_code(monkeypatch: pytest.MonkeyPatch) -> None:
    linking.forget()
    monkeypatch.setenv("ADJOINT_CACHE", "")  # what earlier processes have written is written no more
    written: list[Any] = []
    whole = units.write_unit
    monkeypatch.setattr(units, "write_unit", lambda key: written.append(key) or whole(key))
    new = []
    for n in range(2, 130):
        before = len(written)
        check_kin(sampled(n))
        new.append(len(written) - before)
    assert sum(new[64:]) < 64 and 0 in new[32:64]  # most lengths bring nothing new
    single = [key for key in written if key[0] == "product" and key[5][-2:-1] == (1,) and len(key[5]) == 4]
    assert 0 < len(single) < 20  # the row that attends to all before it
    (kin,) = [one for one in kindred._known if one is not None and one.known]
    assert len(kin.known) < 16


def test_what_follows_is_counted_with_what_it_owns_itself() -> None:
    found = [stamped(recorded(sampled(n))[0]) for n in (24, 31, 25, 26)]
    (patterned, *others) = [one for one in found if one is not None]
    assert patterned.patterned and len(others) == 2
    for one in others:
        assert one.stamped and one.nbytes < patterned.nbytes / 4
        assert any([k.code is x.code for k, x in zip(one.followed[1], patterned.followed[1], strict=True)])


def projected(n: int) -> list[ad.Tensor]:
    """What two products of a library are about, as a layer of a network has them."""
    x, w, v = ad.tensor(normal(n, 40)), ad.tensor(normal(96, 40) / 6), ad.tensor(normal(96, 40) / 9)
    for _ in range(3):
        h = x - x.mean(-1, keepdims=True)
        x = x + nn.functional.gelu(h @ w.mT) @ v
    return [x, x.sum(0)]


@pytest.mark.skipif(not onednn.available(), reason=f"oneDNN: {onednn.missing()}")
@pytest.mark.parametrize("in_ranges", [False, True])
@pytest.mark.parametrize("made", [attention, projected])
def test_products_of_a_library_follow(
    made: Callable[[int], list[ad.Tensor]], in_ranges: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matmul_tiles, "available", lambda: False)
    linking.forget()
    cut = {"library": Sizes(1 << 15, 1 << 14, 8)} if in_ranges else {}
    with tuned(**cut):
        programs = [recorded(made(n)) for n in LENGTHS]
        held = [check(program) for program in programs]
        assert held.count(False) <= 5, [one.reason for one in relatives._known]
        found = [(stamped(plan), leaves, numbers) for plan, leaves, numbers in programs]
        alike = [(one, leaves, numbers) for one, leaves, numbers in found if one is not None]
        assert len(alike) > len(LENGTHS) // 2
        assert any([len(one.linked.primitives) > 1 for one, _, _ in alike])
        assert any([one.frames is other.frames for (one, *_), (other, *_) in pairwise(alike)])
        before = [run(*one) for one in alike]  # each takes the frame of the one before, whose primitives are others
        assert [run(*one) for one in alike[::-1]] == before[::-1]
    linking.forget()


# Random programs --------------------------------------------------------------------------------------------------------

Shape = tuple[str, ...]


class Drawn:
    """A random program over the extents a, b and c: which operations it has doesn't depend on what these are."""

    def __init__(self, seed: int, extents: dict[str, int]) -> None:
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.extents = extents
        self.variables: list[ad.Tensor] = []
        self.made: list[tuple[ad.Tensor, Shape]] = []
        for _ in range(self.random.randint(1, 3)):
            self.leaf(tuple(self.random.choices("aabc4", k=self.random.randint(1, 3))))
        for _ in range(self.random.randint(6, 20)):
            x, shape = self.random.choice(self.made[-4:])
            self.step(x, shape)

    def extent(self, name: str) -> int:
        return self.extents[name] if name in self.extents else int(name)

    def leaf(self, shape: Shape) -> ad.Tensor:
        made = ad.variable(self.numbers.normal(size=[self.extent(n) for n in shape]).astype("f4"))
        self.variables.append(made)
        self.made.append((made, shape))
        return made

    def partner(self, shape: Shape) -> ad.Tensor:
        like = [y for y, other in self.made if other == shape]
        kind = self.random.random()
        if kind < 0.4:
            return self.leaf(tuple([n if self.random.random() < 0.5 else "1" for n in shape]))
        return self.random.choice(like)

    def step(self, x: ad.Tensor, shape: Shape) -> None:
        choose = self.random.choice
        kind = self.random.randrange(9)
        axis = self.random.randrange(len(shape)) if shape else 0
        if kind < 2 or not shape:
            y = choose([ad.tanh, ad.exp, abs, nn.functional.gelu, lambda t: t * 0.5 + 1.0])(x * 0.1)
        elif kind == 2:
            y = choose([lambda a, b: a + b, lambda a, b: a * b, ad.maximum])(x, self.partner(shape))
        elif kind == 3:
            y = choose([ad.sum, ad.mean, ad.max])(x, axis=axis, keepdims=True)
            shape = (*shape[:axis], "1", *shape[axis + 1 :])
        elif kind == 4:
            y = ad.softmax(x, axis=axis)
        elif kind == 5 and len(shape) > 1:
            width = choose("abc4")
            y, shape = x @ self.leaf((shape[-1], width)) * 0.1, (*shape[:-1], width)
        elif kind == 6 and len(shape) > 1:
            order = self.random.sample(range(len(shape)), len(shape))
            y, shape = ad.permute_dims(x, tuple(order)), tuple([shape[k] for k in order])
        elif kind == 7:
            y = ad.concat([x, self.partner(shape) + x], axis=axis)
            y = y[(slice(None),) * axis + (slice(0, x.shape[axis]),)]
        else:
            y = ad.flip(x, axis=axis)
        self.made.append((y, shape))

    def values(self) -> list[ad.Tensor]:
        """The last results, and a sum over all."""
        total = sum([ad.sin(y).sum() for y, _ in self.made])
        return [y for y in [*[y for y, _ in self.made[-3:]], total] if y.node.inputs]

    def outputs(self) -> list[ad.Tensor]:
        """The last results, and gradients of a sum over them."""
        found = [y for y, _ in self.made[-3:]]
        total = sum([(y * y).sum() for y in found])
        return [y for y in [*found, *ad.gradients(total, self.variables)] if y is not None and y.node.inputs]


def extents_of(k: int, seed: int) -> dict[str, int]:
    """Extents that all change, of which some lie at the edges of tiles and some are equal."""
    draw = random.Random(1000 * seed + k)
    lengths = [2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 25, 31, 32, 33, 40, 47, 48, 55, 63, 64, 65, 100]
    return {name: draw.choice(lengths) for name in "abc"}


def relatives_agree(seed: int, times: int) -> int:
    """How many of a random program's relatives were stamped."""
    found = sum([check(recorded(Drawn(seed, extents_of(k, seed)).outputs())) for k in range(times)])
    for one in relatives._known:
        assert not one.reason or one.reason.startswith("Unfollowed"), one.reason
    return found


def test_random_programs_are_those_that_would_be_compiled() -> None:
    found = sum([relatives_agree(seed, 6) for seed in range(6)])
    assert found > 20


def kin_agree(seed: int, times: int) -> int:
    """How many graphs of a random program's relatives followed from others'."""
    with ad.no_grad():
        found = sum([check_kin(Drawn(seed, extents_of(k, seed)).values(), seed) for k in range(times)])
    for one in kindred._known:
        assert one is None or not one.reason or one.reason.startswith("Unfollowed"), one.reason
    return found


def test_random_graphs_have_the_plans_that_would_be_built() -> None:
    assert sum([kin_agree(seed, 6) for seed in range(304, 308)]) > 8


@pytest.mark.slow
def test_many_random_graphs() -> None:
    for seed in range(308, 500):
        kin_agree(seed, 8)


@pytest.mark.slow
def test_many_random_programs() -> None:
    for seed in range(6, 200):
        relatives_agree(seed, 8)
