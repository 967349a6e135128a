"""The calls of a jitted function: what of their arguments decides which trace fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import tree
from adjoint.dtypes import AUTOCAST, BY_NUMPY, get_default_dtype
from adjoint.graph import array_type, get_mode
from adjoint.primitives.core import LEAF, VERSION
from adjoint.tensors.conversion import array_node
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Number, Tensor
from adjoint.tracer.capture import Trace

__all__ = ["Call", "difference"]

PLAIN = (Tensor, np.ndarray, float)  # arguments that need no looking into
VALUES = (int, bool, str, bytes, type(None))  # static arguments that are compared by value


class Call:
    """The arguments of one call: their leaves, and the key of the traces that fit them."""

    __slots__ = ("args", "first", "key", "keywords", "leaves", "structure", "taken", "tensors")

    def __init__(self, static: set[int | str], args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.args = args
        self.keywords = keywords
        self.structure: Any = None
        self.leaves: list[Any] = list(args)
        if keywords or static or not all([type(x) in PLAIN for x in args]):
            self.leaves, self.structure = tree.flatten(marked(static, args, keywords), opaque=True)
        for k, x in enumerate(self.leaves):
            if is_array(x):
                self.leaves[k] = array_node(x, None, False).value  # raises, naming the dtype, for what has none
        self.taken: list[tuple[Any, str, Any, Any]] = []  # numbers drawn for it: (owner, name, before, after)
        kinds = [_kind(x) for x in self.leaves]
        self.tensors: dict[int, int] = {}  # by id: the position where it comes first
        self.first: dict[int, int] = {}  # of a tensor that has come before: where
        for k, x in enumerate(self.leaves):
            if isinstance(x, Tensor) and self.tensors.setdefault(id(x), k) != k:
                self.first[k] = kinds[k] = self.tensors[id(x)]
        self.key = (self.structure, get_mode().grad, (get_default_dtype(), AUTOCAST.get()), *kinds)

    @property
    def objects(self) -> list[Any]:
        """The static arguments that are compared as objects, such as the `self` of a method."""
        return [x for x in self.leaves if type(x) is not Static and type(_kind(x)) is _Identity]

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
            if k in self.first:
                made.append(made[self.first[k]])
            elif isinstance(x, Tensor):
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


def marked(static: set[int | str], args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments with those marked that are static by position or name."""
    return (
        [Static(x) if k in static else x for k, x in enumerate(args)],
        {name: Static(x) if name in static else x for name, x in keywords.items()},
    )


def unmarked(x: Any) -> Any:
    return x.value if type(x) is Static else x


def is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic) and not isinstance(x, float)


def _kind(x: Any) -> Any:
    """What of an argument decides which trace fits."""
    if isinstance(x, Tensor):
        node = x.node
        kind = (node.type, node.op is LEAF or node.op is VERSION) if node.tracked else node.type
        return (Number, kind) if isinstance(x, Number) else kind
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

    def __repr__(self) -> str:
        return f"this {type(self.value).__name__}"


def difference(key: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[str, bool]:
    """How the key of a call differs from that of another, in words; and whether it does in a value."""
    if key[0] != other[0] or len(key) != len(other):
        return "arguments in another structure", False
    if key[1:3] != other[1:3]:
        return "another gradient mode or default dtype", False
    for k, (now, then) in enumerate(zip(key[3:], other[3:], strict=True)):
        if now != then:
            values = (
                isinstance(now, tuple) and isinstance(then, tuple) and now[0] is then[0] and now[0] in (*VALUES, Static)
            )
            return f"argument {k} is {_described(now)} and was {_described(then)}", values
    return "the first call after traces were forgotten", False


def _described(kind: Any) -> str:
    if isinstance(kind, int):
        return f"the same tensor as argument {kind}"
    if isinstance(kind, tuple) and kind[0] in VALUES:
        return repr(kind[1])
    if isinstance(kind, tuple) and kind[0] == "array":
        return f"an array {kind[1].name}{list(kind[2])}"
    if isinstance(kind, tuple) and kind[0] is Static:
        return "another static value"
    if isinstance(kind, tuple):
        return f"{kind[0]!r} with a gradient"
    return "a float" if kind is float else repr(kind)
