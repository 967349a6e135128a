"""What updates have in common: an optimizer records an update once, and from then on it is a call of what was recorded.

An update that goes element by element records the same operations for all parameters of a type, in every step: only numbers
differ, hyperparameters, counts and what follows from these. So it is recorded once with numbers that are unknown, as compiled
functions are traced; a step works out the numbers, and a parameter's update is one node, or the few that an update is made of.
Constants are shared, so that the graph has one of each and not one for every parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from adjoint import tracing
from adjoint.graph import MODE, Mode, Node, get_mode, topological
from adjoint.primitives.calls import CalledStep, Callee, call, callee_of
from adjoint.primitives.core import CAST, FULL, placeholder, typed
from adjoint.tensors import Tensor
from adjoint.tensors.assignment import rebind
from adjoint.tensors.named import wrap
from adjoint.unknown import Ledger, Unknown

__all__ = ["Turn", "Updates"]

Turn = tuple[Tensor, Tensor, Any, Any]  # parameter, gradient, state, group
Number = tuple[
    bool, str, int | None
]  # whether it is the state's or the group's; its name there, and its place in a tuple

MOST = 1 << 12  # kinds of updates that are remembered
VARIANTS = 8  # ways in which an update goes on, as its numbers are
NOT_READ = ("params", "param_names")  # by updates
PLAIN = (bool, str, type(None))


class Recipe(NamedTuple):
    """How parameters are updated that are alike but for numbers.

    numbers    makes of the numbers that are `read`, which see, those that constants are and new ones of the state; None where
               this isn't how it is done with them
    constants  the types of the constants
    callee     what is done with parameter, gradient, tensors of the state and constants
    result     the place of the parameter's new value, among what is given and then the callee's outputs
    tensors    those of the state's new tensors, by name
    counts     the names of the state's new numbers
    """

    read: list[Number]
    numbers: Callable[[list[Any]], list[Any] | None]
    constants: list[Any]
    callee: Callee
    result: int
    tensors: list[tuple[str, int]]
    counts: list[str]

    def update(self, turn: Turn) -> Update | None:
        """It with the numbers of a parameter; None where these don't fit."""
        _, _, state, group = turn
        found = None
        values = [(state if own else group)[name] for own, name, _ in self.read]
        values = [x if at is None else x[at] for x, (_, _, at) in zip(values, self.read, strict=True)]
        with suppress(ArithmeticError, TypeError):  # raised again where the update itself is run
            found = self.numbers(values)
        if found is None:
            return None
        constants = [
            Node(FULL, (), typed(x, t.dtype), t, None, 0, False) for x, t in zip(found, self.constants, strict=False)
        ]
        return Update(self, constants, found[len(constants) :])


class Update(NamedTuple):
    """A recipe with the numbers of this step."""

    recipe: Recipe
    constants: list[Node]
    numbers: list[Any]

    def repeat(self, turn: Turn, before: Sequence[Node]) -> None:
        """Record it for a parameter, of which `before` is given. The optimizer settles all of it."""
        parameter, _, state, _ = turn
        _, _, _, callee, result, tensors, counts = self.recipe
        nodes = [*before, *call(callee, [*before, *self.constants])]
        for name, place in tensors:
            rebind(dict.__getitem__(state, name), nodes[place], True)
        for name, number in zip(counts, self.numbers, strict=True):
            state[name] = number
        rebind(parameter, nodes[result], True)


_recipes: dict[Any, list[Recipe | None]] = {}  # by what is alike; None: such an update can't be repeated


class Updates:
    """The updates of one step of an optimizer that others repeat."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self.known: dict[Any, Update | None] = {}
        self.settings: dict[int, Any] = {}  # of the groups

    def of(self, turn: Turn, before: Sequence[Node]) -> Update | None:
        """How a parameter is updated, of which `before` is given; None: as the optimizer says."""
        kind = _kind_of(turn, before)
        if kind not in self.known:
            self.known[kind] = self._fitting(turn, before)
        return self.known[kind]

    def _fitting(self, turn: Turn, before: Sequence[Node]) -> Update | None:
        group = turn[3]
        if id(group) not in self.settings:
            self.settings[id(group)] = _settings(group)
        settings = self.settings[id(group)]
        if settings is None or before[0].type.dtype.narrow:
            return None
        form = [(name, None if isinstance(x, Tensor) else type(x)) for name, x in turn[2].items()]
        rule = getattr(self.optimizer.update, "__func__", self.optimizer.update)
        key = (type(self.optimizer), rule, settings, *form, *[x.type.code for x in before])
        recipes = _recipes.get(key, [])
        for recipe in recipes:
            update = None if recipe is None else recipe.update(turn)
            if update is not None:
                return update
        if len(recipes) == VARIANTS or None in recipes:
            return None
        outer = get_mode()
        try:  # each operation's line is where the optimizer says it
            MODE.set(Mode(False, None, 0, outer.outer))
            with tracing.paused():
                made = _recorded(self.optimizer, turn, before)
        finally:
            MODE.set(outer)
        if len(_recipes) >= MOST:
            _recipes.clear()
        _recipes[key] = [*recipes, made]
        return None if made is None else made.update(turn)


def _kind_of(turn: Turn, before: Sequence[Node]) -> Any:
    """What decides how a parameter is updated in this step, of which `before` is given."""
    _, _, state, group = turn
    parts: list[Any] = [id(group), before[0].type.code, before[1].type.code]
    tensors = iter(before[2:])
    for name, value in state.items():
        if isinstance(value, Tensor):
            parts += name, next(tensors).type.code
            continue
        number = state[name]  # which stands for that of each call while a function is traced
        if type(number) is Unknown:
            parts += name, Unknown, number.name
        else:
            parts += name, type(number), number
    return tuple(parts)


def _settings(group: Any) -> Any:
    """What isn't a number of a group's hyperparameters, and the types of numbers; None where there is more."""
    found: list[Any] = []
    for name, value in dict.items(group):
        if name in NOT_READ:
            continue
        parts = value if type(value) is tuple else (value,)
        if all([tracing.is_number(x) for x in parts]):
            found.append((name, type(value), *map(type, parts)))
        elif type(value) in PLAIN:
            found.append((name, value))
        else:
            return None
    return tuple(found)


class _Read(dict[str, Any]):
    """A dictionary in which numbers are unknown, and noted when they are read. `given` are the entries that were there."""

    def __init__(self, entries: Any, own: bool, ledger: Ledger, read: list[Number]) -> None:
        super().__init__(entries)
        self.given = dict(entries)
        self.own, self.ledger, self.read = own, ledger, read

    def __getitem__(self, name: str) -> Any:
        value = dict.__getitem__(self, name)
        if value is self.given.get(name):
            if type(value) is tuple and type(value[0]) is not Unknown:
                value = self.given[name] = self[name] = tuple([self._unknown(x, name, k) for k, x in enumerate(value)])
            elif type(value) is not Unknown and tracing.is_number(value):
                value = self.given[name] = self[name] = self._unknown(value, name, None)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """The entry of a name, the default without one."""
        try:
            return self[name]
        except KeyError:
            return default

    def changed(self) -> list[str]:
        """The names of entries that have been set."""
        return [name for name, value in dict.items(self) if value is not self.given.get(name, self)]

    def _unknown(self, value: Any, name: str, at: int | None) -> Unknown:
        self.read.append((self.own, name, at))
        return self.ledger.new_input(value)


def _recorded(optimizer: Any, turn: Turn, before: Sequence[Node]) -> Recipe | None:
    """How an optimizer updates parameters like this one, of which `before` is given. None where its update does more than compute
    element by element, or remembers something else."""
    _, _, state, group = turn
    ledger, read = Ledger(), list[Number]()
    stand_ins = [placeholder(x.type, "an operand", False) for x in before]
    parameter, gradient, *others = map(wrap, stand_ins)
    tensors = iter(others)
    begun = {name: next(tensors) if isinstance(x, Tensor) else x for name, x in dict.items(state)}
    inner = _Read(begun, True, ledger, read)
    result = optimizer.update(parameter, gradient, inner, _Read(group, False, ledger, read)).node
    after = {name: x.node for name, x in dict.items(inner) if isinstance(x, Tensor)}
    if list(inner) != list(begun) or after.keys() != {name for name, x in begun.items() if isinstance(x, Tensor)}:
        return None
    counts = [name for name in inner.changed() if name not in after]
    numbers = [dict.__getitem__(inner, name) for name in counts]
    written = _written(stand_ins, [result, *after.values()])
    if written is None or not all([type(x) is Unknown or tracing.is_number(x) for x in numbers]):
        return None
    constants, callee, (first, *places) = written
    values = ledger.function([*[x.attributes for x in constants], *numbers])
    return Recipe(
        read, values, [x.type for x in constants], callee, first, list(zip(after, places, strict=True)), counts
    )  # fmt: skip


def _written(given: list[Node], results: list[Node]) -> tuple[list[Node], Callee, list[int]] | None:
    """The constants of these results, what is done with what is given and with these, and the places of the results among what is
    given and what the callee gives; None where more is done than computing element by element."""
    known = set(given)
    found = [x for x in topological(results, lambda x: x not in known) if x not in known]
    place = {x: k for k, x in enumerate(given)}
    constants: dict[Any, Node] = {}
    for x in found:
        if x.op is FULL and x.value is None:
            said = x.attributes.name if type(x.attributes) is Unknown else repr(x.attributes)
            constants.setdefault((said, x.type), x)
            place[x] = len(given) + list(constants).index((said, x.type))
    steps: list[CalledStep] = []
    for x in found:
        if x not in place:
            if not (x.op.elementwise or x.op is CAST) or x.op.masked is not None or x.tracked or x.value is not None:
                return None
            place[x] = len(given) + len(constants) + len(steps)
            steps.append(CalledStep(x.op, x.attributes, tuple([place[y] for y in x.inputs]), x.type, x.site, x.offset))
    count = len(given) + len(constants)
    outputs = list(dict.fromkeys([place[x] for x in results if place[x] >= count]))
    if any([len(given) <= place[x] < count for x in results]):  # a constant
        return None
    where = {k: len(given) + i for i, k in enumerate(outputs)}
    callee = callee_of(count, steps, outputs)
    return list(constants.values()), callee, [where.get(place[x], place[x]) for x in results]
