"""oneDNN through its C interface (oneDNN 3): matrix products and reorders as primitives that native code executes.

The library comes from the wheel onednn-cpu-gomp and is loaded by the absolute path that the wheel's metadata gives. It is
used on one thread of OpenMP, whatever the process has set: parallelism is ours. Arithmetic is strict: no bfloat16 or
TF32 inside a float32 product.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from adjoint import _forks
from adjoint._tuples import NamedTuple
from adjoint.runtime.onednn_library import check, load, one_thread, state

STRICT, USER_SCRATCHPAD = 0, 1
FLOAT32 = 3
MAX_AXES = 12
RECENT = 64  # products whose primitives are remembered: the library takes 0.1 ms for one
ANY = 1  # dnnl_format_tag_any: the layout that the primitive likes best

# Arguments of a primitive (dnnl_types.h)
SOURCE, DESTINATION, WEIGHTS, SCRATCHPAD = 1, 17, 33, 80
SOURCE_GRADIENT, DESTINATION_GRADIENT, WEIGHTS_GRADIENT = 129, 145, 161
INFERENCE, DIRECT = 96, 1  # dnnl_forward_inference, dnnl_convolution_direct
IMPLEMENTATION = 8  # dnnl_query_impl_info_str
# What a primitive descriptor can be asked for
QUERY = {
    SOURCE: 129, SOURCE_GRADIENT: 130, WEIGHTS: 131, WEIGHTS_GRADIENT: 132, DESTINATION: 133, DESTINATION_GRADIENT: 134,
    SCRATCHPAD: 136,
}  # fmt: skip

_lock = _forks.rlock()  # a signal's handler may plan something, too


class Descriptor:
    """A memory descriptor: shape and layout of an array of float32. `layout` is its strides, or `ANY`."""

    __slots__ = ("handle", "owned")

    def __init__(self, handle: c_void_p, owned: bool) -> None:
        self.handle = handle
        self.owned = owned

    # What frees memory holds the library itself: when Python ends, the module's names may be gone before its objects.
    def __del__(self, state: dict[str, Any] = state) -> None:
        if self.owned:
            state["library"].dnnl_memory_desc_destroy(self.handle)

    @property
    def nbytes(self) -> int:
        return int(state["library"].dnnl_memory_desc_get_size(self.handle))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descriptor) and bool(
            state["library"].dnnl_memory_desc_equal(self.handle, other.handle)
        )

    __hash__ = None  # type: ignore[assignment]


class Primitive:
    """A primitive, and the descriptor of each of its arguments. Thread-safe: its scratchpad is an argument too."""

    __slots__ = ("arguments", "descriptor", "handle")

    def __init__(self, descriptor: c_void_p, arguments: dict[int, Descriptor]) -> None:
        library = state["library"]
        self.descriptor = descriptor  # owns the descriptors that it was asked for
        self.handle = c_void_p()
        self.arguments = {name: d if d is not None else self.asked(name) for name, d in arguments.items()}
        check(library.dnnl_primitive_create(byref(self.handle), descriptor), "creating a primitive")
        scratchpad = self.asked(SCRATCHPAD)
        if scratchpad.nbytes:
            self.arguments[SCRATCHPAD] = scratchpad

    def asked(self, name: int) -> Descriptor:
        found = state["library"].dnnl_primitive_desc_query_md(self.descriptor, QUERY[name], 0)
        return Descriptor(c_void_p(found), owned=False)

    @property
    def implementation(self) -> str:
        """The library's name for how it computes this."""
        name = ctypes.c_char_p()
        state["library"].dnnl_primitive_desc_query(self.descriptor, IMPLEMENTATION, 0, byref(name))
        return (name.value or b"").decode()

    @property
    def scratch(self) -> int:
        """Bytes of scratchpad."""
        return self.arguments[SCRATCHPAD].nbytes if SCRATCHPAD in self.arguments else 0

    def __del__(self, state: dict[str, Any] = state) -> None:
        library = state["library"]
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
        library = state["library"]
        self.memories = []
        self.array = (Argument * len(primitive.arguments))()
        for k, (name, descriptor) in enumerate(primitive.arguments.items()):
            memory = c_void_p()
            check(library.dnnl_memory_create(byref(memory), descriptor.handle, state["engine"], None), "a memory")
            self.memories.append(memory)
            self.array[k] = Argument(name, memory.value)
        self.address = ctypes.addressof(self.array)

    def __del__(self, state: dict[str, Any] = state) -> None:
        for memory in self.memories:
            state["library"].dnnl_memory_destroy(memory)


def missing() -> str | None:
    """Why oneDNN can't be used here; None if it can."""
    with _lock:
        if "missing" not in state:
            state["missing"] = load() or _self_test()
        missing: str | None = state["missing"]
        return missing


def is_known_to_miss() -> bool:
    """Whether somebody has asked for oneDNN in vain."""
    return state.get("missing") is not None


def available() -> bool:
    return missing() is None


def _self_test() -> str | None:
    """Compute one product; what is wrong with it."""
    a, b = np.arange(12.0, dtype="f4").reshape(3, 4), np.arange(20.0, dtype="f4").reshape(4, 5)
    result = np.empty((3, 5), "f4")
    try:
        primitive = product(described((3, 4), (4, 1)), described((4, 5), (5, 1)), described((3, 5), (5, 1)))
        execute(primitive, [a, b, result])
    except RuntimeError as error:
        return str(error)
    return None if np.array_equal(result, a @ b) else "its product of two small matrices is wrong"


def execute(primitive: Primitive, arrays: Sequence[Any]) -> None:
    """Run a primitive once on arrays in the order of its arguments, the scratchpad left out."""
    library = state["library"]
    arguments = Arguments(primitive)
    scratch = np.empty(max(primitive.scratch, 1), np.uint8)
    for memory, array in zip(arguments.memories, [*arrays, scratch], strict=False):
        library.dnnl_memory_set_data_handle(memory, c_void_p(array.ctypes.data))
    with one_thread():
        status = library.dnnl_primitive_execute(
            primitive.handle, state["stream"], len(arguments.memories), arguments.address
        )
    check(status, "executing a primitive")


# Descriptors and primitives ---------------------------------------------------------------------------------------------


def described(shape: Sequence[int], layout: Sequence[int] | int) -> Descriptor:
    """A descriptor of an array of float32 by its strides in elements, or in a layout that the primitive may choose."""
    library = state["library"]
    handle = c_void_p()
    dims = (c_int64 * MAX_AXES)(*shape)
    if isinstance(layout, int):
        status = library.dnnl_memory_desc_create_with_tag(byref(handle), len(shape), dims, FLOAT32, layout)
    else:
        strides = (c_int64 * MAX_AXES)(*layout)
        status = library.dnnl_memory_desc_create_with_strides(byref(handle), len(shape), dims, FLOAT32, strides)
    check(status, f"describing an array of shape {tuple(shape)}")
    return Descriptor(handle, owned=True)


@contextmanager
def _attributes() -> Iterator[c_void_p]:
    library = state["library"]
    attributes = c_void_p()
    check(library.dnnl_primitive_attr_create(byref(attributes)), "attributes")
    try:
        check(library.dnnl_primitive_attr_set_scratchpad_mode(attributes, USER_SCRATCHPAD), "the scratchpad's mode")
        check(library.dnnl_primitive_attr_set_fpmath_mode(attributes, STRICT), "the mode of arithmetic")
        yield attributes
    finally:
        library.dnnl_primitive_attr_destroy(attributes)


def product(a: Descriptor, b: Descriptor, result: Descriptor) -> Primitive:
    """The primitive of a matrix product, a @ b; its arguments are a, b, result, scratchpad."""
    library = state["library"]
    descriptor = c_void_p()
    with one_thread(), _attributes() as attributes:
        status = library.dnnl_matmul_primitive_desc_create(
            byref(descriptor), state["engine"], a.handle, b.handle, None, result.handle, attributes
        )
        check(status, "a matrix product")
        found = Primitive(descriptor, {})
    found.arguments = {SOURCE: a, WEIGHTS: found.asked(WEIGHTS), DESTINATION: result, **found.arguments}
    return found


class Product(NamedTuple):
    """A matrix product by what its primitive follows from: the rows, the products in each sum, the columns; the strides of both
    matrices."""

    rows: int
    sums: int
    columns: int
    left: tuple[int, int]
    right: tuple[int, int]


@functools.lru_cache(maxsize=RECENT)
def made(recipe: Product) -> Primitive:
    """The primitive of a product; its arguments are those of `product`."""
    rows, sums, columns, left, right = recipe
    result = described((rows, columns), (columns, 1))
    return product(described((rows, sums), left), described((sums, columns), right), result)


def scratch_of(recipe: Product) -> int:
    """Bytes of a primitive's scratchpad."""
    return made(recipe).scratch


def reorder(source: Descriptor, target: Descriptor) -> Primitive:
    """The primitive that copies an array into another layout; its arguments are source, target, scratchpad."""
    library = state["library"]
    descriptor = c_void_p()
    engine = state["engine"]
    with one_thread(), _attributes() as attributes:
        status = library.dnnl_reorder_primitive_desc_create(
            byref(descriptor), source.handle, engine, target.handle, engine, attributes
        )
        check(status, "a reorder")
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
    library, engine = state["library"], state["engine"]
    geometry = [(c_int64 * 2)(*numbers) for numbers in (stride, dilation, before, after)]
    forward, descriptor = c_void_p(), c_void_p()
    what = f"a {name} of these sizes"
    with one_thread(), _attributes() as attributes:
        layouts = [image.handle, weights.handle, None, result.handle]  # without a bias
        status = library.dnnl_convolution_forward_primitive_desc_create(
            byref(forward), engine, INFERENCE, DIRECT, *layouts, *geometry, attributes
        )
        check(status, what)
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
            check(status, what)
        finally:
            library.dnnl_primitive_desc_destroy(forward)
        found = Primitive(descriptor, {})
    if name == "convolution_input_gradient":
        given = {DESTINATION_GRADIENT: result, WEIGHTS: found.asked(WEIGHTS), SOURCE_GRADIENT: image}
    else:
        given = {SOURCE: image, DESTINATION_GRADIENT: result, WEIGHTS_GRADIENT: found.asked(WEIGHTS_GRADIENT)}
    found.arguments = {**given, **found.arguments}
    return found
