"""Gradient clipping, under PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from adjoint.tensors import Tensor
from adjoint.tensors.functions import abs, clip, max, minimum, sqrt, stack, sum, tensor
from adjoint.tensors.located import at_user
from adjoint.transforms.modes import no_grad

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


@no_grad()
def get_total_norm(tensors: Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """The norm of all entries of these tensors together: `(Σ |x|^p)^(1/p)`, the largest for p = ∞; 0 of no tensors.

    Raises ValueError for a norm_type that isn't positive; with `error_if_nonfinite`, FloatingPointError for a norm that
    is infinite or NaN.
    """
    norm_type = float(norm_type)  # "inf" too
    if not norm_type > 0:
        raise ValueError(f"get_total_norm: norm_type must be positive, not {norm_type}")
    given = list(tensors)
    if not given:
        return tensor(0.0)
    total: Tensor
    if math.isinf(norm_type):
        total = max(stack([max(abs(x)) for x in given]))
    elif norm_type == 2:
        total = sqrt(sum(stack([sum(x * x) for x in given])))
    else:
        total = sum(stack([sum(abs(x) ** norm_type) for x in given])) ** (1 / norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise FloatingPointError(
            f"the norm of order {norm_type:g} of the gradients is {total.item()}; ad.gradient_flow(model) and "
            "ad.explain_nan(loss) show where that begins"
        )
    return total


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scale the gradients down together so that their norm is at most `max_norm`; gives the norm that they had.

    `.grad` of each parameter that has one becomes `grad * min(1, max_norm / (norm + 1e-6))`, as in PyTorch. Nothing is
    evaluated here: it joins the optimizer's step. Raises what `get_total_norm` raises.
    """
    given = _with_gradient(parameters)
    total = get_total_norm([gradient for _, gradient in given], norm_type, error_if_nonfinite)
    _scale(given, max_norm, total)
    return total


@no_grad()
def clip_grads_with_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor) -> None:
    """Scale the gradients down together, as `clip_grad_norm_` does, by a norm that is known: `get_total_norm`'s, or that of more
    gradients than these.

    >>> import adjoint as ad
    >>> x = ad.variable([3.0, 4.0])
    >>> (x * x).sum().backward()
    >>> ad.nn.utils.clip_grads_with_norm_([x], 1.0, ad.tensor(20.0))
    >>> x.grad
    Tensor([0.3, 0.4])
    """
    _scale(_with_gradient(parameters), max_norm, total_norm)


def _scale(given: list[tuple[Tensor, Tensor]], max_norm: float, total: Tensor) -> None:
    if given:
        factor = minimum(max_norm / (total + 1e-6), 1.0)
        for parameter, gradient in given:
            parameter.grad = gradient * factor


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clip every entry of the gradients to [-clip_value, clip_value]."""
    for parameter, gradient in _with_gradient(parameters):
        parameter.grad = clip(gradient, -clip_value, clip_value)


def _with_gradient(parameters: Tensor | Iterable[Tensor]) -> list[tuple[Tensor, Tensor]]:
    given: Any = [parameters] if isinstance(parameters, Tensor) else parameters
    if not isinstance(given, Iterable):
        hint = "model.parameters()" if hasattr(given, "parameters") or callable(given) else "parameters"
        raise TypeError(f"gradients of a {type(given).__name__}: give {hint}{at_user()}")
    return [(parameter, parameter.grad) for parameter in given if parameter.grad is not None]
