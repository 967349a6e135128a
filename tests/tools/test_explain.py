"""Explanations, reports on NaN, gradient flow, and the checker of gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad
from support import double, equal


def test_a_cubic(capsys):
    x, z = ad.variable(2.0, name="x"), ad.variable(0.0, name="z")
    y = 3 * x**3 + 4 * x + 1 + x * z
    found = ad.explain(y, x)
    text = capsys.readouterr().out
    assert text == f"{found}\n"
    assert text.startswith("dy/dx = 40, the sum over 3 paths:")
    assert "[12 × 3]" in text and "test_explain.py:" in text and text.rstrip().endswith("40  in all")
    assert [term.contribution.item() for term in found.terms] == [36.0, 4.0, 0.0]
    assert found.total == 40.0 and found.paths == 3
    assert [float(t.contribution) for t in ad.explain(y, z).terms] == [2.0]
    steps = dict(found.terms[0].steps)
    assert steps["PowerConstant = 8"] == 12.0 and steps["Multiply = 24"] == 3.0


@pytest.mark.parametrize("most", [1, 2, 5, 20, 1000])
def test_many_paths_are_folded(most):
    x = ad.variable(0.5)
    h = x
    for _ in range(8):
        h = h * h + x * 0.3
    found = ad.explain(h, x, most=most)
    assert len(found.terms) <= max(most, 1)
    assert found.paths == 2**9 - 1
    total = sum(term.contribution for term in found.terms)
    np.testing.assert_allclose(total, ad.gradients(h, [x])[0].item(), 1e-5)
    np.testing.assert_allclose(found.total, total, 1e-5)


def test_a_chain_of_many_paths_stays_quick():
    x = ad.variable(np.array(0.01))
    h = x
    for _ in range(1000):
        h = ad.sin(h) + x
    found = ad.explain(h, x)
    assert found.paths == 1001 and len(found.terms) <= 20
    np.testing.assert_allclose(sum(t.contribution for t in found.terms), ad.gradients(h, [x])[0].item())


def test_arrays_custom_rules_and_checkpoints(capsys):
    w, v = ad.variable(np.arange(6.0).reshape(2, 3)), double(np.ones(3))

    @ad.custom_vjp
    def doubled(t):
        return t * 2, t

    doubled.def_vjp(lambda t: ((t * 2, t), None), lambda _, g: (g[0] * 2 + g[1],))
    parts = ad.checkpoint(lambda t: doubled(ad.tanh(t @ v)))(w)
    y = parts[0].sum() * parts[1][0] + (w**2).sum()
    found = ad.explain(y, w)
    equal(sum(t.contribution for t in found.terms), ad.gradients(y, [w])[0].numpy())
    assert "doubled" in str(found) and len(found.terms) == 3
    assert "Tanh [2]" in capsys.readouterr().out


def test_explain_misuse(capsys):
    x = ad.variable(2.0)
    assert "does not depend" in str(ad.explain(ad.variable(1.0) * 2, x))
    with pytest.raises(ValueError, match=r"one element.*test_explain.py"):
        ad.explain(x * ad.ones(3), x)
    with pytest.raises(RuntimeError, match=r"not tracked.*test_explain.py"):
        ad.explain(x * 2, ad.tensor(1.0))


# NaN ------------------------------------------------------------------------------------------------------------------


def test_the_first_nan_forward(capsys):
    x = ad.variable(np.array([1.0, -2.0]), name="x")
    y = (ad.exp(ad.log(x * 3)) + 1).sum()
    found = ad.explain_nan(y)
    assert (found.direction, found.operation, found.kind, found.element) == ("forward", "Log", "NaN", (1,))
    equal(found.operands[0], [3.0, -6.0])
    assert "Log(-6) = nan" in found.text and "test_explain.py:" in found.place
    assert capsys.readouterr().out == f"{found.text}\n"
    assert ad.explain_nan(ad.exp(x * 1000).sum()).kind == "infinity"


def test_the_first_nan_backward():
    x = ad.variable(np.array([0.0, 4.0]))
    found = ad.explain_nan(ad.sqrt(x).sum())
    assert (found.direction, found.kind, found.element) == ("backward", "infinity", (0,))
    assert "derivative of Sqrt" in found.text and "test_explain.py:" in found.place


def test_where_the_convention_acted():
    x = ad.variable(np.array([0.0, 4.0]))
    found = ad.explain_nan(ad.where(x > 0, ad.sqrt(x), 0.0).sum())
    assert found.direction is None and "Everything is finite" in found.text
    ((operation, place, elements),) = found.masked
    assert operation == "SafeDivide" and "test_explain.py:" in place and elements == 1


def test_a_leaf_that_is_nan():
    found = ad.explain_nan(ad.variable(np.array([1.0, np.nan]), name="x") * 2)
    assert found.operation == "x" and "x holds a NaN itself" in found.text
    w = ad.variable(1.0)
    assert "a constant holds" in ad.explain_nan(w * ad.tensor(float("inf"))).text


@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.data.__setitem__(0, -1.0),
        lambda w: w.data.__setitem__(slice(1, None), -w.data[1:]),
        lambda w: w.data.__setitem__(ad.tensor([0, 2]), ad.tensor([5.0, -2.0])),
        lambda w: w.data.__isub__(1.5),
        lambda w: [w.data.__isub__(3.0), w.data.__setitem__(1, 2.0)],
    ],
)
def test_explain_nan_after_a_write_that_nobody_read(write, capsys):
    w = ad.variable([1.0, 2.0, 3.0], name="w")
    write(w)
    report = ad.explain_nan(ad.log(w).sum())
    assert (report.operation, report.kind, report.direction) == ("Log", "NaN", "forward")
    assert capsys.readouterr().out == f"{report.text}\n"


def test_a_nan_that_was_written(capsys):
    w = ad.variable([1.0, 2.0, 3.0])
    w.data[1] = float("nan")
    assert "holds a NaN itself" in ad.explain_nan(w.sum()).text


def test_explain_nan_after_the_loss_was_read():
    w = ad.variable(np.array([0.5, -0.5]))
    loss = ad.log(w).sum()
    assert math.isnan(loss.item())
    loss.backward()
    assert ad.explain_nan(loss).operation == "Log"


# Gradient flow --------------------------------------------------------------------------------------------------------


def test_gradient_flow(tmp_path, capsys):
    ad.random.seed(0)
    layers = [m for _ in range(12) for m in (ad.nn.Linear(8, 8), ad.nn.Sigmoid())]
    model = ad.nn.Sequential(*layers, ad.nn.Linear(8, 1))
    x = ad.random.normal((16, 8))
    model(x).sum().backward()
    flow = ad.gradient_flow(model)
    by_name = {layer.name: layer for layer in flow.layers}
    assert list(by_name) == [name for name, _ in model.named_parameters()]
    assert by_name["0.weight"].state == "vanishing" and by_name["24.weight"].state != "vanishing"
    g = model.get_parameter("24.weight").grad.numpy() if hasattr(model, "get_parameter") else None
    if g is not None:
        np.testing.assert_allclose(by_name["24.weight"].gradient, np.sqrt((g**2).mean()), 1e-5)
    text = capsys.readouterr().out
    assert "gradient rms" in text and "vanishing" in text
    flow.plot(tmp_path / "flow.png")
    assert (tmp_path / "flow.png").stat().st_size > 1000


def test_gradient_flow_counts_dead_units_and_names_what_is_wrong():
    model = ad.nn.Sequential(ad.nn.Linear(3, 4), ad.nn.ReLU(), ad.nn.Linear(4, 1))
    with pytest.raises(RuntimeError, match=r"backward\(\) first.*test_explain.py"):
        ad.gradient_flow(model)
    weight, bias = model[0].weight, model[0].bias
    weight.data = np.ones((4, 3), "float32")
    bias.data = np.array([0, 0, -10, -10], "float32")
    model(ad.ones((2, 3))).sum().backward()
    first, *_ = ad.gradient_flow(model).layers
    assert (first.dead, first.units, first.state) == (2, 4, "")
    model[2].weight.grad = np.full((1, 4), np.nan, "float32")
    model[0].bias.grad = None
    weight.grad = np.zeros((4, 3), "float32")
    assert [layer.state for layer in ad.gradient_flow(model).layers] == ["dead", "no gradient", "not finite", ""]


# Checking gradients ---------------------------------------------------------------------------------------------------


def wrong_cube(error):
    @ad.custom_vjp
    def cube(x):
        return x**3

    cube.def_vjp(lambda x: (x**3, x), lambda x, g: (g * (3 * x**2 + error),))
    return cube


def test_right_derivatives_pass():
    generator = np.random.default_rng(0)
    w, z = ad.tensor(generator.normal(size=(2, 3))), ad.tensor(generator.normal(size=3) + 1j * generator.normal(size=3))
    ad.check_grads(
        lambda p, s: {"y": ad.tanh(p["w"] @ s), "n": p["n"]}, ({"w": w, "n": 3}, double([1.0, 2.0, 3.0])), order=3
    )
    ad.check_grads(lambda v: (v * ad.conj(v)).real.sum() * v, (z,))
    ad.check_grads(ad.sin, (0.5,), order=1)  # float32: a wide step
    ad.check_grads(ad.sin, (double(0.5),), modes=("reverse",), step=1e-4)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_wrong_derivative_is_located(mode):
    x, y = double([1.0, 2.0]), double([[1.0, 2.0], [3.0, 4.0]])
    cube = wrong_cube(double([[0, 0], [1e-3, 0]]))
    with pytest.raises(AssertionError) as caught:
        ad.check_grads(lambda p: p["x"].sum() * cube(p["y"]), ({"x": x, "y": y},), modes=(mode,))
    text = str(caught.value)
    assert f"{mode} mode at order 1" in text and "args[0]['y'], element [1, 0]" in text
    assert "step 6.06e-06" in text and "1 of the 4 elements" in text and "test_explain.py:" in text
    if mode == "forward":
        assert "output element [1, 0]: 81.003, by central differences 81 (they differ by 0.003" in text


def test_a_wrong_second_derivative_is_located():
    @ad.custom_vjp
    def cube(x):
        return x**3

    cube.def_vjp(lambda x: (x**3, x), lambda x, g: (g * 3 * x * ad.stop_gradient(x),))
    ad.check_grads(cube, (double([1.0, 2.0]),), order=1)
    with pytest.raises(AssertionError, match=r"order 2 \(the derivative of the forward-mode derivative\) of cube"):
        ad.check_grads(cube, (double([1.0, 2.0]),))
    with pytest.raises(AssertionError, match=r"reverse mode at order 2"):
        ad.check_grads(cube, (double([1.0, 2.0]),), modes=("reverse",))


def test_complex_elements_are_located():
    @ad.custom_vjp
    def double_it(z):
        return z * 2

    double_it.def_vjp(lambda z: (z * 2, None), lambda _, g: (ad.conj(g) * 2,))
    z = ad.tensor(np.array([1 + 1j, 2 - 1j]))
    with pytest.raises(AssertionError, match=r"element \[0\]"):
        ad.check_grads(double_it, (z,), order=1)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ad.check_grads(ad.sin, 1.0), TypeError, "tuple"),
        (lambda: ad.check_grads(ad.sin, (1.0,), modes=("sideways",)), ValueError, "sideways"),
        (lambda: ad.check_grads(ad.sin, (1.0,), modes=()), ValueError, "modes"),
        (lambda: ad.check_grads(ad.sin, (1.0,), order=0), ValueError, "order"),
        (lambda: ad.check_grads(lambda n: n, (1,)), ValueError, "no floating"),
    ],
)
def test_check_grads_misuse(call, error, message):
    with pytest.raises(error, match=f"{message}.*test_explain.py"):
        call()
