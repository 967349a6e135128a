"""The calls of a jitted function: what of their arguments, and of what its code refers to, decides which trace fits."""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from adjoint import tree
from adjoint.dtypes import BY_NUMPY, get_default_dtype
from adjoint.graph import array_type, get_mode
from adjoint.primitives.core import LEAF, VERSION
from adjoint.api.capture import Trace
from adjoint.tensors.located import at_user
from adjoint.tensors.conversion import array_node
from adjoint.tensors.tensor import Tensor

__all__ = ["Call", "Surroundings"]

PLAIN = (Tensor, np.ndarray, float)  # arguments that need no looking into
VALUES = (int, bool, str, bytes, type(None))  # static arguments that are compared by value


class Call:
    """The arguments of one call: their leaves, and the key of the traces that fit them."""

    __slots__ = ("args", "key", "keywords", "leaves", "objects", "structure", "taken", "tensors")

    def __init__(self, static: set[int], args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.args = args
        self.keywords = keywords
        self.structure: Any = None
        self.leaves: list[Any] = list(args)
        if keywords or static or not all([type(x) in PLAIN for x in args]):
            marked = [Static(x) if k in static else x for k, x in enumerate(args)]
            self.leaves, self.structure = tree.flatten((marked, keywords), opaque=True)
        for k, x in enumerate(self.leaves):
            if is_array(x):
                self.leaves[k] = array_node(x, None, False).value  # raises, naming the dtype, for what has none
        self.key = (self.structure, get_mode().grad, get_default_dtype(), *[_kind(x) for x in self.leaves])
        # static arguments with attributes, such as the `self` of a method
        self.objects = [] if self.structure is None else [x for x in map(unmarked, self.leaves) if _has_state(x)]
        self.taken: list[tuple[Any, str, Any, Any]] = []  # numbers drawn for it: (owner, name, before, after)
        self.tensors = {id(x) for x in self.leaves if isinstance(x, Tensor)}

    def give_back(self) -> None:
        """Undo the draws of a call that didn't happen, unless somebody has drawn since."""
        while self.taken:
            owner, name, before, after = self.taken.pop()
            if getattr(owner, name) is after:
                setattr(owner, name, before)

    def stand_ins(self, trace: Trace) -> tuple[Sequence[Any], dict[str, Any]]:
        """The arguments to trace with."""
        made: list[Any] = []
        for k, x in enumerate(self.leaves):
            if isinstance(x, Tensor):
                made.append(trace.argument(x, x.node.type, k))
            elif isinstance(x, np.ndarray):
                made.append(trace.argument(None, array_type(x.shape, BY_NUMPY[x.dtype]), k))
            elif isinstance(x, float):
                made.append(trace.number(trace.arguments, k, x))
            else:
                made.append(unmarked(x))
        if self.structure is None:
            return made, {}
        args, keywords = self.structure.unflatten(made)
        return args, keywords


class Static:
    """A static argument."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def unmarked(x: Any) -> Any:
    return x.value if type(x) is Static else x


def _has_state(x: Any) -> bool:
    return hasattr(x, "__dict__") and not isinstance(x, type | ModuleType) and not callable(getattr(x, "__get__", None))


def is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic) and not isinstance(x, float)


def _kind(x: Any) -> Any:
    """What of an argument decides which trace fits."""
    if isinstance(x, Tensor):
        node = x.node
        return (node.type, node.op is LEAF or node.op is VERSION) if node.tracked else node.type
    if isinstance(x, np.ndarray):
        return ("array", x.dtype, x.shape)
    if isinstance(x, float):
        return float
    if type(x) is Static:
        leaves, structure = tree.flatten(x.value, opaque=True)
        return (Static, structure, *[_static_kind(value) for value in leaves])
    if isinstance(x, dict | list | set | bytearray):
        raise TypeError(
            f"jit: an argument is a {type(x).__name__}, whose contents can change without being noticed; pass a dict, a list "
            f"or a tuple{at_user()}"
        )
    return (type(x), x) if type(x) in VALUES else _Identity(x)


def _static_kind(x: Any) -> Any:
    """How one leaf of a static argument is compared: by value where it has one."""
    if isinstance(x, np.ndarray):
        return (x.dtype, x.shape, x.tobytes())
    return (type(x), repr(x) if isinstance(x, float) else x) if isinstance(x, (*VALUES, float)) else _Identity(x)


class _Identity:
    """A static argument that is itself alone."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value  # held: no other object gets its address

    def __eq__(self, other: object) -> bool:
        return type(other) is _Identity and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


# What the code refers to ----------------------------------------------------------------------------------------------


class Surroundings:
    """What a function's own code refers to from outside: its closure and the globals that it names.

    places      (owner, how to get it from the owner), as Python
    labels      their names, in the order of the places
    attributes  the names of attributes that the code mentions
    empty       whether a name in the closure has no value yet
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        code, names = getattr(f, "__code__", None), getattr(f, "__globals__", {})
        self.names = names
        used = () if code is None else _named(code, "LOAD_GLOBAL", "STORE_GLOBAL")
        self.used = [x for x in used if x in names or not hasattr(builtins, x)]
        self.attributes = () if code is None else tuple(_named(code, "LOAD_ATTR", "LOAD_METHOD"))
        self.cells = getattr(f, "__closure__", None) or ()
        self.labels = [*self.used, *(() if code is None else code.co_freevars)]
        self.places: list[tuple[Any, str]] = [(names, f".get({name!r})") for name in self.used]
        self.places += [(cell, ".cell_contents") for cell in self.cells]
        self.empty = False

    def __call__(self) -> list[Any]:
        """What they hold now."""
        found = [self.names.get(name) for name in self.used]
        for cell in self.cells:
            try:
                found.append(cell.cell_contents)
            except ValueError:
                self.empty = True
                found.append(None)
        return found


def _named(code: CodeType, *operations: str) -> dict[str, None]:
    """The names that these bytecodes have in code, functions and comprehensions inside it included."""
    found = {x.argval: None for x in dis.get_instructions(code) if x.opname in operations}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _named(inner, *operations)
    return found
