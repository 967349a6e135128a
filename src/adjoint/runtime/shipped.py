"""Machine code that comes with the package: what is wanted even by a program that ends before LLVM would be loaded.

`make native` makes it, of files in C, for any x86-64 that calls functions as System V does. It refers to nothing outside of
itself, and is kept as it lies in memory, behind a line that says where its functions begin. Elsewhere such a file is compiled
like all other code.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import struct
import sys
from typing import Any

from adjoint import _forks
from adjoint.runtime.executable import Mapped, executable
from adjoint.runtime.interrupts import Uninterrupted

__all__ = ["addresses", "held"]

X86 = ("x86_64", "amd64")
_lock = _forks.waited_for()
_found: dict[str, dict[str, int]] = {}  # for good: others know the addresses
_missed: set[str] = set()  # what isn't in the cache


def addresses(
    name: str, names: tuple[str, ...], left_open: tuple[int, int] | None = None, compiling: bool = True
) -> dict[str, int]:
    """Where the functions of a file in C of this package are, by their names; empty where there is no code yet. What didn't come
    with the package is compiled once LLVM is loaded, which it is for that with `compiling`; or it was by an earlier process.
    `left_open` is as in `code.Source`."""
    with _lock, Uninterrupted():
        if name not in _found:
            there = _mapped(f"{name}.x86_64", left_open)
            if there is not None:
                _keep(name, there, {one: there.address(one) for one in names})
        if name in _found:
            return _found[name]
        llvm = importlib.import_module("adjoint.runtime.llvm")
    with llvm.lock, Uninterrupted():  # a fork takes one lock after the other: nobody may wait for this one who has ours
        code = None if name in _found else _compiled(name, names, left_open, compiling)
        if code is not None:
            _keep(name, code, code.addresses)
        return _found.get(name, {})


def _keep(name: str, holder: Any, found: dict[str, int]) -> None:
    """Note where functions are, and keep what holds them, also while the interpreter ends."""
    _found[name] = found
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(holder))


@functools.cache
def held(file: str) -> Mapped | None:
    """The functions of one of the package's files, in memory; None where those are for other processors. Whether this one has
    what their instructions ask for is for the caller to know."""
    return _mapped(file, None)


def _mapped(file: str, left_open: tuple[int, int] | None) -> Mapped | None:
    """What came with the package, in memory; None where that is for other processors."""
    if os.name != "posix" or os.uname().machine not in X86 or sys.maxsize < 1 << 32:
        return None
    try:
        with open(os.path.join(os.path.dirname(__file__), file), "rb") as stream:
            contents = stream.read()
    except OSError:
        return None
    line, _, code = contents.partition(b"\n")
    before, after = [struct.pack("<Q", n) for n in left_open or (0, 0)]
    begins = [word.split("=") for word in line.decode().split()[1:]]
    return executable(code.replace(before, after) if left_open else code, {one: int(at) for one, at in begins})


def _compiled(name: str, names: tuple[str, ...], left_open: tuple[int, int] | None, compiling: bool) -> Any:
    """The code compiled from LLVM's text, or found in the cache; None where it can't be had so."""
    llvm, code = [importlib.import_module(f"adjoint.runtime.{module}") for module in ("llvm", "code")]
    if name in _missed and not compiling and not llvm.is_loaded():
        return None
    # asked for its facts first, LLVM's are remembered: the next process finds the code without loading it
    known = llvm.facts(loading=compiling) is not None
    source = code.in_c(name, names, left_open)
    found = code.find(source)
    if not found and known and (llvm.is_loaded() or (compiling and llvm.binding() is not None)):
        found = code.load([source])
    if not found:
        _missed.add(name)
    return found[0] if found else None
