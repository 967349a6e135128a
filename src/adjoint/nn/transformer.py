"""Transformers: layers of attention and of two affine maps, with normalization and shortcuts, and stacks of them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user

from . import functional, init
from .attention import MultiheadAttention
from .containers import ModuleList
from .linear import Linear
from .module import Module
from .normalization import LayerNorm
from .regularization import Dropout

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip

Activation = str | Callable[[Tensor], Tensor]


def _activation(name: str, given: Activation) -> Callable[[Tensor], Tensor]:
    if callable(given):
        return given
    if given not in ("relu", "gelu"):
        raise ValueError(f"{name}: activation is 'relu', 'gelu' or a function, not {given!r}{at_user()}")
    chosen: Callable[[Tensor], Tensor] = getattr(functional, given)
    return chosen


class TransformerEncoderLayer(Module):
    """Self-attention, then `linear2(activation(linear1(x)))`, each added to its input and normalized.

    Inputs are (L, N, d_model), with `batch_first` (N, L, d_model), or (L, d_model). The normalization comes after the sum, or
    with `norm_first` before attention and maps. Dropout acts on weights, activations and before each sum. `activation` is
    `"relu"`, `"gelu"` or a function. (A. Vaswani et al., "Attention is all you need", 2017.)
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation("TransformerEncoderLayer", activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The output, of the input's shape; masks are those of `MultiheadAttention`."""

        def attend(x: Tensor) -> Tensor:
            y, _ = self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)
            dropped: Tensor = self.dropout1(y)
            return dropped

        x = _beside(src, attend, self.norm1, self.norm_first)
        return _beside(x, self._maps, self.norm2, self.norm_first)

    def _maps(self, x: Tensor) -> Tensor:
        y: Tensor = self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        return y


def _beside(x: Tensor, branch: Callable[[Tensor], Tensor], norm: Module, norm_first: bool) -> Tensor:
    """x with what a branch makes of it added, normalized before the branch or after the sum."""
    y: Tensor = x + branch(norm(x)) if norm_first else norm(x + branch(x))
    return y


class TransformerDecoderLayer(Module):
    """`TransformerEncoderLayer` with attention to an encoder's output, the memory, in between.

    Inputs are (L, N, d_model) with memory (S, N, d_model), with `batch_first` N comes first; without N it is one example.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation("TransformerDecoderLayer", activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The output, of the target's shape; masks are those of `MultiheadAttention`, for the target and for the memory."""

        def attend(x: Tensor) -> Tensor:
            y, _ = self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)
            dropped: Tensor = self.dropout1(y)
            return dropped

        def look(x: Tensor) -> Tensor:
            masks = (memory_key_padding_mask, False, memory_mask)
            y, _ = self.multihead_attn(x, memory, memory, *masks, is_causal=memory_is_causal)
            dropped: Tensor = self.dropout2(y)
            return dropped

        x = _beside(tgt, attend, self.norm1, self.norm_first)
        x = _beside(x, look, self.norm2, self.norm_first)
        return _beside(x, self._maps, self.norm3, self.norm_first)

    def _maps(self, x: Tensor) -> Tensor:
        y: Tensor = self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        return y


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, which start with its values, and a normalization at the end if given.

    `enable_nested_tensor` and `mask_check` are taken for PyTorch's sake and change nothing.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The last layer's output, of the input's shape; all layers have the same masks."""
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, which start with its values, and a normalization at the end if given."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The last layer's output, of the target's shape; all layers have the same memory and masks."""
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder: a source (S, N, d_model) and a target (L, N, d_model) to (L, N, d_model).

    With `batch_first` N comes first. Matrices start as Xavier's uniform. `custom_encoder` and `custom_decoder` take the place of
    the stacks. (A. Vaswani et al., "Attention is all you need", 2017.)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        dtype: Any = None,
    ) -> None:
        options = (dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, dtype)
        norms = [LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype) for _ in range(2)]
        if custom_encoder is None:
            layer = TransformerEncoderLayer(d_model, nhead, *options)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norms[0])
        self.encoder = custom_encoder
        if custom_decoder is None:
            last = TransformerDecoderLayer(d_model, nhead, *options)
            custom_decoder = TransformerDecoder(last, num_decoder_layers, norms[1])
        self.decoder = custom_decoder
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The decoder's output, of the target's shape; masks are those of `MultiheadAttention`. Raises ValueError when the
        last axes aren't d_model long."""
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ValueError(
                f"Transformer: source and target must have {self.d_model} features; got {src.shape} and "
                f"{tgt.shape}{at_user()}"
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal, memory_is_causal)
        output: Tensor = self.decoder(tgt, memory, *masks)
        return output

    @staticmethod
    def generate_square_subsequent_mask(sz: int, dtype: Any = None) -> Tensor:
        """The causal mask (sz, sz) to add to scores: 0 up to the diagonal, -∞ above it."""
        return asarray(np.triu(np.full((sz, sz), -math.inf), 1), dtype=dtype or "float32")
