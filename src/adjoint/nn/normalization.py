"""Normalization layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from adjoint.dtypes import default_dtype
from adjoint.shapes import as_shape
from adjoint.tensors import Tensor
from adjoint.tensors.functions import ones, variable, zeros
from adjoint.tensors.located import at_user

from . import functional
from .module import Module, whole

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
    "LocalResponseNorm", "RMSNorm",
]  # fmt: skip


class _BatchNorm(Module):
    """What both share: they differ in the shapes that they take."""

    ranks: ClassVar[tuple[int, ...]]
    expected: ClassVar[str]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        whole(type(self).__name__, num_features=num_features)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        kind = default_dtype() if dtype is None else dtype
        self.weight = variable(ones(num_features, dtype=kind)) if affine else None
        self.bias = variable(zeros(num_features, dtype=kind)) if affine and bias else None
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, dtype=kind) if tracked else None)
        self.register_buffer("running_var", ones(num_features, dtype=kind) if tracked else None)
        self.register_buffer("num_batches_tracked", zeros((), dtype="int64") if tracked else None)

    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None
    _since = ("num_batches_tracked",)
    # Mean, variance and number of values of a channel, where they are not of this batch alone: see `distributed`.
    statistics: Callable[[Tensor], tuple[Tensor, Tensor, Tensor]] | None = None

    def _by_others(self, x: Tensor, statistics: Callable[..., Any], step: float | Tensor) -> Tensor:
        """Normalized by a mean and a variance that others work out; the running ones move towards them."""
        mean, variance, count = statistics(x)
        if self.training and self.running_mean is not None and self.running_var is not None:
            corrected = variance * (count / (count - 1))
            for running, new in ((self.running_mean, mean), (self.running_var, corrected)):
                running.data = running + (new.detach() - running) * step
        return functional.batch_norm(x, mean, variance, self.weight, self.bias, False, 0.0, self.eps)

    def reset_running_stats(self) -> None:
        """Forget what was seen: mean 0, variance 1, no batches."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            self.running_mean.data = zeros(self.num_features, dtype=self.running_mean.dtype)
            self.running_var.data = ones(self.num_features, dtype=self.running_var.dtype)
            self.num_batches_tracked.data = zeros((), dtype="int64")

    def forward(self, x: Tensor) -> Tensor:
        """The normalized input, of its shape."""
        if x.ndim not in self.ranks:
            raise ValueError(f"{self!r}: expected shape {self.expected}, got {x.shape}{at_user()}")
        running = (self.running_mean, self.running_var)
        step: float | Tensor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.data = self.num_batches_tracked + 1
            if self.momentum is None:  # the mean over all batches
                step = 1.0 / self.num_batches_tracked.astype(x.dtype)
        by_batch = self.training or self.running_mean is None
        if by_batch and self.statistics is not None:
            return self._by_others(x, self.statistics, step)
        return functional.batch_norm(x, *running, self.weight, self.bias, by_batch, step, self.eps)

    def extra_repr(self) -> str:
        """Its options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Each feature of a batch (N, C) or (N, C, L) normalized over the batch; see `functional.batch_norm`.

    In training mode the batch's own mean and variance are taken, and the buffers `running_mean` and `running_var` move
    towards them by `momentum` (None: they become the mean over all batches); in evaluation mode those are taken. Without
    `track_running_stats` there are none, and it is always the batch's own.
    """

    ranks = (2, 3)
    expected = "(N, C) or (N, C, L)"


class BatchNorm2d(_BatchNorm):
    """Each channel of images (N, C, H, W) normalized over the batch and its pixels; see `BatchNorm1d`."""

    ranks = (4,)
    expected = "(N, C, H, W)"


class BatchNorm3d(_BatchNorm):
    """Each channel of volumes (N, C, D, H, W) normalized over the batch and its voxels; see `BatchNorm1d`."""

    ranks = (5,)
    expected = "(N, C, D, H, W)"


class _InstanceNorm(_BatchNorm):
    """What they share: each example by itself; they differ in the shapes that they take."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """The normalized input, of its shape; one example without N will do. Raises ValueError for other shapes."""
        if x.ndim not in (self.ranks[0] - 1, self.ranks[0]) or x.shape[-self.ranks[0] + 1] != self.num_features:
            raise ValueError(f"{self!r}: expected shape {self.expected}, got {x.shape}{at_user()}")
        by_itself = self.training or self.running_mean is None
        whole = x if x.ndim == self.ranks[0] else x[None]
        step = 0.0 if self.momentum is None else self.momentum
        y = functional.instance_norm(
            whole, self.running_mean, self.running_var, self.weight, self.bias, by_itself, step, self.eps
        )
        return y if whole is x else y[0]


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each signal (N, C, L) normalized by itself; see `functional.instance_norm`.

    Without `affine` there is no weight or bias; with `track_running_stats` evaluation mode takes running means and variances.
    """

    ranks = (3,)
    expected = "(N, C, L) or (C, L)"


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each image (N, C, H, W) normalized by itself; see `InstanceNorm1d`."""

    ranks = (4,)
    expected = "(N, C, H, W) or (C, H, W)"


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each volume (N, C, D, H, W) normalized by itself; see `InstanceNorm1d`."""

    ranks = (5,)
    expected = "(N, C, D, H, W) or (C, D, H, W)"


class LocalResponseNorm(Module):
    """Each channel of (N, C, ...) divided by a power of its neighbours' mean square; see `functional.local_response_norm`."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, x: Tensor) -> Tensor:
        """The normalized input, of its shape."""
        return functional.local_response_norm(x, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Its options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LayerNorm(Module):
    """The last axes, of shape `normalized_shape`, normalized for each example; see `functional.layer_norm`."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        self.normalized_shape = as_shape(normalized_shape, "LayerNorm")
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = variable(ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self.bias = variable(zeros(self.normalized_shape, dtype=dtype)) if elementwise_affine and bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The normalized input, of its shape."""
        return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Its options."""
        shown = f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        return f"{shown}, bias={self.bias is not None}"


class RMSNorm(Module):
    """The last axes, of shape `normalized_shape`, divided by the root of their mean square; see `functional.rms_norm`."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        dtype: Any = None,
    ) -> None:
        self.normalized_shape = as_shape(normalized_shape, "RMSNorm")
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = variable(ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None

    def forward(self, x: Tensor) -> Tensor:
        """The normalized input, of its shape."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Its options."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """The channels of each image normalized in `num_groups` groups; see `functional.group_norm`."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        whole("GroupNorm", num_groups=num_groups, num_channels=num_channels)
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels don't divide into {num_groups} groups{at_user()}")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.weight = variable(ones(num_channels, dtype=dtype)) if affine else None
        self.bias = variable(zeros(num_channels, dtype=dtype)) if affine and bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The normalized input (N, C, ...), of its shape."""
        return functional.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Its options."""
        shown = f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"
        return f"{shown}, bias={self.bias is not None}"
