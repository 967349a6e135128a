"""The decided semantics of tensors: who owns a gradient, what a name means after it is written to, grad modes."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import threading
from collections.abc import AsyncIterator, Iterator

import numpy as np
import pytest

import adjoint as ad
from adjoint import graph
from derivative_checks import check_derivatives
from support import double, equal

# ---- tracking and the owner of .grad ---------------------------------------------------------------------------------


def test_only_variables_and_what_depends_on_them_are_tracked() -> None:
    data, w = ad.tensor([1.0, 2.0]), ad.variable([3.0, 4.0], name="w")
    assert (data.requires_grad, w.requires_grad, ad.tensor([1.0], requires_grad=True).requires_grad) == (
        False,
        True,
        True,
    )
    assert w.name == "w"
    y = (data * w).sum()
    assert y.requires_grad and not (data * 2).requires_grad
    y.backward()
    equal(w.grad, [1.0, 2.0])
    assert data.grad is None


def test_requires_grad_can_be_switched_on() -> None:
    x = ad.tensor([1.0, 2.0])
    assert x.requires_grad_() is x
    (x * x).sum().backward()
    equal(x.grad, [2.0, 4.0])


def test_backward_adds_and_twice_adds_twice() -> None:
    w = ad.variable([1.0, 2.0])
    loss = (w**3).sum()
    loss.backward()
    equal(w.grad, [3.0, 12.0])
    loss.backward()
    equal(w.grad, [6.0, 24.0])
    (w * 10).sum().backward()
    equal(w.grad, [16.0, 34.0])
    w.zero_grad()
    assert w.grad is None or not w.grad.numpy().any()
    loss.backward()
    equal(w.grad, [3.0, 12.0])
    w.grad = None
    assert w.grad is None
    loss.backward()
    equal(w.grad, [3.0, 12.0])


def test_a_gradient_read_before_keeps_its_value_when_more_is_added() -> None:
    w = ad.variable(2.0)
    (w * w).backward()
    first = w.grad
    (w * w).backward()
    equal(first, 4.0)
    equal(w.grad, 8.0)


def test_backward_reaches_every_variable() -> None:
    a, b, c = ad.variable(2.0), ad.variable(3.0), ad.variable(4.0)
    (a * b + a).backward()
    equal(a.grad, 4.0)
    equal(b.grad, 2.0)
    assert c.grad is None


def test_backward_of_many_elements_takes_a_cotangent_of_its_shape() -> None:
    w = ad.variable([1.0, 2.0, 3.0])
    y = w * w
    y.backward(ad.tensor([1.0, 10.0, 100.0]))
    equal(w.grad, [2.0, 40.0, 600.0])
    for wrong in (None, ad.tensor([1.0, 1.0]), ad.tensor(1.0), ad.ones((1, 3))):
        with pytest.raises((ValueError, RuntimeError)):
            y.backward(wrong)
    one = ad.variable([[5.0]])
    (one * 2).backward()
    equal(one.grad, [[2.0]])


def test_gradient_is_untracked_unless_a_graph_is_wanted() -> None:
    x = ad.variable(3.0)
    (x**3).backward()
    assert x.grad is not None and not x.grad.requires_grad
    x.grad = None
    (x**3).backward(create_graph=True)
    assert x.grad.requires_grad
    equal(x.grad, 27.0)
    (second,) = ad.gradients(x.grad, [x])
    equal(second, 18.0)


def test_inner_tensor_keeps_a_gradient_only_when_asked() -> None:
    x = ad.variable([1.0, 2.0])
    inner, other = x * 3, x * 5
    inner.retain_grad()
    (inner * inner + other).sum().backward()
    equal(inner.grad, [6.0, 12.0])
    assert other.grad is None
    equal(x.grad, [23.0, 41.0])


def test_gradients_touch_no_grad_and_are_differentiable() -> None:
    x, y = ad.variable([1.0, 2.0]), ad.variable(3.0)
    z = (x**2 * y).sum()
    dx, dy = ad.gradients(z, [x, y])
    assert x.grad is None and y.grad is None
    equal(dx, [6.0, 12.0])
    equal(dy, 5.0)
    (mixed,) = ad.gradients(dx.sum(), [y])
    equal(mixed, 6.0)


def test_gradients_of_inner_tensors_of_independent_inputs_and_with_a_cotangent() -> None:
    x, unused = ad.variable([1.0, 2.0]), ad.variable([[5.0]])
    inner = ad.exp(x)
    output = inner * x
    by_inner, by_x, by_unused = ad.gradients(output, [inner, x, unused], ad.tensor([1.0, 2.0]))
    equal(by_inner, [1.0, 4.0])
    equal(by_x, [2 * np.e, 2 * 3 * np.exp(2)])
    equal(by_unused, [[0.0]])


def test_two_equal_expressions_are_two_inputs() -> None:
    x = ad.variable(2.0)
    a, b = x * x, x * x
    y = a * 3 + b * 5
    equal(ad.gradients(y, [a])[0], 3.0)
    equal(ad.gradients(y, [b])[0], 5.0)
    equal(ad.gradients(y, [a, b])[1], 5.0)


def test_an_untracked_copy_of_an_expression_cancels_no_gradient() -> None:
    x = ad.variable(2.0)
    with ad.no_grad():
        untracked = x * x
    y = x * x + untracked
    y.backward()
    equal(x.grad, 4.0)


# ---- versions of a variable, writing in place ------------------------------------------------------------------------


def test_every_version_of_a_variable_has_the_same_gradient() -> None:
    w = ad.variable([1.0, 2.0])
    same = w
    before = (w * w).sum()
    with ad.no_grad():
        w -= 0.5
    assert w is same
    equal(w, [0.5, 1.5])
    after = (w * w).sum()
    (before + after).backward()
    equal(w.grad, [3.0, 7.0])
    w.data = np.array([9.0, 9.0], "float32")
    (w * 2).sum().backward()
    equal(w.grad, [5.0, 9.0])
    assert w.requires_grad and w is same


@pytest.mark.parametrize("update", ["data -=", "data =", "no_grad", "no_grad item", "data item"])
def test_a_loss_recorded_before_an_update_uses_the_old_value(update: str) -> None:
    w = ad.variable([1.0, 2.0])
    loss = (w**3).sum()
    if update == "data -=":
        w.data -= 10.0
    elif update == "data =":
        w.data = np.array([-9.0, -8.0], "float32")
    elif update == "data item":
        w.data[:] = ad.tensor([-9.0, -8.0])
    else:
        with ad.no_grad():
            if update == "no_grad":
                w -= 10.0
            else:
                w[...] = w - 10.0
    loss.backward()
    equal(w.grad, [3.0, 12.0])
    equal(loss, 9.0)
    equal(w, [-9.0, -8.0])


def test_writing_to_a_variable_shows_the_two_right_ways() -> None:
    def add(w: ad.Tensor) -> None:
        w += 1.0

    def assign(w: ad.Tensor) -> None:
        w[0] = 1.0

    for write in (add, assign):
        w = ad.variable([1.0, 2.0])
        with pytest.raises(RuntimeError) as caught:
            write(w)
        assert "no_grad" in str(caught.value) and ".data" in str(caught.value)
        equal(w, [1.0, 2.0])


def test_a_variable_that_becomes_data_keeps_its_gradient_and_gets_more_of_it_later() -> None:
    x = ad.variable([1.0, 2.0])
    y = (x * x).sum()
    y.backward()
    x.requires_grad_(False)
    assert x.grad is not None and x.grad.tolist() == [2.0, 4.0]
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]  # data gets none
    x.requires_grad_(True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
    x.requires_grad_(False)
    x.grad = None
    assert x.grad is None


def test_a_computed_tensor_gets_no_other_value() -> None:
    x = ad.variable([1.0, 2.0])
    y = x * 2
    with pytest.raises(RuntimeError, match="would cut off"):
        y.data = [0.0, 0.0]
    with pytest.raises(RuntimeError, match="would cut it from"):
        y.data += 1
    with pytest.raises(RuntimeError, match="computed from"):
        ad.nn.init.zeros_(x[:1])
    assert y.requires_grad and y.tolist() == [2.0, 4.0]


def test_data_is_an_untracked_alias_that_writes_through() -> None:
    w = ad.variable([1.0, 2.0, 3.0])
    assert not w.data.requires_grad and not (w.data * 2).requires_grad
    w.data[0] = 10.0
    equal(w, [10.0, 2.0, 3.0])
    alias = w.data
    alias *= 2
    equal(w, [20.0, 4.0, 6.0])
    w.data -= 0.5 * w.data
    equal(w, [10.0, 2.0, 3.0])
    assert w.requires_grad
    plain = ad.tensor([1.0, 2.0])
    plain.data[1] = 5.0
    equal(plain, [1.0, 5.0])


def test_detach_is_a_value_without_history() -> None:
    x = ad.variable([1.0, 2.0])
    cut = (x * 3).detach()
    assert not cut.requires_grad
    (cut * x).sum().backward()
    equal(x.grad, [3.0, 6.0])
    before = x.detach()
    with ad.no_grad():
        x += 1.0
    equal(before, [1.0, 2.0])


def test_assignment_and_in_place_operators_differentiate_to_second_order() -> None:
    def program(x: ad.Tensor, v: ad.Tensor) -> ad.Tensor:
        y = x * x
        y[1:] = v**3
        y += x
        y[0] *= v[1]
        y[ad.tensor([True, False, True])] -= ad.sin(x[0])
        y **= 2
        return y

    points = [np.array([0.5, -1.2, 2.0]), np.array([0.7, 1.1])]
    check_derivatives(lambda x, v: [program(x, v)], points)

    x, v = (ad.variable(point) for point in points)
    program(x, v).sum().backward(create_graph=True)
    (second,) = ad.gradients(v.grad.sum(), [v])
    assert np.isfinite(second.numpy()).all() and second.numpy().any()


def test_in_place_on_an_argument_leaves_the_callers_tensor_alone() -> None:
    def f(x: ad.Tensor) -> ad.Tensor:
        x = x * 1
        x[0] = 0.0
        return (x * x).sum()

    point = double([3.0, 4.0])
    equal(ad.grad(f)(point), [0.0, 8.0])
    equal(point, [3.0, 4.0])


def test_in_place_gives_the_name_and_not_other_names_a_new_value() -> None:
    x = ad.tensor([1.0, 2.0])
    doubled = x * 2
    old_id = id(x)
    x += 1
    x[0] = 9.0
    assert id(x) == old_id
    equal(x, [9.0, 3.0])
    equal(doubled, [2.0, 4.0])
    same = x
    same *= 2
    equal(x, [18.0, 6.0])


def test_in_place_keeps_shape_and_dtype() -> None:
    x = ad.tensor([1, 2])
    with pytest.raises((TypeError, ValueError)):
        x += 0.5
    y = ad.tensor([1.0, 2.0])
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        y += ad.ones((2, 2))
    y[0] = ad.tensor(7.5, dtype="float64")
    y += ad.tensor([1.0, 1.0], dtype="float64")
    assert y.dtype == ad.float32 and y.numpy().dtype == np.float32
    equal(y, [8.5, 3.0])
    w = ad.variable([1.0, 2.0])
    w.data = np.array([3.0, 4.0])
    w.data -= np.array([1.0, 1.0])
    assert w.dtype == ad.float32 and w.requires_grad


def test_a_slice_is_a_value_and_not_a_view() -> None:
    x = ad.tensor([[1.0, 2.0], [3.0, 4.0]])
    piece, turned = x[0], x.T
    piece[...] = 0.0
    equal(x, [[1.0, 2.0], [3.0, 4.0]])
    x[0, 1] = 9.0
    equal(turned, [[1.0, 3.0], [2.0, 4.0]])
    x[1] += 1
    equal(x, [[1.0, 9.0], [4.0, 5.0]])


def test_clone_is_differentiable_and_apart() -> None:
    x = ad.variable([1.0, 2.0])
    y = x.clone()
    y[0] = 5.0
    (y * y).sum().backward()
    equal(x.grad, [0.0, 4.0])


def test_memory_from_outside_is_copied_and_exports_are_read_only() -> None:
    memory = np.array([1.0, 2.0])
    x = ad.tensor(memory)
    y = x * 1
    memory[0] = 99.0
    equal(x, [1.0, 2.0])
    equal(y, [1.0, 2.0])
    exported = x.numpy()
    with pytest.raises(ValueError, match="read-only"):
        exported[0] = 5.0
    x[0] = 7.0
    np.testing.assert_array_equal(exported, [1.0, 2.0])
    equal(x, [7.0, 2.0])


# ---- no gradient -----------------------------------------------------------------------------------------------------


def test_no_grad_and_enable_grad_nest() -> None:
    x = ad.variable(2.0)
    with ad.no_grad():
        assert not ad.is_grad_enabled() and not (x * x).requires_grad
        with ad.enable_grad():
            assert (x * x).requires_grad
        with pytest.raises(ZeroDivisionError), ad.enable_grad():
            _ = 1 / 0
        assert not ad.is_grad_enabled()
    assert ad.is_grad_enabled() and (x * x).requires_grad

    @ad.no_grad()
    def untracked() -> ad.Tensor:
        return x * x

    assert not untracked().requires_grad


def test_a_mode_holds_in_each_stretch_of_a_generator_and_of_a_coroutine() -> None:
    x = ad.variable(2.0)

    @ad.no_grad()
    def products() -> Iterator[bool]:
        given = yield (x * x).requires_grad
        try:
            yield given or (x * x).requires_grad
        except ValueError:
            yield (x * x).requires_grad
        finally:
            seen.append(ad.is_grad_enabled())

    seen: list[bool] = []
    steps = products()
    assert next(steps) is False and ad.is_grad_enabled() and steps.send(False) is False and ad.is_grad_enabled()
    assert steps.throw(ValueError()) is False and ad.is_grad_enabled() and list(steps) == []
    steps = products()
    next(steps), next(steps)
    steps.close()
    next(abandoned := products())
    del abandoned
    assert ad.is_grad_enabled()

    @ad.no_grad()
    async def product() -> bool:
        await asyncio.sleep(0)
        return (x * x).requires_grad

    assert asyncio.run(product()) is False and ad.is_grad_enabled()
    steps = products()
    next(steps), next(steps)
    with pytest.raises(KeyError):
        steps.throw(KeyError())
    assert seen == [False] * len(seen) and len(seen) == 3 and ad.is_grad_enabled()


def test_a_mode_holds_in_each_stretch_of_an_asynchronous_generator() -> None:
    x, seen = ad.variable(2.0), []

    @ad.no_grad()
    async def products() -> AsyncIterator[bool]:
        given = yield (x * x).requires_grad
        await asyncio.sleep(0)
        try:
            yield given or (x * x).requires_grad
        except ValueError:
            yield (x * x).requires_grad
        finally:
            seen.append(ad.is_grad_enabled())

    async def run() -> None:
        steps = products()
        assert await anext(steps) is False and ad.is_grad_enabled()
        assert await steps.asend(False) is False and ad.is_grad_enabled()
        assert await steps.athrow(ValueError()) is False and ad.is_grad_enabled()
        assert [step async for step in steps] == []
        steps = products()
        await anext(steps), await anext(steps)
        await steps.aclose()
        steps = products()
        await anext(steps), await anext(steps)
        with pytest.raises(KeyError):
            await steps.athrow(KeyError())
        assert [step async for step in products()] == [False, False] and ad.is_grad_enabled()

    asyncio.run(run())
    assert seen == [False] * 4


def test_a_block_ends_with_the_mode_that_was_before_it() -> None:
    x, off, on = ad.variable(2.0), ad.no_grad(), ad.enable_grad()  # the same objects, again and again
    seen: list[bool] = []

    class Layer(ad.nn.Module):
        def forward(self, given: ad.Tensor) -> ad.Tensor:
            with off, on:
                seen.append((given * x).requires_grad)
                with off, off:
                    made = given * x
                seen.append((given * x).requires_grad)
            seen.append(made.requires_grad)
            return given * x

    blocks = [off, on, off, off, on, off]
    with contextlib.ExitStack() as stack:
        for block in blocks:
            stack.enter_context(block)
        assert not Layer()(x).requires_grad
        with on:
            assert Layer()(x).requires_grad
        assert seen == [True, True, False] * 2
    assert ad.is_grad_enabled()
    for block in blocks:
        block.__enter__()
    for before in (True, False, False, True, False, True):
        assert not off.__exit__(None, None, None)
        assert ad.is_grad_enabled() is before
    assert graph.get_mode() is graph.OUTERMOST


def test_a_rule_of_ones_own_switches_gradients_off_and_on_again() -> None:
    class Cube(ad.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, u):
            (x,) = ctx.saved_tensors
            with ad.no_grad():
                constant = 3.0 * x
            return u * constant * x

    x = double(2.0)
    equal(ad.grad(Cube.apply)(x), 12.0)
    equal(ad.grad(ad.grad(Cube.apply))(x), 6.0)  # that of a constant times x
    assert graph.get_mode() is graph.OUTERMOST


def test_no_grad_in_one_thread_is_not_seen_in_another() -> None:
    seen: list[bool] = []
    with ad.no_grad():
        thread = threading.Thread(target=lambda: seen.append(ad.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_grad_works_where_gradients_are_switched_off() -> None:
    with ad.no_grad():
        equal(ad.grad(lambda x: x**3)(double(2.0)), 12.0)
        equal(ad.jvp(lambda x: x**3, (double(2.0),), (double(1.0),))[1], 12.0)


def test_stop_gradient_in_every_mode() -> None:
    def f(x: ad.Tensor) -> ad.Tensor:
        return ad.stop_gradient(x) * x

    equal(ad.grad(f)(double(3.0)), 3.0)
    equal(ad.jvp(f, (double(3.0),), (double(1.0),))[1], 3.0)
    equal(ad.grad(ad.grad(f))(double(3.0)), 0.0)


def test_a_name_and_a_kept_gradient_reach_what_was_recorded_before() -> None:
    x = ad.variable(2.0)
    y = x * x
    z = y * 3
    y.name = "y"
    assert "name='y'" in repr(y) and "Multiply" in repr(y) and y.parents[0].node is x.node
    equal(ad.gradients(z, [y])[0], 3.0)
    equal(ad.evaluate(z, {y: 10.0}), 30.0)
    y.retain_grad()
    z.backward()
    equal(y.grad, 3.0)
    equal(x.grad, 12.0)


def test_an_interrupted_function_leaves_gradients_on(monkeypatch: pytest.MonkeyPatch) -> None:
    modes = importlib.import_module("adjoint.transforms.modes")

    class Interrupted:
        get, reset = graph.MODE.get, graph.MODE.reset

        def set(self, mode: graph.Mode) -> None:
            graph.MODE.set(mode)
            if not mode.grad:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(modes, "MODE", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            ad.no_grad()(lambda: None)()
        with pytest.raises(KeyboardInterrupt), ad.no_grad():
            raise AssertionError("the block isn't entered")
    assert ad.is_grad_enabled()


@pytest.mark.parametrize(
    "write",
    [
        lambda x, y: x.__setitem__(slice(None), y),
        lambda x, y: x.__setitem__(..., y),
        lambda x, y: x.__setitem__(slice(0, 3), y),
        lambda x, y: setattr(x, "data", y),
    ],
)
def test_what_was_computed_before_is_a_constant_where_it_is_written_under_no_grad(write):
    w, x = ad.variable(np.ones(3)), ad.tensor(np.zeros(3))
    y = w * 2
    with ad.no_grad():
        write(x, y)
    assert not x.requires_grad and x.tolist() == [2, 2, 2]
    (w * x).sum().backward()
    assert w.grad.tolist() == [2, 2, 2]
