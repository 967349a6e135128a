"""Every keyword of NumPy's public functions, by their signatures: what NumPy gives, or an error of ours with the line."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from support import double
from test_numpys_functions import MISSING, WALKED, A, V, arguments_of, arrays_in, outcome, replaced

# Values to give a keyword of that name, away from its default.
VALUES: dict[str, list[Any]] = {
    "axis": [0, -1, 1, None, (0, 1), (0,)], "keepdims": [True], "dtype": [np.float32, np.float64, np.complex128],
    "initial": [0.5], "ddof": [1, 0.5], "correction": [1], "order": ["C", "F", "A", "K"], "subok": [True, False],
    "casting": ["unsafe", "same_kind", "safe"], "copy": [True, False],
    "mode": ["wrap", "clip", "raise", "same", "valid", "full", "reduced", "complete", "r", "reflect", "edge"],
    "side": ["left", "right"], "sorter": [np.argsort(V)], "kind": ["stable", "mergesort"], "stable": [True],
    "descending": [True, False],
    "overwrite_input": [True],
    "method": ["lower", "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased", "inverted_cdf",
               "closest_observation", "averaged_inverted_cdf", "interpolated_inverted_cdf", "normal_unbiased"],
    "weights": [np.abs(A), np.abs(V)], "returned": [True], "return_index": [True], "return_inverse": [True],
    "return_counts": [True], "return_indices": [True], "equal_nan": [True, False], "rtol": [0.3], "atol": [0.3],
    "assume_unique": [True], "invert": [True], "n": [2, 5], "prepend": [A[:1], 0.0], "append": [A[:1], 0.0], "dx": [0.5],
    "x": [np.arange(4.0) ** 1.5, np.arange(3.0) ** 1.5], "offset": [1, -1], "axis1": [0, 1], "axis2": [0, 1],
    "k": [1, -1, 2], "M": [2, 5], "N": [3], "decimals": [1, 2], "norm": ["ortho", "forward", "backward"],
    "s": [(2, 3), (4, 4)], "axes": [(0, 1), (1, 0), (0,), (-1,), 2, ([0], [1]), ([0, 1], [1, 0])], "compute_uv": [False],
    "full_matrices": [False, True], "hermitian": [True], "UPLO": ["U", "L"],
    "ord": [1, 2, -1, -2, "fro", "nuc", np.inf, -np.inf, 0, 3], "rcond": [0.5, None], "tol": [0.5], "upper": [True],
    "rowvar": [False], "bias": [True], "fweights": [np.array([1, 2, 1])], "aweights": [np.array([1.0, 2.0, 1.0])],
    "y": [A + 1, V + 1], "bins": [4, np.array([-1.0, 0.0, 1.0, 2.0]), "auto"], "range": [(-1.0, 1.0)], "density": [True],
    "minlength": [7], "right": [True], "left": [-3.0], "period": [1.7], "edge_order": [2, 1], "discont": [2.0], "deg": [True],
    "full": [True], "w": [np.arange(1.0, 5.0)], "cov": [True], "m": [2], "lbnd": [1.0], "increasing": [True],
    "nan": [3.0], "posinf": [3.0], "neginf": [-3.0], "optimize": [True], "include_initial": [True], "wrap": [True],
    "endpoint": [False], "retstep": [True], "num": [3], "base": [2.0], "trim": ["f", "b"], "axisa": [0], "axisb": [0],
    "axisc": [0], "default": [2.0], "shape": [(9,), (3, 3)], "sorted": [True], "p": [1], "device": ["cpu"],
    "to_begin": [1.0], "to_end": [2.0], "sparse": [True], "indexing": ["ij", "xy"], "constant_values": [3.0, (1.0, 2.0)],
    "a_min": [-0.3], "a_max": [0.3], "start": [0, 1],
}  # fmt: skip
# They say how NumPy works, what it takes from classes of its own, or what the walk itself gives.
UNASKED = ("out", "where", "mean", "like", "signature", "extobj", "strict", "min", "max", "interpolation", "varnames")
# Eigenvectors and singular vectors, up to signs; the order of equal keys.
UP_TO_SIGNS = ("linalg.eig", "linalg.eigh", "linalg.svd", "linalg.qr", "linalg.eigvals", "roots", "unique_values")
# What NumPy does with ranges in logarithms, and with a type that it makes up: here they have one dtype and are arrays.
DIFFERENT = {("geomspace", "axis"), ("linalg.lstsq", "rcond")}


def keywords_of(function: Any, given: int) -> list[str]:
    if isinstance(function, np.ufunc):
        return ["casting", "order", "dtype", "subok"]
    parameters = inspect.signature(function).parameters.values()
    plain = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)][given:]
    return plain + (["constant_values"] if function is np.pad else [])


def calls() -> list[tuple[str, Any, str, Any]]:
    found = []
    for name, function in WALKED:
        if name not in MISSING:
            keywords = [k for k in keywords_of(function, len(arguments_of(name, function))) if k not in UNASKED]
            found += [(name, function, k, v) for k in keywords for v in VALUES[k] if (name, k) not in DIFFERENT]
    return found


CALLS = calls()


def tried(function: Any, arguments: Any, keywords: dict[str, Any]) -> Any:
    """What a call gives, as arrays, or the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = outcome(lambda *given: function(*given, **keywords), arguments)
            return [x.numpy() if isinstance(x, ad.Tensor) else np.asarray(x) for x in arrays_in(found)]
        except Exception as error:
            return error


@pytest.mark.parametrize("keyword", sorted({keyword for _, _, keyword, _ in CALLS}))
def test_keyword_does_what_it_does_in_numpy(keyword: str) -> None:
    wrong = []
    for name, function, _, value in (call for call in CALLS if call[2] == keyword):
        arguments = arguments_of(name, function)
        expected = tried(function, replaced(arguments, np.array), {keyword: value})
        ours = double(value) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
        found = tried(function, replaced(arguments, double), {keyword: ours})
        if isinstance(expected, Exception):
            continue
        if isinstance(found, Exception):
            said = isinstance(found, (TypeError, ValueError)) and "test_numpys" in str(found)
            problem = "" if said else f"{type(found).__name__}: {found}"
        else:
            problem = difference(name, found, expected)
        if problem:
            wrong.append(f"{name}({keyword}={value!r}): {problem}")
    assert wrong == []


def difference(name: str, found: list[Any], expected: list[Any]) -> str:
    if len(found) != len(expected):
        return f"{len(found)} results, not {len(expected)}"
    for one, other in zip(found, expected, strict=True):
        if one.shape != other.shape:
            return f"shape {one.shape}, not {other.shape}"
        size = (lambda x: np.sort(np.abs(x), None)) if name in UP_TO_SIGNS else np.asarray
        if other.dtype.kind != "U" and not np.allclose(size(one), size(other), 1e-5, 1e-6, equal_nan=True):
            return f"{one}, not {other}"
    return ""


def test_the_walk_meets_most_keywords() -> None:
    assert len(CALLS) > 1500
