"""The primitives: one record each, registered by importing these modules."""

from adjoint.primitives import (
    contraction,
    convolution,
    custom,
    elementwise,
    indexing,
    losses,
    normalized,
    ordering,
    pooling,
    random,
    reductions,
    sparse,
    structural,
)
from adjoint.primitives.core import ops

__all__ = [
    "contraction", "convolution", "custom", "elementwise", "indexing", "losses", "normalized", "ops", "ordering", "pooling",
    "random", "reductions", "sparse", "structural",
]  # fmt: skip
