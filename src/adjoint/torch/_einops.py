"""What einops has to know to take tensors: einops finds a backend among the subclasses of its `AbstractBackend` in memory.

The subclass is made when `adjoint.torch` is imported and einops is installed, since a program imports einops before or after.
"""

from __future__ import annotations

from typing import Any

from adjoint._optional import try_load

from ._names import FUNCTIONS
from ._tensor import Tensor

FRAMEWORK = "adjoint.torch"  # einops looks for a module of that name before it asks a backend


class Operations:
    """The methods of einops' `AbstractBackend`, which stands behind this one among the bases."""

    framework_name = FRAMEWORK

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: Any) -> Any:
        return FUNCTIONS["tensor"](x, requires_grad=x.dtype.kind == "f")

    def to_numpy(self, x: Any) -> Any:
        return x.detach().numpy()

    def arange(self, start: int, stop: int) -> Any:
        return FUNCTIONS["arange"](start, stop)

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def transpose(self, x: Any, axes: Any) -> Any:
        return x.permute(axes)

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        """`operation` over several axes: min, max, sum, mean, prod, any or all."""
        if operation in ("min", "max"):
            operation = "a" + operation
        if operation != "prod":
            return getattr(x, operation)(dim=tuple(axes))
        for axis in sorted(axes, reverse=True):  # PyTorch's takes one axis
            x = x.prod(dim=axis)
        return x

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        return FUNCTIONS["stack"](tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return x.unsqueeze(new_position)

    def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
        lengths = [-1] * n_axes
        for position, length in pos2len.items():
            x = x.unsqueeze(position)
            lengths[position] = length
        return x.expand(lengths)

    def tile(self, x: Any, repeats: Any) -> Any:
        return x.repeat(repeats)

    def concat(self, tensors: list[Any], axis: int) -> Any:
        return FUNCTIONS["cat"](tensors, dim=axis)

    def is_float_type(self, x: Any) -> bool:
        return bool(x.dtype.is_floating_point)

    def einsum(self, pattern: str, *x: Any) -> Any:
        return FUNCTIONS["einsum"](pattern, *x)


BACKENDS: list[type] = []  # einops sees its subclasses weakly


def register() -> None:
    """Tell einops of these tensors, where it is installed."""
    backends = try_load("einops._backends")
    base = getattr(backends, "AbstractBackend", None)
    if base is not None:
        BACKENDS.append(type("AdjointBackend", (Operations, base), {}))
