"""Normalization under PyTorch's names."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.composites import normalization
from adjoint.graph import Node, topological
from adjoint.primitives.core import PLACEHOLDER, ops
from adjoint.primitives.random import EXAMPLES
from adjoint.shapes import as_shape
from adjoint.tensors import Tensor
from adjoint.tensors.located import at_user

from .recording import node_of, optional, recorded, scope, tensor_of

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]


def layer_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean) / √(variance + eps) * weight + bias` over the last axes, of shape `normalized_shape`; of x's shape.

    The variance is the mean square (no correction); weight and bias have `normalized_shape`. Raises ValueError when
    shapes don't fit. (J. Ba, J. Kiros and G. Hinton, "Layer normalization", 2016.)
    """
    shape = as_shape(normalized_shape, "layer_norm")
    given = (node_of(x), shape, optional(weight), optional(bias), eps)
    return recorded("layer_norm", normalization.layer_norm, *given)


def rms_norm(
    x: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """`x / √(mean of x² + eps) * weight` over the last axes, of shape `normalized_shape`; of x's shape.

    Without `eps`, the dtype's spacing at 1 is added. (B. Zhang and R. Sennrich, "Root mean square layer normalization",
    2019.)
    """
    shape = as_shape(normalized_shape, "rms_norm")
    return recorded("rms_norm", normalization.rms_norm, node_of(x), shape, optional(weight), eps)


def group_norm(
    x: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """`(x - mean) / √(variance + eps) * weight + bias` over groups of the channels of x (N, C, ...); of x's shape.

    Each image's channels are taken `C / num_groups` at a time, with all their pixels; weight and bias are (C,). Raises
    ValueError when shapes don't fit. (Y. Wu and K. He, "Group normalization", 2018.)
    """
    given = (node_of(x), num_groups, optional(weight), optional(bias), eps)
    return recorded("group_norm", normalization.group_norm, *given)


def batch_norm(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float | Tensor = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean) / √(variance + eps) * weight + bias` for each channel of x (N, C, ...); of x's shape.

    In training, mean and variance are those of the batch (without correction), and the running ones move towards them
    by `momentum`, the variance with the correction n / (n - 1): they get new values. Else the running ones are taken.
    All of them, weight and bias are (C,). A batch without values leaves the running ones as they are. Raises ValueError when
    shapes don't fit, or when a channel of a batch has a single value. (S. Ioffe and C. Szegedy, "Batch normalization", 2015.)
    """
    name = "batch_norm"
    if eps < 0 or (training and eps == 0):
        raise ValueError(f"{name}: eps is positive in training, and isn't negative, but {eps}{at_user()}")
    if (running_mean is None) != (running_var is None):
        raise ValueError(f"{name}: running_mean and running_var are both given, or neither{at_user()}")
    given = [optional(t) for t in (running_mean, running_var, weight, bias)]
    if not training and (running_mean is None or running_var is None):
        raise ValueError(f"{name}: without training, running_mean and running_var are needed{at_user()}")
    node = node_of(x)
    with scope(name, node, *[g for g in given if g is not None]):
        known = (None, None) if training else (given[0], given[1])
        y, mean, variance = normalization.batch_norm(node, *known, given[2], given[3], eps)
        if training and node.type.size and running_mean is not None:
            _refuse_examples(mean)
            count = node.type.size / node.shape[1]
            step = node_of(momentum) if isinstance(momentum, Tensor) else momentum
            for running, new in ((running_mean, mean), (running_var, ops.multiply(variance, count / (count - 1)))):
                if running is not None:
                    old = running.node
                    running.data = tensor_of(ops.add(old, ops.multiply(ops.subtract(new, old), step)))
        return tensor_of(y)


def instance_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean) / √(variance + eps) * weight + bias` for each channel of each example of x (N, C, ...); of x's shape.

    Mean and variance are the channel's own, and running ones (C,), if given, move towards their means over the batch by
    `momentum`, the variance with the correction n / (n - 1). Without `use_input_stats` the running ones are taken. (D. Ulyanov
    et al., "Instance normalization", 2016.) Raises ValueError when shapes don't fit.
    """
    name = "instance_norm"
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    node, given = node_of(x), [optional(t) for t in (running_mean, running_var, weight, bias)]
    if node.ndim < 3:
        raise ValueError(f"{name}: expected shape (N, C, ...), got {x.shape}{at_user()}")
    with scope(name, node, *[g for g in given if g is not None]):
        y, mean, variance = normalization.instance_norm(node, given[2], given[3], eps)
        count = node.type.size / max(node.shape[0] * node.shape[1], 1)
        for running, new in ((running_mean, mean), (running_var, ops.multiply(variance, count / max(count - 1, 1)))):
            if running is not None and node.type.size:
                _refuse_examples(new)
                average = ops.divide(ops.sum(new, (0,)), float(node.shape[0]))
                old = running.node
                running.data = tensor_of(ops.add(old, ops.multiply(ops.subtract(average, old), momentum)))
        return tensor_of(y)


def local_response_norm(x: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """`x / (k + alpha * s)^beta`, s the mean square over `size` channels around each, of x (N, C, ...); of x's shape.

    Channels outside count as zeros. (A. Krizhevsky et al., 2012.)
    """
    if x.ndim < 3 or size < 1:
        raise ValueError(
            f"local_response_norm: expected shape (N, C, ...) and a positive size; got {x.shape} and {size}{at_user()}"
        )
    return recorded("local_response_norm", normalization.local_response_norm, node_of(x), size, alpha, beta, k)


def _refuse_examples(mean: Node) -> None:
    """Raise RuntimeError where `vmap` would leave running statistics with a value for each example, or rather with none."""
    if not EXAMPLES.get():
        return
    for node in topological([mean], lambda x: x.value is None):
        if node.op is PLACEHOLDER and node.attributes.endswith("under vmap"):
            raise RuntimeError(
                "batch_norm: under vmap every example would give the running statistics another value; "
                f"call eval() first, or leave them out by track_running_stats=False{at_user()}"
            )
