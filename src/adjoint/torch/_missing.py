"""What a name that isn't here leads to: an error that names the nearest one that is."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["getter", "missing"]


def missing(where: str, name: str, known: Any) -> AttributeError:
    """The error for a name of PyTorch's that isn't here."""
    near = difflib.get_close_matches(name, [k for k in known if not k.startswith("_")], 1)
    hint = f"; the nearest name is {where}.{near[0]}" if near else ""
    return AttributeError(f"{where} has no {name!r} in adjoint{hint}")


def getter(where: str, names: Mapping[str, Any]) -> Callable[[str], Any]:
    """A module's `__getattr__`."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(where, name, names)

    return __getattr__
