"""einops' layers as modules of `adjoint.torch.nn`: what `einops.layers.torch` has, `Rearrange`, `Reduce` and `EinMix`.

einops' functions (`rearrange`, `reduce`, `repeat`, `einsum`, `pack`, `unpack`, `asnumpy`) take tensors as they are.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import nn
from ._names import FUNCTIONS

__all__ = ["EinMix", "Rearrange", "Reduce"]

_layers: Any = import_module("einops.layers")
_einmix: Any = import_module("einops.layers._einmix")


class Rearrange(_layers.RearrangeMixin, nn.Module):  # type: ignore[misc]
    """`einops.rearrange` of its input, by a pattern."""

    def forward(self, input: Any) -> Any:
        """The input with its axes in another order, split or joined."""
        return self._apply_recipe(input)


class Reduce(_layers.ReduceMixin, nn.Module):  # type: ignore[misc]
    """`einops.reduce` of its input, by a pattern and the name of a reduction."""

    def forward(self, input: Any) -> Any:
        """The input reduced over the axes that the pattern leaves out."""
        return self._apply_recipe(input)


class EinMix(_einmix._EinmixMixin, nn.Module):  # type: ignore[misc]
    """A linear layer over the axes that a pattern names, with a weight and a bias of given axes."""

    def _create_parameters(self, weight_shape: Any, weight_bound: float, bias_shape: Any, bias_bound: float) -> None:
        self.weight = nn.Parameter(FUNCTIONS["zeros"](*weight_shape).uniform_(-weight_bound, weight_bound))
        self.bias = (
            None
            if bias_shape is None
            else nn.Parameter(FUNCTIONS["zeros"](*bias_shape).uniform_(-bias_bound, bias_bound))
        )

    def _create_rearrange_layers(self, before: Any, before_lengths: Any, after: Any, after_lengths: Any) -> None:
        made: Any = Rearrange
        self.pre_rearrange = None if before is None else made(before, **before_lengths)
        self.post_rearrange = None if after is None else made(after, **after_lengths)

    def forward(self, input: Any) -> Any:
        """The product with the weight, over the axes that the pattern leaves out, plus the bias."""
        if self.pre_rearrange is not None:
            input = self.pre_rearrange(input)
        result = FUNCTIONS["einsum"](self.einsum_pattern, input, self.weight)
        if self.bias is not None:
            result = result + self.bias
        return result if self.post_rearrange is None else self.post_rearrange(result)
