"""torch.optim: the core's optimizers under PyTorch's arguments."""

from __future__ import annotations

import inspect
from abc import ABCMeta
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from adjoint import optim as core_optim
from adjoint.optim.optimizer import OPTIONS, named
from adjoint.tensors.located import at_user

from .._missing import missing
from .._names import refuse, with_keywords
from .._tensor import Core, as_torch
from ..nn.surgery import forget
from . import lr_scheduler, swa_utils
from .hooks import Hooked, with_step_hooks
from .states import States

NAMES = "ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam RAdam RMSprop Rprop SGD SparseAdam".split()
__all__ = [*NAMES, "Optimizer", "lr_scheduler", "swa_utils"]


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()  # a default that each group has to give: programs import it from `torch.optim.optimizer`


class Optimizer(Hooked, metaclass=ABCMeta):
    """Base of optimizers of one's own, as PyTorch's: `param_groups` and `state` are plain dictionaries.

    A subclass calls `super().__init__(params, defaults)` and defines `step`.
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "step" in vars(cls):
            cls.step = with_step_hooks(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: Any = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        given = [params] if isinstance(params, Core) else list(params)
        if not given:
            raise ValueError("an optimizer got no parameters")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)  # type: ignore[arg-type]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters."""
        held = param_group["params"]
        names, parameters = named([held] if isinstance(held, Core) else list(held), type(self).__name__)
        more = {"param_names": names} if names else {}
        for name in [
            name for name, default in self.defaults.items() if default is required and name not in param_group
        ]:
            raise ValueError(f"{type(self).__name__}: the parameters need a value of {name}{at_user()}")
        self.param_groups.append({**self.defaults, **param_group, "params": parameters, **more})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or make them zeros."""
        forget([p for group in self.param_groups for p in group["params"]], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Each subclass's own."""
        raise NotImplementedError(f"{type(self).__name__} defines no step")

    def state_dict(self) -> dict[str, Any]:
        """The state by number of the parameter, and the groups."""
        return self._saved(Optimizer._state)

    def _state(self) -> dict[str, Any]:
        numbers = {id(p): i for i, p in enumerate(p for g in self.param_groups for p in g["params"])}
        groups = [{**g, "params": [numbers[id(p)] for p in g["params"]]} for g in self.param_groups]
        return {"state": {numbers[id(p)]: s for p, s in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from `state_dict()`."""
        self._loaded(Optimizer._load, state_dict)

    def _load(self, state_dict: dict[str, Any]) -> None:
        parameters = [p for g in self.param_groups for p in g["params"]]
        for number, entries in state_dict["state"].items():
            self.state[parameters[int(number)]] = dict(entries)
        for group, saved in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group.update({k: v for k, v in saved.items() if k not in ("params", "param_names")})

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines += [""] * (number > 0) + [f"Parameter Group {number}"]
            lines += [f"    {k}: {group[k]}" for k in sorted(group) if k != "params"]
        return "\n".join([*lines, ")"])


WHOLE: dict[str, Any] = {  # where PyTorch's defaults are integers: they are printed so
    **{n: {"weight_decay": 0} for n in "Adadelta Adam Adamax ASGD NAdam RAdam".split()},
    "SGD": {"momentum": 0, "dampening": 0, "weight_decay": 0}, "RMSprop": {"momentum": 0, "weight_decay": 0},
    "Adagrad": {"lr_decay": 0, "weight_decay": 0, "initial_accumulator_value": 0}, "LBFGS": {"lr": 1},
    "Rprop": {"step_sizes": (1e-6, 50)},
}  # fmt: skip


def _made(name: str) -> type:
    core = getattr(core_optim, name)
    whole = WHOLE.get(name, {})
    order = list(inspect.signature(core.__init__).parameters)[2:]  # behind self and the parameters

    def __init__(self: Any, params: Any, *args: Any, **keywords: Any) -> None:
        refuse(name, "differentiable", keywords.get("differentiable"), False)
        if isinstance(params, Core):
            raise TypeError(
                f"{name}: params is an iterable of tensors or dicts, not one tensor; write [tensor]{at_user()}"
            )
        given = {n: value for n, value in whole.items() if order.index(n) >= len(args) and n not in keywords}
        core.__init__(self, params, *args, **keywords, **given)

    def add_param_group(self: Any, param_group: Any) -> None:
        given = param_group.get("params", ()) if isinstance(param_group, dict) else ()
        if isinstance(given, (set, frozenset)):
            raise TypeError(
                f"{name}: a set has no order, which states are saved in; give a list of parameters{at_user()}"
            )
        given = [given] if isinstance(given, Core) else list(given)
        if any(isinstance(x, Core) and not x.is_leaf for x in given):
            raise ValueError(f"{name}: a computed tensor is no leaf, and can't be optimized{at_user()}")
        core.add_param_group(self, {**param_group, "params": given} if given else param_group)

    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        if set_to_none:
            core.zero_grad(self)
        else:
            forget([p for group in self.param_groups for p in group["params"]], set_to_none=False)

    def step(self: Any, closure: Any = None) -> Any:
        return as_torch(core.step(self, closure))

    def saved(self: Any) -> Any:
        found = core.state_dict(self)
        found["state"] = {k: {n: as_torch(v) for n, v in s.items()} for k, s in found["state"].items()}
        return found

    def state_dict(self: Any) -> Any:
        return self._saved(saved)

    def load_state_dict(self: Any, state_dict: Any) -> None:
        self._loaded(core.load_state_dict, state_dict)

    def state(self: Any) -> States:
        return States(self)

    def set_state(self: Any, entries: Any) -> None:
        held = States(self)
        found = {p: entries[p] for p in entries}  # a copy, for it may be what is cleared
        held.clear()
        held.update(found)

    own = inspect.signature(core.__init__)
    first = [
        p.replace(name={"parameters": "params"}.get(p.name, p.name), default=whole.get(p.name, p.default))
        for p in own.parameters.values()
        if p.kind is not p.VAR_KEYWORD
    ]
    options = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=OPTIONS[n]) for n in core.options]  # type: ignore[literal-required]
    __init__.__signature__ = with_keywords(own.replace(parameters=first), *options)  # type: ignore[attr-defined]
    body = {"__init__": __init__, "zero_grad": zero_grad, "step": with_step_hooks(step), "state_dict": state_dict,
            "load_state_dict": load_state_dict, "add_param_group": add_param_group, "__repr__": Optimizer.__repr__,
            "_further": True,
            "state": property(state, set_state, doc="What is remembered of each parameter: a dictionary by parameters."),
            "__doc__": core.__doc__,
            "__module__": __name__}  # fmt: skip
    made = type(name, (Hooked, core), body)
    Optimizer.register(made)
    return made


for _name in NAMES:
    globals()[_name] = _made(_name)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise missing("torch.optim", name, __all__)
