"""Operators in every form, conversions, NumPy's functions on tensors, unusual inputs, and values at the edges."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from support import double, equal

# ---- operators -------------------------------------------------------------------------------------------------------

ARITHMETIC = ["add", "sub", "mul", "truediv", "pow", "floordiv", "mod"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]
COMPARE = ["lt", "le", "eq", "ne", "gt", "ge"]


def in_place_form(name: str) -> Callable[[Any, Any], Any]:
    return getattr(operator, "i" + name.rstrip("_"))


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_operators_in_every_form(name: str) -> None:
    compute = getattr(operator, name)
    left, right = np.array([1.5, 2.0, 7.25]), np.array([2.0, 0.5, 3.0])
    x, y = ad.variable(left), ad.variable(right)
    expected = compute(left, right)
    for found in (compute(x, y), compute(x, right), compute(left, y), compute(x, ad.tensor(right))):
        assert isinstance(found, ad.Tensor) and found.requires_grad
        equal(found, expected, 1e-12)
    for number in (2, 2.5, np.float64(2.5), True):
        equal(compute(x, number), compute(left, number), 1e-12)
        equal(compute(number, x), compute(number, left), 1e-12)
    changed = x * 1
    same = changed
    same = in_place_form(name)(same, y)
    assert same is changed
    equal(changed, expected, 1e-12)
    gradients = ad.gradients(changed.sum(), [x, y])
    for found, other in zip(gradients, ad.gradients(compute(x, y).sum(), [x, y]), strict=True):
        equal(found, other.numpy(), 1e-12)


@pytest.mark.parametrize("name", BITWISE)
def test_bitwise_operators_in_every_form(name: str) -> None:
    compute = getattr(operator, name)
    left, right = np.array([5, 12, 7]), np.array([1, 3, 2])
    expected = compute(left, right)
    changed = ad.tensor(left)
    for found in (
        compute(ad.tensor(left), ad.tensor(right)),
        compute(ad.tensor(left), right),
        compute(left, ad.tensor(right)),
        in_place_form(name)(changed, right),
        changed,
    ):
        equal(found, expected)
        assert found.dtype == ad.int64
    equal(compute(ad.tensor(left), 2), compute(left, 2))
    equal(compute(9, ad.tensor(right)), compute(9, right))
    if name in BITWISE[:3]:
        flags = np.array([True, False, True]), np.array([True, True, False])
        equal(compute(*map(ad.tensor, flags)), compute(*flags))


@pytest.mark.parametrize("name", COMPARE)
def test_comparisons_in_every_form(name: str) -> None:
    compute = getattr(operator, name)
    left, right = np.array([1.0, 2.0, np.nan]), np.array([2.0, 2.0, np.nan])
    for found in (
        compute(ad.variable(left), ad.tensor(right)),
        compute(ad.tensor(left), right),
        compute(left, ad.tensor(right)),
    ):
        assert isinstance(found, ad.Tensor) and found.dtype == ad.bool and not found.requires_grad
        equal(found, compute(left, right))
    equal(compute(ad.tensor(left), 2), compute(left, 2))
    equal(compute(2, ad.tensor(left)), compute(2, left))


def test_other_operators() -> None:
    x, matrix = ad.tensor([-1.5, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
    equal(-x, [1.5, -2.0])
    equal(+x, [-1.5, 2.0])
    equal(abs(x), [1.5, 2.0])
    equal(~ad.tensor([True, False]), [False, True])
    equal(~ad.tensor([5, 0]), [-6, -1])
    equal(ad.tensor(matrix) @ matrix, matrix @ matrix)
    equal(matrix @ ad.tensor(matrix), matrix @ matrix)
    product = ad.tensor(matrix)
    product @= matrix
    equal(product, matrix @ matrix)
    for found, expected in zip(divmod(ad.tensor([7.0, -7.0]), 2), divmod(np.array([7.0, -7.0]), 2), strict=True):
        equal(found, expected)
    equal(round(ad.tensor([1.5, 2.5])), [2.0, 2.0])


# ---- conversions -----------------------------------------------------------------------------------------------------


def test_conversions_to_python() -> None:
    assert (float(ad.tensor(1.5)), int(ad.tensor(3)), bool(ad.tensor(0.0)), complex(ad.tensor(2j))) == (
        1.5,
        3,
        False,
        2j,
    )
    assert float(ad.tensor([[2.5]])) == 2.5 and ad.tensor([[2.5]]).item() == 2.5
    assert [10, 20, 30][ad.tensor(1)] == 20 and list(range(10))[: ad.tensor(3)] == [0, 1, 2]
    assert (
        type(ad.tensor(1).item()) is int
        and type(ad.tensor(True).item()) is bool
        and type(ad.tensor(1.0).item()) is float
    )
    assert ad.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]] and ad.tensor(1.5).tolist() == 1.5
    assert len(ad.ones((4, 2))) == 4
    assert [row.tolist() for row in ad.tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    assert f"{ad.tensor(1.23456):.2f}" == "1.23"
    x, y = ad.tensor([1.0, 2.0])
    equal(x + y, 3.0)


def test_iteration_is_differentiable() -> None:
    x = ad.variable([1.0, 2.0, 3.0])
    total = ad.tensor(0.0)
    for number, item in enumerate(x):
        total = total + number * item**2
    total.backward()
    equal(x.grad, [0.0, 4.0, 12.0])


def test_conversions_to_numpy() -> None:
    x = ad.tensor([1.0, 2.0])
    array = np.asarray(x)
    assert type(array) is np.ndarray and array.dtype == np.float32
    assert np.asarray(x, dtype="float64").dtype == np.float64
    assert np.array(x).flags.writeable
    np.testing.assert_array_equal(np.from_dlpack(x), [1.0, 2.0])
    assert np.shares_memory(x.numpy(), x.numpy())


def test_asarray_copies_when_told() -> None:
    memory = np.array([1.0, 2.0])
    assert np.shares_memory(ad.asarray(memory, copy=False).numpy(), memory)
    assert not np.shares_memory(ad.asarray(memory, copy=True).numpy(), memory)
    assert not np.shares_memory(ad.tensor(memory).numpy(), memory)
    x = ad.variable(2.0)
    assert ad.asarray(x).requires_grad
    assert ad.asarray([1, 2], dtype="float64").dtype == ad.float64


@pytest.mark.parametrize("array", [
    np.arange(12.0).reshape(3, 4)[::-1, ::2], np.arange(12.0).reshape(3, 4).T, np.asfortranarray(np.ones((2, 3))),
    np.broadcast_to(np.array([1.0, 2.0]), (3, 2)), np.arange(4, dtype=">f8"), np.zeros((0, 3)), np.array(3.0),
    np.ones((1,) * 12), np.frombuffer(b"\0" * 17, "uint8")[1:].view("float64"),
])  # fmt: skip
def test_arrays_of_any_layout(array: np.ndarray) -> None:
    x = ad.variable(array.astype(array.dtype.newbyteorder("=")) if array.dtype.byteorder == ">" else array)
    equal(x, array)
    y = (ad.exp(x * 0.1) + array).sum()
    equal(y, (np.exp(array * 0.1) + array).sum(), 1e-12)
    y.backward()
    equal(x.grad, 0.1 * np.exp(array * 0.1), 1e-12)
    equal(ad.flip(ad.flip(x)), array)


def test_properties() -> None:
    x = ad.ones((2, 3, 4), dtype="float64")
    assert (x.shape, x.ndim, x.size, x.dtype) == ((2, 3, 4), 3, 24, ad.float64)
    assert x.mT.shape == (2, 4, 3) and ad.ones((2, 3)).T.shape == (3, 2)
    assert isinstance(x.shape, tuple) and "float64" in str(x.dtype) and x.dtype == "float64"


def test_creator_and_parents_walk_the_graph() -> None:
    a, b = ad.variable(2.0, name="a"), ad.variable(3.0)
    y = a * b
    z = ad.sin(y)
    assert a.creator is None and tuple(a.parents) == ()
    assert "sin" in str(z.creator).lower() and "mul" in str(y.creator).lower()
    (parent,) = z.parents
    assert parent.item() == 6.0
    seen, stack = set(), [z]
    while stack:
        tensor = stack.pop()
        seen.add(str(tensor.creator))
        stack.extend(tensor.parents)
    assert len(seen) == 3


def test_repr() -> None:
    x = ad.tensor([1.0, 2.0])
    assert repr(x) == "Tensor([1., 2.])"
    assert repr(x + ad.variable([0.0, 1.0])) == "Tensor([1., 3.], grad_fn=Add)"
    assert repr(ad.sin(ad.variable([0.0]))) == "Tensor([0.], grad_fn=Sin)"
    assert "requires_grad=True" in repr(ad.variable([1.0])) and "float64" in repr(double([1.0]))
    assert "int64" not in repr(ad.tensor([1])) or "dtype" in repr(ad.tensor([1]))
    assert len(repr(ad.zeros((1000, 1000)))) < 2000


def test_tensors_hash_and_compare_as_objects() -> None:
    x, y = ad.tensor([1.0, 2.0]), ad.tensor([1.0, 2.0])
    assert {x: 1, y: 2}[x] == 1 and len({x, y}) == 2
    hashed = hash(x)
    x += 1
    assert hash(x) == hashed


def test_copies() -> None:
    x = ad.variable([1.0, 2.0], name="x")
    for made in (copy.copy(x), copy.deepcopy(x), copy.deepcopy({"x": x})["x"]):
        assert made.requires_grad
        equal(made, [1.0, 2.0])
        made.data[0] = 9.0
        equal(x, [1.0, 2.0])
        (made * 2).sum().backward()
        assert x.grad is None


# ---- NumPy's functions on tensors ------------------------------------------------------------------------------------

NUMPY_CALLS: dict[str, Callable[[Any], Any]] = {
    "sum": np.sum,
    "sum over an axis": lambda x: np.sum(x, axis=0, keepdims=True),
    "mean": lambda x: np.mean(x, axis=-1),
    "max": lambda x: np.max(x, axis=0),
    "min": np.min,
    "prod": np.prod,
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "transpose": np.transpose,
    "concatenate": lambda x: np.concatenate([x, x * 2]),
    "stack": lambda x: np.stack([x, x]),
    "where": lambda x: np.where(x > 0, x, 0.0),
    "matmul": lambda x: np.matmul(x, np.ones((3, 2))),
    "dot": lambda x: np.dot(x, np.ones(3)),
    "clip": lambda x: np.clip(x, -0.5, 0.5),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, np.ones((4, 3))),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "var": lambda x: np.var(x, axis=1),
    "atleast_1d": lambda x: np.atleast_1d(x[0, 0]),
    "atleast_1d of several": lambda x: np.atleast_1d(x[0, 0], x)[0],
    "atleast_2d": lambda x: np.atleast_2d(x[0]) + np.atleast_2d(x[1, 1]) + np.atleast_2d(x),
    "add.reduce": np.add.reduce,
    "absolute": lambda x: np.absolute(x) + np.exp(np.negative(x)),
    "left operand": lambda x: np.multiply(np.full((2, 3), 3.0), x),
}


@pytest.mark.parametrize("name", NUMPY_CALLS)
def test_numpys_functions_on_a_tensor_record(name: str) -> None:
    array = np.array([[0.3, -1.2, 2.0], [0.7, 0.2, -0.4]])
    x = ad.variable(array)
    y = NUMPY_CALLS[name](x)
    assert isinstance(y, ad.Tensor) and y.requires_grad
    equal(y, NUMPY_CALLS[name](array), 1e-12)
    assert np.isfinite(ad.gradients(y.sum(), [x])[0].numpy()).all()


# ---- values at the edges ---------------------------------------------------------------------------------------------


def test_integers_are_exact_and_wrap_around() -> None:
    big = 2**53 + 1
    assert (ad.tensor(big) + 1).item() == big + 1 and (ad.tensor([big, big]).sum()).item() == 2 * big
    equal(ad.tensor(np.array([255, 0], "uint8")) + 1, [0, 1])
    equal(ad.tensor(np.array([-128], "int8")) - 1, [127])
    equal(ad.tensor([-7, 7, -7]) // ad.tensor([2, -2, -2]), [-4, -4, 3])
    equal(ad.tensor([-7, 7, -7]) % ad.tensor([2, -2, -2]), [1, -1, -1])
    equal(ad.tensor([2, -3]) ** ad.tensor([10, 3]), [1024, -27])
    assert ad.tensor(2**63, dtype="uint64").item() == 2**63


def test_signs_of_zero_and_not_a_number() -> None:
    zeros = np.signbit(
        ad.stack(
            [
                -double(0.0),
                double(-0.0) * 1,
                ad.copysign(double(0.0), double(-1.0)),
                ad.floor(double(-0.0)),
                ad.sqrt(double(-0.0)),
            ]
        ).numpy()
    )
    assert zeros.all()
    assert np.isnan(
        [
            (double(np.inf) - double(np.inf)).item(),
            ad.maximum(double(np.nan), double(1.0)).item(),
            ad.max(double([1.0, np.nan])).item(),
            ad.min(double([np.nan, 1.0])).item(),
        ]
    ).all()
    assert np.isnan(ad.relu(double(np.nan)).item()) and np.isnan(ad.clip(double(np.nan), 0, 1).item())


def test_evaluation_warns_of_nothing() -> None:
    """Infinities and NaN are values; warnings are errors in these tests."""
    x = ad.variable([0.0, -1.0, 1000.0])
    y = ad.log(x) + 1 / x + ad.sqrt(x) + ad.exp(x) + x**-2 + ad.asin(x) + ad.divide(x, 0.0)
    ad.gradients(y, [x], ad.ones((3,)))[0].numpy()
    equal(ad.tensor([1e38]) * 10, [np.inf])
    ad.mean(ad.zeros((0,))).numpy()
    ad.tensor([np.nan, 300.0]).astype("int8").numpy()


def test_a_small_difference_is_not_lost() -> None:
    tiny = double(-50.0)
    slope = ad.grad(ad.sigmoid)(double(-40.0))
    for found, expected in (
        (ad.softplus(tiny), np.exp(-50.0)),
        (ad.sigmoid(tiny), np.exp(-50.0)),
        (ad.logaddexp(double(0.0), tiny), np.exp(-50.0)),
        (ad.log_softmax(double([0.0, 1000.0])), [-1000.0, 0.0]),
        (ad.logsumexp(double([-1000.0, -1000.0])), np.log(2) - 1000),
        (ad.log1p(double(1e-20)), 1e-20),
        (ad.expm1(double(1e-20)), 1e-20),
        (ad.hypot(double(1e200), double(1e200)), 2**0.5 * 1e200),
        (ad.var(double([1e8, 1e8 + 1])), 0.25),
        (ad.erfc(double(10.0)), 2.088487583762545e-45),
        (slope, np.exp(-40.0)),
    ):
        np.testing.assert_allclose(found.numpy(), expected, 1e-9)


def test_repeated_indices() -> None:
    x = ad.variable([1.0, 2.0, 3.0])
    x[ad.tensor([1, 1, 0])].sum().backward()
    equal(x.grad, [1.0, 2.0, 0.0])
    values = ad.variable([5.0, 6.0])
    y = ad.zeros((3,))
    y[np.array([1, 1])] = values
    equal(y, [0.0, 6.0, 0.0])
    (y * 10).sum().backward()
    equal(values.grad, [0.0, 10.0])
    z = ad.zeros((3,))
    z[np.array([1, 1])] += 1.0
    equal(z, [0.0, 1.0, 0.0])


def test_indexing_with_tensors_and_assigning_from_another_version() -> None:
    x = ad.variable(np.arange(12.0).reshape(3, 4))
    rows, columns = ad.tensor([2, 0]), ad.tensor([1, 3])
    equal(x[rows, columns], [9.0, 3.0])
    equal(x[ad.tensor(1)], [4.0, 5.0, 6.0, 7.0])
    equal(x[x > 9], [10.0, 11.0])
    equal(x[rows[:, None], columns[None, :]], [[9.0, 11.0], [1.0, 3.0]])
    y = x * 1
    y[0], y[1] = y[1], y[0]
    equal(y[:2], [[4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0]])
    y[:, 1:] = y[:, :-1]
    equal(y[0], [4.0, 4.0, 5.0, 6.0])
    y[y > 5] = -1.0
    equal(ad.gradients(y.sum(), [x])[0], [[2.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])


def test_a_range_is_an_index_as_its_numbers_are() -> None:
    plain = np.arange(12.0).reshape(3, 4)
    x = ad.variable(plain)
    for index in (range(2), range(0), (range(3), [1, 0, 2]), (slice(None), range(3, 0, -1)), (1, range(2))):
        equal(x[index], plain[index])
        y, expected = x * 1, plain.copy()
        y[index] = -1.0
        expected[index] = -1.0
        equal(y, expected)
    equal(ad.grad(lambda x: (x[range(3), [1, 0, 2]] ** 2).sum())(x)[range(3), [1, 0, 2]], [2.0, 8.0, 20.0])
    with pytest.raises(IndexError, match="out of bounds"):
        x[range(4)].numpy()


def test_empty_and_one_element_tensors_go_through_everything() -> None:
    empty = ad.variable(np.zeros((0, 3)))
    loss = (
        (ad.exp(empty) @ ad.ones((3, 2), dtype="float64")).sum() + ad.concat([empty, empty]).sum() + empty[:, 1].sum()
    )
    assert loss.item() == 0
    loss.backward()
    assert empty.grad.shape == (0, 3)
    assert ad.empty((2, 3), dtype="int8").numpy().shape == (2, 3)
    one = ad.variable([[3.0]])
    (one.squeeze() ** 2).backward()
    equal(one.grad, [[6.0]])


def test_default_arguments_of_shape_functions() -> None:
    x = ad.tensor([[1.0, 2.0], [3.0, 4.0]])
    equal(x.reshape(4), [1.0, 2.0, 3.0, 4.0])
    equal(x.reshape((4,)), x.reshape(-1).numpy())
    equal(x.reshape(1, 4), [[1.0, 2.0, 3.0, 4.0]])
    equal(ad.argmax(x), 3)
    equal(ad.sort(x, axis=0, descending=True), [[3.0, 4.0], [1.0, 2.0]])
    equal(ad.roll(x, 1), [[4.0, 1.0], [2.0, 3.0]])
    equal(ad.arange(3) + ad.linspace(0.0, 1.0, 3), [0.0, 1.5, 3.0])


def test_a_list_of_the_first_or_last_position_is_read_as_numpy_reads_it():
    array = np.arange(24.0).reshape(2, 3, 4)
    x = ad.variable(array)
    for index in [
        np.s_[:, [-1], :], np.s_[[0]], np.s_[..., [-1]], np.s_[[-1], ...], np.s_[:, None, [0]], np.s_[:1, [0], ::2],
        np.s_[:, [-1], 1],
        np.s_[[0], [-1]], np.s_[[0], ..., [-1]], np.s_[0, :, [-1]], np.s_[:, [True, False, True]], np.s_[[0], None, :, [0]],
    ]:  # fmt: skip
        assert np.array_equal(x[index].numpy(), array[index]), index
        (grad,) = ad.gradients((x[index] * x[index]).sum(), [x])
        expected = np.zeros_like(array)
        np.add.at(expected, index, 2 * array[index])
        assert np.array_equal(grad.numpy(), expected), index
    empty = ad.tensor(np.zeros((0, 3)))
    for index in [np.s_[[0], :], np.s_[[-1], ...]]:
        with pytest.raises(IndexError, match="out of bounds"):
            empty[index]
    with pytest.raises(IndexError):
        x[:, :, :, [0]]
    with pytest.raises(IndexError):
        x[..., [0], ...]


def test_a_list_of_one_position_is_one_structure_unless_it_is_an_end():
    x = ad.variable(np.arange(12.0).reshape(4, 3))
    assert [x[[k], :].node.op.name for k in (1, 2)] == ["gather", "gather"]
    assert [x[[k], :].node.op.name for k in (0, -1)] == ["slice", "slice"]
    column = ad.variable([[1.0], [2.0]])
    taken = column[:, [0]]
    taken += 1.0  # a leaf could not be written to
    assert column.tolist() == [[1.0], [2.0]]


SIDES = [complex(a, b) for a in (-1.5, 1.5, -0.5) for b in (0.0, -0.0)] + [
    complex(a, b) for a in (0.0, -0.0) for b in (2.0, -2.0, 0.5)
]


@pytest.mark.parametrize("name", ["asin", "acos", "atan", "asinh", "acosh", "atanh", "log", "log10", "sqrt"])
def test_derivatives_on_either_side_of_a_cut_are_those_of_that_side(name: str) -> None:
    """The sign of a zero says on which side of a cut a number lies; along the cut differences stay there."""
    ours, theirs = getattr(ad, name), getattr(np, name.replace("a", "arc", 1) if name[0] == "a" else name)
    for z in SIDES:
        along = 1e-6 * (1.0 if z.imag == 0 else 1j)
        ends = [complex(z.real + s * along.real, z.imag) if along.imag == 0 else complex(z.real, z.imag + s * along.imag)
                for s in (1, -1)]  # fmt: skip
        slope = (theirs(np.complex128(ends[0])) - theirs(np.complex128(ends[1]))) / (2 * along)
        for part, turn in ((ad.real, 1), (ad.imag, 1j)):
            gradient = ad.grad(lambda x, part=part: part(ours(x)))
            for f in (gradient, ad.jit(gradient)):
                found = np.conj(f(ad.tensor(np.array(z))).item() / turn)
                np.testing.assert_allclose(found, slope, 1e-6, err_msg=f"{name} at {z}")
