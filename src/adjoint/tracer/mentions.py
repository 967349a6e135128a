"""What a piece of the user's code can read by itself: the names in its bytecode; and whose code is whose."""

from __future__ import annotations

import dis
import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

from adjoint._tuples import NamedTuple

from adjoint.tensors.located import PACKAGE

__all__ = ["MADE_IN_PYTHON", "Mentions", "Users", "lines_that_store", "mentions"]

STANDARD = os.path.dirname(os.__file__) + os.sep
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

GLOBALS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"})
ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM"})
BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr"})  # read or write the attribute that a string names
BESIDE = ("LOAD_", "PUSH_NULL", "PRECALL", "KW_NAMES", "CACHE", "EXTENDED_ARG")  # what only puts arguments side by side
READ_ALL = frozenset({"vars", "__dict__", "dir", "eval", "exec", "attrgetter", "methodcaller", "__getattribute__"})
IMPORTS, LOADED = frozenset({"__import__", "import_module"}), frozenset({"sys", "modules"})
MADE_IN_PYTHON = 1 << 9  # `Py_TPFLAGS_HEAPTYPE`
STORES = {
    "attribute": ("STORE_ATTR", "DELETE_ATTR"),
    "name": ("STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL", "DELETE_DEREF"),
    "contents": ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"),
}


class Mentions(NamedTuple):
    """The names in a code object.

    variables   of globals and built-ins
    attributes  of attributes: those that the code names, and strings that may be meant as such
    doubtful    of attributes that the code can find missing and go on
    everything  whether it may read any attribute of what it gets hold of
    modules     what it imports: names of modules, which may be relative
    any_module  whether it may get hold of any module by a name
    """

    variables: tuple[str, ...]
    attributes: frozenset[str]
    doubtful: frozenset[str]
    everything: bool
    modules: tuple[str, ...]
    any_module: bool


@lru_cache(maxsize=4096)
def mentions(code: CodeType) -> Mentions:
    """What a code object mentions, without the functions inside it."""
    variables: dict[str, None] = {}
    attributes = set()
    strings = {name for x in code.co_consts for text in _strings(x) for name in _names_in(text)}
    everything = False
    modules: dict[str, None] = {}
    by_name = named = (
        False  # between the name of `getattr` and its call; whether a string as it is was its last argument
    )
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        if name in GLOBALS:
            variables[value] = None
            if value in BY_NAME:
                by_name, named = True, False
            everything = everything or value in READ_ALL
        elif name in ATTRIBUTES:
            attributes.add(value)
            everything = everything or value in READ_ALL
        elif name == "IMPORT_NAME":
            modules[value] = None
        if name.startswith("CALL"):
            everything = everything or (by_name and not named)
            by_name = False
        elif not name.startswith(BESIDE):
            named = False
        elif isinstance(value, str) and name.startswith("LOAD_CONST"):
            named = True
    doubtful = attributes if "AttributeError" in variables else set()
    if any(name in variables for name in BY_NAME):
        doubtful = doubtful | strings
    if "globals" in variables:
        variables |= dict.fromkeys(sorted(strings))
    known = frozenset(attributes | strings), frozenset(doubtful)
    read = attributes | {*variables}
    return Mentions(tuple(variables), *known, everything, tuple(modules), bool(read & IMPORTS) or read >= LOADED)


def _names_in(text: str) -> list[str]:
    """The names of attributes that a string may mean: itself, or those in a format such as `"{0.rate}"`."""
    if text.isidentifier():
        return [text]
    return re.findall(r"[.\[]([^\W\d]\w*)", text) if "{" in text else []


def _strings(constant: Any) -> Iterator[str]:
    if isinstance(constant, str):
        yield constant
    elif isinstance(constant, tuple | frozenset):
        for x in constant:
            yield from _strings(x)


def lines_that_store(code: CodeType, kind: str, name: str | None) -> list[int]:
    """The lines of code that store to an attribute or a name, or to the contents of something."""
    lines: dict[int, None] = {}
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.starts_line is not None:
            line = line_at(instruction, line)
        if instruction.opname in STORES[kind] and (name is None or instruction.argval == name):
            lines[line] = None
        elif kind == "contents" and instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("="):
            lines[line] = None  # `a += 1` changes what `a` is, and then stores it to `a`
    return list(lines)


def line_at(instruction: Any, line: int) -> int:
    """The line of an instruction that starts one: a field of its own since Python 3.13."""
    found = getattr(instruction, "line_number", None)
    if found is None:
        found = instruction.starts_line
    return line if found is None or isinstance(found, bool) else int(found)


class Users:
    """Tells the user's code and objects from those of adjoint, Python and installed packages.

    An installed package is the user's own if the jitted function itself is part of it.
    """

    def __init__(self, code: CodeType | None) -> None:
        self._home = "" if code is None else _package(code.co_filename)
        self._modules: dict[str, bool] = {}

    def has_code(self, code: CodeType) -> bool:
        """Whether it is the user's code."""
        return self._is_users(code.co_filename)

    def has_class(self, kind: type) -> bool:
        """Whether it is a class of the user's."""
        if not kind.__flags__ & MADE_IN_PYTHON:
            return False
        name = kind.__module__
        found = self._modules.get(name)
        if found is None:
            module = sys.modules.get(name)
            found = module is None or name in ("__main__", "builtins") or self.has_module(module)
            self._modules[name] = found
        return found

    def has_module(self, module: Any) -> bool:
        """Whether it is a module of the user's."""
        file = getattr(module, "__file__", None)
        if file is None:  # one that a program has made by itself has no specification
            return module.__name__ == "__main__" or getattr(module, "__spec__", None) is None
        return self._is_users(file)

    def _is_users(self, file: str) -> bool:
        if file.startswith((PACKAGE, "<frozen", "<__array_function__")):
            return False
        if any(part in file for part in INSTALLED):
            return bool(self._home) and file.startswith(self._home)
        return not file.startswith(STANDARD)


def _package(file: str) -> str:
    """The folder of the installed package that a file belongs to, or ''."""
    for part in INSTALLED:
        if part in file:
            root, rest = file.split(part, 1)
            return root + part + rest.split(os.sep, 1)[0]
    return ""
