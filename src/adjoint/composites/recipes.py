"""Composites that are worked out once for each kind of call, and recorded again from a list.

What a composite such as softmax records follows from the types of its nodes and from its other arguments: shapes, axes
and checks come out the same every time. So the first call leaves a recipe, the nodes that it recorded as a list, and later
calls of that kind only make these nodes anew. They are new nodes all the same, as if the function had run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import itemgetter
from typing import Any, TypeVar

from adjoint._sources import run_source
from adjoint._tuples import NamedTuple
from adjoint.dtypes import DType, default_dtype
from adjoint.graph import NARROW, ArrayType, Node, Primitive, Site, get_mode, topological
from adjoint.primitives.core import DETACH, FULL, LEAF, in_float32, is_narrow, leaf, watch
from adjoint.primitives.random import RANDOM_BITS, VARIATES
from adjoint.tracing import active, unobserved
from adjoint.unknown import Unknown

__all__ = ["PLAIN", "Recipe", "recipe_of", "remembered", "remembered_as_given"]

F = TypeVar("F", bound=Callable[..., Any])
MOST = 1 << 12  # recipes
OFTEN = 64  # times
LARGEST_CONSTANT = 1 << 12  # elements of an array that a recipe may hold
DRAWN = frozenset({RANDOM_BITS, VARIATES})
PLAIN = frozenset({bool, int, str, type(None)})  # arguments that are the same when they are equal and of one class

_recipes: dict[Any, Recipe | None] = {}


class Step(NamedTuple):
    """One node: its inputs by the place of the one, or by what picks several, among the arguments and the nodes before it;
    its value if it is data.

    `shared` is a constant that isn't made anew; `inside` says whether the node belongs to where the call is recorded.
    """

    op: Primitive
    inputs: int | Callable[[list[Node]], tuple[Node, ...]] | None
    places: list[int]
    attributes: Any
    type: ArrayType
    tracked: bool
    inside: bool
    value: Any
    shared: Node | None


class Recipe:
    """What a call records, inputs first, and the place of its result, or those of several. What is recorded often is a function
    without loops."""

    __slots__ = ("count", "result", "steps", "uses", "written")

    def __init__(self, steps: list[Step], count: int, result: int | list[int]) -> None:
        self.steps, self.count, self.result = steps, count, result
        self.uses = 0
        self.written: Callable[[list[Node], Site, int], Any] | None = None

    def record(self, nodes: list[Node], site: Site, offset: int) -> Any:
        """The result for these nodes as arguments, recorded there."""
        if self.written is not None:
            return self.written(nodes, site, offset)
        self.uses += 1
        if self.uses == OFTEN and self.steps:
            self.written = self.as_function()
        for op, inputs, _, attributes, kind, tracked, inside, value, shared in self.steps:
            if isinstance(inputs, int):
                x = nodes[inputs]
                node = Node(op, (x,), attributes, kind, site, offset, tracked)
                if op is DETACH:
                    watch(node)
            elif inputs is not None:
                node = Node(op, inputs(nodes), attributes, kind, site, offset, tracked)
            elif shared is not None:
                node = shared
            else:
                node = leaf(value, kind) if op is LEAF else Node(FULL, (), attributes, kind, None, 0, False)
                if inside:
                    node.site, node.offset = site, offset
            nodes.append(node)
        result = self.result
        return nodes[result] if isinstance(result, int) else [nodes[i] for i in result]

    def as_function(self) -> Callable[[list[Node], Site, int], Any]:
        """The same, written out."""
        names: dict[str, Any] = {"Node": Node, "leaf": leaf, "watch": watch}
        lines = []
        if self.count:
            lines.append(f"{''.join([f'n{i}, ' for i in range(self.count)])} = nodes")
        for i, (op, _, places, attributes, kind, tracked, inside, value, shared) in enumerate(self.steps, self.count):
            names |= {f"o{i}": op, f"a{i}": attributes, f"t{i}": kind, f"v{i}": value if shared is None else shared}
            inputs = "".join([f"n{k}, " for k in places])
            if places:
                made = f"Node(o{i}, ({inputs}), a{i}, t{i}, site, offset, {tracked})"
                lines += [f"n{i} = {made}", *([f"watch(n{i})"] if op is DETACH else [])]
            elif shared is not None:
                lines.append(f"n{i} = v{i}")
            else:
                made = f"leaf(v{i}, t{i})" if op is LEAF else f"Node(o{i}, (), a{i}, t{i}, None, 0, False)"
                lines.append(f"n{i} = {made}")
                if inside:
                    lines.append(f"n{i}.site, n{i}.offset = site, offset")
        found = self.result
        result = f"n{found}" if isinstance(found, int) else f"[{', '.join([f'n{i}' for i in found])}]"
        body = "\n    ".join([*lines, f"return {result}"])
        run_source(f"def record(nodes, site, offset):\n    {body}\n", names)
        return names["record"]  # type: ignore[no-any-return]


def remembered(function: Callable[..., Node]) -> Callable[..., Node]:
    """The same function of nodes, with recipes: for functions whose one result, and all that is recorded for it, follows from
    the types of their nodes, whether these are tracked and have values, and from their other arguments."""
    return _remembered(function, True)


def remembered_as_given(function: F) -> F:
    """As `remembered`, for functions that compute in the dtypes they are given, narrow ones too, and may have a list of
    results."""
    return _remembered(function, False)  # type: ignore[return-value]


def _remembered(function: Callable[..., Any], widened: bool) -> Callable[..., Any]:

    def known(args: tuple[Any, ...], grad: bool) -> tuple[Any, list[Node]] | None:
        """The kind of a call, and its nodes; None where what it records doesn't follow from kinds."""
        nodes: list[Node] = []
        key: list[Any] = [function, grad, default_dtype().name]
        for x in args:
            kind = type(x)
            if kind is Node and x.op is not FULL:  # a constant's number may decide what is recorded
                nodes.append(x)
                key += (x.type, x.tracked, x.value is None)
            elif kind in PLAIN or kind is DType:
                key += (kind, x)
            elif kind is float:
                key.append(x.hex())  # which tells -0.0 from 0.0
            elif kind is tuple and all([type(y) is int for y in x]):
                key.append(x)
            else:
                return None
        return tuple(key), nodes

    def ready(args: tuple[Any, ...], grad: bool) -> tuple[Recipe, list[Node]] | None:
        """The recipe of a call and its nodes, if it has one and nobody looks on."""
        if NARROW or active() is not None:
            return None
        found = known(args, grad)
        recipe = None if found is None else _recipes.get(found[0])
        return None if found is None or recipe is None else (recipe, found[1])

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if NARROW and widened and is_narrow(args):
            return in_float32(call, args)
        mode = get_mode()
        found = known(args, mode.grad)
        if found is None:
            return function(*args)
        call_kind, nodes = found
        recipe = _recipes.get(call_kind)
        if recipe is not None:
            if active() is None:
                return recipe.record(nodes, mode.site, mode.offset)
            with unobserved():
                return recipe.record(nodes, mode.site, mode.offset)
        result = function(*args)
        if call_kind not in _recipes and len(set(nodes)) == len(nodes):
            if len(_recipes) >= MOST:
                _recipes.clear()
            _recipes[call_kind] = recipe_of(result, nodes, mode.site)
        return result

    call.ready = ready  # type: ignore[attr-defined]
    return call


def recipe_of(result: Node | list[Node], nodes: list[Node], site: Site, alone: bool = False) -> Recipe | None:
    """How a result, or several, was made of nodes at a site, or there `alone`; None where it holds what can't be made anew."""
    place = {x: i for i, x in enumerate(nodes)}
    steps = []
    results = result if isinstance(result, list) else [result]
    for node in topological(results, lambda x: x not in place):
        if node in place:
            continue
        shared = None
        if not isinstance(node.type, ArrayType) or type(node.attributes) is Unknown or node.op in DRAWN:
            return None
        if not node.inputs and node is node.type.zero:
            shared = node
        elif not node.inputs and not _is_constant(node):
            return None
        inside = node.site is site and site is not None
        if alone and node.inputs and not inside:
            return None
        places = [place[x] for x in node.inputs]
        inputs = itemgetter(*places) if len(places) > 1 else places[0] if places else None
        steps.append(
            Step(node.op, inputs, places, node.attributes, node.type, node.tracked, inside, node.value, shared)
        )
        place[node] = len(place)
    found = [place[x] for x in results]
    return Recipe(steps, len(nodes), found if isinstance(result, list) else found[0])


def _is_constant(node: Node) -> bool:
    if node.op is FULL:
        return node.value is None
    return node.op is LEAF and node.attributes is None and node.type.size <= LARGEST_CONSTANT
