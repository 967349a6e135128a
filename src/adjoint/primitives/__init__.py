"""The primitives: one record each, registered by importing these modules."""

from adjoint.primitives import (
    contraction,
    convolution,
    custom,
    elementwise,
    indexing,
    pooling,
    random,
    reductions,
    sparse,
    structural,
)
from adjoint.primitives.core import ops

__all__ = [
    "contraction", "convolution", "custom", "elementwise", "indexing", "ops", "pooling", "random", "reductions", "sparse",
    "structural",
]  # fmt: skip
