"""Calls that are written alike elsewhere: they mean what NumPy and the Array API say, or they are errors, never a third thing.

Each list has a test that looks for its kin: every function with axes against NumPy's on every order of axes and on repeated
ones, every index against NumPy's, every reduction with every dtype.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "complex64"]


def outcome(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a call gives as arrays, or "error": at once, not when its value is asked for."""
    try:
        with np.errstate(all="ignore"):
            found = function(*args, **options)
    except (ValueError, IndexError, TypeError, ZeroDivisionError):
        return "error"
    return [np.asarray(x) for x in (found if isinstance(found, (list, tuple)) else [found])]


def same(ours: Any, numpys: Any, call: object) -> None:
    if isinstance(numpys, str) or isinstance(ours, str):
        assert isinstance(numpys, str) and isinstance(ours, str), f"{call}: ours {ours}, NumPy's {numpys}"
        return
    assert len(ours) == len(numpys), call
    for one, other in zip(ours, numpys, strict=True):
        assert one.shape == other.shape, f"{call}: ours has shape {one.shape}, NumPy's {other.shape}"
        np.testing.assert_allclose(one, other, 1e-6, 1e-6, err_msg=str(call))


# Axes -----------------------------------------------------------------------------------------------------------------

THREE = np.arange(24.0).reshape(2, 3, 4)


def test_two_integers_exchange_two_axes() -> None:
    x = ad.tensor(THREE)
    assert x.transpose(0, 1).shape == (3, 2, 4) and x.transpose(-1, -2).shape == (2, 4, 3)
    assert x.transpose(2, 0, 1).shape == x.transpose((2, 0, 1)).shape == (4, 2, 3)
    assert x.transpose().shape == (4, 3, 2)
    matrix = ad.tensor(THREE[0])
    same(outcome(lambda: matrix.transpose(1, 0)), outcome(lambda: THREE[0].T), "transpose(1, 0)")
    same(outcome(lambda: matrix.transpose((0, 1))), outcome(lambda: THREE[0]), "transpose((0, 1))")


@pytest.mark.parametrize("axes", [(0, 1), (-2, -1), (0, -1), (-2, 1)])
def test_what_is_an_exchange_in_pytorch_and_nothing_in_numpy_is_an_error(axes: tuple[int, int]) -> None:
    """NumPy leaves a matrix as it is, PyTorch transposes it: whoever writes it means either."""
    with pytest.raises(ValueError, match=r"transpose.*ambiguous.*\.mT.*test_spellings"):
        ad.tensor(THREE[0]).transpose(*axes)


@pytest.mark.parametrize("axes", [(0, 0), (1, -2), (0, 3), (0, 1, 1), (0, 1, 2, 3)])
def test_transposes_that_are_none(axes: tuple[int, ...]) -> None:
    with pytest.raises((ValueError, IndexError), match=r"transpose|permute_dims"):
        ad.tensor(THREE).transpose(*axes)


OF_ONE_AXIS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (ad.sum, np.sum), "prod": (ad.prod, np.prod), "max": (ad.max, np.max), "min": (ad.min, np.min),
    "mean": (ad.mean, np.mean), "var": (ad.var, np.var), "std": (ad.std, np.std), "any": (ad.any, np.any),
    "all": (ad.all, np.all), "count_nonzero": (ad.count_nonzero, np.count_nonzero),
    "norm": (lambda x, axis: ad.norm(x, axis=axis), lambda x, axis: np.sqrt(np.sum(x * x, axis))),
    "logsumexp": (ad.logsumexp, lambda x, axis: np.log(np.sum(np.exp(x), axis))),
    "argmax": (ad.argmax, np.argmax), "argmin": (ad.argmin, np.argmin), "sort": (ad.sort, np.sort),
    "argsort": (ad.argsort, np.argsort), "flip": (ad.flip, np.flip), "squeeze": (ad.squeeze, np.squeeze),
    "expand_dims": (ad.expand_dims, np.expand_dims), "unstack": (ad.unstack, lambda x, a: np.unstack(x, axis=a)),
    "cumulative_sum": (ad.cumulative_sum, lambda x, a: np.cumulative_sum(x, axis=a)),
    "diff": (lambda x, a: ad.diff(x, axis=a), lambda x, a: np.diff(x, axis=a)),
    "roll": (lambda x, a: ad.roll(x, 1, axis=a), lambda x, a: np.roll(x, 1, axis=a)),
    "repeat": (lambda x, a: ad.repeat(x, 2, axis=a), lambda x, a: np.repeat(x, 2, axis=a)),
    "take": (lambda x, a: ad.take(x, np.array([1, 0]), a), lambda x, a: np.take(x, np.array([1, 0]), a)),
    "concat": (lambda x, a: ad.concat([x, x], a), lambda x, a: np.concat([x, x], a)),
    "stack": (lambda x, a: ad.stack([x, x], a), lambda x, a: np.stack([x, x], a)),
    "split": (lambda x, a: ad.split(x, [1], a), lambda x, a: np.split(x, [1], a)),
    "vecdot": (lambda x, a: ad.vecdot(x, x, a), lambda x, a: np.vecdot(x, x, axis=a)),
}  # fmt: skip
SOME_AXES: list[Any] = [
    0,
    1,
    -1,
    2,
    -3,
    3,
    -4,
    (0, 1),
    (1, 0),
    (2, 0),
    (-1, 1),
    (0, 0),
    (1, -2),
    (0, 1, 2),
    (2, 1, 0),
    (0, 3),
    (),
]
# Axes in the plural where NumPy takes one only: our functions don't either, or they are wider.
WIDER = {"cumulative_sum", "norm", "logsumexp"}


@pytest.mark.parametrize("name", OF_ONE_AXIS)
def test_axes_are_numpys(name: str) -> None:
    ours, numpys = OF_ONE_AXIS[name]
    for array, axis in itertools.product([THREE, np.ones((1, 3, 1))], SOME_AXES):
        if not (name in WIDER and isinstance(axis, tuple)):
            same(outcome(ours, ad.tensor(array), axis), outcome(numpys, array, axis), f"{name}, axis {axis}")


PAIRS: list[Any] = [0, 1, -1, 3, -4, (0, 1), (1, 0), (2, 0), (0, 0), (1, -2), (0, 1, 2), (2, 0, 1), (0, 3), (), [0, 2]]


@pytest.mark.parametrize("name", ["moveaxis", "swapaxes", "permute_dims", "roll"])
def test_pairs_of_axes_are_numpys(name: str) -> None:
    ours, numpys = getattr(ad, name), getattr(np, name)
    for first, second in itertools.product(PAIRS, PAIRS):
        call = f"{name}({first}, {second})"
        if name == "permute_dims":
            order = (*np.atleast_1d(first).tolist(), *np.atleast_1d(second).tolist())
            same(outcome(ours, ad.tensor(THREE), order), outcome(numpys, THREE, order), call)
        elif name == "roll":
            same(outcome(ours, ad.tensor(THREE), first, axis=second), outcome(numpys, THREE, first, axis=second), call)
        else:
            same(outcome(ours, ad.tensor(THREE), first, second), outcome(numpys, THREE, first, second), call)


@pytest.mark.parametrize(
    "axes", [([0, 0], [0, 1]), ([0, 1], [0, 0]), ([0], [0, 1]), (1, 1), (0, 1), ([0, 2], [0, 2]), 4, 0, -1]
)
def test_axes_of_tensordot_are_numpys(axes: Any) -> None:
    x, y = np.ones((2, 2, 3)), np.ones((2, 2, 3))
    same(
        outcome(lambda: ad.tensordot(ad.tensor(x), ad.tensor(y), axes=axes)),
        outcome(lambda: np.tensordot(x, y, axes)),
        axes,
    )


# Counts ---------------------------------------------------------------------------------------------------------------

LINE = np.arange(5.0)
COUNTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "diff": (ad.diff, np.diff),
    "repeat": (ad.repeat, np.repeat), "tile": (ad.tile, np.tile), "split": (ad.split, np.split),
    "roll": (ad.roll, np.roll), "eye": (lambda x, n: ad.eye(n), lambda x, n: np.eye(n)),
    "linspace": (lambda x, n: ad.linspace(0.0, 1.0, n), lambda x, n: np.linspace(0.0, 1.0, n)),
    "pad": (ad.pad, np.pad),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_numpys(name: str) -> None:
    ours, numpys = COUNTS[name]
    for n in (-2, -1, 0, 1, 2, 5, 7, *([1.5] if name not in ("roll", "repeat") else [])):  # where NumPy rounds
        same(outcome(ours, ad.tensor(LINE), n), outcome(numpys, LINE, n), f"{name}, {n}")


def test_differences_of_a_negative_order_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"diff: .*-1.*test_spellings"):
        ad.diff(ad.arange(4.0), n=-1)


# linspace -------------------------------------------------------------------------------------------------------------


def test_linspace_has_the_dtype_of_its_bounds() -> None:
    low, high = np.array(0.1), np.array(0.7)
    for first, last in ((ad.tensor(low), 0.7), (0.1, ad.tensor(high)), (low, 0.7), (ad.tensor(low), ad.tensor(high))):
        found = ad.linspace(first, last, 7)
        assert found.dtype == "float64"
        np.testing.assert_allclose(found.numpy(), np.linspace(0.1, 0.7, 7), 1e-15)
    assert ad.linspace(0.0, 1.0, 3).dtype == "float32"
    assert ad.linspace(ad.tensor([0.0]), 1.0, 3).dtype == "float32"
    assert ad.linspace(ad.tensor(0.0), 1.0, 3, dtype="float64").dtype == "float64"


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 3, 5])
def test_linspace_of_vectors_is_numpys(num: int, endpoint: bool) -> None:
    low, high = np.array([0.0, 1.0]), np.array([[1.0], [5.0], [9.0]])
    found = ad.linspace(ad.tensor(low), ad.tensor(high), num, endpoint=endpoint)
    np.testing.assert_allclose(found.numpy(), np.linspace(low, high, num, endpoint=endpoint), 1e-15)
    assert ad.grad(lambda a: ad.linspace(a, high, num, endpoint=endpoint).sum())(ad.tensor(low)).shape == (2,)


@pytest.mark.parametrize("bounds", [(0, 10), (-3, 4), (0.5, 2.5)])
def test_linspace_of_integers_is_numpys(bounds: Any) -> None:
    expected = np.linspace(*bounds, 4, dtype="int64")
    assert ad.linspace(*bounds, 4, dtype="int64").tolist() == expected.tolist()
    assert ad.linspace(ad.tensor(bounds[0]), ad.tensor(bounds[1]), 4, dtype="int64").tolist() == expected.tolist()


# Indices --------------------------------------------------------------------------------------------------------------

MASK = np.array([True, False, True])
ITEMS: list[Any] = [
    0,
    slice(None),
    slice(1, None),
    None,
    Ellipsis,
    [0],
    [1, 0],
    np.array([[0, 1], [1, 1]]),
    True,
    np.array(False),
]
MASKS: list[Any] = [
    [True], [True, False], [True, False, True], [False, False], MASK, MASK[:2], np.array([True, False, False, True]),
    np.array([True]), np.ones((2, 3), bool), np.ones((3, 4), bool), np.zeros((2, 4), bool), np.ones((2, 3, 4), bool),
    np.zeros((0,), bool), np.ones((2, 3, 4, 1), bool),
]  # fmt: skip


def of_tensors(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(of_tensors, index))
    return ad.tensor(index) if isinstance(index, np.ndarray) and index.ndim else index


def check_index(array: np.ndarray, index: Any) -> None:
    x = ad.tensor(array)
    expected = outcome(lambda: array[index])
    for ours in (index, of_tensors(index)):
        same(outcome(x.__getitem__, ours), expected, index)
    if isinstance(expected, str):
        assert outcome((x * 1).__setitem__, index, 7.0) == "error", index
        return

    def written(y: Any, value: Any) -> Any:
        y[index] = value
        return y

    for value in (7.0, np.arange(expected[0].size, dtype=array.dtype).reshape(expected[0].shape)):
        same([written(x * 1, value).numpy()], [written(array.copy(), value)], f"write {index}")


def test_indices_are_numpys() -> None:
    indices = [*itertools.product(ITEMS, repeat=2), *itertools.product(ITEMS[:8], repeat=3)]
    generator = np.random.default_rng(0)
    indices += [tuple(ITEMS[i] for i in generator.integers(0, 8, 4)) for _ in range(150)]
    for index in indices:
        check_index(THREE, index)
    for index in ((slice(None), [0], Ellipsis, 0), (0, Ellipsis, [0, 1], 0), ([0, 1], Ellipsis, [0, 1], [0, 1])):
        check_index(THREE, index)
        check_index(np.arange(120.0).reshape(2, 3, 4, 5), index)


def test_masks_are_numpys() -> None:
    places = [lambda m: m, lambda m: (m,), lambda m: (slice(None), m), lambda m: (Ellipsis, m), lambda m: (0, m),
              lambda m: (None, m), lambda m: (m, Ellipsis), lambda m: (m, 0), lambda m: (m, [0]), lambda m: (slice(None), m, m),
              lambda m: (m, Ellipsis, m), lambda m: (True, m)]  # fmt: skip
    for mask, place in itertools.product(MASKS, places):
        check_index(THREE, place(mask))


def test_a_mask_with_an_empty_axis_selects_nothing() -> None:
    for shape, of_mask in (((2, 3), (0, 3)), ((2, 3), (2, 0)), ((2, 3), (0,)), ((0, 1), (0, 0)), ((2, 3, 4), (0, 3))):
        array, mask = np.arange(float(np.prod(shape))).reshape(shape), np.zeros(of_mask, bool)
        check_index(array, mask)
        for value in (1.0, np.float64(2.0), np.zeros((0, *shape[len(of_mask) :]))):
            written = ad.tensor(array)
            written[mask] = ad.tensor(value) if isinstance(value, np.ndarray) else value
            assert np.array_equal(written.numpy(), array)
    for shape, of_mask in (((0, 1), (0, 3)), ((3, 0), (3, 1)), ((2,), (0, 0))):
        with pytest.raises(IndexError):
            ad.tensor(np.zeros(shape))[np.zeros(of_mask, bool)]


@pytest.mark.parametrize("index", [[True], (Ellipsis, MASK), (slice(None), [True, False]), np.ones((2, 2), bool)])
def test_a_mask_of_the_wrong_length_names_both(index: Any) -> None:
    with pytest.raises(IndexError, match=r"mask of shape \(.*\) does not match .*test_spellings"):
        ad.tensor(THREE)[index]


# dtypes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", DTYPES)
@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_a_reduction_has_the_dtype_that_it_is_asked_for(name: str, wanted: str) -> None:
    for given in DTYPES:
        if given.startswith("complex") and not wanted.startswith("complex"):
            continue  # a cast that loses a part
        array = np.array([[1, 0, 3], [3, 100, 2]], given)
        for options in ({}, {"axis": 1}) if name in ("sum", "prod") else ({"axis": 1}, {"axis": 0}):
            with np.errstate(all="ignore"):
                expected = getattr(np, name)(array, dtype=wanted, **options)
            found = getattr(ad, name)(ad.tensor(array), dtype=wanted, **options)
            assert found.dtype == wanted and found.numpy().dtype == wanted
            np.testing.assert_array_equal(found.numpy(), expected, f"{name} of {given} as {wanted}")


@pytest.mark.parametrize("wanted", DTYPES)
@pytest.mark.parametrize("function", [np.sum, np.prod, np.mean, np.cumsum, np.cumprod, np.add.reduce, np.var, np.std])
def test_numpys_reductions_of_tensors_have_the_dtype_that_they_are_asked_for(function: Any, wanted: str) -> None:
    array = np.array([1.0, 2.0, 4.0])
    if function in (np.var, np.std) and not wanted.startswith("f"):
        return
    if function is np.mean and wanted == "bool":
        return
    found = function(ad.tensor(array), dtype=wanted)
    assert isinstance(found, ad.Tensor) and found.dtype == wanted
    np.testing.assert_allclose(found.numpy(), function(array, dtype=wanted), 1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_keep_their_dtype_as_numpys_do(dtype: str) -> None:
    a, b = np.array([[1, 2, 100], [3, 0, 5]], dtype), np.array([[100, 1, 7], [2, 2, 1]], dtype)
    pairs: dict[str, tuple[Any, Any]] = {
        "vecdot": (ad.vecdot, np.vecdot), "outer": (ad.outer, np.outer),
        "dot": (lambda x, y: ad.dot(x, y.T), lambda x, y: np.dot(x, y.T)),
        "matmul": (lambda x, y: x @ y.mT, lambda x, y: x @ y.T),
        "tensordot": (lambda x, y: ad.tensordot(x, y, axes=2), lambda x, y: np.tensordot(x, y, 2)),
        "einsum": (lambda x, y: ad.einsum("ij,ij->i", x, y), lambda x, y: np.einsum("ij,ij->i", x, y)),
        "trace": (lambda x, y: ad.einsum("ij->i", x), lambda x, y: np.einsum("ij->i", x)),
    }  # fmt: skip
    for name, (ours, numpys) in pairs.items():
        found, expected = ours(ad.tensor(a), ad.tensor(b)), numpys(a, b)
        assert found.dtype.name == expected.dtype.name == found.numpy().dtype, (
            f"{name}: {found.dtype}, {expected.dtype}"
        )
        np.testing.assert_allclose(found.numpy(), expected, 1e-6, err_msg=name)


@pytest.mark.parametrize(
    ("one", "other", "axis"),
    [((2, 1), (2, 3), -1), ((3,), (2, 3), 0), ((2, 3), (3,), 0), ((3,), (3,), 0), ((2, 3), (3,), -1), ((4, 1, 3), (2, 3), -1),
     ((1,), (1, 3), -1), ((2, 3), (2, 3), 2), ((4, 2, 3), (2, 3), 0), ((3, 2), (3, 4, 2), 0), ((), (3,), -1)],
)  # fmt: skip
def test_vecdot_never_broadcasts_the_axis_that_it_sums(one: Any, other: Any, axis: int) -> None:
    a, b = np.arange(float(np.prod(one))).reshape(one), np.arange(float(np.prod(other))).reshape(other)
    same(
        outcome(lambda: ad.vecdot(ad.tensor(a), ad.tensor(b), axis)),
        outcome(lambda: np.vecdot(a, b, axis=axis)),
        (one, other),
    )


def test_a_complex_bias_of_a_real_convolution_is_an_error() -> None:
    x, w = ad.ones((1, 1, 3, 3)), ad.ones((1, 1, 2, 2))
    with pytest.raises(TypeError, match=r"conv2d: .*bias.*complex.*test_spellings"):
        ad.nn.functional.conv2d(x, w, ad.tensor(np.array([1j])))


@pytest.mark.parametrize("name", DTYPES)
def test_the_text_of_a_dtype_names_it(name: str) -> None:
    dtype = ad.zeros(2, dtype=name).dtype
    for text in (str(dtype), repr(dtype), dtype.name, f"{dtype}"):
        assert ad.zeros(2, dtype=text).dtype is dtype
        assert dtype == text
    assert dtype != "adjoint" and dtype != "adjoint.quad" and dtype != "torch.float32"


# float64 data in a float32 network --------------------------------------------------------------------------------------

WIDE = np.ones((2, 3))
MIXED: dict[str, Callable[[], Any]] = {
    "linear layer": lambda: ad.nn.Linear(3, 2)(ad.tensor(WIDE)),
    "product": lambda: ad.tensor(WIDE) @ ad.variable(np.ones((3, 2), "float32")),
    "sum": lambda: ad.variable([1.0, 2.0, 3.0]) + WIDE,
    "loss": lambda: ad.nn.functional.mse_loss(ad.nn.Linear(3, 3)(ad.ones((2, 3))), ad.tensor(WIDE)),
    "convolution": lambda: ad.nn.Conv2d(1, 1, 2)(ad.tensor(WIDE.reshape(1, 1, 2, 3))),
    "concat": lambda: ad.concat([ad.variable([1.0]), np.ones(2)]),
    "under grad": lambda: ad.grad(lambda w: (w * WIDE).sum())(ad.ones((2, 3))),
    "second of two": lambda: (ad.ones(3) * np.ones(3), ad.variable([1.0, 2.0, 3.0]) * np.ones(3)),
}


@pytest.mark.parametrize("name", MIXED)
def test_float64_data_in_a_float32_network_is_said_once_with_the_line(name: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            MIXED[name]()
    (warning,) = caught
    assert warning.category is ad.PrecisionWarning
    assert "float64 data meets a float32 tensor" in str(warning.message)
    assert warning.filename == __file__ and warning.lineno == MIXED[name].__code__.co_firstlineno


@pytest.mark.parametrize(
    "harmless",
    [
        lambda: ad.variable(2.0) * WIDE,  # a number isn't a network
        lambda: ad.variable([1.0, 2.0, 3.0]) * np.float64(2.0),
        lambda: ad.variable([1.0, 2.0, 3.0]).astype("float64") * WIDE,
        lambda: ad.ones((3,)) * WIDE,
        lambda: ad.variable(np.ones(3)) * np.ones(3, "float32"),
        lambda: ad.variable([1.0, 2.0, 3.0]) * np.ones(3, "int64"),
        lambda: ad.check_grads(lambda x, a: x * a, (ad.tensor(np.ones(3)), 2.0)),
    ],
)
def test_other_mixtures_are_nothing_to_speak_of(harmless: Callable[[], Any]) -> None:
    harmless()
