"""Operations that users define: ``Function``, ``custom_vjp`` and ``host_call``."""

from __future__ import annotations

import functools
import gc
import weakref
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


@pytest.mark.parametrize("is_kept", [False, True])
def test_an_array_that_nobody_else_holds_is_the_result_of_a_host_call(is_kept: bool) -> None:
    kept, places = list[Any](), list[int]()

    def twice(a: Any) -> Any:
        made = np.asarray(a) * 2
        places.append(made.ctypes.data)
        kept.extend([made] * is_kept)
        return made

    value = ad.evaluate(ad.host_call(twice, ad.tensor([1.0, 2.0]), shape=(2,), dtype="float32")).node.value
    assert value.tolist() == [2.0, 4.0] and (value.ctypes.data == places[-1]) is not is_kept


def test_host_call_mistakes_are_errors() -> None:
    x = ad.variable([0.5, 1.0])
    with pytest.raises((RuntimeError, TypeError), match="vjp"):
        ad.gradients(ad.host_call(np.sin, x, shape=(2,), dtype="float32").sum(), [x])
    with pytest.raises(ValueError, match=r"\(2,\)"):
        ad.host_call(lambda a: a[:1], x, shape=(2,), dtype="float32").numpy()
    with pytest.raises(ZeroDivisionError):
        ad.host_call(lambda a: 1 // 0, x, shape=(2,), dtype="float32").numpy()


@pytest.mark.parametrize(
    ("function", "dtype", "text"),
    [
        (lambda a: a + 1j, "float32", "returned complex64 numbers, but dtype='float32'"),
        (lambda a: a + 0j, "float64", "returned complex64 numbers"),
        (lambda a: [1 + 1j, 2.0], "float32", "returned complex128 numbers"),
        (lambda a: a + 1j, "bool", "returned complex64 numbers"),
        (lambda a: None, "float32", "returned .*None"),
        (lambda a: ["1", "2"], "float32", "returned"),
        (lambda a: a, "int32", "float32 numbers that int32 doesn't hold"),
        (lambda a: a * np.nan, "int64", "doesn't hold"),
        (lambda a: np.full(a.shape, 300), "int8", "int64 numbers that int8 doesn't hold"),
        (lambda a: np.full(a.shape, -1), "uint64", "doesn't hold"),
        (lambda a: a, "bool", "doesn't hold"),
    ],
)
@pytest.mark.parametrize("kind_of_call", ["plain", "batched", "batched by its own rule", "jit", "several"])
def test_what_a_host_function_may_not_return(kind_of_call: str, function: Any, dtype: str, text: str) -> None:
    """Numbers that the declared dtype doesn't hold became others in silence: an imaginary part was dropped."""
    x = ad.tensor([0.5, 1.0])

    def call(x: Any) -> Any:
        batched = function if kind_of_call == "batched by its own rule" else None
        return ad.host_call(function, x, shape=x.shape, dtype=dtype, vmap=batched)

    def calls(x: Any) -> Any:
        found = ad.host_call(lambda a: (a, function(a)), x, shape=[(2,), (2,)], dtype=["float32", dtype])
        return found[1]

    with pytest.raises(ValueError, match=rf"{text}.*test_custom_rules\.py:\d+"):
        if kind_of_call == "several":
            calls(x).numpy()
        elif kind_of_call == "jit":
            ad.jit(call)(x).numpy()
        else:
            (call if kind_of_call == "plain" else ad.vmap(call))(x if kind_of_call == "plain" else x[None]).numpy()


def test_what_a_host_function_may_return_rounded() -> None:
    x = ad.tensor([1.0, 2.0])
    for function, dtype in (
        (lambda a: np.float64(a), "float32"), (np.floor, "int32"), (lambda a: a > 1, "float32"), (lambda a: [0, 1], "bool"),
        (lambda a: np.array([1, 2]), "bfloat16"), (lambda a: a, "complex64"),
    ):  # fmt: skip
        found = ad.host_call(function, x, shape=(2,), dtype=dtype)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.numpy().astype("complex64"), np.asarray(function(x.numpy()), "complex64"))
    with pytest.raises(ValueError, match="returned 1 results, but 2 were declared"):
        ad.host_call(lambda a: (a,), x, shape=[(2,), (2,)], dtype="float32")[0].numpy()


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


# ---- rules computed outside of the graph ---------------------------------------------------------------------------------


def exponential(forward: Any, backward: Any) -> Any:
    @ad.custom_vjp
    def exp(x: ad.Tensor) -> ad.Tensor:
        return ad.exp(x)

    exp.def_vjp(forward, backward)
    return exp


class KeptAsAttribute(ad.Function):
    @staticmethod
    def forward(ctx: Any, x: ad.Tensor) -> Any:
        ctx.y = np.exp(x.numpy())
        return ctx.y

    @staticmethod
    def backward(ctx: Any, gradient: ad.Tensor) -> Any:
        return gradient * ctx.y


class KeptCopy(KeptAsAttribute):
    @staticmethod
    def forward(ctx: Any, x: ad.Tensor) -> Any:
        ctx.y = np.exp(x.numpy())
        return np.exp(x.numpy())


def pushed(rule: Any) -> Any:
    exp = ad.custom_jvp(lambda x: np.exp(x.numpy()))
    exp.def_jvp(lambda primals, tangents: (exp(*primals), rule(primals[0], tangents[0])))
    return exp


def deferred(rule: Any) -> Any:
    return lambda x: ad.host_call(np.exp, x, shape=x.shape, dtype="float64", vjp=lambda g, x: (rule(x, g),))


def twice(y: Any) -> Any:
    return y, y


EXPONENTIALS = {
    "the output as residual": exponential(lambda x: twice(np.exp(x.numpy())), lambda y, g: (g * y,)),
    "the output in a tree": exponential(lambda x: (lambda y: (y, {"y": [y]}))(np.exp(x.numpy())), lambda r, g: (g * r["y"][0],)),
    "a number as output": exponential(lambda x: twice(np.exp(x.item())), lambda y, g: (g * y,)),
    "the input as residual": exponential(lambda x: (np.exp(x.numpy()), x), lambda x, g: (g * ad.exp(x),)),
    "tensors alone": exponential(lambda x: twice(ad.exp(x)), lambda y, g: (g * y,)),
    "an attribute that is the output": KeptAsAttribute.apply,
    "a forward rule on tensors": pushed(lambda x, t: t * ad.exp(x)),
    "a host call": deferred(lambda x, g: g * ad.exp(x)),
}  # fmt: skip
ONCE = {
    "a copy of the output": exponential(lambda x: (np.exp(x.numpy()), np.exp(x.numpy())), lambda y, g: (g * y,)),
    "a Python number": exponential(lambda x: (np.exp(x.numpy()), float(np.exp(x.item()))), lambda y, g: (g * y,)),
    "a tensor of a copy": exponential(lambda x: (ad.exp(x), ad.tensor(np.exp(x.numpy()))), lambda y, g: (g * y,)),
    "an object": exponential(lambda x: (ad.exp(x), Exception(np.exp(x.item()))), lambda e, g: (g * e.args[0],)),
    "a rule in NumPy": exponential(lambda x: (ad.exp(x), x), lambda x, g: (g * np.exp(x.numpy()),)),
    "an attribute": KeptCopy.apply,
    "a forward rule in NumPy": pushed(lambda x, t: t * np.exp(x.numpy())),
    "a host call's rule in NumPy": deferred(lambda x, g: g * np.exp(x.numpy())),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPONENTIALS)
def test_every_order_of_a_rule_with_numpy_in_it(name: str) -> None:
    derivative = EXPONENTIALS[name]
    for _ in range(3):
        derivative = ad.grad(derivative)
        equal(derivative(double(0.7)), np.exp(0.7))
    if "forward rule" not in name:
        equal(ad.hessian(EXPONENTIALS[name])(double(0.7)), np.exp(0.7))


@pytest.mark.parametrize("name", ONCE)
def test_what_a_rule_read_as_numbers_is_not_differentiated_again(name: str) -> None:
    exp = ONCE[name]
    equal(ad.grad(exp)(double(0.7)), np.exp(0.7))
    x = ad.variable(0.7, dtype="float64")
    exp(x).backward()
    equal(x.grad, np.exp(0.7))
    w = ad.variable(2.0, dtype="float64")  # by something else, it is
    equal(ad.grad(lambda w: ad.grad(lambda x: w**2 * exp(x))(double(0.7)))(w), 4 * np.exp(0.7))
    for again in (ad.grad(ad.grad(exp)), ad.hessian(exp), lambda x: ad.hvp(exp, x, double(1.0))):
        with pytest.raises(RuntimeError, match="computed from plain values"):
            again(double(0.7))
    (once,) = ad.gradients(exp(x), [x])
    with pytest.raises(RuntimeError, match="computed from plain values"):
        once.backward()


def test_constants_of_a_rule_are_constants() -> None:
    """What is an argument, a bool, an integer or a tracked tensor isn't taken for something computed from the input."""
    scaled = exponential(
        lambda x, scale: (scale * np.exp(x.numpy()), (x, scale, x.numpy() > 0, x.size, "text")),
        lambda r, g: (g * r[1] * ad.exp(r[0]), None),
    )
    equal(ad.grad(ad.grad(lambda x: scaled(x, 2.5)))(double(0.7)), 2.5 * np.exp(0.7))


def test_a_function_may_be_called_in_its_own_forward_rule() -> None:
    exp = exponential(lambda x: twice(exp(x)), lambda y, g: (g * y,))
    kept = exponential(lambda x: (kept(x), x), lambda x, g: (g * kept(x),))
    for f in (exp, kept):
        equal(f(double(0.7)), np.exp(0.7))
        equal(ad.grad(ad.grad(ad.grad(f)))(double(0.7)), np.exp(0.7))
        equal(ad.vmap(ad.grad(f))(double([0.7, 0.1])), np.exp([0.7, 0.1]))
        equal(ad.jit(ad.grad(f))(double(0.7)), np.exp(0.7))


@pytest.mark.parametrize("rule", [
    lambda x, g: ad.vjp(ad.exp, x)[1](g), lambda x, g: (g * ad.grad(ad.exp)(x),),
    lambda x, g: (ad.jvp(ad.exp, (x,), (g,))[1],), lambda x, g: (ad.linearize(ad.exp, x)[1](g),),
    lambda x, g: (g * ad.jacobian(ad.exp)(x),),
])  # fmt: skip
def test_a_rule_that_differentiates(rule: Any) -> None:
    exp = exponential(lambda x: (ad.exp(x), x), rule)
    equal(ad.grad(ad.grad(exp))(double(0.7)), np.exp(0.7))
    assert not ad.grad(exp)(double(0.7)).requires_grad
    x = ad.variable(0.7, dtype="float64")
    exp(x).backward()
    assert not x.grad.requires_grad and x.grad.is_leaf
    equal(x.grad, np.exp(0.7))


class Scaled(ad.Function):
    @staticmethod
    def forward(ctx: Any, parts: Any, x: ad.Tensor) -> Any:
        return parts[0] * x

    @staticmethod
    def backward(ctx: Any, gradient: ad.Tensor) -> Any:
        return None, gradient * 2.0


class OfParameters(ad.Function):
    @staticmethod
    def forward(ctx: Any, parameters: Any, x: ad.Tensor, scale: Any) -> Any:
        ctx.save_for_backward(x)
        return x * scale

    @staticmethod
    def backward(ctx: Any, gradient: ad.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return ad.stack([ad.sum(gradient * x)]), gradient * 3.0, None


class Used(OfParameters):
    @staticmethod
    def forward(ctx: Any, parameters: Any, x: ad.Tensor, scale: Any) -> Any:
        ctx.save_for_backward(x)
        return x * scale + parameters[0] * 0.0


def test_an_argument_that_stands_for_what_the_code_computes_with() -> None:
    w = ad.variable(3.0, dtype="float64")
    scale = [w]
    for _ in range(2):  # the second time with another value
        flat = ad.stack([w])
        for parameters in (flat, flat * 1.0):
            w.grad = None
            made = OfParameters.apply(parameters, double(2.0), Holder(scale))
            equal(made, 2 * w.item())
            made.backward()
            equal(w.grad, 2.0)
        w.data = w + 1
        made = OfParameters.apply(flat, double(2.0), Holder(scale))
        equal(made, 2 * w.item())
    for wrong in (flat.detach(), double([1.0]), ad.variable([1.0], dtype="float64")):
        with pytest.raises(RuntimeError, match="none of its arguments"):
            OfParameters.apply(wrong, double(2.0), Holder(scale))
    with pytest.raises(
        RuntimeError, match="none of its arguments"
    ):  # that the code computes with it is as a tensor of its own
        Used.apply(flat, double(2.0), Holder(scale))


def test_a_rule_without_a_derivative_for_what_stands_for_a_tensor() -> None:
    class Silent(OfParameters):
        @staticmethod
        def backward(ctx: Any, gradient: ad.Tensor) -> Any:
            return None, gradient, None

    w = ad.variable(3.0, dtype="float64")
    flat, held = ad.stack([w]), Holder([w])
    made = Silent.apply(flat, double(2.0), held)
    equal(made, 6.0)
    with pytest.raises(RuntimeError, match="None for that argument"):
        made.backward()

    @ad.custom_vjp
    def scaled(parameters: ad.Tensor, x: ad.Tensor) -> ad.Tensor:
        return x * held

    scaled.def_vjp(lambda parameters, x: (x * held, None), lambda kept, g: (None, g))
    with pytest.raises(RuntimeError, match="None for that argument"):
        scaled(flat, double(2.0)).backward()

    @ad.custom_jvp
    def other(parameters: ad.Tensor, x: ad.Tensor) -> ad.Tensor:
        return x * held

    other.def_jvp(lambda primals, tangents: (primals[1] * 3.0, tangents[1] * 3.0))
    with pytest.raises(RuntimeError, match="None for that argument"):
        other(flat, double(2.0)).backward()


class Holder:
    """What holds tensors where nobody looks for them."""

    def __init__(self, parts: Any) -> None:
        self.parts = parts

    def __rmul__(self, x: Any) -> Any:
        return x * self.parts[0]


def test_a_tracked_tensor_that_no_rule_speaks_for() -> None:
    w = ad.variable(2.0, dtype="float64")
    ways = {
        "recorded": exponential(lambda x: (ad.exp(x) * w, x), lambda x, g: (g * ad.exp(x) * 2.0,)),
        "in NumPy": exponential(lambda x: (np.exp(x.numpy()) * w.numpy(), x), lambda x, g: (g * ad.exp(x) * 2.0,)),
    }
    function = ad.custom_jvp(lambda x: ad.exp(x) * w)
    function.def_jvp(lambda primals, tangents: (function(*primals), tangents[0] * ad.exp(primals[0]) * 2.0))
    for f in (*ways.values(), function):
        for compute in (f, ad.grad(f), f if f is ways["in NumPy"] else ad.jit(f)):
            with pytest.raises(RuntimeError, match=r"none of its arguments[\s\S]*test_custom_rules\.py"):
                compute(double(0.7))
        with ad.no_grad():
            equal(f(double(0.7)), 2 * np.exp(0.7))
    detached = exponential(lambda x: (ad.exp(x) * w.detach(), x), lambda x, g: (g * ad.exp(x) * 2.0,))
    equal(ad.grad(ad.grad(detached))(double(0.7)), 2 * np.exp(0.7))
    with pytest.raises(TypeError, match="a keyword holds a tracked tensor"):
        detached(double(0.7), scale=w)
    with pytest.raises(TypeError, match="an argument holds a tracked tensor"):
        Scaled.apply([w], double(0.7))
    equal(ad.grad(lambda x: Scaled.apply([double(2.0)], x))(double(0.7)), 2.0)


AROUND: dict[str, Any] = {
    "jit": lambda f: ad.jit(f),
    "jit of jit": lambda f: ad.jit(lambda x: ad.jit(f)(x)),
    "cond": lambda f: lambda x: ad.cond(x > 0, f, lambda x: x, x),
    "switch": lambda f: lambda x: ad.switch(ad.tensor(1), [lambda x: x, lambda x: ad.cond(x > 0, f, f, x)], x),
    "scan": lambda f: lambda x: ad.scan(lambda c, _: (f(c), None), x, length=1)[0],
    "fori_loop": lambda f: lambda x: ad.fori_loop(0, 1, lambda _, c: f(c), x),
    "while_loop": lambda f: lambda x: ad.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, f(c[1])), (0, x))[1],
    "map": lambda f: lambda x: ad.map(f, x[None])[0],
    "checkpoint": lambda f: ad.checkpoint(f),
    "vmap": lambda f: lambda x: ad.vmap(ad.jit(f))(ad.stack([x, x]))[0],
    "remembered": lambda f: lambda x: ad.scan(lambda c, _: (f(c), None), x, length=1, memory=1)[0],
}


def sines(factor: float) -> dict[str, Any]:
    """sin(y) with `factor` cos(y) as its derivative, y = 2 x² being no input of the function around it; what is saved is the
    input, what was computed of it, or the output."""
    saving_input, saving_more, forward = [ad.custom_vjp(lambda y: ad.sin(y)) for _ in range(2)] + [
        ad.custom_jvp(ad.sin)
    ]
    saving_input.def_vjp(lambda y: (ad.sin(y), y), lambda y, g: (g * factor * ad.cos(y),))
    saving_more.def_vjp(lambda y: ((out := ad.sin(y)), (out, ad.cos(y / 2))),
                        lambda saved, g: (g * factor * (2 * saved[1] ** 2 - 1 + 0 * saved[0]),))  # fmt: skip
    forward.def_jvp(lambda p, t: (forward(*p), t[0] * factor * ad.cos(p[0])))

    class Sine(ad.Function):
        @staticmethod
        def forward(ctx: Any, y: ad.Tensor) -> Any:
            ctx.save_for_backward(y)
            return ad.sin(y)

        @staticmethod
        def backward(ctx: Any, gradient: ad.Tensor) -> Any:
            return gradient * factor * ad.cos(ctx.saved_tensors[0])

    def host(y: ad.Tensor) -> Any:
        rule = lambda g, y: (g * factor * ad.cos(y),)  # noqa: E731
        return ad.host_call(np.sin, y, shape=y.shape, dtype="float64", vjp=rule, vmap=np.sin)

    rules = {
        "input": saving_input,
        "more": saving_more,
        "forward": forward,
        "Function": Sine.apply,
        "host": host,
        "batch of hosts": lambda y: ad.vmap(host)(ad.stack([y, y]))[1],
    }
    return {name: lambda x, f=f: f(2 * x**2) for name, f in rules.items()}


@pytest.mark.parametrize("around", AROUND)
def test_rules_within_what_is_recorded_once(around: str) -> None:
    """What a rule has saved follows the graph that it belongs to; and the second of two rules at the same line is its own."""
    x0 = 0.6
    y, slope = 2 * x0**2, 4 * x0
    for factor in (1.0, 3.0):
        first = factor * np.cos(y) * slope
        second = factor * (4 * np.cos(y) - np.sin(y) * slope**2)
        for f in sines(factor).values():
            whole, x = AROUND[around](f), double(x0)
            equal(whole(x), np.sin(y))
            equal(ad.grad(whole)(x), first)
            equal(ad.jvp(whole, (x,), (double(1.0),))[1], first)
            equal(ad.jit(ad.grad(whole))(x), first)
            equal(ad.grad(ad.grad(whole))(x), second)
            equal(ad.jvp(ad.grad(whole), (x,), (double(1.0),))[1], second)
            equal(ad.vmap(ad.grad(whole))(ad.stack([x, x])), np.array([first, first]))


class Exponential(ad.Function):
    """Saves its output, and as an attribute, too; counts how often its rule ran."""

    @staticmethod
    def forward(ctx: Any, x: ad.Tensor) -> Any:
        ctx.out = ad.exp(x)
        ctx.runs = 0
        ctx.save_for_backward(ctx.out, x)
        return ctx.out

    @staticmethod
    def backward(ctx: Any, gradient: ad.Tensor) -> Any:
        y, x = ctx.saved_tensors
        assert y is not x and y.node is ctx.out.node
        ctx.runs, ctx.note = ctx.runs + 1, "seen"
        assert ctx.runs == 1 or ctx.note == "seen"
        return gradient * y * float(ctx.runs)


def keeping(x: ad.Tensor) -> Any:
    @ad.custom_vjp
    def exp(x: ad.Tensor) -> Any:
        return ad.exp(x)

    def forward(x: ad.Tensor) -> Any:
        y = ad.exp(x)
        return y, {"y": y, "few": 1}

    exp.def_vjp(forward, lambda kept, g: (g * kept["y"] * float(kept["few"]),))
    return exp(x)


@pytest.mark.parametrize("call", [Exponential.apply, keeping])
def test_a_rule_that_keeps_its_output_is_freed_without_the_collector(call: Any) -> None:
    leaf = ad.variable([0.0, 1.0])
    gc.collect()
    gc.disable()
    try:
        for _ in range(15):  # nor by plans, and by what recognises their graphs
            leaf.grad = None
            x = leaf * 1.0
            y = call(x)
            y.sum().backward()
            np.testing.assert_allclose(leaf.grad.numpy(), np.exp([0.0, 1.0]), 1e-6)
            held = [weakref.ref(x), weakref.ref(y)]
            del x, y
            assert [ref() is None for ref in held] == [True, True]
    finally:
        gc.enable()


def test_a_rule_that_keeps_its_output_can_be_used_again_and_again() -> None:
    x = ad.variable([0.5, 1.0], dtype="float64")
    y = Exponential.apply(x)
    first = ad.gradients(y.sum(), [x])[0]
    second = ad.gradients(y.sum(), [x])[0]
    np.testing.assert_allclose(first.numpy(), np.exp([0.5, 1.0]), 1e-15)
    np.testing.assert_allclose(second.numpy(), 2 * np.exp([0.5, 1.0]), 1e-15)  # the rule has counted
    z = keeping(x)
    for _ in range(4):
        np.testing.assert_allclose(z.numpy(), np.exp([0.5, 1.0]), 1e-15)
        (z,) = ad.gradients(z.sum(), [x])
    rows = ad.vmap(ad.jit(ad.grad(lambda x: keeping(x) ** 2)))(x)
    np.testing.assert_allclose(rows.numpy(), 2 * np.exp([1.0, 2.0]), 1e-15)


def test_a_rule_that_differentiates_a_checkpoint_has_a_forward_mode() -> None:
    inner = ad.checkpoint(lambda x: ad.sin(x) * x)
    outer = ad.checkpoint(lambda x: inner(inner(x)) ** 2)

    @ad.custom_vjp
    def f(x: ad.Tensor) -> Any:
        return outer(x)

    f.def_vjp(lambda x: (outer(x), x), lambda x, g: ad.vjp(outer, x)[1](g))
    x, t = double([0.5, -1.25]), double([1.0, 0.5])
    equal(ad.jvp(f, (x,), (t,))[1], ad.jvp(outer, (x,), (t,))[1], 1e-13)
    square = lambda x: ad.sum(f(x) ** 2)  # noqa: E731
    expected = ad.jvp(ad.grad(lambda x: ad.sum(outer(x) ** 2)), (x,), (t,))[1]
    equal(ad.jvp(ad.grad(square), (x,), (t,))[1], expected, 1e-12)
    with pytest.raises(RuntimeError, match="not linear"):
        f.def_vjp(lambda x: (outer(x), x), lambda x, g: (ad.vjp(outer, x)[1](g)[0] * g,))
        ad.jvp(f, (x,), (t,))


def test_arguments_without_derivatives_come_first() -> None:
    """As JAX has `nondiff_argnums`."""

    @functools.partial(ad.custom_vjp, nondiff_argnums=(2, 0))
    def applied(f: Any, x: Any, n: int, y: Any = 1.0) -> Any:
        return f(x) * n + y

    def backward(f: Any, n: int, x: Any, g: Any) -> Any:
        assert f is ad.sin and n == 3
        return 10 * g * n * ad.cos(x), 100 * g

    applied.def_vjp(lambda f, x, n, y: (applied(f, x, n, y), x), backward)
    x, slope = double(0.5), 30 * np.cos(0.5)
    for whole in (
        lambda x, y: applied(ad.sin, x, 3, y),
        lambda x, y: applied(ad.sin, x, y=y, n=3),
        lambda x, y: applied(n=3, f=ad.sin, x=x, y=y),
    ):
        equal(whole(x, 2.0), 3 * np.sin(0.5) + 2)
        for found in (ad.grad(whole, (0, 1)), ad.jit(ad.grad(whole, (0, 1)))):
            equal(found(x, double(2.0))[0], slope)
            equal(found(x, double(2.0))[1], 100)
        equal(ad.jvp(lambda x, g=whole: g(x, 2.0), (x,), (double(1.0),))[1], slope)
        equal(ad.grad(ad.grad(whole))(x, 2.0), -30 * np.sin(0.5))
        equal(ad.vmap(ad.grad(lambda x, g=whole: g(x, 2.0)))(ad.stack([x, x])), [slope, slope])
    equal(applied(ad.sin, x, 3), 3 * np.sin(0.5) + 1)

    @ad.custom_jvp(nondiff_argnums=1)
    def power(x: Any, n: int = 2) -> Any:
        return x**n

    power.def_jvp(lambda n, primals, tangents: (power(primals[0], n), 7 * n * tangents[0]))
    assert (ad.grad(power)(3.0).item(), ad.grad(lambda x: power(x, n=5))(3.0).item()) == (14.0, 35.0)
    with pytest.raises(TypeError, match="nondiff_argnums holds a tracked tensor"):
        ad.grad(lambda n: power(x, n))(2.0)
    with pytest.raises(TypeError, match=r"<lambda>: nondiff_argnums \(4,\) of 1 positional"):
        ad.custom_jvp(lambda x: x, nondiff_argnums=4)(x)
    with pytest.raises(ValueError, match="positions of arguments"):
        ad.custom_vjp(ad.sin, nondiff_argnums=-1)
