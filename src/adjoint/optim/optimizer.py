"""What the optimizers share: parameter groups, state, and a step whose updates are evaluated together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, TypedDict

import numpy as np

from adjoint import tracing, tree
from adjoint.execution.interpreter import whole
from adjoint.graph.collector import without_collector
from adjoint.hints import attribute_error
from adjoint.primitives.core import FULL, leaf
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user
from adjoint.tensors.named import variable_of
from adjoint.tensors.pending import evaluated_soon, settle
from adjoint.tracing import active
from adjoint.transforms.modes import enable_grad, no_grad

from .alike import Turn, Updates
from .rates import check_rate, give_rate, rate_as
from .rows import update_rows

__all__ = ["Group", "Optimizer", "Options", "State", "named"]


class Options(TypedDict, total=False):
    """Keywords of PyTorch's optimizers that say how a step is done.

    With `maximize` the step goes up the gradient. The others choose among PyTorch's ways to compute the same numbers: they
    are taken and kept, so that states travel, and change nothing. `differentiable=True` is an error.
    """

    maximize: bool
    foreach: bool | None
    capturable: bool
    differentiable: bool
    fused: bool | None


OPTIONS = Options(maximize=False, foreach=None, capturable=False, differentiable=False, fused=None)

OWN = __name__.removesuffix("optimizer")  # how the names of modules with rules of ours begin


class _Numbers(tracing.Versioned, dict[str, Any]):
    """A dictionary whose numbers, and tuples of numbers, a compiled function reads, and writes, anew in each call."""

    def __getitem__(self, name: str) -> Any:
        value = dict.__getitem__(self, name)
        tracer = active()
        return value if tracer is None else tracer.number(self, name, value)

    def __setitem__(self, name: str, value: Any) -> None:
        tracer = tracing.active()
        if tracer is not None and tracing.is_number(super().get(name)):
            tracer.set_number(self, name, value)
            return
        if tracer is None and _are_numbers(value, super().get(name)):
            super().__setitem__(name, value)
            return
        self._refuse(name)
        super().__setitem__(name, value)
        self._changed()

    def _refuse(self, name: str) -> None:
        tracing.refuse(self, f"{type(self).__name__}[{name!r}]")

    def _changed(self) -> None:
        self.version += 1
        tracing.changed()

    def __delitem__(self, name: str) -> None:
        self._refuse(name)
        super().__delitem__(name)
        self._changed()

    def update(self, *others: Any, **entries: Any) -> None:
        """Set entries, each as by `self[name] = value`."""
        for name, value in dict(*others, **entries).items():
            self[name] = value

    def __ior__(self, other: Any) -> Self:  # type: ignore[override,misc]
        self.update(other)
        return self

    def setdefault(self, name: str, default: Any = None) -> Any:
        """The entry of a name, set if there was none."""
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        """Take an entry out, and give it."""
        self._refuse(name)
        found = super().pop(name, *default)
        self._changed()
        return found

    def popitem(self) -> tuple[str, Any]:
        """Take the last entry out, and give it with its name."""
        self._refuse("...")
        found = super().popitem()
        self._changed()
        return found

    def clear(self) -> None:
        """Take all entries out."""
        self._refuse("...")
        super().clear()
        self._changed()


def _are_numbers(new: Any, old: Any) -> bool:
    """Whether both are numbers, or as many numbers in tuples: `tracing.Tracer.number` reads them anew."""
    if isinstance(new, tuple) and isinstance(old, tuple):
        return len(new) == len(old) and all(map(tracing.is_number, (*new, *old)))
    return tracing.is_number(new) and tracing.is_number(old)


class Sharing(Protocol):
    """Who else keeps the state of which parameters, and updates them."""

    def mine(self, number: int) -> bool:
        """Whether the parameter of this number is updated here."""

    def spread(self, numbered: Sequence[tuple[int, Tensor]]) -> None:
        """Bring the new values of the parameters, by number, to all that update some of them."""

    def whole(self, entries: dict[int, Any]) -> dict[int, Any]:
        """The state of all parameters by number, from those who keep them."""


class Group(_Numbers):
    """Some parameters (`"params"`) and the hyperparameters that apply to them, by name."""


class _Rated(Group):
    """A group whose rate is a tensor, with that in another dtype; all else is the group's own."""

    def __init__(self, group: Group, rate: Tensor) -> None:
        self.group, self.rate = group, rate

    def __getitem__(self, name: str) -> Any:
        return self.rate if name == "lr" else self.group[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The entry of a name, the default without one."""
        return self[name] if name in self.group else default


class State(_Numbers):
    """What an optimizer remembers of one parameter: tensors of its shape, and numbers."""


class Optimizer(tracing.Watched):
    """Base of the optimizers. A subclass gives its hyperparameters to `__init__` and defines `update`.

    `parameters` are variables, pairs of a name and a variable (`model.named_parameters()`; the names become a group's
    `"param_names"`), or dictionaries with these under `"params"` and hyperparameters that differ from the others'. `param_groups`
    holds them; `optimizer.lr = 0.01` sets a hyperparameter of all groups, and `optimizer.param_groups[0]["lr"] = 0.01` one
    group's; both take effect at the next step. The rate `lr` may be a tensor without axes, to whose value of the moment every
    step looks, and which schedules write to; others read it too.

    Of a table whose gradient stays rows (`nn.Embedding(sparse=True)`), an optimizer that `is_rowwise` updates the rows that
    have a gradient. Rows whose gradient is zero stay as they are, and so does what is remembered of them: no average of theirs
    decays, no weight. For SGD and Adagrad without weight decay that is the same; for Adam it is what `SparseAdam` does.

    Raises ValueError when there are no parameters, or when one comes twice; TypeError for what is no variable.
    """

    sharing: Sharing | None = None  # with other processes: see `distributed.data_parallel`
    numbers: ClassVar[frozenset[str]] = frozenset()  # entries of the state, which PyTorch holds in tensors
    _further: ClassVar[bool] = False  # whether groups may have entries that are no hyperparameters
    options: ClassVar[tuple[str, ...]] = ()  # which of `Options` a subclass takes: those that PyTorch's has

    def __init__(
        self,
        parameters: Iterable[Tensor] | Iterable[dict[str, Any]],
        options: Options | None = None,
        /,
        **defaults: Any,
    ) -> None:
        given = options or {}
        unknown = [key for key in given if key not in self.options]
        if unknown:
            known = ", ".join([*defaults, *self.options])
            raise TypeError(f"{type(self).__name__} has no {', '.join(unknown)}=; it has {known}{at_user()}")
        self.defaults = {**defaults, **{key: given.get(key, OPTIONS[key]) for key in self.options}}  # type: ignore[literal-required]
        self.param_groups: list[Group] = tracing.VersionedList()
        self._states: list[State] = tracing.VersionedList()  # one for each parameter, in the order of the groups
        source: Any = parameters
        if not isinstance(source, Iterable):
            method = callable(source) and getattr(source, "__name__", "") == "parameters"
            hint = "; call it: model.parameters()" if method else ""
            hint = "; give it model.parameters()" if hasattr(source, "parameters") else hint
            raise TypeError(f"{type(self).__name__} trains variables, not a {type(source).__name__}{hint}{at_user()}")
        entries: list[Any] = [source] if isinstance(source, Tensor) else list(source)
        if not entries:
            raise ValueError(
                f"{type(self).__name__} got no parameters; has the model any, is an iterator used up?{at_user()}"
            )
        for group in entries if isinstance(entries[0], dict) else [{"params": entries}]:
            self.add_param_group(group)

    @property
    def state(self) -> Any:
        """What is remembered of the parameters: a list with a dictionary for each, in the order of the groups."""
        return self._states

    @state.setter
    def state(self, entries: Iterable[Mapping[str, Any]]) -> None:
        self._states = tracing.VersionedList(x if isinstance(x, State) else State(x) for x in entries)

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Train more parameters: `{"params": variables, "lr": 0.01}`; what it doesn't name is as in the constructor."""
        name = type(self).__name__
        given = group["params"]
        names, parameters = named([given] if isinstance(given, Tensor) else list(given), name)
        if not parameters:
            raise ValueError(f"{name} got no parameters{at_user()}")
        if self.param_groups and (names is None) != ("param_names" not in self.param_groups[0]):
            raise ValueError(f"{name}: parameters of all groups come with their names, or of none{at_user()}")
        unknown = sorted(set(group) - set(self.defaults) - {"params", "param_names"})
        if unknown and not self._further:
            raise TypeError(
                f"{name} has no hyperparameter {', '.join(unknown)}; it has {', '.join(self.defaults)}{at_user()}"
            )
        known = {id(parameter) for group in self.param_groups for parameter in group["params"]}
        for parameter in parameters:
            if not isinstance(parameter, Tensor) or not parameter.is_leaf:
                what = "a computed tensor" if isinstance(parameter, Tensor) else type(parameter).__name__
                raise TypeError(f"{name} trains variables, not {what}{at_user()}")
            if id(parameter) in known:
                raise ValueError(f"{name} got a parameter of shape {parameter.shape} twice{at_user()}")
            known.add(id(parameter))
        more = {} if names is None else {"param_names": names}
        made = Group({**self.defaults, **group, "params": tracing.VersionedList(parameters), **more})
        self.check(made)
        tracing.refuse(self, f"{name}.param_groups")
        self.param_groups.append(made)
        self._states += [State() for _ in parameters]
        tracing.changed()

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant; subclasses add theirs."""
        of = type(self).__name__
        for name in ("lr", "weight_decay", "eps"):
            value = group.get(name, 0)
            if name == "lr" and isinstance(value, Tensor):
                check_rate(of, value)
                continue
            if not isinstance(value, (int, float, np.integer, np.floating)):
                raise TypeError(f"{of}: {name} must be a number; it is {value!r}{at_user()}")
            if not value >= 0:
                raise ValueError(f"{of}: {name} must not be negative; it is {value}{at_user()}")
        if type(self).__module__.startswith("adjoint."):
            for name, value in group.items():
                some = value if isinstance(value, tuple | list) else (value,)
                if name not in ("params", "lr") and any(isinstance(x, Tensor) for x in some):
                    raise TypeError(f"{of}: {name} is made of numbers, not of tensors; lr may be one{at_user()}")
        if group.get("differentiable"):
            raise ValueError(
                f"{type(self).__name__}: a step is no operation of the graph. To differentiate through training, write the "
                "update as a function of the parameters, with ad.grad and nn.functional_call inside"
            )

    def is_rowwise(self, group: Group) -> bool:
        """Whether `update`, which then goes element by element, may be given some rows of a table, and leave the others as they
        are."""
        return False

    def is_elementwise(self, group: Group) -> bool:
        """Whether `update` goes element by element and reads nothing but what it is given, so that parameters that are alike are
        updated alike."""
        return self.is_rowwise(group)

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The state of a parameter before its first step: zeros of its shape, a count of 0. Here there is none."""
        return {}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter. `state` is its own: what `prepare` gave at first, changed by `keep`."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a `.grad`; all new values are evaluated together.

        A `closure` is called first, with gradients on: it clears gradients, computes the loss, calls backward and returns the
        loss, which `step` gives back; None without one.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if self._is_ours():
            with tracing.unobserved():
                without_collector(self._descend)
        else:
            without_collector(self._descend)
        return loss

    @no_grad()
    def _descend(self) -> None:
        with evaluated_soon() as soon:
            changed = self._updates()
        settle([tensor.node for tensor in changed], soon.weight)

    def _updates(self) -> list[Tensor]:
        """Record the new value of every parameter; the tensors that have one."""
        changed: list[Tensor] = []
        turns, given = self._turns()
        tracer = active()
        if tracer is not None:
            tracer.alike([state for _, _, state, _ in turns if "step" in state], "step")
        known = Updates(self) if self._is_ours() else None
        update = self._update
        for turn in turns:
            parameter, _, state, _ = turn
            update(turn, known)
            changed.append(parameter)
            if state:
                changed += [value for value in state.values() if isinstance(value, Tensor)]
        if self.sharing is not None:
            self.sharing.spread(given)
            changed += [parameter for _, parameter in given]
        return changed

    def _is_ours(self) -> bool:
        """Whether class, the core's or PyTorch's, and rule are the package's, which reads nothing but what it is given. A rule of
        the user's that was put in its place may read anything, anew in each step."""
        rule: Any = getattr(self.update, "__func__", self.update)
        names = getattr(rule, "__globals__", {})
        return type(self).__module__.startswith("adjoint.") and str(names.get("__name__")).startswith(OWN)

    def _update(self, turn: Turn, known: Updates | None) -> None:
        """Give a parameter its new value. `known` are the updates of this step that are recorded as others were."""
        parameter, gradient, state, group = turn
        if group.get("maximize"):
            gradient = -gradient
        node = parameter.node
        variable = variable_of(node)
        if variable is not None and variable.sparse and self.is_rowwise(group):
            parameter.data = update_rows(self.update, parameter, gradient, state, group)
            return
        turn = parameter, gradient, state, group
        alike = known is not None and not isinstance(group, _Rated) and known.may_repeat(group)
        if known is None or not alike or not known.repeat(turn, node):
            parameter.data = self.update(parameter, gradient, state, group)

    def _turns(self) -> tuple[list[tuple[Tensor, Tensor, State, Group]], list[tuple[int, Tensor]]]:
        """The parameters that have a gradient and are updated here, each with that and its state, which has begun; and the
        numbers of all that have one and are shared between processes."""
        if len(self._states) != sum([len(group["params"]) for group in self.param_groups]):
            raise RuntimeError(
                f"{type(self).__name__}: it has {len(self._states)} dictionaries in `state`, one is needed for each parameter; "
                f"clear them one by one to begin anew{at_user()}"
            )
        turns: list[tuple[Tensor, Tensor, State, Group]] = []
        given: list[tuple[int, Tensor]] = []
        states = iter(enumerate(self._states))
        for group in self.param_groups:
            rate = group.get("lr")
            rated: dict[str, Group] = {}  # by dtype
            for parameter, (number, state) in zip(group["params"], states, strict=False):
                gradient = parameter.grad
                if gradient is None:
                    continue
                if self.sharing is not None:
                    given.append((number, parameter))
                    if not self.sharing.mine(number):
                        continue
                if not state:
                    self._begin(parameter, state, group)
                chosen = group
                if isinstance(rate, Tensor):
                    dtype = parameter.dtype
                    if dtype.name not in rated:
                        rated[dtype.name] = _Rated(group, rate_as(rate, dtype))
                    chosen = rated[dtype.name]
                turns.append((parameter, gradient, state, chosen))
        return turns, given

    def _begin(self, parameter: Tensor, state: State, group: Group) -> None:
        """Fill the state of a parameter. It is there from then on, also where this step is only traced. What it begins with has
        its value, so that the first step is like all others; in a compiled step, which has one structure anyway, constants need
        no memory of their own."""
        traced = tracing.active() is not None
        with tracing.paused():
            begun = self.prepare(parameter, group)
            for tensor in begun.values():
                if isinstance(tensor, Tensor) and not traced:
                    node = tensor.node
                    if node.op is FULL and node.value is None:
                        tensor.node = leaf(whole(node), node.type)
            dict.update(state, begun)  # not counted as a change, which it is not to who traces

    def zero_grad(self) -> None:
        """Set the `.grad` of every parameter to None."""
        with tracing.unobserved():
            for group in self.param_groups:
                for parameter in group["params"]:
                    parameter.grad = None

    def named_state(self, names: Mapping[int, str]) -> Iterator[tuple[str, Tensor]]:
        """The tensors of the state as `key[parameter]`, of parameters with `names` by their addresses, for explanations."""
        parameters = [x for group in self.param_groups for x in group["params"]]
        for parameter, state in zip(parameters, self._states, strict=False):
            for key, value in state.items():
                if isinstance(value, Tensor) and id(parameter) in names:
                    yield f"{key}[{names[id(parameter)]}]", value

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on: `"state"` by the parameter's number, and `"param_groups"` with these numbers.

        PyTorch's format. The tensors are values: further steps don't change them.
        """
        state = {
            number: {name: value.detach() if isinstance(value, Tensor) else value for name, value in entries.items()}
            for number, entries in enumerate(self._states)
            if entries
        }
        if self.sharing is not None:
            state = self.sharing.whole(state)
        groups, start = [], 0
        for group in self.param_groups:
            numbers = list(range(start, start + len(group["params"])))
            start += len(numbers)
            entries = {key: value.detach() if isinstance(value, Tensor) else value for key, value in group.items()}
            groups.append({**entries, "params": numbers})
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict()` of an optimizer with the same groups of parameters.

        Raises ValueError when the number or sizes of groups or the shapes differ; nothing is changed then.
        """
        name = type(self).__name__
        sizes = [len(group["params"]) for group in self.param_groups]
        saved = [len(group["params"]) for group in state["param_groups"]]
        if sizes != saved:
            raise ValueError(f"{name}: it has groups of {sizes} parameters, the state groups of {saved}")
        parameters = [parameter for group in self.param_groups for parameter in group["params"]]
        entries = [State() for _ in parameters]
        for number, values in state["state"].items():
            if int(number) >= len(parameters):
                raise ValueError(f"{name}: the state has a parameter {number}, it has {len(parameters)} in all")
            if self.sharing is not None and not self.sharing.mine(int(number)):
                continue
            entries[int(number)] = State(
                (key, self._restored(f"{key} of parameter {number}", key, value, parameters[int(number)]))
                for key, value in values.items()
            )
        tracing.refuse(self, f"{name}.state")
        for group, other in zip(self.param_groups, state["param_groups"], strict=True):
            for key, value in other.items():
                if key == "lr":
                    give_rate(group, value.detach() if isinstance(value, Tensor) else value)
                elif key in self.defaults or (self._further and key not in ("params", "param_names")):
                    group[key] = value
        self._states = tracing.VersionedList(entries)

    def _restored(self, what: str, key: str, value: Any, parameter: Tensor) -> Any:
        """An entry of a loaded state in the form that `update` works with."""
        if key == "step":
            return int(value)  # PyTorch and files have it as a tensor
        if isinstance(value, bool | int | float | None):
            return value
        tensor = asarray(value, dtype=parameter.dtype).detach()  # an object of its own: `keep` rebinds it
        if key in self.numbers:
            return float(tensor.item())
        expected = self.shape_of(key, parameter)
        if tensor.shape != expected:
            name = type(self).__name__
            of = "the parameter" if expected == parameter.shape else "expected"
            raise ValueError(f"{name}: {what} has shape {tensor.shape}, {of} {expected}")
        return tensor

    def shape_of(self, key: str, parameter: Tensor) -> tuple[int, ...]:
        """The shape of an entry of a parameter's state that is no number: here the parameter's."""
        return parameter.shape

    def __getattr__(self, name: str) -> Any:
        # Reached only where no ordinary attribute has that name.
        if name not in object.__getattribute__(self, "__dict__").get("defaults", ()):
            raise attribute_error("Optimizer", self, name)
        values = [group[name] for group in self.param_groups]
        if any(value != values[0] for value in values[1:]):
            raise AttributeError(f"the groups of {type(self).__name__} differ in {name}: {values}")
        return values[0]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in object.__getattribute__(self, "__dict__").get("defaults", ()):
            for group in self.param_groups:
                group[name] = value
        else:
            tracing.refuse(self, f"{type(self).__name__}.{name}")
            object.__setattr__(self, name, value)
            tracing.changed()

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}("]
        for number, group in enumerate(self.param_groups):
            shown = [name for name in self.defaults if name not in OPTIONS or group[name] != OPTIONS[name]]  # type: ignore[literal-required]
            settings = ", ".join(f"{name}={group[name]}" for name in shown)
            lines.append(f"  group {number}: {len(group['params'])} parameters, {settings}")
        return "\n".join([*lines, ")"])


def keep(state: State, name: str, value: Tensor) -> Tensor:
    """Rebind a tensor of the state to a new value, and give it back. One that `prepare` didn't make is made here."""
    if name in state:
        state[name].data = value
    else:
        state[name] = value.detach()  # an object of its own: `value` may be the very tensor that `.grad` holds
    tensor: Tensor = state[name]
    return tensor


def named(given: list[Any], of: str) -> tuple[list[str] | None, list[Any]]:
    """Names (None without) and parameters of what an optimizer was given. Raises ValueError where some have names, TypeError for
    names that are none."""
    pairs = [entry for entry in given if isinstance(entry, tuple) and len(entry) == 2]
    if not pairs:
        return None, given
    if len(pairs) < len(given):
        raise ValueError(
            f"{of}: parameters come with their names, or without; {len(pairs)} of {len(given)} have one{at_user()}"
        )
    wrong = [name for name, _ in pairs if not isinstance(name, str)]
    if wrong:
        raise TypeError(f"{of}: the name of a parameter is a str, not {type(wrong[0]).__name__}{at_user()}")
    return [name for name, _ in pairs], [parameter for _, parameter in pairs]


def betas_in_range(name: str, betas: Sequence[float]) -> None:
    """Raise ValueError unless both are at least 0 and below 1, TypeError for what isn't several numbers."""
    if not isinstance(betas, Sequence):
        raise TypeError(f"{name}: betas are two numbers, such as (0.9, 0.999), not {betas}{at_user()}")
    if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
        raise ValueError(f"{name}: betas must be two numbers from 0 up to 1; they are {betas}")


tree.register(tracing.VersionedList, lambda x: (x, None), lambda keys, children: list(children))
