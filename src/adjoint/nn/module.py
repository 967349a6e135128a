"""Module: an object that owns parameters, buffers and other modules, found by their attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

from adjoint import tracing, tree
from adjoint.graph import Variable
from adjoint.hints import attribute_error
from adjoint.primitives.core import marker
from adjoint.tensors import Tensor
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.functions import asarray, variable
from adjoint.tensors.functions import tensor as make_tensor
from adjoint.tensors.hooks import inherit_hooks
from adjoint.tensors.located import at_user, enter_scope, leave_scope
from adjoint.tensors.named import variable_of
from adjoint.tensors.waiting import Waiting

from .hooks import HookHandle, Hooks, Registered, add_to, called, everywhere
from .states import BUFFER, CHILD, PARAMETER, UNSAVED, States, join
from .summaries import Summary, summary

__all__ = ["Module", "Parameter"]

DEVICES = ("cpu", "cuda", "mps", "xpu", "meta")  # names that PyTorch gives to devices


def Parameter(value: Any, *, dtype: Any = None, name: str | None = None) -> Tensor:
    """A variable with this value, to be assigned to an attribute of a module.

    A function, not a class: any variable that is assigned to a module becomes one of its parameters, so this is
    `ad.variable` under the name that PyTorch gives it. `value` is a number, an array, or a tensor whose value it takes.
    """
    return variable(value, dtype=dtype, name=name)


class Module(States):
    """A part of a network. Subclass it, assign parameters and modules to attributes, and define `forward`.

    >>> import adjoint as ad
    >>> class Line(ad.nn.Module):
    ...     def __init__(self):
    ...         self.slope = ad.variable(2.0)
    ...         self.offset = ad.variable(1.0)
    ...
    ...     def forward(self, x):
    ...         return self.slope * x + self.offset
    >>> line = Line()
    >>> [name for name, _ in line.named_parameters()]
    ['slope', 'offset']
    >>> line(ad.tensor(3.0)).item()
    7.0

    What an attribute is shows when it is assigned: a variable (a leaf that requires a gradient) becomes a parameter and
    stays one when frozen by `requires_grad_(False)`; a Module becomes a child; what `register_buffer` names is a
    buffer, saved but not trained; everything else, other tensors included, is a plain attribute. The names, the order
    and the keys of `state_dict` are PyTorch's. `training` is set by `train()` and `eval()`.

    To `ad.tree` (and so to `ad.grad` and the other transforms) a module is a container of its parameters.
    """

    training: bool
    _kinds: dict[str, str]
    _hooks: Hooks | None = None
    _checks_plain: ClassVar[bool] = True  # whether attributes that are no state are looked into

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """An empty module: no parameters yet, in training mode."""
        # Here and not in __init__, so that a subclass needn't call super().__init__() before it assigns anything.
        if args and isinstance(args[0], Tensor) and cls.__module__.startswith("adjoint."):
            _check_made_first(cls, args)
        self = super().__new__(cls)
        tracer = tracing.active()
        if tracer is not None:
            tracer.made(self)
        self.__dict__["_kinds"] = {}
        self.__dict__["training"] = True
        return self

    def __copy__(self) -> Self:
        """A module with the same parameters, buffers and children, in which others may be put in their places."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, _kinds=dict(self._kinds))
        return made

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. Each subclass defines its own."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward method")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """`forward` of these arguments, recorded in a scope of the module's class, which pictures show as a box."""
        kind = type(self)
        token = enter_scope(kind.__name__, 2, user=not kind.__module__.startswith("adjoint."))
        try:
            if self._hooks is None and everywhere._hooks is None:
                return self.forward(*args, **kwargs)
            return called(self, args, kwargs)
        finally:
            leave_scope(token)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call `hook(module, args)` before each call of the module; what it returns, unless None, replaces args.

        A result that is no tuple is the only argument. With `with_kwargs` it is `hook(module, args, kwargs)`, and gives None
        or both. `prepend` puts it before the hooks that there are. `remove()` of the handle takes it out again.
        """
        return self._hook("pre", hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookHandle:
        """Call `hook(module, args, output)` after each call of the module; what it returns, unless None, is the output.

        With `with_kwargs` it is `hook(module, args, kwargs, output)`. `prepend` puts it before the hooks that there are. With
        `always_call` it is called, once, also where the module or another hook raises; the output is None then, unless it was
        there. `remove()` of the handle takes it out again.
        """
        return self._hook("post", hook, prepend, with_kwargs, always_call)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> HookHandle:
        """Call `hook(module, grad_input, grad_output)` when a reverse pass has gone through a call of the module.

        Both are tuples: the gradients by the positional arguments and by the tensors of the output, None for what has none. What
        the hook returns, unless None, is passed on in place of grad_input. Where no argument is tracked it is called with nothing
        but None in grad_input, and can replace nothing. `prepend` puts it before the hooks that there are. When the hook is
        called: raises TypeError for a result of another length, ValueError for gradients of other shapes.
        """
        return self._hook("backward", hook, prepend, with_kwargs=False)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> HookHandle:
        """Call `hook(module, grad_output)` when a reverse pass comes to a call of the module.

        What it returns, unless None, takes the place of grad_output, a tuple with an entry for each tensor of the output.
        `prepend` puts it before the hooks that there are.
        """
        return self._hook("backward_pre", hook, prepend, with_kwargs=False)

    def _hook(
        self, kind: str, hook: Callable[..., Any], prepend: bool, with_kwargs: bool, always: bool = False
    ) -> HookHandle:
        return add_to(self, kind, Registered(hook, with_kwargs, always), prepend)

    # ---------------------------------------------------------------- attributes

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Reached only where no attribute has that name, or where a property raised.
            if name.startswith("__"):  # a protocol that somebody asks for, as NumPy does
                raise AttributeError(name)
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)
            raise attribute_error("Module", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        state = object.__getattribute__(self, "__dict__")  # `self.__dict__` would count as read by who is traced
        if name in state and state[name] is value:
            return  # `self.count += 1` on a tensor rebinds the tensor and assigns the same object again
        if tracing.active() is not None:
            tracing.refuse(self, f"{type(self).__name__}.{name}", self._way_to_write(name, value))
        if hasattr(type(getattr(type(self), name, None)), "__set__"):
            object.__setattr__(self, name, value)  # a property keeps its own books
        else:
            kind = self._kind_of(name, value)
            if kind is None:
                self._kinds.pop(name, None)
            else:
                self._kinds[name] = kind
            state[name] = value
        tracing.changed()

    def _way_to_write(self, name: str, value: Any) -> str | None:
        """What to write for another tensor in a buffer's place, to whoever sees it as a new value of the same one."""
        if self._kinds.get(name) not in (BUFFER, UNSAVED) or not isinstance(value, Tensor):
            return None
        return f"A buffer takes a new value by `self.{name}.data = ...`, or in place (`self.{name} += 1`)"

    def _kind_of(self, name: str, value: Any) -> str | None:
        """What this value makes of the attribute. Raises TypeError for what can only be a mistake."""
        kind = self._kinds.get(name)
        if isinstance(value, Module):
            return CHILD
        if isinstance(value, Tensor):
            if is_variable(value):
                return PARAMETER
            if kind == PARAMETER:
                raise TypeError(
                    f"{type(self).__name__}.{name} is a parameter, which a tensor that is no variable can't replace. "
                    f"Give it a new value by `module.{name}.data = ...`, or assign `ad.variable(...)`{at_user()}"
                )
            return kind if kind in (BUFFER, UNSAVED) else None
        if value is not None and kind in (PARAMETER, BUFFER, UNSAVED):
            raise TypeError(
                f"{type(self).__name__}.{name} is a {kind} and can't become a {type(value).__name__}; "
                f"give it a new value by `module.{name}.data = ...`{at_user()}"
            )
        self._check_plain(name, value)
        return None

    def _check_plain(self, name: str, value: Any) -> None:
        """Raise TypeError for an ordinary container of parameters."""
        if not isinstance(value, list | tuple | dict):
            return
        items = list(value.values())[:8] if isinstance(value, dict) else value[:8]
        if any(isinstance(item, Module) or is_variable(item) for item in items):
            raise TypeError(
                f"{type(self).__name__}.{name}: parameters inside a plain {type(value).__name__} would be overlooked; put "
                f"modules into nn.{'ModuleDict' if isinstance(value, dict) else 'ModuleList'}, and variables into attributes "
                f"of their own{at_user()}"
            )

    def __delattr__(self, name: str) -> None:
        tracing.refuse(self, f"{type(self).__name__}.{name}")
        object.__delattr__(self, name)
        self._kinds.pop(name, None)
        tracing.changed()

    def register_buffer(self, name: str, value: Any, persistent: bool = True) -> None:
        """Make `value` (a tensor, an array or None) the attribute `name`: state that is saved but not trained.

        With `persistent=False` it isn't saved either. Raises KeyError when the name is taken by something else.
        """
        if name not in self._kinds and hasattr(self, name):
            raise KeyError(f"{type(self).__name__} has an attribute {name!r} already")
        tracing.refuse(self, f"{type(self).__name__}.{name}")
        self.__dict__[name] = None if value is None else asarray(value)
        self._kinds[name] = BUFFER if persistent else UNSAVED
        tracing.changed()

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Make `param`, a variable or None, the parameter `name`.

        Raises TypeError for what is neither, KeyError for a name that is taken.
        """
        if not name or "." in name:
            raise KeyError(f"{type(self).__name__}: a parameter can't be called {name!r}; dots separate names")
        if name not in self._kinds and hasattr(self, name):
            raise KeyError(f"{type(self).__name__} has an attribute {name!r} already")
        if param is not None and not is_variable(param):
            raise TypeError(f"{type(self).__name__}.{name} must be a variable or None, not {param!r}")
        setattr(self, name, param)

    def register_module(self, name: str, module: Module) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Module) -> None:
        """Make `module` the child called `name`, which may be any string without a dot, such as `"0"`."""
        if not isinstance(module, Module):
            raise TypeError(
                f"{type(self).__name__}: {name!r} must be a Module, not {type(module).__name__}{_as_module(module)}{at_user()}"
            )
        if not name or "." in name:
            raise KeyError(f"{type(self).__name__}: a child can't be called {name!r}; dots separate names")
        if name not in self._kinds and hasattr(type(self), name):
            raise KeyError(f"{type(self).__name__} has an attribute {name!r} already")
        setattr(self, name, module)

    def get_submodule(self, target: str) -> Module:
        """The module of this dotted name, such as `"encoder.layers.0"`; this one for `""`. Raises AttributeError without one."""
        found: Module = self
        for name in target.split(".") if target else ():
            if found._kinds.get(name) != CHILD:
                raise AttributeError(
                    f"{type(self).__name__} has no module {target!r}: {type(found).__name__} has no {name!r}"
                )
            found = getattr(found, name)
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module in the place of this dotted name, such as `"encoder.layers.0"`. With `strict` there must be one.

        Raises AttributeError where the module that it would be part of isn't there, ValueError for an empty name.
        """
        if not target:
            raise ValueError(f"{type(self).__name__}.set_submodule: the name is empty{at_user()}")
        above, _, name = target.rpartition(".")
        holder = self.get_submodule(above)
        if strict:
            self.get_submodule(target)
        holder.add_module(name, module)

    def get_parameter(self, target: str) -> Tensor:
        """The parameter of this dotted name, such as `"encoder.layers.0.weight"`. Raises AttributeError without one."""
        return self._found(target, PARAMETER)

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of this dotted name, such as `"norm.running_mean"`. Raises AttributeError without one."""
        return self._found(target, BUFFER, UNSAVED)

    def _found(self, target: str, *kinds: str) -> Tensor:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if owner._kinds.get(name) not in kinds:
            raise AttributeError(f"{type(owner).__name__} has no {kinds[0]} {name!r}")
        tensor: Tensor = getattr(owner, name)
        return tensor

    # ---------------------------------------------------------------- walks

    def _own(self, *kinds: str) -> Iterator[tuple[str, Any]]:
        """The attributes of these kinds in the order of their first assignment, without those that are None."""
        for name, kind in self._kinds.items():
            if kind in kinds:
                value = getattr(self, name)
                if value is not None:
                    yield name, value

    def _modules_held(self) -> list[tuple[str, Any]]:
        """The modules that are attributes of this one, each under every name that it has."""
        return list(self._own(CHILD))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that are attributes of this one, with their names, each once."""
        seen: set[int] = set()
        for name, child in self._own(CHILD):
            if id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules that are attributes of this one, each once."""
        for _, child in self.named_children():
            yield child

    def named_modules(self, prefix: str = "", remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        """This module (named by the prefix) and all below it, parents first, each once unless asked otherwise."""
        return _walk(self, prefix, set() if remove_duplicate else None)

    def modules(self) -> Iterator[Module]:
        """This module and all below it, parents first, each once."""
        for _, module in self.named_modules():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The parameters with their dotted names; a shared one once, under its first name, unless asked otherwise."""
        return self._named((PARAMETER,), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """The parameters, each once; with `recurse=False` this module's own only."""
        found = _parameters_below(self) if recurse else None
        if found is None:
            found = [parameter for _, parameter in self.named_parameters(recurse=recurse)]
        yield from found

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their dotted names, each once unless asked otherwise."""
        return self._named((BUFFER, UNSAVED), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once; with `recurse=False` this module's own only."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named(
        self, kinds: tuple[str, ...], prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            if module._checks_plain:
                for name, value in object.__getattribute__(module, "__dict__").items():
                    if name not in module._kinds:
                        module._check_plain(name, value)  # what was put into a list after that was assigned
            for name, tensor in module._own(*kinds):
                if remove_duplicate and id(tensor) in seen:
                    continue
                seen.add(id(tensor))
                yield join(path, name), tensor

    def apply(self, function: Callable[[Module], object]) -> Self:
        """Call `function` on every module below this one and on itself, children first; gives the module back."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set `training` here and below; layers such as dropout behave by it. Gives the module back."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """The same as `train(False)`."""
        return self.train(mode=False)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the `.grad` of every parameter to None; `set_to_none` is taken for PyTorch's sake."""
        for parameter in self.parameters():
            parameter.grad = None

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Freeze (with False) or thaw all parameters. Gives the module back."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def to(self, *where: Any, device: Any = None, dtype: Any = None) -> Self:
        """Cast all floating parameters and buffers to a dtype, in place. Gives the module back.

        `to("float64")` and `to(dtype=...)` cast; `to("cpu")` and `to(device="cpu")` change nothing, for here all is. Raises
        ValueError for another device.
        """
        for given in where:
            if isinstance(given, str) and (given.partition(":")[0] in DEVICES):
                device = given
            elif given is not None:
                dtype = given
        if device is not None and str(device).partition(":")[0] != "cpu":
            raise ValueError(f"to: there is no device {device!r}: adjoint computes on the CPU; leave it out{at_user()}")
        return self if dtype is None else self._cast(dtype)

    def cpu(self) -> Self:
        """The module itself: here all is on the processor."""
        return self

    def _cast(self, dtype: Any) -> Self:
        for _, tensor in self._named((PARAMETER, BUFFER, UNSAVED), "", recurse=True, remove_duplicate=True):
            if tensor.dtype.kind != "f" or tensor.dtype is dtype_of(dtype):
                continue
            if isinstance(tensor, Waiting):
                tensor.cast(dtype)
            else:
                # The tensor stays the same object, which an optimizer may hold; what it names becomes another variable, with the
                # gradient and the hooks of the one that was.
                old, cast = variable_of(tensor.node), tensor.detach().astype(dtype)
                tensor.node = make_tensor(cast, requires_grad=tensor.requires_grad, name=tensor.name).node
                new = variable_of(tensor.node)
                if old is not None and (new is not None or old.grad is not None):
                    if new is None:  # frozen, and its gradient stays
                        tensor.node = marker(tensor.node, new := Variable(None, tracked=False))
                    new.sparse = old.sparse
                    inherit_hooks(new, old)
                    new.grad = None if old.grad is None else old.grad.astype(dtype)
        return self

    def float(self) -> Self:
        """Cast all floating parameters and buffers to float32."""
        return self._cast("float32")

    def double(self) -> Self:
        """Cast all floating parameters and buffers to float64."""
        return self._cast("float64")

    # ---------------------------------------------------------------- text

    def summary(self, *inputs: Any, dtype: Any = None) -> Summary:
        """A table of the layers with the shapes of their outputs, their parameters and their work: see `nn.summary`."""
        return summary(self, *inputs, dtype=dtype)

    def extra_repr(self) -> str:
        """What to show between the parentheses of the module's text, such as `in_features=2, out_features=3`."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules_held()]
        extra = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({extra})"
        if extra:
            lines.insert(0, extra)
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)"


LAYERS_OF_NUMBERS = ("adjoint.nn.activations", "adjoint.nn.losses", "adjoint.nn.regularization", "adjoint.nn.pooling")


def _check_made_first(kind: type, args: tuple[Any, ...]) -> None:
    """Raise TypeError where a layer is made of the tensors that it should be called with."""
    if not any(base.__module__ in LAYERS_OF_NUMBERS for base in kind.__mro__):
        return
    names = [p.name for p in inspect.signature(kind.__init__).parameters.values()]  # type: ignore[misc]
    if "weight" in names[1:2] and not (len(args) > 1 and isinstance(args[1], Tensor)):
        return
    raise TypeError(
        f"{kind.__name__}: a layer is made first and called then: {kind.__name__}()({', '.join('xyz'[: len(args)])}); functions "
        f"of tensors stand in nn.functional{at_user()}"
    )


def _as_module(value: Any) -> str:
    """What to write for something that was taken for a module, as the end of a message."""
    if isinstance(value, type) and issubclass(value, Module):
        return f"; make one: {value.__name__}(...)"
    if isinstance(value, (list, tuple)):
        return "; give the modules themselves: Sequential(*modules)"
    return "; activations are modules too: nn.ReLU() for ad.relu" if callable(value) else ""


def is_variable(value: Any) -> bool:
    """Whether a value is a tensor that the user differentiates by, rather than one computed from such tensors."""
    return isinstance(value, Tensor) and value.requires_grad and value.is_leaf


def _walk(module: Module, path: str, seen: set[int] | None) -> Iterator[tuple[str, Module]]:
    if seen is not None:
        if id(module) in seen:
            return
        seen.add(id(module))
    yield path, module
    for name, child in module._own(CHILD):
        yield from _walk(child, join(path, name), seen)


def _parameters_below(root: Module) -> list[Any] | None:
    """What `named_parameters` gives, without the names; None where a class has walks of its own."""
    if tracing.active() is not None:  # which attributes are read is noted
        return None
    seen: set[int] = set()
    found: dict[int, Any] = {}
    stack = [root]
    while stack:
        module = stack.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        kind = type(module)
        if kind._checks_plain or not (
            kind.named_parameters in PLAIN_WALKS
            and kind.named_modules in PLAIN_WALKS
            and kind._named in PLAIN_WALKS
            and kind._own in PLAIN_WALKS
        ):
            return None
        children = []
        for name, what in module._kinds.items():
            if what == PARAMETER:
                value = getattr(module, name)
                if value is not None:
                    found[id(value)] = value
            elif what == CHILD:
                child = getattr(module, name)
                if child is not None:
                    children.append(child)
        if children:
            stack += children[::-1]
    return list(found.values())


# These, and those of PyTorch's modules, find the same.
PLAIN_WALKS: set[Any] = {Module.named_parameters, Module.named_modules, Module._named, Module._own}


# ---------------------------------------------------------------- a module as a tree


class _Skeleton(tuple[str, ...]):
    """The names of a module's parameters, with the module that they come from: what `tree` keeps beside the leaves."""

    module: Module
    parameters: list[Any]


def _flatten(module: Module) -> tuple[list[Any], _Skeleton]:
    named = list(module.named_parameters())
    skeleton = _Skeleton(name for name, _ in named)
    skeleton.module = module
    skeleton.parameters = [parameter for _, parameter in named]
    return skeleton.parameters, skeleton


def _unflatten(skeleton: Any, leaves: list[Any]) -> Module:
    """A copy of the module with these leaves as its parameters; shared ones stay shared, all else is the original's."""
    copies: dict[int, Any] = {id(parameter): leaf for parameter, leaf in zip(skeleton.parameters, leaves, strict=True)}
    modules: list[Module] = list(skeleton.module.modules())
    for module in modules:
        copies[id(module)] = type(module).__new__(type(module))
    for module in modules:
        copy = copies[id(module)]
        copy.__dict__.update(module.__dict__)
        copy.__dict__["_kinds"] = dict(module._kinds)
        for name, value in module._own(PARAMETER, CHILD):
            copy.__dict__[name] = copies[id(value)]
    result: Module = copies[id(skeleton.module)]
    return result


tree.register(Module, _flatten, _unflatten, stateful=True)


def whole(name: str, **sizes: Any) -> None:
    """Raise TypeError, with the user's line, for a size of a layer that is no integer."""
    for what, size in sizes.items():
        if not hasattr(size, "__index__"):
            raise TypeError(f"{name}: {what} is an int, not {size!r}{at_user()}")
