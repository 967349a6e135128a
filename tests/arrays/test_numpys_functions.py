"""NumPy code as it stands: every public function of NumPy's, found by walking its modules, works on tensors with its
derivative, or raises an error of ours that says what to call instead, with the line."""

from __future__ import annotations

import importlib
import inspect
import types
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing.overrides import get_overridable_numpy_array_functions, get_overridable_numpy_ufuncs

import adjoint as ad
import adjoint.numpy as anp
from support import double, equal

A = np.array([[1.47, -0.27, 0.53], [0.78, 1.93, -1.07], [0.3, 0.6, 1.23]])
V = np.array([0.53, -1.47, 0.27, 1.9])
I = np.array([0, 2, 1, 2])
POSITIVE = A @ A.T + np.eye(3)

# What a parameter of that name is given where the function asks for it.
BY_NAME: dict[str, Any] = {
    **dict.fromkeys(("a", "x", "m", "arr", "ary", "array", "A", "M", "val", "z", "x1", "filt", "element", "object", "b",
    "B"), A),
    **dict.fromkeys(("v", "x2", "p", "a1", "a2", "u", "seq_of_zeros", "y", "ar1", "ar2", "ar", "test_elements"), V),
    "arrays": [A, A], "tup": [A, A], "indices_or_sections": 3, "axis": 0, "axis1": 0, "axis2": 1, "source": 0,
    "destination": 1,
    "shape": (9,), "new_shape": (2, 2), "reps": 2, "repeats": 2, "shift": 1, "condition": A > 0, "indices": I[:3],
    "obj": 1, "values": 7.0,
    "pad_width": 1, "q": 0.3, "kth": 1, "axes": (0,), "func": np.sum, "func1d": lambda v: v / 2, "deg": 1, "n": 2,
    "fill_value": 3.0,
    "start": 1.0, "stop": 2.0, "dtype": np.float64, "mask": A > 0, "vals": V, "ind": I, "src": A + 1, "prototype": A,
    "xp": np.array([-1.0, 0.0, 1.0]), "fp": np.array([2.0, 0.0, 1.0]), "bins": np.array([-1.0, 0.0, 1.0]), "to": np.float64,
    "condlist": [A > 0, A < -0.5], "choicelist": [A, 2 * A], "funclist": [np.sin, np.cos], "keys": (V, V), "from_": A,
    "choices": [V, V, V],
}  # fmt: skip
CALLS: dict[str, tuple[Any, ...]] = {
    "bincount": (I, V), "choose": (I, [V, V, V]), "compress": ([True, False, True], A), "dot": (A, A), "vdot": (V, V),
    "inner": (V, V),
    "einsum": ("ij,jk->ik", A, A), "kron": (V, V), "cross": (A, A), "tensordot": (A, A),
    "take_along_axis": (A, I[:3, None], 1),
    "put_along_axis": (A, I[:3, None], 5.0, 1), "searchsorted": (np.sort(V), V), "polyfit": (V, V**2, 1),
    "interp": (V, np.arange(3.0), V[:3]),
    "piecewise": (A, [A > 0], [np.sin, np.cos]), "diag": (V,), "diagflat": (V,), "vander": (V,),
    "digitize": (V, np.sort(V)), "convolve": (V, V),
    "correlate": (V, V), "unwrap": (4 * V,), "extract": (A > 0, A), "where": (A > 0, A, 0.0), "copyto": (A, 2.0),
    "fill_diagonal": (A, 5.0),
    "place": (A, A > 0, V), "put": (A, I, V), "putmask": (A, A > 0, V), "dsplit": (A.reshape(1, 3, 3), 3),
    "reshape": (A, (9,)), "fix": (A,),
    "matmul": (A, A), "vecdot": (A, A), "matvec": (A, A[0]), "vecmat": (A[0], A), "outer": (V, V), "histogram": (V, 3),
    "array_equiv": (A, A),
    "linalg.matrix_power": (A, 3), "linalg.multi_dot": ([A, A, A],), "linalg.cholesky": (POSITIVE,),
    "linalg.eigh": (POSITIVE,),
    "linalg.eigvalsh": (POSITIVE,), "linalg.solve": (A, A[0]), "linalg.lstsq": (A, A[0]), "linalg.tensorinv": (A, 1),
    "linalg.tensorsolve": (A, A[0]), "linalg.cross": (A, A), "linalg.outer": (V, V), "linalg.vecdot": (A, A),
    "linalg.matmul": (A, A),
    "linalg.tensordot": (A, A), "fft.fftfreq": (4,), "fft.rfftfreq": (4,), "roll": (A, 1), "stack": ([A, A],),
    "concatenate": ([A, A],),
    "broadcast_to": (A, (2, 3, 3)), "moveaxis": (A, 0, 1), "swapaxes": (A, 0, 1), "rollaxis": (A, 1),
    "insert": (V, 1, 7.0), "select": ([A > 0], [A]),
    "clip": (A, -0.5, 1.0), "apply_along_axis": (lambda v: v / 2, 0, A), "apply_over_axes": (np.sum, A, (0,)),
    "gradient": (A,), "delete": (V, 1),
    "lexsort": ((V, V),), "polydiv": (V, V[:2]), "polyint": (V,), "expand_dims": (A, 0), "geomspace": (1.0, 2.0, 4),
    "linspace": (A, 2 * A, 4),
    "logspace": (A, 2 * A, 4), "trapezoid": (V,), "average": (A,), "repeat": (A, 2), "resize": (A, (2, 2)),
    "ldexp": (A, np.array([1, 2, 3])),
    "heaviside": (A, 0.5), "poly": (V,), "roots": (V,), "ravel_multi_index": ((I, I), (3, 3)), "unique": (V,),
    "ix_": (I, I), "isin": (V, V[:2]),
    "power": (np.abs(A) + 0.5, A), "float_power": (np.abs(A) + 0.5, A), "log": (np.abs(A),), "log2": (np.abs(A),),
    "log10": (np.abs(A),),
    "log1p": (np.abs(A),), "sqrt": (np.abs(A),), "arcsin": (A / 4,), "arccos": (A / 4,), "arctanh": (A / 4,),
    "arccosh": (1.5 + np.abs(A),),
    "fmod": (A, 0.7), "remainder": (A, 0.7), "divmod": (A, 0.7), "floor_divide": (A, 0.7), "astype": (A, np.float64),
    "union1d": (V, V + 1),
    "nan_to_num": (A,), "matrix_transpose": (A,), "take": (V, I), "linalg.inv": (A,), "hsplit": (A, 3),
    "array_split": (V, 2), "split": (V, 2),
    **dict.fromkeys(("gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"), (I, I)),
    "invert": (I,), "bitwise_count": (I,), "histogramdd": (A,), "cumulative_sum": (V,), "cumulative_prod": (V,),
    "setdiff1d": (V, V + 1),
    "setxor1d": (V, V + 1),
}  # fmt: skip
# They act on files, text, dates, records or memory; here nothing is to be differentiated.
ELSEWHERE = """
    busday_count busday_offset is_busday datetime_as_string isnat packbits unpackbits frombuffer fromfile fromiter fromstring
    genfromtxt loadtxt save savetxt savez savez_compressed einsum_path require shares_memory may_share_memory array2string
    array_repr array_str min_scalar_type common_type unravel_index ravel_multi_index ix_ fromfunction arange array asarray
    asanyarray ascontiguousarray asfortranarray empty empty_like eye full identity ones zeros tri histogram_bin_edges
""".split()
# Not here: each raises an error that says what is.
MISSING = """histogram2d histogramdd spacing frexp gcd lcm bitwise_count""".split()


def walked() -> list[tuple[str, Any]]:
    """All public functions of NumPy's main namespace, linalg and fft that tensors are asked about."""
    known = set(get_overridable_numpy_array_functions()) | set(get_overridable_numpy_ufuncs())
    found = []
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if not name.startswith("_") and callable(value) and not isinstance(value, type):
                try:
                    asked = value in known
                except TypeError:
                    continue
                if asked and name not in ELSEWHERE:
                    found.append((prefix + name, value))
    return found


# Found by equality, which a difference breaks; differentiated in Hermitian directions, which test_linalg takes.
NOT_COMPARED = ("intersect1d", "linalg.cholesky", "linalg.eigvalsh")
WALKED = walked()


def arguments_of(name: str, function: Any) -> tuple[Any, ...]:
    """What to call it with: what is said above, or by the names of its parameters."""
    for key in (name, f"linalg.{function.__name__}" if name.startswith("linalg.") else function.__name__):
        if key in CALLS:
            return CALLS[key]
    if isinstance(function, np.ufunc):
        return (A, A + 0.5)[: function.nin]
    needed = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return tuple([BY_NAME[n] for n in needed]) or (A,)


def is_floating(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


def replaced(x: Any, make: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)([replaced(y, make) for y in x])
    return make(x) if is_floating(x) else x


def arrays_in(x: Any) -> list[Any]:
    if isinstance(x, (list, tuple)):
        return [z for y in x for z in arrays_in(y)]
    return [x] if isinstance(x, (np.ndarray, np.generic, ad.Tensor)) else []


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    """What it gives, or for what works in place what it leaves."""
    found = function(*arguments)
    return arguments[0] if found is None else found


@pytest.mark.parametrize(("name", "function"), [pytest.param(n, f, id=n) for n, f in WALKED])
def test_function_works_or_says_what_does(name: str, function: Any) -> None:
    arguments = arguments_of(name, function)
    if name in MISSING:
        with pytest.raises(TypeError, match=r"(Write it with|Else write).*\(.*test_numpys_functions\.py:\d+\)$"):
            function(*[ad.tensor(x) for x in arguments])
        return
    with np.errstate(all="ignore"):
        expected = outcome(function, replaced(arguments, np.array))
    if name.split(".")[-1] in (
        "eig",
        "eigh",
        "svd",
        "qr",
        "eigvals",
        "roots",
    ):  # up to signs and order: tested in test_linalg
        assert isinstance(arrays_in(function(*replaced(arguments, double)))[0], ad.Tensor)
        return
    found = outcome(function, replaced(arguments, double))
    assert type(found) is type(expected) or isinstance(found, (ad.Tensor, tuple, list)), type(found)
    for one, other in zip(arrays_in(found), arrays_in(expected), strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one.numpy() if isinstance(one, ad.Tensor) else one, other, 1e-9, 1e-12)
    check_its_derivative(name, function, arguments, expected)


def check_its_derivative(name: str, function: Any, arguments: tuple[Any, ...], expected: Any) -> None:
    points: list[np.ndarray] = []
    replaced(arguments, points.append)
    kept = [i for i, y in enumerate(arrays_in(expected)) if np.asarray(y).dtype.kind == "f"]
    if not points or not kept or name in NOT_COMPARED:
        return
    weights = [
        np.cos(np.arange(np.size(arrays_in(expected)[i]))).reshape(np.shape(arrays_in(expected)[i])) for i in kept
    ]

    def loss(*tensors: ad.Tensor) -> ad.Tensor:
        given = iter(tensors)
        results = arrays_in(outcome(function, replaced(arguments, lambda _: next(given) * 1.0)))
        total = sum(
            (results[i] * w).sum() for i, w in zip(kept, weights, strict=True) if isinstance(results[i], ad.Tensor)
        )
        return total if isinstance(total, ad.Tensor) else tensors[0].sum() * 0

    ad.check_grads(loss, tuple(double(p) for p in points), order=1)


def test_the_walk_meets_most_of_numpy() -> None:
    assert len(WALKED) > 250
    assert len(MISSING) < 10 and {n for n, _ in WALKED} >= set(MISSING)


# ---- dtypes and edges that the walk above doesn't meet ---------------------------------------------------------------


Z = (A + 0.5j * A[::-1]) * 3
SMALL = np.array([7, 3, 200], np.uint8)
HOLED = np.array([1.0, -np.inf, -1.5, np.nan, np.inf])
EDGES: dict[str, tuple[Any, ...]] = {
    "complex rint": (np.rint, Z), "complex round": (np.round, Z), "complex around": (lambda x: np.around(x, 1), Z),
    "float_power": (np.float_power, SMALL, np.array([6, 3, 4], np.uint8)),
    "float_power of a negative integer": (np.float_power, np.array([2, 4]), np.array([-1, -2])),
    "fmod": (np.fmod, np.array([1e17, -5.0, 5.0, -7.5]), np.array([3.0, np.inf, -3.0, 2.0])),
    "fmod of integers": (np.fmod, np.array([7, -7, 7, -7]), np.array([3, 3, -3, -3])),
    "modf": (lambda x: np.modf(x)[0], HOLED), "whole part": (lambda x: np.modf(x)[1], HOLED),
    "ldexp": (np.ldexp, np.array([3, 5]), np.array([-1, 2])), "ldexp of bools": (np.ldexp, A > 0, I[:3]),
    "nanstd": (np.nanstd, HOLED), "nanvar": (np.nanvar, np.array([1.0, np.nan, 3.0])),
    "bincount of bools": (np.bincount, np.array([0, 0, 1]), np.array([True, True, False])),
    "bincount of small weights": (np.bincount, np.array([0, 0, 1]), SMALL[[2, 2, 0]]),
    "vander": (lambda x: np.vander(x, 4), SMALL),
    "matrix_power of integers": (lambda x: np.linalg.matrix_power(x, 90), np.array([[1, 1], [1, 0]])),
    "matrix_power of bools": (lambda x: np.linalg.matrix_power(x, 3), np.tri(3, k=-1, dtype=bool)),
    "matrix_power 0": (lambda x: np.linalg.matrix_power(x, 0), np.array([[1, 1], [1, 0]])),
    "cond of zeros": (np.linalg.cond, np.zeros((2, 2))), "cond -2": (lambda x: np.linalg.cond(x, -2), np.zeros((2, 2))),
    "pinv of a triangle": (lambda x: np.linalg.pinv(x, hermitian=True), A),
    "rank of a triangle": (lambda x: np.linalg.matrix_rank(x, hermitian=True), np.triu(A)),
    "values of a triangle": (lambda x: np.linalg.svd(x, compute_uv=False, hermitian=True), Z),
    "size": (lambda x: np.size(x, 1), np.ones((2, 3))), "trace": (lambda x: np.trace(x, 1), A),
    "piecewise": (lambda x: np.piecewise(x, [x[..., 0] > 0.6], [np.sin, np.cos]), A),
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_dtypes_and_edges_are_numpys(name: str) -> None:
    function, *arrays = EDGES[name]
    with np.errstate(all="ignore"):
        expected = function(*arrays)
    for call in (function, ad.jit(function)) if "bincount" not in name else (function,):
        found = call(*[ad.tensor(x, dtype=str(x.dtype)) for x in arrays])
        found = found.numpy() if isinstance(found, ad.Tensor) else np.asarray(found)
        np.testing.assert_allclose(found, expected, rtol=1e-6 if found.dtype == np.float32 else 1e-12)


def test_the_shorter_remainder_has_its_derivatives() -> None:
    x = double([5.5, -5.5, 7.25, -0.3]), double([2.0, 2.0, -3.0, 4.0])
    ad.check_grads(np.fmod, x, order=2)
    equal(ad.grad(lambda a: np.fmod(a, 2.0))(double(0.0)), 1.0)


def test_the_condition_of_what_is_unknown_is_unknown() -> None:
    equal(ad.linalg.cond(double([[[np.nan, 1.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]])), [np.nan, np.inf])


def test_keywords_beside_the_arrays() -> None:
    t, out = double(A), double(0.0)
    assert np.trace(t, out=out) is out
    equal(out, np.trace(A))
    out = double(A)
    assert np.linalg.multi_dot([t, t, t], out=out) is out
    equal(out, np.linalg.multi_dot([A, A, A]))
    assert np.size(t, ()) == 1 and np.size(t, (0, 1)) == 9 and np.size(t, -1) == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: np.take(t, [0], mode="warp"), "take: mode is 'raise', 'wrap' or 'clip', got 'warp'"),
        (lambda t: np.put(t, [0], 1.0, mode="warp"), "put: mode is"),
        (lambda t: np.choose(ad.tensor([0]), [t[0]], mode="warp"), "choose: mode is"),
        (lambda t: np.pad(t, 1, stat_length=2), "pad: mode 'constant' doesn't take stat_length"),
        (lambda t: np.pad(t, 1, "edge", constant_values=2.0), "pad: mode 'edge' doesn't take constant_values"),
        (lambda t: np.rollaxis(ad.tensor(1.0), 0), "rollaxis"),
        (lambda t: t[0].mT, "mT: expected at least two axes"),
    ],
)
def test_what_numpy_refuses_is_refused(call: Any, message: str) -> None:
    with pytest.raises((ValueError, IndexError), match=rf"{message}.*test_numpys_functions\.py"):
        call(double(A))


VALUES = [
    1, 2.5, 1j, True, -1, 300, np.float64(2.5),
    *[np.array([2]).astype(d) for d in ("bool", "int8", "uint8", "int64", "f4", "f8", "c8")]
]  # fmt: skip


@pytest.mark.parametrize("casting", ["same_kind", "safe", "unsafe", "no", "equiv"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "float32", "float64", "complex64"])
def test_copyto_casts_by_the_rule(dtype: str, casting: Any) -> None:
    for value in VALUES:
        cuts = np.iscomplexobj(value) and not dtype.startswith(("c", "b"))
        if (casting == "unsafe" and cuts) or (casting in ("no", "equiv") and np.ndim(value) == 0):
            continue  # NumPy warns of what is cut, and numbers are never of the very dtype
        if casting == "safe" and type(value) is np.float64:  # a number of Python's here
            continue
        x = np.arange(3).astype(dtype)
        t = ad.tensor(x)
        try:
            np.copyto(x, value, casting)
        except (TypeError, OverflowError) as error:
            with pytest.raises(type(error), match="test_numpys_functions"):
                np.copyto(t, value, casting)
        else:
            np.copyto(t, value, casting)
            equal(t, x)


@pytest.mark.parametrize("write", [np.putmask, np.place])
def test_arrays_of_another_kind_are_not_cut_to_fit(write: Any) -> None:
    t = ad.tensor([1, 2, 3])
    with pytest.raises(TypeError, match=r"float64 isn't cast to int64.*test_numpys_functions"):
        write(t, np.array([True, False, True]), np.array([1.5]))
    write(t, np.array([True, False, True]), 1.5)  # as t[mask] = 1.5
    equal(t, [1, 2, 1])


def test_written_at_positions_of_the_whole() -> None:
    x = A > 0
    t = ad.tensor(x)
    for y in (x, t):
        np.put(y, [0, 4], [False, True])
        np.put_along_axis(y, np.array([1, 8]), np.array([True, False]), None)
    equal(t, x)
    assert (
        np.can_cast(t, "int8")
        and not np.can_cast(ad.tensor(1.5), "int8")
        and np.can_cast(ad.tensor(1.5), "int8", "unsafe")
    )


@pytest.mark.parametrize("shape", [(4,), (2, 3, 2), (2, 3), (3, 3), ()])
@pytest.mark.parametrize("positions", [np.tril_indices_from, np.triu_indices_from, np.diag_indices_from])
def test_positions_that_a_shape_has(positions: Any, shape: Any) -> None:
    x = np.zeros(shape)
    try:
        expected = positions(x)
    except ValueError:
        with pytest.raises(ValueError):
            positions(ad.tensor(x))
    else:
        for a, b in zip(positions(ad.tensor(x)), expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("index", [[], [[]], [[], []], ([[]],), (slice(None), [[], []])])
def test_lists_without_numbers_are_positions(index: Any) -> None:
    equal(double(A)[index], A[index])
    t = double(A)
    t[index] = 1.0
    equal(t, A)


@pytest.mark.parametrize("ufunc", [np.floor, np.ceil, np.trunc, np.fabs, np.degrees, np.radians, np.fmod, np.modf])
def test_no_rounding_of_complex_numbers(ufunc: np.ufunc) -> None:
    with pytest.raises(TypeError, match=r"complex.*test_numpys_functions\.py"):
        ufunc(*[ad.tensor(Z)] * ufunc.nin)


# ---- universal functions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum, np.logaddexp, np.subtract, np.hypot])
def test_ways_of_universal_functions(ufunc: np.ufunc) -> None:
    t = double(A)
    equal(ufunc.reduce(t), ufunc.reduce(A))
    equal(ufunc.reduce(t, axis=1, keepdims=True), ufunc.reduce(A, axis=1, keepdims=True))
    equal(ufunc.accumulate(t, axis=1), ufunc.accumulate(A, axis=1))
    equal(ufunc.outer(t, double(V)), ufunc.outer(A, V))
    equal(ufunc.reduceat(t, [0, 2, 1]), ufunc.reduceat(A, [0, 2, 1]))
    ad.check_grads(
        lambda t: ufunc.reduce(t, axis=0).sum() + ufunc.accumulate(t).sum() + ufunc.outer(t, t).sum(), (t,), order=1
    )
    out = ad.zeros((3, 3), dtype="float64")
    assert ufunc(t, 0.5, out=out) is out
    equal(out, ufunc(A, 0.5))
    ufunc(t, 0.25, out=out, where=A > 0)
    equal(out, np.where(A > 0, ufunc(A, 0.25), ufunc(A, 0.5)))


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum, np.minimum])
def test_writing_at_repeated_places(ufunc: np.ufunc) -> None:
    expected, t = V.copy(), double(V)
    ufunc.at(expected, [0, 0, 2], [2.0, 3.0, -1.0])
    ufunc.at(t, [0, 0, 2], double([2.0, 3.0, -1.0]))
    equal(t, expected)


def test_reductions_with_a_mask_and_a_start() -> None:
    t, mask = double(A), A > 0
    for name in ("sum", "prod", "mean", "std", "var", "any", "all"):
        function = getattr(np, name)
        equal(function(t, axis=0, where=mask), function(A, axis=0, where=mask))
    for name in ("max", "min", "sum", "prod"):
        function = getattr(np, name)
        equal(function(t, axis=1, initial=0.7, where=mask), function(A, axis=1, initial=0.7, where=mask))
    with pytest.raises(ValueError, match="give initial="):
        np.max(t, where=mask)
    assert np.sum(t, dtype=np.float32).dtype == "float32"


def test_a_mask_hides_no_nan_that_it_chooses() -> None:
    x, mask = A.copy(), np.array([[True, False, True], [True, True, False], [False, False, False]])
    x[0, 0], x[0, 1], x[1, 1] = np.nan, np.nan, np.inf  # chosen, left out, chosen
    for name in ("mean", "std", "var", "nanmean", "nanstd", "nanvar", "sum", "nansum"):
        for axis in (None, 0, 1):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                equal(getattr(np, name)(double(x), axis=axis, where=mask), getattr(np, name)(x, axis=axis, where=mask))


def test_functions_of_no_elements_and_of_one_row() -> None:
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 3)):
        x = np.zeros(shape)
        for axis in (None, 0, -1):
            for name in ("median", "nanmedian"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    equal(getattr(np, name)(double(x), axis=axis), getattr(np, name)(x, axis=axis))
            for name in ("max", "min"):
                equal(
                    getattr(np, name)(double(x), axis=axis, initial=0.7), getattr(np, name)(x, axis=axis, initial=0.7)
                )
    equal(np.linalg.norm(double(np.zeros((0, 3))), np.inf, axis=0), np.zeros(3))
    equal(np.diff(double(2.5), 0), np.float64(2.5))
    for k in (-1, 0, 1):
        equal(np.tril(double(V), k), np.tril(V, k))
        equal(np.triu(double(V), k), np.triu(V, k))
    equal(np.cov(double(V[None, :]), rowvar=False, ddof=0), np.zeros((4, 4)))  # one observation of four variables


def test_padding_by_statistics_of_what_has_nan() -> None:
    x = A.copy()
    x[1, 2] = np.nan
    for mode in ("median", "mean", "maximum", "minimum"):
        equal(np.pad(double(x), ((1, 2), (0, 1)), mode=mode), np.pad(x, ((1, 2), (0, 1)), mode=mode))


def test_correlation_of_short_arrays_with_long_ones() -> None:
    for n in range(1, 6):
        for m in range(1, 6):
            a, v = np.cos(np.arange(n)), np.sin(1 + np.arange(m) ** 2)
            for mode in ("full", "same", "valid"):
                equal(np.correlate(double(a), double(v), mode), np.correlate(a, v, mode))
                equal(np.convolve(double(a), double(v), mode), np.convolve(a, v, mode))


def test_numpys_arrays_are_no_place_for_tensors() -> None:
    a = np.ones(3)
    for write in (
        lambda: np.add(a, ad.ones(3), out=a),
        lambda: np.add.at(a, [0], ad.ones(1)),
        lambda: a.__iadd__(ad.ones(3)),
    ):
        with pytest.raises(TypeError, match=r"ad\.tensor\(a\).*test_numpys_functions\.py"):
            write()
    with pytest.raises(TypeError, match="without out="):
        np.add(ad.ones(3), 1.0, where=a > 0)


# ---- adjoint.numpy ---------------------------------------------------------------------------------------------------


def test_adjoint_numpy_has_numpys_names() -> None:
    missing = [n for n in dir(np) if not n.startswith("_") and not hasattr(anp, n)]
    assert missing == []
    assert anp.pi is np.pi and anp.float64 is np.float64 and isinstance(anp.linalg, types.ModuleType)


def test_adjoint_numpy_is_in_double_precision() -> None:
    for made in (
        anp.array([1.0, 2.0]), anp.zeros(2), anp.ones((2,)), anp.linspace(0, 1, 3), anp.arange(3.0), anp.eye(2),
        anp.full(2, 0.5),
        anp.exp(1.0), anp.sum([0.5, 1.0]), anp.linalg.norm(anp.array([3.0, 4.0])), anp.add(1.0, 2.0), anp.mean([1, 2]),
    ):  # fmt: skip
        assert isinstance(made, ad.Tensor) and made.dtype == "float64", made
    assert anp.array([1, 2]).dtype == "int64" and anp.array([ad.ones(2), ad.ones(2)]).shape == (2, 2)


def test_code_written_for_autograd_changes_one_import() -> None:
    def logistic(w: Any) -> Any:
        inputs = anp.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30]])
        targets = anp.array([True, True, False])
        predictions = 0.5 * (anp.tanh(anp.dot(inputs, w)) + 1)
        return -anp.sum(anp.log(predictions * targets + (1 - predictions) * (1 - targets)))

    w = double([0.1, -0.2, 0.3])
    ad.check_grads(logistic, (w,))
    assert ad.grad(logistic)(w).dtype == "float64"


def test_adjoint_numpys_spaces_are_modules() -> None:
    """Code for autograd imports `autograd.numpy.linalg`, `.fft` and `.random` by themselves."""
    for name, function in (("linalg", "norm"), ("fft", "rfft"), ("random", "randn")):
        module = importlib.import_module(f"adjoint.numpy.{name}")
        assert module is getattr(anp, name) and callable(getattr(module, function)) and function in dir(module)
    assert isinstance(anp.linalg.norm(anp.array([3.0, 4.0])), ad.Tensor)
    assert anp.linalg.LinAlgError is np.linalg.LinAlgError
    with pytest.raises(AttributeError, match="nothing"):
        _ = anp.linalg.nothing


PARTS = {"v": V, "m": A, "i": np.arange(3, dtype=np.int8), "s": np.array([1.0, 2.0], np.float32), "e": np.zeros(0)}
JOINED = [
    "n.r_[v, 1.0, 0:3]", "n.r_[v, v]", "n.c_[v, v]", "n.c_[i, 0:3]", "n.c_[m, m]", "n.r_['-1', m, m]", "n.r_['0,2', v, v]",
    "n.r_['0,2,0', v, v]", "n.r_['1,2,0', v, v]", "n.r_[-1:1:6j, [0] * 3, 5, 6]", "n.r_['0,3,1', v, v]", "n.r_['0,3,-1', m, m]",
    "n.r_['0,3,-2', m, m]", "n.r_[1, 2]", "n.r_[1, 2.5]", "n.r_[s, 1.5]", "n.r_[True, v]", "n.r_[5]", "n.r_[i, 3]",
    "n.r_[2:10:3]", "n.c_[1, 2]", "n.r_[e, 1.0]", "n.r_[:4]",
]  # fmt: skip


@pytest.mark.parametrize("text", JOINED)
def test_joined_parts_are_numpys(text: str) -> None:
    expected = eval(text, {"n": np, **PARTS})
    got = eval(text, {"n": anp, **{name: anp.array(part) for name, part in PARTS.items()}})
    assert isinstance(got, ad.Tensor)
    assert got.numpy().dtype == expected.dtype
    np.testing.assert_array_equal(got.numpy(), expected)


def test_joined_parts_have_derivatives_and_errors() -> None:
    ad.check_grads(lambda x: anp.r_[x, 1.0, x**2], (double([0.5, 2.0]),))
    ad.check_grads(lambda x: anp.c_[x, anp.sin(x)], (double([0.5, 2.0]),))
    ad.check_grads(lambda x: anp.r_[[x, x * x]], (double(0.5),))
    for wrong in (("r", V), ("0,1,2,3", V), (V, "0"), (), ("0,3,5", V)):
        with pytest.raises(ValueError, match="r_"):
            _ = anp.r_[wrong]


@pytest.mark.parametrize(
    "given",
    [
        (A, [0, 1], [1, 0]),
        (A, [1, 0]),
        (A, [30, 1]),
        (A, [0, 1], A, [0, 1], [1]),
        (A, [..., 0], [0, ...]),
        (A, [0, 1], []),
    ],
)
def test_subscripts_of_einsum_may_be_numbers(given: Any) -> None:
    tensors = [ad.tensor(x) if isinstance(x, np.ndarray) else x for x in given]
    np.testing.assert_allclose(ad.einsum(*tensors).numpy(), np.einsum(*given), rtol=1e-15)
    np.testing.assert_allclose(np.einsum(*tensors).numpy(), np.einsum(*given), rtol=1e-15)


def test_wrong_subscripts_of_einsum_are_named() -> None:
    for wrong in ((A, A), (A,), (A, [0, 1], 3)):
        with pytest.raises(TypeError, match="einsum: takes a string"):
            ad.einsum(*wrong)
    with pytest.raises(ValueError, match="0 to 51"):
        ad.einsum(A, [0, 99])


def written(function: Any) -> Any:
    """What a function that writes into its first argument leaves there."""

    def call(x: Any, *more: Any) -> Any:
        made = x + 0
        function(made, *more)
        return made

    return call


NUMBERS = [0.3, 0.1, 0.7]


@pytest.mark.parametrize("call", [
    lambda x: np.append(x, 0.3), lambda x: np.append(x, [0.3]), lambda x: np.insert(x, 1, 0.3), lambda x: np.kron(x, [0.3]),
    lambda x: np.concatenate([x, NUMBERS]), lambda x: np.stack([NUMBERS, x]), lambda x: np.hstack([x, 0.3]),
    lambda x: np.vstack([x, NUMBERS]), lambda x: np.column_stack([NUMBERS, x]), lambda x: np.block([x, 0.3]),
    lambda x: np.convolve(x, [0.3, 0.1]), lambda x: np.correlate(x, [0.3]), lambda x: np.outer(x, NUMBERS),
    lambda x: np.cross(x, NUMBERS), lambda x: np.dot(x, NUMBERS), lambda x: np.inner(x, NUMBERS), lambda x: np.vdot(x, NUMBERS),
    lambda x: np.matmul(NUMBERS, x), lambda x: np.einsum("i,j->ij", x, NUMBERS), lambda x: np.tensordot(x, NUMBERS, 0),
    lambda x: np.where([True, False, True], NUMBERS, x), lambda x: np.clip(x, NUMBERS, 3), lambda x: np.full_like(x, NUMBERS),
    lambda x: np.average(x, weights=NUMBERS), lambda x: np.interp(x, [0.1, 1.7, 9.1], NUMBERS),
    lambda x: np.trapezoid(x, [0.1, 0.3, 0.7]),
    lambda x: np.gradient(x, [0.1, 0.3, 0.7]), lambda x: np.ediff1d(x, to_end=0.3), lambda x: np.polyval(NUMBERS, x),
    lambda x: np.polymul(x, NUMBERS), lambda x: np.polyadd(x, [0.3]), lambda x: np.histogram(x, [0.1, 5.0], weights=NUMBERS)[0],
    lambda x: np.choose(np.array([0, 1, 0]), [x, NUMBERS]), lambda x: np.linalg.solve(x * np.eye(3), NUMBERS),
    written(lambda x: np.copyto(x, 0.3)), written(lambda x: np.put(x, [1], 0.3)), written(lambda x: np.putmask(x, x > 1, [0.3])),
    written(lambda x: np.place(x, x > 1, [0.3])), written(lambda x: x.__setitem__(slice(None), NUMBERS)),
    written(lambda x: np.add.at(x, [0, 0, 1], NUMBERS)), written(lambda x: np.put_along_axis(x, np.array([1]), [0.3], 0)),
])  # fmt: skip
def test_numbers_beside_an_array_keep_its_digits(call: Any) -> None:
    x = np.array([1.0, 2.0, 4.0])
    found, expected = call(ad.tensor(x)), call(x)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    "window, axis", [(3, 0), (2, -1), ((2, 3), (0, 2)), ((2, 3, 4), None), ((2, 2), (1, 1)), (0, 1), (4, 0)]
)
def test_windows_that_slide(window: Any, axis: Any) -> None:
    x = np.random.default_rng(0).normal(size=(4, 5, 4))
    slide = np.lib.stride_tricks.sliding_window_view
    equal(slide(double(x), window, axis=axis), slide(x, window, axis=axis))
    ad.check_grads(lambda t: slide(t, window, axis=axis), (x,), order=1)


@pytest.mark.parametrize("keywords", [{"window_shape": 9, "axis": 0}, {"window_shape": 2}, {"window_shape": -1, "axis": 0},
    {"window_shape": 2, "axis": 7}, {"window_shape": 2, "axis": 0, "writeable": True}])  # fmt: skip
def test_windows_that_do_not_fit(keywords: Any) -> None:
    with pytest.raises((ValueError, IndexError), match="sliding_window_view"):
        np.lib.stride_tricks.sliding_window_view(ad.tensor(np.zeros((4, 5, 4))), **keywords)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "uint64"])
def test_integers_round_to_tens(dtype: str) -> None:
    x = np.array([0, 4, 5, 6, 14, 15, 16, 25, 35, 45, 99, 100, 114], dtype)
    x = x if dtype[0] == "u" else np.concatenate([x, -x])
    for places in (-1, -2, -3):
        found = np.round(ad.tensor(x), places)
        assert found.dtype.name == dtype
        np.testing.assert_array_equal(found.numpy(), np.round(x.astype(np.int64), places))
        assert found.tolist() == round(ad.tensor(x), places).tolist() == [round(int(v), places) for v in x]
    np.testing.assert_array_equal(np.round(ad.tensor(x), 1).numpy(), x)
    assert round(ad.tensor(x), 1).dtype.name == dtype and round(ad.tensor(16777217), 2).item() == 16777217
    np.testing.assert_array_equal(np.round(ad.tensor(x), -30).numpy(), 0 * x)


def test_what_two_arrays_share_has_the_dtype_of_both() -> None:
    found = np.intersect1d(ad.tensor([1, 2, 3]), ad.tensor([2.0, 3.0, 4.0], dtype="float64"))
    assert found.dtype is ad.float64 and found.tolist() == [2, 3]


def test_complex_numbers_have_no_bounds() -> None:
    for low, high in ((0, 1), (None, 1.5), (ad.tensor([1j]), None)):
        with pytest.raises(TypeError, match="clip: complex numbers have no order"):
            ad.clip(ad.tensor([1 + 2j]), low, high)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "float32", "float64"])
@pytest.mark.parametrize("function", [np.fmod, np.remainder, np.floor_divide])
def test_remainders_at_the_ends_of_a_dtype(function: Any, dtype: str) -> None:
    if dtype[0] == "f":
        a, b = [-0.0, 0.0, 1.5, -1.5, np.inf, np.nan, -5e-324], [0.7, -0.7, np.inf, -np.inf, np.nan]
    else:
        ends = np.iinfo(dtype)
        a, b = [ends.min, ends.max, 0, 1, 5, 7, ends.max - 6], [ends.max, ends.min or 9, 3, ends.max - 3]
        a, b = (x if dtype[0] == "u" else [*x, -1, -7, 2] for x in (a, b))
    a, b = (x.astype(dtype) for x in np.meshgrid(a, b))
    with np.errstate(all="ignore"):
        expected = function(a, b)
    for f in (function, ad.jit(lambda a, b: function(a, b))):
        found = f(ad.tensor(a), ad.tensor(b)).numpy()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
        if dtype[0] == "f":
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
@pytest.mark.parametrize("decimals", (-1, 0, 1, 2))
def test_rounding_complex_numbers_goes_by_parts(dtype, decimals):
    parts = [np.nan, 1.65, np.inf, -np.inf, -2.25, 0.0, 12345.678]
    z = np.array([complex(a, b) for a in parts for b in parts], dtype)
    expected = np.round(z, decimals)
    for found in (np.round(ad.tensor(z), decimals), ad.jit(lambda x: np.round(x, decimals))(ad.tensor(z))):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.numpy().view(expected.real.dtype), expected.view(expected.real.dtype))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (), 1, (1,)])
@pytest.mark.parametrize("trim", ["fb", "BF", "f", "b"])
def test_zeros_are_trimmed_as_numpy_does(trim: str, axis: Any) -> None:
    """The axis was ignored."""
    edged = np.zeros((4, 5, 2))
    edged[1, 2] = edged[2, 1, 0] = 1.0
    for x in (
        edged,
        edged[..., 0],
        edged[1, :, 0],
        np.zeros((3, 2)),
        np.zeros(3),
        np.zeros((0, 2)),
        np.zeros((2, 0)),
        np.ones(()),
    ):
        if axis not in (None, ()) and (max(np.atleast_1d(axis)) >= x.ndim or not x.ndim):
            with pytest.raises((ValueError, IndexError)):
                np.trim_zeros(ad.tensor(x), trim, axis)
        else:
            np.testing.assert_array_equal(
                np.asarray(np.trim_zeros(ad.tensor(x), trim, axis)), np.trim_zeros(x, trim, axis), strict=True
            )


def test_what_zeros_cannot_be_trimmed_from_raises() -> None:
    with pytest.raises(ValueError, match="trim is"):
        np.trim_zeros(ad.ones(2), "x")
    with pytest.raises((TypeError, ValueError), match="an axis"):
        np.trim_zeros(ad.ones((2, 2)), axis=(0, 0))


def test_the_polynomial_of_no_roots_and_of_a_matrix_are_numpys() -> None:
    for x in (np.zeros(0), np.ones(1), np.array([[0.0, 1.0], [-1.0, 0.5]]), np.array([[1j, 1.0], [-1.0, 0.5]])):
        found, expected = np.asarray(np.poly(ad.tensor(x))), np.asarray(np.poly(x))
        np.testing.assert_allclose(found, expected, atol=1e-15)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    for shape in ((0, 0), (1, 0), (2, 3), (2, 2, 2)):
        for poly in (np.poly, ad.poly):
            with pytest.raises(ValueError, match="square"):
                poly(ad.zeros(shape))


@pytest.mark.parametrize("function", [np.var, np.std])
def test_a_spread_around_a_mean_that_is_given(function: Any) -> None:
    """mean= was ignored."""
    for axis in (None, 0, (0, 1), -1):
        for given in (np.mean(A, axis=axis, keepdims=True), np.mean(A, axis=axis, keepdims=True) + 0.5):
            for more in ({}, {"ddof": 1}, {"correction": 2}, {"keepdims": True}):
                expected = function(A, axis=axis, mean=given, **more)
                equal(function(double(A), axis=axis, mean=double(given), **more), expected, 1e-12)


def test_keywords_of_spreads_that_cannot_be_meant() -> None:
    x = double(A)
    for call, kind, text in (
        (lambda: np.var(x, ddof=1, correction=1), ValueError, "two names"),
        (lambda: np.std(x, dtype="int32"), TypeError, "fractions"),
        (lambda: np.nanvar(x, mean=x), TypeError, "left out"),
        (lambda: np.nanmean(x, dtype=bool), TypeError, "inexact"),
    ):
        with pytest.raises(kind, match=rf"{text}.*test_numpys_functions\.py:\d+"):
            call()
    assert np.isnan(np.max(ad.zeros(0, dtype="int32"), initial=np.nan).numpy())
