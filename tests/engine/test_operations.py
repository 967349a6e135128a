"""Every check over the table of operations, and checks of the checker and of the table."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.graph import topological
from adjoint.primitives.core import ops
from derivative_checks import check_derivatives, tensors, values
from operation_rows import Case, Operation, inexact_arrays, map_leaves, outputs
from operations import CORNERS, OPERATIONS, Corner

# Public functions that are no operations on tensors, and have no row in the table: tested in test_semantics and elsewhere.
NOT_OPERATIONS = """
tensor asarray variable empty evaluate function no_grad enable_grad is_grad_enabled set_default_dtype
set_deterministic is_deterministic get_num_threads set_num_threads
get_default_dtype explain explain_nan gradient_flow check_grads gradients grad value_and_grad vjp jvp
vmap jit get_num_threads set_num_threads
jacfwd jacrev jacobian hessian hvp linearize checkpoint stop_gradient custom_jvp custom_vjp
host_call result_type save load draw explore playground show_pictures
scan while_loop fori_loop cond switch map associative_scan
empty_like from_dlpack finfo iinfo isdtype can_cast broadcast_shapes __array_namespace_info__
tri vectorize
fixed_point implicit minimize odeint root least_squares curve_fit jet taylor sparse_jacobian sparse_hessian ravel_tree
"""

NUMBERS_ONLY = {"next_fast_len"}  # of the namespaces: they take and give no tensors

EACH = [
    pytest.param(operation, case, id=f"{operation.name}-{number}")
    for operation in OPERATIONS
    for number, case in enumerate(operation.cases)
]
DIFFERENTIABLE = [item for item in EACH if not item.values[1].only_value and item.values[0].dtypes[0] in "fc"]
ROWS = [pytest.param(operation, id=operation.name) for operation in OPERATIONS]


def numpy_answer(operation: Operation, case: Case, dtype: str) -> tuple[list[Any], list[np.ndarray]]:
    arguments = operation.draw(case, dtype)
    with np.errstate(all="ignore"):
        return arguments, operation.of_numpy(case, arguments)


def assert_equal_arrays(actual: list[ad.Tensor], expected: list[np.ndarray], compare_dtype: bool = True) -> None:
    assert len(actual) == len(expected)
    for one, other in zip(values(actual), map(np.asarray, expected), strict=True):
        assert one.shape == other.shape
        assert not compare_dtype or one.dtype == other.dtype
        single = min(x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1) for x in (one, other)) < 8
        tolerance = (2e-5, 2e-6) if single else (1e-11, 1e-13)
        np.testing.assert_allclose(one, other, *(tolerance if other.dtype.kind in "fc" else (0, 0)))


@pytest.mark.parametrize(("operation", "case"), EACH)
def test_value_is_numpys(operation: Operation, case: Case) -> None:
    arguments, expected = numpy_answer(operation, case, operation.dtype_names[0])
    actual = operation.of_tensors(case, arguments, tensors(inexact_arrays(arguments)))
    assert_equal_arrays(actual, expected, operation.compare_dtype)
    for tensor, array in zip(actual, expected, strict=True):
        assert (tensor.shape, tensor.ndim, tensor.size) == (np.shape(array), np.ndim(array), np.size(array))


@pytest.mark.parametrize("operation", ROWS)
def test_other_dtypes_are_numpys(operation: Operation) -> None:
    for dtype in operation.dtype_names[1:]:
        for case in operation.cases[:2]:
            arguments, expected = numpy_answer(operation, case, dtype)
            actual = operation.of_tensors(case, arguments, tensors(inexact_arrays(arguments)))
            assert_equal_arrays(actual, expected, operation.compare_dtype)


def differentiable_outputs(operation: Operation, case: Case, arguments: list[Any]) -> Any:
    """The function of the floating arguments alone, without outputs that have no derivative; None if all have none."""
    with np.errstate(all="ignore"):
        kept = [np.asarray(y).dtype.kind in "fc" for y in operation.of_numpy(case, arguments)]
    if not any(kept) or not inexact_arrays(arguments):
        return None
    return lambda *inputs: [*itertools.compress(operation.of_tensors(case, arguments, inputs), kept)]


@pytest.mark.parametrize(("operation", "case"), DIFFERENTIABLE)
def test_derivatives(operation: Operation, case: Case) -> None:
    arguments = operation.draw(case, operation.dtype_names[0])
    if function := differentiable_outputs(operation, case, arguments):
        check_derivatives(function, inexact_arrays(arguments))


@pytest.mark.parametrize("operation", [item for item in ROWS if "c" in item.values[0].dtypes])
def test_complex_derivatives(operation: Operation) -> None:
    for case in operation.cases[:3]:
        arguments = operation.draw(case, "complex128")
        if function := differentiable_outputs(operation, case, arguments):
            check_derivatives(function, inexact_arrays(arguments))


@pytest.mark.parametrize("operation", [item for item in ROWS if item.values[0].dtypes[0] in "fc"])
def test_gradient_has_the_dtype_and_shape_of_its_input(operation: Operation) -> None:
    for case in operation.cases:
        arguments = operation.draw(case, operation.dtype_names[1])
        inputs, function = tensors(inexact_arrays(arguments)), differentiable_outputs(operation, case, arguments)
        if function is None:
            continue
        found, pullback = ad.vjp(function, *inputs)
        for tensor, gradient in zip(inputs, pullback([ad.ones_like(y) for y in found]), strict=True):
            assert (gradient.shape, gradient.dtype) == (tensor.shape, tensor.dtype)
            assert (gradient.numpy().shape, gradient.numpy().dtype) == (tensor.shape, tensor.numpy().dtype)
        _, tangents = ad.jvp(function, tuple(inputs), tuple(inputs))
        assert [(y.shape, y.dtype) for y in tangents] == [(y.shape, y.dtype) for y in found]


@pytest.mark.parametrize("corner", [pytest.param(corner, id=f"{corner.name}-{n}") for n, corner in enumerate(CORNERS)])
def test_corners(corner: Corner) -> None:
    inputs = [ad.tensor(np.array(argument, "float64")) for argument in corner.arguments]
    ones = tuple(map(ad.ones_like, inputs))

    def gradient(*tensors: ad.Tensor) -> list[ad.Tensor]:
        return list(ad.grad(lambda *x: ad.sum(corner.function(*x)), tuple(range(len(tensors))))(*tensors))

    for found, expected in zip(values(gradient(*inputs)), corner.first, strict=True):
        np.testing.assert_allclose(found, expected, 1e-12)
    tangent = ad.jvp(lambda *x: ad.sum(corner.function(*x)), tuple(inputs), ones)[1]
    np.testing.assert_allclose(tangent.numpy(), sum(np.sum(item) for item in corner.first), 1e-12)
    if corner.second is not None:
        forward = ad.jvp(gradient, tuple(inputs), ones)[1]
        reverse = ad.vjp(gradient, *inputs)[1](list(ones))
        for found in (values(forward), values(reverse)):
            for one, expected in zip(found, corner.second, strict=True):
                np.testing.assert_allclose(one, expected, 1e-12, 1e-12)


# ---- one function under several names --------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", [item for item in ROWS if hasattr(ad.Tensor, item.values[0].name)])
def test_method_is_the_function(operation: Operation) -> None:
    for case in operation.cases:
        arguments, expected = numpy_answer(operation, case, operation.dtype_names[0])
        if isinstance(arguments[0], np.ndarray) and callable(
            method := getattr(ad.tensor(arguments[0]), operation.name)
        ):
            rest = map_leaves(lambda leaf: getattr(leaf, "value", leaf), arguments[1:])
            assert_equal_arrays(outputs(method(*rest, **case.keywords)), expected, operation.compare_dtype)


def test_methods_that_must_exist() -> None:
    names = "sum mean exp reshape astype max min prod var std any all argmax argmin sqrt log tanh relu flatten squeeze"
    assert [name for name in names.split() if not callable(getattr(ad.Tensor, name, None))] == []


@pytest.mark.parametrize(
    "operation", [item for item in ROWS if isinstance(getattr(np, item.values[0].reference.__name__, None), np.ufunc)]
)
def test_numpys_function_records(operation: Operation) -> None:
    for case in operation.cases[:3]:
        arguments, expected = numpy_answer(operation, case, operation.dtype_names[0])
        call = map_leaves(lambda leaf: ad.tensor(leaf) if isinstance(leaf, np.ndarray) else leaf, arguments)
        actual = outputs(operation.reference(*call, **case.keywords))
        assert all(isinstance(tensor, ad.Tensor) for tensor in actual)
        assert_equal_arrays(actual, expected, operation.compare_dtype)


# ---- the checker is checked ------------------------------------------------------------------------------------------


class WrongSine(ad.Function):
    """Right in value, its derivative a thousandth too large."""

    @staticmethod
    def forward(ctx: Any, x: ad.Tensor) -> ad.Tensor:
        ctx.save_for_backward(x)
        return ad.sin(x)

    @staticmethod
    def backward(ctx: Any, gradient: ad.Tensor) -> ad.Tensor:
        (x,) = ctx.saved_tensors
        return gradient * ad.cos(x) * 1.001


def wrong_in_second_order(x: ad.Tensor) -> ad.Tensor:
    """x**3 with the right first derivative, and a second one that sees a constant."""
    f = ad.custom_vjp(lambda x: x**3)
    f.def_vjp(lambda x: (x**3, x), lambda x, cotangent: (cotangent * 3 * ad.stop_gradient(x) ** 2,))
    return f(x)


POINT = [np.array([0.3, -1.2, 2.0])]


def test_planted_wrong_derivative_is_caught() -> None:
    check_derivatives(lambda x: [ad.sin(x)], POINT)
    with pytest.raises(AssertionError, match="difference of the value"):
        check_derivatives(lambda x: [WrongSine.apply(x)], POINT)
    check_derivatives(lambda x: [wrong_in_second_order(x)], POINT, order=1)
    with pytest.raises(AssertionError, match="difference of the gradient"):
        check_derivatives(lambda x: [wrong_in_second_order(x)], POINT)


@pytest.mark.parametrize("name", ["sin", "multiply", "matmul", "where", "getitem"])
def test_wrong_rule_of_a_primitive_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule of the last differentiable primitive that the operation records returns twice the right cotangent."""
    operation = next(operation for operation in OPERATIONS if operation.name == name)
    case = operation.cases[0]
    arguments = operation.draw(case, "float64")
    points, function = inexact_arrays(arguments), differentiable_outputs(operation, case, arguments)
    check_derivatives(function, points)

    graph = topological([y.node for y in function(*map(ad.variable, points))])
    primitive = next(node.op for node in reversed(graph) if node.op.vjp is not None)
    right = primitive.vjp

    def doubled(cotangent: Any) -> Any:
        return None if cotangent is None else ops.add(cotangent, cotangent)

    def wrong(*arguments: Any) -> list[Any]:
        return [doubled(cotangent) for cotangent in right(*arguments)]

    several = isinstance(right, tuple)
    rules = tuple(rule and (lambda *rest, rule=rule: doubled(rule(*rest))) for rule in right) if several else wrong
    monkeypatch.setattr(primitive, "vjp", rules)
    with pytest.raises(AssertionError, match="difference of the value"):
        check_derivatives(function, points)


# ---- the table is checked --------------------------------------------------------------------------------------------


def test_every_public_operation_has_a_row() -> None:
    rows, others = {operation.name for operation in OPERATIONS}, NOT_OPERATIONS.split()
    functions = {name for name in ad.__all__ if inspect.isroutine(getattr(ad, name))}
    lines = [f'one("{name}", lambda x: ...),' for name in sorted(functions - rows - {*others})]
    assert lines == [], "write such rows in tests/helpers/operations.py, with what NumPy or SciPy makes of the arrays"
    assert [name for name in others if not callable(getattr(ad, name, None))] == []


@pytest.mark.parametrize("namespace", ["linalg", "fft", "special"])
def test_every_function_of_a_namespace_has_a_row(namespace: str) -> None:
    module, rows = getattr(ad, namespace), {operation.name for operation in OPERATIONS}
    functions = {name for name in module.__all__ if inspect.isroutine(getattr(module, name))}
    missing = {name for name in functions if f"{namespace}.{name}" not in rows}
    assert missing == NUMBERS_ONLY & functions
