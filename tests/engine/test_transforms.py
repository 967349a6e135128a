"""Derivatives of functions, nested and over containers; graphs run again with other leaf values."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import threading
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.derive import one_cotangent, reverse
from adjoint.graph import Node, topological
from adjoint.primitives.core import ops
from adjoint.tensors.named import wrap
from adjoint.transforms.grad import Inputs
from support import double, equal

# ---- functional transforms -------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: Any
    rest: tuple[Any, ...]


def test_nested_containers_go_through_every_transform() -> None:
    def f(tree: dict[str, Any], scale: ad.Tensor) -> dict[str, Any]:
        point = tree["point"]
        return {"out": [tree["a"][0] * point.x, (point.rest[0] * scale,)], "none": None}

    def total(tree: dict[str, Any], scale: ad.Tensor) -> ad.Tensor:
        out = f(tree, scale)["out"]
        return out[0].sum() + out[1][0].sum()

    tree = {"a": [double([1.0, 2.0])], "point": Point(double([3.0, 4.0]), (double(5.0), None))}
    value, found = ad.value_and_grad(total)(tree, double(10.0))
    equal(value, 61.0)
    equal(found["a"][0], [3.0, 4.0])
    assert isinstance(found["point"], Point) and isinstance(found["point"].rest, tuple)
    equal(found["point"].rest[0], 10.0)
    by_tree, by_scale = ad.grad(total, argnums=(0, 1))(tree, double(10.0))
    equal(by_tree["point"].x, [1.0, 2.0])
    equal(by_scale, 5.0)
    equal(ad.grad(total, argnums=1)(tree, double(10.0)), 5.0)
    out, pullback = ad.vjp(f, tree, double(10.0))
    pulled, scale = pullback({"out": [double([1.0, 1.0]), (double(2.0),)], "none": None})
    equal(out["out"][0], [3.0, 8.0])
    equal(pulled["point"].rest[0], 20.0)
    equal(scale, 10.0)
    tangents = {"a": [double([1.0, 0.0])], "point": Point(double([0.0, 1.0]), (double(0.0), None))}
    _, pushed = ad.jvp(f, (tree, double(10.0)), (tangents, double(1.0)))
    equal(pushed["out"][0], [3.0, 2.0])
    equal(pushed["out"][1][0], 5.0)


def test_auxiliary_output() -> None:
    def f(x: ad.Tensor) -> tuple[ad.Tensor, dict[str, ad.Tensor]]:
        return (x * x).sum(), {"double": x * 2}

    found, auxiliary = ad.grad(f, has_aux=True)(double([1.0, 2.0]))
    equal(found, [2.0, 4.0])
    equal(auxiliary["double"], [2.0, 4.0])
    (value, auxiliary), found = ad.value_and_grad(f, has_aux=True)(double([1.0, 2.0]))
    equal(value, 5.0)
    equal(found, [2.0, 4.0])
    equal(auxiliary["double"], [2.0, 4.0])


@pytest.mark.filterwarnings("ignore::adjoint.PrecisionWarning")
def test_results_are_untracked_where_the_inputs_are() -> None:
    x = double([1.0, 2.0])
    out, pullback = ad.vjp(lambda x: x * 2, x)
    value, gradient = ad.value_and_grad(lambda x: (x * x).sum())(x)
    _, auxiliary = ad.grad(lambda x: ((x * x).sum(), {"double": x * 2}), has_aux=True)(x)
    results = [out, *pullback(x), value, gradient, auxiliary["double"], *ad.jvp(lambda x: x * x, (x,), (x,))]
    assert [result.requires_grad for result in results] == [False] * 7
    equal(out, [2.0, 4.0])
    w = ad.variable([1.0, 2.0])
    assert ad.vjp(lambda x: x * w, x)[0].requires_grad and ad.grad(lambda x: (x * w).sum())(x).requires_grad


def test_keyword_arguments_pass_through() -> None:
    equal(ad.grad(lambda x, *, n: x**n)(double(2.0), n=3), 12.0)


def forward(f: Any) -> Any:
    """The derivative of a function of one scalar in forward mode."""
    return lambda x: ad.jvp(f, (x,), (ad.ones_like(x),))[1]


@pytest.mark.parametrize(("outer", "inner"), list(itertools.product((ad.grad, forward), repeat=2)))
def test_perturbations_are_not_confused(outer: Any, inner: Any) -> None:
    one, two = double(1.0), double(2.0)
    equal(outer(lambda x: x * inner(lambda y: x + y)(one))(one), 1.0)
    equal(outer(lambda x: inner(lambda y: x * y)(x))(two), 1.0)
    equal(outer(lambda x: x * inner(lambda y: x * y * y)(x))(two), 24.0)
    equal(outer(lambda x: inner(lambda y: y**3)(x) * x)(two), 36.0)
    equal(outer(inner(outer(lambda x: x**5)))(two), 240.0)


def test_closed_over_variables_get_their_own_gradients() -> None:
    w = ad.variable(3.0, dtype="float64")
    inner = ad.grad(lambda x: w * x**2)(double(2.0))
    equal(inner, 12.0)
    inner.backward()
    equal(w.grad, 4.0)
    equal(ad.grad(lambda x: w * x)(w), 3.0)


def test_differentiating_by_a_variable_that_is_an_argument_leaves_its_grad_alone() -> None:
    w = ad.variable([1.0, 2.0])
    equal(ad.grad(lambda w: (w * w).sum())(w), [2.0, 4.0])
    assert w.grad is None


def test_what_the_output_does_not_depend_on_has_derivative_zero() -> None:
    x, y = double([1.0, 2.0]), double([[3.0]])
    found = ad.grad(lambda x, y: (x * 2).sum(), argnums=(0, 1))(x, y)
    equal(found[1], [[0.0]])
    equal(ad.grad(lambda x: double(5.0))(x), [0.0, 0.0])
    _, tangent = ad.jvp(lambda x: y, (x,), (x,))
    equal(tangent, [[0.0]])
    equal(ad.grad(ad.grad(lambda x: x))(double(2.0)), 0.0)


def test_the_same_tensor_as_two_arguments() -> None:
    x = double(3.0)
    found = ad.grad(lambda a, b: a * a * b, argnums=(0, 1))(x, x)
    equal(found[0], 18.0)
    equal(found[1], 9.0)


def test_pullback_may_be_called_again() -> None:
    _, pullback = ad.vjp(lambda x: x * x, double([1.0, 2.0]))
    equal(pullback(double([1.0, 0.0]))[0], [2.0, 0.0])
    equal(pullback(double([0.0, 1.0]))[0], [0.0, 4.0])


def test_python_control_flow_on_values() -> None:
    def f(x: ad.Tensor) -> ad.Tensor:
        y = x * x if x > 0 else -x
        while y < 50:
            y = y * x if float(y) < 10 else y + 40 * x
        return y

    equal(ad.grad(f)(double(3.0)), _numeric(f, 3.0), 1e-5)
    equal(ad.grad(lambda x: x if x > 0 else -x)(double(-2.0)), -1.0)
    equal(ad.grad(ad.grad(f))(double(3.0)), _numeric(ad.grad(f), 3.0), 1e-4)
    equal(ad.jvp(f, (double(3.0),), (double(1.0),))[1], _numeric(f, 3.0), 1e-5)


def _numeric(f: Any, x: float, step: float = 1e-5) -> float:
    return (f(double(x + step)).item() - f(double(x - step)).item()) / (2 * step)


# ---- other leaf values -----------------------------------------------------------------------------------------------


def test_evaluate_with_other_leaf_values() -> None:
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = 3 * x**3 + 4 * x + 1 + x * z
    dx, dz = ad.gradients(y, [x, z])
    assert ad.evaluate(y, {x: 3.0}).item() == 94.0
    assert ad.evaluate(dx, {x: 3.0, z: 1.0}).item() == 86.0
    assert ad.evaluate(y, {x: np.float32(1.0), z: ad.tensor(2.0)}).item() == 10.0
    assert (y.item(), x.item(), dz.item()) == (33.0, 2.0, 2.0)
    inner = x * x
    outer = inner + x
    assert ad.evaluate(outer, {inner: 10.0}).item() == 12.0


def test_evaluate_raises_for_what_nothing_depends_on() -> None:
    x, z = ad.variable(2.0), ad.variable(1.0)
    y, again = x * 2 + 1, x * 2
    assert (
        ad.evaluate(y, {z: 3.0}).item() == ad.evaluate(y).item() == 5.0
    )  # what a variable is not in, it doesn't change
    for other in (again, ad.tensor(2.0)):
        with pytest.raises(ValueError, match="nothing here depends"):
            ad.evaluate(y, {other: 3.0})
    with pytest.raises(ValueError, match="nothing here depends"):
        ad.function([again], [y])
    assert ad.function([x], ad.gradients(3 * x, [x]))(5.0)[0].item() == 3.0  # a derivative may be constant


def test_evaluate_forces_all_at_once() -> None:
    calls: list[int] = []

    def host(array: np.ndarray) -> np.ndarray:
        calls.append(1)
        return array * 2

    x = ad.tensor([1.0, 2.0])
    y = ad.host_call(host, x, shape=(2,), dtype="float32")
    a, b = y + 1, y * 3
    assert calls == []
    ad.evaluate(a, b)
    assert calls == [1]
    equal(a, [3.0, 5.0])
    equal(b, [6.0, 12.0])
    assert calls == [1]


def test_function_of_a_recorded_graph() -> None:
    x, w = ad.variable([1.0, 2.0], dtype="float64"), ad.variable(3.0, dtype="float64")
    y = (ad.sin(x) * w).sum()
    (dx,) = ad.gradients(y, [x])
    replay = ad.function([x, w], [y, dx])
    for scale in (1.0, -2.0, 0.0):
        point = np.array([0.5, scale])
        value, slope = replay(point, scale)
        equal(value, (np.sin(point) * scale).sum())
        equal(slope, np.cos(point) * scale)
    single = ad.function([x], [y])(np.zeros(2))
    equal(single[0] if isinstance(single, (list, tuple)) else single, 0.0)
    with pytest.raises((ValueError, TypeError)):
        replay(np.zeros(3), 1.0)
    with pytest.raises(TypeError):
        replay(np.zeros(2))
    equal(y, 3 * np.sin([1.0, 2.0]).sum())


def test_evaluation_from_several_threads() -> None:
    ad.set_deterministic()
    shared = ad.variable(np.linspace(0, 1, 1000))
    y = shared
    for _ in range(200):
        y = ad.sin(y) + shared * 0.01
    total = y.sum()
    answers: list[float] = []
    gradients: list[np.ndarray] = []

    def work() -> None:
        gradients.append(ad.gradients(total, [shared])[0].numpy())
        answers.append(total.item())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == len(gradients) == 8 and len(set(answers)) == 1
    for gradient in gradients[1:]:
        np.testing.assert_array_equal(gradient, gradients[0])


# ---- gradients switched off ------------------------------------------------------------------------------------------

W = ad.variable(3.0, dtype="float64")


def cubed(x: Any) -> Any:
    return W * x**3


UNTRACKED = {
    "grad": lambda w: ad.grad(cubed)(w), "by a number": lambda w: ad.grad(cubed)(3.0),
    "value_and_grad": lambda w: ad.value_and_grad(cubed)(w), "aux": lambda w: ad.value_and_grad(
        lambda x: (cubed(x), {"inner": [W * x, W * 2.0]}), has_aux=True)(w),
    "vjp": lambda w: (lambda out, pullback: (out, pullback(1.0)))(*ad.vjp(cubed, w)),
    "jvp": lambda w: ad.jvp(cubed, (w,), (W,)),
    "linearize": lambda w: (lambda out, push: (out, push(W)))(*ad.linearize(cubed, w)),
    "jacobian": lambda w: ad.jacobian(lambda x: ad.stack([cubed(x), W]))(w), "jacfwd": lambda w: ad.jacfwd(cubed)(w),
    "hessian": lambda w: ad.hessian(cubed)(w), "hvp": lambda w: ad.hvp(cubed, w, W),
    "a constant": lambda w: ad.value_and_grad(lambda x: W * 2)(w), "jit": lambda w: ad.jit(ad.grad(cubed))(w),
    "vmap": lambda w: ad.vmap(ad.grad(cubed))(ad.stack([w, w])),
}  # fmt: skip


@pytest.mark.parametrize("name", UNTRACKED)
def test_no_grad_reaches_every_transform(name: str) -> None:
    compute = UNTRACKED[name]
    tracked = ad.tree.flatten(compute(W))[0]
    with ad.no_grad():
        found = ad.tree.flatten(compute(W))[0]
    assert not any(x.requires_grad for x in found)
    for x, y in zip(found, tracked, strict=True):
        equal(x, y.detach())


def test_a_gradient_is_counted_once() -> None:
    w = ad.variable(3.0)
    with ad.no_grad():
        slope = ad.grad(lambda w: w**3)(w)
        (_, aux), _ = ad.value_and_grad(lambda x: (x * w, w), has_aux=True)(2.0)
    assert aux is w
    (w * slope).backward()
    equal(w.grad, 27.0)


def test_a_pullback_made_without_gradients_follows_its_cotangent() -> None:
    with ad.no_grad():
        _, pullback = ad.vjp(cubed, W)
        _, pushforward = ad.linearize(cubed, W)
    c = ad.variable(2.0, dtype="float64")
    for apply in (lambda c: pullback(c)[0], pushforward):
        c.grad = W.grad = None
        result = apply(c)
        equal(result.detach(), 162.0)
        result.backward()
        equal(c.grad, 81.0)
        assert W.grad is None
        with ad.no_grad():
            assert not apply(c).requires_grad


@pytest.mark.parametrize("take", [
    lambda f, x: ad.jvp(f, (x,), (x,), has_aux=True)[2],
    lambda f, x: ad.vjp(f, x, has_aux=True)[2],
    lambda f, x: ad.jacrev(f, has_aux=True)(x)[1],
    lambda f, x: ad.jacfwd(f, has_aux=True)(x)[1],
])  # fmt: skip
def test_what_comes_beside_a_value_is_given_out_untracked(take):
    x = double([1.0, 2.0])

    def f(v):
        return v**2, {"sum": v.sum(), "number": 3}

    found = take(f, x)
    assert found["sum"].item() == 3.0 and not found["sum"].requires_grad and found["number"] == 3
    outer = ad.grad(lambda v: take(f, v)["sum"])(x)
    assert outer.tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match=r"\(value, aux\)"):
        take(lambda v: v * 2, x)


@pytest.mark.parametrize("seed", range(30))
def test_what_markers_alone_make_tracked_is_untracked(seed):
    """By the walk without sets where nothing else is tracked, and by the one with sets, on random graphs."""
    rng = np.random.default_rng(seed)
    inputs = Inputs("grad", [ad.tensor(1.0), ad.tensor(2.0)])
    nodes = [*inputs.markers, ad.tensor(3.0).node]
    if seed % 3 == 0:
        nodes.append(ad.variable(4.0).node)  # tracked, and no marker
    for _ in range(40):
        a, b = (nodes[rng.integers(len(nodes))] for _ in range(2))
        nodes.append(ops.add(a, b) if rng.random() < 0.8 else ops.negative(a))
    results = [None, *nodes[-3:]]
    ours = set(inputs.tracked_for_us(results))
    expected = [node.tracked and node not in ours for node in nodes]
    others = seed % 3 == 0 and nodes[3] in topological(nodes[-3:], lambda node: node.tracked)
    assert inputs.release_all(results) is not others
    if others:
        assert all(node.tracked for node in ours)
    inputs.release(results)
    assert [node.tracked for node in nodes] == expected


@pytest.mark.parametrize("make", [ad.tensor, copy.copy, copy.deepcopy, lambda x: ad.asarray(x, copy=True)])
def test_copies_of_what_has_no_value_yet(make):
    """Of what stands for an argument: the copy is the same value under another name."""

    def f(x):
        y = make(x * 2)
        z = y + 0
        y += 1
        return y * x + z

    x = ad.tensor([3.0, 4.0])
    assert ad.vmap(f)(x).tolist() == f(x).tolist() == ad.jit(f)(x).tolist() == [27.0, 44.0]
    assert ad.map(f, x).tolist() == [27.0, 44.0]


def recorded_at_random(seed: int) -> tuple[Inputs, list[Node]]:
    """Products and the like of two markers, a constant and, for every third seed, a variable."""
    rng = np.random.default_rng(seed)
    inputs = Inputs("grad", [ad.tensor(1.0), ad.tensor(2.0)])
    nodes = [*inputs.markers, ad.tensor(3.0).node, *([ad.variable(4.0).node] if seed % 3 == 0 else [])]
    for _ in range(30):
        a, b = (nodes[rng.integers(len(nodes))] for _ in range(2))
        nodes.append(ops.multiply(a, b) if rng.random() < 0.8 else ops.sin(a))
    return inputs, nodes


@pytest.mark.parametrize("seed", range(30))
def test_a_gradient_that_is_not_differentiated_again_is_recorded_untracked(seed):
    """With the marks and the values that it has where all is recorded tracked and untracked afterwards."""
    found = []
    for release in (True, False):
        inputs, nodes = recorded_at_random(seed)
        y = ops.multiply(nodes[-1], nodes[0])
        cotangents = reverse([y], [one_cotangent(y)], inputs.markers, stop=True, release=release)
        variable = seed % 3 == 0 and nodes[3] in topological([y])
        assert y.tracked is (variable or not release)
        assert y.tracked or not any(g.tracked for g in cotangents if g is not None)
        inputs.release([y, *cotangents])
        below = topological([y, *[g for g in cotangents if g is not None]])
        values = ad.evaluate([wrap(g) for g in cotangents if g is not None])
        found.append(([x.tracked for x in below], [v.tolist() for v in values]))
    assert found[0] == found[1]


def test_rules_of_the_users_see_that_gradients_are_on():
    seen = []

    @ad.custom_vjp
    def double_of(x):
        return 2 * x

    def backward(kept, u):
        seen.append(ad.is_grad_enabled())
        return (2 * u,)

    double_of.def_vjp(lambda x: (2 * x, None), backward)
    value, gradient = ad.value_and_grad(lambda x: double_of(x) * x)(3.0)
    assert (value.item(), gradient.item(), seen) == (18.0, 12.0, [True])
    assert not value.requires_grad and not gradient.requires_grad
