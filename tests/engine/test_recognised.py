"""A graph that is recognised has the key of the one that it is recognised by, and the same numbering."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
import random_graphs
from adjoint.execution.remembered import OFTEN, PlanCache
from adjoint.execution.tiers import tiers
from adjoint.graph import Kept, Node, Variable, topological
from adjoint.plan.canonical import Canonical, canonicalize, reference_counts
from adjoint.plan.recognised import Recognizer, recognizer
from adjoint.primitives.core import marker, version
from adjoint.runtime import llvm, recording

evaluation = importlib.import_module("adjoint.execution.evaluate")
A = np.arange(6.0).reshape(2, 3)


@pytest.fixture(autouse=True, params=["native code", "Python"])
def made_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What recognises is native code, or a function of Python's."""
    if request.param == "Python":
        monkeypatch.setattr(recording, "matcher", lambda *_: None)
    elif llvm.binding() is None:
        pytest.skip("there is no LLVM")


def numbered(found: Recognizer, roots: list[Node]) -> Canonical | None:
    """The graph of these roots, if it is recognised."""
    seen = found.look(roots)
    return None if seen is None else found.entered(seen)


def test_native_code_is_there() -> None:
    """It recognises all graphs but those with integers that may be any."""
    x = ad.tensor(A)
    found = [recognizer(canonicalize([y.node])) for y in (x * 3.0, ad.tensor([1, 2]) * 3)]
    native = [match is not None and type(match.match).__name__ == "builtin_function_or_method" for match in found]
    assert native[0] == (recording.matcher.__name__ == "matcher") and not native[1]


def test_long_graphs_are_recognised_by_native_code_alone() -> None:
    def graph() -> Canonical:
        x = ad.variable(A)
        for _ in range(2500):
            x = x * 0.5 + x
        return canonicalize([x.node])

    found = recognizer(graph())
    assert (found is not None) == (recording.matcher.__name__ == "matcher")
    if found is not None:
        expected = graph()
        again = numbered(found, expected.order[: expected.roots])
        assert again is not None
        assert again.order == expected.order and again.leaves == expected.leaves
    assert recognizer(graph(), native=False) is None


def test_what_attributes_raise_when_they_are_compared() -> None:
    """Those that can't be compared are others; what else is raised goes on."""

    class Odd:
        def __init__(self, error: type[Exception] | None) -> None:
            self.error = error

        def __eq__(self, other: object) -> bool:
            if self.error is not None:
                raise self.error("not comparable")
            return True

        def __hash__(self) -> int:
            return 1

    def made(error: type[Exception] | None) -> Node:
        node = ad.sin(ad.tensor(A)).node
        node.attributes = Odd(error)
        return node

    found = recognizer(canonicalize([made(None)]))
    assert found is not None and found.look([made(None)])
    assert not found.look([made(ValueError)])
    with pytest.raises(KeyError):
        found.look([made(KeyError)])


def test_a_recogniser_leaks_nothing() -> None:
    x, y = ad.variable(A), ad.tensor(A + 1.0)
    loss = ad.sum(ad.tanh(x * y) * 3.5 + ad.reshape(y, (3, 2))[0, 1])
    loss.backward()
    found = recognizer(canonicalize([loss.node]))
    other = ad.sum(ad.tanh(x * y) * 2.0)
    assert found is not None
    nodes = topological([loss.node, other.node])
    before = reference_counts([*nodes, *[z.type for z in nodes], None])  # type: ignore[list-item]
    for _ in range(1000):
        assert numbered(found, [loss.node]) and not found.look([other.node])
        found.credit = 16
    after = reference_counts([*nodes, *[z.type for z in nodes], None])  # type: ignore[list-item]
    assert (
        all(abs(a - b) < 100 for a, b in zip(before, after, strict=True))
        and before[: len(nodes)] == after[: len(nodes)]
    )


def described(c: Canonical) -> Any:
    return (
        [id(x) for x in c.order],
        [id(x) for x in c.leaves],
        [(type(value), value, id(x)) for value, x in c.numbers],
        [id(x) for x in c.pullbacks],
        [x.number for x in c.order],
        (c.entries, c.edges, c.roots, c.structural),
        reference_counts(c.order),
    )


def roots_of(tensors: list[ad.Tensor]) -> list[Node]:
    return [t.node for t in tensors if t.node.value is None]


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_recorded_anew(seed: int) -> None:
    first, again, other = random_graphs.drawn(seed), random_graphs.drawn(seed), random_graphs.drawn(seed + 1000)
    found = recognizer(canonicalize(roots_of(first)))
    assert found is not None
    c = numbered(found, roots_of(again))
    assert c is not None
    c.note_numbers()
    named = described(c)
    del c
    expected = described(canonicalize(roots_of(again)))
    assert named == expected
    if evaluation.key_of(canonicalize(roots_of(other))) != evaluation.key_of(canonicalize(roots_of(first))):
        assert not found.look(roots_of(other))


def leaf(tracked: bool = False, dtype: str = "float64", shape: tuple[int, ...] = (2, 3)) -> ad.Tensor:
    return ad.tensor(A.astype(dtype).reshape(shape), requires_grad=tracked)


def pending() -> ad.Tensor:
    return ad.sin(leaf())


def held() -> ad.Tensor:
    x = pending()
    x.numpy()
    return x


def of_pullback(again: bool) -> Callable[[], ad.Tensor]:
    def make() -> ad.Tensor:
        x = leaf(True)
        y = ad.exp(x)
        if again:
            y.numpy()
        ad.sum(y * y).backward()
        assert x.grad is not None
        return x.grad

    return make


def next_value(tracked: bool) -> ad.Tensor:
    x = leaf(True)
    source = leaf() * 3.0
    x.node = version(source.node, x.node.attributes)
    return x if tracked else x.detach()


def beside_frozen(computed: bool) -> Callable[[], ad.Tensor]:
    """The gradient by one factor, where the other one is tracked and no derivative by it is asked."""

    def make() -> ad.Tensor:
        v, x = leaf(True), leaf(True)
        other = ad.exp(v) if computed else v
        other.numpy() if not computed else ad.evaluate(other)
        v.node.attributes.tracked = False
        ad.sum(other * x).backward()
        assert x.grad is not None
        return x.grad

    return make


def untracked_sine() -> ad.Tensor:
    with ad.no_grad():
        return ad.sin(leaf(True))


def by_constant(computed: bool) -> Callable[[], ad.Tensor]:
    def make() -> ad.Tensor:
        c = ad.full((2, 3), 3.5, dtype="float64")
        if computed:
            ad.evaluate(c)
        return leaf() * c

    return make


def marked(variable: bool) -> Callable[[], ad.Tensor]:
    def make() -> ad.Tensor:
        x = ad.sin(leaf())
        x.node = marker(x.node, Variable("x", tracked=False) if variable else None)
        return x * 2.0

    return make


def two(f: Callable[[ad.Tensor, ad.Tensor], ad.Tensor]) -> Callable[[], ad.Tensor]:
    return lambda: f(leaf(), leaf())


def one(f: Callable[[ad.Tensor], ad.Tensor], **kind: Any) -> Callable[[], ad.Tensor]:
    return lambda: f(leaf(**kind))


ALIKE: list[Callable[[], ad.Tensor]] = [
    two(lambda x, y: x * y), two(lambda x, y: x * x), two(lambda x, y: x * x + y), two(lambda x, y: x * y + x),
    two(lambda x, y: x * y + y), two(lambda x, y: x + y * y), two(lambda x, y: x - y), two(lambda x, y: (x - y) * (x - y)),
    two(lambda x, y: ad.square(x - y)), two(lambda x, y: ad.concat([x, y])), two(lambda x, y: ad.concat([x, y, x])),
    two(lambda x, y: ad.concat([x, y], axis=1)), two(lambda x, y: ad.stack([x, y])),
    one(lambda x: x * 3.0), one(lambda x: x * 1.0), one(lambda x: x * 2.0), one(lambda x: x * 0.0), one(lambda x: x * -0.0),
    one(lambda x: x * -1.0), one(lambda x: 3.0 * x), one(lambda x: x * np.nan), one(lambda x: x**3), one(lambda x: x**2.5),
    one(lambda x: x * 3.0, tracked=True), one(lambda x: x * 3.0, dtype="float32"), one(lambda x: x * 3.0, shape=(3, 2)),
    one(lambda x: x * 3, dtype="int64"), one(lambda x: x * 2, dtype="int64"), one(lambda x: x * 1, dtype="int64"),
    one(lambda x: ad.sum(x)), one(lambda x: ad.sum(x, axis=0)), one(lambda x: ad.sum(x, axis=1)), one(lambda x: x[0]),
    one(lambda x: x[1]), one(lambda x: ad.permute_dims(x, (1, 0))), one(lambda x: ad.reshape(x, (3, 2))),
    untracked_sine, by_constant(False), by_constant(True),
    marked(False), marked(True), one(ad.sin), one(ad.sin, tracked=True), one(ad.sin, dtype="float32"), one(ad.sin, shape=(3, 2)),
    beside_frozen(False),
    beside_frozen(True), lambda: pending() * 2.0, lambda: held() * 2.0, lambda: leaf() * 2.0, lambda: next_value(True) * 2.0,
    lambda: next_value(False) * 2.0, of_pullback(False), of_pullback(True), lambda: ad.cumulative_sum(leaf()[0]),
    lambda: ad.cond(ad.sum(leaf()) > 0, lambda x: x * 2.0, lambda x: x * 5.0, leaf()),
    lambda: ad.fori_loop(0, 3, lambda i, x: x * 2.0, leaf()), lambda: ad.random.normal((2, 3)) * 2.0,
]  # fmt: skip


def test_what_differs_is_not_recognised() -> None:
    """Of all pairs of small graphs, those are recognised whose keys are equal."""
    count = written = 0
    for first in ALIKE:
        found = recognizer(canonicalize([first().node]))
        if found is None:
            continue
        written += 1
        for other in ALIKE:
            t, u = first(), other()
            same = evaluation.key_of(canonicalize([t.node])) == evaluation.key_of(canonicalize([u.node]))
            recognised = found.look([u.node]) is not None
            assert recognised <= same, (ALIKE.index(first), ALIKE.index(other))
            if first is other and same:
                assert recognised, ALIKE.index(first)
                count += 1
    assert count >= written - 2 and written >= len(ALIKE) - 3


def steps(count: int) -> list[tuple[float, bool]]:
    """Steps of training, in which what is held and what is asked for now and then is another."""
    found: list[tuple[float, bool]] = []
    w = ad.variable(np.linspace(-1, 1, 6), dtype="float64")
    kept = []
    for k in range(count):
        x = ad.tensor(np.sin(np.arange(12.0) + k).reshape(2, 6))
        y = x * w + (2.0 if k % 50 == 49 else 0.5 + k)
        if k % 7 == 6:
            kept.append(y)  # somebody holds it: it gets a value with the loss
        loss = ad.sum(ad.tanh(y) * (y if k % 11 == 10 else x))
        found.append((loss.item(), y.node.value is not None))
        loss.backward()
        assert w.grad is not None
        w.data -= 0.01 * w.grad
        w.grad = None
        found.append((float(w.data.sum()), False))
    assert all(np.isfinite(t.numpy()).all() for t in kept)
    return found


def test_training_goes_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 8 * OFTEN
    monkeypatch.setattr(tiers, "deterministic", True)  # else the clock decides which program runs
    recognised = steps(count)
    often = evaluation._cache.often
    assert any(graph.recognizer is not None and graph.met > OFTEN for graphs in often.values() for _, graph in graphs)
    monkeypatch.setattr(evaluation._cache.__class__, "recognised", lambda self, c, *_: None)
    assert recognised == steps(count)


def test_what_is_forgotten_is_not_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PlanCache(200_000)
    monkeypatch.setattr(evaluation, "_cache", cache)
    monkeypatch.setattr(tiers, "backend", "numpy")
    recognised: set[Any] = set()
    for length in (10, 3000, 4000, 5000):
        for k in range(2 * OFTEN):
            x = ad.tensor(np.linspace(0, 1, length) + k)
            np.testing.assert_allclose(ad.sum(ad.sin(x) * 2.5).item(), (np.sin(x.numpy()) * 2.5).sum(), 1e-10, 1e-9)
        held = [(key, graph) for found in cache.often.values() for key, graph in found]
        assert held and all(cache.graphs[key] is graph for key, graph in held)
        recognised |= {key for key, _ in held}
    assert len(recognised) == 4 > len(held)


@pytest.mark.parametrize("seed", range(20))
def test_whether_nodes_are_held_as_before(seed: int) -> None:
    """Native code says of reference counts what Python says; and it gives the arrays of the leaves."""
    tensors = random_graphs.drawn(seed)
    roots = roots_of(tensors)
    found = recognizer(canonicalize(roots))
    assert found is not None
    if found.counts is None:  # a function of Python's
        return
    c = numbered(found, roots)
    assert c is not None and c.unchanged is False  # nobody has counted
    counts = reference_counts(c.order)
    del c
    found.note((counts, None))
    for k in range(len(counts)):
        c = numbered(found, roots)
        assert c is not None and c.unchanged is True and reference_counts(c.order) == counts
        assert c.arrays is None or all([x is y.value for x, y in zip(c.arrays, c.leaves, strict=True)])
        more = c.order[k]
        del c
        c = numbered(found, roots)
        assert c is not None and c.unchanged is False
        del c, more
    found.note((None, None))
    c = numbered(found, roots)
    assert c is not None and c.unchanged is False


def after(tensors: list[ad.Tensor]) -> Any:
    """The nodes of tensors once these have values."""
    roots = roots_of(tensors)
    nodes = topological(roots)
    evaluation.evaluate(roots)
    kinds = [type(x.value).__name__ for x in nodes]
    arrays = [x.value.array if type(x.value) is Kept else x.value for x in nodes]
    several = [x if type(x) is tuple else () if x is None else (x,) for x in arrays]
    return kinds, [[x.tobytes() for x in some] for some in several], [len(x.inputs) for x in nodes]


NATIVELY = (
    2,
    3,
    6,
    7,
    8,
)  # seeds of graphs without constants that are cut off and watched, or results of several arrays


@pytest.mark.parametrize("seed", range(12))
def test_results_are_put_where_python_puts_them(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "_cache", PlanCache(1 << 28))
    monkeypatch.setattr(tiers, "deterministic", True)
    monkeypatch.setattr(tiers, "backend", "auto")
    evaluation.WATCHED.clear()  # of tests before
    again, found = evaluation._again, list[Any]()
    monkeypatch.setattr(evaluation, "_again", lambda *met: found.append(again(*met)) or found[-1])
    natively = [after(random_graphs.drawn(seed)) for _ in range(2 * OFTEN)]
    monkeypatch.setattr(evaluation, "_again", lambda *_: None)
    by_python = [after(random_graphs.drawn(seed)) for _ in range(3)]
    assert all([x == natively[0] for x in natively + by_python])
    assert seed not in NATIVELY or any(found) == (recording.matcher.__name__ == "matcher")


def trained(gradients: int) -> list[Any]:
    """What a loss and its leaves are after some reverse passes through it, each with values asked for."""
    w, x = ad.variable(A), ad.tensor(A + 1.0)
    hidden = ad.tanh(w * x)
    loss = ad.sum(ad.exp(hidden))
    found: list[Any] = [loss.item()]
    for _ in range(gradients):
        w.grad = None
        loss.backward()
        assert w.grad is not None
        found += [w.grad.numpy().tolist(), type(hidden.node.value).__name__]
    return found


def test_what_was_kept_for_a_reverse_pass_goes_with_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "deterministic", True)
    natively = [trained(2) for _ in range(2 * OFTEN)]
    monkeypatch.setattr(evaluation, "_again", lambda *_: None)
    assert all([x == trained(2) for x in natively])


def test_errors_name_the_line_of_a_graph_that_was_met_often() -> None:
    """What fails is found, nothing has got a value, and the next one is right."""
    for k in range(3 * OFTEN):
        bad = k % 7 == 6 and k > OFTEN
        index, x = ad.tensor([4 if bad else 0]) + 1, ad.tensor(A[0] + k)
        y = x[index] * 2.0
        if bad:
            with pytest.raises(IndexError, match=r"test_recognised.py:\d+"):
                y.numpy()
            assert y.node.value is None
        else:
            assert y.numpy().tolist() == [2.0 * (1.0 + k)]


def held_or_not(held: bool) -> tuple[ad.Tensor, Any]:
    """A pending loss, and what it is made of if somebody is to hold that."""
    x = ad.tensor(A)
    hidden = ad.tanh(x * 0.37)
    return ad.sum(hidden * x), hidden if held else None


def test_an_evaluation_in_between_leaves_the_plan_that_was_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler may evaluate the same structure, of which it holds something else: the last plan is another one then."""
    cache = PlanCache(1 << 28)
    monkeypatch.setattr(evaluation, "_cache", cache)
    monkeypatch.setattr(tiers, "deterministic", True)
    evaluation.WATCHED.clear()
    expected = held_or_not(True)[0].item()
    for _ in range(2 * OFTEN):
        loss, hidden = held_or_not(True)
        assert loss.item() == expected and hidden.node.value is not None
    recognised, came = cache.recognised, list[float]()

    def interrupted(*asked: Any) -> Any:
        found = recognised(*asked)
        monkeypatch.setattr(PlanCache, "recognised", lambda self, *asked: recognised(*asked))
        came.append(held_or_not(False)[0].item())
        return found

    loss, hidden = held_or_not(True)
    monkeypatch.setattr(PlanCache, "recognised", lambda self, *asked: interrupted(*asked))
    assert loss.item() == expected and came == [expected]
    assert hidden.node.value is not None and np.allclose(hidden.node.value, np.tanh(A * 0.37))


def test_a_function_of_python_s_has_found_what_native_code_looks_for_next() -> None:
    """Native code may be there once LLVM was loaded for something else."""
    first, again = held_or_not(False)[0], held_or_not(False)[0]
    found = recognizer(canonicalize([first.node]), native=False)
    assert found is not None
    seen = found.look([again.node])
    found.improve()
    c = found.entered(seen)
    assert c.arrays is None and c.unchanged is None and len(c.leaves) == 1


def test_what_is_cut_from_a_graph_that_was_met_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """New values of parameters are cut from the steps that made them; with these they are recognised, too."""
    torch = pytest.importorskip("adjoint.torch")
    rng = np.random.default_rng(0)
    data = [rng.normal(size=s) for s in ((8, 5), (5, 4), (4,))]
    x, w, b = [torch.tensor(a) for a in data]
    w.requires_grad = b.requires_grad = True
    walks = list[int]()
    original = evaluation.canonicalize
    monkeypatch.setattr(evaluation, "canonicalize", lambda *a, **k: walks.append(1) or original(*a, **k))
    steps, rate, losses = 3 * OFTEN, 0.01, list[float]()
    for k in range(steps):
        if k == steps - OFTEN // 2:
            walks.clear()
        loss = ((x @ w + b).tanh() ** 2).mean()
        w.grad = b.grad = None
        loss.backward()
        for p in (w, b):
            p.data += -rate * p.grad
        losses.append(loss.log10().item())
    assert not walks
    _, v, c = data
    for _ in range(steps):
        t = np.tanh(data[0] @ v + c)
        expected = np.log10((t**2).mean())
        g = 2 * t * (1 - t**2) / t.size
        v, c = v - rate * data[0].T @ g, c - rate * g.sum(0)
    np.testing.assert_allclose(losses[-1], expected, 1e-12)
    np.testing.assert_allclose(w.detach().numpy(), v, 1e-12)
    np.testing.assert_allclose(b.detach().numpy(), c, 1e-12)


def test_what_is_cut_from_another_graph_is_not_computed_with_one_that_was_met_often() -> None:
    w = ad.variable(A)

    def step() -> tuple[ad.Tensor, ad.Tensor]:
        y = ad.exp(w * 0.5)
        return y, ad.stop_gradient(y)

    for _ in range(3 * OFTEN):
        y, cut = step()
        y.numpy()
        assert cut.node.value is not None
    other = ad.stop_gradient(ad.sin(w * 0.25))  # watched, and of no graph that is asked for
    y, cut = step()
    np.testing.assert_array_equal(y.numpy(), cut.numpy())
    np.testing.assert_allclose(other.numpy(), np.sin(A * 0.25), 1e-15)


def test_what_a_trace_left_behind_is_no_part_of_what_is_settled() -> None:
    kept: list[ad.Tensor] = []
    ad.vmap(lambda x: kept.append(x * 2) or x + 1)(ad.tensor(A))
    kept[0] += 1.0  # it is updated in place, and has no value
    w, total = ad.variable(A), ad.zeros(A.shape, dtype="float64")
    for _ in range(5):
        total += w.detach() * 2
        w.data -= 0.1 * w
    np.testing.assert_allclose(w.numpy(), A * 0.9**5, 1e-12)
    np.testing.assert_allclose(total.numpy(), 2 * A * sum(0.9**k for k in range(5)), 1e-12)


def test_a_graph_that_is_recognised_may_have_been_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans that take much memory drive others out of the cache; those go on being recognised for a while."""
    cache = PlanCache(1 << 28)
    monkeypatch.setattr(evaluation, "_cache", cache)
    expected = [held_or_not(False)[0].item() for _ in range(2 * OFTEN)]
    assert any(graph.recognizer is not None for graph in cache.graphs.values())
    cache.graphs.clear()
    assert [held_or_not(False)[0].item() for _ in range(2 * OFTEN)] == expected and len(cache.graphs) == 1
