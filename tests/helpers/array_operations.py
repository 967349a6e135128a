"""Rows of the functions of arrays that load when first named: sets, statistics, calculus, joining and writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate
import scipy.spatial.distance
import scipy.special

import adjoint as ad
from operation_rows import Case, Operation, Static, array, case, row, value

LONE = np.array([1.0, 0.0, 2.0, 1.0])
SORTED = Static(np.array([-1.0, 0.0, 0.5, 0.5, 2.0]))
HOLED = np.array([[1.0, np.nan, 3.0, -2.0], [np.nan, np.nan, 0.5, 4.0]])
EMPTY_ROW = np.array([[1.0, np.nan], [np.nan, np.nan]])
NUMBERS = Static(np.array([0, 2, 0, 1, 2]))


def along(*more: Case) -> tuple[Case, ...]:
    return (case(array(5)), case(array(3, 4), axis=1), case(array(2, 3, 4), axis=0), *more)


def cumulated(ufunc: Any) -> Callable[..., Any]:
    def reference(x: Any, axis: int | None = None) -> Any:
        return ufunc.accumulate(x.ravel() if axis is None else x, axis or 0)

    return reference


def scattered(ufunc: Any, start: float | None = None) -> Callable[..., Any]:
    """NumPy's ``ufunc.at`` on a copy, along an axis; ``start`` in place of x's own elements where an update goes."""

    def reference(x: Any, places: Any, updates: Any, axis: int = 0, **options: Any) -> Any:
        own = np.moveaxis(np.array(x), axis, 0)
        if not options.get("include_self", True):
            own[places] = start
        new = np.broadcast_to(updates, (*x.shape[:axis], *np.shape(places), *x.shape[axis + 1 :]))
        k = np.ndim(places)
        ufunc.at(own, places, np.moveaxis(new, tuple(range(axis, axis + k)), tuple(range(k))))
        return np.moveaxis(own, 0, axis)

    return reference


def segments(ufunc: Any, start: float) -> Callable[..., Any]:
    def reference(x: Any, ids: Any, count: int = 3) -> Any:
        found = np.full((count, *x.shape[1:]), start, x.dtype)
        ufunc.at(found, ids, x)
        return found

    return reference


def with_spread(reference: Any) -> Any:
    """NumPy's variance or deviation under the standard's name of ``ddof``."""
    return lambda x, correction=0, **k: reference(x, ddof=correction, **k)


def placed(x: Any, indices: Any, values: Any, axis: int = -1) -> Any:
    found = np.array(x)
    np.put_along_axis(found, indices, values, axis)
    return found


def diagonal_filled(x: Any, value: Any, **options: Any) -> Any:
    found = np.array(x)
    np.fill_diagonal(found, value, **options)
    return found


def divided(p: Any, q: Any) -> Any:
    """NumPy's quotient and remainder, the remainder with the leading zeros that it leaves out."""
    quotient, rest = np.polydiv(p.astype("float64"), q.astype("float64"))
    return quotient, np.append(np.zeros(max(len(q) - 1 - len(rest), 0)), rest)


def as_64(function: Any) -> Any:
    """NumPy's integers are as wide as its input's; here counts are int64."""
    return lambda *args, **k: np.asarray(function(*args, **k))


def shaped(name: str, reference: Any, *cases: Case, **more: Any) -> Operation:
    return row(name, reference, *cases, **{"dtypes": "fc", **more})


ABSCISSAE = Static(np.array([-1.0, -0.75, -0.5, 0.0, 0.5, 1.0], "float32"))
UNEVEN = Static(np.array([0.0, 1.0, 1.5, 3.0, 3.5], "float32"))

# fmt: off
SETS = [
    row("searchsorted", np.searchsorted, case(SORTED, array(3)), case(SORTED, array(2, 3), side="right"),
        value(SORTED, np.array([np.nan, np.inf, -np.inf, 0.5])), case(SORTED, Static(0.5))),
    row("isin", np.isin, case(array(2, 3), Static(np.array([1.0, 2.0]))), value(LONE, Static(np.array([1.0, np.nan]))),
        value(LONE, Static(np.array([])), invert=True)),
    row("unique_values", np.unique, case(array(5)), value(LONE), case(array(2, 3)), value(np.array([3.0, 1.0, 3.0])),
        dtypes="fi"),
    row("unique_counts", lambda x: tuple(np.unique_counts(x)), case(array(5)), value(LONE), case(array(2, 3)), dtypes="fi"),
    row("unique_inverse", lambda x: tuple(np.unique_inverse(x)), case(array(5)), value(LONE), case(array(2, 3)), dtypes="fi"),
    row("unique_all", lambda x: tuple(np.unique_all(x)), case(array(5)), value(LONE), case(array(2, 3)), dtypes="fi"),
]

METHODS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
           "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest")
WANTED = Static([0.0, 0.3, 1.0])
STATISTICS = [
    row("quantile", np.quantile, case(array(7), Static(0.3)), case(array(3, 4), WANTED, axis=1), case(array(2, 3), Static(0.5)),
        case(array(2, 3, 4), WANTED, axis=(0, 2), keepdims=True), value(HOLED, Static(0.5), axis=1),
        *(case(array(6), WANTED, method=name) for name in METHODS), compare_dtype=False),
    row("percentile", np.percentile, case(array(7), Static(30.0)), case(array(3, 4), Static([5, 75]), axis=0),
        compare_dtype=False),
    row("nanquantile", np.nanquantile, case(array(7), Static(0.3)), value(HOLED, WANTED, axis=1), value(HOLED, Static(0.5)),
        case(array(3, 4), WANTED, axis=1, keepdims=True), compare_dtype=False),
    row("nanpercentile", np.nanpercentile, case(array(7), Static(30.0)), value(HOLED, Static([20, 50]), axis=1),
        compare_dtype=False),
    row("median", np.median, case(array(2, 18), axis=1),
        *along(case(array(4)), case(array(2, 3), axis=(0, 1), keepdims=True), value(HOLED, axis=1))),
    row("nanmedian", np.nanmedian, *along(value(HOLED, axis=1), value(HOLED))),
    row("topk", lambda x, k, axis=-1, largest=True: (-np.sort(-x, axis=axis) if largest else np.sort(x, axis=axis))[..., :k],
        case(array(5), Static(2)), case(array(3, 4), Static(3)), case(array(3, 4), Static(1), largest=False),
        case(array(2, 18), Static(3)), case(array(1, 66), Static(3)),
        call=lambda *args, **k: ad.topk(*args, **k)[0]),
    row("kthvalue", lambda x, k, axis=-1, keepdims=False: np.take(np.sort(x, axis), [k - 1] if keepdims else k - 1, axis),
        case(array(5), Static(2)), case(array(3, 4), Static(3), axis=0, keepdims=True),
        call=lambda *args, **k: ad.kthvalue(*args, **k)[0]),
    row("ptp", np.ptp, *along(case(array(2, 3), axis=(0, 1), keepdims=True))),
    row("average", np.average, case(array(5)), case(array(3, 4), axis=1), case(array(3, 4), axis=0, weights=np.array([1.0,
        2.0, 0.5], "float32")),
        case(array(2, 3), weights=np.arange(1, 7, dtype="float32").reshape(2, 3), keepdims=True), dtypes="fc"),
    row("cov", np.cov, case(array(3, 5)), case(array(5)), case(array(5, 2), rowvar=False), case(array(2, 5), bias=True),
        case(array(2, 5), fweights=np.array([1, 2, 1, 1, 3]), aweights=np.array([0.5, 1.0, 2.0, 1.0, 1.0], "float32")),
        case(array(2, 4), array(2, 4)), dtypes="fc", compare_dtype=False),
    row("corrcoef", np.corrcoef, case(array(3, 5)), case(array(5, 2), rowvar=False), case(array(2, 4), array(4)),
        compare_dtype=False),
    *(row(f"nan{name}", getattr(np, f"nan{name}"), *along(value(HOLED), value(HOLED, axis=1, keepdims=True)))
      for name in ("sum", "prod", "mean")),
    *(row(f"nan{name}", with_spread(getattr(np, f"nan{name}")),
          *along(value(HOLED), value(HOLED, axis=1, correction=1, keepdims=True))) for name in ("var", "std")),
    *(row(f"nan{name}", getattr(np, f"nan{name}"), *along(value(HOLED), value(HOLED, axis=1, keepdims=True)))
      for name in ("max", "min")),
    *(row(f"nanarg{name}", getattr(np, f"nanarg{name}"), *along(value(HOLED, axis=1))) for name in ("max", "min")),
    *(row(f"nancum{name}", getattr(np, f"nancum{name}"), *along(value(HOLED), value(HOLED, axis=1))) for name in ("sum",
        "prod")),
    row("bincount", np.bincount, case(NUMBERS), case(NUMBERS, array(5)), case(NUMBERS, array(5), minlength=6),
        compare_dtype=False),
    row("digitize", np.digitize, case(array(2, 3), SORTED), value(LONE, Static(np.array([2.0, 1.0, 0.0])), right=True),
        value(LONE, SORTED, right=True)),
    row("histogram", np.histogram, value(LONE, bins=3), case(array(9), bins=[-2.0, 0.0, 0.5, 2.0]), value(LONE, range=(0.5,
        3.0)),
        value(LONE, bins=[0.0, 1.0, 2.0], density=True), compare_dtype=False),
]

RUNNING = [
    row("cummax", cumulated(np.maximum), *along(value(np.array([1.0, np.nan, 3.0])), case(array(0))), dtypes="fi"),
    row("cummin", cumulated(np.minimum), *along(value(np.array([1.0, np.nan, 0.0])), case(array(0))), dtypes="fi"),
    row("logcumsumexp", cumulated(np.logaddexp), *along(value(np.array([-np.inf, -np.inf, 0.0, 1000.0, -1000.0])),
        case(array(0)))),
    row("cumsum", np.cumsum, *along(case(array(2, 3)), case(array(2, 3), axis=-1)), dtypes="fci"),
    row("cumprod", np.cumprod, *along(case(array(2, 3)), case(array(2, 3), axis=-1)), dtypes="fc"),
]

POINTS = Static(np.array([-1.5, -0.5, 0.25, 1.5], "float32"))
CALCULUS = [
    row("interp", np.interp, case(array(5), POINTS, array(4)), case(array(2, 3), POINTS, array(4), left=-1.0, right=9.0),
        case(array(4), POINTS, array(4), period=3.0), case(array(3), Static(np.array([0.5], "float32")), array(1)),
        value(np.array([np.nan, -9.0, 9.0, 0.25]), POINTS, array(4)), compare_dtype=False),  # NumPy's is float64 always
    row("gradient", np.gradient, case(array(5)), case(array(3, 4)), case(array(4, 3), Static(0.5), axis=0, edge_order=2),
        case(array(5), UNEVEN),
        case(array(5), UNEVEN, edge_order=2), case(array(3, 4), Static(2.0), Static(0.5))),
    row("trapezoid", np.trapezoid, *along(case(array(5), array(5)), case(array(3, 4), dx=0.5), case(array(4, 3), array(4),
        axis=0))),
    row("cumulative_trapezoid", scipy.integrate.cumulative_trapezoid,
        case(array(5)), case(array(5), array(5)), case(array(3, 4), dx=0.5, axis=0, initial=0), compare_dtype=False),
]

POLYNOMIALS = [
    row("polyval", np.polyval, case(array(3), array(2, 3)), case(array(4), array()), case(array(1), array(2)), dtypes="fc"),
    *(row(name, getattr(np, name), case(array(3), array(2)), case(array(1), array(4)), dtypes="fc")
      for name in ("polyadd", "polysub", "polymul")),
    row("polydiv", divided,
        case(array(4), array(3)), case(array(3, domain=(1, 2)), array(2, domain=(1, 2))), compare_dtype=False),
    row("polyder", np.polyder, case(array(4)), case(array(5), m=2), case(array(1)), compare_dtype=False),
    row("polyint", np.polyint, case(array(3)), case(array(3), m=2, k=[1.0, 2.0]), case(array(2), k=3.0), compare_dtype=False),
    row("poly", np.poly, case(array(3)), case(array(1)), compare_dtype=False),
    row("roots", lambda p: np.sort(np.roots(p).astype(complex)), value(np.array([1.0, -6.0, 11.0, -6.0])),
        value(np.array([0.0, 2.0, 0.0, -2.0, 0.0])), compare_dtype=False, dtypes="f",
        call=lambda p: ad.roots(p)[ad.argsort(ad.roots(p).real)]),
    row("vander", np.vander, case(array(3)), case(array(4), Static(2)), case(array(3), Static(4), increasing=True),
        compare_dtype=False),
    row("polyfit", np.polyfit, case(ABSCISSAE, array(6), Static(2)),
        case(ABSCISSAE, array(6), Static(1), w=np.arange(1, 7, dtype="float32")),
        case(ABSCISSAE, array(6, 2), Static(2)), dtypes="f", compare_dtype=False),
]

MATRICES = [
    shaped("diag", np.diag, case(array(3)), case(array(3, 3)), case(array(2), k=1), case(array(3, 4), k=-1), dtypes="fci"),
    shaped("diag_embed", lambda x, offset=0: np.apply_along_axis(np.diag, -1, x, offset), case(array(3)), case(array(2, 3)),
           case(array(2, 2), offset=-1)),
    shaped("diagflat", np.diagflat, case(array(2, 2)), case(array(2), k=1)),
    shaped("fill_diagonal", diagonal_filled, case(array(3, 3), array()), case(array(4, 2), array(2), wrap=True),
        case(array(2, 3), Static(1.0))),
    shaped("inner", np.inner, case(array(3), array(3)), case(array(2, 3), array(4, 3)), case(array(), array(2))),
    shaped("vdot", np.vdot, case(array(3), array(3)), case(array(2, 3), array(2, 3))),
    row("cdist", scipy.spatial.distance.cdist, case(array(3, 2), array(4, 2)),
        compare_dtype=False),
    row("cdist", lambda x, y, p: scipy.spatial.distance.cdist(x, y, "minkowski", p=p), case(array(3, 2), array(4, 2), p=1),
        case(array(3, 2), array(2, 2), p=3), compare_dtype=False),
]

TWO = (case([array(3), array(3)]), case([array(2, 3), array(2, 3)]))
JOINING = [
    shaped("hstack", np.hstack, *TWO, case([array(2, 1), array(2, 3)])),
    shaped("vstack", np.vstack, *TWO, case([array(3), array(2, 3)])),
    shaped("dstack", np.dstack, *TWO),
    shaped("column_stack", np.column_stack, *TWO, case([array(2), array(2, 3)])),
    shaped("block", np.block, case([[array(2, 2), array(2, 1)], [array(1, 2), array(1, 1)]]), case([array(2), array(3)])),
    shaped("append", np.append, case(array(3), array(2)), case(array(2, 3), array(1, 3), axis=0), case(array(2, 2), array())),
    shaped("insert", np.insert, case(array(3), Static(1), array()), case(array(2, 3), Static(1), array(2), axis=1),
           case(array(4), Static([0, 2]), array(2)), case(array(2, 3), Static([1]), array(2, 1), axis=1), case(array(4),
           Static(-1), array(2))),
    shaped("delete", np.delete, case(array(4), Static(1)), case(array(3, 4), Static([0, 2]), axis=1), case(array(5),
        Static(slice(1, 4)))),
    shaped("array_split", np.array_split, case(array(5), Static(2)), case(array(3, 4), Static([1, 3]), axis=1)),
    shaped("hsplit", np.hsplit, case(array(4), Static(2)), case(array(2, 4), Static([1]))),
    shaped("vsplit", np.vsplit, case(array(4, 2), Static(2))),
    shaped("dsplit", np.dsplit, case(array(1, 2, 4), Static(2))),
    shaped("atleast_1d", np.atleast_1d, case(array()), case(array(2))),
    shaped("atleast_2d", np.atleast_2d, case(array()), case(array(2)), case(array(2, 3), array())),
    shaped("atleast_3d", np.atleast_3d, case(array()), case(array(2)), case(array(2, 3))),
    shaped("ravel", np.ravel, case(array(2, 3)), case(array(2, 3), order="F"), case(array(0, 3))),
    shaped("rot90", np.rot90, *(case(array(2, 3), k=k) for k in (1, 2, 3, 4)), case(array(2, 3, 2), axes=(1, 2))),
    shaped("fliplr", np.fliplr, case(array(2, 3))),
    shaped("flipud", np.flipud, case(array(2, 3))),
    *(row("pad", np.pad, case(array(3), Static(2), mode=mode), case(array(3, 4), Static(((1, 2), (0, 3))), mode=mode))
      for mode in ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "mean", "median", "minimum")),
    row("pad", np.pad, case(array(4), Static(3), mode="reflect", reflect_type="odd"), case(array(2, 3), Static(1),
        mode="symmetric", reflect_type="odd"),
        case(array(5), Static(2), mode="mean", stat_length=2), case(array(5), Static(2), mode="linear_ramp",
        end_values=(1.0, -1.0)),
        case(array(2), Static(7), mode="reflect")),
]

MASK = Static(np.array([[True, False, True], [False, False, True]]))
SELECTING = [
    *(row(name, getattr(np, name), case(array(3), array(2, 3)), case(array(), array(2)), value(np.array([1.0, np.nan,
        np.nan]), np.array([np.nan, 2.0, np.nan])))
      for name in ("fmax", "fmin")),
    row("rsqrt", lambda x: 1 / np.sqrt(x), case(array(3)), value(np.array([0.0, -1.0, np.inf])), domains=((0.3, 2),)),
    row("lerp", lambda x, y, w: x + w * (y - x), case(array(3), array(3), array()), case(array(2, 1), array(3), array(2, 3))),
    row("heaviside", np.heaviside, case(array(4), array()), value(np.array([-1.0, 0.0, 1.0, np.nan]), np.array([0.5, 0.5,
        0.5, 0.5]))),
    row("nan_to_num", np.nan_to_num, case(array(3)), value(np.array([np.nan, np.inf, -np.inf, 1.0])),
        value(np.array([np.nan, np.inf, 1.0]), nan=7.0, posinf=8.0), dtypes="fi"),
    row("isclose", np.isclose, case(array(3), array(3)), value(np.array([1.0, np.inf, np.nan]), np.array([1.0 + 1e-9,
        np.inf, np.nan])),
        value(np.array([np.nan]), np.array([np.nan]), equal_nan=True)),
    row("allclose", as_64(np.allclose), case(array(3), array(3)), value(LONE, LONE)),
    row("array_equal", as_64(np.array_equal), case(array(3), array(3)), value(LONE, LONE), case(array(3), array(2))),
    row("masked_fill", lambda x, m, v: np.where(m, v, x), case(array(2, 3), MASK, array()), case(array(3), MASK, array(2, 1))),
    row("select", np.select, case([MASK, Static(~MASK.value)], [array(2, 3), array(3)], Static(0.0)),
        case([MASK], [array(2, 3)], Static(-1.0))),
    row("piecewise", np.piecewise, case(array(2, 3), Static([MASK.value]), Static([np.sin, np.cos])),
        case(array(3), Static([np.array([True, False, False]), np.array([True, True, False])]), Static([1.0, np.square,
        -1.0]))),
]

PLACES = Static(np.array([0, 2, 0, 1]))
SCATTERING = [
    *(row("scatter_reduce", scattered(ufunc, start), case(array(3), PLACES, array(4), reduce=name), case(array(3, 2),
        PLACES, array(4, 2), reduce=name),
          case(array(2, 4), PLACES, array(2, 4), axis=1, reduce=name, include_self=False), value(np.array([2.0, 0.0, 1.0]),
          PLACES, np.array([0.0, 0.0, 3.0, 0.0]), reduce=name))
      for name, ufunc, start in (("sum", np.add, 0.0), ("prod", np.multiply, 1.0), ("max", np.maximum, -np.inf), ("min",
      np.minimum, np.inf))),
    row("scatter", lambda x, i, u, axis=0: placed(x, i if x.ndim == 1 else np.broadcast_to(i[:, None], (len(i),
        x.shape[1])), u, axis),
        case(array(3), PLACES, array(4)), case(array(3, 2), PLACES, array(4, 2))),
    row("put_along_axis", placed, case(array(3, 2), Static(np.array([[1], [0], [1]])), array(3, 1)), case(array(3), PLACES,
        array(4), axis=0),
        case(array(2, 3), Static(np.array([[1, 0, 1]])), array(1, 3), axis=0)),
    row("index_add", lambda x, i, u: scattered(np.add)(x, i, u), case(array(3), PLACES, array(4)), case(array(3, 2),
        PLACES, array(2))),
    row("segment_sum", segments(np.add, 0.0), case(array(5), NUMBERS), case(array(5, 2), NUMBERS, Static(4)), dtypes="fc"),
    row("segment_prod", segments(np.multiply, 1.0), case(array(5), NUMBERS), case(array(5, 2), NUMBERS, Static(4)),
        dtypes="fc"),
    row("segment_max", segments(np.maximum, -np.inf), case(array(5), NUMBERS), case(array(5, 2), NUMBERS, Static(3))),
    row("segment_min", segments(np.minimum, np.inf), case(array(5), NUMBERS), case(array(5, 2), NUMBERS, Static(3))),
    row("segment_mean", lambda x, i: segments(np.add, 0.0)(x, i) / np.bincount(i).reshape(-1,
        *(1,) * (x.ndim - 1)).astype(x.dtype),
        case(array(5), NUMBERS), case(array(5, 2), NUMBERS)),
]

MAPPING = [
    row("apply_along_axis", lambda x, axis: np.apply_along_axis(lambda v: v / v.sum(), axis, x), case(array(3, 4),
        Static(1)), case(array(2, 3, 2), Static(0)),
        domains=((0.3, 2),), call=lambda x, axis: ad.apply_along_axis(lambda v: v / v.sum(), axis, x)),
]

ARRAYS = [*SETS, *STATISTICS, *RUNNING, *CALCULUS, *POLYNOMIALS, *MATRICES, *JOINING, *SELECTING, *SCATTERING, *MAPPING]
