"""The primitives: one record each, registered by importing these modules."""

from adjoint.primitives import contraction, custom, elementwise, indexing, random, reductions, structural
from adjoint.primitives.core import ops

__all__ = ["contraction", "custom", "elementwise", "indexing", "ops", "random", "reductions", "structural"]
