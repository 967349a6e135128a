"""Tables of vectors, looked up one by one or put together in bags."""

from __future__ import annotations

from typing import Any, Self

from adjoint import random
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, variable
from adjoint.tensors.located import at_user

from . import functional
from .module import Module, whole

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """What they share: the table and what happens to its rows."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool
    weight: Tensor

    def _set(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, max_norm: float | None,
        norm_type: float, scale_grad_by_freq: bool, sparse: bool, given: Any, dtype: Any,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        whole(name, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(f"{name}: padding_idx {padding_idx} is no row of {num_embeddings}{at_user()}")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if given is not None:
            table: Tensor = asarray(given, dtype=dtype)
            if table.shape != (num_embeddings, embedding_dim):
                expected = (num_embeddings, embedding_dim)
                raise ValueError(f"{name}: the table must have shape {expected}, not {table.shape}{at_user()}")
            self.weight = variable(table.detach())
            return
        drawn = random.normal((num_embeddings, embedding_dim), dtype=dtype)
        if padding_idx is not None:
            drawn[padding_idx] = 0.0
        self.weight = variable(drawn)

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, **options: Any) -> Self:
        """One with this table (rows, width), which isn't trained unless `freeze` is False; `options` as for the class."""
        table: Tensor = asarray(embeddings)
        if table.ndim != 2:
            raise ValueError(f"{cls.__name__}: a table has shape (rows, width), not {table.shape}{at_user()}")
        layer = cls(*table.shape, _weight=table, **options)
        layer.weight.requires_grad_(not freeze)
        return layer

    def extra_repr(self) -> str:
        """Its sizes, and what differs from the defaults."""
        shown = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            shown.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            shown.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            shown.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            shown.append("scale_grad_by_freq=True")
        if self.sparse:
            shown.append("sparse=True")
        return ", ".join(shown)


class Embedding(_Table):
    """Rows of a table by number: integers (...) to (..., embedding_dim).

    `weight` (num_embeddings, embedding_dim) starts standard normal, drawn from the default generator. The row
    `padding_idx` starts as zeros and gets no gradient. With `max_norm`, rows that are looked up and longer (by the norm of
    order `norm_type`) are first scaled down to it. `scale_grad_by_freq` divides a row's gradient by how often it is named.
    `sparse`: its gradient stays rows, and an optimizer touches no others: see `optim.Optimizer`. A number out of range is an
    IndexError.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        dtype: Any = None,
    ) -> None:
        self._set(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight, dtype
        )

    def forward(self, indices: Any) -> Tensor:
        """The rows (..., embedding_dim) that the integers (...) name."""
        return functional.embedding(
            indices, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )


class EmbeddingBag(_Table):
    """Rows of a table put together in bags: their sum, mean or largest numbers; see `functional.embedding_bag`.

    `weight` and the options are those of `Embedding`; the row `padding_idx` counts nothing.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        dtype: Any = None,
    ) -> None:
        self._set(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight, dtype
        )
        self.mode = mode
        self.include_last_offset = include_last_offset

    def forward(self, indices: Any, offsets: Any = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """The bags (bags, embedding_dim) of integers (bags, n), or of integers (n,) and where bags start (bags,)."""
        return functional.embedding_bag(
            indices, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Its sizes, and what differs from the defaults."""
        shown = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            shown.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            shown.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            shown.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        shown.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            shown.append(f"padding_idx={self.padding_idx}")
        return ", ".join(shown)
