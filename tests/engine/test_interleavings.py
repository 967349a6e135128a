"""Hypothesis interleaves recording, evaluation, rebinding and ``backward``; a naive model says what must come out.

The model computes every tensor at once with NumPy, and beside it the Jacobian by each variable, whatever its version.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

import adjoint as ad

N = 3
ZERO, ONE = np.zeros((N, N)), np.eye(N)
numbers = st.lists(st.integers(-12, 12), min_size=N, max_size=N).map(lambda eighths: np.array(eighths) / 8)
UNARY = {
    "sin": (ad.sin, np.sin, np.cos),
    "tanh": (ad.tanh, np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "exp": (lambda x: ad.exp(x * 0.3), lambda x: np.exp(x * 0.3), lambda x: 0.3 * np.exp(x * 0.3)),
    "square root": (
        lambda x: ad.where(x > 0, ad.sqrt(x), 0),
        lambda x: np.where(x > 0, np.sqrt(abs(x)), 0),
        lambda x: np.where(x > 0, 0.5 / np.sqrt(np.where(x > 0, x, 1)), 0),
    ),
}


class Model:
    """A vector, its Jacobian by each variable (by name), and the tensor that must have that value."""

    def __init__(self, tensor: ad.Tensor, value: np.ndarray, slopes: dict[int, np.ndarray]) -> None:
        self.tensor, self.value, self.slopes = tensor, value, slopes

    def assign(self, value: np.ndarray, slopes: dict[int, np.ndarray]) -> None:
        self.value, self.slopes = value, slopes


def combined(one: dict[int, np.ndarray], left: Any, other: dict[int, np.ndarray], right: Any) -> dict[int, np.ndarray]:
    """``left @ one + right @ other`` for each variable."""
    return {key: left @ one.get(key, ZERO) + right @ other.get(key, ZERO) for key in one.keys() | other.keys()}


class Interleaving(RuleBasedStateMachine):
    tensors = Bundle("tensors")
    variables = Bundle("variables")

    def __init__(self) -> None:
        super().__init__()
        self.gradients: dict[int, np.ndarray | None] = {}
        self.owners: dict[int, Model] = {}

    @initialize(target=variables, value=numbers)
    def first(self, value: np.ndarray) -> Model:
        return self.variable(value)

    @rule(target=variables, value=numbers)
    def variable(self, value: np.ndarray) -> Model:
        key = len(self.owners)
        self.gradients[key] = None
        self.owners[key] = Model(ad.variable(value), value, {key: ONE})
        return self.owners[key]

    @rule(target=tensors, value=numbers)
    def data(self, value: np.ndarray) -> Model:
        return Model(ad.tensor(value), value, {})

    @rule(target=tensors, x=tensors | variables, name=st.sampled_from(sorted(UNARY)))
    def unary(self, x: Model, name: str) -> Model:
        ours, value, slope = UNARY[name]
        return Model(ours(x.tensor), value(x.value), combined(x.slopes, np.diag(slope(x.value)), {}, ZERO))

    @rule(target=tensors, x=tensors | variables, y=tensors | variables, kind=st.sampled_from("+-*@"))
    def binary(self, x: Model, y: Model, kind: str) -> Model:
        if kind == "*":
            slopes = combined(x.slopes, np.diag(0.5 * y.value), y.slopes, np.diag(0.5 * x.value))
            return Model(x.tensor * y.tensor * 0.5, x.value * y.value * 0.5, slopes)
        if kind == "@":  # the dot product, spread over a vector
            slopes = combined(x.slopes, np.tile(0.2 * y.value, (N, 1)), y.slopes, np.tile(0.2 * x.value, (N, 1)))
            spread = 0.2 * ad.ones((N,), dtype="float64")
            return Model(spread * (x.tensor @ y.tensor), np.full(N, x.value @ y.value * 0.2), slopes)
        sign = 1 if kind == "+" else -1
        slopes = combined(x.slopes, ONE, y.slopes, sign * ONE)
        return Model(x.tensor + sign * y.tensor, x.value + sign * y.value, slopes)

    @rule(target=tensors, x=tensors | variables, way=st.sampled_from(["detach", "no_grad", "stop", "data"]))
    def cut(self, x: Model, way: str) -> Model:
        if way == "detach":
            return Model(x.tensor.detach(), x.value, {})
        if way == "stop":
            return Model(ad.stop_gradient(x.tensor) * 1, x.value, {})
        if way == "data":
            return Model(x.tensor.data * 2, x.value * 2, {})
        with ad.no_grad():
            return Model(x.tensor * 1, x.value, {})

    @rule(x=tensors, y=tensors | variables)
    def add_in_place(self, x: Model, y: Model) -> None:
        x.tensor += y.tensor
        x.assign(x.value + y.value, combined(x.slopes, ONE, y.slopes, ONE))

    @rule(x=tensors, y=tensors | variables, i=st.integers(0, N - 1), j=st.integers(0, N - 1))
    def assign_item(self, x: Model, y: Model, i: int, j: int) -> None:
        x.tensor[i] = y.tensor[j]
        keep, take = np.eye(N), np.zeros((N, N))
        keep[i, i], take[i, j] = 0, 1
        x.assign(keep @ x.value + take @ y.value, combined(x.slopes, keep, y.slopes, take))

    @rule(x=variables, step=numbers, way=st.sampled_from(["data", "data -=", "no_grad", "item"]))
    def rebind(self, x: Model, step: np.ndarray, way: str) -> None:
        before = x.tensor
        if way == "data":
            x.tensor.data = x.value - step
        elif way == "data -=":
            x.tensor.data -= step
        elif way == "item":
            x.tensor.data[0] = 0.5
        else:
            with ad.no_grad():
                x.tensor -= step
        assert x.tensor is before
        x.value = np.concatenate([[0.5], x.value[1:]]) if way == "item" else x.value - step

    @rule(x=tensors | variables, cotangent=numbers)
    def backward(self, x: Model, cotangent: np.ndarray) -> None:
        if not x.tensor.requires_grad:
            assert not x.slopes
            return
        x.tensor.backward(ad.tensor(cotangent))
        for key, slope in x.slopes.items():
            before = self.gradients[key]
            self.gradients[key] = cotangent @ slope + (0 if before is None else before)

    @rule(x=variables, rate=st.sampled_from([0.1, 0.01]))
    def descend(self, x: Model, rate: float) -> None:
        (key,) = x.slopes
        gradient = self.gradients[key]
        if gradient is not None and x.tensor.grad is not None:
            x.tensor.data -= rate * x.tensor.grad
            x.value = x.value - rate * gradient
            x.tensor.grad = None
            self.gradients[key] = None

    @rule(x=tensors | variables)
    def read(self, x: Model) -> None:
        np.testing.assert_allclose(x.tensor.numpy(), x.value, 1e-9, 1e-12)

    @rule(x=tensors | variables, y=tensors | variables)
    def read_together(self, x: Model, y: Model) -> None:
        ad.evaluate(x.tensor, y.tensor)
        self.read(y)
        self.read(x)

    @rule(x=variables)
    def read_gradient(self, x: Model) -> None:
        (key,) = x.slopes
        found, expected = x.tensor.grad, self.gradients[key]
        if found is None:
            assert expected is None or not expected.any()
        else:
            np.testing.assert_allclose(found.numpy(), np.zeros(N) if expected is None else expected, 1e-9, 1e-11)

    @rule(x=consumes(tensors))
    def forget(self, x: Model) -> None:
        del x.tensor

    @invariant()
    def tracked_as_the_model_says(self) -> None:
        assert all(owner.tensor.requires_grad for owner in self.owners.values())

    def teardown(self) -> None:
        for owner in self.owners.values():
            self.read_gradient(owner)
            self.read(owner)


TestInterleaving = Interleaving.TestCase
