"""The functions of `torch.nn.functional` that `torch` has too, under the arguments that they have there.

Some have another order there (`torch.batch_norm` takes weight and bias before the running statistics, `torch.embedding` the
table before the indices), reductions by number (0 "none", 1 "mean", 2 "sum"), or an argument more for what computes them.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from adjoint.tensors.located import at_user

from .nn import functional

__all__ = ["NATIVES"]

# the same arguments in both places
SAME = """adaptive_avg_pool1d avg_pool1d bilinear celu channel_shuffle conv1d conv2d conv3d conv_transpose1d conv_transpose2d
conv_transpose3d cosine_similarity hardshrink max_pool1d max_pool2d max_pool3d pairwise_distance pdist pixel_shuffle
pixel_unshuffle prelu rms_norm selu threshold relu_ selu_ celu_ threshold_""".split()
# the arguments there, in order; `name=value` has that default, and `-> name` is the argument's name in torch.nn.functional
OTHER: dict[str, str] = {
    "alpha_dropout": "input p train->training",
    "batch_norm": "input weight bias running_mean running_var training momentum eps cudnn_enabled=None",
    "binary_cross_entropy_with_logits": "input target weight=None pos_weight=None reduction=0",
    "cosine_embedding_loss": "input1 input2 target margin=0.0 reduction=0",
    "ctc_loss": "log_probs targets input_lengths target_lengths blank=0 reduction=0 zero_infinity=False",
    "dropout": "input p train->training",
    "embedding": "weight indices->input padding_idx=-1 scale_grad_by_freq=False sparse=False",
    "feature_alpha_dropout": "input p train->training",
    "group_norm": "input num_groups weight=None bias=None eps=1e-05 cudnn_enabled=None",
    "hinge_embedding_loss": "input target margin=1.0 reduction=0",
    "instance_norm": "input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled=None",
    "kl_div": "input target reduction=0 log_target=False",
    "layer_norm": "input normalized_shape weight=None bias=None eps=1e-05 cudnn_enable=None",
    "margin_ranking_loss": "input1 input2 target margin=0.0 reduction=0",
    "poisson_nll_loss": "input target log_input full eps reduction",
    "rrelu": "input lower=0.125 upper=0.3333333333333333 training=False generator=None",
    "rrelu_": "input lower=0.125 upper=0.3333333333333333 training=False generator=None",
    "triplet_margin_loss": "anchor positive negative margin=1.0 p=2.0 eps=1e-06 swap=False reduction=0",
}  # fmt: skip
REDUCTIONS = ("none", "mean", "sum")  # none where it is left out: what PyTorch 2.13 does, though its documents say mean
NO_RESULT_OF = {"cudnn_enabled", "cudnn_enable"}  # they say what computes it


def _native(name: str, arguments: str) -> Callable[..., Any]:
    f = getattr(functional, name)
    renamed, parameters = {}, []
    for text in arguments.split():
        own, _, there = text.partition("->")
        own, _, default = own.partition("=")
        value = ast.literal_eval(default) if default else inspect.Parameter.empty
        renamed[own] = there or own
        parameters.append(inspect.Parameter(own, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    signature = inspect.Signature(parameters)

    def called(*args: Any, **keywords: Any) -> Any:
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"torch.{name}: {error}{at_user()}") from None
        bound.apply_defaults()
        given = {renamed[k]: v for k, v in bound.arguments.items() if k not in NO_RESULT_OF}
        reduction = given.get("reduction")
        if isinstance(reduction, int):
            if reduction not in (0, 1, 2):
                raise ValueError(f"torch.{name}: {reduction} is not a valid value for reduction{at_user()}")
            given["reduction"] = REDUCTIONS[reduction]
        if given.get("generator", "") is None:
            given.pop("generator")
        if given.get("padding_idx") == -1:
            given["padding_idx"] = None
        return f(given.pop("input"), **given) if "input" in given else f(**given)

    called.__name__ = called.__qualname__ = name
    called.__doc__ = f"`torch.nn.functional.{name}`, with the arguments that `torch.{name}` takes."
    called.__signature__ = signature  # type: ignore[attr-defined]
    return called


def adaptive_max_pool1d(input: Any, output_size: Any) -> Any:
    """The largest elements of so many windows, and their positions."""
    return functional.adaptive_max_pool1d_with_indices(input, output_size)


def embedding_bag(weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
                  per_sample_weights: Any = None, include_last_offset: bool = False, padding_idx: Any = None) -> Any:  # fmt: skip
    """Raises: `torch.embedding_bag` gives four tensors that its own reverse pass needs."""
    raise RuntimeError(f"torch.embedding_bag isn't here; use torch.nn.functional.embedding_bag{at_user()}")


NATIVES: dict[str, Callable[..., Any]] = {name: getattr(functional, name) for name in SAME}
NATIVES.update({name: _native(name, arguments) for name, arguments in OTHER.items()})
NATIVES.update(adaptive_max_pool1d=adaptive_max_pool1d, embedding_bag=embedding_bag)
