"""Nested containers: dict, list, tuple, named tuple, dataclass, None, and whatever type registers itself.

A tree is a leaf or a container of trees. `flatten` gives the leaves in order and a `Structure` that rebuilds the
container around other leaves; two trees have equal structures when they differ in their leaves alone.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from adjoint.hints import hinted_module

__all__ = ["Structure", "flatten", "map", "paths", "register"]

Flatten = Callable[[Any], tuple[Iterable[Any], Hashable]]
Unflatten = Callable[[Hashable, list[Any]], Any]

PLAIN = (dict, list, tuple, OrderedDict)  # a subclass may mean more than its contents

_registry: dict[type, tuple[Flatten, Unflatten]] = {}
_stateful: list[type] = []  # containers whose contents may be given other values, so that they are names and not values


@dataclasses.dataclass(frozen=True, slots=True)
class Structure:
    """The shape of a tree: a leaf (kind None), or a container's type, its keys and its children's structures."""

    kind: type | None
    keys: Hashable = None
    children: tuple[Structure, ...] = ()

    @property
    def count(self) -> int:
        """How many leaves it has."""
        return 1 if self.kind is None else sum(child.count for child in self.children)

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree with these leaves. Raises ValueError when their number differs from `count`."""
        items = list(leaves)
        if len(items) != self.count:
            raise ValueError(f"tree: expected {self.count} leaves, got {len(items)}")
        return self._build(iter(items))

    def _build(self, leaves: Any) -> Any:
        if self.kind is None:
            return next(leaves)
        children = [child._build(leaves) for child in self.children]
        return _container(self.kind)[1](self.keys, children)


LEAF = Structure(None)


def register(kind: type, flatten: Flatten, unflatten: Unflatten, stateful: bool = False) -> None:
    """Make a type a container: `flatten(x)` gives its children and a hashable key, `unflatten(key, children)` rebuilds.

    A `stateful` one, such as a module, is itself rather than its contents to who asks for `opaque` leaves.
    Subclasses of `kind` count as `kind` only if registered themselves or if they inherit from it and nothing nearer.
    """
    _registry[kind] = (flatten, unflatten)
    if stateful:
        _stateful.append(kind)


def _container(kind: type) -> tuple[Flatten, Unflatten]:
    found = _registry.get(kind)
    if found is None:
        for base in kind.__mro__[1:-1]:
            if base in _registry and base not in PLAIN:
                return _registry[base]
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            found = (lambda x: (x, None)), (lambda keys, children: kind(*children))
        else:  # a dataclass: only init fields are children
            names = tuple(f.name for f in dataclasses.fields(kind) if f.init)
            found = (
                lambda x: ([getattr(x, n) for n in names], names),
                lambda keys, children: kind(**dict(zip(names, children, strict=True))),
            )
        _registry[kind] = found
    return found


def is_container(x: Any) -> bool:
    """Whether x is a container rather than a leaf."""
    kind = type(x)
    if kind in _registry:
        return True
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return True
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return True
    return any(base in _registry and base not in PLAIN for base in kind.__mro__[1:-1])


def children(x: Any) -> list[Any] | None:
    """The parts of a container, one level down; None for a leaf."""
    return list(_container(type(x))[0](x)[0]) if is_container(x) else None


def flatten(tree: Any, opaque: bool | Callable[[Any], bool] = False) -> tuple[list[Any], Structure]:
    """The leaves of a tree, in order, and its structure. Dictionaries keep their order of insertion.

    With `opaque`, containers with state, such as modules, are leaves; all of them, or those for which a function says so.

    >>> import adjoint as ad
    >>> leaves, structure = ad.tree.flatten({"a": 1, "b": (2, [3])})
    >>> leaves
    [1, 2, 3]
    >>> structure.unflatten([10, 20, 30])
    {'a': 10, 'b': (20, [30])}
    """
    leaves: list[Any] = []
    whole = opaque if callable(opaque) else (lambda x: True) if opaque else None
    return leaves, _flatten(tree, leaves, whole)


def _flatten(tree: Any, leaves: list[Any], whole: Callable[[Any], bool] | None) -> Structure:
    if not is_container(tree) or (whole is not None and isinstance(tree, tuple(_stateful)) and whole(tree)):
        leaves.append(tree)
        return LEAF
    children, keys = _container(type(tree))[0](tree)
    return Structure(type(tree), keys, tuple([_flatten(child, leaves, whole) for child in children]))


def paths(tree: Any, prefix: str = "") -> list[str]:
    """A readable path for each leaf, such as `['a'][0]`, in the order of `flatten`."""
    if not is_container(tree):
        return [prefix]
    children, keys = _container(type(tree))[0](tree)
    labels = [repr(k) for k in keys] if isinstance(keys, tuple) else None
    found: list[str] = []
    for i, child in enumerate(children):
        found += paths(child, f"{prefix}[{labels[i] if labels else i}]")
    return found


def _shown(structure: Structure) -> str:
    """A structure as its containers are written, with a star for each leaf."""
    if structure.kind is None:
        return "*"
    parts = [_shown(child) for child in structure.children]
    if structure.kind is dict and isinstance(structure.keys, tuple):
        return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(structure.keys, parts, strict=True)) + "}"
    ends = "[]" if structure.kind is list else "()"
    name = "" if structure.kind in (list, tuple) else structure.kind.__name__
    return name + ends[0] + ", ".join(parts) + ends[1]


def map(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """The tree of `function(leaf, *other_leaves)`. Raises ValueError when the other trees' structures differ."""
    leaves, structure = flatten(tree)
    others = []
    for other in rest:
        other_leaves, other_structure = flatten(other)
        if other_structure != structure:
            shown = " and ".join(_shown(s) for s in (structure, other_structure))
            raise ValueError(f"tree.map: structures differ: {shown}")
        others.append(other_leaves)
    return structure.unflatten([function(*items) for items in zip(leaves, *others, strict=True)])


class _Keys(tuple[Any, ...]):
    """Keys of a dictionary, of which 1, 1.0 and True are three: Python takes them for one, a function may not."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) is True and _kinds(self) == _kinds(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def _kinds(key: Any) -> Any:
    """The types in a key, at every depth."""
    return [_kinds(x) for x in key] if isinstance(key, tuple) else type(key)


def _keys(x: dict[Any, Any]) -> tuple[Any, ...]:
    keys = tuple(x)
    return keys if all([type(key) is str for key in keys]) else _Keys(keys)


register(list, lambda x: (x, None), lambda keys, children: children)
register(tuple, lambda x: (x, None), lambda keys, children: tuple(children))
register(dict, lambda x: (x.values(), _keys(x)), lambda keys, children: dict(zip(keys, children, strict=True)))  # type: ignore[call-overload]
register(
    OrderedDict,
    lambda x: (x.values(), _keys(x)),
    lambda keys, children: OrderedDict(zip(keys, children, strict=True)),  # type: ignore[call-overload]
)
register(type(None), lambda x: ((), None), lambda keys, children: None)


__getattr__ = hinted_module("adjoint.tree")
