"""torch.nn.parameter."""

from .._tensor import Parameter as Parameter

__all__ = ["Parameter"]
