"""Machine code as functions of Python's own: called as those in C are, in a third of the time that ctypes takes.

Such a function is an address and some numbers that it finds in its `self`, a `bytes` object. What it gives, takes and calls are
objects and functions of Python's C interface, the part that is the same in all versions.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.runtime.memory import LAYOUT

__all__ = ["function_of_c", "made"]

NO_ARGUMENT, ONE_ARGUMENT, ARGUMENTS = 0x4, 0x8, 0x80  # METH_NOARGS, METH_O, METH_FASTCALL


class _Definition(ctypes.Structure):
    """What Python is told of a function in C (PyMethodDef)."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@functools.cache
def _definition(name: str, address: int, flags: int) -> _Definition:
    """Kept for good, as is the code: a function may outlive whoever made it."""
    return _Definition(name.encode(), address, flags, None)


@functools.cache
def _make() -> Callable[..., Any]:
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Definition), ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )


def made(name: str, address: int, numbers: Sequence[int], takes: bool | None) -> Callable[..., Any] | None:
    """The function whose code is at an address, and that finds these numbers at `LAYOUT.contents` of its first argument; it
    takes one object, or none, or with `takes` None any number of them. None where Python can't have such functions."""
    if LAYOUT is None or sys.implementation.name != "cpython":
        return None
    definition = _definition(name, address, ARGUMENTS if takes is None else ONE_ARGUMENT if takes else NO_ARGUMENT)
    found: Callable[..., Any] = _make()(definition, struct.pack(f"{len(numbers)}q", *numbers), None)
    return found


@functools.cache
def function_of_c(name: str) -> int:
    """The address of a function of Python's C interface."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
