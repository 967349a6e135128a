"""Graphs of very many equal steps are planned as a few of them, and give the bits of the whole."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.derive import expand
from adjoint.execution.replay import Replay
from adjoint.execution.tiers import tiers
from adjoint.graph import Node, topological
from adjoint.machine.machine import NumberMachine
from adjoint.machine.numbers import write_out
from adjoint.machine.repetition import find_loops
from adjoint.machine.stretched import extrapolated
from adjoint.plan import repeated
from adjoint.plan.canonical import begin_walk, canonicalize
from adjoint.plan.listing import NOTHING, Only, listed
from adjoint.plan.matching import Loop
from adjoint.plan.plan import build
from adjoint.primitives.core import ops
from support import some

P = np.array([1.5, 1.0, 1.0, 3.0])


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything compiled when first seen; small graphs are looked at, too."""
    monkeypatch.setattr(repeated, "WORTH", repeated.WORTH._replace(nodes=300))
    before, tiers.backend = tiers.backend, "native"
    yield
    tiers.backend = before


def field(p: Any, y: Any) -> Any:
    return ad.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def orbit(steps: int) -> Callable[[Any], Any]:
    def end(p: Any) -> Any:
        y = ad.tensor((1.0, 1.0), dtype="float64")
        for _ in range(steps):
            a = field(p, y)
            y = y + 0.01 * field(p, y + 0.005 * a)
        return y.sum()

    return end


def results(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, *given: Any) -> tuple[list[Any], list[bool]]:
    """What a compiled function gives for some values, and whether each of its programs was made from shorter graphs."""
    made: list[bool] = []
    plain = Replay.__init__

    def noted(self: Replay, roots: list[Node], leaves: list[Node], rewritten: Any = None) -> None:
        plain(self, roots, leaves, rewritten)
        assert not self.by_loops or isinstance(self.program, NumberMachine)
        made.append(self.by_loops)

    monkeypatch.setattr(Replay, "__init__", noted)
    compiled = ad.jit(f)
    found = []
    for shift in (0.0, 0.125):
        out = compiled(*[ad.tensor(x + shift) for x in given])
        found += [x.numpy().tobytes() for x in ad.tree.flatten(out)[0]]
    monkeypatch.setattr(Replay, "__init__", plain)
    return found, made


def both_ways(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, *given: Any) -> bool:
    """Whether the graph was shortened. The bits are the same as without."""
    found, (shortened,) = results(f, monkeypatch, *given)
    monkeypatch.setattr(repeated, "WORTH", repeated.WORTH._replace(nodes=1 << 60))
    expected, (not_shortened,) = results(f, monkeypatch, *given)
    monkeypatch.setattr(repeated, "WORTH", repeated.WORTH._replace(nodes=300))
    assert found == expected and not not_shortened
    return shortened


@pytest.mark.parametrize("seed", range(10))
def test_nodes_are_listed_inputs_first(seed: int) -> None:
    """With the places of their inputs, and numbers of kinds that are equal where operation, attributes, types and the number of
    inputs are."""
    rng, width = random.Random(seed), 3
    nodes = [ad.tensor(float(k)).node for k in range(3)]
    for k in range(60):
        some = [rng.choice(nodes) for _ in range(rng.choice([1, 1, 2, 2, 2, 3, 4, 5]))]
        if len(some) == 1:
            nodes.append(rng.choice([ops.negative, ops.sin])(some[0]))
        elif len(some) == 2:
            nodes.append(rng.choice([ops.add, ops.multiply])(some[0], rng.choice([some[1], 0.5, float(k)])))
        else:
            nodes.append(ops.sum(ops.concat([ops.reshape(x, (1,)) for x in some], 0), (0,)))
    roots = nodes[-2:]
    begin_walk()
    found = listed(roots, (), Only(1, None, width))
    assert found is not None
    place = {x: i for i, x in enumerate(found.order)}
    assert set(place) == set(topological(roots)) and len(place) == len(found.order)
    kinds: dict[Any, set[int]] = {}
    for i, node in enumerate(found.order):
        inputs = [place[x] for x in node.inputs]
        assert all(k < i for k in inputs)
        assert found.operands[i].tolist() == [*inputs[:width], *[NOTHING] * (width - len(inputs))]
        alone = len(inputs) > width or (not inputs and node.value is not None)
        kind = id(node) if alone else (node.op, node.attributes, node.type, len(inputs))
        kinds.setdefault(kind, set()).add(found.case[i])
    assert all(len(x) == 1 for x in kinds.values()) and len(kinds) == len(set(found.case.tolist())) == len(found.kinds)


def test_a_long_loop_and_its_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    assert both_ways(orbit(120), monkeypatch, P)
    assert both_ways(ad.value_and_grad(orbit(120)), monkeypatch, P)


def test_second_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(p: Any) -> Any:
        return ad.grad(lambda q: (ad.grad(orbit(110))(q) * ad.tensor([1.0, -0.5, 0.25, 2.0])).sum())(p)

    both_ways(twice, monkeypatch, P)


def test_several_loops_and_numbers_of_several_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        a, b, n = x[0], x[1], ad.tensor(0, dtype="int32")
        for _ in range(700):
            a, b, n = ad.where(n < 350, a * 0.9 + b, a), ad.sin(b) + 0.1 * a, n + 1
        c = ad.tensor(1.0, dtype="float64")
        for _ in range(600):
            c = ad.tanh(c + b * 0.5) - a / (1.0 + c * c)
        return c * a + b, n

    assert both_ways(lambda x: f(x), monkeypatch, P)
    both_ways(ad.value_and_grad(lambda x: f(x)[0]), monkeypatch, P)


def random_step(rng: random.Random) -> Callable[[list[Any], Any], list[Any]]:
    """A step on three carries, drawn once."""
    kinds = [rng.randrange(7) for _ in range(rng.randrange(4, 9))]
    picks = [(rng.randrange(3), rng.randrange(3), rng.randrange(3), rng.randrange(4)) for _ in kinds]

    def step(carry: list[Any], x: Any) -> list[Any]:
        new = list(carry)
        for kind, (i, j, k, m) in zip(kinds, picks, strict=True):
            a, b = new[i], carry[j]
            new[k] = [
                lambda a=a, b=b, m=m: a + 0.1 * b * x[m],
                lambda a=a, b=b: ad.sin(a) - b * 0.5,
                lambda a=a, b=b: ad.where(a > b, a * 0.5, b),
                lambda a=a, b=b: ad.stack([a, b, a * b]).sum() * 0.3,
                lambda a=a, b=b: a / (1.0 + b * b),
                lambda a=a, b=b: ad.tanh(a * x[0] + b),
                lambda a=a, b=b, m=m: ad.maximum(a, b) - 0.01 * x[m],
            ][kind]()
        return new

    return step


@pytest.mark.parametrize("seed", some(range(9), 3))
def test_random_loops_in_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, gradients, and loops within loops: the inner one is written out in each step of the outer."""
    rng = random.Random(seed)
    outer, inner, turns, leave = random_step(rng), random_step(rng), rng.randrange(0, 4), rng.randrange(200, 250)

    def total(x: Any) -> Any:
        carry = [x[0] * 1.0, x[1] * 1.0, x[2] * x[3]]
        for t in range(250):
            carry = outer(carry, x)
            for _ in range(turns):
                carry = inner(carry, x)
            if t == leave:
                break
        return carry[0] + carry[1] * carry[2]

    both_ways(ad.value_and_grad(total), monkeypatch, P * 0.3)


def test_what_does_not_repeat_is_planned_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.linspace(0.0, 1.0, 120)

    def reads_data(x: Any) -> Any:
        y, series = x[0], ad.tensor(data)
        for t in range(120):
            y = ad.sin(y + series[t]) * x[1]
        return y

    def gives_all(x: Any) -> Any:
        y, ys = x[0], []
        for _ in range(120):
            y = ad.sin(y) * x[1] + x[2]
            ys.append(y)
        return ad.stack(ys)

    def differs_once(x: Any) -> Any:
        y, middle = x[0], None
        for t in range(700):
            y = ad.sin(y) * x[1] + x[2]
            middle = y if t == 350 else middle
        return y * middle

    for f in (reads_data, gives_all, differs_once):
        assert not both_ways(f, monkeypatch, P)


def test_numbers_that_differ_in_the_sign_of_zero_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        y = x[0]
        for t in range(600):
            y = ad.sin(y) * x[1] + (0.0 if t % 2 else -0.0) + x[2]
        return y

    both_ways(f, monkeypatch, P)


def test_a_program_is_concluded_from_three_shorter_ones() -> None:
    programs = []
    for steps in (30, 31, 32, 60):
        p = ad.variable(P)
        c = canonicalize([orbit(steps)(p).node])
        c.numbers = []
        programs.append(write_out(build(c, [0], False)))
    found = extrapolated(programs[:3], 30)
    assert found is not None
    program, loops = found
    assert np.array_equal(program.case, programs[3].case) and np.array_equal(program.operands, programs[3].operands)
    assert loops == find_loops(programs[3]) and all(isinstance(loop, Loop) for loop in loops)
    assert extrapolated([programs[0], programs[1], programs[3]], 30) is None


def test_planning_does_not_grow_with_the_steps() -> None:
    """The graph that is planned is as large for three times the steps."""
    sizes = []
    for steps in (100, 300):
        p = ad.variable(P)
        end = orbit(steps)(p)
        found = repeated.find_repetition(expand([end.node, ad.gradients(end, [p])[0].node]), [])
        assert found is not None
        shorter = found.shortened(found.times)
        assert shorter is not None
        sizes.append(len(canonicalize(shorter).order))
    assert sizes[0] == sizes[1]


def test_what_was_found_is_explained() -> None:
    compiled = ad.jit(ad.value_and_grad(orbit(140)))
    compiled(ad.tensor(P))
    text = str(ad.execution.explain(compiled))
    assert "139 times" in text or "138 times" in text
    assert "times" in ad.execution.explain(compiled, stage="units")
    assert "times are left out of each loop; steps" in ad.execution.explain(compiled, stage="plan")
