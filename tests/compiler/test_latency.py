"""The order of an innermost loop's statements: chains side by side, and nothing before what it depends on."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops import latency, vector_math
from adjoint.compiler.loops.build import Emitter
from adjoint.compiler.loops.latency import SHORTEST, longest_first
from loop_check import check
from loop_interpreter import Pointer, Run


def written(*, count: int) -> tuple[Emitter, list[str]]:
    """A loop over the exponentials of so many arrays, one after the other, and the names of these."""
    e, found = Emitter(4), []
    with e.loop("0", "%n", 4) as i:
        values = [vector_math.exp(e, e.load(f"%x{k}", i, "float32", 1)) for k in range(count)]
        for k, value in enumerate(values):
            found.append(value.name)
            e.store(value, f"%y{k}", i)
    return e, found


def test_chains_go_side_by_side() -> None:
    e, values = written(count=3)
    (loop,) = e.body
    before = [getattr(s, "to", "") for s in loop.body]
    after = [getattr(s, "to", "") for s in longest_first(loop.body)]
    assert sorted(map(str, longest_first(loop.body))) == sorted(map(str, loop.body))
    apart = [before.index(value) for value in values]
    together = [after.index(value) for value in values]
    assert apart[1] - apart[0] > SHORTEST // 2 and together[2] - together[0] < 12


def test_results_are_those_of_the_order_before() -> None:
    e, _ = written(count=3)
    parameters = (*[("ptr", f"%{name}{k}") for k in range(3) for name in "xy"], ("i64", "%n"))
    x = np.linspace(-90, 90, 8).astype("f4")
    results = []
    for ordered in (False, True):
        (loop,) = e.body
        body = longest_first(loop.body) if ordered else loop.body
        function = L.Function("exps", parameters, (loop._replace(body=tuple(body)),), False)
        check([function])
        outs = [np.zeros(8, "f4") for _ in range(3)]
        pointers = [Pointer(a.view("u1"), 0) for k in range(3) for a in ((x * (k + 1)).astype("f4"), outs[k])]
        Run({}, {}).call(function, [*pointers, 8])
        results.append(np.stack(outs))
    np.testing.assert_array_equal(results[0], results[1])
    assert results[0].any()


def test_loads_stores_and_variables_keep_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latency, "SHORTEST", 0)
    e = Emitter(4)
    total = e.variable(e.constant(0.0, "float32"))
    first = e.load("%x", "0", "float32", 1)
    e.store(vector_math.exp(e, first), "%x", "0")
    again = e.load("%x", "0", "float32", 1)
    e.store(again, "%x", "4")
    for value in (vector_math.exp(e, again), first):
        e.set(total, e.add(e.get(total, "float32"), value))
    e.call("@other", ())
    late = e.load("%x", "8", "float32", 1)
    ordered = longest_first(e.body)
    moves = [s for s in e.body if isinstance(s, L.Load | L.Store | L.Get | L.Set | L.Call)]
    kinds = [[s for s in moves if isinstance(s, kind)] for kind in (L.Load | L.Store, L.Get | L.Set)]
    for kept in kinds:
        assert [s for s in ordered if s in kept] == kept
    assert ordered[-1].to == late.name and isinstance(ordered[-2], L.Call)


def test_loops_of_programs_are_in_that_order() -> None:
    x = ad.variable(np.ones((8, 64), "f4"))
    text = str(ad.execution.explain(ad.sigmoid(x) * ad.tanh(x + 1), stage="loops"))
    body = text[text.index("for ") :].splitlines()
    quotients = [k for k, line in enumerate(body) if " / " in line]
    assert len(quotients) == 2 and quotients[1] - quotients[0] < 8
