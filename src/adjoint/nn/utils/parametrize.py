"""Parameters computed from others: `module.weight` becomes a function of what is trained.

The parameter moves into `module.parametrizations.weight`, and the module gets a class of its own with a property in its place.
Names, keys and results are PyTorch's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from adjoint import tracing
from adjoint.nn.containers import ModuleDict, ModuleList
from adjoint.nn.lazy import refuse_lazy
from adjoint.nn.module import Module, is_variable
from adjoint.nn.states import BUFFER, PARAMETER, UNSAVED
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, variable
from adjoint.tensors.located import at_user
from adjoint.transforms.modes import no_grad

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "type_before_parametrizations",
]  # fmt: skip

# by module and name: the module, which must outlive its number, and the tensor
_cache: ContextVar[dict[tuple[int, str], tuple[Any, Tensor]] | None] = ContextVar(
    "adjoint_parametrizations", default=None
)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after the other, and what they start from.

    That is `original`; `original0`, `original1` and so on where the first parametrization's `right_inverse` gives several.
    Called without arguments it gives the tensor.

    >>> import adjoint as ad
    >>> layer = ad.nn.utils.parametrizations.weight_norm(ad.nn.Linear(2, 3))
    >>> layer.parametrizations.weight().shape
    (3, 2)
    """

    def __init__(self, first: Module, value: Tensor) -> None:
        self.append(first)
        self.is_tensor = True
        originals = _undone(first, value)
        if isinstance(originals, Tensor):
            kept = value if is_variable(value) else None
            if kept is not None:
                kept.data = originals
            self._hold("original", kept if kept is not None else originals, is_variable(value))
        else:
            self.is_tensor = False
            for number, part in enumerate(originals):
                self._hold(f"original{number}", part, is_variable(value))

    def _hold(self, name: str, value: Tensor, trained: bool) -> None:
        if trained:
            self.register_parameter(name, value if is_variable(value) else variable(value.detach()))
        else:
            self.register_buffer(name, value)

    def originals(self) -> list[Tensor]:
        """What the parametrizations start from."""
        return [tensor for _, tensor in self._own(PARAMETER, BUFFER)]

    def forward(self) -> Tensor:
        """The tensor."""
        first, *others = self
        value: Tensor = first(*self.originals())
        for parametrization in others:
            value = parametrization(value)
        return value

    @no_grad()
    def right_inverse(self, value: Tensor) -> None:
        """Change what is trained so that the tensor gets this value. Raises RuntimeError where there is no inverse."""
        for parametrization in reversed(list(self)):
            if not hasattr(parametrization, "right_inverse"):
                raise RuntimeError(
                    f"{type(parametrization).__name__} defines no right_inverse, so the parametrized tensor can't be "
                    f"assigned to{at_user()}"
                )
            value = parametrization.right_inverse(value)
        parts = [value] if isinstance(value, Tensor) else list(value)
        for original, part in zip(self.originals(), parts, strict=True):
            original.data = part


def _held(module: Any) -> ModuleDict:
    """What holds a module's parametrizations, by the names of the tensors."""
    held: ModuleDict = module.parametrizations
    return held


@no_grad()
def _undone(parametrization: Module, value: Tensor) -> Any:
    """What a parametrization makes the value from; the value itself where it doesn't say, or knows no way."""
    if not hasattr(parametrization, "right_inverse"):
        return value.detach()
    try:
        found = parametrization.right_inverse(value.detach())
    except NotImplementedError:
        return value.detach()
    return found.detach() if isinstance(found, Tensor) else tuple([part.detach() for part in found])


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let a parameter or buffer of a module be computed by `parametrization` from what is trained; gives the module back.

    `parametrization` is a module whose `forward` takes a tensor. If it has `right_inverse(value)`, that gives what the tensor's
    present value comes from, and makes the tensor assignable; where it gives a tuple, these are the arguments of `forward`. A
    second parametrization is applied to what the first gives. Unless `unsafe`, shape and dtype must stay. Raises ValueError
    when they don't, when there is no such tensor, and for a lazy layer that has seen no input.

    >>> import adjoint as ad
    >>> class Symmetric(ad.nn.Module):
    ...     def forward(self, x):
    ...         return ad.triu(x) + ad.triu(x, k=1).mT
    >>> layer = ad.nn.Linear(3, 3)
    >>> _ = ad.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all())
    True
    """
    name = type(module).__name__
    tracing.refuse(module, f"{name}.{tensor_name}")
    refuse_lazy("register_parametrization", module)
    if is_parametrized(module, tensor_name):
        known: Any = _held(module)[tensor_name]
        before = known()
        if not unsafe:
            _check_alike(parametrization, before, parametrization(before))
        known.append(parametrization)
        return module
    if module._kinds.get(tensor_name) not in (PARAMETER, BUFFER, UNSAVED):
        raise ValueError(f"register_parametrization: {name} has no parameter or buffer {tensor_name!r}{at_user()}")
    value: Tensor = getattr(module, tensor_name)
    shape, dtype = value.shape, value.dtype
    parametrization.train(module.training)
    # another interface's modules may name a list of their own
    held_by: type[ParametrizationList] = getattr(module, "_parametrized_by", ParametrizationList)
    computed = held_by(parametrization, value).train(module.training)
    if not unsafe:
        _check_alike(parametrization, value, computed())
    del module.__dict__[tensor_name]
    del module._kinds[tensor_name]
    if "parametrizations" not in module._kinds:
        module.add_module("parametrizations", ModuleDict())
        kind = type(module)
        own = type(f"Parametrized{kind.__name__}", (kind,), {"__module__": kind.__module__, "__doc__": kind.__doc__})
        object.__setattr__(module, "__class__", own)
    _held(module)[tensor_name] = computed
    setattr(type(module), tensor_name, _property(tensor_name, (shape, dtype)))
    tracing.changed()
    return module


def _check_alike(parametrization: Module, before: Tensor, after: Any) -> None:
    if not isinstance(after, Tensor) or after.shape != before.shape or after.dtype != before.dtype:
        found = f"{after.dtype.name}{list(after.shape)}" if isinstance(after, Tensor) else type(after).__name__
        raise ValueError(
            f"{type(parametrization).__name__} makes {before.dtype.name}{list(before.shape)} into {found}; with unsafe=True that "
            f"is allowed{at_user()}"
        )


def _property(name: str, like: Any) -> property:
    def read(module: Any) -> Tensor:
        held = _cache.get()
        if (
            held is None or tracing.active() is not None
        ):  # what is made while a function is traced is of that function alone
            computed: Tensor = module.parametrizations[name]()
            return computed
        if (id(module), name) not in held:
            held[id(module), name] = module, module.parametrizations[name]()
        return held[id(module), name][1]

    def write(module: Any, value: Any) -> None:
        module.parametrizations[name].right_inverse(asarray(value, dtype=like[1]).detach())

    return property(read, write, doc=f"The parametrized {name}.")


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one of this tensor.

    >>> import adjoint as ad
    >>> layer = ad.nn.utils.parametrizations.weight_norm(ad.nn.Linear(2, 3))
    >>> [ad.nn.utils.parametrize.is_parametrized(layer, name) for name in (None, "weight", "bias")]
    [True, True, False]
    """
    if "parametrizations" not in module._kinds:
        return False
    return tensor_name is None or tensor_name in _held(module)


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before its first parametrization.

    >>> import adjoint as ad
    >>> layer = ad.nn.utils.parametrizations.weight_norm(ad.nn.Linear(2, 3))
    >>> ad.nn.utils.parametrize.type_before_parametrizations(layer).__name__
    'Linear'
    """
    return type(module).__mro__[1] if is_parametrized(module) else type(module)


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a tensor an ordinary parameter (or buffer) again; gives the module back.

    Its value is the parametrized one, or with `leave_parametrized=False` the original. Raises ValueError where there is no
    parametrization, or where it has several originals and none can be left.

    >>> import adjoint as ad
    >>> layer = ad.nn.utils.parametrizations.weight_norm(ad.nn.Linear(2, 3))
    >>> _ = ad.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight']
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"{type(module).__name__} has no parametrization of {tensor_name!r}{at_user()}")
    tracing.refuse(module, f"{type(module).__name__}.{tensor_name}")
    computed: Any = _held(module)[tensor_name]
    if not leave_parametrized and not computed.is_tensor:
        raise ValueError(f"{tensor_name} is computed from several tensors; leave it parametrized{at_user()}")
    with no_grad():
        value = computed().detach()
    originals = computed.originals()
    trained = is_variable(originals[0])
    delattr(type(module), tensor_name)
    if computed.is_tensor:  # the same object, which an optimizer may hold
        tensor = originals[0]
        if leave_parametrized:
            tensor.data = value
    else:
        tensor = variable(value) if trained else value
    if trained:
        module.register_parameter(tensor_name, tensor)
    else:
        module.register_buffer(tensor_name, tensor)
    left = {name: kept for name, kept in _held(module).items() if name != tensor_name}
    if left:
        module.add_module("parametrizations", ModuleDict(left))
    else:
        delattr(module, "parametrizations")
        object.__setattr__(module, "__class__", type(module).__mro__[1])
    tracing.changed()
    return module


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Inside, each parametrized tensor is computed once, however often it is read; a compiled function computes it for itself.

    >>> import adjoint as ad
    >>> layer = ad.nn.utils.parametrizations.weight_norm(ad.nn.Linear(2, 3))
    >>> with ad.nn.utils.parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    if _cache.get() is not None:
        yield
        return
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)
