"""Layers that learn the size of their input from the first one they see."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

from adjoint import tracing
from adjoint.tensors import Tensor
from adjoint.tensors.functions import tensor as make_tensor
from adjoint.tensors.functions import variable, zeros
from adjoint.tensors.located import at_user
from adjoint.tensors.waiting import Waiting, wait

from .convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .module import Module
from .normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .states import BUFFER, PARAMETER, UNSAVED

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d",
    "LazyLinear", "refuse_lazy",
]  # fmt: skip


class Lazy(Module):
    """Base of the lazy layers: until the first call, parameters and buffers are placeholders, whose use is a ValueError.

    A call with data, or `load_state_dict`, makes the layer one of its ordinary class. The placeholders stay the same objects,
    so an optimizer may be given them before.
    """

    becomes: ClassVar[type[Module]]
    sized_by: ClassVar[str]  # the argument that is learned
    axis: ClassVar[int] = 1  # of the input, or of the weight in a state
    axis_of_weight: ClassVar[int] = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # An ordinary layer of size 1 checks the arguments and says which parameters and buffers there are.
        self._arguments = (args, kwargs)
        given = inspect.signature(self.becomes).bind(1, *args, **kwargs).arguments
        small = self._made(given.get("groups", 1))
        for name, kind in small._kinds.items():
            value = getattr(small, name)
            if value is None:
                empty = None
            elif kind == PARAMETER:
                empty = variable(zeros((0,), dtype=value.dtype))
            else:
                empty = zeros((0,), dtype=value.dtype)
            if kind == PARAMETER:
                self.register_parameter(name, empty)
            elif kind in (BUFFER, UNSAVED):
                self.register_buffer(name, empty, persistent=kind == BUFFER)
            if empty is not None:
                wait(self.__dict__[name])
        for name, value in small.__dict__.items():
            if name not in small._kinds and name not in self.__dict__ and name != self.sized_by:
                setattr(self, name, value)

    def _made(self, size: int) -> Module:
        args, kwargs = self._arguments
        return self.becomes(size, *args, **kwargs)

    def extra_repr(self) -> str:
        """The arguments that it was given."""
        args, kwargs = self._arguments
        return ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])

    def has_uninitialized_params(self) -> bool:
        """Whether it is still waiting for its first input."""
        return True

    def initialize_parameters(self, x: Any) -> None:
        """Become the ordinary layer for an input like x. Raises ValueError for one with too few axes."""
        shape = x.shape
        axis = self.axis if self.axis < 0 else self._channels(len(shape))
        if not shape or axis >= len(shape):
            raise ValueError(f"{type(self).__name__}: an input of shape {shape} has no axis {axis}{at_user()}")
        self._become(shape[axis])

    def _channels(self, ndim: int) -> int:
        """The axis of the channels: one example of a convolution may come without an axis for the batch."""
        rank = getattr(self.becomes, "rank", None)
        return 0 if rank is not None and ndim == rank + 1 else 1

    def _become(self, size: int) -> None:
        tracing.refuse(self, f"the size of {type(self).__name__}")
        made, training = self._made(size), self.training
        for name, kind in made._kinds.items():
            placeholder, value = self.__dict__.get(name), getattr(made, name)
            if isinstance(placeholder, Waiting) and isinstance(value, Tensor):
                frozen = kind == PARAMETER and not placeholder.requires_grad
                if value.dtype is not placeholder.dtype:  # the layer was cast before it had an input
                    value = make_tensor(value.detach().astype(placeholder.dtype), requires_grad=value.requires_grad)
                placeholder.become(value)  # the same name, which an optimizer may hold, of another variable
                if frozen:
                    placeholder.requires_grad_(False)
                made.__dict__[name] = placeholder
        state = self.__dict__
        hooks = {name: state[name] for name in ("_hooks", "_state_hooks") if name in state}
        state.clear()
        state.update(made.__dict__, training=training, **hooks)
        object.__setattr__(self, "__class__", type(made))
        tracing.changed()

    def _prepare_to_load(self, state: Mapping[str, Any], prefix: str) -> None:
        """Become the ordinary layer that the state of this name comes from, if it has one."""
        weight = state.get(f"{prefix}weight", state.get(f"{prefix}running_mean"))
        if weight is not None and tuple(weight.shape) != (0,):
            groups = getattr(self, "groups", 1)
            self._become(weight.shape[self.axis_of_weight] * (groups if self.axis_of_weight else 1))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The output of the layer, which becomes an ordinary one on the way."""
        self.initialize_parameters(args[0] if args else next(iter(kwargs.values())))
        return self(*args, **kwargs)


def refuse_lazy(name: str, module: Module) -> None:
    """Raise ValueError where a module has lazy layers, whose parameters are placeholders until their first input."""
    for path, part in module.named_modules():
        if isinstance(part, Lazy):
            where = f" ({path})" if path else ""
            raise ValueError(
                f"{name}: {part!r}{where} has seen no input, so its parameters have no shape yet{at_user()}"
            )


class LazyLinear(Lazy):
    """`Linear` whose `in_features` is the length of the first input's last axis: `LazyLinear(out_features, bias=True)`."""

    becomes, sized_by, axis, axis_of_weight = Linear, "in_features", -1, 1


class LazyConv1d(Lazy):
    """`Conv1d` whose `in_channels` are those of its first input: `LazyConv1d(out_channels, kernel_size, ...)`."""

    becomes, sized_by, axis_of_weight = Conv1d, "in_channels", 1


class LazyConv2d(Lazy):
    """`Conv2d` whose `in_channels` are those of its first input: `LazyConv2d(out_channels, kernel_size, ...)`."""

    becomes, sized_by, axis_of_weight = Conv2d, "in_channels", 1


class LazyConv3d(Lazy):
    """`Conv3d` whose `in_channels` are those of its first input: `LazyConv3d(out_channels, kernel_size, ...)`."""

    becomes, sized_by, axis_of_weight = Conv3d, "in_channels", 1


class LazyConvTranspose1d(Lazy):
    """`ConvTranspose1d` whose `in_channels` are those of its first input."""

    becomes, sized_by = ConvTranspose1d, "in_channels"


class LazyConvTranspose2d(Lazy):
    """`ConvTranspose2d` whose `in_channels` are those of its first input."""

    becomes, sized_by = ConvTranspose2d, "in_channels"


class LazyConvTranspose3d(Lazy):
    """`ConvTranspose3d` whose `in_channels` are those of its first input."""

    becomes, sized_by = ConvTranspose3d, "in_channels"


class LazyBatchNorm1d(Lazy):
    """`BatchNorm1d` whose `num_features` are those of its first input: `LazyBatchNorm1d(eps=1e-5, ...)`."""

    becomes, sized_by = BatchNorm1d, "num_features"


class LazyBatchNorm2d(Lazy):
    """`BatchNorm2d` whose `num_features` are those of its first input."""

    becomes, sized_by = BatchNorm2d, "num_features"


class LazyBatchNorm3d(Lazy):
    """`BatchNorm3d` whose `num_features` are those of its first input."""

    becomes, sized_by = BatchNorm3d, "num_features"


class _LazyInstanceNorm(Lazy):
    """What they share: PyTorch's defaults, which are not those of the ordinary layers."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(eps, momentum, affine, track_running_stats, dtype, bias=bias)


class LazyInstanceNorm1d(_LazyInstanceNorm):
    """`InstanceNorm1d` whose `num_features` are those of its first input.

    As in PyTorch `affine` and `track_running_stats` are True here unless given.
    """

    becomes, sized_by = InstanceNorm1d, "num_features"


class LazyInstanceNorm2d(_LazyInstanceNorm):
    """`InstanceNorm2d` whose `num_features` are those of its first input; see `LazyInstanceNorm1d`."""

    becomes, sized_by = InstanceNorm2d, "num_features"


class LazyInstanceNorm3d(_LazyInstanceNorm):
    """`InstanceNorm3d` whose `num_features` are those of its first input; see `LazyInstanceNorm1d`."""

    becomes, sized_by = InstanceNorm3d, "num_features"
