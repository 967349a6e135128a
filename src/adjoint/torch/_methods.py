"""The methods of tensors: the functions that have one, put onto the class."""

from __future__ import annotations

import difflib
from typing import Any

from ._names import METHODS
from ._tensor import Tensor

__all__ = ["install"]

KEPT = {"item", "tolist", "numpy", "backward", "retain_grad", "requires_grad_", "ndim"}  # the core's, as they are


class Elsewhere:
    """In place of a core method that PyTorch hasn't: to ask for it is an error, so that `hasattr` says what PyTorch's does."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, kind: Any = None) -> Any:
        near = difflib.get_close_matches(self.name, METHODS, 1)
        hint = f"; the nearest method is {near[0]}" if near else ""
        raise AttributeError(f"'Tensor' object has no attribute {self.name!r} in PyTorch{hint}")


def install(kind: type[Tensor]) -> None:
    """Put the methods onto the class."""
    for name, f in METHODS.items():
        if name.isidentifier():
            setattr(kind, name, f)
