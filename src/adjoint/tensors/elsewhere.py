"""Attributes of tensors that stand for names from elsewhere: to read one is the error that says what is here.

With a `__getattr__` every protocol that NumPy asks a tensor for would cost microseconds.
"""

from __future__ import annotations

from typing import Any, NoReturn

from adjoint import hints, hints_of_torch

__all__ = ["Elsewhere", "install", "is_elsewhere"]


class Elsewhere:
    """In place of an attribute that others have: to read it is the AttributeError that says what is here."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: Any = None) -> NoReturn:
        error = hints.attribute_error("Tensor", owner, self.name)
        if kind is not None and kind.__module__.startswith("adjoint.torch"):  # which hasn't it either
            error.args = tuple([said.replace(hints.PYTORCHS, "") for said in error.args])
        raise error


def install(kind: type) -> None:
    """Give the class of tensors an `Elsewhere` for each name that it hasn't."""
    for name in (*hints.TENSOR, *hints_of_torch.IN_PLACE, *hints_of_torch.METHODS):
        if not any(name in base.__dict__ for base in kind.__mro__):  # to look one up may load its module
            setattr(kind, name, Elsewhere(name))


def is_elsewhere(kind: type, name: str) -> bool:
    """Whether an attribute of a class only says what is here."""
    found = next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)
    return type(found) is Elsewhere
