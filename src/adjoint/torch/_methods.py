"""The methods of tensors: the functions that have one, put onto the class."""

from __future__ import annotations

from ._names import METHODS
from ._tensor import Tensor

__all__ = ["install"]


def install(kind: type[Tensor]) -> None:
    """Put the methods onto the class."""
    for name, f in METHODS.items():
        if name.isidentifier():
            setattr(kind, name, f)
