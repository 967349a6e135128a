"""oneDNN through its C interface (oneDNN 3): matrix products and reorders as primitives that native code executes.

The library comes from the wheel onednn-cpu-gomp and is loaded by the absolute path that the wheel's metadata gives. It is
used on one thread of OpenMP, whatever the process has set: parallelism is ours. Arithmetic is strict: no bfloat16 or
TF32 inside a float32 product.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adjoint.execution.native.pool import pool

WHEEL = "onednn-cpu-gomp"
LIBRARY = "libdnnl.so.3"
_state: dict[str, Any] = {}  # the library, an engine, a stream, why there is none
MAJOR = 3
OPENMP = 2  # dnnl_cpu_runtime_omp
CPU, IN_ORDER, STRICT, USER_SCRATCHPAD = 1, 1, 0, 1
FLOAT32 = 3
MAX_AXES = 12
ANY = 1  # dnnl_format_tag_any: the layout that the primitive likes best

# Arguments of a primitive (dnnl_types.h)
SOURCE, DESTINATION, WEIGHTS, BIAS, WORKSPACE, SCRATCHPAD = 1, 17, 33, 41, 64, 80
SOURCE_GRADIENT, DESTINATION_GRADIENT, WEIGHTS_GRADIENT = 129, 145, 161
INFERENCE, DIRECT = 96, 1  # dnnl_forward_inference, dnnl_convolution_direct
IMPLEMENTATION = 8  # dnnl_query_impl_info_str
# What a primitive descriptor can be asked for
QUERY = {
    SOURCE: 129, SOURCE_GRADIENT: 130, WEIGHTS: 131, WEIGHTS_GRADIENT: 132, DESTINATION: 133, DESTINATION_GRADIENT: 134,
    WORKSPACE: 135, SCRATCHPAD: 136,
}  # fmt: skip


class Descriptor:
    """A memory descriptor: shape and layout of an array of float32. `layout` is its strides, or `ANY`."""

    __slots__ = ("handle", "owned")

    def __init__(self, handle: c_void_p, owned: bool) -> None:
        self.handle = handle
        self.owned = owned

    def __del__(self) -> None:
        if self.owned and _state:  # when Python ends, the module may be gone before its objects
            _state["library"].dnnl_memory_desc_destroy(self.handle)

    @property
    def nbytes(self) -> int:
        return int(_state["library"].dnnl_memory_desc_get_size(self.handle))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descriptor) and bool(
            _state["library"].dnnl_memory_desc_equal(self.handle, other.handle)
        )

    __hash__ = None  # type: ignore[assignment]


class Primitive:
    """A primitive, and the descriptor of each of its arguments. Thread-safe: its scratchpad is an argument too."""

    __slots__ = ("arguments", "descriptor", "handle")

    def __init__(self, descriptor: c_void_p, arguments: dict[int, Descriptor]) -> None:
        library = _state["library"]
        self.descriptor = descriptor  # owns the descriptors that it was asked for
        self.handle = c_void_p()
        self.arguments = {name: d if d is not None else self.asked(name) for name, d in arguments.items()}
        _check(library.dnnl_primitive_create(byref(self.handle), descriptor), "creating a primitive")
        scratchpad = self.asked(SCRATCHPAD)
        if scratchpad.nbytes:
            self.arguments[SCRATCHPAD] = scratchpad

    def asked(self, name: int) -> Descriptor:
        found = _state["library"].dnnl_primitive_desc_query_md(self.descriptor, QUERY[name], 0)
        return Descriptor(c_void_p(found), False)

    @property
    def implementation(self) -> str:
        """The library's name for how it computes this."""
        name = ctypes.c_char_p()
        _state["library"].dnnl_primitive_desc_query(self.descriptor, IMPLEMENTATION, 0, byref(name))
        return (name.value or b"").decode()

    @property
    def scratch(self) -> int:
        """Bytes of scratchpad."""
        return self.arguments[SCRATCHPAD].nbytes if SCRATCHPAD in self.arguments else 0

    def __del__(self) -> None:
        if not _state:
            return
        library = _state["library"]
        if self.handle:
            library.dnnl_primitive_destroy(self.handle)
        library.dnnl_primitive_desc_destroy(self.descriptor)


class Argument(ctypes.Structure):
    """dnnl_exec_arg_t."""

    _fields_ = [("name", c_int), ("memory", c_void_p)]


class Arguments:
    """Memory objects for one primitive, for one thread at a time; native code sets where their data is."""

    __slots__ = ("address", "array", "memories")

    def __init__(self, primitive: Primitive) -> None:
        library = _state["library"]
        self.memories = []
        self.array = (Argument * len(primitive.arguments))()
        for k, (name, descriptor) in enumerate(primitive.arguments.items()):
            memory = c_void_p()
            _check(library.dnnl_memory_create(byref(memory), descriptor.handle, _state["engine"], None), "a memory")
            self.memories.append(memory)
            self.array[k] = Argument(name, memory.value)
        self.address = ctypes.addressof(self.array)

    def __del__(self) -> None:
        for memory in self.memories if _state else ():
            _state["library"].dnnl_memory_destroy(memory)


# The library -----------------------------------------------------------------------------------------------------------

_lock = threading.Lock()


class _Version(ctypes.Structure):
    _fields_ = [
        ("major", c_int), ("minor", c_int), ("patch", c_int), ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint), ("gpu_runtime", ctypes.c_uint),
    ]  # fmt: skip


def _path() -> str | None:
    """Where the wheel's metadata says that the library is."""
    # importlib.metadata takes longer to import than all the rest of native execution
    for folder in sys.path:
        for record in Path(folder or ".").glob(f"{WHEEL.replace('-', '_')}-*.dist-info/RECORD"):
            for line in record.read_text().splitlines():
                name = line.partition(",")[0]
                if name.endswith(f"/{LIBRARY}"):
                    return str((record.parent.parent / name).resolve())
    return None


def _load() -> str | None:
    """Load the library and try it; what is wrong, or None."""
    path = _path()
    if path is None:
        return f"it isn't installed (pip install {WHEEL})"
    try:
        library = ctypes.CDLL(path)
        library.dnnl_version.restype = ctypes.POINTER(_Version)
        version = library.dnnl_version().contents
        if version.major != MAJOR or version.cpu_runtime != OPENMP:
            return f"its version is {version.major}.{version.minor}, with runtime {version.cpu_runtime}"
        library.dnnl_memory_desc_get_size.restype = c_size_t
        library.dnnl_primitive_desc_query_md.restype = c_void_p
        library.dnnl_primitive_execute.argtypes = [c_void_p, c_void_p, c_int, c_void_p]
        # the copy of OpenMP that this library is linked with, which need not be the only one in the process
        library.omp_get_max_threads.restype = c_int
        library.omp_set_num_threads.argtypes = [c_int]
        _state["library"] = library
        engine, stream = c_void_p(), c_void_p()
        _check(library.dnnl_engine_create(byref(engine), CPU, c_size_t(0)), "an engine")
        _check(library.dnnl_stream_create(byref(stream), engine, IN_ORDER), "a stream")
        _state["engine"], _state["stream"] = engine, stream
        pool.single(address("omp_set_num_threads"))
        return None if _self_test() else "its product of two small matrices is wrong"
    except (AttributeError, OSError, RuntimeError) as error:
        return str(error)


def missing() -> str | None:
    """Why oneDNN can't be used here; None if it can."""
    with _lock:
        if "missing" not in _state:
            _state["missing"] = _load()
        missing: str | None = _state["missing"]
        return missing


def available() -> bool:
    return missing() is None


def address(name: str) -> int:
    """Where a function of the library is."""
    return int(ctypes.cast(getattr(_state["library"], name), c_void_p).value or 0)


def stream() -> int:
    return int(_state["stream"].value)


def _check(status: int, what: str) -> None:
    if status:
        raise RuntimeError(f"oneDNN: status {status} from {what}")


@contextmanager
def one_thread() -> Iterator[None]:
    """Primitives are made for the number of threads that OpenMP would use."""
    library = _state["library"]
    before = library.omp_get_max_threads()
    library.omp_set_num_threads(1)
    try:
        yield
    finally:
        library.omp_set_num_threads(before)


def _self_test() -> bool:
    a, b = np.arange(12.0, dtype="f4").reshape(3, 4), np.arange(20.0, dtype="f4").reshape(4, 5)
    result = np.empty((3, 5), "f4")
    primitive = product(described((3, 4), (4, 1)), described((4, 5), (5, 1)), described((3, 5), (5, 1)))
    execute(primitive, [a, b, result])
    return bool(np.array_equal(result, a @ b))


def execute(primitive: Primitive, arrays: Sequence[Any]) -> None:
    """Run a primitive once on arrays in the order of its arguments, the scratchpad left out."""
    library = _state["library"]
    arguments = Arguments(primitive)
    scratch = np.empty(max(primitive.scratch, 1), np.uint8)
    for memory, array in zip(arguments.memories, [*arrays, scratch], strict=False):
        library.dnnl_memory_set_data_handle(memory, c_void_p(array.ctypes.data))
    with one_thread():
        status = library.dnnl_primitive_execute(
            primitive.handle, _state["stream"], len(arguments.memories), arguments.address
        )
    _check(status, "executing a primitive")


# Descriptors and primitives ---------------------------------------------------------------------------------------------


def described(shape: Sequence[int], layout: Sequence[int] | int) -> Descriptor:
    """A descriptor of an array of float32 by its strides in elements, or in a layout that the primitive may choose."""
    library = _state["library"]
    handle = c_void_p()
    dims = (c_int64 * MAX_AXES)(*shape)
    if isinstance(layout, int):
        status = library.dnnl_memory_desc_create_with_tag(byref(handle), len(shape), dims, FLOAT32, layout)
    else:
        strides = (c_int64 * MAX_AXES)(*layout)
        status = library.dnnl_memory_desc_create_with_strides(byref(handle), len(shape), dims, FLOAT32, strides)
    _check(status, f"describing an array of shape {tuple(shape)}")
    return Descriptor(handle, True)


class PostOperation(NamedTuple):
    """An elementwise operation on the result: dnnl_alg_kind_t and its two parameters."""

    kind: int
    alpha: float = 0.0
    beta: float = 0.0


RELU, GELU_TANH = 0x20, 0x2C


@contextmanager
def _attributes(operations: Sequence[PostOperation]) -> Iterator[c_void_p]:
    library = _state["library"]
    attributes, chain = c_void_p(), c_void_p()
    _check(library.dnnl_primitive_attr_create(byref(attributes)), "attributes")
    try:
        _check(library.dnnl_primitive_attr_set_scratchpad_mode(attributes, USER_SCRATCHPAD), "the scratchpad's mode")
        _check(library.dnnl_primitive_attr_set_fpmath_mode(attributes, STRICT), "the mode of arithmetic")
        if operations:
            _check(library.dnnl_post_ops_create(byref(chain)), "post-operations")
            for kind, alpha, beta in operations:
                added = library.dnnl_post_ops_append_eltwise(chain, kind, ctypes.c_float(alpha), ctypes.c_float(beta))
                _check(added, "a post-operation")
            _check(library.dnnl_primitive_attr_set_post_ops(attributes, chain), "post-operations")
        yield attributes
    finally:
        if chain:
            library.dnnl_post_ops_destroy(chain)
        library.dnnl_primitive_attr_destroy(attributes)


def product(
    a: Descriptor,
    b: Descriptor,
    result: Descriptor,
    bias: Descriptor | None = None,
    operations: Sequence[PostOperation] = (),
) -> Primitive:
    """The primitive of a matrix product, a @ b (+ bias of shape (1, m)); its arguments are a, b, result, bias, scratchpad."""
    library = _state["library"]
    descriptor = c_void_p()
    with one_thread(), _attributes(operations) as attributes:
        status = library.dnnl_matmul_primitive_desc_create(
            byref(descriptor), _state["engine"], a.handle, b.handle, None if bias is None else bias.handle,
            result.handle, attributes,
        )  # fmt: skip
        _check(status, "a matrix product")
        found = Primitive(descriptor, {})
    found.arguments = {SOURCE: a, WEIGHTS: found.asked(WEIGHTS), DESTINATION: result,
                       **({BIAS: bias} if bias is not None else {}), **found.arguments}  # fmt: skip
    return found


def reorder(source: Descriptor, target: Descriptor) -> Primitive:
    """The primitive that copies an array into another layout; its arguments are source, target, scratchpad."""
    library = _state["library"]
    descriptor = c_void_p()
    engine = _state["engine"]
    with one_thread(), _attributes(()) as attributes:
        status = library.dnnl_reorder_primitive_desc_create(
            byref(descriptor), source.handle, engine, target.handle, engine, attributes
        )
        _check(status, "a reorder")
        found = Primitive(descriptor, {})
    found.arguments = {SOURCE: source, DESTINATION: target, **found.arguments}
    return found


def convolution(
    name: str,
    image: Descriptor,
    weights: Descriptor,
    result: Descriptor,
    stride: Sequence[int],
    dilation: Sequence[int],
    before: Sequence[int],
    after: Sequence[int],
) -> Primitive:
    """The primitive of "convolution", of "convolution_input_gradient" or of "convolution_weight_gradient"; its arguments are
    what goes in, in that order of image, weights, result, and then what comes out. `dilation` counts the cells left out."""
    library, engine = _state["library"], _state["engine"]
    geometry = [(c_int64 * 2)(*numbers) for numbers in (stride, dilation, before, after)]
    forward, descriptor = c_void_p(), c_void_p()
    what = f"a {name} of these sizes"
    with one_thread(), _attributes(()) as attributes:
        layouts = [image.handle, weights.handle, None, result.handle]  # without a bias
        status = library.dnnl_convolution_forward_primitive_desc_create(
            byref(forward), engine, INFERENCE, DIRECT, *layouts, *geometry, attributes
        )
        _check(status, what)
        if name == "convolution":
            found = Primitive(forward, {})
            found.arguments = {SOURCE: image, WEIGHTS: found.asked(WEIGHTS), DESTINATION: result, **found.arguments}
            return found
        try:
            if name == "convolution_input_gradient":
                create = library.dnnl_convolution_backward_data_primitive_desc_create
                layouts.remove(None)
            else:
                create = library.dnnl_convolution_backward_weights_primitive_desc_create
            status = create(byref(descriptor), engine, DIRECT, *layouts, *geometry, forward, attributes)
            _check(status, what)
        finally:
            library.dnnl_primitive_desc_destroy(forward)
        found = Primitive(descriptor, {})
    if name == "convolution_input_gradient":
        given = {DESTINATION_GRADIENT: result, WEIGHTS: found.asked(WEIGHTS), SOURCE_GRADIENT: image}
    else:
        given = {SOURCE: image, DESTINATION_GRADIENT: result, WEIGHTS_GRADIENT: found.asked(WEIGHTS_GRADIENT)}
    found.arguments = {**given, **found.arguments}
    return found
