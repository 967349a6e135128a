"""torch.nn.functional: the core's functions under PyTorch's names of arguments, with `inplace` meant as it says."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

from adjoint.nn import functional as core_functional
from adjoint.nn.attention import MultiheadAttention
from adjoint.tensors.located import at_user

from .._autocast import for_products
from .._missing import getter
from .._names import FUNCTIONS, at_users_line, like
from .._tensor import Core
from .dtypes import FUNCTIONS_OF_ONE, PROMOTING, check_padding, of_one_dtype, promoting
from .replaying import FOLLOWING, replayed
from .wider import convolution, pooling

__all__: list[str] = []

# where PyTorch's arguments, or their order, differ from the core's
LOSS = "size_average reduce reduction"
ORDER: dict[str, str] = {
    "binary_cross_entropy": f"input target weight {LOSS}",
    "binary_cross_entropy_with_logits": f"input target weight {LOSS} pos_weight",
    "cosine_embedding_loss": f"input1 input2 target margin {LOSS}",
    "cross_entropy": "input target weight size_average ignore_index reduce reduction label_smoothing",
    "gumbel_softmax": "logits tau hard eps dim",
    "hinge_embedding_loss": f"input target margin {LOSS}",
    "huber_loss": "input target reduction delta weight",
    "kl_div": f"input target {LOSS} log_target",
    "l1_loss": f"input target {LOSS} weight",
    "log_softmax": "input dim _stacklevel dtype",
    "margin_ranking_loss": f"input1 input2 target margin {LOSS}",
    "mse_loss": f"input target {LOSS} weight",
    "multi_margin_loss": f"input target p margin weight {LOSS}",
    "multilabel_margin_loss": f"input target {LOSS}",
    "multilabel_soft_margin_loss": f"input target weight {LOSS}",
    "nll_loss": "input target weight size_average ignore_index reduce reduction",
    "poisson_nll_loss": "input target log_input full size_average eps reduce reduction",
    "smooth_l1_loss": f"input target {LOSS} beta",
    "soft_margin_loss": f"input target {LOSS}",
    "softmax": "input dim _stacklevel dtype",
    "softmin": "input dim _stacklevel dtype",
    "triplet_margin_loss": f"anchor positive negative margin p eps swap {LOSS}",
    "normalize": "input p dim eps out",
    "bilinear": "input1 input2 weight bias",
    "one_hot": "tensor num_classes",
}
RENAMED = {"input1": "x1", "input2": "x2", "other": "y"}
WITHOUT = {"rotary", "check_reduction"}  # of the core alone
MEANT_NOTHING = {"_stacklevel", "eps", "sparse"}  # of no influence on the result


def legacy_reduction(size_average: Any, reduce: Any) -> str:
    """What the arguments from before `reduction` mean."""
    warnings.warn("size_average and reduce are deprecated; use reduction", UserWarning, stacklevel=4)
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def _parameters(name: str, f: Any) -> tuple[list[str], dict[str, str]]:
    """PyTorch's names of a function's arguments in order, and what the core calls them."""
    own = [p.name for p in inspect.signature(f).parameters.values()]
    if name not in ORDER:
        names = [{"x": "input", "indices": "input"}.get(n, n) if i == 0 else n for i, n in enumerate(own)]
        return names, dict(zip(names, own, strict=True))
    names = ORDER[name].split()
    taken = {n: RENAMED.get(n, n) for n in names if RENAMED.get(n, n) in own}
    rest = [n for n in own if n not in taken.values()]
    for n in names[:2]:
        if n not in taken and rest:
            taken[n] = rest.pop(0)
    return names, taken


def adapted(name: str, f: Any) -> Any:
    """A core function as PyTorch's."""
    names, taken = _parameters(name, f)
    follows = name in FOLLOWING and name not in FUNCTIONS_OF_ONE
    own = list(inspect.signature(f).parameters.values())
    positional_only = {p.name for p in own if p.kind is p.POSITIONAL_ONLY}
    places = [p.name for p in own if p.kind is not p.KEYWORD_ONLY]
    straight = 0  # so many places mean the same there
    while straight < min(len(names), len(places)) and taken.get(names[straight]) == places[straight] != "inplace":
        straight += 1
    special = {"inplace", "size_average", "reduce", *positional_only}
    place = {key: i for i, key in enumerate(names) if taken.get(key, "inplace") not in special}

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        count = len(args)
        if count > straight:
            return _called_by_name(args, keywords)
        given = {}
        for key, value in keywords.items():
            if place.get(key, -1) < count:
                return _called_by_name(args, keywords)
            given[taken[key]] = value
        return replayed(name, f, args, given, at_users_line) if follows else at_users_line(f, args, given)

    def _called_by_name(args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if len(args) > len(names):
            raise TypeError(f"{name}: {len(args)} arguments were given, it takes {len(names)}{at_user()}")
        values = dict(zip(names, args, strict=False))
        for key, value in keywords.items():
            if key not in names:
                raise TypeError(f"{name}: unknown argument {key!r}; it takes {', '.join(names)}{at_user()}")
            if key in values:
                raise TypeError(f"{name}: {key!r} is given twice{at_user()}")
            values[key] = value
        inplace = values.pop("inplace", False)
        old = values.pop("size_average", None), values.pop("reduce", None)
        if old != (None, None):
            values["reduction"] = legacy_reduction(*old)
        for key in [k for k in values if k not in taken]:
            value = values.pop(key)
            if value is not None and key not in MEANT_NOTHING:
                raise TypeError(f"{name}: {key} isn't here; leave it out{at_user()}")
        given = {taken[k]: v for k, v in values.items()}
        first = [given.pop(p) for p in list(given) if p in positional_only]
        result = at_users_line(f, (*first,), given)
        if inplace:
            target = args[0] if args else keywords["input"]
            target._assign(result.node, name + "(inplace=True)")
            return target
        return result

    called.__name__ = called.__qualname__ = name
    called.__signature__ = _signature(names, taken, f)  # type: ignore[attr-defined]
    return called


def _signature(names: list[str], taken: dict[str, str], f: Any) -> inspect.Signature:
    """PyTorch's signature of a core function: its names and order, the core's defaults."""
    own = inspect.signature(f).parameters
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    defaults = [own[taken[name]].default if name in taken else None for name in names]
    made = [inspect.Parameter(name, kind, default=value) for name, value in zip(names, defaults, strict=True)]
    return inspect.Signature(made)


def _one_hot(*args: Any, **keywords: Any) -> Any:
    wanted = [*args[1:], *keywords.values()]
    if args and isinstance(args[0], Core) and not args[0].node.type.size and wanted in ([], [-1]):
        raise RuntimeError(f"one_hot: of no class numbers it isn't known how many classes there are; say it{at_user()}")
    try:
        return core_functional.one_hot(*args, **keywords)
    except IndexError as error:
        raise RuntimeError(*error.args) from None  # the class that PyTorch raises


OTHERWISE = {"one_hot": functools.wraps(core_functional.one_hot)(_one_hot)}
for _name in core_functional.__all__:
    if _name not in WITHOUT:
        _function = OTHERWISE.get(_name, getattr(core_functional, _name))
        globals()[_name] = FUNCTIONS[f"nn.functional.{_name}"] = adapted(_name, _function)
        __all__.append(_name)


def _wider(name: str, widened: Any) -> None:
    globals()[name] = FUNCTIONS[f"nn.functional.{name}"] = like(widened(name, globals()[name]), globals()[name])


for _name in ("linear", *(f"conv{k}{n}d" for k in ("", "_transpose") for n in (1, 2, 3))):
    _wider(_name, convolution)
for _name in ("avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d"):
    _wider(_name, pooling)
for _name in FUNCTIONS_OF_ONE:
    _wider(_name, of_one_dtype)
for _name in PROMOTING:
    _wider(_name, promoting)


_padded, _rms_norm, _interpolate = globals()["pad"], globals()["rms_norm"], globals()["interpolate"]
_of_logits = globals()["binary_cross_entropy_with_logits"]


def _public(f: Any) -> Any:
    name = f.__name__
    globals()[name] = FUNCTIONS[f"nn.functional.{name}"] = f
    if name not in __all__:
        __all__.append(name)
    return f


def _implicit(name: str) -> None:
    explicit = globals()[name]

    def called(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        if dim is None:
            warnings.warn(f"{name}: say which dim is meant", UserWarning, stacklevel=2)
            dim = 0 if input.ndim in (0, 1, 3) else 1
        if dtype is None and input.ndim:
            return explicit(input, dim)
        if not input.ndim:
            return FUNCTIONS["reshape"](called(FUNCTIONS["reshape"](input, 1), dim, dtype=dtype), ())
        return explicit(input, dim, dtype=dtype)

    called.__name__ = name
    called.__doc__ = explicit.__doc__
    _public(called)


for _name in ("softmax", "log_softmax", "softmin"):
    _implicit(_name)


def _limited(name: str, low: Any, high: Any) -> None:
    """An activation that is a clip, of integers too."""
    real = globals()[name]
    signature = inspect.signature(real)

    def called(input: Any, *args: Any, **keywords: Any) -> Any:
        if input.dtype.inexact:
            return real(input, *args, **keywords)
        given = signature.bind(input, *args, **keywords).arguments
        out = FUNCTIONS["clamp"](input, int(given.get("min_val", low)), int(given.get("max_val", high)))
        if not given.get("inplace"):
            return out
        input._assign(out.node, name)
        return input

    called.__name__ = name
    called.__doc__ = real.__doc__
    _public(like(called, real))


_limited("hardtanh", -1.0, 1.0)
_limited("relu6", 0.0, 6.0)


def _in_place(name: str) -> None:
    f = globals()[name]

    def called(input: Any, *args: Any, **keywords: Any) -> Any:
        return f(input, *args, **keywords, inplace=True)

    called.__name__ = name + "_"
    called.__doc__ = f"`{name}`, in place."
    signature = inspect.signature(f)
    own = [p for p in signature.parameters.values() if p.name != "inplace"]
    called.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
    _public(called)


for _name in "relu leaky_relu elu selu celu hardtanh threshold rrelu".split():
    _in_place(_name)


@_public
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Elements set to 0 with probability p, the others scaled by 1/(1 - p), while training."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: p is a probability, got {p}{at_user()}")
    if not training or p == 0:
        return input
    out = at_users_line(core_functional.dropout, (input, p, True), {})
    if inplace:
        input._assign(out.node, "dropout(inplace=True)")
        return input
    return out


def _silu(input: Any, inplace: bool = False) -> Any:
    if input.dtype.kind != "c":
        return _real_silu(input, inplace)
    found = input * FUNCTIONS["sigmoid"](input)
    return input.copy_(found) if inplace else found


def _gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    if tuple(target.shape) != tuple(
        input.shape
    ):  # losses alone compare what broadcasts with a warning there, this one quietly
        target, input = FUNCTIONS["broadcast_tensors"](target, input)
    return _same_shapes(input, target, var, full, eps, reduction)


_same_shapes = globals()["gaussian_nll_loss"]
_gaussian_nll_loss.__name__, _gaussian_nll_loss.__doc__ = "gaussian_nll_loss", _same_shapes.__doc__
_public(_gaussian_nll_loss)
_real_silu = globals()["silu"]
_silu.__name__, _silu.__doc__ = "silu", _real_silu.__doc__
_public(_silu)


def _of_channels(name: str, rank: int) -> None:
    whole = globals()[name]

    def called(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        if input.ndim in (rank + 1, rank + 2):
            return whole(input, p, training, inplace=inplace)
        warnings.warn(
            f"{name}: a tensor with {input.ndim} axes; its second axis is taken as channels", UserWarning, stacklevel=2
        )
        if input.ndim < 2:
            raise RuntimeError(f"{name}: expected at least two axes, got shape {tuple(input.shape)}{at_user()}")
        mask = dropout(FUNCTIONS["ones"](*input.shape[:2], *(1,) * (input.ndim - 2), dtype=input.dtype), p, training)
        return input * mask if not inplace else input.mul_(mask)

    called.__name__ = name
    called.__doc__ = whole.__doc__
    _public(called)


for _rank in (1, 2, 3):
    _of_channels(f"dropout{_rank}d", _rank)


@_public
def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """The input with elements around its last axes, by other values than a constant only behind one or two axes more."""
    check_padding(input.ndim, len(pad) // 2, mode)
    return _padded(input, pad, mode, value)


@_public
def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None,
    recompute_scale_factor: Any = None, antialias: bool = False,
) -> Any:  # fmt: skip
    """The input with its last axes in another size; RuntimeError for integers, unless by the nearest element."""
    if mode not in ("nearest", "nearest-exact") and not input.dtype.inexact:
        raise RuntimeError(
            f"interpolate: mode {mode!r} takes floating tensors, not {input.dtype.name}; cast it by .float(){at_user()}"
        )
    return _interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)


@_public
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None) -> Any:
    """The input over the root of its mean square, times the weight, in the dtype of the input, which isn't one of integers."""
    if not input.dtype.inexact:
        raise NotImplementedError(
            f"rms_norm takes floating tensors, not {input.dtype.name}; cast it by .float(){at_user()}"
        )
    out = _rms_norm(input, normalized_shape, weight, eps)
    return out if out.dtype is input.dtype else out.to(input.dtype)


@_public
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:  # fmt: skip
    """The cross entropy of the sigmoids of the input, in the dtype of the target."""
    if target.dtype is input.dtype:
        return _of_logits(input, target, weight, size_average, reduce, reduction, pos_weight)
    if not target.dtype.inexact:
        raise RuntimeError(
            f"binary_cross_entropy_with_logits: the target is {target.dtype.name}; cast it by "
            f".to(torch.{input.dtype.name}){at_user()}"
        )
    return _of_logits(input, target, weight, size_average, reduce, reduction, pos_weight).to(target.dtype)


@_public
def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None
) -> Any:
    """The old name of `interpolate`."""
    return globals()["interpolate"](input, size, scale_factor, mode, align_corners)


@_public
def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` by the nearest element."""
    return globals()["interpolate"](input, size, scale_factor, "nearest")


@_public
def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` linearly, with corners aligned."""
    return globals()["interpolate"](input, size, scale_factor, "bilinear", True)


for _name in (
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
):

    def _with_indices(*args: Any, _name: str = _name, **keywords: Any) -> Any:
        keywords["return_indices"] = True
        return globals()[_name](*args, **keywords)

    _with_indices.__name__ = f"{_name}_with_indices"
    _with_indices.__doc__ = f"`{_name}`, and where the maxima were."
    _public(like(_with_indices, globals()[_name]))


def _of_numbers(name: str, count: int) -> None:
    """A function along an axis, which takes tensors without axes as those with one."""
    along = globals()[name]
    signature = inspect.signature(along)

    @functools.wraps(along)
    def called(*args: Any, **keywords: Any) -> Any:
        given = signature.bind(*args, **keywords).arguments
        tensors = list(given)[:count]
        if given.get("dim", 1) in (0, -1) and not any(given[t].ndim for t in tensors):
            lifted = {**given, **{t: FUNCTIONS["reshape"](given[t], (1,)) for t in tensors}}
            out = along(**{k: v for k, v in lifted.items() if k != "out"})
            return FUNCTIONS["reshape"](out, ())
        return along(*args, **keywords)

    called.__signature__ = signature  # type: ignore[attr-defined]
    _public(called)


_of_numbers("normalize", 1)
_of_numbers("cosine_similarity", 2)


@_public
def multi_head_attention_forward(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any, in_proj_bias: Any,
    bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any, out_proj_bias: Any,
    training: bool = True, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Any = None, k_proj_weight: Any = None,
    v_proj_weight: Any = None, static_k: Any = None, static_v: Any = None, average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Any:  # fmt: skip
    """What `MultiheadAttention` computes, with weights that are given: queries (L, N, E) or (L, E), and the weights or None."""
    for what, given in (("static_k", static_k), ("static_v", static_v)):
        if given is not None:
            raise TypeError(f"multi_head_attention_forward: {what} isn't here; leave it out{at_user()}")
    if query.shape[-1] != embed_dim_to_check or embed_dim_to_check % num_heads:
        raise RuntimeError(
            f"multi_head_attention_forward: {query.shape[-1]} features of queries, {embed_dim_to_check} expected, in "
            f"{num_heads} heads{at_user()}"
        )
    layer = MultiheadAttention.__new__(MultiheadAttention)  # with these weights in place of parameters of its own
    separate = use_separate_proj_weight
    out = for_products((out_proj_weight, out_proj_bias))
    layer.__dict__.update(
        embed_dim=embed_dim_to_check, kdim=key.shape[-1], vdim=value.shape[-1], num_heads=num_heads, batch_first=False,
        in_proj_weight=None if separate else in_proj_weight, q_proj_weight=q_proj_weight if separate else None,
        k_proj_weight=k_proj_weight if separate else None, v_proj_weight=v_proj_weight if separate else None,
        in_proj_bias=in_proj_bias, bias_k=bias_k, bias_v=bias_v, add_zero_attn=add_zero_attn, dropout=dropout_p,
        training=training, out_proj=lambda x: core_functional.linear(x, *out),
    )  # fmt: skip
    layer.__dict__.update(for_products(dict(layer.__dict__)))
    given = (query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal)
    return at_users_line(MultiheadAttention.forward, (layer, *for_products(given)), {})


__getattr__ = getter("torch.nn.functional", globals())
