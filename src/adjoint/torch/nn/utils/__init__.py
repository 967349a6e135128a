"""torch.nn.utils."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from adjoint.nn import utils as core_utils
from adjoint.tensors.assignment import rebind
from adjoint.tensors.located import at_user
from adjoint.tensors.named import variable_of
from adjoint.tracing import active

from ..._missing import getter
from ..._names import recorded_at_user, with_keywords
from ..._shared import lay_in
from ..._tensor import Core
from . import parametrizations, parametrize, prune, rnn, stateless
from .fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
    skip_init,
)
from .normed import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm

__all__ = [*(n for n in core_utils.__all__ if n not in globals()), "parametrizations", "parametrize", "prune", "rnn",
           "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "skip_init", "stateless",
           "clip_grad_norm", "remove_spectral_norm", "remove_weight_norm", "spectral_norm", "vector_to_parameters",
           "weight_norm"]  # fmt: skip


def vector_to_parameters(vec: Any, parameters: Any) -> None:
    """Let parameters lie in parts of a vector one after another, with its values."""
    given = list(parameters)
    count = sum([p.numel() for p in given])
    if vec.shape != (count,):
        raise ValueError(f"vector_to_parameters: {count} numbers don't fit a vector of shape {vec.shape}{at_user()}")
    start = 0
    for p in given:
        lay_in(p, vec.detach()[start : start + p.numel()].view(p.shape))
        start += p.numel()


def _foreach(f: Any) -> Any:
    """With the argument that says how PyTorch computes it. Gradients stay the same tensors, with other values."""

    def called(parameters: Any, *args: Any, foreach: Any = None, **keywords: Any) -> Any:
        given = [parameters] if isinstance(parameters, Core) else list(parameters)
        held = [(p, p.grad) for p in given if f.__name__ != "get_total_norm"]
        try:
            found = f(given, *args, **keywords)
        except FloatingPointError as error:
            raise RuntimeError(*error.args) from None
        for p, before in held if active() is None else ():
            variable, after = variable_of(p.node), p.grad
            if before is not None and after is not None and variable is not None and after is not before:
                rebind(before, after.node)
                variable.grad = before
        return found

    called.__name__, called.__doc__ = f.__name__, f.__doc__
    more = inspect.Parameter("foreach", inspect.Parameter.KEYWORD_ONLY, default=None)
    called.__signature__ = with_keywords(inspect.signature(f), more)  # type: ignore[attr-defined]
    return called


for _name in core_utils.__all__:
    if _name not in globals():  # submodules are this package's own
        globals()[_name] = recorded_at_user(getattr(core_utils, _name))
for _name in ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"):
    globals()[_name] = _foreach(globals()[_name])


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: Any = None) -> Any:  # fmt: skip
    """The name of `clip_grad_norm_` in PyTorch's first releases. Warns, as there."""
    warnings.warn(
        "torch.nn.utils.clip_grad_norm is an old name of torch.nn.utils.clip_grad_norm_", FutureWarning, stacklevel=2
    )
    return globals()["clip_grad_norm_"](parameters, max_norm, norm_type, error_if_nonfinite, foreach=foreach)


__getattr__ = getter("torch.nn.utils", globals())
