"""What PyTorch has in `torch` besides functions of tensors: modes, threads, compiling, and devices that aren't here."""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from operator import not_
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from adjoint._setting import Setting
from adjoint.arrays.standard import finfo as finfo_of
from adjoint.dtypes import AUTOCAST, default_dtype
from adjoint.dtypes import set_default_dtype as core_set_default_dtype
from adjoint.execution import ValueNeededError
from adjoint.graph import MODE, Mode, array_type, get_mode
from adjoint.runtime import threads
from adjoint.tensors.located import at_user
from adjoint.tracer.jit import jit
from adjoint.transforms import modes

from ._creation import NO_GPU, default_generator, given_dtype, on_cpu
from ._creation import device as Device
from ._legacy import GPU_TYPES, TYPES
from ._missing import missing
from ._printing import OPTIONS, PROFILES
from ._tensor import as_torch
from .nn.modules import Module

__all__ = ["SETTINGS", "GradScaler", "Namespace", "never", "nothing"]


INFERENCE = ContextVar("inference", default=False)


class set_grad_enabled(contextlib.ContextDecorator):
    """Turn the recording of derivatives on or off: at once, and back at the end of a `with`."""

    def __init__(self, mode: bool) -> None:
        self.outer = get_mode()
        MODE.set(Mode(bool(mode), self.outer.site, self.outer.offset, self.outer.outer))
        self.mode = mode

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator: inside of the function alone."""
        MODE.set(self.outer)
        return (modes.enable_grad if self.mode else modes.no_grad)()(f)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        MODE.set(self.outer)


class _Inference(Setting[bool]):
    """Whether inference is asked for: without recording, and where it isn't, with it, whatever is around. One `__exit__` in C
    puts both back."""

    variable = INFERENCE

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = modes.no_grad() if mode else modes.enable_grad()
        self.wanted = mode
        back = map(self.variable.reset, iter(self.tokens.pop, None))
        self.close = partial(
            next, map(not_, zip(back, modes.leave, strict=False))
        )  # gives False: no error is swallowed

    def __enter__(self) -> None:
        outer = get_mode()
        try:
            self.mode.__enter__()
            self.set(self.wanted)
        except BaseException:  # of a signal's handler
            MODE.set(outer)
            raise

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator."""
        return modes.in_turns(function, lambda: _Inference(self.wanted))


def inference_mode(mode: Any = True) -> Any:
    """Without recording, as a context or a decorator; `inference_mode(False)` is with it."""
    return _Inference(True)(mode) if callable(mode) else _Inference(bool(mode))


def no_grad(function: Any = None) -> Any:
    """Without recording: `with torch.no_grad():`, `@torch.no_grad()` or `@torch.no_grad`."""
    return modes.no_grad() if function is None else modes.no_grad()(function)


def enable_grad(function: Any = None) -> Any:
    """With recording, as a context or a decorator."""
    return modes.enable_grad() if function is None else modes.enable_grad()(function)


class CompiledModule(Module):
    """A module whose calls are compiled."""

    def __init__(self, module: Any, fullgraph: bool = False) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_compiled"] = _compiled(module, fullgraph)

    def forward(self, *args: Any, **keywords: Any) -> Any:
        """The module's own."""
        return self._compiled(*args, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_orig_mod" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["_orig_mod"], name)


def _compiled(f: Any, fullgraph: bool = False) -> Callable[..., Any]:
    def inside(*args: Any, **keywords: Any) -> Any:
        return f(*as_torch(args), **{k: as_torch(v) for k, v in keywords.items()})

    inside.__name__ = inside.__qualname__ = getattr(f, "__name__", type(f).__name__)  # for errors
    fast = jit(inside)
    eager: list[bool] = []

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def called(*args: Any, **keywords: Any) -> Any:
        if not eager:
            try:
                return as_torch(fast(*args, **keywords))
            except ValueNeededError as error:
                if fullgraph:
                    raise
                warnings.warn(f"compile: {error}. It runs uncompiled from here on", UserWarning, stacklevel=2)
                eager.append(True)
        return f(*args, **keywords)

    return called


def compile(
    model: Any = None, *, fullgraph: bool = False, dynamic: Any = None, backend: Any = "inductor", mode: Any = None,
    options: Any = None, disable: bool = False,
) -> Any:  # fmt: skip
    """A function, or a module, compiled by `ad.jit`.

    Where Python needs a value inside, it runs uncompiled, with a warning; with `fullgraph` that is an error. `disable` gives the
    model back. There is one compiler: `backend`, `mode`, `dynamic` and `options` change nothing. It isn't called with what
    isn't PyTorch's: a `backend` that is a function is a TypeError.
    """
    if callable(backend):
        raise TypeError(f"compile: a backend of one's own isn't here; leave backend out{at_user()}")
    if model is None:
        return lambda f: compile(f, fullgraph=fullgraph, disable=disable)
    if disable:
        return model
    return CompiledModule(model, fullgraph) if isinstance(model, Module) else _compiled(model, fullgraph)


class Namespace(ModuleType):
    """A part of torch of which little is here, which may be imported."""

    def __init__(self, where: str, **names: Any) -> None:
        super().__init__(f"adjoint.{where}", "A part of torch of which little is here.")
        self.__dict__.update(names)
        self.__path__: list[str] = []
        sys.modules[f"adjoint.{where}"] = self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(self.__name__.removeprefix("adjoint."), name, vars(self))


def never(*args: Any, **keywords: Any) -> bool:
    return False


def _zero(*args: Any, **keywords: Any) -> int:
    return 0


def nothing(*args: Any, **keywords: Any) -> None:
    return None


def same(f: Any = None, *args: Any, **keywords: Any) -> Any:
    """A decorator that gives back what it decorates, with arguments or without."""
    return f if callable(f) else lambda g: g


def _refuse(what: str) -> Callable[..., Any]:
    def called(*args: Any, **keywords: Any) -> Any:
        raise RuntimeError(f"{what}: {NO_GPU}{at_user()}")

    return called


def _refuse_export(*args: Any, **keywords: Any) -> None:
    raise RuntimeError(f"onnx.export isn't here; torch.save(model.state_dict(), path) writes safetensors{at_user()}")


class autocast(Setting[Any]):
    """Inside, functions of one of PyTorch's lists for CPUs compute in bfloat16 or float16, those of another in float32; also a
    decorator. What is computed in 16 bits is computed in float32 and rounded. For a device that isn't there, or another type, it
    warns and changes nothing, as in PyTorch."""

    variable = AUTOCAST

    def __init__(
        self, device_type: str = "cpu", dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
    ) -> None:
        super().__init__()
        self.chosen = None if dtype is None else given_dtype(dtype)
        self.is_there = Device(device_type).type == "cpu"
        if enabled and not self.is_there:
            warnings.warn(f"autocast: there is no device {device_type!r}; it is disabled", UserWarning, stacklevel=2)
        elif enabled and self.chosen is not None and not self.chosen.narrow:
            warnings.warn(
                f"autocast: it computes in bfloat16 or float16; with {self.chosen.name} it is disabled",
                UserWarning,
                stacklevel=2,
            )
        kind = given_dtype("bfloat16") if enabled and self.is_there and self.chosen is None else self.chosen
        self.wanted = kind if enabled and kind is not None and kind.narrow else None

    def __enter__(self) -> autocast:
        if self.wanted is not None:
            array_type((), self.wanted)  # from now on functions look for numbers of 16 bits
        self.set(self.wanted if self.is_there else self.variable.get())
        return self

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator."""
        return modes.in_turns(function, self.again)

    def again(self) -> autocast:
        """One more such block."""
        other = autocast(enabled=False)
        other.is_there, other.wanted = self.is_there, self.wanted
        return other


def is_autocast_enabled(device_type: Any = "cuda") -> bool:
    """Whether an autocast is around, for a device; without one, for CUDA's, as in PyTorch."""
    return Device(device_type).type == "cpu" and AUTOCAST.get() is not None


def get_autocast_dtype(device_type: Any = "cpu") -> Any:
    """The dtype in which an autocast computes."""
    return AUTOCAST.get() or given_dtype("bfloat16" if Device(device_type).type == "cpu" else "float16")


class GradScaler:
    """Scales nothing: that is for half precision."""

    def __init__(self, device: str = "cpu", *args: Any, enabled: bool = True, **options: Any) -> None:
        if enabled:  # as PyTorch does without a graphics processor
            warnings.warn(
                "GradScaler is for half precision on a graphics processor; it is disabled", UserWarning, stacklevel=2
            )

    def scale(self, outputs: Any) -> Any:
        """The loss as it is."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Nothing to do."""

    def step(self, optimizer: Any, *args: Any) -> Any:
        """A step of the optimizer."""
        return optimizer.step(*args)

    def update(self, new_scale: Any = None) -> None:
        """Nothing to do."""

    def state_dict(self) -> dict[str, Any]:
        """Empty."""
        return {}

    def load_state_dict(self, state: Any) -> None:
        """Nothing to do."""

    def get_scale(self) -> float:
        """1."""
        return 1.0

    def is_enabled(self) -> bool:
        """False."""
        return False


def set_default_dtype(d: Any) -> None:
    """The dtype of Python's floats."""
    core_set_default_dtype(given_dtype(d))


def set_default_tensor_type(t: Any) -> None:
    """The dtype of Python's floats, by the name of a tensor type."""
    on_cpu("cuda" if t in GPU_TYPES.values() or "cuda" in str(t) else None)
    core_set_default_dtype(getattr(t, "_dtype", "float64" if "Double" in str(t) else "float32"))


def set_default_device(device: Any) -> None:
    """The CPU is the only one."""
    on_cpu(device)


def set_printoptions(precision: Any = None, threshold: Any = None, edgeitems: Any = None, linewidth: Any = None,
                     profile: Any = None, sci_mode: Any = None) -> None:  # fmt: skip
    """How tensors are printed: digits behind the point, how many elements are too many, how many of each end are shown then,
    characters of a line, and whether with exponents (None: where numbers are far apart).

    `profile` is "default", "short" or "full".
    """
    if profile not in (None, *PROFILES):
        raise ValueError(f"set_printoptions: profile is {', '.join(PROFILES)}, not {profile!r}{at_user()}")
    OPTIONS.update(PROFILES.get(profile, {}))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    OPTIONS.update({name: value for name, value in given.items() if value is not None}, sci_mode=sci_mode)


DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """The same bits for the same computation. Every operation can have them, so there is nothing to warn of."""
    modes.set_deterministic(mode)
    _only_warned[0] = bool(mode and warn_only)


_only_warned = [False]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by a name or number: "default" is 0, "warn" 1 and "error" 2."""
    mode = DEBUG_MODES.get(debug_mode, -1) if isinstance(debug_mode, str) else debug_mode
    if mode not in DEBUG_MODES.values():
        raise RuntimeError(f"set_deterministic_debug_mode: 'default', 'warn' or 'error', not {debug_mode!r}{at_user()}")
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """0 where nothing is asked for, 1 for "warn" and 2 for "error"."""
    return 0 if not modes.is_deterministic() else 1 if _only_warned[0] else 2


@contextlib.contextmanager
def fork_rng(devices: Any = (), enabled: bool = True) -> Iterator[None]:
    """The default generator as it was, at the end."""
    state = default_generator.get_state()
    yield
    default_generator.set_state(state)


def set_rng_state(new_state: Any) -> None:
    """Put the default generator back into a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


class finfo:
    """Limits of a floating dtype."""

    def __init__(self, type: Any = None) -> None:
        kind = given_dtype(type) or default_dtype()
        self.bits, self.eps, self.max, self.min, self.tiny = finfo_of(kind)[:5]
        self.dtype, self.smallest_normal = kind.name, self.tiny
        self.resolution = 10.0 ** math.ceil(math.log10(self.eps))  # of the decimal digits that are sure


class iinfo:
    """Limits of an integer dtype."""

    def __init__(self, type: Any) -> None:
        info = np.iinfo(given_dtype(type).dtype)  # type: ignore[union-attr]
        self.bits, self.max, self.min, self.dtype = info.bits, int(info.max), int(info.min), str(info.dtype)


cuda_amp = Namespace("torch.cuda.amp", GradScaler=GradScaler, autocast=functools.partial(autocast, "cuda"))
SETTINGS: dict[str, Any] = {
    "set_grad_enabled": set_grad_enabled, "inference_mode": inference_mode, "no_grad": no_grad, "enable_grad": enable_grad,
    "compile": compile, "set_default_dtype": set_default_dtype, "get_default_dtype": default_dtype,
    "set_default_tensor_type": set_default_tensor_type, "set_default_device": set_default_device,
    "get_default_device": Device, "set_printoptions": set_printoptions,
    "use_deterministic_algorithms": use_deterministic_algorithms,
    "set_deterministic_debug_mode": set_deterministic_debug_mode, "get_deterministic_debug_mode": get_deterministic_debug_mode,
    "is_deterministic_algorithms_warn_only_enabled": lambda: _only_warned[0],
    "are_deterministic_algorithms_enabled": modes.is_deterministic, "set_num_threads": lambda num: threads.set_num_threads(num),
    "get_num_threads": threads.get_num_threads, "set_num_interop_threads": lambda num: None,
    "set_flush_denormal": lambda mode: False, "seed": default_generator.seed, "initial_seed": default_generator.initial_seed,
    "get_rng_state": default_generator.get_state,
    "set_rng_state": set_rng_state,
    "finfo": finfo, "iinfo": iinfo,
    "is_inference_mode_enabled": INFERENCE.get, "autocast": autocast, "is_autocast_enabled": is_autocast_enabled,
    "get_autocast_dtype": get_autocast_dtype,
    **TYPES,
    "cuda": Namespace(
        "torch.cuda", is_available=never, device_count=_zero, is_initialized=never, is_bf16_supported=never, manual_seed=nothing,
        manual_seed_all=nothing, empty_cache=nothing, amp=cuda_amp, synchronize=_refuse("cuda.synchronize"),
        set_device=_refuse("cuda.set_device"), current_device=_refuse("cuda.current_device"), device=_refuse("cuda.device"),
        get_device_name=_refuse("cuda.get_device_name"), memory_allocated=_zero, max_memory_allocated=_zero,
        **GPU_TYPES,
    ),
    "amp": Namespace("torch.amp", autocast=autocast, GradScaler=GradScaler),
    "mps": Namespace("torch.mps", is_available=never, manual_seed=nothing, empty_cache=nothing),
    "xpu": Namespace("torch.xpu", is_available=never, device_count=_zero),
    "accelerator": Namespace("torch.accelerator", is_available=never, device_count=_zero, current_accelerator=nothing),
    "backends": Namespace(
        "torch.backends",
        cuda=Namespace("torch.backends.cuda", matmul=SimpleNamespace(allow_tf32=False), is_built=never),
        cudnn=Namespace("torch.backends.cudnn", benchmark=False, deterministic=False, enabled=False, allow_tf32=False, is_available=never, version=nothing),  # noqa: E501
        mps=Namespace("torch.backends.mps", is_available=never, is_built=never),
        mkldnn=Namespace("torch.backends.mkldnn", is_available=never, enabled=False),
    ),
    "onnx": Namespace("torch.onnx", export=_refuse_export, is_in_onnx_export=never),
    "random": Namespace("torch.random", manual_seed=default_generator.manual_seed, fork_rng=fork_rng, seed=default_generator.seed,
                         initial_seed=default_generator.initial_seed, get_rng_state=default_generator.get_state,
                         set_rng_state=set_rng_state),
    "version": SimpleNamespace(cuda=None, hip=None, git_version="", __version__="2.13.0"),
    "jit": Namespace("torch.jit", script=lambda f, *a, **k: f, ignore=same, export=same, unused=same),
}  # fmt: skip
