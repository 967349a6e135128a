"""torch.utils._pytree, which libraries import in spite of its name: lists, tuples and dictionaries taken apart into leaves.

Unlike `ad.tree`, it takes modules, dataclasses and subclasses of the containers for leaves, as PyTorch's does.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from adjoint.tensors.located import at_user

from .._missing import getter

__all__ = [
    "PyTree", "TreeSpec", "tree_all", "tree_any", "tree_flatten", "tree_iter", "tree_leaves", "tree_map", "tree_map_",
    "tree_map_only", "tree_structure", "tree_unflatten",
]  # fmt: skip

PyTree = Any
Leaf = Callable[[Any], bool] | None


@dataclass(frozen=True)
class TreeSpec:
    """The shape of a tree: a container's type, what it has besides its children, and their shapes; a leaf has the type None."""

    type: Any
    context: Any
    children_specs: tuple[TreeSpec, ...] = ()

    @property
    def num_leaves(self) -> int:
        """How many leaves it has."""
        return 1 if self.type is None else sum([child.num_leaves for child in self.children_specs])

    def is_leaf(self) -> bool:
        """Whether it is one leaf."""
        return self.type is None

    def _built(self, leaves: Iterator[Any]) -> Any:
        if self.type is None:
            return next(leaves)
        parts = [child._built(leaves) for child in self.children_specs]
        kind, context = self.type, self.context
        if kind is defaultdict:
            return defaultdict(context[0], zip(context[1], parts, strict=True))
        if kind is dict or kind is OrderedDict:
            return kind(zip(context, parts, strict=True))
        if kind is deque:
            return deque(parts, maxlen=context)
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


LEAF = TreeSpec(None, None)


def _parts(x: Any) -> tuple[list[Any], Any] | None:
    """The children of a container and what it has besides; None for a leaf."""
    kind = type(x)
    if kind is dict or kind is OrderedDict:
        return list(x.values()), tuple(x)
    if kind is defaultdict:
        return list(x.values()), (x.default_factory, tuple(x))
    if kind is deque:
        return list(x), x.maxlen
    return (list(x), None) if kind in (list, tuple) or (isinstance(x, tuple) and hasattr(kind, "_fields")) else None


def _taken_apart(x: Any, leaves: list[Any], is_leaf: Leaf) -> TreeSpec:
    parts = None if is_leaf is not None and is_leaf(x) else _parts(x)
    if parts is None:
        leaves.append(x)
        return LEAF
    children, context = parts
    return TreeSpec(type(x), context, tuple([_taken_apart(child, leaves, is_leaf) for child in children]))


def tree_flatten(tree: Any, is_leaf: Leaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, in order, and its shape."""
    leaves: list[Any] = []
    return leaves, _taken_apart(tree, leaves, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The tree of a shape with these leaves."""
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten: {len(given)} leaves for a tree of {treespec.num_leaves}{at_user()}")
    return treespec._built(iter(given))


def tree_leaves(tree: Any, is_leaf: Leaf = None) -> list[Any]:
    """The leaves of a tree, in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: Any, is_leaf: Leaf = None) -> Iterable[Any]:
    """The leaves of a tree, one by one."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: Leaf = None) -> TreeSpec:
    """The shape of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Leaf = None) -> Any:
    """The tree of `func(leaf, ...)`, of the leaves of trees of one shape."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(rest, is_leaf) for rest in rests]
    if any([other != spec for _, other in others]):
        raise ValueError(f"tree_map: the trees have different shapes{at_user()}")
    return spec._built(iter([func(*row) for row in zip(leaves, *[found for found, _ in others], strict=True)]))


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Leaf = None) -> Any:
    """Call `func(leaf, ...)`, for what it does; the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(types: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Leaf = None) -> Any:
    """The tree with `func` of those leaves that are of the types; a function may say which these are."""
    chosen = types if callable(types) and not isinstance(types, type) else lambda x: isinstance(x, types)
    return tree_map(lambda x: func(x) if chosen(x) else x, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Leaf = None) -> bool:
    """Whether it holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Leaf = None) -> bool:
    """Whether it holds for any leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


__getattr__ = getter("torch.utils._pytree", globals())
