"""A table of vectors."""

from __future__ import annotations

from typing import Any

from adjoint import random
from adjoint.tensors import Tensor
from adjoint.tensors.functions import variable
from adjoint.tensors.located import at_user

from . import functional
from .module import Module

__all__ = ["Embedding"]


class Embedding(Module):
    """Rows of a table by number: integers (...) to (..., embedding_dim).

    `weight` (num_embeddings, embedding_dim) starts standard normal, drawn from the default generator. The row
    `padding_idx` starts as zeros and gets no gradient. A number out of range is an IndexError.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, dtype: Any = None
    ) -> None:
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(f"Embedding: padding_idx {padding_idx} is no row of {num_embeddings}{at_user()}")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        drawn = random.normal((num_embeddings, embedding_dim), dtype=dtype)
        if padding_idx is not None:
            drawn[padding_idx] = 0.0
        self.weight = variable(drawn)

    def forward(self, indices: Any) -> Tensor:
        """The rows (..., embedding_dim) that the integers (...) name."""
        return functional.embedding(indices, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """Its sizes."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
