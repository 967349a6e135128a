"""What short steps do without: looks at plain arguments, the clock, the collector, modules for what is rare."""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
import adjoint.torch as torch
from adjoint import nn
from adjoint.execution.numpy_programs import Bound
from adjoint.execution.tiers import tiers
from adjoint.plan.executable import Executable
from adjoint.primitives import ops
from adjoint.runtime.blas import SingleThreaded
from adjoint.tensors.named import wrap

evaluation: Any = importlib.import_module("adjoint.execution.evaluate")


# Calls that are as simple as most ----------------------------------------------------------------------------------------


def here() -> int:
    return sys._getframe(1).f_lineno


def test_calls_that_are_simple_are_recorded_where_they_stand() -> None:
    a, b = torch.randn(3, 2, requires_grad=True), torch.randn(2, 4)
    found = [(torch.mm(a, b), here()), (a.mm(b), here()), (torch.cat([a, a], 1), here()), (a.unsqueeze(0), here())]
    for x, line in found:
        assert x.node.origin.file == __file__ and x.node.origin.line == line
        assert type(x) is torch.Tensor or x.__class__.__name__ == "Tensor"
        assert x.requires_grad


class Doubling(torch.nn.Module):
    def forward(self, a: Any, b: Any) -> Any:
        return torch.mm(a, b), torch.cat((a, a))


def test_they_belong_to_the_module_that_calls_them() -> None:
    a = torch.ones(2, 2, requires_grad=True)
    for x in Doubling()(a, a):
        assert x.node.origin.scopes[:1] == ("Doubling",) and x.node.origin.file == __file__


def test_products_of_matrices_that_are_not_simple() -> None:
    whole = torch.tensor([[1, 2], [3, 4]])
    assert torch.mm(whole, whole).tolist() == [[7, 10], [15, 22]]
    half = torch.ones(2, 2, dtype=torch.bfloat16)
    assert torch.mm(half, half).dtype is torch.bfloat16
    assert torch.mm(input=half, mat2=half).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    for wrong in (torch.ones(3, 2), torch.ones(2)):
        with pytest.raises(RuntimeError, match=r"mm|matmul"):
            torch.mm(half.float(), wrong)
    with pytest.raises(TypeError, match="expected a tensor"):
        torch.mm([[1.0]], half)
    with pytest.raises(TypeError):
        torch.mm(half)


def test_tensors_that_are_joined_and_not_alike() -> None:
    a, b = torch.ones(2, 1), torch.zeros(2, 2)
    assert torch.cat([a, b], 1).tolist() == [[1.0, 0.0, 0.0]] * 2
    assert torch.cat((a, a), -1).shape == (2, 2) and torch.cat((a,)).shape == (2, 1)
    assert torch.cat([a, torch.ones(2, 1, dtype=torch.float64)]).dtype is torch.float64
    assert torch.cat([torch.ones(0), torch.ones(0)]).shape == (0,) and torch.cat([torch.ones(0), a]).shape == (2, 1)
    joined, out = torch.cat([a, a], dim=1), torch.zeros(2, 2)
    assert torch.cat([a, a], 1, out=out) is out and torch.equal(out, joined)
    with pytest.raises(IndexError, match="out of range"):
        torch.cat([a, a], 2)
    with pytest.raises(RuntimeError, match="without axes"):
        torch.cat([torch.tensor(1.0), torch.tensor(2.0)])
    with pytest.raises(TypeError, match="a list"):
        torch.cat(a)
    with pytest.raises(RuntimeError, match="empty"):
        torch.cat([])


@pytest.mark.parametrize("draw", [torch.randn, torch.rand])
def test_draws_are_the_same_however_they_are_asked_for(draw: Any) -> None:
    torch.manual_seed(3)
    first = [draw(3, 2), draw(4)]
    torch.manual_seed(3)
    again = [draw((3, 2)), draw(size=(4,), generator=torch.default_generator)]
    assert all(torch.equal(x, y) for x, y in zip(first, again, strict=True))
    assert draw(0).shape == (0,) and draw(2, requires_grad=True).requires_grad
    for shape in ((-1,), (2, -1), (-3, -2)):
        with pytest.raises(RuntimeError, match="negative size"):
            draw(*shape)
    with pytest.raises(TypeError, match="ints"):
        draw(2.5)


def test_a_default_dtype_is_asked_at_each_draw() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.randn(2).dtype is torch.float64 and torch.rand(2).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.randn(2).dtype is torch.float32


# Parameters without their names ------------------------------------------------------------------------------------------


def named(module: Any) -> list[Any]:
    return [x for _, x in module.named_parameters()]


def same(found: Any, wanted: Any) -> bool:
    return [id(x) for x in found] == [id(x) for x in wanted]


@pytest.mark.parametrize("lib", [nn, torch.nn], ids=["core", "torch"])
def test_parameters_are_those_that_have_names(lib: Any) -> None:
    shared = lib.Linear(2, 2)
    net = lib.Sequential(shared, lib.Linear(2, 2, bias=False), lib.Sequential(lib.BatchNorm1d(2), shared), lib.ReLU())
    assert same(net.parameters(), named(net)) and len(named(net)) == 5
    assert same(net.parameters(recurse=False), [])
    shared.bias = None
    assert same(net.parameters(), named(net)) and len(named(net)) == 4
    lib.utils.parametrize.register_parametrization(net[1], "weight", lib.ReLU())
    assert same(net.parameters(), named(net))
    assert next(net.parameters()) is shared.weight


def test_classes_with_names_of_their_own_are_asked() -> None:
    class Chosen(torch.nn.Linear):
        def named_parameters(self, *args: Any, **keywords: Any) -> Iterator[Any]:
            yield "chosen", self.bias

    class Hidden(torch.nn.Sequential):
        def named_modules(self, *args: Any, **keywords: Any) -> Iterator[Any]:
            yield "", self

    chosen = Chosen(2, 2)
    assert same(chosen.parameters(), [chosen.bias])
    assert same(Hidden(torch.nn.Linear(2, 2)).parameters(), [])
    outer = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ModuleList([chosen]))
    assert same(outer.parameters(), named(outer))


def test_a_traced_function_notes_which_parameters_it_reads() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))

    @ad.jit
    def total() -> Any:
        return sum([(p * p).sum() for p in net.parameters()], start=torch.zeros(()))

    before = total().item()
    net.add_module("more", torch.nn.Linear(2, 2))
    assert total().item() > before


# Formulas ------------------------------------------------------------------------------------------------------------------


def test_a_limit_of_one_is_no_factor() -> None:
    x, y = ad.variable(np.linspace(-3, 3, 13)), ad.tensor(np.zeros(13))
    plain, limited = nn.functional.smooth_l1_loss(x, y), nn.functional.smooth_l1_loss(x, y, beta=1.0 + 1e-15)
    assert plain.item() == pytest.approx(limited.item(), rel=1e-13)
    d = np.linspace(-3, 3, 13)
    assert plain.item() == np.mean(np.where(np.abs(d) < 1, d * d * 0.5, np.abs(d) - 0.5))
    (gradient,) = ad.gradients(plain, [x])
    np.testing.assert_array_equal(gradient.numpy(), np.clip(d, -1, 1) / 13)
    for beta, expected in (
        (0.5, lambda z: np.where(z < 0.5, z * z, z - 0.25)),
        (2.0, lambda z: np.where(z < 2, z * z / 4, z - 1)),
    ):
        np.testing.assert_allclose(
            nn.functional.smooth_l1_loss(x, y, "none", beta).numpy(), expected(np.abs(d)), rtol=1e-15
        )
        np.testing.assert_allclose(
            nn.functional.huber_loss(x, y, "none", beta).numpy(), beta * expected(np.abs(d)), rtol=1e-15
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fourth_powers_are_squares_of_squares_everywhere(dtype: str) -> None:
    values = np.array([0.0, -0.0, 1.5, -2.25, 1e-12, 1e12, np.inf, -np.inf, np.nan, 0.1], dtype)
    with np.errstate(all="ignore"):
        expected = np.square(np.square(values))
    x = ad.tensor(values)
    before, found = tiers.backend, []
    try:
        for backend in ("numpy", "auto", "native"):
            tiers.backend = backend
            found.append((x**4).numpy())
    finally:
        tiers.backend = before
    for value in found:
        np.testing.assert_array_equal(value, expected)


# Runs of plans -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def automatic() -> Iterator[None]:
    before, tiers.backend = tiers.backend, "auto"
    yield
    tiers.backend = before


@pytest.mark.usefixtures("automatic")
@pytest.mark.parametrize("each", [1e-5, 2e-3])
def test_a_part_of_the_runs_stands_for_all(each: float, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, plans = [0.0, 0], []

    def thread_time() -> float:
        clock[1] += 1
        return clock[0]

    original = Bound.compute

    def compute(self: Bound, *rest: Any) -> Any:
        clock[0] += each
        return original(self, *rest)

    run = evaluation.run
    monkeypatch.setattr(evaluation, "thread_time", thread_time)
    monkeypatch.setattr(Bound, "compute", compute)
    monkeypatch.setattr(evaluation, "run", lambda plan, *rest: plans.append(plan) or run(plan, *rest))
    monkeypatch.setattr(Executable, "price", property(lambda _: 1e9, lambda _, value: None), raising=False)
    x = ad.variable(np.ones(3 if each < evaluation.SHORT_RUN else 5))  # a plan of its own
    for _ in range(102):
        (ad.sin(x) * 3.0 + x).sum().item()
    (plan,) = set(plans)
    runs = len(plans)
    assert runs >= 100
    assert (runs - evaluation.CLOCKED) * each <= plan.spent <= runs * each * (1 + 1e-9)
    asked = clock[1] / 2
    assert asked == pytest.approx(runs, abs=2) if each > evaluation.SHORT_RUN else asked < runs / 4


def test_numbers_beside_arrays_are_broadcast() -> None:
    random = np.random.default_rng(1)
    values = [random.normal(size=shape) for shape in ((5, 1), (1,), (1, 1), ())]
    for _ in range(3):  # the first time node by node, then by a plan
        column, one, square, number = [ad.variable(v) for v in values]
        found = (column + one) * square / number + ad.where(column > one, square, number * column)
        gradients = ad.gradients(found.sum(), [column, one, square, number])
        a, b, c, d = values
        np.testing.assert_allclose(found.numpy(), (a + b) * c / d + np.where(a > b, c, d * a), rtol=1e-14)
        assert [g.shape for g in gradients] == [v.shape for v in values]
        np.testing.assert_allclose(gradients[1].numpy(), [np.sum(np.ones((5, 1)) * c / d)], rtol=1e-12)


def test_one_thread_is_left_alone_and_several_are_put_back() -> None:
    single, threads, seen = SingleThreaded(), [1], []
    single.looked = True
    single.functions = (lambda: threads[-1], threads.append)
    single(lambda: seen.append(threads[-1]))
    assert seen == [1] and threads == [1] and single.inside == 0
    threads.append(4)
    single(lambda: single(lambda: seen.append(threads[-1])))
    assert seen == [1, 1] and threads == [1, 4, 1, 4] and single.inside == 0


@pytest.mark.parametrize(("size", "asked"), [(32, False), (33, True)])
def test_products_of_small_matrices_are_on_one_thread_anyhow(
    size: int, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    count: list[int] = []
    plain = evaluation.single_threaded
    monkeypatch.setattr(tiers, "backend", "numpy")
    a, b = np.random.default_rng(0).normal(size=(2, size, size))
    for again in range(5):
        if again == 2:  # planned
            monkeypatch.setattr(evaluation, "single_threaded", lambda f, *x: (count.append(1), plain(f, *x))[1])
        found = (ad.tensor(a) @ ad.tensor(b)).numpy()
        np.testing.assert_array_equal(found, a @ b)
    assert len(count) == 3 * asked
    image = ad.ones((1, 1, 5, 5))
    for _ in range(4):
        nn.functional.conv2d(image, ad.ones((1, 1, 3, 3))).numpy()
    assert len(count) >= 3 * asked + 3


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_lapack_has_one_thread_each_time(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bits would follow from how many cores there are, from the second evaluation on."""
    threads, seen = [4], list[int]()
    monkeypatch.setattr(tiers, "backend", backend)
    monkeypatch.setattr(evaluation.single_threaded, "looked", True)
    monkeypatch.setattr(evaluation.single_threaded, "functions", (lambda: threads[-1], threads.append))
    plain = np.linalg.eigvals
    monkeypatch.setattr(np.linalg, "eigvals", lambda a: (seen.append(threads[-1]), plain(a))[1])
    for _ in range(6):
        ad.linalg.eigvals(ad.tensor(np.diag(np.arange(40.0)))).numpy()
    assert seen == [1] * 6 and threads[-1] == 4


@pytest.mark.parametrize("is_algebra", [False, True])
def test_what_is_computed_first_has_one_thread_where_lapack_may_have_more(
    is_algebra: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bits would follow from how many cores there are. Small operations don't even ask."""
    count: list[int] = []
    plain = evaluation.single_threaded
    monkeypatch.setattr(tiers, "backend", "numpy")
    monkeypatch.setattr(evaluation, "single_threaded", lambda f, *x: (count.append(1), plain(f, *x))[1])
    x = ad.tensor(np.eye(3) * 1.2345)
    found = ad.sum(ad.linalg.inv(x) * 6.25 if is_algebra else ad.tanh(x + 6.25)[0], axis=0)
    assert np.isfinite(found.numpy()).all() and len(count) == is_algebra


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_free_numbers_are_written_where_they_are_others(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "backend", "numpy")
    values = np.array([1.0, -3.0, np.inf]).astype(dtype)
    numbers = [2.5, 2.5, 0.5, -0.0, 3.5, -0.0, -0.0, np.nan, np.nan, 2.5, 3, 3.0]
    if dtype == "complex128":
        numbers = [complex(x, y) for x in numbers for y in (0.0, -0.0, 1.5)]
    for number in 3 * [2.5, 2.5] + numbers:
        with np.errstate(all="ignore"):
            x = ad.tensor(values)
            found, expected = (x * number - x).numpy(), values * number - values
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found.real), np.signbit(expected.real))
        np.testing.assert_array_equal(np.signbit(found.imag), np.signbit(expected.imag))


def test_a_run_between_leaves_the_numbers_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ad.tensor([1.0, 2.0])
    plan = evaluation.described([(x * 3.5).node])[1]
    program = Bound(plan)
    assert program.run([x.numpy()], [3.5], False)[0].tolist() == [3.5, 7.0]
    assert program.run_between([x.numpy()], [4.5], False)[0].tolist() == [4.5, 9.0]
    assert program.run([x.numpy()], [3.5], False)[0].tolist() == [3.5, 7.0]
    numbers = [3.5]
    assert program.run([x.numpy()], numbers, False)[0].tolist() == [3.5, 7.0]
    numbers[0] = 5.5
    assert program.run([x.numpy()], numbers, False)[0].tolist() == [5.5, 11.0]


# Imports -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_after_the_import_what_it_was(enabled: bool) -> None:
    text = f"import gc\ngc.{'enable' if enabled else 'disable'}()\nimport adjoint.torch, sys\n"
    text += "print(gc.isenabled(), gc.get_freeze_count(), 'urllib.request' in sys.modules, 'ssl' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert done.stdout.split() == [str(enabled), "0", "False", "False"]
    assert gc.isenabled()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_loss_of_huber_is_one_operation(dtype: str) -> None:
    values = np.array([0.0, -0.0, 0.25, -0.25, 0.75, -0.75, 3.0, -1e30, np.inf, -np.inf, np.nan], dtype)
    limit = np.array(0.75, dtype)
    size = np.abs(values)
    with np.errstate(all="ignore"):
        expected = np.where(size < limit, values * values * np.array(0.5, dtype), (size - limit / 2) * limit)
    x = ad.variable(values)
    for again in range(40):  # interpreted, planned, compiled
        loss = nn.functional.huber_loss(x, ad.zeros(values.shape, dtype=dtype), "none", 0.75)
        np.testing.assert_array_equal(loss.numpy(), expected, err_msg=str(again))
        (slope,) = ad.gradients(loss.sum(), [x])
        np.testing.assert_array_equal(slope.numpy(), np.clip(values, -limit, limit), err_msg=str(again))
    assert ad.jit(lambda x: nn.functional.huber_loss(x, ad.zeros_like(x), "none", 0.75))(x).numpy().tobytes() == (
        loss.numpy().tobytes()
    )


def test_the_loss_of_huber_has_every_derivative() -> None:
    x, limit = ad.variable(np.array([-2.0, -0.4, 0.3, 1.5])), ad.variable(np.array([0.5, 0.5, 1.0, 1.0]))
    found = wrap(ops.huber(x.node, limit.node))
    first = ad.gradients(found.sum(), [x, limit])
    np.testing.assert_array_equal(first[0].numpy(), [-0.5, -0.4, 0.3, 1.0])
    np.testing.assert_array_equal(first[1].numpy(), [1.5, 0.0, 0.0, 0.5])
    second = ad.gradients(first[0].sum(), [x, limit])
    np.testing.assert_array_equal(second[0].numpy(), [0.0, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(second[1].numpy(), [-1.0, 0.0, 0.0, 1.0])
