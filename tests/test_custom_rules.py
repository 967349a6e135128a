"""Operations that users define: ``Function``, ``custom_vjp`` and ``host_call``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from derivative_checks import check_derivatives
from support import double, equal


class Cube(ad.Function):
    """Its forward is plain NumPy."""

    @staticmethod
    def forward(ctx: Any, x: ad.Tensor, factor: float) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x.numpy() ** 3

    @staticmethod
    def backward(ctx: Any, gradient: ad.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * 3 * ctx.factor * x**2, None


def test_numpy_scalars_keep_their_precision():
    """NumPy gives a scalar, not an array, for a power of a 0-d array."""
    y = Cube.apply(ad.variable(1.1, dtype="float64"), np.float64(2.0))
    assert y.dtype == ad.float64 and y.item() == 2 * 1.1**3


class Polar(ad.Function):
    """Two inputs and two outputs, in tensor operations."""

    @staticmethod
    def forward(ctx: Any, radius: ad.Tensor, angle: ad.Tensor) -> Any:
        ctx.save_for_backward(radius, angle)
        return radius * ad.cos(angle), radius * ad.sin(angle)

    @staticmethod
    def backward(ctx: Any, dx: ad.Tensor, dy: ad.Tensor) -> Any:
        radius, angle = ctx.saved_tensors
        return dx * ad.cos(angle) + dy * ad.sin(angle), radius * (dy * ad.cos(angle) - dx * ad.sin(angle))


def test_a_function_whose_forward_is_numpy() -> None:
    x = ad.variable([1.0, 2.0], dtype="float64")
    y = Cube.apply(x, 2.0)
    equal(y, [2.0, 16.0])
    assert y.requires_grad and y.dtype == ad.float64
    y.sum().backward()
    equal(x.grad, [6.0, 24.0])
    equal(ad.grad(ad.grad(lambda x: Cube.apply(x, 2.0)))(double(3.0)), 36.0)
    assert not Cube.apply(double([1.0]), 2.0).requires_grad
    check_derivatives(lambda x: [Cube.apply(x, 2.0)], [np.array([0.5, -2.0])], order=1)


def test_a_function_with_several_inputs_and_outputs() -> None:
    points = [np.array([0.5, 2.0]), np.array([0.3, -1.0])]
    check_derivatives(lambda *x: list(Polar.apply(*x)), points)
    check_derivatives(lambda *x: [Polar.apply(*x)[1]], points)
    radius, angle = ad.variable(2.0), ad.tensor(0.5)
    Polar.apply(radius, angle)[0].backward()
    equal(radius.grad, np.cos(0.5))
    assert angle.grad is None


def broken(result: Any) -> type[ad.Function]:
    class Broken(ad.Function):
        @staticmethod
        def forward(ctx: Any, x: ad.Tensor) -> ad.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: ad.Tensor) -> Any:
            return result(gradient)

    return Broken


def test_a_backward_that_returns_the_wrong_thing_is_an_error() -> None:
    def gradient(result: Any) -> ad.Tensor:
        return ad.grad(lambda x: broken(result).apply(x).sum())(double([1.0, 2.0]))

    for result in (lambda g: (g, g), lambda g: ad.ones((7,)), lambda g: "no"):
        with pytest.raises((ValueError, TypeError), match="Broken"):
            gradient(result).numpy()
    equal(gradient(lambda g: None), [0.0, 0.0])


def clipped() -> Any:
    """The identity with a clipped gradient: forward and backward disagree on purpose."""
    f = ad.custom_vjp(lambda x, bound: x)
    f.def_vjp(lambda x, bound: (x, bound), lambda bound, cotangent: (ad.clip(cotangent, -bound, bound), None))
    return f


def test_custom_vjp_may_disagree_with_its_forward() -> None:
    f = clipped()
    equal(f(double([5.0]), double(0.1)), [5.0])
    weights = double([3.0, -3.0, 0.05])
    equal(ad.grad(lambda x: (f(x, double(0.1)) * weights).sum())(double([1.0, 2.0, 3.0])), [0.1, -0.1, 0.05])


def test_custom_vjp_in_both_modes_and_orders() -> None:
    def forward(x: ad.Tensor, y: ad.Tensor) -> Any:
        return ad.sin(x) * y, (x, y)

    def backward(saved: Any, cotangent: ad.Tensor) -> Any:
        x, y = saved
        return cotangent * ad.cos(x) * y, cotangent * ad.sin(x)

    g = ad.custom_vjp(lambda x, y: ad.sin(x) * y)
    g.def_vjp(forward, backward)
    check_derivatives(lambda x, y: [g(x, y)], [np.array([0.5, 2.0]), np.array([0.3, -1.0])])


def test_custom_vjp_without_a_rule_is_an_error_when_differentiated() -> None:
    f = ad.custom_vjp(lambda x: x * x)
    with pytest.raises((RuntimeError, TypeError), match="def_vjp"):
        ad.grad(f)(double(2.0))


def test_a_rule_that_is_not_linear_has_no_forward_mode() -> None:
    with pytest.raises((RuntimeError, TypeError), match="def_jvp"):
        ad.jvp(lambda x: clipped()(x, double(0.1)), (double(1.0),), (double(1.0),))


def test_host_call_is_deferred_and_has_the_derivative_that_it_is_given() -> None:
    calls: list[int] = []

    def host(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        calls.append(1)
        return np.sin(x) * y

    def slopes(cotangent: ad.Tensor, x: ad.Tensor, y: ad.Tensor) -> tuple[ad.Tensor, ad.Tensor]:
        return cotangent * ad.cos(x) * y, cotangent * ad.sin(x)

    x, y = ad.variable([0.5, 1.0], dtype="float64"), double([2.0, 3.0])
    z = ad.host_call(host, x, y, shape=(2,), dtype="float64", vjp=slopes)
    assert calls == [] and z.shape == (2,) and z.requires_grad
    equal(z, np.sin([0.5, 1.0]) * [2.0, 3.0])
    z.sum().backward()
    equal(x.grad, np.cos([0.5, 1.0]) * [2.0, 3.0])
    assert calls == [1]


def test_host_call_mistakes_are_errors() -> None:
    x = ad.variable([0.5, 1.0])
    with pytest.raises((RuntimeError, TypeError), match="vjp"):
        ad.gradients(ad.host_call(np.sin, x, shape=(2,), dtype="float32").sum(), [x])
    with pytest.raises(ValueError, match=r"\(2,\)"):
        ad.host_call(lambda a: a[:1], x, shape=(2,), dtype="float32").numpy()
    with pytest.raises(ZeroDivisionError):
        ad.host_call(lambda a: 1 // 0, x, shape=(2,), dtype="float32").numpy()


def test_rules_and_operations_that_are_written_wrong_say_how_it_is_meant() -> None:
    f = ad.custom_vjp(lambda x: x * x)
    f.def_vjp(lambda x: x * x, lambda residuals, g: (g,))
    with pytest.raises(TypeError, match=r"the forward rule must return \(output, residuals\), it returned a Tensor"):
        f(ad.tensor([1.0, 2.0]))

    class Square(ad.Function):
        @staticmethod
        def forward(ctx: ad.Context, x: ad.Tensor) -> ad.Tensor:
            return x * x

    with pytest.raises(TypeError, match=r"Square: call Square\.apply\(\.\.\.\)"):
        Square(ad.tensor(1.0))
