"""Calls that native code knows record what Python records, at the same line, and nothing is known that may be something else."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adjoint as ad
import adjoint.torch as torch
from adjoint.graph import CALLS, NARROW, Calls, Node, Scope
from adjoint.graph.kinds import MOST_KINDS, unknown
from adjoint.graph.node import Located, line_of
from adjoint.primitives.core import LEAF
from adjoint.runtime import calling, entries, llvm, recording
from adjoint.tensors import pending
from adjoint.tensors.composing import scoped
from adjoint.tensors.operators import SURFACE

pytest.importorskip("llvmlite")
F = torch.nn.functional
M, N = [[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.25]]


@pytest.fixture(autouse=True)
def loaded() -> Iterator[None]:
    if llvm.binding() is None or recording._python() is None:
        pytest.skip("native code can't look at objects here")
    assert recording._code(True)
    calling.load(recording.ctypes.addressof(recording._python()), True)
    for calls in CALLS:
        if calls.kinds is not None:
            calls.credit, calls.kinds[0] = 64, 0
        calls.met.clear()
        calls.known.clear()
    narrow = NARROW[:]
    NARROW.clear()  # of tests before: where there are types of 16 bits all is Python's
    yield
    NARROW[:] = narrow


def core() -> tuple[Any, ...]:
    return ad.variable(M), ad.tensor(N), ad.tensor([1, 2]), ad.tensor(3.0)


def torchs() -> tuple[Any, ...]:
    return torch.tensor(M, requires_grad=True), torch.tensor(N), torch.tensor([1, 2]), torch.tensor(3.0)


def added(x: Any, y: Any) -> Any:
    x += y
    return x


OPERATORS: list[Callable[..., Any]] = [
    lambda x, y, i, s: x + y, lambda x, y, i, s: x * x, lambda x, y, i, s: y - x * 0.3, lambda x, y, i, s: 0.5 / x,
    lambda x, y, i, s: x * 2, lambda x, y, i, s: x * 2.0, lambda x, y, i, s: x / y, lambda x, y, i, s: x @ y,
    lambda x, y, i, s: -x, lambda x, y, i, s: abs(y), lambda x, y, i, s: x**3, lambda x, y, i, s: x**-0.5,
    lambda x, y, i, s: x**y, lambda x, y, i, s: x < y, lambda x, y, i, s: i + 1, lambda x, y, i, s: i * x,
    lambda x, y, i, s: i // 2, lambda x, y, i, s: x * s, lambda x, y, i, s: (x + 1.5) * (x + 1.5), lambda x, y, i, s: y * True,
]  # fmt: skip
FUNCTIONS: list[Callable[..., Any]] = [
    lambda x, y, i, s: torch.cat([x, y, x]), lambda x, y, i, s: torch.cat((x, y * 0.5), 1),
    lambda x, y, i, s: torch.stack([s * 2.0, s * s]),
    lambda x, y, i, s: torch.cat([x, y * 0.5], dim=1), lambda x, y, i, s: x.sum(dim=1, keepdim=True) * 1.0,
    lambda x, y, i, s: torch.add(x, y, alpha=2), lambda x, y, i, s: F.smooth_l1_loss(x, y, reduction="sum"),
    lambda x, y, i, s: torch.exp(x), lambda x, y, i, s: x.sum(), lambda x, y, i, s: torch.mean(x, 1),
    lambda x, y, i, s: x.sum((0, 1)), lambda x, y, i, s: torch.mm(x, y), lambda x, y, i, s: x.matmul(y),
    lambda x, y, i, s: torch.add(x, y), lambda x, y, i, s: x.pow(2),
    lambda x, y, i, s: F.softmax(x, 1), lambda x, y, i, s: F.softmax(x, dim=1), lambda x, y, i, s: F.layer_norm(x, (2,)),
    lambda x, y, i, s: F.smooth_l1_loss(x, y), lambda x, y, i, s: F.smooth_l1_loss(x, y, beta=0.5), lambda x, y, i, s: i.sum(),
    lambda x, y, i, s: x.unsqueeze(0) * 2.0, lambda x, y, i, s: y.T @ x.T, lambda x, y, i, s: x.tanh().sum(),
    lambda x, y, i, s: x.data, lambda x, y, i, s: x.unsqueeze(1), lambda x, y, i, s: y.view(4),
    lambda x, y, i, s: x.view(-1).view(1, 4), lambda x, y, i, s: y.reshape(4, 1), lambda x, y, i, s: x.detach(),
    lambda x, y, i, s: x.transpose(0, 1).unsqueeze(-1), lambda x, y, i, s: (x * 1.5).add_(y),
    lambda x, y, i, s: added(x * 1.5, y),
    lambda x, y, i, s: x.t().flatten(), lambda x, y, i, s: x.permute(1, 0),
]  # fmt: skip


def place(site: Any, offset: int) -> Any:
    """Where a node was recorded, in full."""
    if isinstance(site, Scope):
        return site.name, place(site.site, site.offset), place(site.parent, 0), site.user, offset
    if isinstance(site, Located):
        return place(site.scope, 0), place(site.code, offset)
    return site if site is None else (site, line_of(site, offset))


def described(tensor: Any) -> list[Any]:
    """All of a graph."""
    order, found = [tensor.node], [type(tensor)]
    for node in order:
        said = repr(node.attributes) if node.op is not LEAF else ""
        where = place(node.site, node.offset) if node.inputs or node is tensor.node else None
        found.append((node.op, said, node.type, node.tracked, where, node.value is None))
        for x in node.inputs:
            if x not in order:
                order.append(x)
            found.append(order.index(x))
    return found


def by_python(run: Callable[[], Any]) -> Any:
    """What Python records, without native code."""
    kept = [(calls, calls.again) for calls in CALLS]
    for calls in CALLS:
        calls.again = None
    try:
        return run()
    finally:
        for calls, again in kept:
            calls.again = again


def met() -> int:
    """How often native code knew a call."""
    return sum([calls.kinds[1] for calls in CALLS if calls.kinds is not None])


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("within", ["nothing", "scope", "module"])
@pytest.mark.parametrize("number", range(len(OPERATORS) * 2 + len(FUNCTIONS)))
def test_they_record_what_python_records(number: int, within: str, grad: bool) -> None:
    every = [(core, f) for f in OPERATORS] + [(torchs, f) for f in OPERATORS + FUNCTIONS]
    given, f = every[number]

    class Outer(torch.nn.Module):
        def forward(self, *arguments: Any) -> Any:
            return f(*arguments)

    outer = Outer()

    @scoped
    def around() -> Any:
        return f(*given())

    def called() -> Any:
        with torch.set_grad_enabled(grad):
            if within == "module" and given is torchs:
                return outer(*given())
            if within == "scope":
                return around()
            return f(*given())

    expected = described(by_python(called))
    results = []
    for k in range(4):
        results.append(called())
        if k == 1:
            before = met()
    assert [described(result) for result in results] == [expected] * 4
    assert met() > before


def test_a_number_that_is_free_is_any_but_a_literal() -> None:
    x = ad.variable(M)
    for number in (0.5, 0.25, 3.0, 1.0, 0.0, -0.0, float("nan"), float("inf"), 2.0, -1.0):
        y = x * number
        (a, b) = y.node.inputs
        assert a is x.node and repr(b.attributes) == repr(number)


def test_other_kinds_are_not_taken_for_known_ones() -> None:
    """Types, dtypes, whether derivatives are tracked or values are there, classes of numbers, constants: each is another kind."""
    x, y = ad.variable(M), ad.tensor(N)
    for _ in range(4):
        x + y
    assert (y + x).node.inputs == (y.node, x.node)
    assert (x + x).node.inputs == (x.node, x.node)
    assert (x + ad.tensor([1.0, 2.0])).shape == (2, 2) and (x + ad.tensor([1.0, 2.0])).node.inputs[
        1
    ].op.name == "broadcast_to"
    assert (y + ad.tensor(N, dtype="float64")).dtype is ad.float64
    assert not (y + y).requires_grad
    with ad.no_grad():
        assert not (x + y).requires_grad
    i = ad.tensor([1, 2])
    for _ in range(4):
        assert (i * 2).dtype is i.dtype
    assert (i * 2.0).dtype is ad.float32 and (i * True).tolist() == [1, 2]


def test_the_default_dtype_is_part_of_a_kind() -> None:
    i = torch.tensor([1, 2])
    for _ in range(4):
        assert (i / 2).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert [(i / 2).dtype for _ in range(4)] == [torch.float64] * 4
    finally:
        torch.set_default_dtype(torch.float32)
    assert (i / 2).dtype is torch.float32


def test_an_error_is_python_s() -> None:
    x = torch.tensor(M, requires_grad=True)
    for _ in range(4):
        x @ x
    with pytest.raises(RuntimeError, match=r"test_known_calls\.py"):
        x @ torch.tensor([[1.0, 2.0, 3.0]])


def test_what_is_traced_is_pythons() -> None:
    x = ad.variable(M)
    for _ in range(4):
        x * 0.5
    before = met()

    @ad.jit
    def f(y: Any) -> Any:
        return (y * x * 0.5).sum()

    assert f(ad.tensor(N)).item() == pytest.approx(2.75)
    assert met() == before


def test_a_view_that_has_not_seen_its_base_is_pythons() -> None:
    base = torch.tensor(M)
    view = base[0]
    for _ in range(4):
        (view * 0.5).tolist()
    base += 1.0
    assert (view * 0.5).tolist() == [1.0, 1.5]
    base[0, 0] = 8.0
    assert (view * 0.5).tolist() == [4.0, 1.5]
    view[1] = 2.0
    assert (view * 0.5).tolist() == [4.0, 1.0] and (base * 0.5).tolist() == [[4.0, 1.0], [2.0, 2.5]]


def test_views_are_views() -> None:
    """What is written to one that native code made is written to its base, and to all other views."""
    for _ in range(5):
        base = torch.tensor(M)
        base.view(4)  # from now on it is known what views of it have together
        flat, turned, data = base.view(4), base.T, base.data
        flat[1] = 8.0
        turned[0, 1] += 1.0
        data.mul_(2.0)
        assert flat.tolist() == [2.0, 16.0, 8.0, 8.0] and turned.tolist() == [[2.0, 8.0], [16.0, 8.0]]
        assert base.tolist() == [[2.0, 16.0], [8.0, 8.0]] and flat.data_ptr() == base.data_ptr()
        leaf = torch.tensor(M, requires_grad=True)
        leaf.data.sub_(1.0)
        (leaf.view(4) * leaf.t().reshape(4)).sum().backward()
        assert leaf.tolist() == [[0.0, 1.0], [2.0, 3.0]] and leaf.grad is not None
        assert leaf.grad.tolist() == [[0.0, 4.0], [2.0, 6.0]]


def test_what_names_the_very_node_records_nothing() -> None:
    """A leaf isn't recorded at the line that looks at it, and nothing more waits to be computed for a view."""
    for _ in range(5):
        leaf = torch.tensor(M)
        leaf.view(4)  # from now on it is known what views of it have together
        before, waiting = met(), pending.recorded_since[0]
        assert leaf.squeeze().node is leaf.node
        assert leaf.node.site is None and pending.recorded_since[0] == waiting
        whole = torch.tensor([1, 2])
        assert torch.floor(whole).node is whole.node and whole.node.site is None
    assert met() > before


def test_views_of_views_see_what_is_written() -> None:
    """Of a view of a view native code takes the node only if each of them has seen the one below."""
    base = torch.tensor(M)
    base.view(4)
    inner = base.view(1, 4)
    outer = inner.view(2, 2)
    for k in range(5):
        assert (outer * 0.5).tolist() == [[0.5 + k, 1.0], [1.5, 2.0]]
        assert outer.transpose(0, 1)[0, 0].item() == 1.0 + 2 * k
        base[0, 0] += 2.0
    for _ in range(3):
        outer * 0.5
    before = met()
    assert (outer * 0.5).tolist()[0][0] == 5.5 and met() > before
    inner[0, 1] = 4.0
    assert (outer * 0.5).tolist() == [[5.5, 2.0], [1.5, 2.0]]


def test_a_kind_is_learned_once() -> None:
    """Also where it isn't met again: a view that has seen another node."""
    base = torch.tensor(M)
    views = [base.view(4) for _ in range(40)]
    for view in views:
        base[0, 0] += 1.0
        view * 0.5
    assert max([calls.kinds[0] for calls in CALLS if calls.kinds is not None]) <= 2


def test_where_a_view_lies_is_no_part_of_a_kind() -> None:
    """`reshape` of a transposed tensor is a copy, of others a view."""
    for _ in range(5):
        base = torch.tensor(M)
        straight, turned = base.view(2, 2).reshape(4), base.t().reshape(4)
        base[0, 1] = 9.0
        assert straight.tolist() == [1.0, 9.0, 3.0, 4.0] and turned.tolist() == [1.0, 3.0, 2.0, 4.0]


@pytest.mark.parametrize("flat", [lambda x: x.reshape(4), lambda x: x.flatten()])
def test_copies_of_views_are_not_taken_for_views_of_others(flat: Callable[[Any], Any]) -> None:
    """What `reshape` copied of a transposed tensor says nothing of a tensor of its own, which has a view."""
    turned = torch.tensor(M).t()
    assert turned.tolist() == [[1.0, 3.0], [2.0, 4.0]]  # it has its value, as a tensor of its own has
    for _ in range(5):
        assert flat(turned)._base is None
    base = torch.tensor(M)
    flat(base)[1] = 9.0
    assert base.tolist() == [[1.0, 9.0], [3.0, 4.0]]


def test_axes_that_are_turned_in_place_are_pythons() -> None:
    for _ in range(5):
        base = torch.tensor(M)
        before = base.view(4)
        base.t_()
        assert base.tolist() == [[1.0, 3.0], [2.0, 4.0]] and base.unsqueeze(0).tolist() == [[[1.0, 3.0], [2.0, 4.0]]]
        before[1] = 5.0
        assert base.unsqueeze(0).tolist() == [[[1.0, 3.0], [5.0, 4.0]]]


def test_classes_of_the_users_are_pythons() -> None:
    class Own(torch.Tensor):
        __slots__ = ()

        def __add__(self, other: Any) -> Any:
            return "mine"

    x = torch.tensor(M)
    for _ in range(4):
        x + x
    y: Any = torch.tensor(M)
    y.__class__ = Own
    assert y + x == "mine" and type(x + x) is torch.Tensor


def test_nothing_is_held_that_is_gone() -> None:
    x, y = ad.variable(M), ad.tensor(N)
    for _ in range(4):
        x * y + 0.5
    gc.collect()
    watched = [x.node, y.node, x.node.type, x, y, None]
    before = [sys.getrefcount(z) for z in watched]
    for _ in range(1000):
        x * y + 0.5
    after = [sys.getrefcount(z) for z in watched]
    assert after[:2] == before[:2] and after[3:5] == before[3:5] and abs(after[2] - before[2]) < 50


def test_kinds_are_forgotten() -> None:
    """Of many kinds some are known, and the others are still right."""
    calls = next(c for c in CALLS if c.again is not None and c.free and c.surface is SURFACE)
    for n in range(3, 60):
        x = ad.variable([1.0] * n)
        for _ in range(3):
            assert (x + x).shape == (n,)
    assert calls.kinds[0] <= MOST_KINDS and len(calls.kept) <= calling.LAST + MOST_KINDS


def test_what_waits_is_counted() -> None:
    y = ad.tensor(N)
    for _ in range(4):
        y * 0.5
    pending.recorded_since[0] = 0
    y * 0.5
    assert pending.recorded_since[0] == 4 + 1024
    pending.recorded_since[0] = pending.LOOK_AFTER - 1
    y * 0.5
    assert pending.recorded_since[0] <= 0


def test_python_without_such_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "made", lambda *_: None)
    calls = Calls(SURFACE)
    assert calls.again is unknown and calls.again() is None
    x = ad.tensor(M)
    assert calls.learn((x,), x, sys._getframe()) is x and calls.again is None
    CALLS.remove(calls)


def test_a_scope_that_a_function_opens_is_at_the_user_s_line() -> None:
    x, y = torch.tensor(M, requires_grad=True), torch.tensor(N)
    layer = torch.nn.Linear(2, 2)
    for k in range(4):
        loss = F.smooth_l1_loss(layer(x), y)
        line = sys._getframe().f_lineno - 1
        assert (loss.node.origin.line, loss.node.origin.scopes) == (line, ("smooth_l1_loss",)), k
    found: list[Node] = [loss.node]
    for node in found:
        found += [z for z in node.inputs if z not in found]
    assert {z.origin.scopes for z in found if z.op.name == "matmul"} == {("Linear",)}


def test_of_long_lists_nothing_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind has few nodes; what thousands of tensors are would take long to see."""
    seen: list[int] = []
    plain = Calls.arguments
    monkeypatch.setattr(Calls, "arguments", lambda self, given: seen.append(len(given)) or plain(self, given))  # type: ignore[func-returns-value]
    few, many = [torch.tensor([float(k)]) for k in range(3)], [torch.tensor([float(k)]) for k in range(300)]
    for _ in range(3):
        assert torch.stack(few).shape == (3, 1) and torch.stack(many).shape == (300, 1)
    assert seen and max(seen) < 10


def test_an_autocast_is_heard_by_calls_that_are_known() -> None:
    x, layer, norm = torch.tensor(M), torch.nn.Linear(2, 2), torch.nn.LayerNorm(2)
    calls = [
        lambda: x @ x,
        lambda: torch.mm(x, x),
        lambda: F.linear(x, x),
        lambda: layer(x),
        lambda: norm(x),
        lambda: F.mse_loss(x, x),
    ]
    kinds = lambda: [f().dtype.name for f in calls]  # noqa: E731
    for _ in range(5):
        assert kinds() == ["float32"] * 6
    assert sum([len(known.known) for known in CALLS]) >= 4
    with torch.autocast("cpu", torch.float16):
        NARROW[:] = [torch.float16]  # as where it is the first type of 16 bits
        assert kinds() == ["float16"] * 4 + ["float32"] * 2
    assert kinds() == ["float32"] * 6
