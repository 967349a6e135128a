"""Programs that Hypothesis draws: every way of computing one and its derivatives must agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import adjoint as ad
from derivative_checks import check_derivatives, tensors, values
from drawn_programs import Program, programs


@given(programs())
def test_values_are_numpys(program: Program) -> None:
    expected = program.run(np, program.inputs)
    for found, other in zip(values(program.run(ad, tensors(program.inputs))), expected, strict=True):
        assert found.shape == np.shape(other) and found.dtype == np.float64
        np.testing.assert_allclose(found, other, 1e-10, 1e-12)


@given(programs())
def test_derivatives_in_every_mode(program: Program) -> None:
    check_derivatives(program.of_tensors, program.inputs, tolerance=2e-5)


def total(program: Program) -> Callable[..., ad.Tensor]:
    def of(*inputs: ad.Tensor) -> ad.Tensor:
        results = program.of_tensors(*inputs)
        return sum((ad.sum(ad.sin(result + number)) for number, result in enumerate(results)), ad.tensor(0.0))

    return of


@given(programs())
def test_every_way_to_a_gradient_gives_the_same(program: Program) -> None:
    f, everything = total(program), tuple(range(len(program.inputs)))
    expected = values(ad.grad(f, everything)(*tensors(program.inputs)))

    variables = [ad.variable(x) for x in program.inputs]
    loss = f(*variables)
    by_gradients = values(ad.gradients(loss, variables))
    loss.backward()
    loss.backward()
    by_backward = [x.grad.numpy() / 2 if x.grad is not None else np.zeros(x.shape) for x in variables]
    _, by_value_and_grad = ad.value_and_grad(f, everything)(*tensors(program.inputs))
    _, pullback = ad.vjp(f, *tensors(program.inputs))
    by_vjp = pullback(ad.ones((), dtype="float64"))
    for ways in zip(expected, by_gradients, by_backward, values(by_value_and_grad), values(by_vjp), strict=True):
        for way in ways[1:]:
            np.testing.assert_allclose(way, ways[0], 1e-10, 1e-12)


@given(programs())
def test_evaluation_together_and_one_at_a_time(program: Program) -> None:
    together = values(program.run(ad, tensors(program.inputs)))
    for apart in (reversed, iter):
        for tracked in (ad.tensor, ad.variable):
            recorded = program.run(ad, [tracked(x) for x in program.inputs])
            numbers = list(apart(range(len(recorded))))
            for number in numbers:
                np.testing.assert_allclose(recorded[number].numpy(), together[number], 1e-12, 1e-13)


@given(programs(), st.integers(0, 99))
def test_replay_is_a_fresh_recording(program: Program, seed: int) -> None:
    generator = np.random.default_rng(seed)
    others = [generator.uniform(-1.5, 1.5, x.shape) for x in program.inputs]
    variables = [ad.variable(x) for x in program.inputs]
    loss = total(program)(*variables)
    graph = [loss, *ad.gradients(loss, variables)]
    replay = ad.function(variables, graph)
    for inputs in (others, program.inputs, others):
        fresh = ad.value_and_grad(total(program), tuple(range(len(inputs))))(*tensors(inputs))
        expected = values([fresh[0], *fresh[1]])
        replaced = dict(zip(variables, inputs, strict=True))
        for found in (values(replay(*inputs)), [ad.evaluate(y, replaced).numpy() for y in graph]):
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, 1e-12, 1e-13)


@given(programs())
def test_nested_gradients_are_the_gradient_of_a_gradient(program: Program) -> None:
    """Through functions, and through a graph that ``backward`` made."""
    f, everything = total(program), tuple(range(len(program.inputs)))

    def size(*inputs: ad.Tensor) -> ad.Tensor:
        return sum((ad.sum(g * ad.cos(g)) for g in ad.grad(f, everything)(*inputs)), ad.tensor(0.0))

    expected = values(ad.grad(size, everything)(*tensors(program.inputs)))
    variables = [ad.variable(x) for x in program.inputs]
    f(*variables).backward(create_graph=True)
    first = [x.grad for x in variables if x.grad is not None]
    norm = sum((ad.sum(g * ad.cos(g)) for g in first), ad.tensor(0.0))
    for one, other in zip(values(ad.gradients(norm, variables)), expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-9, 1e-10)
