"""Lists that hold tensors, and tensors where a number was expected, given to every public function by its signature.

Whatever a function does with such an argument, it gives the derivative that central differences give, or it raises. A
derivative of 0 for an argument that it read as plain numbers would be neither.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.graph import array_type

F = nn.functional
MATRIX = np.array([[0.3, 0.7], [0.5, 0.2]])
IMAGE = np.linspace(0.1, 0.9, 16).reshape(1, 1, 4, 4)
VOLUME = np.linspace(0.1, 0.9, 8).reshape(1, 1, 2, 2, 2)
INDICES = np.array([[0, 1], [1, 0]])

# Arguments for the parameters without a default, by their names; those of one function in its own entry.
SAMPLES: dict[str, Any] = {
    "x": MATRIX, "y": MATRIX[::-1] + 0.1, "data": MATRIX, "value": MATRIX, "arrays": [MATRIX, MATRIX], "shape": (2, 2),
    "fill_value": 0.5, "start": 0.5, "stop": 3.0, "num": 3, "rows": 2, "condition": MATRIX > 0.4, "dtype": "float64",
    "axes": (1, 0), "indices": INDICES, "updates": MATRIX, "widths": 1, "sections": 2, "repetitions": 2, "repeats": 2,
    "shift": 1, "first": 0, "second": 1, "source": 0, "destination": 1, "num_classes": 3, "kernel_size": 2,
    "output_size": 2, "weight": MATRIX, "prediction": MATRIX, "target": MATRIX[::-1], "logits": MATRIX,
    "log_probabilities": np.log(MATRIX), "num_groups": 1, "normalized_shape": (2,), "query": IMAGE[0], "key": IMAGE[0],
    "running_mean": None, "running_var": None,
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "acosh": {"x": MATRIX + 1}, "scatter_add": {"indices": np.array([0, 1])},
    "take": {"indices": np.array([0, 1]), "axis": 0},
    "unfold": {"x": IMAGE}, "fold": {"x": IMAGE.reshape(1, 4, 4), "output_size": 4, "kernel_size": 2, "stride": 2},
    "cumulative_sum": {"axis": 0}, "cumulative_prod": {"axis": 0}, "one_hot": {"x": INDICES}, "squeeze": {"x": MATRIX[:1]},
    "conv2d": {"x": IMAGE, "weight": IMAGE[:, :, :2, :2]},
    "adaptive_avg_pool2d": {"x": IMAGE}, "avg_pool2d": {"x": IMAGE}, "max_pool2d": {"x": IMAGE},
    "group_norm": {"x": IMAGE}, "batch_norm": {"training": True}, "cross_entropy": {"target": np.array([0, 1])},
    "nll_loss": {"target": np.array([0, 1])}, "embedding": {"indices": INDICES},
    "scaled_dot_product_attention": {"value": IMAGE[0]}, "dropout": {"training": False},
    "adaptive_avg_pool3d": {"x": VOLUME}, "adaptive_max_pool2d": {"x": IMAGE}, "adaptive_max_pool3d": {"x": VOLUME},
    "fractional_max_pool2d": {"x": IMAGE, "output_size": 1, "_random_samples": np.full((1, 1, 2), 0.4)},
    "fractional_max_pool3d": {"x": VOLUME, "output_size": 1, "_random_samples": np.full((1, 1, 3), 0.4)},
    "affine_grid": {"theta": MATRIX[None, :, [0, 1, 1]], "size": (1, 1, 2, 2)}, "avg_pool3d": {"x": VOLUME},
    "bilinear": {"x1": MATRIX, "x2": MATRIX, "weight": IMAGE[0, :, :2, :2]},
    "channel_shuffle": {"x": IMAGE[0, :, None], "groups": 1},
    "binary_cross_entropy": {"probabilities": MATRIX},
    "conv1d": {"x": IMAGE[0, :, :1], "weight": IMAGE[0, :, :1, :2].reshape(1, 1, 2)},
    "conv3d": {"x": VOLUME, "weight": VOLUME[..., :1, :1, :1]},
    "conv_transpose2d": {"x": IMAGE, "weight": IMAGE[..., :2, :2]},
    "conv_transpose1d": {"x": IMAGE[0, :, :1], "weight": IMAGE[0, :, :1, :2]},
    "conv_transpose3d": {"x": VOLUME, "weight": VOLUME[..., :1, :1, :1]},
    "cosine_similarity": {"x1": MATRIX, "x2": MATRIX[::-1]},
    "cosine_embedding_loss": {"x1": MATRIX, "x2": MATRIX[::-1], "target": np.array([1, -1])},
    "ctc_loss": {"log_probs": np.log(MATRIX)[:, None], "targets": np.array([[1]]), "input_lengths": np.array([2]),
                 "target_lengths": np.array([1])},
    "dropout2d": {"x": IMAGE, "training": False}, "dropout3d": {"x": VOLUME, "training": False},
    "gaussian_nll_loss": {"var": MATRIX},
    "grid_sample": {"x": IMAGE, "grid": MATRIX[None, None]}, "instance_norm": {"x": IMAGE},
    "interpolate": {"x": IMAGE, "size": 3},
    "local_response_norm": {"x": IMAGE, "size": 1}, "lp_pool1d": {"x": IMAGE[0], "norm_type": 2},
    "lp_pool2d": {"x": IMAGE, "norm_type": 2},
    "lp_pool3d": {"x": VOLUME, "norm_type": 2},
    "margin_ranking_loss": {"x1": MATRIX, "x2": MATRIX[::-1], "target": MATRIX * 0 + 1},
    "max_pool3d": {"x": VOLUME}, "max_unpool1d": {"x": IMAGE[0, :, :1, :2], "indices": INDICES[None, :1]},
    "max_unpool2d": {"x": IMAGE[..., :2, :2], "indices": INDICES[None, None] * 5},
    "max_unpool3d": {"x": VOLUME[..., :1, :1, :1], "indices": INDICES[None, None, :1, :1, None]},
    "multi_margin_loss": {"target": np.array([0, 1])}, "multilabel_margin_loss": {"target": np.array([[0, -1], [1, -1]])},
    "pad": {"pad": (1, 1)}, "pairwise_distance": {"x1": MATRIX, "x2": MATRIX[::-1]},
    "pixel_shuffle": {"x": IMAGE.reshape(1, 4, 2, 2), "upscale_factor": 2},
    "pixel_unshuffle": {"x": IMAGE, "downscale_factor": 2}, "prelu": {"weight": MATRIX[0]},
    "rotary": {"x": IMAGE, "positions": np.arange(4)}, "threshold": {"threshold": 0.4, "value": 0.1},
    "triplet_margin_loss": {"anchor": MATRIX, "positive": MATRIX[::-1], "negative": MATRIX.T},
    "triplet_margin_with_distance_loss": {"anchor": MATRIX, "positive": MATRIX[::-1], "negative": MATRIX.T},
}  # fmt: skip
VECTOR, STEPS = np.array([0.2, 0.4, 0.9]), np.array([0.0, 0.5, 1.0])
OWN |= {
    "append": {"values": MATRIX}, "apply_along_axis": {"function": lambda v, *_: v * v, "axis": 0},
    "bincount": {"x": INDICES[0], "weights": MATRIX[0]}, "cdist": {"y": MATRIX}, "delete": {"x": VECTOR, "index": 1},
    "digitize": {"bins": STEPS}, "dsplit": {"x": VOLUME[0], "sections": 2}, "hsplit": {"sections": 2}, "vsplit": {"sections": 2},
    "from_dlpack": {"x": MATRIX}, "insert": {"x": VECTOR, "index": 1, "values": 0.5},
    "interp": {"xp": STEPS, "fp": VECTOR}, "isin": {"x1": MATRIX, "x2": MATRIX[0]}, "kthvalue": {"k": 1}, "topk": {"k": 1},
    "masked_fill": {"mask": MATRIX > 0.4, "value": 0.5}, "percentile": {"q": 40.0}, "nanpercentile": {"q": 40.0},
    "quantile": {"q": 0.4}, "nanquantile": {"q": 0.4}, "lerp": {"weight": 0.25},
    "piecewise": {"conditions": [MATRIX > 0.4], "functions": [lambda v, *_: v * v, 0.5]},
    "select": {"conditions": [MATRIX > 0.4], "choices": [MATRIX]}, "poly": {"roots": VECTOR},
    **{name: {"p": VECTOR, "q": VECTOR[:2]} for name in ("polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub")},
    "polyval": {"p": VECTOR}, "roots": {"p": VECTOR}, "polyfit": {"x": STEPS, "y": VECTOR, "degree": 1}, "vander": {"x": VECTOR},
    "put_along_axis": {"indices": INDICES, "values": 0.5}, "scatter": {"indices": np.array([0, 1])},
    "scatter_reduce": {"indices": np.array([0, 1])}, "index_add": {"index": 0, "updates": 0.5},
    "searchsorted": {"x1": STEPS, "x2": VECTOR}, "fill_diagonal": {"value": 0.5}, "tri": {"rows": 2},
    **{f"segment_{name}": {"segment_ids": np.array([0, 1])} for name in ("sum", "mean", "prod", "max", "min")},
    "diag": {"x": VECTOR}, "array_split": {"sections": 2}, "trapezoid": {"y": VECTOR}, "cumulative_trapezoid": {"y": VECTOR},
    "tensorinv": {"a": MATRIX, "ind": 1}, "tensorsolve": {"a": MATRIX, "b": VECTOR[:2]}, "toeplitz": {"c": VECTOR},
    "solve": {"a": MATRIX, "b": VECTOR[:2]}, "lstsq": {"a": MATRIX, "b": VECTOR[:2]},
    "solve_triangular": {"a": MATRIX, "b": VECTOR[:2]}, "matrix_power": {"n": 3},
    "lu_solve": {"factors": (MATRIX, np.array([0, 1], np.int32)), "b": VECTOR[:2]},
    "householder_product": {"tau": VECTOR[:2]}, "cross": {"x": VECTOR, "y": VECTOR[::-1]},
    "fftfreq": {"n": 4}, "rfftfreq": {"n": 4}, "next_fast_len": {"target": 7},
}  # fmt: skip
# Their first argument is of one shape or of integers.
PICKY = {"bincount", "dsplit", "roots", "polyfit", "select", "linalg.cross", "linalg.lu_solve"}
OF_INTEGERS = {name for name in ad.__all__ if name.startswith("bitwise")}
# They take functions (and trees), graphs, files, modes or nothing; `evaluate` and `stop_gradient` give constants, as they say.
NOT_OF_ARRAYS = {
    "associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop",
    "check_grads", "checkpoint", "draw", "explain", "explain_nan", "explore", "function", "get_default_dtype",
    "get_num_threads", "grad", "gradient_flow", "gradients", "hessian", "host_call", "hvp", "is_deterministic",
    "is_grad_enabled", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "linearize", "load", "result_type", "save",
    "set_default_dtype", "set_deterministic", "set_num_threads", "show_pictures", "value_and_grad", "vjp", "vmap",
    "evaluate", "stop_gradient", "einsum", "check_reduction", "adjoint", "deterministically", "vectorize", "broadcast_shapes",
    "can_cast", "finfo", "iinfo", "isdtype", "__array_namespace_info__",
    "least_squares", "curve_fit",
    "fixed_point", "implicit", "minimize", "odeint", "root", "jet", "taylor", "sparse_jacobian", "sparse_hessian",
}  # fmt: skip


# Integers, keys, and draws whose derivative is that of their distribution, which no difference of two draws shows.
NOT_OF_RANDOM = (
    "default_generator", "seed", "integers", "permutation", "key", "split", "fold_in", "beta", "binomial", "dirichlet", "gamma",
    "geometric", "multinomial", "multivariate_normal", "negative_binomial", "poisson", "student_t", "von_mises", "weibull",
)  # fmt: skip

# They read one triangle, and their derivatives are those in Hermitian directions, which the arguments here don't move in.
OF_HERMITIAN = ("cho_factor", "cho_solve", "cholesky", "eigh", "eigvalsh")


@functools.cache
def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters that take anything. Those annotated as taking nothing catch names from elsewhere."""
    named = inspect.signature(function).parameters.values()
    return {p.name: p for p in named if p.kind is not p.VAR_KEYWORD and p.annotation != "Never" and p.name != "method"}


def public() -> dict[str, Callable[..., Any]]:
    found = {}
    spaces = [("", ad), ("F.", F), ("random.", ad.random), ("linalg.", ad.linalg), ("fft.", ad.fft)]
    for prefix, space, names in [(prefix, space, space.__all__) for prefix, space in spaces]:
        for name in names:
            function = getattr(space, name)
            if callable(function) and not inspect.isclass(function) and name not in NOT_OF_ARRAYS | OF_INTEGERS:
                found[prefix + name] = function
    found["gradient"] = lambda x, spacing=0.5: ad.gradient(x, spacing)
    found["einsum"] = lambda x, y: ad.einsum("ij,jk->ik", x, y)
    for symbol in ("add", "sub", "mul", "truediv", "pow", "matmul", "mod", "lt", "radd", "rmatmul"):
        method = getattr(ad.Tensor, f"__{symbol}__")
        found[f"x.__{symbol}__"] = lambda x, y, method=method: method(ad.asarray(x), y)
    found["x[:] = y"] = assigned
    for name in [*[f"random.{name}" for name in NOT_OF_RANDOM], *[f"linalg.{name}" for name in OF_HERMITIAN]]:
        found.pop(name, None)
    return found


def assigned(x: Any, y: Any) -> ad.Tensor:
    filled = ad.asarray(x) * 1.0
    filled[:] = y
    return filled


PUBLIC = public()


def arguments(name: str, function: Callable[..., Any]) -> tuple[list[Any], dict[str, Any], list[str]]:
    """A call that works, and the names of all parameters."""
    own = OWN.get(name.rpartition(".")[2], {})
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    parameters = parameters_of(function)
    for parameter in parameters.values():
        if parameter.default is not inspect.Parameter.empty and parameter.name not in own:
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
                positional.append(parameter.default)
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += [MATRIX, MATRIX]
        else:
            value = own.get(parameter.name, SAMPLES.get(parameter.name))
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                keywords[parameter.name] = value
            else:
                positional.append(value)
    return positional, keywords, list(parameters)


def with_argument(name: str, parameter: str, value: Any) -> Any:
    function = PUBLIC[name]
    positional, keywords, _ = arguments(name, function)
    named = parameters_of(function)[parameter]
    if named.kind is inspect.Parameter.KEYWORD_ONLY:
        keywords = {**keywords, parameter: value}
    else:
        place = list(parameters_of(function)).index(parameter)
        positional = [*positional[:place], value, *positional[place + 1 :]]
    ad.random.seed(3)
    return function(*positional, **keywords)


# What an argument may be made of a tensor t.
FORMS: dict[str, Callable[[Any], Any]] = {
    "a tensor": lambda t: t,
    "a list": lambda t: [t, t * t],
    "nested lists": lambda t: [[t, 0.5], [t * t, t]],
    "a tuple with arrays and tensors in it": lambda t: ((t, 0.25), np.array([0.2, 0.3])),
    "a list of vectors": lambda t: [ad.stack([t, t + 0.1]), [0.5, t]],
    "an image": lambda t: [[[[t * (0.3 + 0.1 * i * j) for i in range(4)] for j in range(4)]]],
    "an array of tensors": lambda t: objects([t, t * t]),
}  # fmt: skip


def objects(items: list[Any]) -> np.ndarray:
    array = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = item
    return array


def total(out: Any) -> Any:
    """One number of all floating results."""
    leaves, _ = ad.tree.flatten(out)
    result = ad.tensor(0.0)
    for leaf in leaves:
        if isinstance(leaf, ad.Tensor) and leaf.dtype.kind in "fc" and leaf.size:
            weights = np.cos(1.0 + np.arange(leaf.size)).reshape(leaf.shape)
            parts = [leaf] if leaf.dtype.kind == "f" else [leaf.real, 0.7 * leaf.imag]
            result = result + sum([ad.sum(part * weights) for part in parts])
    return result


# A warning says so too.
MISTAKES = (
    TypeError,
    ValueError,
    IndexError,
    RuntimeError,
    OverflowError,
    AttributeError,
    NotImplementedError,
    RuntimeWarning,
)


def outcome(name: str, parameter: str, form: Callable[[Any], Any], at: float) -> str | None:
    """What came of the call: "raises", "right", or None where there is no derivative to compare with."""

    def loss(t: Any) -> ad.Tensor:
        return total(with_argument(name, parameter, form(t)))

    def plain(t: float) -> float:
        with ad.no_grad():
            return float(loss(ad.tensor(t)).item())

    try:
        gradient = ad.grad(loss)(at).item()
    except MISTAKES as error:
        assert str(error), f"{name}({parameter}=...) raised {error!r} without a message"
        return "raises"

    def difference(h: float) -> float:
        return (plain(at + h) - plain(at - h)) / (2 * h)

    try:
        narrow = difference(1e-5)
        if gradient == pytest.approx(narrow, rel=1e-5, abs=1e-7):
            return "right"
        wide = difference(1e-4)
    except MISTAKES:
        return None
    kink = not np.isfinite(wide) or abs(wide - narrow) > 1e-4 * (1 + abs(wide))
    assert kink, f"{name}({parameter}=...): {gradient}, by differences {narrow}"
    return None


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    ad.set_default_dtype("float64")
    yield
    ad.set_default_dtype("float32")


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_right_or_raised(name: str) -> None:
    function = PUBLIC[name]
    positional, keywords, parameters = arguments(name, function)
    ad.random.seed(3)
    function(*positional, **keywords)  # works, so that what raises below does so for the argument
    at = 1.61 if name == "acosh" else 0.61
    optional = {p.name for p in parameters_of(function).values() if p.default is not p.empty}
    found = {
        (p, form): outcome(name, p, make, at)
        for p in parameters
        for form, make in FORMS.items()
        if p not in optional or form in ("a tensor", "a list")
    }
    first = parameters[0] if parameters else ""
    annotation = str(parameters_of(function)[first].annotation) if first else ""
    if "Operand" in annotation and name not in {
        "F.one_hot",
        "one_hot",
        "unfold",
        "fold",
        "squeeze",
        "nonzero",
        *PICKY,
    }:
        assert "right" in (found[first, "nested lists"], found[first, "an image"], found[first, "a list"]), found


@pytest.mark.parametrize("form", sorted(FORMS))
def test_stacks(form: str) -> None:
    value = FORMS[form](ad.tensor(0.6))
    made = {"tensor": ad.tensor(value), "asarray": ad.asarray(value), "copy": ad.asarray(value, copy=True)}
    for name, stack in made.items():
        assert isinstance(stack, ad.Tensor) and stack.dtype is ad.float64, name
    gradient = ad.grad(lambda t: total(ad.tensor(FORMS[form](t))))(0.6)
    assert gradient.item() != 0
    assert ad.tensor(value, requires_grad=True).requires_grad


def test_dtypes_are_promoted_as_by_operators() -> None:
    ad.set_default_dtype("float32")
    one, two = ad.tensor(1.0), ad.tensor(2.0, dtype="float64")
    assert ad.tensor([one, 2.0]).dtype is ad.float32
    assert ad.tensor([one, two]).dtype is ad.float64
    assert ad.tensor([two, 0.1])[1].item() == 0.1
    assert ad.tensor([ad.tensor(1), 2]).dtype is ad.int64
    assert ad.tensor([ad.tensor(1), 2.5]).dtype is ad.float32
    assert ad.tensor([ad.tensor(1), np.array(2.5)]).dtype is ad.float64
    assert ad.tensor([one, 1j]).dtype is ad.complex64
    assert ad.tensor([one, 2.0], dtype="int64").dtype is ad.int64
    assert (two * [0.1, 0.2]).tolist() == [0.2, 0.4]


@pytest.mark.parametrize("mistake", [
    lambda x: ad.tensor([x, [x]]), lambda x: ad.tensor([x, "a"]), lambda x: ad.tensor([x, None]),
    lambda x: ad.tensor([[x, x], [x]]), lambda x: ad.tensor([x, 1j], dtype="float32"), lambda x: ad.sum([x, {}]),
])  # fmt: skip
def test_mistakes(mistake: Callable[[Any], Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"test_lists_of_tensors\.py"):
        mistake(ad.variable(1.0))


def test_no_shape_holds_a_tensor() -> None:
    for size in (ad.tensor(2.0), ad.tensor(2), 2.5):
        with pytest.raises(TypeError, match="a shape is made of integers"):
            array_type((3, size), ad.float32)


def test_a_new_variable_starts_a_new_history() -> None:
    x = ad.variable(2.0)
    copy = ad.variable([x, x * x])
    assert copy.is_leaf and copy.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="a new variable"):
        ad.grad(lambda x: ad.variable([x, x]).sum())(2.0)


def test_under_jit_and_vmap() -> None:
    def f(x: Any) -> Any:
        return ad.sum(ad.tensor([[x * x, 1.0], [x, 3 * x]]) @ [x, 2.0])

    wanted = ad.grad(f)(2.0).item()
    assert wanted == pytest.approx((f(2.0 + 1e-6).item() - f(2.0 - 1e-6).item()) / 2e-6, 1e-6)
    assert ad.jit(ad.grad(f))(2.0).item() == pytest.approx(wanted)
    assert ad.vmap(ad.grad(f))(ad.tensor([2.0, 3.0]))[0].item() == pytest.approx(wanted)
    scaled = ad.jit(lambda rate: ad.tensor([rate, rate * rate]))
    assert scaled(3.0).tolist() == [3.0, 9.0] and scaled(4.0).tolist() == [4.0, 16.0]
