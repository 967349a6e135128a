"""The table of operations: one row for each public operation, read by every check over all of them.

What a row says is in ``operation_rows``; rows of topics with many functions are in files of their own. Adding an operation is
adding a row.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.signal
import scipy.special

import adjoint as ad
from array_operations import ARRAYS
from operation_rows import (
    HALVES,
    LARGE,
    SMALL,
    SPECIAL,
    Case,
    Operation,
    Static,
    array,
    case,
    integers,
    mask,
    one,
    outputs,
    row,
    two,
    value,
)

# fmt: off
# ---- elementwise -----------------------------------------------------------------------------------------------------

ELEMENTWISE = [
    one("negative", np.negative, dtypes="fcs"),
    one("positive", np.positive, dtypes="fci"),
    one("abs", np.abs, dtypes="fcs"),
    one("sign", np.sign, dtypes="fcs"),
    one("exp", np.exp, dtypes="fc"),
    one("expm1", np.expm1, dtypes="fc", special=SMALL),
    one("log", np.log, 0.3, 3, dtypes="fc"),
    one("log1p", np.log1p, -0.6, 2, dtypes="fc", special=SMALL),
    one("log2", np.log2, 0.3, 3, dtypes="fc"),
    one("log10", np.log10, 0.3, 3, dtypes="fc"),
    one("sqrt", np.sqrt, 0.3, 3, dtypes="fc"),
    one("square", np.square, dtypes="fci"),
    one("reciprocal", np.reciprocal, 0.4, 3, dtypes="fc"),
    one("sin", np.sin, dtypes="fc"),
    one("cos", np.cos, dtypes="fc"),
    one("tan", np.tan, -1, 1, dtypes="fc"),
    one("asin", np.arcsin, -0.8, 0.8, dtypes="fc"),
    one("acos", np.arccos, -0.8, 0.8, dtypes="fc"),
    one("atan", np.arctan, dtypes="fc"),
    one("sinh", np.sinh, dtypes="fc"),
    one("cosh", np.cosh, dtypes="fc"),
    one("tanh", np.tanh, dtypes="fc", special=LARGE),
    one("asinh", np.arcsinh, dtypes="fc"),
    one("acosh", np.arccosh, 1.3, 3, dtypes="fc"),
    one("atanh", np.arctanh, -0.8, 0.8, dtypes="fc"),
    one("erf", scipy.special.erf),
    one("erfc", scipy.special.erfc, special=np.array([5.0, 20.0, -5.0, np.inf])),
    one("relu", lambda x: np.maximum(x, 0), dtypes="fs"),
    one("sigmoid", scipy.special.expit, special=LARGE),
    one("softplus", lambda x: np.logaddexp(x, np.zeros((), x.dtype)), special=LARGE),
    one("gelu", lambda x: x * scipy.special.ndtr(x), special=LARGE),
    one("silu", lambda x: x * scipy.special.expit(x), special=LARGE),
    one("floor", np.floor, dtypes="fi", special=HALVES),
    one("ceil", np.ceil, dtypes="fi", special=HALVES),
    one("round", np.round, dtypes="fi", special=HALVES),
    one("trunc", np.trunc, dtypes="fi", special=HALVES),
    one("logical_not", np.logical_not, dtypes="bif"),
    one("bitwise_invert", np.invert, dtypes="bi", special=None),
    one("isfinite", np.isfinite, dtypes="fci"),
    one("isinf", np.isinf, dtypes="fci"),
    one("isnan", np.isnan, dtypes="fci"),
    one("signbit", np.signbit),
    one("conj", np.conj, dtypes="fc"),
    one("real", np.real, dtypes="fc"),
    one("imag", np.imag, dtypes="c", special=None),
    two("add", np.add, dtypes="fci"),
    two("subtract", np.subtract, dtypes="fcs"),
    two("multiply", np.multiply, dtypes="fci"),
    two("divide", np.divide, (-2, 2), (0.4, 3), dtypes="fc"),
    two("power", np.power, (0.4, 2), (-2, 2), dtypes="fc", special=False),
    row("power", np.power, *(case(array(3, domain=(-2, -0.5)), exponent) for exponent in (2, 3, -1, 0, 1, 4.0))),
    row("power", np.power, case(array(3), integers(3, domain=(0, 3))), case(2.0, array(3)), case(array(2, 3), 0.5),
        domains=((0.5, 2),)),
    row("power", np.power, case(array(3), array(2, 3)), domains=((0, 3),), dtypes="i"),
    two("maximum", np.maximum, dtypes="fi"),
    two("minimum", np.minimum, dtypes="fi"),
    two("remainder", np.remainder, (-5, 5), (0.6, 2), dtypes="fi", special=False),
    two("remainder", np.remainder, (-5, 5), (-3, -0.6), dtypes="fs", special=False),
    two("floor_divide", np.floor_divide, (-5, 5), (0.6, 2), dtypes="fi", special=False),
    two("floor_divide", np.floor_divide, (-5, 5), (-3, -0.6), dtypes="fs", special=False),
    two("atan2", np.arctan2),
    two("hypot", np.hypot),
    two("logaddexp", np.logaddexp),
    two("copysign", np.copysign, (0.3, 2), (-2, 2)),
    two("nextafter", np.nextafter),
    two("pow", np.power, (0.3, 2), (-2, 2)),
    two("equal", np.equal, dtypes="ficb"),
    two("not_equal", np.not_equal, dtypes="ficb"),
    two("less", np.less, dtypes="fi"),
    two("less_equal", np.less_equal, dtypes="fi"),
    two("greater", np.greater, dtypes="fi"),
    two("greater_equal", np.greater_equal, dtypes="fi"),
    two("logical_and", np.logical_and, dtypes="bi", special=False),
    two("logical_or", np.logical_or, dtypes="bi", special=False),
    two("logical_xor", np.logical_xor, dtypes="bi", special=False),
    two("bitwise_and", np.bitwise_and, dtypes="bi", special=False),
    two("bitwise_or", np.bitwise_or, dtypes="bi", special=False),
    two("bitwise_xor", np.bitwise_xor, dtypes="bi", special=False),
    two("bitwise_left_shift", np.left_shift, (0, 3), dtypes="i", special=False),
    two("bitwise_right_shift", np.right_shift, (0, 3), dtypes="i", special=False),
    row("where", np.where, case(mask(2, 3), array(2, 3), array(3)), case(mask(3), array(2, 1), array()),
        case(mask(), array(3), array(3)), case(mask(2, 1), array(0), array(1)), dtypes="fcib"),
    row("clip", np.clip, case(array(9), -0.5, 0.7), case(array(9), None, 0.7), case(array(9), -0.5, None),
        case(array(2, 3), array(2, 1, domain=(-1, -0.5)), array(3, domain=(0.5, 1))), value(SPECIAL, -1.0, 0.5)),
    row("clip", np.clip, case(array(9), 1, 2), domains=((0, 4),), dtypes="i"),
    row("astype", np.ndarray.astype, case(array(2, 3), "float64"), case(array(2, 3), "complex128"),
        *(value(array(2, 3), name) for name in ("float32", "int32", "int8", "bool", "complex64"))),
    row("astype", np.ndarray.astype, *(case(array(3), name) for name in ("float64", "int64", "bool", "float32")),
        domains=((0, 5),), dtypes="ib"),
]

# ---- reductions, scans, order ----------------------------------------------------------------------------------------

REDUCE = (
    case(array(2, 3, 4)), case(array(2, 3, 4), axis=1), case(array(2, 3, 4), axis=(0, -1)), case(array()),
    case(array(2, 3, 4), axis=-1, keepdims=True), case(array(2, 3), keepdims=True),
)
EMPTY = (case(array(2, 0), axis=1), case(array(0, 3), axis=1), case(array(0)), case(array(2, 3), axis=()))
ALONG = (case(array(2, 3, 4)), case(array(2, 3, 4), axis=0), case(array(2, 3, 4), axis=1), case(array(5)))
HOLES = (case(np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0]]), axis=1), case(np.array([2.0, 0.0, -1.5, 3.0]), axis=0))
WITH_NAN = value(np.array([[1.0, np.nan, 3.0], [2.0, -np.inf, 0.0]]), axis=1)
TIES = np.array([[2.0, 1.0, 2.0, 0.0], [1.0, 1.0, 1.0, 1.0]])


def in_order(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """np.sort or np.argsort with ``descending``; equal elements keep their order either way."""

    def of(x: np.ndarray, axis: int = -1, descending: bool = False) -> np.ndarray:
        order = np.argsort(-x if descending else x, axis=axis, kind="stable")
        return order if function is np.argsort else np.take_along_axis(x, order, axis)

    return of


def scan(function: Callable[..., np.ndarray], first: int) -> Callable[..., np.ndarray]:
    """np.cumsum or np.cumprod with ``include_initial``, which NumPy 2.0 lacks."""

    def of(x: np.ndarray, axis: int = 0, include_initial: bool = False) -> np.ndarray:
        result = function(x, axis=axis)
        initial = np.full_like(np.take(result, [0], axis), first) if include_initial else None
        return np.concatenate([initial, result], axis) if include_initial else result

    return of


REDUCTIONS = [
    row("sum", np.sum, *REDUCE, *EMPTY, dtypes="fcib"),
    row("prod", np.prod, *REDUCE, *EMPTY, *HOLES, domains=((0.5, 2),), dtypes="fcib"),
    row("max", np.max, *REDUCE, WITH_NAN, dtypes="fi"),
    row("min", np.min, *REDUCE, WITH_NAN, dtypes="fi"),
    row("mean", np.mean, *REDUCE, EMPTY[1], EMPTY[3], dtypes="fc"),
    row("var", np.var, *REDUCE, case(array(2, 3), axis=1, correction=1), EMPTY[1], dtypes="fc"),
    row("std", np.std, *REDUCE[:3], *REDUCE[4:], case(array(2, 3), axis=1, correction=1), value(array())),
    row("any", np.any, *REDUCE, *EMPTY, dtypes="bif"),
    row("all", np.all, *REDUCE, *EMPTY, dtypes="bif"),
    row("count_nonzero", lambda x, **k: np.asarray(np.count_nonzero(x, **k)), *REDUCE, *EMPTY[:3], dtypes="ifb"),
    *(row(name, reference, *ALONG, case(array(2, 3), axis=1, keepdims=True), value(TIES, axis=1), WITH_NAN, dtypes="fi")
      for name, reference in (("argmax", np.argmax), ("argmin", np.argmin))),
    row("logsumexp", scipy.special.logsumexp, *REDUCE, EMPTY[1],
        value(np.array([[-np.inf, 0.0], [1000.0, 1000.0]]), axis=1)),
    row("norm", lambda x, ord=2, **k: np.linalg.vector_norm(x, ord=ord, **k), *REDUCE, case(array(0)), dtypes="fc"),
    row("norm", lambda x, ord=2, **k: np.linalg.vector_norm(x, ord=ord, **k),
        *(case(array(2, 3), ord=order, axis=1) for order in (1, 2, 3, 1.5, np.inf, -np.inf))),
    row("softmax", lambda x, axis=-1: scipy.special.softmax(x, axis), *ALONG, value(LARGE), case(array(0, 3))),
    row("log_softmax", lambda x, axis=-1: scipy.special.log_softmax(x, axis), *ALONG, value(LARGE), case(array(0, 3))),
    row("cumulative_sum", scan(np.cumsum, 0), case(array(5)), *ALONG[1:3], case(array(0, 3), axis=0),
        case(array(2, 3), axis=1, include_initial=True), dtypes="fcib"),
    row("cumulative_prod", scan(np.cumprod, 1), case(array(5)), *ALONG[1:3], case(array(0, 3), axis=0),
        case(array(2, 3), axis=1, include_initial=True), *HOLES, dtypes="fcib"),
    *(row(name, in_order(reference), *ALONG, case(array(2, 5), descending=True), case(array(2, 0)), value(TIES),
          case(array(18, 2), axis=0), case(array(2, 18), descending=True),
          value(TIES, descending=True), dtypes="fs")
      for name, reference in (("sort", np.sort), ("argsort", np.argsort))),
    row("diff", np.diff, *ALONG, case(array(5), n=2), case(array(1)), case(array(4), n=2, prepend=0, append=1), dtypes="fcs"),
]

# ---- shape -----------------------------------------------------------------------------------------------------------

SHAPES = [
    row("reshape", np.reshape, case(array(2, 3), Static((3, 2))), case(array(2, 3), Static(-1)), dtypes="fcib"),
    row("reshape", np.reshape, case(array(2, 3), Static((1, -1, 2))), case(array(1), Static(())),
        case(array(0, 3), Static((3, 0)))),
    row("permute_dims", np.permute_dims, case(array(2, 3, 4), Static((2, 0, 1))), case(array(2, 3), Static((-1, 0))),
        case(array(), Static(()))),
    row("expand_dims", np.expand_dims, *(case(array(2, 3), axis=axis) for axis in (0, 1, -1))),
    row("squeeze", np.squeeze, *(case(array(1, 3, 1), axis=axis) for axis in (0, -1, (0, 2)))),
    row("broadcast_to", np.broadcast_to, case(array(3), Static((2, 3))), case(array(2, 1), Static((4, 2, 3))),
        case(array(), Static((2,))), case(array(1), Static((0,)))),
    row("broadcast_arrays", np.broadcast_arrays, case(array(3), array(2, 1)), case(array(), array(1, 2), array(3, 1))),
    row("moveaxis", np.moveaxis, case(array(2, 3, 4), 0, 2), case(array(2, 3, 4), -1, 0),
        case(array(2, 3, 4), Static((0, 1)), Static((1, 2)))),
    row("swapaxes", np.swapaxes, case(array(2, 3, 4), 0, 2), case(array(2, 3, 4), -1, 1)),
    row("flatten", np.ravel, case(array(2, 3)), case(array()), case(array(0, 3))),
    row("concat", np.concat, case([array(2, 3), array(1, 3)]), case([array(2, 3), array(2, 0), array(2, 1)], axis=1),
        case([array(2)], axis=-1), dtypes="fcib"),
    row("stack", np.stack, case([array(2, 3), array(2, 3)]), case([array(2, 3), array(2, 3)], axis=1),
        case([array(), array(), array()], axis=-1)),
    row("split", np.split, case(array(6, 2), 3), case(array(6, 2), Static([1, 4])), case(array(2, 6), 2, axis=1),
        case(array(4), Static([0, 2, 9]))),
    row("unstack", lambda x, axis=0: list(np.moveaxis(x, axis, 0)), case(array(3, 2)), case(array(3, 2), axis=1),
        case(array(2, 3, 4), axis=-1)),
    row("tile", np.tile, case(array(2, 3), Static((2, 1))), case(array(3), 2), case(array(3), Static((2, 2))),
        case(array(2, 1), 3)),
    row("repeat", np.repeat, case(array(2, 3), 2, axis=0), case(array(2, 3), 3, axis=1), case(array(2, 3), 2),
        case(array(3), Static([0, 2, 1]), axis=0)),
    row("flip", np.flip, case(array(2, 3)), case(array(2, 3), axis=0), case(array(2, 3, 4), axis=(0, -1))),
    row("roll", np.roll, case(array(5), 2), case(array(2, 3), -1), case(array(2, 3), 4, axis=1),
        case(array(2, 3), Static((1, 2)), axis=(0, 1))),
    row("pad", lambda x, widths, value=0: np.pad(x, widths, constant_values=value),
        case(array(2, 3), Static(((1, 0), (2, 1)))), case(array(3), Static(((1, 2),)), value=7),
        case(array(2, 0), Static(((0, 0), (1, 1))))),
    row("tril", np.tril, case(array(3, 4)), case(array(3, 3), k=-1), case(array(2, 3, 3), k=1)),
    row("triu", np.triu, case(array(3, 4)), case(array(3, 3), k=-1), case(array(2, 3, 3), k=1)),
    row("meshgrid", np.meshgrid, case(array(3), array(2)), case(array(3), array(2), indexing="ij")),
]

# ---- indexing --------------------------------------------------------------------------------------------------------

ROWS, COLUMNS = np.array([2, 0, 2, -1]), np.array([1, 1, 0, 2])
LONE = np.array([[True, False, True], [False, False, True], [True, True, False], [False, False, False]])
INDICES: list[Any] = [  # into shape (4, 3, 2)
    0, -1, (), ..., None, slice(None), slice(None, None, -1), slice(3, 0, -2), slice(1, 99), slice(2, 2), (1, 2),
    (1, 2, 0), (..., 0), (0, ...), (slice(1, None, 2), None, slice(None, None, -2)), (None, 1, ..., None), np.int64(2),
    (slice(None), 1, slice(0, 1)), np.array(1), [2, 0, 2], np.array([[0, 1], [3, 3]]), (ROWS, COLUMNS),
    (ROWS[:, None], COLUMNS), (ROWS, slice(None), 0), (0, slice(None), np.array([1, 0, 1])), (slice(None), COLUMNS),
    (slice(None), COLUMNS, 1), (slice(0, 2), None, COLUMNS[:3]), (..., np.array([1, 0])), LONE, (LONE, 1),
    (slice(None), np.array([True, False, True])), (LONE[:, 0], 1), (ROWS[:2], np.array([False, True, True])),
    np.array([], int), np.zeros((4, 3, 2), bool), True, False,
]
REPEATING = [index for index in INDICES if len(set(np.arange(24).reshape(4, 3, 2)[index].ravel().tolist()))
             < np.arange(24).reshape(4, 3, 2)[index].size]


def elements(x: Any) -> Any:
    """A sum over the array that takes parts of it twice, whose derivatives add up."""
    return (x * x).sum() + x[1, 2, 0] * x[0] * x[-1] + x[:, 1].sum() * x[1, 2, 0] + x[3]


def assigned(x: Any, index: Any, update: Any) -> Any:
    """A copy of ``x`` after ``copy[index] = update``, for arrays and tensors alike."""
    x = x * 1
    x[index] = update
    return x


def scattered(x: np.ndarray, indices: np.ndarray, updates: np.ndarray, axis: int = 0) -> np.ndarray:
    """``x`` with ``updates`` added at ``indices`` of ``axis``, repeated indices adding up."""
    moved = np.moveaxis(x, axis, 0).copy()
    np.add.at(moved, indices, np.moveaxis(updates, axis, 0))
    return np.moveaxis(moved, 0, axis)


INDEXING = [
    row("getitem", lambda x, index: x[index], *(case(array(4, 3, 2), Static(index)) for index in INDICES),
        call=lambda x, index: x[index], dtypes="fcib"),
    row("elements", elements, case(array(4, 3, 2)), call=elements, dtypes="fc"),
    row("setitem", assigned, *(case(array(4, 3, 2), Static(index), array(*np.empty((4, 3, 2))[index].shape))
        for index in INDICES if not any(index is other for other in REPEATING)), call=assigned),
    row("setitem", assigned, *(case(array(4, 3, 2), Static(index), array())
        for index in (0, slice(None, None, 2), ROWS, LONE, (..., -1))), call=assigned, dtypes="fci"),
    row("take", np.take, case(array(4, 3), ROWS, axis=0), case(array(4, 3), np.array([[0, 2], [-1, 1]]), axis=1),
        case(array(5), np.array([], int), axis=0)),
    row("take_along_axis", np.take_along_axis, case(array(4, 3), np.array([[0, 1, 3], [2, 2, -1]]), axis=0),
        case(array(2, 3), np.array([[2], [0]]), axis=1), case(array(2, 3), np.array([[2, 2, 0, 1]] * 2), axis=-1)),
    row("scatter_add", scattered, case(array(4, 3), ROWS, array(4, 3)), case(array(5), np.array([1, 1, -1]), array(3)),
        case(array(2, 4), np.array([3, 3, 0]), array(2, 3), axis=1)),
    row("nonzero", np.nonzero, case(LONE), case(np.array([0.0, 2.0, np.nan])), case(np.zeros((0, 2)))),
    row("one_hot", lambda labels, classes: np.eye(classes)[labels], case(np.array([0, 2, 1]), 3),
        case(np.array([[1], [0]]), 4), case(np.array(2), 3), compare_dtype=False),
]

# ---- linear algebra --------------------------------------------------------------------------------------------------

EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)), ("ba", (2, 3)),
    ("...ij,...jk->...ik", (2, 1, 2, 3), (2, 3, 2)), ("i,i->", (3,), (3,)), ("i,j->ij", (3,), (2,)), ("ii", (3, 3)),
    ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)), ("ii->i", (3, 3)), ("ii,i->i", (3, 3), (3,)),
    ("ij,ij->ij", (2, 3), (2, 3)), ("i,ij,j->", (2,), (2, 3), (3,)), ("ij,kl->", (2, 3), (2, 2)),
    ("bhqd,bhkd->bhqk", (1, 2, 3, 2), (1, 2, 2, 2)), ("i...->...i", (2, 3, 1)),
]
PRODUCTS = [
    ((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3, 2)), ((5, 1, 2, 3), (4, 3, 2)),
    ((3,), (2, 3, 4)), ((2, 2, 3), (3,)), ((2, 0), (0, 3)), ((0, 3), (3, 2)),
]


def sliding(
    size: Sequence[int], kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> list[tuple[int, int, int, int]]:
    """For each kernel offset and window: the number of either, and row and column in the image before padding."""
    kernel, step, edge, gap = (
        item if isinstance(item, tuple) else (item, item) for item in (kernel_size, stride, padding, dilation)
    )
    high, wide = ((size[i] + 2 * edge[i] - gap[i] * (kernel[i] - 1) - 1) // step[i] + 1 for i in (0, 1))
    return [
        (i * kernel[1] + j, y * wide + x, y * step[0] + i * gap[0] - edge[0], x * step[1] + j * gap[1] - edge[1])
        for i in range(kernel[0]) for j in range(kernel[1]) for y in range(high) for x in range(wide)
    ]


def unfolded(x: np.ndarray, kernel_size: Any, **geometry: Any) -> np.ndarray:
    places = sliding(x.shape[2:], kernel_size, **geometry)
    result = np.zeros((*x.shape[:2], places[-1][0] + 1, places[-1][1] + 1), x.dtype)
    for offset, window, down, across in places:
        if 0 <= down < x.shape[2] and 0 <= across < x.shape[3]:
            result[:, :, offset, window] = x[:, :, down, across]
    return result.reshape(x.shape[0], -1, places[-1][1] + 1)


def folded(x: np.ndarray, output_size: tuple[int, int], kernel_size: Any, **geometry: Any) -> np.ndarray:
    places = sliding(output_size, kernel_size, **geometry)
    x = x.reshape(x.shape[0], -1, places[-1][0] + 1, places[-1][1] + 1)
    result = np.zeros((*x.shape[:2], *output_size), x.dtype)
    for offset, window, down, across in places:
        if 0 <= down < output_size[0] and 0 <= across < output_size[1]:
            result[:, :, down, across] += x[:, :, offset, window]
    return result


LINEAR = [
    row("matmul", np.matmul, *(case(array(*left), array(*right)) for left, right in PRODUCTS), dtypes="fci"),
    row("dot", np.dot, *(case(array(*left), array(*right)) for left, right in PRODUCTS[:4]), dtypes="fci"),
    row("vecdot", np.vecdot, case(array(2, 3), array(2, 3)), case(array(3), array(2, 3)),
        case(array(3, 2), array(3, 2), axis=0), dtypes="fc"),
    row("outer", np.outer, case(array(2), array(3)), case(array(2), array(0)), dtypes="fci"),
    row("tensordot", np.tensordot, case(array(2, 3), array(3, 4), axes=1), case(array(2), array(3), axes=0),
        case(array(2, 3, 4), array(3, 4, 2), axes=2), case(array(2, 3), array(4, 2), axes=((0,), (1,)))),
    row("einsum", np.einsum, *(case(formula, *(array(*shape) for shape in shapes)) for formula, *shapes in EINSUMS),
        dtypes="fc"),
    row("matrix_transpose", np.matrix_transpose, case(array(2, 3)), case(array(4, 2, 3))),
    row("unfold", unfolded, case(array(2, 2, 4, 5), 2), case(array(1, 2, 5, 4), Static((3, 2)), stride=2, padding=1),
        case(array(1, 1, 6, 6), 2, dilation=2, stride=(1, 2)), case(array(1, 1, 3, 3), 3, padding=(1, 0))),
    row("fold", folded, case(array(2, 8, 12), Static((4, 5)), 2), case(array(1, 4, 8), Static((6, 6)), 2, dilation=2,
        stride=(1, 2)), case(array(1, 12, 9), Static((5, 4)), Static((3, 2)), stride=2, padding=1)),
]

# ---- images: convolution and pooling, by loops over the cells of a window ---------------------------------------------

IMAGES = ad.nn.functional


def of_windows(x: np.ndarray, size: Any, fill: float, **geometry: Any) -> Any:
    """The windows of images (N, C, H, W): (N, C, cells, windows), ``fill`` outside, and (rows, columns) of windows."""
    places = sliding(x.shape[2:], size, **geometry)
    result = np.full((*x.shape[:2], places[-1][0] + 1, places[-1][1] + 1), fill, x.dtype)
    for offset, window, down, across in places:
        if 0 <= down < x.shape[2] and 0 <= across < x.shape[3]:
            result[:, :, offset, window] = x[:, :, down, across]
    shape = tuple(len({place[i] for place in places if place[0] == 0}) for i in (2, 3))
    return result, shape


def convolved(x: np.ndarray, w: np.ndarray, bias: Any = None, groups: int = 1, **geometry: Any) -> np.ndarray:
    columns, shape = of_windows(x, w.shape[2:], 0, **geometry)
    columns = columns.reshape(len(x), groups, x.shape[1] // groups, *columns.shape[2:])
    y = np.einsum("ngckp,gock->ngop", columns, w.reshape(groups, len(w) // groups, *w.shape[1:2], -1))
    y = y.reshape(len(x), len(w), *shape)
    return y if bias is None else y + bias[:, None, None]


def pooled(reduce: Any, fill: float) -> Any:
    def of(x: np.ndarray, size: Any, stride: Any = None, **geometry: Any) -> np.ndarray:
        cells, shape = of_windows(x, size, fill, stride=size if stride is None else stride, **geometry)
        return reduce(cells, axis=2).reshape(*x.shape[:2], *shape)

    return of


def adapted(x: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    def spans(n: int, m: int) -> list[slice]:
        return [slice(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]

    columns = spans(x.shape[3], size[1])
    return np.stack([np.stack([x[:, :, r, c].mean((2, 3)) for c in columns], -1) for r in spans(x.shape[2], size[0])], -2)


CONVOLUTIONS = (
    case(array(2, 3, 5, 6), array(4, 3, 3, 2)), case(array(1, 2, 4, 4), array(3, 2, 1, 1), array(3)),
    case(array(2, 4, 6, 5), array(6, 2, 3, 3), array(6), stride=2, padding=1, groups=2),
    case(array(2, 3, 7, 6), array(6, 1, 2, 3), None, stride=(3, 1), padding=(2, 0), dilation=(2, 1), groups=3),
    case(array(1, 1, 3, 3), array(1, 1, 5, 5), padding=(2, 3)), case(array(0, 2, 4, 4), array(3, 2, 3, 3)),
    case(array(2, 2, 5, 5), array(2, 2, 1, 1), stride=2), case(array(1, 2, 9, 9), array(2, 2, 2, 2), dilation=3, stride=2),
)
POOLS = (
    case(array(2, 3, 4, 6), 2), case(array(1, 2, 5, 5), 3, stride=1),
    case(array(2, 2, 7, 6), Static((3, 2)), stride=2, padding=1),
    case(array(1, 1, 6, 6), Static((2, 4)), stride=(3, 1), padding=(0, 2)), case(array(0, 2, 4, 4), 2),
)


def along_axes(rank: int) -> Any:
    """The reference of a signal or volume, by sums over the cells of windows: strides, padding and dilation as numbers."""

    def of(x: np.ndarray, w: np.ndarray, bias: Any = None, stride: int = 1, padding: int = 0, dilation: int = 1) -> np.ndarray:
        wide = np.pad(x, ((0, 0), (0, 0), *((padding, padding),) * rank))
        counts = [(n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(wide.shape[2:], w.shape[2:], strict=True)]
        y = np.zeros((len(x), len(w), *counts), x.dtype)
        for cell in np.ndindex(*w.shape[2:]):
            spans = [slice(c * dilation, c * dilation + (m - 1) * stride + 1, stride) for c, m in zip(cell, counts, strict=True)]
            y += np.einsum("nc...,oc->no...", wide[(..., *spans)], w[(..., *cell)])
        return y if bias is None else y + bias.reshape(-1, *(1,) * rank)

    return of


PICTURES = [
    row("conv2d", convolved, *CONVOLUTIONS, call=IMAGES.conv2d),
    row("conv1d", along_axes(1), case(array(2, 3, 8), array(4, 3, 3), array(4)),
        case(array(1, 2, 9), array(3, 2, 2), None, stride=2, padding=1, dilation=2), call=IMAGES.conv1d),
    row("conv3d", along_axes(3), case(array(2, 2, 3, 4, 5), array(3, 2, 2, 2, 3), array(3)),
        case(array(1, 2, 4, 4, 4), array(3, 2, 2, 1, 2), None, stride=2, padding=1), call=IMAGES.conv3d),
    row("max_pool2d", pooled(np.max, -np.inf), *POOLS, case(array(1, 2, 6, 7), 2, stride=1, dilation=(2, 3)),
        value(np.array([[[[np.nan, 1.0, 2.0, -np.inf], [0.0, 3.0, -np.inf, -np.inf]]]]), 2), call=IMAGES.max_pool2d),
    row("avg_pool2d", pooled(np.mean, 0.0), *POOLS, call=IMAGES.avg_pool2d),
    row("adaptive_avg_pool2d", adapted, *(case(array(2, 2, 6, 7), Static(size)) for size in ((1, 1), (3, 7), (4, 3), (8, 2))),
        call=IMAGES.adaptive_avg_pool2d),
]

# ---- constructors: nothing to differentiate; Python floats are float32 -----------------------------------------------


def narrow(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` with what would be float64 only by default in float32."""

    def of(*arguments: Any, **keywords: Any) -> Any:
        result = function(*arguments, **keywords)
        return result.astype("float32") if result.dtype == "float64" and "dtype" not in keywords else result

    return of


SIZES = (case(Static((2, 3))), case(Static(())), case(Static(4)), case(Static((2, 0)), dtype="int16"))
LIKE = (case(array(2, 3)), case(array(2), dtype="int32"), case(np.arange(3)))
CONSTRUCTORS = [
    row("zeros", narrow(np.zeros), *SIZES),
    row("ones", narrow(np.ones), *SIZES),
    row("zeros_like", np.zeros_like, *LIKE, dtypes="fci"),
    row("ones_like", np.ones_like, *LIKE, dtypes="fci"),
    row("full", narrow(np.full), case(Static((2, 3)), 2.5), case(Static((2,)), 3), case(Static(3), True),
        case(Static(()), 1.5, dtype="float64")),
    row("full_like", np.full_like, case(array(2, 3), 2), case(array(2), 3, dtype="int32"), dtypes="fci"),
    row("arange", narrow(np.arange), case(5), case(2, 9, 3), case(5, 0, -2), case(0.0, 1.0, 0.25), case(3, 3),
        case(3, dtype="float64")),
    row("linspace", narrow(np.linspace), case(0, 1, 5), case(2.0, -1.0, 4, endpoint=False), case(0, 1, 1),
        case(0, 1, 0), case(0, 1, 3, dtype="float64")),
    row("eye", narrow(np.eye), case(3), case(2, 3), case(3, k=1), case(3, 2, k=-1), case(2, dtype="int64")),
]

# fmt: on
# ---- linear algebra: functions of NumPy's protocols, so that they prepare arrays and tensors alike ---------------------


def unit(x: Any) -> np.ndarray:
    return np.eye(x.shape[-1], dtype=np.dtype(x.dtype))


def adjoint_of(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def definite(x: Any) -> Any:
    return x @ adjoint_of(x) + unit(x)


def symmetric(x: Any) -> Any:
    return x + adjoint_of(x) + np.arange(x.shape[-1], dtype=np.dtype(x.dtype)) * unit(x)


def regular(x: Any) -> Any:
    return x + 5 * unit(x)


def distinct(x: Any) -> Any:
    return x + 4 * np.arange(x.shape[-1], dtype=np.dtype(x.dtype)) * unit(x)


def triangular(x: Any) -> Any:
    return x + 4 * unit(x)


def same(x: Any) -> Any:
    return x


def scipys(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of matrices for stacks of them, in their dtype."""

    def of(*arrays: np.ndarray, **keywords: Any) -> Any:
        lead = arrays[0].shape[:-2]
        wide = [x.astype(np.result_type(x.dtype, np.float64)) for x in arrays]
        each = [outputs(function(*[x[i] for x in wide], **keywords)) for i in np.ndindex(lead)]
        found = [np.stack(column).reshape((*lead, *np.shape(column[0]))) for column in zip(*each, strict=True)]
        return [y.astype(arrays[0].dtype) for y in found] if len(found) > 1 else found[0].astype(arrays[0].dtype)

    return of


def linear(
    name: str,
    reference: Callable[..., Any],
    *cases: Case,
    prepare: Callable[[Any], Any] = same,
    finish: Callable[..., Any] = same,
    dtypes: str = "fc",
    of: str = "",
    **more: Any,
) -> Operation:
    """A row of `ad.linalg`: the first argument is prepared, and what is compared is what `finish` makes of the results."""

    def call(x: Any, *rest: Any, **keywords: Any) -> Any:
        return finish(functools.reduce(getattr, name.split("."), ad)(prepare(x), *rest, **keywords))

    def numpy(x: Any, *rest: Any, **keywords: Any) -> Any:
        return finish(reference(prepare(x), *rest, **keywords))

    return Operation(name, numpy, cases, call=call, dtypes=dtypes, **more)


def sizes(results: Any) -> list[Any]:
    """What of eigenvectors or singular vectors doesn't depend on their phases."""
    return [results[0], abs(results[1])] if len(results) == 2 else [abs(results[0]), results[1], abs(results[2])]


def ordered_eigenvalues(values: Any) -> list[Any]:
    return [np.sum(values, -1), np.sum(values * values * values, -1)]


def solved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.solve(a, b)


def triangular_reference(
    a: np.ndarray, b: np.ndarray, lower: bool = False, unit_diagonal: bool = False, trans: int = 0
) -> Any:
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        a = a - a * np.eye(len(a)) + np.eye(len(a))
    return np.linalg.solve({0: a, 1: a.T, 2: a.conj().T}[trans], b).astype(b.dtype)


SQUARE = (case(array(3, 3)), case(array(2, 4, 4)), case(array(1, 1)), value(array(0, 0)), value(array(0, 3, 3)))
SYSTEMS = (
    case(array(3, 3), array(3)),
    case(array(2, 3, 3), array(3, 2)),
    case(array(3, 3), array(2, 3, 2)),
    case(array(2, 3, 3), array(3)),
    value(array(0, 0), array(0)),
    case(array(20, 20), array(20, 2)),
)
TALL = (case(array(4, 3)), case(array(2, 3, 3)), case(array(3, 4)))

LINALG = [
    linear("linalg.cholesky", np.linalg.cholesky, *SQUARE, prepare=definite),
    linear(
        "linalg.cholesky",
        lambda x, upper: adjoint_of(np.linalg.cholesky(x)),
        case(array(3, 3), upper=True),
        prepare=definite,
    ),
    linear(
        "linalg.cho_factor",
        lambda x: adjoint_of(np.linalg.cholesky(x)),
        case(array(3, 3)),
        prepare=definite,
        finish=lambda y: y[0] if isinstance(y, tuple) else y,
    ),
    row(
        "linalg.cho_solve",
        lambda x, b: np.linalg.solve(definite(x), b),
        *SYSTEMS[:3],
        dtypes="fc",
        call=lambda x, b: ad.linalg.cho_solve((ad.linalg.cholesky(definite(x)), True), b),
    ),
    row(
        "linalg.cho_solve",
        lambda x, b: np.linalg.solve(definite(x), b),
        SYSTEMS[0],
        call=lambda x, b: ad.linalg.cho_solve(ad.linalg.cho_factor(definite(x)), b),
    ),
    linear("linalg.solve", solved, *SYSTEMS, prepare=regular),
    linear(
        "linalg.solve_triangular",
        triangular_reference,
        case(array(3, 3), array(3)),
        case(array(3, 3), array(3, 2), lower=True, unit_diagonal=True),
        case(array(4, 4), array(4, 2), trans=2),
        case(array(4, 4), array(4, 1), lower=True, trans=1),
        case(array(30, 30), array(30, 2), lower=True, trans=2),
        prepare=triangular,
        domains=((-0.5, 0.5),),
    ),
    linear("linalg.inv", np.linalg.inv, *SQUARE, prepare=regular),
    linear("linalg.pinv", np.linalg.pinv, *TALL, value(array(0, 3))),
    linear(
        "linalg.lstsq",
        lambda a, b: np.linalg.lstsq(a, b)[0],
        case(array(4, 2), array(4)),
        case(array(2, 4), array(2, 3)),
        finish=lambda y: y if isinstance(y, np.ndarray) else y[0],
    ),
    linear("linalg.lu", scipys(scipy.linalg.lu), *SQUARE[:2], *TALL[::2], case(array(30, 30)), domains=((-1, 2),)),
    linear("linalg.lu", scipys(scipy.linalg.lu), case(array(3, 3), permute_l=True)),
    linear(
        "linalg.lu_factor",
        lambda x: scipy.linalg.lu_factor(x),
        case(array(3, 3)),
        case(array(26, 26)),
        finish=lambda y: list(y),
    ),
    *(
        row(
            "linalg.lu_solve",
            lambda a, b, trans=0: np.linalg.solve([a, np.swapaxes(a, -1, -2), adjoint_of(a)][trans], b),
            *[case(*x.arguments, trans=trans) for x in SYSTEMS[:2]],
            dtypes="fc",
            call=lambda a, b, trans=0: ad.linalg.lu_solve(ad.linalg.lu_factor(a), b, trans=trans),
        )
        for trans in (0, 1, 2)
    ),
    linear("linalg.qr", np.linalg.qr, *TALL, SQUARE[0], finish=lambda y: list(y)),
    linear("linalg.qr", np.linalg.qr, case(array(3, 3), mode="complete"), case(array(3, 4), mode="complete")),
    linear("linalg.qr", np.linalg.qr, case(array(4, 3), mode="r")),
    linear(
        "linalg.qr",
        np.linalg.qr,
        case(array(4, 2), mode="complete"),
        finish=lambda y: [y[0][..., 2:] @ adjoint_of(y[0][..., 2:]), y[1]],
    ),
    linear(
        "linalg.svd",
        np.linalg.svd,
        *[case(*x.arguments, full_matrices=False) for x in TALL],
        value(array(0, 0)),
        finish=sizes,
    ),
    linear(
        "linalg.svd",
        lambda x: np.linalg.svd(x, True),
        case(array(4, 2)),
        case(array(2, 3)),
        finish=lambda y: [
            y[0][..., 2:] @ adjoint_of(y[0][..., 2:]),
            y[1],
            adjoint_of(y[2][..., 2:, :]) @ y[2][..., 2:, :],
        ],
    ),
    linear("linalg.svdvals", lambda x: np.linalg.svd(x, compute_uv=False), *TALL, value(array(0, 3))),
    linear("linalg.eigh", np.linalg.eigh, *SQUARE, prepare=symmetric, finish=sizes),
    linear("linalg.eigh", np.linalg.eigh, case(array(3, 3), UPLO="U"), prepare=symmetric, finish=sizes),
    linear("linalg.eigvalsh", np.linalg.eigvalsh, *SQUARE, prepare=symmetric),
    linear(
        "linalg.eig",
        np.linalg.eig,
        case(array(3, 3)),
        case(array(2, 3, 3)),
        prepare=distinct,
        compare_dtype=False,
        finish=sizes,
    ),
    linear(
        "linalg.eigvals",
        np.linalg.eigvals,
        case(array(3, 3)),
        case(array(2, 4, 4)),
        finish=ordered_eigenvalues,
        compare_dtype=False,
    ),
    linear("linalg.det", np.linalg.det, *SQUARE, case(array(2, 2)), case(array(3, 5, 5))),
    linear("linalg.slogdet", np.linalg.slogdet, *SQUARE[1:], finish=lambda y: list(y)),
    linear(
        "linalg.trace",
        np.linalg.trace,
        case(array(2, 3, 4)),
        case(array(3, 3), offset=-1),
        case(array(3, 4), offset=9),
        dtypes="fci",
    ),
    linear(
        "linalg.diagonal",
        np.linalg.diagonal,
        case(array(2, 3, 4)),
        case(array(3, 3), offset=-1),
        case(array(3, 5), offset=2),
        case(array(2, 3), offset=5),
        dtypes="fci",
    ),
    linear("linalg.vector_norm", np.linalg.vector_norm, case(array(2, 3)), case(array(2, 3), axis=1, ord=1)),
    linear(
        "linalg.matrix_norm",
        np.linalg.matrix_norm,
        *[case(array(2, 3, 4), ord=order) for order in ("fro", "nuc", 2, -2, 1, -1)],
        *[case(array(3, 2), ord=order, keepdims=True) for order in ("nuc", np.inf, -np.inf)],
    ),
    linear(
        "linalg.norm",
        np.linalg.norm,
        case(array(2, 3)),
        case(array(2, 3), 2),
        case(array(3), 3),
        case(array(2, 3, 2), axis=1),
        case(array(2, 3, 2), "nuc", axis=(0, 2), keepdims=True),
    ),
    linear(
        "linalg.cond",
        np.linalg.cond,
        case(array(3, 2)),
        case(array(3, 3), -2),
        case(array(2, 3, 3), "fro"),
        case(array(3, 3), 1),
    ),
    linear(
        "linalg.matrix_rank",
        lambda x: np.asarray(np.linalg.matrix_rank(x)),
        case(array(3, 2)),
        value(np.ones((3, 3))),
        value(array(0, 2)),
    ),
    linear(
        "linalg.matrix_power",
        np.linalg.matrix_power,
        *[case(array(2, 3, 3), n) for n in (0, 1, 2, 5, -1, -2)],
        prepare=regular,
        domains=((-1, 1),),
    ),
    linear(
        "linalg.cross",
        lambda x, y, axis=-1: np.cross(x, y, axis=axis),
        case(array(2, 3), array(3)),
        case(array(3, 2), array(3, 2), axis=0),
        dtypes="fci",
    ),
    linear(
        "linalg.kron",
        np.kron,
        case(array(2, 3), array(3, 2)),
        case(array(2), array(2, 2)),
        case(array(2, 1, 2), array(3)),
        dtypes="fci",
    ),
    linear(
        "linalg.multi_dot",
        np.linalg.multi_dot,
        case([array(2, 3), array(3, 4), array(4, 2)]),
        case([array(3), array(3, 4), array(4)]),
        case([array(2, 3), array(3)]),
    ),
    row("linalg.block_diag", scipy.linalg.block_diag, case(array(2, 3), array(1, 1), array(2)), dtypes="fci"),
    row(
        "linalg.toeplitz",
        scipy.linalg.toeplitz,
        case(array(3)),
        case(array(3), array(4)),
        case(array(4), array(2)),
        dtypes="fci",
    ),
    linear(
        "linalg.householder_product",
        lambda a, tau: scipy.linalg.lapack.get_lapack_funcs("orgqr" if a.dtype.kind == "f" else "ungqr", (a,))(a, tau)[
            0
        ],
        case(array(4, 3), array(3)),
        case(array(3, 3), array(2)),
    ),
    linear("linalg.tensorinv", np.linalg.tensorinv, case(array(2, 3, 6)), domains=((-1, 2),)),
    linear(
        "linalg.tensorsolve",
        np.linalg.tensorsolve,
        case(array(2, 3, 6), array(2, 3)),
        case(array(2, 6, 3), array(2, 3), axes=(1,)),
    ),
    linear("linalg.expm", scipy.linalg.expm, *SQUARE[:3], case(4 * np.ones((2, 2)))),
    linear("linalg.logm", scipys(scipy.linalg.logm), *SQUARE[:3], prepare=definite),
    linear("linalg.sqrtm", scipys(scipy.linalg.sqrtm), *SQUARE[:3], prepare=definite),
    linear("linalg.matmul", np.matmul, case(array(2, 3), array(3))),
    linear("linalg.outer", np.outer, case(array(2), array(3))),
    linear("linalg.matrix_transpose", np.linalg.matrix_transpose, case(array(2, 3, 4))),
    linear("linalg.tensordot", np.tensordot, case(array(2, 3), array(2, 3), axes=2)),
    linear("linalg.vecdot", np.vecdot, case(array(2, 3), array(3))),
]

# ---- transforms ------------------------------------------------------------------------------------------------------


def transform(name: str, *cases: Case, dtypes: str = "fc", reference: Callable[..., Any] | None = None) -> Operation:
    """A row of `ad.fft` beside SciPy's function of that name."""
    return Operation(f"fft.{name}", reference or getattr(scipy.fft, name), cases, dtypes=dtypes)


ALONG_ONE = (
    *(case(array(5), norm=norm) for norm in (None, "ortho", "forward")),
    *(case(array(2, 4), n=n, axis=axis) for n, axis in ((None, 0), (3, 1), (7, -1), (4, 0))),
)
ALONG_SOME = (
    case(array(3, 4)),
    case(array(2, 3, 4), axes=(0, 2), norm="ortho"),
    case(array(3, 4), s=(4, 3), axes=(1, 0), norm="forward"),
)
# complex half spectra: what has no twin holds a real number, so that differences see the same as rules
HALVES_OF = (case(array(4)), case(array(4), n=5), case(array(3, 4), n=7, axis=0, norm="ortho"), case(array(3), n=6))
KINDS = [case(array(5), type=t, norm=norm) for t in (1, 2, 3, 4) for norm in (None, "ortho")]
KINDS += [
    case(array(2, 4), type=2, n=6, axis=0, norm="forward"),
    case(array(4), type=3, n=3, orthogonalize=True),
    case(array(3), type=1, norm="ortho", orthogonalize=False),
]
SOME_KINDS = [case(array(3, 4), type=t) for t in (1, 2, 3, 4)]
SOME_KINDS += [case(array(2, 3, 4), type=2, s=(4, 2), axes=(2, 0), norm="ortho")]
PAIRS_OF = [case(array(5), array(3), mode=mode) for mode in ("full", "same", "valid")]
PAIRS_OF += [case(array(3), array(6), mode=mode) for mode in ("full", "same", "valid")]
PAIRS_OF += [case(array(4, 5), array(3, 2), mode=mode) for mode in ("full", "same", "valid")]
BY_FFT = [case(*x.arguments, method="fft", **x.keywords) for x in PAIRS_OF]

TRANSFORMS = [
    *(transform(name, *ALONG_ONE) for name in ("fft", "ifft")),
    *(transform(name, *ALONG_ONE, dtypes="f") for name in ("rfft", "ihfft")),
    *(transform(name, *HALVES_OF) for name in ("irfft", "hfft")),
    *(transform(name, *ALONG_SOME) for name in ("fftn", "ifftn", "irfftn", "hfftn")),
    *(transform(name, *ALONG_SOME, dtypes="f") for name in ("rfftn", "ihfftn")),
    *(transform(name, ALONG_SOME[0]) for name in ("fft2", "ifft2", "irfft2", "hfft2")),
    *(transform(name, ALONG_SOME[0], dtypes="f") for name in ("rfft2", "ihfft2")),
    *(transform(name, *KINDS) for name in ("dct", "idct", "dst", "idst")),
    *(transform(name, *SOME_KINDS) for name in ("dctn", "idctn", "dstn", "idstn")),
    *(
        transform(name, case(array(5)), case(array(3, 4)), case(array(3, 4), axes=0), dtypes="fci")
        for name in ("fftshift", "ifftshift")
    ),
    transform("fftfreq", case(5, 0.3, dtype="float64"), reference=lambda n, d, dtype: np.fft.fftfreq(n, d)),
    transform("rfftfreq", case(6, 2.0, dtype="float64"), reference=lambda n, d, dtype: np.fft.rfftfreq(n, d)),
    transform("convolve", *PAIRS_OF, dtypes="fci", reference=scipy.signal.convolve),
    transform("convolve", *BY_FFT, reference=scipy.signal.convolve),
    transform("correlate", *PAIRS_OF, reference=scipy.signal.correlate),
    transform("correlate", *BY_FFT[::3], reference=scipy.signal.correlate),
    transform(
        "fftconvolve",
        *PAIRS_OF[:3],
        case(array(2, 5), array(1, 3), mode="same", axes=1),
        reference=scipy.signal.fftconvolve,
    ),
]

# ---- special functions -----------------------------------------------------------------------------------------------

FEW = (case(array(2, 3)), case(array()), case(array(0, 3)))
FEW_PAIRS = (case(array(3), array(2, 3)), case(array(), array()), case(array(0, 3), array(3)))


def special(name: str, *domains: tuple[float, float], cases: Sequence[Case] = (), reference: Any = None) -> Operation:
    """A row of `ad.special` beside SciPy's function of that name, of as many arguments as there are domains."""
    chosen = cases or (FEW if len(domains) == 1 else FEW_PAIRS)
    function = reference or getattr(scipy.special, name)

    def in_its_dtype(*arguments: Any, **keywords: Any) -> Any:  # beside numbers SciPy computes in float64
        dtype = next(x.dtype for x in arguments if isinstance(x, np.ndarray))
        return np.asarray(function(*arguments, **keywords), dtype)

    return Operation(f"special.{name}", in_its_dtype if cases else function, tuple(chosen), domains)


def fixed(*first: Any) -> list[Case]:
    """Cases in which the parameter, by which there is no derivative, is a number."""
    return [case(v, array(4)) for v in first]


def faddeeva(z: Any) -> Any:
    return np.asarray(scipy.special.wofz(z.astype(complex)), np.result_type(z.dtype, np.complex64))


def real_lambertw(x: Any, k: int = 0) -> Any:
    return scipy.special.lambertw(x, k).real.astype(x.dtype)


SPECIAL_FUNCTIONS = [
    *(
        special(name, (0.2, 4))
        for name in ("gammaln", "digamma", "gamma", "i0", "i1", "i0e", "i1e", "expi", "spence", "entr")
    ),
    special("gammaln", (-2.8, -2.2)),
    special("i1", (-0.9, 0.9)),
    special("i1e", (-3, -0.1)),
    special("spence", (0.9, 1.1)),
    *(special(name, (-0.9, 0.9)) for name in ("erfinv",)),
    *(special(name, (0.1, 0.9)) for name in ("ndtri", "logit")),
    special("erfcinv", (0.1, 1.9)),
    *(special(name, (-3, 3)) for name in ("ndtr", "log_ndtr", "erfcx", "exp2", "expit", "log_expit")),
    special("erfcx", (6, 20)),
    special("log_ndtr", (-40, -3)),
    special("cbrt", (0.3, 3)),
    special("sinc", (-0.6, 0.6), reference=np.sinc),
    special("sinc", (1, 4), reference=np.sinc),
    special(
        "polygamma",
        (0.5, 4),
        cases=fixed(0, 1, 2),
        reference=lambda n, x: scipy.special.polygamma(n, x).astype(x.dtype),
    ),
    special("expn", (0.5, 3), cases=fixed(0, 1, 4)),
    special("zeta", (0.5, 3), cases=fixed(1.5, 4.0)),
    *(special(name, (0.5, 4), (0.5, 4)) for name in ("beta", "betaln", "rel_entr", "xlogy", "xlog1py")),
    special("owens_t", (-2, 2), (-2, 2)),
    *(special(name, (0.2, 4), cases=fixed(0.5, 3.0)) for name in ("gammainc", "gammaincc")),
    *(special(name, (0.3, 4), cases=fixed(0.0, 1.0, 2.5)) for name in ("iv", "kv", "jv", "yv")),
    *(special(name, (0.3, 4), cases=fixed(0.0, 1.0, 2.5)) for name in ("ive", "kve")),
    *(
        special(name, (0.3, 6))
        for name in ("j0", "j1", "y0", "y1", "k0", "k1", "k0e", "k1e", "dawsn", "sici", "shichi", "fresnel")
    ),
    *(special(name, (-3.4, 2)) for name in ("rgamma", "dawsn", "fresnel", "exprel")),
    *(special(name, (-2, 0.9)) for name in ("ellipk", "ellipe")),
    special("gammasgn", (0.2, 4)),
    special("dawsn", (7, 12)),
    special("factorial", (0.2, 4), cases=[case(array(4))]),
    Operation("special.wofz", faddeeva, (case(array(4)), case(array(2, 3))), ((-2, 2),), dtypes="fc"),
    *(special(name, (2.5, 4), (0.5, 2)) for name in ("binom", "poch", "boxcox", "boxcox1p", "kl_div")),
    *(special(name, (0.5, 2), (-4, 4)) for name in ("huber", "pseudo_huber")),
    special("lambertw", (-0.3, 4), cases=[case(array(4)), case(array(2, 3), k=0)], reference=real_lambertw),
    special("lambertw", (-0.3, -0.1), cases=[case(array(4), k=-1)], reference=real_lambertw),
    special("hyp1f1", (-2, 2), cases=[case(1.5, 2.0, array(4)), case(-0.5, 0.75, array(2, 3))]),
    special("hyp2f1", (-2, 0.8), cases=[case(1.5, 0.5, 2.0, array(4)), case(1.0, 1.0, 2.5, array(2, 3))]),
    special(
        "voigt_profile",
        (0.2, 2),
        cases=[case(array(4), array(4), array(4)), case(array(4), 1.0, 0.5), case(0.5, array(3), 0.2)],
    ),
    special("betainc", (0.1, 0.9), cases=[case(2.0, 0.5, array(4)), case(3.0, 2.0, array(2, 3))]),
    special(
        "multigammaln",
        (2, 4),
        cases=[case(array(3), 1), case(array(3), 3)],
        reference=lambda x, d: scipy.special.multigammaln(x, d).astype(x.dtype),
    ),
    special("erf", (-2, 2)),
    special("erfc", (-2, 2)),
    special("softmax", (-2, 2), cases=[case(array(2, 3), axis=1)]),
    special("log_softmax", (-2, 2), cases=[case(array(2, 3), axis=1)]),
    special("logsumexp", (-2, 2), cases=REDUCE),
    special(
        "logsumexp",
        (-2, 2),
        (0.2, 2),
        cases=[
            case(array(2, 3), b=[0.5, 0.0, 2.0]),
            case(array(3), b=2.0),
            case(array(2, 3), axis=1, keepdims=True, b=[0.5, 1.0, 2.0]),
        ],
    ),
    Operation(
        "special.logsumexp",
        lambda x, b: scipy.special.logsumexp(x, b=b, axis=-1),
        (case(array(2, 3), array(3)),),
        ((-2, 2), (0.2, 2)),
        call=lambda x, b: ad.special.logsumexp(x, axis=-1, b=b),
    ),
]

OPERATIONS = [
    *ELEMENTWISE,
    *REDUCTIONS,
    *SHAPES,
    *INDEXING,
    *LINEAR,
    *PICTURES,
    *CONSTRUCTORS,
    *LINALG,
    *TRANSFORMS,
    *SPECIAL_FUNCTIONS,
    *ARRAYS,
]

# ---- corners: what the derivative is where the function has a kink, by decision --------------------------------------


@dataclass(frozen=True)
class Corner:
    """The gradient of ``sum(function(*arguments))`` in each argument; ``second``: the sum of the Hessian's columns."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    first: tuple[Any, ...]
    second: tuple[Any, ...] | None = None


def corner(
    name: str, arguments: tuple[Any, ...], first: tuple[Any, ...], second: Any = None, call: Any = None
) -> Corner:
    return Corner(name, call or (lambda *tensors: getattr(ad, name)(*tensors)), arguments, first, second)


CORNERS = [
    corner("abs", (0.0,), (0.0,), (0.0,)),
    corner("sign", (0.0,), (0.0,), (0.0,)),
    corner("relu", (0.0,), (0.0,), (0.0,)),
    corner("norm", ([0.0, 0.0],), ([0.0, 0.0],), ([0.0, 0.0],)),
    corner("norm", ([[3.0, 4.0], [0.0, 0.0]],), ([[0.6, 0.8], [0.0, 0.0]],), None, lambda x: ad.norm(x, axis=1)),
    corner("norm of order 1", ([0.0, -2.0],), ([0.0, -1.0],), ([0.0, 0.0],), lambda x: ad.norm(x, ord=1)),
    corner("maximum", (1.0, 1.0), (0.5, 0.5), (0.0, 0.0)),
    corner("minimum", (1.0, 1.0), (0.5, 0.5), (0.0, 0.0)),
    corner("max", ([1.0, 3.0, 3.0],), ([0.0, 0.5, 0.5],), ([0.0, 0.0, 0.0],)),
    corner("min", ([1.0, 1.0, 1.0, 1.0],), ([0.25, 0.25, 0.25, 0.25],), None),
    corner(
        "max over axes",
        ([[5.0, 5.0], [1.0, 5.0]],),
        ([[1 / 3, 1 / 3], [0.0, 1 / 3]],),
        None,
        lambda x: ad.max(x, axis=(0, 1)),
    ),
    corner("norm of order inf", ([2.0, -2.0, 1.0],), ([0.5, -0.5, 0.0],), None, lambda x: ad.norm(x, ord=np.inf)),
    corner("clip", ([-1.0, 0.0, 1.0, -1.5, 1.5],), ([1.0, 1.0, 1.0, 0.0, 0.0],), None, lambda x: ad.clip(x, -1.0, 1.0)),
    corner("square root", (0.0,), (np.inf,), None, ad.sqrt),
    corner("std of equal numbers", ([2.0, 2.0, 2.0],), ([0.0, 0.0, 0.0],), None, lambda x: ad.std(x)),
    corner("constant power 0", ([0.0, 2.0, -3.0],), ([0.0, 0.0, 0.0],), ([0.0, 0.0, 0.0],), lambda x: x**0),
    corner("constant power 1", ([0.0, -2.0],), ([1.0, 1.0],), ([0.0, 0.0],), lambda x: x**1),
    corner("constant power 2", ([0.0, -2.0],), ([0.0, -4.0],), ([2.0, 2.0],), lambda x: x**2),
    corner("constant power 3", ([0.0, -2.0],), ([0.0, 12.0],), ([0.0, -12.0],), lambda x: x**3),
    corner("constant power 2.5", ([0.0, 4.0],), ([0.0, 20.0],), ([0.0, 7.5],), lambda x: x**2.5),
    corner("power", (0.0, 2.0), (0.0, 0.0)),
    corner("power", (0.0, 1.0), (1.0, 0.0)),
    corner("power", (-2.0, 3.0), (12.0, np.nan)),
    corner("constant base 0", (2.0,), (0.0,), (0.0,), lambda y: 0.0**y),
    corner("x**x", (2.0,), (4.0 * (math.log(2.0) + 1),), None, lambda x: x**x),
    corner("prod", ([0.0, 2.0, 3.0],), ([6.0, 0.0, 0.0],), ([5.0, 3.0, 2.0],)),
    corner("prod", ([0.0, 0.0, 3.0],), ([0.0, 0.0, 0.0],), ([3.0, 3.0, 0.0],)),
    corner("logsumexp", ([-np.inf, 0.0],), ([0.0, 1.0],), ([0.0, 0.0],)),
    corner("sigmoid", ([-1000.0, 1000.0],), ([0.0, 0.0],), ([0.0, 0.0],)),
    corner("softplus", ([-1000.0, 0.0, 1000.0],), ([0.0, 0.5, 1.0],), ([0.0, 0.25, 0.0],)),
    corner("silu", ([-1000.0, 0.0, 1000.0],), ([0.0, 0.5, 1.0],), ([0.0, 0.5, 0.0],)),
    corner("gelu", ([-1000.0, 0.0, 1000.0],), ([0.0, 0.5, 1.0],), ([0.0, 2 / math.sqrt(2 * math.pi), 0.0],)),
    corner("logaddexp", (1000.0, 1000.0), (0.5, 0.5), (0.0, 0.0)),
    corner("x*x", (3.0,), (6.0,), (2.0,), lambda x: x * x),
    corner("a + a", (3.0,), (2.0,), (0.0,), lambda a: a + a),
]
