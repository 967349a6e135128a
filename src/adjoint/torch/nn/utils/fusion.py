"""Layers made of two: a convolution, or a linear layer, and the batch normalization behind it, for inference."""

from __future__ import annotations

import copy
from typing import Any

from adjoint.tensors.located import at_user

from ..._names import FUNCTIONS
from ..._tensor import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "skip_init"]


def _fused(
    weight: Any, bias: Any, mean: Any, var: Any, eps: float, scale: Any, shift: Any, axis: int
) -> tuple[Any, Any]:
    factor = FUNCTIONS["rsqrt"](var + eps)
    factor = factor if scale is None else factor * scale
    offset = -mean * factor if bias is None else (bias - mean) * factor
    sizes = [1] * weight.ndim
    sizes[axis] = -1
    made = weight * factor.reshape(sizes), offset if shift is None else offset + shift
    first, second = (Parameter(t.detach().to(weight.dtype), weight.requires_grad) for t in made)
    return first, second


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Any, Any]:
    """Weight and bias of a convolution that normalizes too, by running mean and variance, weight and bias."""
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """Weight and bias of a linear layer that normalizes too, by running mean and variance, weight and bias."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _evaluating(name: str, layer: Any, bn: Any) -> Any:
    if layer.training or bn.training:
        raise AssertionError(f"{name}: both layers evaluate, after eval(){at_user()}")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError(f"{name}: the normalization needs running statistics{at_user()}")
    return copy.deepcopy(layer)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that gives what `bn(conv(x))` does, when both evaluate."""
    made = _evaluating("fuse_conv_bn_eval", conv, bn)
    made.weight, made.bias = fuse_conv_bn_weights(
        conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return made


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that gives what `bn(linear(x))` does, when both evaluate."""
    made = _evaluating("fuse_linear_bn_eval", linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            f"fuse_linear_bn_eval: {linear.out_features} outputs, {bn.num_features} to normalize{at_user()}"
        )
    made.weight, made.bias = fuse_linear_bn_weights(
        linear.weight, linear.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return made


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module of this class; its parameters have some values, as those that it is made with are some."""
    return module_cls(*args, **kwargs)
