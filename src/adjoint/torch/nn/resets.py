"""What programs call and override of PyTorch's layers besides `forward`: `reset_parameters`, which draws the parameters anew, and
`_conv_forward`, a convolution with other weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._tensor import as_torch
from . import functional, init
from .dtypes import refuse_mixed

__all__ = ["CONVOLUTIONS", "RESETS", "let_convolve"]

CONVOLUTIONS = ("Conv1d", "Conv2d", "Conv3d")


def convolved(self: Any, input: Any, weight: Any, bias: Any) -> Any:
    """The layer's convolution with these weights."""
    padding, rank = self.padding, weight.ndim - 2
    if self.padding_mode != "zeros":
        if isinstance(padding, str):
            total = [d * (k - 1) for d, k in zip(_each(self.dilation, rank), weight.shape[2:], strict=True)]
            around = [(n // 2, n - n // 2) if padding == "same" else (0, 0) for n in total]
        else:
            around = [(n, n) for n in _each(padding, rank)]
        input = functional.pad(input, [n for pair in reversed(around) for n in pair], mode=self.padding_mode)
        padding = 0
    f = getattr(functional, f"conv{rank}d")
    return f(input, weight, bias, self.stride, padding, self.dilation, self.groups)


def let_convolve(layer: Any, core: Any) -> None:
    """Give a convolution's class `_conv_forward`, which `forward` calls where a subclass has its own."""

    def forward(self: Any, input: Any) -> Any:
        refuse_mixed(self, core.__name__, (input,))
        if type(self)._conv_forward is convolved:
            return as_torch(core.forward(self, input))
        return self._conv_forward(input, self.weight, self.bias)

    layer._conv_forward, layer.forward = convolved, forward


def _each(value: Any, rank: int) -> tuple[int, ...]:
    return (value,) * rank if isinstance(value, int) else tuple(value)


def _by_inputs(self: Any) -> None:
    """Draw weight and bias anew, uniform below 1/√inputs."""
    init.kaiming_uniform_(self.weight, a=math.sqrt(5))
    if self.bias is not None:
        inputs = math.prod(self.weight.shape[1:])
        bound = 1 / math.sqrt(inputs) if inputs else 0.0
        init.uniform_(self.bias, -bound, bound)


def _bilinear(self: Any) -> None:
    """Draw weight and bias anew, uniform below 1/√inputs."""
    bound = 1 / math.sqrt(self.weight.shape[1])
    for p in self.parameters(recurse=False):
        init.uniform_(p, -bound, bound)


def _table(self: Any) -> None:
    """Draw the table anew, normal, with a row of zeros for padding."""
    init.normal_(self.weight)
    if self.padding_idx is not None:
        self.weight.data[self.padding_idx] = 0.0


def _norm(self: Any) -> None:
    """Weights 1, biases 0, and statistics as at first."""
    if getattr(self, "running_mean", None) is not None:
        self.reset_running_stats()
    if getattr(self, "weight", None) is not None:
        init.ones_(self.weight)
    if getattr(self, "bias", None) is not None:
        init.zeros_(self.bias)


def _recurrent(self: Any) -> None:
    """Draw all parameters anew, uniform below 1/√hidden_size."""
    bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
    for p in self.parameters():
        init.uniform_(p, -bound, bound)


def _attention(self: Any) -> None:
    """Draw the projections anew, as Xavier's; biases are 0."""
    for p in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
        if p is not None:
            init.xavier_uniform_(p)
    if self.in_proj_bias is not None:
        init.zeros_(self.in_proj_bias)
        init.zeros_(self.out_proj.bias)
    for p in (self.bias_k, self.bias_v):
        if p is not None:
            init.xavier_normal_(p)


def _transformer(self: Any) -> None:
    """Draw all matrices anew, as Xavier's."""
    for p in self.parameters():
        if p.ndim > 1:
            init.xavier_uniform_(p)


RESETS: dict[str, tuple[str, Callable[[Any], None]]] = {  # the method's name, and what it does
    **dict.fromkeys(
        ["Linear", *(f"Conv{kind}{n}d" for kind in ("", "Transpose") for n in (1, 2, 3))],
        ("reset_parameters", _by_inputs),
    ),
    "Bilinear": ("reset_parameters", _bilinear),
    **dict.fromkeys(["Embedding", "EmbeddingBag"], ("reset_parameters", _table)),
    **dict.fromkeys(
        [
            "LayerNorm",
            "GroupNorm",
            "RMSNorm",
            *(f"{kind}Norm{n}d" for kind in ("Batch", "Instance") for n in (1, 2, 3)),
        ],
        ("reset_parameters", _norm),
    ),
    **dict.fromkeys("RNN LSTM GRU RNNCell LSTMCell GRUCell".split(), ("reset_parameters", _recurrent)),
    "MultiheadAttention": ("_reset_parameters", _attention),
    "Transformer": ("_reset_parameters", _transformer),
}
