"""What a picture shows, as plain data: boxes, edges and scopes. All that is drawn is drawn from this alone."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from adjoint.derive import PULLBACK, expand, one_cotangent, reverse
from adjoint.graph import Located, Node, Scope, mode, topological
from adjoint.graph.collector import without_collector
from adjoint.picture.flow import MAX_PROBES, Flow, compute, is_leaf, is_settled, shown_inputs, slopes
from adjoint.picture.program import Program, program_of
from adjoint.primitives.core import FULL, IDENTITY, LEAF, PLACEHOLDER, SELECT, VERSION
from adjoint.primitives.custom import CUSTOM, HOST_CALL
from adjoint.primitives.elementwise import POWER_CONSTANT

__all__ = [
    "Box", "Comparison", "Decision", "Edge", "Group", "Picture", "Quantity", "Turn", "build", "number_text",
]  # fmt: skip

MAX_WITH_TEXTS = 60  # operations of a graph whose way to machine code is told
MAX_ELEMENTS = 64  # of a value that is kept with the picture


def number_text(x: Any) -> str:
    """A number as a picture writes it: whole numbers up to a billion in full, others with five digits."""
    if isinstance(x, (bool, np.bool_)):
        return str(bool(x))
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    if isinstance(x, (complex, np.complexfloating)):
        return f"{complex(x):.5g}"
    if abs(x) < 1e9 and x == int(x):
        return str(int(x))
    return f"{float(x):.5g}"


@dataclass(frozen=True, slots=True)
class Quantity:
    """An array in a picture: its type, a short text, and the numbers themselves where they are few.

    slot        where a page's program computes it; None where no page does
    """

    shape: tuple[int, ...]
    dtype: str
    text: str
    numbers: Any = None
    slot: int | None = field(default=None, compare=False)

    @property
    def is_number(self) -> bool:
        """Whether it is a single real number."""
        return self.shape == () and isinstance(self.numbers, (int, float))

    def __str__(self) -> str:
        return self.text


def quantity(value: Any) -> Quantity:
    """The summary of an array, or of the several outputs of a node."""
    if isinstance(value, tuple):
        return Quantity((), "", f"{len(value)} outputs")
    array = np.asarray(value)
    return Quantity(
        array.shape, array.dtype.name, _array_text(array), array.tolist() if array.size <= MAX_ELEMENTS else None
    )


def _array_text(array: Any) -> str:
    if array.ndim == 0:
        return number_text(array[()])
    if array.size == 0:
        return "[]"
    if array.size <= 4 or (array.ndim == 2 and array.size <= 9):
        return _nested(array)
    if array.dtype.kind == "c":
        return f"|·| up to {number_text(np.abs(array).max())}"
    low, high = array.min(), array.max()
    return f"all {number_text(low)}" if low == high else f"{number_text(low)} … {number_text(high)}"


def _nested(array: Any) -> str:
    if array.ndim == 0:
        x = array[()]
        return f"{float(x):.4g}" if array.dtype.kind == "f" and x else number_text(x)
    return "[" + ", ".join(map(_nested, array)) + "]"


@dataclass(frozen=True, slots=True)
class Box:
    """One node of a picture, or a scope that is folded.

    kind        "variable" (differentiated), "data", "constant", "operation", "group", or "computed" (by operations that
                are left out)
    name        what the user calls it, if known
    symbol      how the operation is written
    operation   the primitive's name; for a group its own
    detail      what else the operation was given, such as an exponent
    value       its value; None inside a traced function
    gradient    the cotangent that arrives here: the derivative of the root by it; None where none does
    groups      the scopes it lies in, outermost first
    place       the user's file and line, of a leaf where it is first used; `source` is the text of that line
    count       how many operations a folded group stands for
    """

    key: str
    kind: str
    name: str | None
    symbol: str
    operation: str
    detail: str
    type: str
    value: Quantity | None
    gradient: Quantity | None
    groups: tuple[str, ...]
    place: str
    source: str
    count: int = 1

    @property
    def label(self) -> str:
        """The name, or what stands for it."""
        return self.name or (str(self.value) if self.kind == "constant" and self.value else self.symbol)


@dataclass(frozen=True, slots=True)
class Edge:
    """A use of one box by another. `position` counts the inputs of the target.

    carried     the cotangents that flow back along it from the target to the source; several where edges were joined
    local       the derivative of the target by the source along this edge, between single numbers; `local_slot` is where
                a page's program computes it
    """

    source: str
    target: str
    position: int
    carried: tuple[Quantity, ...] = ()
    local: float | None = None
    local_slot: int | None = field(default=None, compare=False)

    @property
    def amount(self) -> str:
        """What the red arrow says: `+12`."""
        if not self.carried:
            return ""
        if all(q.is_number for q in self.carried):
            return signed(sum(q.numbers for q in self.carried))
        if len(self.carried) == 1:
            return self.carried[0].text
        if any(q.numbers is None for q in self.carried) or len({q.shape for q in self.carried}) > 1:
            return f"{len(self.carried)} flows"
        return quantity(sum(np.asarray(q.numbers) for q in self.carried)).text


def signed(x: float) -> str:
    """A number with its sign, which says that it is added."""
    text = number_text(x)
    return text if text.startswith(("-", "n")) else "+" + text


@dataclass(frozen=True, slots=True)
class Group:
    """A composite function, a module, or what repeats `turns` times: a box that folds."""

    key: str
    name: str
    parent: str | None
    place: str
    is_module: bool
    turns: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a loop that is written out, or one branch: which loop, which of how many.

    depth   how many scopes are around the loop itself
    """

    loop: int
    number: int
    count: int
    depth: int
    what: str = "turn"

    @property
    def name(self) -> str:
        """What its scope is called."""
        return f"{self.what} {self.number + 1} of {self.count}"


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition that decided what was written out, and how."""

    node: Node
    outcome: bool
    said: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A leaf's gradient by the reverse pass and by finite differences."""

    key: str
    reverse: Quantity
    difference: Quantity
    error: float
    how: str


class MachineTexts(Protocol):
    """What becomes of a box: its step in the plan; its unit, loops, LLVM's text and machine code, and the unit's number."""

    @property
    def step(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def loops(self) -> str: ...
    @property
    def llvm(self) -> str: ...
    @property
    def assembly(self) -> str: ...
    @property
    def place(self) -> int | None: ...


TextsOf = Callable[[Sequence[Node]], Callable[[Node], MachineTexts | None]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A graph as it is shown: boxes by key, inputs before what uses them.

    texts    what becomes of a box on its way to machine code, where that was asked for
    """

    boxes: dict[str, Box]
    edges: tuple[Edge, ...]
    groups: dict[str, Group]
    root: str
    notes: tuple[str, ...] = ()
    comparisons: tuple[Comparison, ...] = field(default=())
    program: Program | None = field(default=None, compare=False)
    texts: Mapping[str, MachineTexts] = field(default_factory=dict, compare=False)

    def inputs(self, key: str) -> list[Edge]:
        """The edges into a box, in the order of its inputs."""
        return sorted((e for e in self.edges if e.target == key), key=lambda e: e.position)

    def contributions(self, key: str) -> list[Edge]:
        """The edges along which cotangent reaches a box, in the order of its uses."""
        return [e for e in self.edges if e.source == key and e.carried]

    def find(self, name: str) -> Box:
        """The box with this name. Raises KeyError if there is none."""
        for box in self.boxes.values():
            if box.name == name:
                return box
        raise KeyError(name)

    @property
    def title(self) -> str:
        """What the root is called."""
        return self.boxes[self.root].name or "y"

    def derivative_name(self, box: Box) -> str:
        """`∂y/∂x`, or `gradient` for a box without a name; of a leaf it says where that is used."""
        if box.name:
            return f"∂{self.title}/∂{box.name}"
        return f"gradient at {box.place}" if box.kind == "variable" and box.place else "gradient"


# Building -------------------------------------------------------------------------------------------------------------


def build(
    root: Node,
    *,
    wrt: Sequence[Node] | None = None,
    names: Mapping[Node, str] | None = None,
    cotangent: Node | None = None,
    gradients: bool | None = None,
    plumbing: bool = False,
    variables_only: bool = False,
    compare: bool = False,
    live: bool = False,
    turns: Mapping[Node, tuple[Turn, ...]] | None = None,
    decisions: Sequence[Decision] = (),
    texts_of: TextsOf | None = None,
) -> Picture:
    """The picture of everything that a node was computed from.

    wrt: differentiate by these alone (default: every variable). gradients: whether to show the reverse pass (default:
    if there is one to show). plumbing: show broadcasts, reshapes and casts that the user didn't ask for.
    variables_only: leave out what has no name. compare: finite differences for each leaf. live: with the
    program that a page computes. turns, decisions: of the loops that are written out in this graph. texts_of: what gives the
    texts of nodes, for the outputs that are computed together. Nothing of the graph is changed or kept.
    """
    asked = _Asked(wrt, cotangent, gradients, plumbing, variables_only, compare, live, turns or {}, decisions, texts_of)
    return without_collector(_build, root, dict(names or {}), asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `build` was asked for."""

    wrt: Sequence[Node] | None
    cotangent: Node | None
    gradients: bool | None
    plumbing: bool
    variables_only: bool
    compare: bool
    live: bool
    turns: Mapping[Node, tuple[Turn, ...]]
    decisions: Sequence[Decision]
    texts_of: TextsOf | None


def _build(root: Node, names: dict[Node, str], how: _Asked) -> Picture:
    notes: list[str] = []
    (expanded,) = expand([root])
    if expanded is not root:
        names = {expanded if node is root else node: name for node, name in names.items()}
        root = expanded
    traced = any(node.op is PLACEHOLDER and node.value is None for node in topological([root]))
    if traced:
        notes.append("inside a traced function nothing has a value yet")
    u = _cotangent(root, how.cotangent, False if traced else how.gradients, notes)
    flow = Flow(root, u, how.wrt, plumbing=how.plumbing)
    names = _names(flow, names)
    if how.variables_only:
        _leave_out(flow, names)
    results: dict[Node, Quantity] = {}
    program = None
    if not traced:
        asked = [*flow.order, *flow.cotangents.values(), *flow.carried.values(), *flow.local.values()]
        results = compute(asked, quantity)
        if how.live:
            program = program_of(flow, [*asked, *[d.node for d in how.decisions]])
            program = program.with_decisions([(d.node, d.outcome, d.said) for d in how.decisions])
            results = {node: replace(q, slot=program.slots.get(node)) for node, q in results.items()}
    keys = {node: f"n{i}" for i, node in enumerate(flow.order)}
    groups: dict[str, Group] = {}
    group_keys: dict[Any, str] = {}
    places: dict[tuple[Any, int], tuple[str, str]] = {}
    first_users = {x: node for (node, _), x in reversed(flow.sources.items()) if is_leaf(x)}
    boxes = {}
    for node, key in keys.items():
        inside = () if is_leaf(node) else _scopes(node, groups, group_keys, how.turns.get(node, ()))
        where = _where(first_users.get(node, node), places)
        gradient = _lookup(results, flow.cotangents, node)
        boxes[key] = _box(key, node, names.get(node), results.get(node), gradient, inside, where)
    if how.variables_only:
        boxes = {key: _without_operation(box) for key, box in boxes.items()}
    edges = []
    for (node, position), source in flow.sources.items():
        carried = _lookup(results, flow.carried, (node, position))
        slope = _lookup(results, flow.local, (node, position))
        edges.append(
            Edge(
                keys[source], keys[node], position, () if carried is None else (carried,),
                slope.numbers if slope is not None else None, slope.slot if slope is not None else None,
            )
        )  # fmt: skip
    texts = {} if traced or how.texts_of is None else _texts(flow, keys, how.texts_of)
    picture = Picture(boxes, tuple(edges), groups, keys[root], tuple(notes), program=program, texts=texts)
    if how.compare and u is not None:
        moved = set() if program is None else program.moved()  # for these the page compares by itself
        picture = replace(picture, comparisons=tuple(_comparisons(flow, keys, u, moved)))
    return picture


def _texts(flow: Flow, keys: Mapping[Node, str], texts_of: TextsOf) -> dict[str, MachineTexts]:
    """The texts of the operations, when the root and the gradients of its leaves are computed together."""
    operations = [node for node in flow.order if not is_leaf(node)]
    if not 0 < len(operations) <= MAX_WITH_TEXTS:
        return {}
    gradients = [u for node, u in flow.cotangents.items() if is_leaf(node)]
    of = texts_of([flow.root, *gradients])
    found = {keys[node]: of(node) for node in operations}
    return {key: texts for key, texts in found.items() if texts is not None}


def _lookup(results: Mapping[Node, Quantity], table: Mapping[Any, Node], key: Any) -> Quantity | None:
    node = table.get(key)
    return None if node is None else results[node]


def _cotangent(root: Node, cotangent: Node | None, gradients: bool | None, notes: list[str]) -> Node | None:
    if gradients is False or not root.tracked or not root.type.inexact:
        if gradients:
            notes.append("no gradients: this depends on no variable")
        return None
    if cotangent is not None:
        return cotangent
    if root.type.size != 1:
        notes.append(f"no gradients: shape {root.shape} needs a cotangent of that shape; sum it, or give cotangent=")
        return None
    return one_cotangent(root)


def _names(flow: Flow, given: Mapping[Node, str]) -> dict[Node, str]:
    """Names by shown node. What stands behind a hidden node or a marker lends it its name."""
    names: dict[Node, str] = {}
    for node in [*flow.hidden, *given]:
        name = None
        if node.op in (LEAF, VERSION, IDENTITY) and node.attributes is not None:
            name = node.attributes.name
        name = name or given.get(node)
        if name is None:
            continue
        while flow.hidden.get(node, False):
            node = shown_inputs(node)[0]
        if flow.hidden.get(node) is False and node.op is not FULL:
            names.setdefault(node, name)
    return names


def _leave_out(flow: Flow, names: Mapping[Node, str]) -> None:
    """Keep what has a name, the variables and the root; an edge then stands for all the ways between two of them."""
    kept = [n for n in flow.order if n is flow.root or n in names or (is_leaf(n) and n.tracked)]
    among = set(kept)
    reached: dict[Node, dict[Node, None]] = {}  # for each node what it was computed from directly, in order
    for node in flow.order:
        found: dict[Node, None] = {}
        for x in [flow.sources[node, i] for i in range(len(shown_inputs(node)))]:
            found.update({x: None} if x in among else reached[x])
        reached[node] = found
    flow.sources = {(node, i): x for node in kept for i, x in enumerate(reached[node])}
    flow.carried, flow.local = {}, {}
    with mode(grad=False):
        for node in kept:
            u = flow.cotangents.get(node)
            sources = [x for x in reached[node] if x in flow.cotangents]
            if u is not None and sources:
                found_cotangents = dict(zip(sources, reverse([node], [u], sources, stop=True), strict=True))
                for i, x in enumerate(reached[node]):
                    v = found_cotangents.get(x)
                    if v is not None:
                        flow.carried[node, i] = v
    flow.order = kept


def _without_operation(box: Box) -> Box:
    """A box that stands for all the operations between it and the names below."""
    if box.kind != "operation":
        return box
    return replace(box, kind="computed", symbol="result", operation="", detail="", name=box.name or "y", groups=())


def _scopes(node: Node, groups: dict[str, Group], keys: dict[Any, str], turns: tuple[Turn, ...]) -> tuple[str, ...]:
    """The keys of the scopes around a node, outermost first; the turns of a loop lie directly in the loop's own scope."""
    site = node.site
    scope: Scope | None = site.scope if isinstance(site, Located) else site if isinstance(site, Scope) else None
    chain: list[Scope | Turn] = []
    while scope is not None:
        chain.append(scope)
        scope = scope.parent
    chain.reverse()
    for i, turn in enumerate(turns):
        chain.insert(turn.depth + 1 + i, turn)
    found: list[str] = []
    for step in chain:
        parent = found[-1] if found else None
        key = keys.get((parent, step))
        if key is None:
            key = keys[parent, step] = f"g{len(keys)}"
            groups[key] = _group(key, step, parent, node, groups)
        found.append(key)
    for i, turn in enumerate(turns):
        if turn.depth + i < len(found) and turn.what == "turn":
            own = groups[found[turn.depth + i]]
            if not own.turns:
                groups[own.key] = replace(own, name=f"{own.name}: {turn.count} ×", turns=turn.count)
    return tuple(found)


def _group(key: str, step: Scope | Turn, parent: str | None, node: Node, groups: Mapping[str, Group]) -> Group:
    if isinstance(step, Turn):
        return Group(key, step.name, parent, groups[parent].place if parent else "", is_module=False)
    origin = Node(node.op, (), None, None, step, 0, False).origin
    place = f"{Path(origin.file).name}:{origin.line}" if origin.file else ""
    return Group(key, step.name, parent, place, step.name[:1].isupper())


def _box(
    key: str,
    node: Node,
    name: str | None,
    value: Quantity | None,
    gradient: Quantity | None,
    inside: tuple[str, ...],
    where: tuple[str, str],
) -> Box:
    op = node.op
    kind = "operation"
    if is_leaf(node):
        kind = "variable" if node.tracked else "constant" if op is FULL else "data"
        if op is PLACEHOLDER:
            name = name or str(node.attributes)
    type_text = repr(node.type) if not isinstance(node.type, tuple) else ", ".join(map(repr, node.type))
    symbol, detail = _symbol(node)
    return Box(key, kind, name, symbol, op.name, detail, type_text, value, gradient, inside, *where)


def _where(node: Node, places: dict[tuple[Any, int], tuple[str, str]]) -> tuple[str, str]:
    """The user's file and line, and the text of that line."""
    key = (node.site, node.offset)
    found = places.get(key)
    if found is None:
        origin = node.origin
        source = linecache.getline(origin.file, origin.line).strip() if origin.file else ""
        # the file's name alone: a picture travels, and where its maker keeps files is nobody's business
        found = places[key] = (f"{Path(origin.file).name}:{origin.line}" if origin.file else "", source)
    return found


def _symbol(node: Node) -> tuple[str, str]:
    op, attributes = node.op, node.attributes
    if is_leaf(node) and op in (LEAF, VERSION):
        return "variable" if node.tracked else "data", ""
    if is_settled(node):
        return op.symbol, "computed before: it stays as it was"
    if op is FULL:
        return number_text(attributes), ""
    if op is POWER_CONSTANT:
        return "^" + number_text(attributes), f"exponent {number_text(attributes)}"
    if op is CUSTOM:
        return str(attributes[1].name), "a derivative rule of its own"
    if op is HOST_CALL:
        return str(attributes[0].name), "host code"
    if op is SELECT and node.inputs:
        inner = _symbol(node.inputs[0])[0] if node.inputs[0].op is not PULLBACK else "pullback"
        return f"{inner} [{attributes}]", f"output {attributes}"
    if op.combines:
        return op.symbol, "" if not attributes else "axes " + ", ".join(map(str, attributes))
    if op.indices_from and all(is_leaf(x) for x in node.inputs[op.indices_from :]):
        return op.symbol, "at places chosen when it was recorded"  # by values perhaps: x[x > 0]
    if op.name == "permute_dims":
        return "ᵀ" if node.ndim == 2 else op.name, f"axes {attributes}"
    return op.symbol, ""


def _comparisons(flow: Flow, keys: Mapping[Node, str], u: Node, moved: Collection[Node]) -> list[Comparison]:
    """Finite differences for each leaf that isn't moved in the page, as far as they are cheap."""
    leaves = [n for n in flow.order if is_leaf(n) and n in flow.cotangents and n.type.real_inexact and n not in moved]
    if flow.root.type.size != 1 or not leaves:
        return []
    gradients = compute([flow.cotangents[n] for n in leaves])
    scale = float(compute([u])[u].sum())
    budget = 400_000 // (len(topological([flow.root])) + 1)
    compared = []
    for leaf in leaves:
        budget -= 2 * min(leaf.type.size, 32)
        if budget < 0:
            break
        ours, theirs, how = slopes(flow.root, leaf, gradients[flow.cotangents[leaf]])
        theirs = np.asarray(theirs) * (scale if leaf.type.size <= MAX_PROBES else abs(scale))
        error = float(np.max(np.abs(np.asarray(ours, np.float64) - theirs), initial=0.0))
        compared.append(Comparison(keys[leaf], quantity(np.asarray(ours)), quantity(theirs), error, how))
    return compared
