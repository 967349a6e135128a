"""Parts of torch that aren't here: each name may be imported, and its call says what to do instead. And parts of which it is
enough that they do nothing."""

from __future__ import annotations

import contextlib
import enum
import re
from collections.abc import Callable, Iterator
from multiprocessing import cpu_count, get_start_method, set_start_method
from types import SimpleNamespace
from typing import Any, Final, Optional
from urllib.parse import urlparse

from adjoint import tracing
from adjoint.tensors.hooks import HookHandle
from adjoint.tensors.located import at_user

from ._autocast import custom_bwd, custom_fwd
from ._names import FUNCTIONS, METHODS
from ._settings import SETTINGS, Namespace, get_autocast_dtype, is_autocast_enabled, never, nothing, same
from .nn.modules import Module

__all__ = ["PARTS"]

LOOK = "ad.execution.explain(y) says which kernels compute y and what takes how long; cProfile times what Python does"
WEIGHTS = "torch.save(model.state_dict(), path) writes safetensors, which PyTorch reads"
GRAPH = "ad.draw(y) and ad.explore(y) show what was computed; torch.compile(f) compiles it"
SMALL = "model.half() and model.bfloat16() keep weights in 16 bits, the smallest that are here"
PROCESSES = "adjoint.torch trains in one process; ad.distributed has many (python -m adjoint train --workers 4)"
KEPT = "graphs keep what derivatives need; torch.utils.checkpoint computes it again instead"
RULES = "torch.autograd.Function gives a function a derivative of its own, ad.host_call calls one of NumPy arrays"
SELECT = "x.masked_fill(~mask, 0) and torch.where(mask, x, 0) leave out what a mask does, and so do their derivatives"
MASKED = "F.scaled_dot_product_attention takes attn_mask: masks, or what is added to the scores"

# By place: names of PyTorch's, and what to do instead.
ABSENT: dict[str, tuple[str, str]] = {
    "profiler": ("profile schedule tensorboard_trace_handler", LOOK),
    "autograd.profiler": ("profile emit_nvtx emit_itt", LOOK),
    "utils.benchmark": ("Timer Compare Fuzzer", "timeit times a call; read a value of it, for results are computed then"),
    "utils.bottleneck": ("main", LOOK),
    "jit": ("trace trace_module freeze optimize_for_inference fork wait ScriptFunction", "torch.compile compiles"),
    "fx": ("symbolic_trace Tracer GraphModule Graph Interpreter Transformer", GRAPH),
    "export": ("export save load Dim ExportedProgram", WEIGHTS),
    "quantization": ("quantize_dynamic quantize prepare prepare_qat convert fuse_modules get_default_qconfig", SMALL),
    "ao.quantization": ("quantize_dynamic quantize prepare prepare_qat convert fuse_modules get_default_qconfig", SMALL),
    "hub": ("load help list get_dir set_dir download_url_to_file load_state_dict_from_url", "torch.load reads a file of weights"),
    "utils.model_zoo": ("load_url", "torch.load reads a file of weights"),
    "ops": ("load_library import_module", "adjoint loads no libraries of PyTorch's; leave them out"),
    "masked": ("masked_tensor as_masked_tensor MaskedTensor sum mean prod amax amin var std softmax log_softmax norm", SELECT),
    "nested": ("nested_tensor as_nested_tensor", "pad by nn.utils.rnn.pad_sequence, and mask"),
    "multiprocessing": ("spawn Process Pool Queue SimpleQueue Manager start_processes", PROCESSES),
    "distributed.nn": ("all_reduce all_gather all_to_all reduce reduce_scatter gather scatter broadcast", PROCESSES),
    "autograd.graph": ("saved_tensors_hooks register_multi_grad_hook GradientEdge get_gradient_edge Node", KEPT),
    "utils.cpp_extension": ("load load_inline CppExtension CUDAExtension BuildExtension include_paths", RULES),
    "library": ("custom_op Library define impl register_fake triton_op wrap_triton", RULES),
    "nn.attention.flex_attention": ("flex_attention create_block_mask create_mask BlockMask", MASKED),
}  # fmt: skip
CUDA = "Event Stream stream current_stream default_stream get_device_properties get_device_capability mem_get_info memory_summary"


def _absent(where: str, what: str) -> Callable[..., Any]:
    def called(*args: Any, **keywords: Any) -> Any:
        raise RuntimeError(f"torch.{where} isn't here; {what}{at_user()}")

    called.__name__ = called.__qualname__ = where.rpartition(".")[2]
    return called


class _Choice:
    """A name whose attributes and calls say what to do instead: `ProfilerActivity.CPU`."""

    def __init__(self, where: str) -> None:
        self._where = where

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return f"{self._where}.{name}"


def _names(place: str) -> dict[str, Any]:
    names, what = ABSENT[place]
    return {name: _absent(f"{place}.{name}", what) for name in names.split()}


def _same_function(f: Any) -> Any:
    return f


class ScriptModule(Module):
    """A module whose methods may be compiled: a module."""


def _flatten_dense_tensors(tensors: Any) -> Any:
    """The elements of some tensors, one tensor after the other."""
    return FUNCTIONS["cat"]([FUNCTIONS["flatten"](x) for x in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Any) -> Any:
    """Parts of a flat tensor, of the shapes of some tensors."""
    parts = METHODS["split"](flat, [x.node.type.size for x in tensors])
    return tuple([METHODS["view"](part, x.shape) for part, x in zip(parts, tensors, strict=True)])


def _assert(condition: Any, message: str) -> None:
    """Python's `assert`."""
    if not condition:
        raise AssertionError(f"{message}{at_user()}")


def _is_compiling() -> bool:
    return tracing.active() is not None


class SDPBackend(enum.IntEnum):
    """What computes attention in PyTorch; here one compiler does."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """What computes attention, which changes nothing here."""
    yield


@contextlib.contextmanager
def _anything(*args: Any, **keywords: Any) -> Iterator[None]:
    yield


class _Precision:
    """What `set_float32_matmul_precision` was last given: it changes nothing."""

    held = "highest"

    @classmethod
    def give(cls, precision: str) -> None:
        """Keep it."""
        if precision not in ("highest", "high", "medium"):
            raise RuntimeError(f"set_float32_matmul_precision: highest, high or medium, not {precision!r}{at_user()}")
        cls.held = precision


def _parts() -> dict[str, Any]:
    made = {
        place: Namespace(f"torch.{place}", **_names(place))
        for place in ABSENT
        if place != "jit" and place != "nn.attention.flex_attention"
    }
    made["profiler"].__dict__["ProfilerActivity"] = _Choice("ProfilerActivity")
    made["hub"].__dict__.update(
        HASH_REGEX=re.compile(r"-([a-f0-9]*)\."), urlparse=urlparse
    )  # of the names of such files
    made["utils.cpp_extension"].__dict__.update(CUDA_HOME=None, ROCM_HOME=None)
    made["fx"].__dict__["wrap"] = _same_function  # what a trace wouldn't look into
    for place in ("profiler", "autograd.profiler"):  # a name for what a profile shows, of which there is none
        made[place].__dict__["record_function"] = _anything
    made["multiprocessing"].__dict__.update(
        cpu_count=cpu_count, get_start_method=get_start_method, set_start_method=set_start_method, freeze_support=nothing,
        set_sharing_strategy=nothing,
    )  # fmt: skip
    made["autograd.graph"].__dict__.update(
        save_on_cpu=_anything, allow_mutation_on_saved_tensors=_anything, disable_saved_tensors_hooks=_anything
    )
    SETTINGS["jit"].__dict__.update(
        _names("jit"), is_scripting=never, is_tracing=never, annotate=lambda kind, value: value,
        load=_absent("jit.load", "torch.load reads what torch.save wrote"), save=_absent("jit.save", WEIGHTS),
        annotations=Namespace("torch.jit.annotations", List=list, Dict=dict, Tuple=tuple, Optional=Optional, Any=Any),
        interface=same, isinstance=isinstance, TracerWarning=type("TracerWarning", (Warning,), {}),
        script_if_tracing=same, script_method=same, ScriptModule=ScriptModule,
        set_fusion_strategy=nothing, enable_onednn_fusion=nothing, Final=Final,
    )  # fmt: skip
    amp = {"custom_fwd": custom_fwd, "custom_bwd": custom_bwd}
    SETTINGS["amp"].__dict__.update(amp, is_autocast_available=lambda device_type: device_type == "cpu")
    SETTINGS["cuda"].amp.__dict__.update(amp)
    refused = {name: _absent(f"cuda.{name}", "adjoint computes on the CPU") for name in CUDA.split()}
    SETTINGS["cuda"].__dict__.update(
        refused, reset_peak_memory_stats=nothing, reset_max_memory_allocated=nothing, ipc_collect=nothing, init=nothing,
        memory_reserved=lambda device=None: 0, max_memory_reserved=lambda device=None: 0,
        is_current_stream_capturing=never, seed=nothing, seed_all=nothing,
    )  # fmt: skip
    switches = {
        f"{do}_{kind}_sdp": nothing for do in ("enable",) for kind in ("flash", "mem_efficient", "math", "cudnn")
    }
    SETTINGS["backends"].cuda.__dict__.update(switches, sdp_kernel=_anything)
    compiler = {
        "is_compiling": _is_compiling, "is_dynamo_compiling": _is_compiling, "is_exporting": never, "disable": same,
        "allow_in_graph": same, "reset": nothing, "cudagraph_mark_step_begin": nothing, "list_backends": lambda: ["inductor"],
    }  # fmt: skip
    dynamo = {
        "reset": nothing, "disable": same, "graph_break": nothing, "mark_dynamic": nothing, "mark_static": nothing,
        "is_compiling": _is_compiling, "allow_in_graph": same, "config": SimpleNamespace(),
        "optimize": _absent("_dynamo.optimize", "torch.compile(f) compiles"),
    }  # fmt: skip
    dlpack = {"from_dlpack": FUNCTIONS["from_dlpack"], "to_dlpack": lambda tensor: tensor.__dlpack__()}
    flex = Namespace("torch.nn.attention.flex_attention", **_names("nn.attention.flex_attention"))
    return {
        **{place: part for place, part in made.items() if "." not in place},
        "ao": Namespace("torch.ao", quantization=made["ao.quantization"]),
        "autograd.profiler": made["autograd.profiler"], "autograd.graph": made["autograd.graph"],
        "utils.model_zoo": made["utils.model_zoo"], "utils.dlpack": Namespace("torch.utils.dlpack", **dlpack),
        "utils.hooks": Namespace("torch.utils.hooks", RemovableHandle=HookHandle),
        "utils.benchmark": made["utils.benchmark"], "utils.cpp_extension": made["utils.cpp_extension"],
        "distributed.nn": made["distributed.nn"],
        "utils.bottleneck": made["utils.bottleneck"],
        "_utils": Namespace(
            "torch._utils", _flatten_dense_tensors=_flatten_dense_tensors, _unflatten_dense_tensors=_unflatten_dense_tensors
        ),
        "nn.attention": Namespace("torch.nn.attention", sdpa_kernel=sdpa_kernel, SDPBackend=SDPBackend, flex_attention=flex),
        "compiler": Namespace("torch.compiler", **compiler), "_dynamo": Namespace("torch._dynamo", **dynamo),
        "_assert": _assert, "set_float32_matmul_precision": _Precision.give,
        "get_float32_matmul_precision": lambda: _Precision.held, "get_num_interop_threads": lambda: 1,
        "is_anomaly_enabled": never, "is_warn_always_enabled": never, "set_warn_always": nothing,
        "is_autocast_cpu_enabled": lambda: is_autocast_enabled("cpu"),
        "get_autocast_cpu_dtype": get_autocast_dtype, "is_distributed": never, "is_inference": never,
    }  # fmt: skip


PARTS: dict[str, Any] = _parts()
