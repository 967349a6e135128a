"""Modules as functions of their state, and ensembles of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, stack, variable
from adjoint.tensors.located import at_user

from .lazy import refuse_lazy
from .module import Module
from .states import CHILD

__all__ = ["functional_call", "stack_module_state"]

State = Mapping[str, Any]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: State | Sequence[State],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """What a module gives with these tensors, by dotted name, in place of its parameters and buffers.

    The module itself stays as it is: the call runs on a copy of its structure, so it can be differentiated by the tensors and
    mapped by `vmap`. `args` is a tuple, or the only argument. A tensor that stands under several names is replaced under all of
    them, unless `tie_weights` is False. With `strict`, all parameters and buffers must be given. Raises ValueError for names that
    aren't there, and for lazy layers that have seen no input.

    >>> import adjoint as ad
    >>> layer = ad.nn.Linear(2, 1)
    >>> state = {"weight": ad.tensor([[1.0, 2.0]]), "bias": ad.tensor([0.5])}
    >>> ad.nn.functional_call(layer, state, ad.tensor([1.0, 1.0]))
    Tensor([3.5])
    """
    return called(module, parameter_and_buffer_dicts, args, kwargs, tie_weights, strict, keeps=False)


def called(
    module: Module,
    parameter_and_buffer_dicts: State | Sequence[State],
    args: Any,
    kwargs: Mapping[str, Any] | None,
    tie_weights: bool,
    strict: bool,
    *,
    keeps: bool,
) -> Any:
    """What `functional_call` gives. With `keeps`, what the module's code assigns to attributes is kept by the module, but what
    stands in the place of given tensors."""
    dicts = (
        [parameter_and_buffer_dicts] if isinstance(parameter_and_buffer_dicts, Mapping) else parameter_and_buffer_dicts
    )
    given: dict[str, Any] = {}
    for state in dicts:
        twice = sorted(set(given) & set(state))
        if twice:
            raise ValueError(f"functional_call: {', '.join(twice)} given twice{at_user()}")
        given |= state
    refuse_lazy("functional_call", module)
    own = _named(module)
    unknown = [name for name in given if name not in own]
    missing = [name for name in own if name not in given] if strict else []
    if unknown or missing:
        problem = f"no {', '.join(unknown)} in it" if unknown else f"{', '.join(missing)} not given"
        raise ValueError(f"functional_call of {type(module).__name__}: {problem}{at_user()}")
    by_object = {id(own[name]): name for name in given} if tie_weights else {}
    chosen = {
        name: given[name] if name in given else given[by_object[id(tensor)]]
        for name, tensor in own.items()
        if name in given or id(tensor) in by_object
    }
    copies = _with_state(module, chosen)
    before = {key: dict(copy.__dict__) for key, copy in copies.items()}
    found = copies[id(module)](*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
    if keeps:
        _take_over(list(module.modules()), copies, before)
    return found


def _take_over(modules: list[Module], copies: dict[int, Module], before: dict[int, dict[str, Any]]) -> None:
    """Assign to modules what has been assigned to their copies since they had the attributes `before`, but for what was given."""
    originals = {id(copies[id(original)]): original for original in modules}
    for original in modules:
        had = before[id(original)]
        for name, value in copies[id(original)].__dict__.items():
            given = name in had and isinstance(had[name], Tensor) and had[name] is not original.__dict__.get(name)
            if name != "_kinds" and not given and (name not in had or value is not had[name]):
                setattr(original, name, originals.get(id(value), value))


def _named(module: Module) -> dict[str, Tensor]:
    """All parameters and buffers under all of their names."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _with_state(module: Module, state: Mapping[str, Any]) -> dict[int, Module]:
    """Copies of a module and of those in it, by the ids of these, with these tensors; what isn't named is the module's own."""
    copies: dict[int, Module] = {}
    for original in module.modules():
        copied = type(original).__new__(type(original))
        copied.__dict__.update(original.__dict__)
        copied.__dict__["_kinds"] = dict(original._kinds)
        copies[id(original)] = copied
    for original in module.modules():
        for name, child in original._own(CHILD):  # under each of its names
            copies[id(original)].__dict__[name] = copies[id(child)]
    for name, tensor in state.items():
        path, _, last = name.rpartition(".")
        owner = copies[id(module)].get_submodule(path)
        owner.__dict__[last] = asarray(tensor)
    return copies


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of models of one structure, stacked along a new first axis: by name, two dictionaries.

    With `functional_call` under `vmap` they are an ensemble, computed at once. The stacked parameters are variables. Raises
    ValueError for no models, and when their names, shapes or modes (training or evaluation) differ.

    >>> import adjoint as ad
    >>> models = [ad.nn.Linear(2, 1) for _ in range(3)]
    >>> parameters, buffers = ad.nn.stack_module_state(models)
    >>> predict = ad.vmap(lambda p, x: ad.nn.functional_call(models[0], p, x), in_axes=(0, None))
    >>> predict(parameters, ad.ones((5, 2))).shape
    (3, 5, 1)
    """
    given = list(models)
    if not given:
        raise ValueError(f"stack_module_state: there are no models{at_user()}")
    for model in given:
        refuse_lazy("stack_module_state", model)
    if len({model.training for model in given}) > 1:
        raise ValueError(f"stack_module_state: some models are in training mode, others in evaluation mode{at_user()}")
    found = []
    for kind in ("named_parameters", "named_buffers"):
        each = [dict(getattr(model, kind)()) for model in given]
        shapes = [{name: tensor.shape for name, tensor in named.items()} for named in each]
        if any(other != shapes[0] for other in shapes):
            raise ValueError(f"stack_module_state: the models' names or shapes differ{at_user()}")
        found.append({name: stack([named[name].detach() for named in each]) for name in each[0]})
    return {name: variable(tensor) for name, tensor in found[0].items()}, found[1]
