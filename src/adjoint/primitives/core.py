"""What every other primitive leans on: leaves and constants, type matching, and the makers of elementwise functions.

Functions of nodes are called through `ops`, one namespace filled by registration, so that rules in one file can use
operations of another without importing it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import copysign
from typing import Any

import numpy as np

from adjoint._references import COUNTED_IN_LIST, reference_counts
from adjoint.dtypes import BY_NUMPY, DType, complex_of, default_dtype, float32, float64, promote, real_of, scalar_dtype
from adjoint.dtypes import bool_ as BOOL
from adjoint.graph import NARROW, WIDENED, ArrayType, Node, Primitive, Rule, Variable, array_type, get_mode, record
from adjoint.shapes import Shape, broadcast_shapes
from adjoint.unknown import Unknown

NodeFunction = Callable[..., Node]


class Namespace:
    """The operations on nodes, by name."""

    def __getattr__(self, name: str) -> NodeFunction:
        raise AttributeError(f"no operation named {name!r} is registered")


ops = Namespace()


def register(function: NodeFunction, name: str | None = None) -> NodeFunction:
    """Put a function of nodes into `ops`."""
    setattr(ops, name or function.__name__, function)
    return function


# Leaves ---------------------------------------------------------------------------------------------------------------


def no_kernel(attributes: Any, type: Any) -> Any:
    """The kernel of what is given or expanded, never computed."""
    raise RuntimeError("this node has no value of its own")


LEAF = Primitive("leaf", no_kernel, moves=True)
VERSION = Primitive(
    "version", lambda attributes, type: lambda x: x, view=True, passes_on=True, key=lambda attributes: None
)
PLACEHOLDER = Primitive("placeholder", no_kernel, moves=True)
FULL = Primitive("full", lambda value, type: lambda: np.full(type.shape, value, type.dtype.dtype), moves=True)


def leaf(value: np.ndarray[Any, Any], type: ArrayType, variable: Variable | None = None) -> Node:
    """A node that has its value from the start. With a tracked variable, one that gradients flow to."""
    return Node(LEAF, (), variable, type, None, 0, variable is not None and variable.tracked, value)


def data(value: Any, dtype: DType | None = None) -> Node:
    """An untracked leaf of an array or nested list."""
    array = np.asarray(value, dtype=None if dtype is None else dtype.dtype)
    return leaf(array, array_type(array.shape, dtype or BY_NUMPY[array.dtype]))


register(data)


def version(source: Node, variable: Variable) -> Node:
    """A variable's next value: a leaf whose value is that of `source`, through which no gradient flows."""
    mode = get_mode()
    return Node(VERSION, (source,), variable, source.type, mode.site, mode.offset, variable.tracked)


def placeholder(type: ArrayType, label: str, tracked: bool = True) -> Node:
    """A leaf without a value, for what is traced."""
    return Node(PLACEHOLDER, (), label, type, None, 0, tracked)


def is_traced(node: Node) -> bool:
    """Whether a node stands for a value that only a later call has."""
    return node.value is None and (node.op is PLACEHOLDER or node.op is LEAF)


@register
def full(value: Any, type: ArrayType) -> Node:
    """An array of one number: Python's bool, int, float or complex, already of the type's kind."""
    mode = get_mode()
    return Node(FULL, (), value, type, mode.site, mode.offset, False)


@register
def zeros(type: ArrayType) -> Node:
    """The constant zero of a type, one node for each type."""
    node = type.zero
    if node is None:
        kind = type.dtype.kind
        node = Node(FULL, (), 0.0 if kind == "f" else 0j if kind == "c" else 0, type, None, 0, False)
        type.zero = node
    return node


@functools.cache
def integer_range(dtype: DType) -> tuple[int, int]:
    """The least and the largest integer of a dtype. NumPy takes ten microseconds to say it."""
    info = np.iinfo(dtype.dtype)
    return int(info.min), int(info.max)


def bounded_int(value: Any, dtype: DType) -> int:
    """A Python integer that fits the dtype. Raises OverflowError."""
    least, most = integer_range(dtype)
    if not least <= value <= most:
        raise OverflowError(f"Python integer {value} is out of bounds for {dtype.name}")
    return int(value)


def constant(value: complex, beside: ArrayType) -> Node:
    """A Python scalar as an array of the shape of `beside`, of the type it takes there. Raises OverflowError."""
    dtype = scalar_dtype(value, beside.dtype)
    return full(typed(value, dtype), beside if dtype is beside.dtype else array_type(beside.shape, dtype))


def typed(value: Any, dtype: DType) -> Any:
    """A Python scalar of the kind that a dtype holds; an unknown number stays what it is. Raises OverflowError."""
    kind = dtype.kind
    if type(value) is Unknown:
        return value
    if kind == "f":
        return float(value.real)
    if kind == "c":
        return complex(value)
    return bool(value) if kind == "b" else bounded_int(value, dtype)


# Identities -----------------------------------------------------------------------------------------------------------

IDENTITY = Primitive(
    "marker", lambda attributes, type: lambda x: x, (lambda u, out, x: u,), view=True, passes_on=True, linear=True,
    key=lambda attributes: None)  # fmt: skip
DETACH = Primitive("stop_gradient", lambda attributes, type: lambda x: x, view=True, passes_on=True)
SELECT = Primitive("select_output", lambda index, type: lambda outputs: outputs[index], view=True)
CAST = Primitive(
    "astype",
    lambda attributes, type: lambda x, out=None: _cast_array(x, type, out),
    (lambda u, out, x: cast(u, x.dtype) if x.type.inexact else None,),
    elementwise=True,
    cheap=True,
    light=True,
    exact=True,
    moves=True,
)


def _cast_array(x: Any, type: ArrayType, out: Any = None) -> Any:
    dtype = type.dtype.dtype
    if out is None:
        out = np.empty(np.shape(x), dtype)
    x = np.asarray(x)
    np.copyto(out, x.real if x.dtype.kind == "c" and dtype.kind not in "cb" else x, casting="unsafe")  # 1j is True
    return out


# Pending constants cut from tracked graphs. When that graph is evaluated they get their value with it (see evaluate), so that
# a running total of losses doesn't hold every step's graph.
WATCHED: list[Node] = []


@register
def marker(x: Node, variable: Variable | None = None, tracked: bool | None = None) -> Node:
    """The identity as a node of its own: something to differentiate by, to name, or to keep a gradient at."""
    node = record(IDENTITY, (x,), variable, x.type)
    if tracked is not None:
        node.tracked = tracked
    return node


@register
def stop_gradient(x: Node) -> Node:
    """The same value, as a constant to every derivative."""
    mode = get_mode()
    node = Node(DETACH, (x,), None, x.type, mode.site, mode.offset, False)
    if x.tracked and x.value is None:
        watch(node)
    return node


def watch(node: Node) -> None:
    """Remember a constant that is cut from what is tracked and pending, if it is."""
    x = node.inputs[0]
    if x.tracked and x.value is None:
        if len(WATCHED) >= 1024:
            # those that nobody else holds are forgotten
            counts = reference_counts(WATCHED)
            WATCHED[:] = [y for y, count in zip(WATCHED, counts, strict=True) if count > COUNTED_IN_LIST]
        WATCHED.append(node)


def select(x: Node, index: int) -> Node:
    """One output of a node with several."""
    type = x.type[index]
    return Node(SELECT, (x,), index, type, x.site, x.offset, x.tracked and type.inexact)


def cast(x: Node, dtype: DType) -> Node:
    """The same numbers as another type. Complex to real keeps the real part."""
    if x.type.dtype is dtype:
        return x
    return record(CAST, (x,), dtype.name, array_type(x.type.shape, dtype))


register(cast, "astype")


REAL_SCALARS = (float, int)
LITERALS = frozenset({0, 1, -1, 2})

# Matching types -------------------------------------------------------------------------------------------------------


def is_scalar(x: Any) -> bool:
    """Whether x is a scalar that adapts to the array beside it: Python's own, and float64 and complex128 of NumPy."""
    return isinstance(x, (bool, int, float, complex, Unknown))


_common: dict[tuple[ArrayType, ArrayType], ArrayType] = {}  # the common type of two, remembered
MAX_COMMON = 1 << 14


def match(name: str, *operands: Any) -> list[Node]:
    """The operands as nodes of one shape and dtype, through explicit casts and broadcasts. Raises as they do."""
    if len(operands) == 2:
        a, b = operands
        if type(a) is not Node and type(b) is Node and type(a) in REAL_SCALARS and b.type.real_inexact:
            return [Node(FULL, (), float(a), b.type, None, 0, False), b]
        if type(b) is not Node and type(a) is Node and type(b) in REAL_SCALARS and a.type.real_inexact:
            return [a, Node(FULL, (), float(b), a.type, None, 0, False)]
        if type(a) is Node and type(b) is Node:
            pair = (a.type, b.type)
            common = _common.get(pair)
            if common is None:
                if len(_common) >= MAX_COMMON:
                    _common.clear()
                dtype, shape = promote(a.type.dtype, b.type.dtype), broadcast_shapes(name, a.type.shape, b.type.shape)
                common = _common[pair] = array_type(shape, dtype)
            return [conform(a, common), conform(b, common)]
    nodes = [x for x in operands if type(x) is Node]
    first = nodes[0].type
    dtype, shape = first.dtype, first.shape
    for x in nodes[1:]:
        if x.type is not first:
            dtype = promote(dtype, x.type.dtype)
            if x.type.shape != shape:
                shape = broadcast_shapes(name, *(y.type.shape for y in nodes))
    for x in operands:
        if type(x) is not Node:
            if not is_scalar(x):
                raise TypeError(f"{name}: expected an array or a number, got {type(x).__name__}")
            dtype = promote(dtype, scalar_dtype(x, dtype)) if not dtype.inexact or isinstance(x, complex) else dtype
    common = array_type(shape, dtype)
    return [conform(x, common) if type(x) is Node else constant(x, common) for x in operands]


def is_literal(value: Any) -> bool:
    """Whether a constant is part of a plan's key (0, 1, -1 and 2, no part a negative zero) rather than one of its inputs."""
    if type(value) is Unknown or value not in LITERALS:
        return False
    return copysign(1.0, value.imag) > 0 and (value != 0 or copysign(1.0, value.real) > 0)


def conform(x: Node, type: ArrayType) -> Node:
    """x cast and broadcast to a type."""
    if x.type is type:
        return x
    # A literal takes the type at once. Other numbers may be inputs of the plan that this is done for: they aren't looked at.
    if x.op is FULL and x.value is None and is_literal(x.attributes):
        kind = type.dtype.kind
        if kind == x.type.dtype.kind or (kind in "fc" and x.type.dtype.kind != "c"):
            value = x.attributes
            return full(float(value) if kind == "f" else complex(value) if kind == "c" else value, type)
    if x.type.dtype is not type.dtype:
        x = promoted(x, type.dtype)
    return x if x.type.shape == type.shape else ops.widen(x, type)


# What to call when an array of float32 that is differentiated becomes float64 because float64 met it: once, and then it is empty.
ON_WIDENING: list[Callable[[], None]] = []


def promoted(x: Node, dtype: DType) -> Node:
    """x cast because of what stands beside it."""
    if ON_WIDENING and x.tracked and x.type.ndim and x.type.dtype is float32 and dtype is float64:
        ON_WIDENING.pop()()
    return cast(x, dtype)


def reduce_to(x: Node, shape: Shape) -> Node:
    """The adjoint of broadcasting to x's shape: sums over the axes that were broadcast."""
    if x.type.shape == shape:
        return x
    extra = x.type.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(shape) if n == 1 and x.type.shape[i + extra] != 1
    )
    return ops.reshape(ops.sum(x, axes), shape)


def inexact(x: Node) -> Node:
    """x itself if floating or complex, else cast to the default floating type."""
    return x if x.type.inexact else cast(x, default_dtype())


def conjugate(x: Node) -> Node:
    """The complex conjugate; a real node is its own. Derivative rules multiply by it (the adjoint under Re<.,.>)."""
    return x if x.type.real_inexact or x.type.dtype.kind != "c" else ops.conj(x)


# Numbers of 16 bits ---------------------------------------------------------------------------------------------------


def is_narrow(operands: Sequence[Any]) -> bool:
    """Whether the arrays among these, and in the lists among these, promote to a floating dtype of 16 bits."""
    common = _common_dtype(operands)
    return common is not None and common.narrow


def _common_dtype(operands: Sequence[Any]) -> DType | None:
    """What the floating arrays promote to. Integers beside them count for nothing, and may have no common dtype."""
    common: DType | None = None
    for x in operands:
        if type(x) is Node:
            found = None if x.type.__class__ is tuple else x.type.dtype
        else:
            found = _common_dtype(x) if type(x) is list else None
        if found is not None and found.inexact:
            common = found if common is None else promote(common, found)
    return common


def in_float32(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """A function of arrays that promote to a floating dtype of 16 bits: computed in float32, and each result of float32 rounded
    once. Numbers beside them stay what they are, as PyTorch has it."""
    dtype = _common_dtype(operands)
    assert dtype is not None
    made = function(*[_wide(x) for x in operands])
    return [_rounded(x, dtype) for x in made] if isinstance(made, list) else _rounded(made, dtype)


def _rounded_result(function: NodeFunction, operands: Sequence[Any]) -> Node:
    """What `in_float32` gives, of a function with one result."""
    made: Node = in_float32(function, operands)
    return made


def _wide(x: Any) -> Any:
    if type(x) is list:
        return [_wide(y) for y in x]
    return cast(x, float32) if type(x) is Node and x.type.inexact else x


def _rounded(x: Any, dtype: DType) -> Any:
    return cast(x, dtype) if type(x) is Node and x.type.dtype is float32 else x


def _widened(op: Primitive, inputs: tuple[Node, ...], attributes: Any, type: Any) -> Node | None:
    """What `record` makes of an operation that computes, where numbers of 16 bits are among its inputs or are its result."""
    narrow = [x.type.__class__ is not tuple and x.type.dtype.narrow for x in inputs]
    several = type.__class__ is tuple
    rounded = not several and type.dtype.narrow
    if not (rounded or any(narrow)):
        return None
    if several:
        name = next(x.type.dtype.name for x, found in zip(inputs, narrow, strict=True) if found)
        raise TypeError(f"{op.name}: not defined for {name}; cast to float32 first: x.astype(ad.float32)")
    wide = tuple([cast(x, float32) if found else x for x, found in zip(inputs, narrow, strict=True)])
    made = record(op, wide, attributes, array_type(type.shape, float32) if rounded else type)
    return cast(made, type.dtype) if rounded else made


WIDENED.append(_widened)

# Makers of elementwise functions --------------------------------------------------------------------------------------

KIND_NAMES = {"b": "bool", "i": "integer", "u": "unsigned", "f": "floating", "c": "complex"}


def _refuse(name: str, kinds: str, dtype: DType) -> None:
    wanted = ", ".join(KIND_NAMES[k] for k in kinds if k != "u")
    raise TypeError(f"{name}: not defined for {dtype.name}; it takes {wanted} arrays")


def unary(
    name: str,
    kernel: Callable[..., Any],
    rule: Rule | None = None,
    *,
    kinds: str = "fc",
    result: str = "",
    **flags: Any,
) -> NodeFunction:
    """Register an elementwise function of one array.

    `kernel(x, out=None)` is a ufunc or acts like one. `kinds` are the dtype kinds it is defined for: where integers
    are not among them but floats are, they are cast to the default floating type. `result` is "bool" or "real" where
    the dtype isn't that of x.
    """
    op = Primitive(name, lambda attributes, type: kernel, (rule,), elementwise=True, result=result, **flags)
    both = "f" in kinds and "c" in kinds

    def apply(x: Node) -> Node:
        kind = x.type.dtype.kind
        if not (both and x.type.computes) and (kind not in kinds or x.type.dtype.narrow):
            if kind in kinds:
                return _rounded_result(apply, (x,))
            if kind in "biu" and "f" in kinds and "i" not in kinds:
                x = cast(x, default_dtype())
            else:
                _refuse(name, kinds, x.type.dtype)
        type = x.type
        if result == "bool":
            type = array_type(type.shape, BOOL)
        elif result == "real" and type.dtype.kind == "c":
            type = array_type(type.shape, real_of(type.dtype))
        mode = get_mode()
        return Node(op, (x,), None, type, mode.site, mode.offset, x.tracked and mode.grad and type.inexact)

    apply.__name__ = name
    return register(apply)


def binary(
    name: str,
    kernel: Callable[..., Any],
    rule_a: Rule | None = None,
    rule_b: Rule | None = None,
    *,
    kinds: str = "biufc",
    result: str = "",
    **flags: Any,
) -> NodeFunction:
    """Register an elementwise function of two arrays, which it brings to one shape and dtype. See `unary`."""
    op = Primitive(name, lambda attributes, type: kernel, (rule_a, rule_b), elementwise=True, result=result, **flags)
    to_bool = result == "bool"
    plain = "f" in kinds and "c" in kinds and not to_bool  # defined for every floating type, and gives the same
    widens = "f" in kinds and not op.moves

    def apply(a: Any, b: Any) -> Node:
        if type(a) is Node and type(b) is Node and a.type is b.type:
            common = a.type
        elif type(a) is Node and type(b) in REAL_SCALARS and a.type.real_inexact and a.type.computes:
            common = a.type
            b = Node(FULL, (), float(b), common, None, 0, False)
        elif type(b) is Node and type(a) in REAL_SCALARS and b.type.real_inexact and b.type.computes:
            common = b.type
            a = Node(FULL, (), float(a), common, None, 0, False)
        elif NARROW and widens and is_narrow((a, b)):
            return _rounded_result(apply, (a, b))
        else:
            a, b = match(name, a, b)
            common = a.type
        if plain and common.computes:
            mode = get_mode()
            return Node(op, (a, b), None, common, mode.site, mode.offset, mode.grad and (a.tracked or b.tracked))
        if common.dtype.narrow and widens:
            return _rounded_result(apply, (a, b))
        if common.dtype.kind not in kinds:
            if common.dtype.kind in "biu" and "f" in kinds and "i" not in kinds:
                a, b = cast(a, default_dtype()), cast(b, default_dtype())
                common = a.type
            else:
                _refuse(name, kinds, common.dtype)
        mode = get_mode()
        if to_bool:
            return Node(op, (a, b), None, array_type(common.shape, BOOL), mode.site, mode.offset, False)
        return Node(op, (a, b), None, common, mode.site, mode.offset, mode.grad and (a.tracked or b.tracked))

    apply.__name__ = name
    return register(apply)


def same_type(name: str, nodes: Sequence[Node]) -> list[Node]:
    """The nodes cast to their common dtype, shapes untouched."""
    dtype = nodes[0].type.dtype
    for x in nodes[1:]:
        dtype = promote(dtype, x.type.dtype)
    return [x if x.type.dtype is dtype else promoted(x, dtype) for x in nodes]


__all__ = [
    "BOOL", "CAST", "DETACH", "FULL", "IDENTITY", "LEAF", "ON_WIDENING", "PLACEHOLDER", "SELECT", "VERSION", "WATCHED", "binary",
    "bounded_int", "cast", "complex_of", "conform", "conjugate", "constant", "data", "full", "in_float32", "inexact",
    "is_literal", "is_narrow", "is_scalar", "is_traced", "leaf", "marker", "match", "no_kernel", "ops", "placeholder",
    "reduce_to", "register", "same_type", "select", "stop_gradient", "typed", "unary", "version", "watch", "zeros",
]  # fmt: skip
