"""Mistakes: Python's own exceptions, at once, naming the operation, the shapes or dtypes, and the user's line."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad

VECTOR, MATRIX, FLAGS = ad.tensor([1.0, 2.0, 3.0]), ad.ones((2, 3)), ad.tensor([True, False, True])
NUMBERS, COMPLEX = ad.tensor([1, 2, 3]), ad.tensor(np.array([1j, 2.0]))


def in_place(x: ad.Tensor, change: Callable[[ad.Tensor], object]) -> None:
    change(x * 1)


def assign(x: ad.Tensor, index: Any, value: Any) -> None:
    x[index] = value


# The mistake, the exception, and what its message must say (each a regular expression).
MISTAKES: dict[str, tuple[Callable[[], Any], Any, list[str]]] = {
    "add": (lambda: MATRIX + ad.ones((4,)), ValueError, ["add", r"\(2, 3\)", r"\(4,\)"]),
    "multiply, reflected": (lambda: np.ones((4, 4)) * MATRIX, ValueError, ["multiply", r"\(2, 3\)", r"\(4, 4\)"]),
    "where": (lambda: ad.where(FLAGS, MATRIX, ad.ones((4,))), ValueError, ["where", r"\(2, 3\)", r"\(4,\)"]),
    "matmul": (lambda: MATRIX @ MATRIX, ValueError, ["matmul", r"\(2, 3\)"]),
    "matmul of a number": (lambda: MATRIX @ ad.tensor(2.0), ValueError, ["matmul", r"\(\)"]),
    "matmul of batches": (lambda: ad.ones((2, 3, 4)) @ ad.ones((3, 4, 2)), ValueError, ["matmul", r"\(3, 4, 2\)"]),
    "dot": (lambda: ad.dot(VECTOR, ad.ones((4,))), ValueError, ["dot", r"\(3,\)", r"\(4,\)"]),
    "einsum of sizes": (lambda: ad.einsum("ij,jk->ik", MATRIX, MATRIX), ValueError, ["einsum", r"\(2, 3\)"]),
    "einsum of letters": (lambda: ad.einsum("ij->ijk", MATRIX), ValueError, ["einsum", "k"]),
    "einsum of ranks": (lambda: ad.einsum("ijk->i", MATRIX), ValueError, ["einsum", r"\(2, 3\)"]),
    "reshape": (lambda: ad.reshape(MATRIX, (4,)), ValueError, ["reshape", r"\(2, 3\)", r"\(4,\)"]),
    "a negative number of rows": (lambda: ad.eye(-1), ValueError, ["eye", r"\(-1, -1\)"]),
    "a range without an end": (lambda: ad.arange(0.0, float("inf")), ValueError, ["arange", "inf"]),
    "reshape with two unknowns": (lambda: MATRIX.reshape(-1, -1), ValueError, ["reshape", "one extent can be -1"]),
    "reshape with negative extents": (lambda: MATRIX.reshape(-1, -2), ValueError, ["reshape", "none another negative"]),
    "reshape with negative extents alone": (lambda: MATRIX.reshape(-2, -3), ValueError, ["none another negative"]),
    "broadcast_to": (lambda: ad.broadcast_to(MATRIX, (2, 4)), ValueError, ["broadcast", r"\(2, 3\)", r"\(2, 4\)"]),
    "concat": (lambda: ad.concat([MATRIX, ad.ones((2, 4))]), ValueError, ["concat", r"\(2, 3\)", r"\(2, 4\)"]),
    "concat of nothing": (lambda: ad.concat([]), ValueError, ["concat"]),
    "stack": (lambda: ad.stack([MATRIX, VECTOR]), ValueError, ["stack", r"\(2, 3\)", r"\(3,\)"]),
    "split": (lambda: ad.split(VECTOR, 2), ValueError, ["split", r"\(3,\)|3"]),
    "squeeze": (lambda: ad.squeeze(MATRIX, axis=0), ValueError, ["squeeze", r"\(2, 3\)"]),
    "permute_dims": (lambda: ad.permute_dims(MATRIX, (0, 0)), ValueError, ["permute_dims", r"\(0, 0\)"]),
    "sum over a missing axis": (lambda: ad.sum(MATRIX, axis=2), (ValueError, IndexError), ["sum", "2", r"\(2, 3\)"]),
    "sum over an axis twice": (lambda: MATRIX.sum(axis=(0, -2)), ValueError, ["sum"]),
    "max of nothing": (lambda: ad.max(ad.zeros((2, 0)), axis=1), ValueError, ["max", r"\(2, 0\)"]),
    "argmax of nothing": (lambda: ad.argmax(ad.zeros((0,))), ValueError, ["argmax", r"\(0,\)"]),
    "tensordot": (lambda: ad.tensordot(MATRIX, MATRIX, axes=1), ValueError, ["tensordot", r"\(2, 3\)"]),
    "unfold": (lambda: ad.unfold(ad.ones((1, 1, 2, 2)), 3), ValueError, ["unfold", r"\(1, 1, 2, 2\)"]),
    "arange": (lambda: ad.arange(0, 5, 0), ValueError, ["arange", "step"]),
    "scatter_add": (lambda: ad.scatter_add(VECTOR, ad.tensor([0, 1]), MATRIX), ValueError, ["scatter_add"]),
    "in-place growth": (lambda: in_place(VECTOR, lambda x: x.__iadd__(MATRIX)), ValueError, [r"\(3,\)", r"\(2, 3\)"]),
    "index out of bounds": (lambda: VECTOR[3], IndexError, ["3", r"\(3,\)"]),
    "index out of bounds below": (lambda: MATRIX[:, -4], IndexError, ["-4", r"\(2, 3\)"]),
    "array of indices out of bounds": (lambda: VECTOR[np.array([0, 7])].numpy(), IndexError, ["7", r"\(3,\)"]),
    "tensor of indices out of bounds": (lambda: VECTOR[ad.tensor([-9])].numpy(), IndexError, ["-9", r"\(3,\)"]),
    "take out of bounds": (lambda: ad.take(VECTOR, ad.tensor([5]), axis=0).numpy(), IndexError, ["take", "5"]),
    "too many indices": (lambda: VECTOR[0, 0], IndexError, [r"\(3,\)"]),
    "index that is no integer": (lambda: VECTOR[1.5], (TypeError, IndexError), ["float|1.5"]),
    "tensor of floats as index": (lambda: VECTOR[VECTOR], (TypeError, IndexError), ["float32"]),
    "mask of another shape": (lambda: MATRIX[ad.tensor([True, False, True])], IndexError, [r"\(3,\)", r"\(2, 3\)"]),
    "assignment that does not fit": (lambda: assign(MATRIX * 1, 0, ad.ones((2,))), ValueError, [r"\(2,\)", r"\(3,\)"]),
    "assignment out of bounds": (lambda: assign(MATRIX * 1, 5, 0.0), IndexError, ["5", r"\(2, 3\)"]),
    "unknown dtype": (lambda: ad.zeros((2,), dtype="float17"), TypeError, ["float17"]),
    "unknown dtype of a cast": (lambda: VECTOR.astype("quad"), TypeError, ["quad"]),
    "text": (lambda: ad.tensor(np.array(["a"])), TypeError, ["dtype"]),
    "objects": (lambda: ad.tensor([object()]), TypeError, ["object"]),
    "ragged list": (lambda: ad.tensor([[1.0], [1.0, 2.0]]), ValueError, ["shape|ragged|length"]),
    "adding text": (lambda: VECTOR + "a", TypeError, ["str"]),
    "adding nothing": (lambda: VECTOR * None, TypeError, ["None"]),
    "function of text": (lambda: ad.sin("a"), TypeError, ["sin", "str"]),
    "bits of floats": (lambda: VECTOR & VECTOR, TypeError, ["bitwise_and", "float32"]),
    "inverted floats": (lambda: ~VECTOR, TypeError, ["bitwise_invert", "float32"]),
    "order of complex numbers": (lambda: ad.maximum(COMPLEX, COMPLEX), TypeError, ["maximum", "complex128"]),
    "negative of bools": (lambda: -FLAGS, TypeError, ["negative", "bool"]),
    "integer variable": (lambda: ad.variable(3), TypeError, ["int64"]),
    "integer that asks for a gradient": (lambda: ad.tensor([1, 2], requires_grad=True), TypeError, ["int64"]),
    "bool of many": (lambda: bool(VECTOR > 1), ValueError, [r"\(3,\)", "any|all"]),
    "if on many": (lambda: 1 if VECTOR else 0, ValueError, [r"\(3,\)"]),
    "float of many": (lambda: float(VECTOR), (ValueError, TypeError), [r"\(3,\)"]),
    "item of many": (lambda: MATRIX.item(), ValueError, [r"\(2, 3\)"]),
    "index by a float tensor": (lambda: [1, 2][ad.tensor(1.0)], TypeError, ["float32|integer"]),
    "length of a number": (lambda: len(ad.tensor(1.0)), TypeError, ["0-d|\\(\\)|length"]),
    "iteration over a number": (lambda: list(ad.tensor(1.0)), TypeError, ["0-d|\\(\\)"]),
    "gradient of many": (lambda: ad.grad(lambda x: x * 2)(VECTOR), ValueError, ["grad", r"\(3,\)", "scalar"]),
    "backward of many": (lambda: (ad.variable([1.0, 2.0]) * 2).backward(), ValueError, ["backward", r"\(2,\)"]),
    "backward of data": (lambda: VECTOR.sum().backward(), RuntimeError, ["backward", "variable|requires_grad|tracked"]),
    "retain_grad of data": (lambda: (VECTOR * 1).retain_grad(), RuntimeError, ["retain_grad"]),
    "cotangent of another shape": (
        lambda: ad.vjp(lambda x: x * 2, VECTOR)[1](ad.ones((2,))), ValueError, [r"\(2,\)", r"\(3,\)"]),
    "tangent of another shape": (
        lambda: ad.jvp(lambda x: x * 2, (VECTOR,), (ad.ones((2,)),)), ValueError, ["jvp", r"\(2,\)", r"\(3,\)"]),
    "too few tangents": (
        lambda: ad.jvp(lambda x, y: x * y, (VECTOR, VECTOR), (VECTOR,)), (ValueError, TypeError), ["jvp"]),
    "cotangent of another structure": (
        lambda: ad.vjp(lambda x: {"a": x}, VECTOR)[1]([VECTOR]), (ValueError, TypeError), ["dict|list|structure"]),
    "gradient of text": (lambda: ad.grad(lambda x: x)("a"), TypeError, ["str"]),
    "gradient of an integer": (lambda: ad.grad(lambda x: x.sum())(NUMBERS), TypeError, ["grad", "int64"]),
    "argnums out of range": (
        lambda: ad.grad(lambda x: x.sum(), argnums=3)(VECTOR), (ValueError, IndexError, TypeError), ["argnums|3"]),
    "output that is no tensor": (lambda: ad.grad(lambda x: "a")(VECTOR), TypeError, ["str"]),
    "gradients by a number": (lambda: ad.gradients(VECTOR.sum(), [3.0]), TypeError, ["gradients", "float"]),
    "gradients of a number": (lambda: ad.gradients(3.0, [VECTOR]), TypeError, ["gradients", "a float"]),
    "gradient of a tensor": (lambda: ad.grad(VECTOR.sum()), TypeError, ["grad: expected a function", r"ad\.gradients"]),
    "function that returns nothing": (lambda: ad.grad(lambda x: None)(VECTOR), ValueError, ["grad", "None"]),
    "function without its aux": (
        lambda: ad.value_and_grad(lambda x: x.sum(), has_aux=True)(VECTOR), TypeError, ["grad", r"\(value, aux\)"]),
    "seed that is no int": (lambda: ad.random.seed(1.5), TypeError, ["seed", "float"]),
    "linspace": (lambda: ad.linspace(0.0, 1.0, -1), ValueError, ["linspace", "-1"]),
    "format of several numbers": (lambda: f"{VECTOR:.2f}", TypeError, [r"'\.2f'", r"\(3,\)"]),
    "another value of another shape": (
        lambda: ad.evaluate(MATRIX * 2, {MATRIX: np.ones((3, 3), "float32")}), ValueError, [r"\(3, 3\)", r"\(2, 3\)"]),
    "replacing what is no tensor": (lambda: ad.evaluate(MATRIX, {"x": 3.0}), TypeError, ["str"]),
    "loss of unequal shapes": (
        lambda: ad.nn.functional.mse_loss(ad.ones((3, 1)), VECTOR), ValueError, ["mse_loss", r"\(3, 1\)", r"\(3,\)"]),
    "labels of another length": (
        lambda: ad.nn.functional.cross_entropy(MATRIX, NUMBERS), ValueError, ["cross_entropy", r"\(2, 3\)", r"\(3,\)"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    mistake, exception, fragments = MISTAKES[name]
    with pytest.raises(exception) as caught:
        mistake()
    message = str(caught.value)
    for fragment in fragments:
        assert re.search(fragment, message), f"{fragment!r} is not in {message!r}"


# Raised by Python or NumPy before the engine sees a graph, or about no line of a program.
WITHOUT_LINE = {"in-place growth", "length of a number", "iteration over a number", "index by a float tensor"}


@pytest.mark.parametrize("name", [name for name in MISTAKES if name not in WITHOUT_LINE])
def test_a_message_ends_with_the_users_line(name: str) -> None:
    mistake, exception, _ = MISTAKES[name]
    with pytest.raises(exception) as caught:
        mistake()
    lines = [
        frame.lineno for frame in traceback.extract_tb(caught.tb) if Path(frame.filename).name == Path(__file__).name
    ]
    found = re.search(r"([\w./\\-]+\.py):(\d+)\W*$", str(caught.value))
    assert found, str(caught.value)
    assert Path(found[1]).name == Path(__file__).name
    assert int(found[2]) in lines[-2:]


def test_a_mistake_in_a_function_under_a_transform_names_the_functions_line() -> None:
    def f(x: ad.Tensor) -> ad.Tensor:
        y = ad.exp(x)
        return (y @ ad.ones((7, 7))).sum()

    here = f.__code__.co_firstlineno + 2
    for call in (
        lambda: ad.grad(f)(VECTOR),
        lambda: ad.jvp(f, (VECTOR,), (VECTOR,)),
        lambda: ad.grad(ad.grad(f))(VECTOR),
    ):
        with pytest.raises(ValueError, match=rf"test_errors\.py:{here}"):
            call()


def test_an_error_found_by_evaluation_names_the_line_that_recorded_it() -> None:
    indices = ad.host_call(lambda: np.array([9]), shape=(1,), dtype="int64")
    wrong = ad.take(VECTOR, indices, axis=0)
    here = test_an_error_found_by_evaluation_names_the_line_that_recorded_it.__code__.co_firstlineno + 2
    with pytest.raises(IndexError, match=rf"test_errors\.py:{here}"):
        (wrong + 1).numpy()


def test_a_failed_operation_leaves_everything_as_it_was() -> None:
    w = ad.variable([1.0, 2.0])
    x = w * 2
    for attempt in (lambda: x.__iadd__(ad.ones((3,))), lambda: assign(x, 5, 1.0), lambda: assign(w, 0, 1.0)):
        with pytest.raises((ValueError, IndexError, RuntimeError)):
            attempt()
    x.sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), [2.0, 2.0])
    np.testing.assert_array_equal(x.numpy(), [2.0, 4.0])
