"""What updates have in common: an optimizer records an update once, and from then on it is a call of what was recorded.

An update that goes element by element records the same operations for all parameters of a type, in every step: only numbers
differ, hyperparameters, counts and what follows from these. So it is recorded once with numbers that are unknown, as compiled
functions are traced; a step works out the numbers, and a parameter's update is one node, or the few that an update is made of.
Constants are shared, so that the graph has one of each and not one for every parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from adjoint import tracing
from adjoint._tuples import NamedTuple
from adjoint.graph import MODE, Mode, Node, get_mode, topological
from adjoint.primitives.callees import CalledStep, Callee, call, callee_of
from adjoint.primitives.core import CAST, FULL, placeholder, typed
from adjoint.tensors import Tensor
from adjoint.tensors.assignment import rebind
from adjoint.tensors.named import wrap
from adjoint.unknown import Ledger, Unknown

__all__ = ["Turn", "Updates"]

Turn = tuple[Tensor, Tensor, Any, Any]  # parameter, gradient, state, group
Number = tuple[
    bool, str, int | None
]  # whether it is the state's, not the group's; its name there, and its place in a tuple
Numbers = Callable[[list[Any]], list[Any] | None]

MOST = 1 << 12  # kinds of updates that are remembered
VARIANTS = 8  # ways in which an update goes on, as its numbers are
NOT_READ = ("params", "param_names")  # by updates
PLAIN = (bool, str, type(None))


class Recipe(NamedTuple):
    """How parameters are updated that are alike but for numbers.

    numbers    makes of the numbers that are `read`, which see, those that constants are and new ones of the state; None where
               this isn't how it is done with them. Recipes that work out the same have the same function
    constants  the types of the constants
    callee     what is done with parameter, gradient, tensors of the state and constants
    result     the place of the parameter's new value, among what is given and then the callee's outputs
    tensors    those of the state's new tensors, by name
    counts     the names of the state's new numbers
    """

    read: list[Number]
    numbers: Numbers
    constants: list[Any]
    callee: Callee
    result: int
    tensors: list[tuple[str, int]]
    counts: list[str]

    def found(self, state: Any, group: Any) -> list[Any] | None:
        """What `numbers` makes of the numbers of a parameter."""
        values = [
            (state if own else group)[name] if at is None else (state if own else group)[name][at]
            for own, name, at in self.read
        ]
        with suppress(ArithmeticError, TypeError):  # raised again where the update itself is run
            return self.numbers(values)
        return None

    def update(self, found: list[Any]) -> Update:
        """It with these numbers."""
        constants = [
            Node(FULL, (), x if type(x) is float and t.real_inexact else typed(x, t.dtype), t, None, 0, False)
            for x, t in zip(found, self.constants, strict=False)
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
        for (name, place), old in zip(tensors, before[2:], strict=True):
            rebind(dict.__getitem__(state, name), nodes[place], True, old)
        for name, number in zip(counts, self.numbers, strict=True):
            state[name] = number
        rebind(parameter, nodes[result], True, before[0])


_recipes: dict[Any, list[Recipe | None]] = {}  # by what is alike; None: such an update can't be repeated
_functions: dict[Any, Numbers] = {}  # of the recipes, by what they work out


class Updates:
    """The updates of one step of an optimizer that others repeat."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self.known: dict[Any, Update | None] = {}
        self.found: dict[Any, list[Any] | None] = {}  # what recipes have worked out
        self.settings: dict[int, Any] = {}  # of the groups
        self.elementwise: dict[int, bool] = {}  # whether they are updated so

    def may_repeat(self, group: Any) -> bool:
        """Whether a group is updated element by element: it is asked once, for a trace notes each time that something is read."""
        found = self.elementwise.get(id(group))
        if found is None:
            found = self.elementwise[id(group)] = self.optimizer.is_elementwise(group)
        return found

    def repeat(self, turn: Turn, own: Node) -> bool:
        """Update a parameter, which is its `own` node, as others were; False where the optimizer's rule does something else."""
        _, gradient, state, group = turn
        before, parts = [own, gradient.node], list[Any]([id(group)])
        for name, value in state.items():
            if isinstance(value, Tensor):
                before.append(value.node)
                continue
            number = state[name]  # which stands for that of each call while a function is traced
            parts += (Unknown, number.name) if type(number) is Unknown else (type(number), number)
        kind = (*parts, *state, *[x.type.code for x in before])
        if kind not in self.known:
            self.known[kind] = self._fitting(turn, before, tuple(parts))
        update = self.known[kind]
        if update is not None:
            update.repeat(turn, before)
        return update is not None

    def _fitting(self, turn: Turn, before: Sequence[Node], numbers: Any) -> Update | None:
        """How a parameter is updated, of which `before` is given, with the numbers that decide on those of the update."""
        _, _, state, group = turn
        if id(group) not in self.settings:
            self.settings[id(group)] = _settings(group)
        settings = self.settings[id(group)]
        if settings is None or before[0].type.dtype.narrow:
            return None
        form = [(name, None if isinstance(x, Tensor) else type(x)) for name, x in state.items()]
        rule = getattr(self.optimizer.update, "__func__", self.optimizer.update)
        key = (type(self.optimizer), rule, settings, *form, *[x.type.code for x in before])
        recipes = _recipes.get(key, [])
        if None in recipes:
            return None
        for recipe in recipes:
            update = self._with_numbers(recipe, turn, numbers)
            if update is not None:
                return update
        if len(recipes) == VARIANTS:
            return None
        made = _recorded_apart(self.optimizer, turn, before)
        if len(_recipes) >= MOST:
            _recipes.clear()
            _functions.clear()
        _recipes[key] = [*recipes, made]
        return None if made is None else self._with_numbers(made, turn, numbers)

    def _with_numbers(self, recipe: Recipe | None, turn: Turn, numbers: Any) -> Update | None:
        """A recipe with the numbers of a parameter, if it is how that is updated."""
        assert recipe is not None
        key = (numbers, id(recipe.numbers))
        if key not in self.found:
            self.found[key] = recipe.found(*turn[2:])
        found = self.found[key]
        return None if found is None else recipe.update(found)


def _settings(group: Any) -> Any:
    """What isn't a number of a group's hyperparameters, and the types of numbers; None where there is more."""
    found: list[Any] = []
    for name, value in dict.items(group):
        kind = type(value)
        if kind is float or kind is int:
            found.append((name, kind))
        elif kind in PLAIN:
            found.append((name, value))
        elif name not in NOT_READ:
            parts = value if kind is tuple else (value,)
            if not all([tracing.is_number(x) for x in parts]):
                return None
            found.append((name, kind, *map(type, parts)))
    return tuple(found)


def _recorded_apart(optimizer: Any, turn: Turn, before: Sequence[Node]) -> Recipe | None:
    """See `_recorded`. Each operation's line is where the optimizer says it, and nobody traces."""
    outer = get_mode()
    try:
        MODE.set(Mode(False, None, 0, outer.outer))
        with tracing.paused():
            return _recorded(optimizer, turn, before)
    finally:
        MODE.set(outer)


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
    kinds = [[(name, isinstance(x, Tensor)) for name, x in dict.items(entries)] for entries in (begun, inner)]
    if result.type is not before[0].type or kinds[0] != kinds[1]:
        return None
    counts = [name for name in inner.changed() if name not in after]
    numbers = [dict.__getitem__(inner, name) for name in counts]
    written = _written(stand_ins, [result, *after.values()])
    if written is None or not all([tracing.is_number(x) for x in [*numbers, *[begun[name] for name in counts]]]):
        return None
    constants, callee, (first, *places) = written
    wanted = [*[x.attributes for x in constants], *numbers]
    names = [x.name if type(x) is Unknown else repr(x) for x in wanted]
    said = (*read, *ledger.lines.items(), *ledger.conditions, *names, repr(ledger.constants))
    function = _functions.setdefault(said, ledger.function(wanted))
    kept = list(zip(after, places, strict=True))
    return Recipe(read, function, [x.type for x in constants], callee, first, kept, counts)


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
            parts = x.attributes if type(x.attributes) is tuple else (x.attributes,)
            if not (x.op.elementwise or x.op is CAST) or x.op.masked is not None or x.tracked or x.value is not None:
                return None
            if any([type(part) is Unknown for part in parts]):
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
