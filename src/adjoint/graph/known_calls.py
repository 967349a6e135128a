"""Functions of which most calls record what another call of the same kind did before.

What an operator records follows from the types of its operands, whether these are tracked and have values, from its numbers,
and from what the mode says. So a call of a kind that was met before leaves a `Kind`, what is asked of the arguments and which
nodes are made of them, and native code makes these at the next such call (see `runtime.known_calls`). While there is none,
nothing is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.dtypes import DType, default_dtype
from adjoint.graph.node import NARROW, ArrayType, Located, Mode, Node, Scope, get_mode
from adjoint.graph.primitive import Primitive
from adjoint.graph.walk import topological
from adjoint.tracing import active
from adjoint.unknown import Unknown

__all__ = ["CALLS", "HOW", "WHERE", "Argument", "Calls", "Kind", "Made", "Surface", "unknown"]

# What an argument is, and where a node is recorded, in the order in which `known_calls.c` numbers them.
OF_VIEW = ("_apply", "_write", "_lay", "_tracked_write", "_alone")
HOW = ("tensor", "again", "float", "free float", "tuple", "value")
WHERE = ("nowhere", "given", "scoped", "users", "located")
PLAIN = frozenset({bool, int, str, type(None)})
TUPLES: Any = tuple.__eq__
LITERALS = (0, 1, -1, 2)
CREDIT = 64  # calls from which a function may learn, more than others it knows
MET_FOR_ONE = 32  # calls of known kinds that let it learn from one more
MOST_NODES = 32
MOST_KINDS = 16
MOST_MET = 1 << 10

CALLS: list[Calls] = []
ON_CALLS: list[Callable[[Calls], None]] = []  # what gives a function its native part, and lets that know of a kind
ON_KIND: list[Callable[[Calls, Kind, Any], None]] = []


class Surface(NamedTuple):
    """What is the same for all functions of an interface: the classes of results, of what names a node as these do, of views and
    of their `memory`, which these dictionaries have, and whose axes were `turned`; the operation of constants; the one that cuts
    constants off, and what watches these; operations of which no node is made again; how nodes are `counted` that wait to be
    computed, from which weight on by Python; what makes the site of a line in a scope; how the names of the package's own files
    begin."""

    tensor: type
    also: type
    view: type | None
    memory: type | None
    memories: dict[int, Any]
    turned: dict[int, Any]
    constant: Primitive
    cut: Primitive
    watch: Callable[[Node], None]
    refused: frozenset[Primitive]
    waiting: list[int]
    counted: Callable[[Node], None]
    limit: int
    locate: Callable[[Scope, CodeType], Located]
    package: str


class Argument(NamedTuple):
    """What an argument is: a tensor whose node has this type, is tracked or not, and pending or not; one that is `first` again;
    or this number or other object."""

    how: str
    what: Any
    tracked: bool = False
    pending: bool = False
    first: int = 0


class Made(NamedTuple):
    """A node that is made: of the nodes at these places among the arguments' and those before; where it is recorded, and which
    argument its attributes are (-1: none). Without `op` the attributes are a node that all calls share."""

    op: Primitive | None
    attributes: Any
    type: Any
    tracked: bool
    places: list[int]
    where: str
    source: int


class Kind(NamedTuple):
    """A kind of calls. `within` is how the mode says where nodes are recorded, `looks` whether the user's line is looked for, as
    `known_calls.c` numbers that, `names` those of the scopes that the function opens, and `weight` that of a result that waits.
    Where the result is a view, `base` is the class of its base, the first argument, and `view` what it has under `OF_VIEW`."""

    dtype: DType
    grad: bool
    names: tuple[str, ...]
    base: type | None
    view: list[Any]
    within: int
    looks: int
    arguments: list[Argument]
    steps: list[Made]
    result: int
    weight: int


def unknown(*given: Any) -> None:
    """In place of native code, for a function of which no call was met since there is some."""


class Calls:
    """The calls of one function of tensors and numbers, which looks at no value and draws none. With `free`, ordinary floating
    numbers only become constants of what it records. `level` is how many frames above the one that calls `again` the user is, or
    with `looks` farther up, in the first frame that isn't the package's own. `again` gives what the function does, or None where
    a call must run; None as long as there is no native code. Without `of_views` what it gives of a view may depend on how that
    lies in memory."""

    __slots__ = ("again", "credit", "free", "kept", "kinds", "known", "level", "looks", "met", "of_views", "surface")

    def __init__(
        self, surface: Surface, free: bool = False, level: int = 1, looks: bool = False, of_views: bool = True
    ) -> None:
        self.surface, self.free, self.level, self.looks, self.of_views = surface, free, level, looks, of_views
        self.again: Callable[..., Any] | None = None
        self.credit = CREDIT
        self.kinds: Any = None  # native code's
        self.kept: list[Any] = []  # what it refers to
        self.known: dict[int, Any] = {}  # the keys of the kinds, by where they are
        self.met: dict[Any, bool] = {}  # whether a kind may be learned
        CALLS.append(self)
        if ON_CALLS:
            self.again = unknown

    def learn(self, given: tuple[Any, ...], result: Any, frame: FrameType) -> Any:
        """The result of a call for a user's line; from the second of a kind on native code knows it."""
        if self.again is unknown:
            ON_CALLS[0](self)
        if self.again is None or NARROW or active() is not None or not self.may_know(given, result):
            return result
        if len(given) > MOST_NODES or any([x is result for x in given]):  # and none that names the same node
            return result
        while self.looks and frame.f_code.co_filename.startswith(self.surface.package):
            if frame.f_back is None:
                return result
            frame = frame.f_back
        if self.credit <= 0:
            more = self.kinds[1] // MET_FOR_ONE
            self.kinds[1] -= more * MET_FOR_ONE
            self.credit = min(more, CREDIT)
            if not more:
                return result
        self.credit -= 1
        mode = get_mode()
        found = self.arguments(given)
        if found is None:
            return result
        made: Any = result
        arguments, nodes = found
        key = (mode.grad, _within(mode), default_dtype(), *[_key(x) for x in arguments])
        if key in self.known.values():  # a view, say, that has seen another node
            return result
        if self.met.get(key):
            kind = self.kind(arguments, nodes, given, made, mode, frame)
            self.met[key] = kind is not None
            if kind is not None:
                ON_KIND[0](self, kind, key)
        elif len(self.met) < MOST_MET:
            self.met.setdefault(key, True)
        return result

    def may_know(self, given: tuple[Any, ...], result: Any) -> bool:
        """Whether a result is a tensor, or a view of the first argument that has the base's memory, as all views of such have. A
        tensor from a function that looks at how views lie is the copy that it made because of that: no kind says that."""
        surface, kind = self.surface, type(result)
        if kind is not surface.view or surface.view is None:
            return kind is surface.tensor and self.of_views
        base: Any = given[0]
        if result._base is not base or type(base) not in (
            surface.tensor,
            surface.also,
            *[surface.view] * self.of_views,
        ):
            return False
        plain = not surface.turned and result._at is None and result._changed is False and result._of_leaf is False
        own = surface.memories.get(id(base))
        return plain and own is not None and result._memory is own and result._seen is base.node and result._turns == 0

    def arguments(self, given: Sequence[Any]) -> tuple[list[Argument], list[Node]] | None:
        """What the arguments are, and the nodes of different ones; None where what is recorded may depend on more."""
        surface, nodes, found = self.surface, list[Node](), list[Argument]()
        for x in given:
            kind: Any = type(x)
            if kind is surface.tensor or kind is surface.also or kind is surface.view:
                node: Node = x.node
                if node in nodes:
                    found.append(Argument("again", None, first=nodes.index(node)))
                elif node.op is surface.constant or type(node.type) is not ArrayType:
                    return None
                else:
                    nodes.append(node)
                    found.append(Argument("tensor", node.type, bool(node.tracked), node.value is None))
            elif kind is float:
                free = self.free and x not in LITERALS
                found.append(Argument("free float", None) if free else Argument("float", x))
            elif kind in PLAIN:
                found.append(Argument("value", x))
            elif isinstance(x, tuple) and kind.__eq__ is TUPLES and all([type(item) in PLAIN for item in x]):
                found.append(Argument("tuple", x))
            else:
                return None
        return found, nodes

    def kind(
        self,
        arguments: list[Argument],
        nodes: list[Node],
        given: Sequence[Any],
        made: Any,
        mode: Mode,
        frame: FrameType,
    ) -> Kind | None:
        """The kind of a call; None where what it recorded can't be made anew."""
        result: Node = made.node
        place = {x: i for i, x in enumerate(nodes)}
        free = {id(x): i for i, x in enumerate(given) if arguments[i].how == "free float"}
        steps, sites = list[Made](), Sites(mode, frame)
        for node in topological([result], lambda x: x not in place):
            if node in place:
                continue
            if type(node.type) is not ArrayType or node.value is not None or type(node.tracked) is not bool:
                return None
            constant = node.op is self.surface.constant
            where, source = "nowhere", free.get(id(node.attributes), -1) if constant else -1
            if not node.inputs and node is node.type.zero:
                steps.append(Made(None, node, None, False, [], where, -1))
            else:
                found = sites.of(node)
                if found is None or self.is_refused(node) or not (node.inputs or constant):
                    return None
                places = [place[x] for x in node.inputs]
                steps.append(Made(node.op, node.attributes, node.type, node.tracked, places, found, source))
            place[node] = len(place)
        used = [step.source for step in steps]
        if len(place) > MOST_NODES or any([used.count(i) != 1 for i in free.values()]):
            return None
        is_view = type(made) is self.surface.view
        # What has a line and isn't new may have it from this call, as `+x` gives one to a leaf.
        given_line = not steps and not is_view and result.site is not None
        looks = WHERE.index("users") if given_line else sites.looks
        weight = 0 if result.tracked or (is_view and not steps) else result.type.size + 1024
        if is_view and (arguments[0].how != "tensor" or made._cached is not result):
            return None
        base, view = (type(given[0]), [getattr(made, name) for name in OF_VIEW]) if is_view else (None, [])
        return Kind(
            default_dtype(), mode.grad, sites.names, base, view, sites.within, looks, arguments, steps, place[result], weight
        )  # fmt: skip

    def is_refused(self, node: Node) -> bool:
        """Whether more is done than making a node."""
        return node.op in self.surface.refused or type(node.attributes) is Unknown


class Sites:
    """Where the nodes of one call are recorded: in words of `WHERE`, the names of the scopes that it opened, and whether the
    user's line is needed."""

    def __init__(self, mode: Mode, frame: FrameType) -> None:
        self.mode, self.frame, self.within = mode, frame, _within(mode)
        self.scope: Scope | None = None  # that the call opened
        self.names: tuple[str, ...] = ()
        self.looks = 0

    def of(self, node: Node) -> str | None:
        """Where a node was recorded; None where that is somewhere else."""
        site, offset, mode, frame = node.site, node.offset, self.mode, self.frame
        if site is mode.site and offset == mode.offset:
            return "given"
        if site is None:
            return "nowhere" if offset == 0 else None
        if type(site) is Scope:
            return "scoped" if offset == 0 and (site is self.scope or self.opened(site)) else None
        if offset != frame.f_lasti:
            return None
        where = "users" if site is frame.f_code else "located"
        if where == "located" and not (type(site) is Located and site.scope is mode.site and site.code is frame.f_code):
            return None
        self.looks = max(self.looks, WHERE.index(where))
        return where

    def opened(self, scope: Scope) -> bool:
        """Whether a scope is the one that the call opened, and is as `known_calls.c` makes it; then it is noted."""
        outer, site = scope, self.mode.site
        around = site if type(site) is Scope else None
        if scope.parent is not around and scope.parent is not None:
            outer = scope.parent
            if (scope.site, scope.offset, scope.user) != (None, 0, False):
                return False
        if self.scope is not None or type(site) is Located or outer.parent is not around or outer.user:
            return False
        at_user = site is None or (around is not None and around.user is True)
        here = (self.frame.f_code, self.frame.f_lasti) if at_user else (None, 0) if around else (site, self.mode.offset)
        if outer.site is not here[0] or outer.offset != here[1]:
            return False
        self.scope, self.names = scope, (outer.name,) if outer is scope else (outer.name, scope.name)
        self.looks = max(self.looks, WHERE.index("users") if at_user else 0)
        return True


def _key(x: Argument) -> Any:
    """What tells an argument from others, also 1 from True and 0.0 from -0.0."""
    items = [type(item) for item in x.what] if x.how == "tuple" else ()
    return x.what.hex() if x.how == "float" else (*x, type(x.what), *items)


def _within(mode: Mode) -> int:
    """How a mode says where nodes are recorded, as `known_calls.c` numbers it."""
    site = mode.site
    if site is None or type(site) is CodeType:
        return 0 if site is None else 1
    if type(site) is not Scope:
        return 4
    return 3 if site.user is True else 2
