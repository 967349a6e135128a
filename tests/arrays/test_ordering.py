"""Sorted values, the indices that sort, and the first few of these, beside NumPy's stable sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad

DTYPES = ["float64", "float32", "float16", "int64", "int32", "int16", "uint8", "bool"]


def lines(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """Numbers of which many are equal; zeros of both signs, infinities and NaN, some lines without any of them."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-40 if dtype[0] in "if" else 0, 90, shape)
    if dtype[0] != "f":
        return x.astype(dtype)
    found = (x / 4 + (rng.random(shape) > 0.5) * rng.random(shape)).astype(dtype)
    special = rng.random(shape)
    special[0] = 1
    found[special < 0.02] = np.nan
    found[(special >= 0.02) & (special < 0.06)] *= 0
    found[(special >= 0.06) & (special < 0.08)] = -np.inf
    found[(special >= 0.08) & (special < 0.1)] = np.inf
    return found


def stable(x: np.ndarray[Any, Any], axis: int, descending: bool) -> np.ndarray[Any, Any]:
    if not descending:
        return np.argsort(x, axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)


def same(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    np.testing.assert_array_equal(found, expected)
    if found.dtype.kind == "f":
        some = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found[some]), np.signbit(expected[some]))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "axis"), [((300,), 0), ((5, 200), 1), ((130, 4), 0), ((2, 90, 3), 1), ((3, 17), 1), ((4, 0), 1)]
)
def test_equal_elements_keep_their_order(shape: tuple[int, ...], axis: int, dtype: str, descending: bool) -> None:
    x = lines(dtype, shape, 3)
    order = stable(x, axis, descending)
    t = ad.tensor(x)
    same(ad.argsort(t, axis=axis, descending=descending).numpy(), order)
    same(ad.sort(t, axis=axis, descending=descending).numpy(), np.take_along_axis(x, order, axis))
    for k in {0, 1, 3, shape[axis] // 3, shape[axis]}:
        if k <= shape[axis]:
            values, places = ad.topk(t, k, axis=axis, largest=descending)
            same(places.numpy(), order.take(range(k), axis))
            same(values.numpy(), np.take_along_axis(x, places.numpy(), axis))


@pytest.mark.parametrize("shape", [(100,), (3, 40)])
def test_cotangents_go_where_elements_came_from(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=shape), rng.normal(size=shape)
    expected = np.empty(shape)
    np.put_along_axis(expected, np.argsort(x, -1), w, -1)
    for f in (lambda t: (ad.sort(t) * w).sum(), ad.jit(lambda t: (ad.sort(t) * w).sum())):
        np.testing.assert_array_equal(ad.grad(f)(ad.tensor(x)).numpy(), expected)
    _, tangent = ad.jvp(ad.sort, (ad.tensor(x),), (ad.tensor(w),))
    np.testing.assert_array_equal(tangent.numpy(), np.take_along_axis(w, np.argsort(x, -1), -1))
    second = (
        ad.hessian(lambda t: (ad.sort(t.reshape((-1,)))[:5] ** 3).sum())(ad.tensor(x)).numpy().reshape(x.size, x.size)
    )
    smallest = np.argsort(x, None)[:5]
    curvature = np.zeros(x.size)
    curvature[smallest] = 6 * x.reshape(-1)[smallest]
    np.testing.assert_allclose(second, np.diag(curvature))
    grad = ad.grad(lambda t: (ad.topk(t, 4)[0] * w[..., :4]).sum())(ad.tensor(x)).numpy()
    expected = np.zeros(shape)
    np.put_along_axis(expected, np.argsort(-x, -1)[..., :4], w[..., :4], -1)
    np.testing.assert_array_equal(grad, expected)


@pytest.mark.parametrize(
    "operation", [ad.sort, ad.argsort, lambda t: ad.topk(t, 7)[1], lambda t: ad.sort(t, descending=True)]
)
def test_lines_of_examples(operation: Any) -> None:
    x = ad.tensor(lines("float32", (6, 5, 90), 2))
    for axis in (0, 1):
        mapped = ad.vmap(operation, in_axes=axis)(x).numpy()
        each = [operation(ad.tensor(np.take(x.numpy(), k, axis))).numpy() for k in range(x.shape[axis])]
        same(mapped, np.stack(each))
    same(ad.jit(operation)(x).numpy(), operation(x).numpy())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("shape", "axis"), [((301,), None), ((4, 120), 1), ((90, 3), 0), ((7, 5, 6), (0, 2))])
def test_quantiles_of_long_lines(shape: tuple[int, ...], axis: Any, dtype: str) -> None:
    x = lines(dtype, shape, 4)
    x[np.isinf(x)] = 7  # between infinite neighbours NumPy's is NaN
    for q in (0.5, 0.0, 1.0, [0.1, 0.9, 0.25], np.linspace(0, 1, 21)):
        with np.errstate(invalid="ignore"):
            expected = np.quantile(x.astype(np.float64), q, axis=axis)
        found = ad.quantile(ad.tensor(x), q, axis=axis).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    clean = np.nan_to_num(x.astype(np.float64), posinf=1, neginf=2) + np.random.default_rng(0).random(shape) * 1e-3
    w = np.random.default_rng(1).normal(size=np.quantile(clean, [0.1, 0.77], axis=axis).shape)
    grad = ad.grad(lambda t: (ad.quantile(t, [0.1, 0.77], axis=axis) * w).sum())(ad.tensor(clean)).numpy()
    for place in [tuple(p) for p in np.random.default_rng(2).integers(0, shape, (12, len(shape)))]:
        move = np.zeros(shape)
        move[place] = 1e-9
        ends = [(np.quantile(clean + s * move, [0.1, 0.77], axis=axis) * w).sum() for s in (1, -1)]
        np.testing.assert_allclose(grad[place], (ends[0] - ends[1]) / 2e-9, atol=1e-4)


def test_medians_know_nan() -> None:
    x = np.random.default_rng(0).normal(size=(3, 100))
    x[1, 40] = np.nan
    assert np.isnan(ad.median(ad.tensor(x), axis=1).numpy()).tolist() == [False, True, False]
    np.testing.assert_allclose(ad.nanmedian(ad.tensor(x), axis=1).numpy(), np.nanmedian(x, axis=1))
