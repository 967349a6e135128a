"""torch.nn's modules: the core's layers as PyTorch's, whose parameters are tensors of PyTorch's kind."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import OrderedDict
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from adjoint import nn as core_nn
from adjoint.dtypes import DTYPES
from adjoint.nn.hooks import called as called_with_hooks
from adjoint.nn.hooks import everywhere
from adjoint.nn.lazy import Lazy
from adjoint.nn.module import PLAIN_WALKS
from adjoint.nn.module import Module as CoreModule
from adjoint.nn.states import BUFFER, CHILD, PARAMETER, UNSAVED
from adjoint.nn.utils.parametrize import ParametrizationList as CoreParametrizationList
from adjoint.tensors.located import at_user, enter_scope, leave_scope

from .._autocast import listening
from .._creation import device as Device
from .._creation import given_dtype, on_cpu
from .._errors import as_pytorchs
from .._missing import missing
from .._tensor import Core, Parameter, Tensor, as_torch
from . import functional, synchronized
from .dtypes import LAYERS_OF_ONE, refuse_mixed
from .forwards import FORWARDS
from .layers import SINGLE, called_at_once, register
from .module_hooks import SHARED_HOOKS, with_pytorchs
from .resets import CONVOLUTIONS, RESETS, let_convolve
from .signatures import DEFAULTS, options, signature_of
from .states import Saving
from .surgery import Buffer, Surgery, check_name, forget, parameter_lines

__all__ = ["LAYERS", "Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Module(Surgery, Saving):
    """Base of all networks: assign parameters and modules to attributes, and define `forward`.

    >>> import adjoint.torch as torch
    >>> class Line(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = torch.nn.Parameter(torch.tensor(2.0))
    ...
    ...     def forward(self, x):
    ...         return self.slope * x
    >>> Line()(torch.tensor(3.0)).item()
    6.0
    """

    _parametrized_by: ClassVar[type]
    _holds_none: ClassVar[bool] = True
    _checks_plain: ClassVar[bool] = False

    def __init__(self) -> None:
        """All is done before: other bases of a class are not asked, as in PyTorch."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """`forward` of these arguments, with hooks."""
        kind = type(self)
        single = SINGLE.get(kind)
        if single is not None and len(args) == 1 and not kwargs and self._hooks is None and everywhere._hooks is None:
            out = called_at_once(self, *single, args[0])
            if out is not None:
                return out
        token = enter_scope(kind.__name__, 2, user=not kind.__module__.startswith("adjoint."))
        try:
            if self._hooks is None and everywhere._hooks is None:
                out = self.forward(*args, **kwargs)
            else:
                out = called_with_hooks(self, args, kwargs)
            if type(out) is not Tensor:
                out = as_torch(out)
        except (ValueError, TypeError) as error:
            raise as_pytorchs(error) from None
        finally:
            leave_scope(token)
        if args and self.__dict__.get("inplace") is True and kind.__module__ == __name__ and isinstance(out, Core):
            if isinstance(args[0], Core) and out is not args[0]:
                args[0]._assign(out.node, f"{type(self).__name__}(inplace=True)")
            return args[0]
        return out

    def __setattr__(self, name: str, value: Any) -> None:
        if type(value) is Core:  # of a layer of the core's
            value.__class__ = Parameter if value.requires_grad and value.is_leaf else Tensor
        elif isinstance(value, Parameter):
            _ = value.node  # which makes it a plain one if it was made of a tensor that nobody else holds
        elif isinstance(value, CoreModule) and not isinstance(value, Module):
            _adopt(value)
            if name == "out_proj" and isinstance(
                self, core_nn.MultiheadAttention
            ):  # not of the class that programs look for
                object.__setattr__(value, "__class__", NonDynamicallyQuantizableLinear)
        elif isinstance(value, Buffer):
            self.register_buffer(name, value.data, value.persistent)
            return
        CoreModule.__setattr__(self, name, value)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in object.__getattribute__(self, "__dict__"):  # asked by its name, as wrappers of modules do
                return object.__getattribute__(self, name)
            return CoreModule.__getattr__(self, name)

    def _kind_of(self, name: str, value: Any) -> str | None:
        kind = self._kinds.get(name)
        if isinstance(value, CoreModule):
            return CHILD
        if isinstance(value, Parameter):
            return PARAMETER
        if kind == PARAMETER and value is not None:
            raise TypeError(
                f"cannot assign a {type(value).__name__} as parameter {name!r} (torch.nn.Parameter or None expected){at_user()}"
            )
        if value is None:
            return kind
        return kind if isinstance(value, Core) and kind in (BUFFER, UNSAVED, PARAMETER) else None

    def _check_plain(self, name: str, value: Any) -> None:
        """Lists of modules are allowed, and no part of the module, as in PyTorch."""

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Make a tensor the attribute `name`: state that is saved but not trained."""
        if tensor is not None and not isinstance(tensor, Core):
            raise TypeError(
                f"register_buffer: {name!r} must be a tensor or None, not a {type(tensor).__name__}{at_user()}"
            )
        check_name(self, "buffer", name)
        if name in self._kinds and self._kinds[name] not in (BUFFER, UNSAVED):
            raise KeyError(f"{type(self).__name__} has an attribute {name!r} already{at_user()}")
        CoreModule.register_buffer(self, name, as_torch(tensor), persistent)

    def register_parameter(self, name: str, param: Any) -> None:
        """Make a Parameter, or None, the attribute `name`."""
        check_name(self, "parameter", name)
        if param is None:
            self.__dict__[name] = None
            self._kinds[name] = PARAMETER
            return
        if type(param) is Core and param.requires_grad and param.is_leaf:  # of a layer of the core's
            param.__class__ = Parameter
        if not isinstance(param, Parameter):
            raise TypeError(f"register_parameter: {name!r} must be a Parameter or None{at_user()}")
        setattr(self, name, param)

    def add_module(self, name: str, module: Any) -> None:
        """Make a module, or None, the child called `name`."""
        if module is None:
            self.__dict__[name] = None
            self._kinds[name] = CHILD
            return
        CoreModule.add_module(self, name, module)

    # PyTorch's dictionaries of what a module holds, as copies

    def _refuse_dictionary(self, held: Any) -> None:
        raise AttributeError(
            f"{type(self).__name__}: what a module holds can't be replaced as a dictionary; set its attributes, or call it with "
            f"other parameters by torch.func.functional_call(module, parameters, inputs){at_user()}"
        )

    _parameters = property(lambda self: self._held(PARAMETER), _refuse_dictionary)
    _buffers = property(lambda self: self._held(BUFFER, UNSAVED), _refuse_dictionary)
    _modules = property(lambda self: self._held(CHILD), _refuse_dictionary)

    @property
    def _forward_pre_hooks(self) -> dict[int, Any]:
        return self._hooked("pre")

    @property
    def _forward_hooks(self) -> dict[int, Any]:
        return self._hooked("post")

    def _hooked(self, kind: str) -> dict[int, Any]:
        hooks = {} if self._hooks is None else getattr(self._hooks, kind)
        return OrderedDict((number, getattr(hook, "__wrapped__", hook)) for number, (hook, *_) in hooks.items())

    def _modules_held(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name, kind in self._kinds.items() if kind == CHILD]

    def _held(self, *kinds: str) -> dict[str, Any]:
        return OrderedDict((name, getattr(self, name)) for name, kind in self._kinds.items() if kind in kinds)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or make them zeros."""
        forget(self.parameters(), set_to_none)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all below it, parents first."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator[Any]:
        """This module (named by the prefix) and all below it, parents first; those in `memo` are passed over."""
        if isinstance(memo, str):  # as the core's takes it
            memo, prefix = None, memo
        for name, module in CoreModule.named_modules(self, prefix, remove_duplicate):
            if memo is None or module not in memo:
                if memo is not None:
                    memo.add(module)
                yield name, module

    def to(self, *args: Any, **keywords: Any) -> Self:
        """Cast all floating parameters and buffers. The one device is the CPU."""
        dtype, device = keywords.get("dtype"), keywords.get("device")
        for value in args:
            if isinstance(value, Core):
                dtype = value.dtype
            elif isinstance(value, str) and value in DTYPES:
                dtype = value
            elif isinstance(value, (str, Device)) or (isinstance(value, int) and not isinstance(value, bool)):
                device = value
            elif not isinstance(value, bool):
                dtype = value
        on_cpu(device)
        return self if dtype is None else self._cast(given_dtype(dtype))

    def type(self, dst_type: Any) -> Self:
        """Cast all floating parameters and buffers."""
        return self._cast(given_dtype(dst_type))

    def cuda(self, device: Any = None) -> Self:
        """Raises: adjoint computes on the CPU."""
        on_cpu("cuda")
        return self

    def half(self) -> Self:
        """Parameters and buffers of float16. It is storage: what is computed is computed in float32 and rounded."""
        return self.to("float16")

    def bfloat16(self) -> Self:
        """Parameters and buffers of bfloat16. It is storage: what is computed is computed in float32 and rounded."""
        return self.to("bfloat16")

    def share_memory(self) -> Self:
        """The module itself."""
        return self

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        return CoreModule.buffers(self, recurse)  # type: ignore[return-value]

    def _hook(self, kind: str, hook: Any, prepend: bool, with_kwargs: bool, always: bool = False) -> Any:
        return CoreModule._hook(self, kind, with_pytorchs(hook), prepend, with_kwargs, always)

    def train(self, mode: bool = True) -> Self:
        """Set `training` here and below. Gives the module back."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: mode is True or False, not {mode!r}{at_user()}")
        return CoreModule.train(self, mode)

    def compile(self, *args: Any, **keywords: Any) -> None:
        """The module runs as it is; `torch.compile(module)` gives a compiled one."""


PLAIN_WALKS.add(Module.named_modules)


def _adopt(module: Any) -> None:
    """Let a layer that a layer of the core's has made be one of PyTorch's, with all below it."""
    core = type(module)
    kind = LAYERS.get(core.__name__) or globals().get(core.__name__)
    if kind is None and core.__module__ == "adjoint.nn.utils.parametrizations":
        kind = PARAMETRIZATIONS.get(core) or PARAMETRIZATIONS.setdefault(core, _layer(core.__name__, core))
    if kind is None:
        raise TypeError(f"a {type(module).__name__} of adjoint's can't be part of a module of adjoint.torch{at_user()}")
    object.__setattr__(module, "__class__", kind)
    for name, value in list(vars(module).items()):
        if isinstance(value, CoreModule) or type(value) is Core:
            del module.__dict__[name]
            found = module._kinds.get(name, None)
            setattr(module, name, value)
            if found is not None:
                module._kinds[name] = found


OWN = {"Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Parameter", "KeyMismatch",
       "functional", "init", "utils", "summary", "Summary", "functional_call", "stack_module_state", "KeyValueCache"}  # fmt: skip


ASSERTING = {"MultiheadAttention", "Transformer", "TransformerDecoderLayer", "TransformerEncoderLayer"}


def _layer(name: str, core: type) -> type:
    """The core's layer as PyTorch's."""

    signature = signature_of(name, core)
    method, reset = RESETS.get(name, ("", None))

    def __init__(self: Any, *args: Any, **keywords: Any) -> None:
        try:
            given = signature.bind(self, *args, **keywords).arguments
        except TypeError as error:
            raise TypeError(f"{name}: {error}{at_user()}") from None
        del given["self"]
        given = {**DEFAULTS.get(name, {}), **given}
        freeze = given.pop("_freeze", False)  # Embedding's
        try:
            core.__init__(self, **({} if name == "Identity" else options(given)))  # type: ignore[misc]
        except (ValueError, TypeError) as error:
            raise as_pytorchs(error, name in ASSERTING) from None
        if freeze:
            self.weight.requires_grad_(False)
        if reset is not None and getattr(type(self), method) is not getattr(made, method):
            getattr(self, method)()  # a subclass draws its parameters its own way

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    made = type(name, (Module, core), {"__init__": __init__, "__doc__": core.__doc__, "__module__": __name__})
    if reset is not None:
        setattr(made, method, reset)
    if name in CONVOLUTIONS:
        let_convolve(made, core)
    if name in FORWARDS:
        made.forward = FORWARDS[name]  # type: ignore[attr-defined]
    _named_inputs(made, core)
    made.forward = listening(name, made.forward)  # type: ignore[attr-defined]
    if issubclass(core, Lazy):
        made.__call__ = core.__call__  # type: ignore[method-assign]
    if "generate_square_subsequent_mask" in vars(core):
        mask = core.generate_square_subsequent_mask  # type: ignore[attr-defined]
        made.generate_square_subsequent_mask = staticmethod(  # type: ignore[attr-defined]
            lambda sz, device=None, dtype=None: as_torch(mask(sz, dtype))
        )
    if "from_pretrained" in vars(core):
        made.from_pretrained = classmethod(lambda cls, *a, **k: _as_layer(core.from_pretrained(*a, **k), cls))  # type: ignore[attr-defined]
    return made


def _named_inputs(made: Any, core: Any) -> None:
    """Let `forward` take its inputs by PyTorch's names too, `input`, or `input1` and `input2`, and give PyTorch's tensors: those
    of a subclass call it."""
    _, *own = inspect.signature(core.forward).parameters
    if issubclass(core, Lazy) or "forward" in vars(made):
        return
    there = {"input1": "x1", "input2": "x2"} if own[:2] == ["x1", "x2"] else {"input": own[0]} if own else {}
    forward = core.forward

    name = core.__name__
    if name in LAYERS_OF_ONE:
        main = LAYERS_OF_ONE[name][0]

        @functools.wraps(forward)
        def called(self: Any, *args: Any, **keywords: Any) -> Any:
            weight = self.__dict__.get(main)
            if (
                weight is None
                or len(args) != 1
                or not isinstance(args[0], Core)
                or args[0].node.type.dtype is not weight.node.type.dtype
            ):
                refuse_mixed(self, name, args)
            if keywords:
                keywords = {there.get(k, k): v for k, v in keywords.items()}
            return as_torch(forward(self, *args, **keywords))

    else:

        @functools.wraps(forward)
        def called(self: Any, *args: Any, **keywords: Any) -> Any:
            if keywords:
                keywords = {there.get(k, k): v for k, v in keywords.items()}
            return as_torch(forward(self, *args, **keywords))

    made.forward = called


def _as_layer(layer: Any, kind: type) -> Any:
    made = kind.__new__(kind)  # type: ignore[call-overload]
    for name, value in vars(layer).items():
        if name not in ("_kinds",):
            setattr(made, name, value)
    return made


LAYERS: dict[str, type] = {}
PARAMETRIZATIONS: dict[type, type] = {}  # the core's, to PyTorch's
for _name in core_nn.__all__:
    if _name not in OWN and _name not in SHARED_HOOKS:
        LAYERS[_name] = globals()[_name] = _layer(_name, getattr(core_nn, _name))
        __all__.append(_name)
LAYERS["SyncBatchNorm"] = globals()["SyncBatchNorm"] = _layer("SyncBatchNorm", synchronized.SyncBatchNorm)
register(LAYERS)
for _made in LAYERS.values():
    if issubclass(_made, Lazy):
        _made.becomes = LAYERS[_made.becomes.__name__]

# A layer that makes others makes PyTorch's: the core's classes inside are replaced where they are assigned.


class Sequential(Module, core_nn.Sequential):
    """Modules applied one after the other."""

    def __init__(self, *args: Any) -> None:
        core_nn.Sequential.__init__(self, *args)

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *other) if isinstance(other, Sequential) else NotImplemented

    def insert(self, index: int, module: Any) -> Self:
        """Put a module before another one."""
        return _inserted(self, index, module)

    def extend(self, modules: Any) -> Self:
        """Add modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def __delitem__(self, index: Any) -> None:
        _deleted(self, index)

    def pop(self, index: int) -> Any:
        """Take a module out, and give it."""
        found = self[index]
        del self[index]
        return found


class ModuleList(Module, core_nn.ModuleList):
    """A list whose modules are found by the module that holds it."""

    def __init__(self, modules: Any = None) -> None:
        core_nn.ModuleList.__init__(self, modules or ())

    def __repr__(self) -> str:
        """One line for neighbours that look alike."""
        runs: list[tuple[list[str], str]] = []
        for name, child in self._modules_held():
            text = repr(child).replace("\n", "\n  ")
            if runs and runs[-1][1] == text:
                runs[-1][0].append(name)
            else:
                runs.append(([name], text))
        lines = [f"({n[0]}): {text}" if len(n) == 1 else f"({n[0]}-{n[-1]}): {len(n)} x {text}" for n, text in runs]
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{type(self).__name__}()"

    def insert(self, index: int, module: Any) -> None:
        """Put a module before another one."""
        _inserted(self, index, module)

    def __iadd__(self, modules: Any) -> Self:
        return self.extend(modules)

    def __add__(self, modules: Any) -> ModuleList:
        return ModuleList([*self, *modules])

    def __delitem__(self, index: Any) -> None:
        _deleted(self, index)

    def pop(self, index: int) -> Any:
        """Take a module out, and give it."""
        found = self[index]
        del self[index]
        return found


def _replaced(container: Any, modules: list[Any]) -> Any:
    for name in [n for n, kind in container._kinds.items() if kind == CHILD]:
        delattr(container, name)
    for i, module in enumerate(modules):
        container.add_module(str(i), module)
    return container


def _inserted(container: Any, index: int, module: Any) -> Any:
    modules = list(container)
    modules.insert(index, module)
    return _replaced(container, modules)


def _deleted(container: Any, index: Any) -> None:
    modules = list(container)
    del modules[index]
    _replaced(container, modules)


class ModuleDict(Module, core_nn.ModuleDict):
    """A dictionary whose modules are found by the module that holds it."""

    def __init__(self, modules: Any = None) -> None:
        core_nn.ModuleDict.__init__(self, modules or {})


class ParametrizationList(ModuleList, CoreParametrizationList):
    """The parametrizations of one tensor, applied one after the other, and what they start from."""

    def __init__(self, first: Any, value: Any) -> None:
        CoreParametrizationList.__init__(self, first, value)

    def _hold(self, name: str, value: Any, trained: bool) -> None:
        if trained:
            self.register_parameter(name, value if isinstance(value, Parameter) else Parameter(value.detach()))
        else:
            self.register_buffer(name, value)

    def right_inverse(self, value: Any) -> None:
        """Change what is trained so that the tensor gets this value."""
        CoreParametrizationList.right_inverse(self, as_torch(value))


Module._parametrized_by = ParametrizationList


class ParameterList(Module, core_nn.ParameterList):
    """A list whose parameters are found by the module that holds it."""

    def __init__(self, values: Any = None) -> None:
        core_nn.ParameterList.__init__(self, values or ())

    def append(self, value: Any) -> Self:
        """Add a parameter at the end."""
        setattr(self, str(len(self)), value if isinstance(value, Parameter) else Parameter(value))
        return self

    def extra_repr(self) -> str:
        """A line for each parameter."""
        return parameter_lines(enumerate(self), False)


class ParameterDict(Module, core_nn.ParameterDict):
    """A dictionary whose parameters are found by the module that holds it."""

    def __init__(self, parameters: Any = None) -> None:
        core_nn.ParameterDict.__init__(self, parameters or {})

    def __setitem__(self, name: str, value: Any) -> None:
        core_nn.ParameterDict.__setitem__(self, name, value if isinstance(value, Parameter) else Parameter(value))

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter of this name, or the default."""
        return self[key] if key in self else default  # noqa: SIM401 - this is what it means

    def extra_repr(self) -> str:
        """A line for each parameter."""
        return parameter_lines(self.items(), True)


class Dropout(LAYERS["Dropout"]):  # type: ignore[misc,valid-type]
    """Elements set to 0 with probability p, while training."""

    def forward(self, input: Any) -> Any:
        """The input, thinned out."""
        return functional.dropout(input, self.p, self.training, False)


LAYERS["Dropout"] = Dropout


def _channels(rank: int) -> type:
    def forward(self: Any, input: Any) -> Any:
        return getattr(functional, f"dropout{rank}d")(input, self.p, self.training, False)

    body = {
        "forward": forward,
        "__doc__": "Channels set to 0 with probability p, while training.",
        "__module__": __name__,
    }
    return type(f"Dropout{rank}d", (LAYERS[f"Dropout{rank}d"],), body)


for _rank in (1, 2, 3):
    LAYERS[f"Dropout{_rank}d"] = globals()[f"Dropout{_rank}d"] = _channels(_rank)


class NonDynamicallyQuantizableLinear(LAYERS["Linear"]):  # type: ignore[misc,name-defined,valid-type]
    """The last layer of a `MultiheadAttention`: a `Linear` of a class of its own, as in PyTorch."""


LAYERS["NonDynamicallyQuantizableLinear"] = NonDynamicallyQuantizableLinear
SINGLE[NonDynamicallyQuantizableLinear] = SINGLE[LAYERS["Linear"]]


class _Part(ModuleType):
    """A file of torch.nn.modules: every layer is found in each."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what tools look for in every module
            raise AttributeError(name)
        if name in LAYERS or name in __all__:
            return globals()[name]
        if self.__name__.endswith(".module") and name in SHARED_HOOKS:
            return SHARED_HOOKS[name]
        raise missing(self.__name__.removeprefix("adjoint."), name, __all__)


for _name in ("activation batchnorm channelshuffle container conv distance dropout flatten fold instancenorm linear loss module "
              "normalization padding pixelshuffle pooling rnn sparse transformer upsampling utils").split():  # fmt: skip
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _Part(f"{__name__}.{_name}")
