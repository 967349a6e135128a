"""The graphs behind the table of operations: no primitive untested, every derivative differentiable, no dummy left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import adjoint as ad
from adjoint.derive import PULLBACK, expand
from adjoint.graph import PRIMITIVES, Node, topological
from derivative_checks import tensors
from operation_rows import Operation, inexact_arrays
from operations import OPERATIONS

F = ad.nn.functional
ROWS = [pytest.param(operation, id=f"{operation.name}-{number}") for number, operation in enumerate(OPERATIONS)]


def nodes_of(results: Iterable[ad.Tensor]) -> list[Node]:
    return topological([y.node for y in results])


def forward_graphs(operation: Operation) -> Iterable[list[Node]]:
    for dtype in (operation.dtype_names[0], operation.dtype_names[-1]):
        for case in operation.cases:
            arguments = operation.draw(case, dtype)
            yield nodes_of(operation.of_tensors(case, arguments, [*map(ad.variable, inexact_arrays(arguments))]))


def derivative_graphs(operation: Operation) -> Iterable[tuple[str, list[Node]]]:
    """Of each case: the graphs of its cotangents and of its tangents, everything in them tracked."""
    if operation.dtypes[0] not in "fc":
        return
    for case in operation.cases:
        arguments = operation.draw(case, operation.dtype_names[0])
        inputs = [*map(ad.variable, inexact_arrays(arguments))]
        outputs = [y for y in operation.of_tensors(case, arguments, inputs) if y.requires_grad]
        if not inputs or not outputs:
            continue
        seeds = [ad.variable(ad.ones_like(y).numpy()) for y in outputs]
        yield "reverse", nodes_of(g for y, u in zip(outputs, seeds, strict=True) for g in ad.gradients(y, inputs, u))
        directions = tuple(ad.variable(ad.ones_like(x).numpy()) for x in inputs)
        _, tangents = ad.jvp(lambda *x, a=arguments, c=case: operation.of_tensors(c, a, x), tuple(inputs), directions)
        yield "forward", nodes_of(tangent for tangent in tangents if tangent is not None)


def other_graphs() -> Iterable[list[Node]]:
    """Programs for the primitives that are no operations: names, generators, custom rules, the lazy reverse pass."""
    w = ad.variable([1.0, 2.0], name="w")
    with ad.no_grad():
        w -= 1.0
    yield nodes_of([w.detach() * 1, ad.stop_gradient(w) * w])
    source = ad.random.Generator(0)
    draws = [source.normal((2,)), source.uniform((2,)), source.integers(0, 9, (2,)), source.bernoulli(0.5, (2,))]
    yield nodes_of([*draws, source.permutation(5), source.state, ad.random.gamma(w)])
    yield nodes_of([F.layer_norm(w, 2), F.rms_norm(w, 2), F.batch_norm(w[:, None], None, None, training=True)])
    yield nodes_of([ad.grad(lambda x: ad.grad(lambda y: ad.gelu(y).sum())(x).sum())(w)])
    yield nodes_of([ad.grad(lambda x: ad.grad(ad.linalg.det)(x).sum())(ad.eye(4) + w[0])])
    yield nodes_of([scipy.sparse.csr_array(np.eye(2, dtype="float32")) @ w])
    yield nodes_of([ad.host_call(np.sin, w, shape=(2,), dtype="float32")])
    yield nodes_of([ad.special.zeta(w + 2), F.huber_loss(w, w * 0, "none")])
    custom = ad.custom_vjp(lambda x: x * 2)
    custom.def_vjp(lambda x: (x * 2, None), lambda residual, cotangent: (cotangent * 2,))
    yield nodes_of([custom(w)])
    custom.def_vjp(lambda x: (x * 2, x), lambda x, cotangent: (cotangent * np.full_like(x.numpy(), 2.0),))
    yield nodes_of(ad.gradients(custom(w).sum(), [w]))
    remembered = ad.checkpoint(lambda x: ad.sin(x) * x)(w).sum()
    yield nodes_of([remembered, *ad.gradients(remembered, [w])])
    wide = ad.tensor([1.0, 2.0])
    for remembered in (None, 1):
        y = ad.scan(lambda c, x: (c * x, c), w, wide, memory=remembered)[0].sum()
        yield nodes_of([y, *ad.gradients(y, [w])])
    y = ad.while_loop(lambda x: x.sum() < 9, lambda x: x * x + 1, w).sum()
    yield nodes_of([y, *ad.gradients(y, [w]), ad.cond(w[0] > 0, lambda: w, lambda: w * w)])
    (w * w).sum().backward()
    yield nodes_of([w.grad])
    w.grad = ad.tensor([3.0, 4.0])
    with ad.no_grad():
        ad.optim.Adam([w])._updates()
    yield nodes_of([w])


@pytest.mark.filterwarnings("ignore::adjoint.PrecisionWarning")  # rows such as isin's set float64 beside float32
def test_every_primitive_is_in_a_graph_of_the_table() -> None:
    seen: set[str] = set()
    for operation in OPERATIONS:
        for graph in forward_graphs(operation):
            seen.update(node.op.name for node in graph)
        for _, graph in derivative_graphs(operation):
            seen.update(node.op.name for node in graph)
    for graph in other_graphs():
        seen.update(node.op.name for node in graph)
    # The dummies of forward mode and the input of a graph to replay: in no graph that anyone gets.
    assert sorted(set(PRIMITIVES) - seen - {"placeholder", "transpose_of"}) == []


def inexact(node: Node) -> bool:
    return any(type.inexact for type in (node.type if isinstance(node.type, tuple) else (node.type,)))


@pytest.mark.parametrize("operation", ROWS)
def test_derivatives_are_made_of_differentiable_primitives(operation: Operation) -> None:
    for mode, graph in derivative_graphs(operation):
        for node in topological(expand([node for node in graph if node.op is not PULLBACK])):
            if node.tracked and inexact(node) and any(x.tracked and inexact(x) for x in node.inputs):
                assert node.op.vjp is not None or node.op.name == "select_output", (
                    f"{mode} mode of {operation.name}: {node}"
                )


@pytest.mark.parametrize("operation", ROWS)
def test_no_forward_derivative_contains_its_dummy_cotangent(operation: Operation) -> None:
    for mode, graph in derivative_graphs(operation):
        assert mode == "reverse" or "placeholder" not in {node.op.name for node in graph}


def test_the_dummy_is_found_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: with a rule that is not linear in its cotangent the dummy stays."""
    x = tensors([np.array(2.0)])[0]
    graph = nodes_of([ad.sin(x)])
    primitive = graph[-1].op
    right: Any = primitive.vjp
    monkeypatch.setattr(primitive, "vjp", (lambda u, node, x: (ad.square(wrapped(right[0](u, node, x)))).node,))
    _, tangent = ad.jvp(ad.sin, (x,), (x,))
    assert "placeholder" in {node.op.name for node in nodes_of([tangent])}


def wrapped(node: Node) -> ad.Tensor:
    tensor = object.__new__(ad.Tensor)
    tensor.node = node
    return tensor


# Rules that stand for the chain rule through what made a value ----------------------------------------------------------


def by_parts(x: ad.Tensor, epsilon: float, centred: bool) -> ad.Tensor:
    z = x - x.mean(-1, keepdims=True) if centred else x
    return z / ad.sqrt((z * z).mean(-1, keepdims=True) + epsilon)


def powers(x: ad.Tensor) -> ad.Tensor:
    e = ad.exp(x)
    return e / e.sum(-1, keepdims=True)


CHAINS: dict[str, tuple[Any, Any]] = {
    "softmax": (lambda x: ad.softmax(x, -1), powers),
    "layer_norm": (lambda x: F.layer_norm(x, x.shape[-1]), lambda x: by_parts(x, 1e-5, True)),
    "rms_norm": (lambda x: F.rms_norm(x, x.shape[-1], eps=1e-3), lambda x: by_parts(x, 1e-3, False)),
    "group_norm": (lambda x: F.group_norm(x[None, :], 1)[0], lambda x: by_parts(x, 1e-5, True)),
    "batch_norm": (
        lambda x: F.batch_norm(x[:, None], None, None, x[:1], x[1:2], True, eps=1e-5)[:, 0],
        lambda x: by_parts(x, 1e-5, True) * x[0] + x[1],
    ),
    "batch_norm without weights": (
        lambda x: F.batch_norm(x[:, None], None, None, training=True)[:, 0],
        lambda x: by_parts(x, 1e-5, True),
    ),
    "gelu": (ad.gelu, lambda x: x * (ad.erf(x / 2**0.5) + 1) / 2),
    "silu": (ad.silu, lambda x: x / (1 + ad.exp(-x))),
}


@pytest.mark.parametrize("name", CHAINS)
def test_closed_rules_are_the_chain_rule(name: str) -> None:
    generator = np.random.default_rng(3)
    x, v, w = [ad.tensor(generator.standard_normal(5)) for _ in range(3)]
    many = ad.tensor(generator.standard_normal((4, 5)))

    def asked(f: Any) -> list[ad.Tensor]:
        g = lambda t: (f(t) * w).sum() + (f(t) ** 3).sum()  # noqa: E731
        second = ad.grad(lambda t: (ad.grad(g)(t) * v).sum())
        return [
            f(x), ad.grad(g)(x), ad.jvp(f, (x,), (v,))[1], second(x), ad.hessian(g)(x), ad.jit(second)(x),
            ad.grad(lambda t: (second(t) * w).sum())(x), ad.vmap(ad.grad(g))(many), ad.vmap(second)(many),
            ad.jet(f, (x,), ([v, w],))[1][1], ad.checkpoint(ad.grad(g))(x),
        ]  # fmt: skip

    ours, theirs = (asked(f) for f in CHAINS[name])
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-9)


def test_a_closed_rule_of_complex_numbers_is_the_chain_rule() -> None:
    x = ad.tensor(np.array([1.0 + 2.0j, -0.5 + 0.25j, 2.0 - 1.0j]))
    w = ad.tensor(np.array([0.3, -1.0, 2.0]))
    ours, theirs = (ad.grad(lambda t, f=f: ad.real(f(t) * w).sum())(x).numpy() for f in CHAINS["rms_norm"])
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_closed_rules_at_the_edges() -> None:
    x = ad.tensor([-np.inf, 0.0, 1.0])
    found = ad.grad(lambda t: (ad.softmax(t, -1) * ad.tensor([np.inf, 1.0, 2.0])).sum())(x)
    p = 1 / (1 + np.e)
    np.testing.assert_allclose(found.numpy()[1:], [-p * (1 - p), p * (1 - p)], rtol=1e-6)
    for f, ends in ((ad.gelu, [0.0, 1.0]), (ad.silu, [0.0, 1.0])):
        for compiled in (lambda g: g, ad.jit):
            slope = compiled(ad.grad(lambda t, f=f: f(t).sum()))(ad.tensor([-np.inf, np.inf, np.nan]))
            np.testing.assert_array_equal(slope.numpy(), [*ends, np.nan])
