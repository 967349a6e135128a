"""PyTorch's files inside of its packages, which programs import from: `from torch.optim.optimizer import Optimizer`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__ = ["add_files"]


class _File(ModuleType):
    """A file of a package: what the package has is found in it."""

    def __init__(self, package: ModuleType, name: str) -> None:
        super().__init__(f"{package.__name__}.{name}", f"What {package.__name__} has.")
        self._package = package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what tools look for in every module
            raise AttributeError(name)
        return getattr(self._package, name)


def add_files(package: str, names: str) -> None:
    """Let a package's names be imported from files of these names, which are attributes of it where it has no others."""
    parent = sys.modules[package]
    for name in names.split():
        made = sys.modules[f"{package}.{name}"] = _File(parent, name)
        parent.__dict__.setdefault(name, made)
