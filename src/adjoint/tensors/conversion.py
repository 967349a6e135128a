"""Numbers, arrays, nested lists and tensors become nodes."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import numpy as np

from adjoint import tracing
from adjoint.composites.shaping import stack
from adjoint.execution import ValueNeededError
from adjoint.execution.silence import quietly
from adjoint.dtypes import BY_NUMPY, DType, as_dtype, default_dtype, promote, scalar_dtype
from adjoint.runtime.frozen import VALUE, is_frozen, maker
from adjoint.runtime.memory import copied
from adjoint.graph import Node, Variable, array_type, topological
from adjoint.primitives.custom import closed
from adjoint.primitives.core import PLACEHOLDER, cast, is_scalar, leaf, marker, ops, stop_gradient, typed
from adjoint.tensors.leaving import leave
from adjoint.tensors.located import at_user, explained
from adjoint.tensors.named import Named
from adjoint.tensors.pending import force_array
from adjoint.unknown import Unknown

__all__ = ["a", "array_node", "as_node", "as_nodes", "dtype_of", "read_only", "stacked", "traced_leaf"]


def as_node(x: Any, beside: DType | None = None) -> Node:
    """The node of a tensor, or of data: an array keeps its dtype, Python numbers take the default ones. NumPy's scalars adapt to
    a dtype `beside` them as Python's do; alone they keep their own. Lists that hold tensors become a stack of them."""
    if isinstance(x, Named):
        return x.node
    if isinstance(x, Node):
        return x
    if is_scalar(x) and (beside is not None or not isinstance(x, np.generic)):
        dtype = scalar_dtype(x, beside)
        return ops.full(typed(x, dtype), array_type((), dtype))
    if beside is not None and isinstance(x, (list, tuple)):
        return stacked(x, beside=beside)
    return array_node(x, None, None)


PYTHONS = (bool, int, float, complex, list, tuple)


def as_nodes(operands: Any) -> list[Node]:
    """The nodes of operands that belong together: numbers, and lists of numbers, take the dtype of the arrays beside them, as in
    operators."""
    given = operands if type(operands) in (list, tuple) else list(operands)
    nodes = [x.node for x in given if isinstance(x, Named)]
    if len(nodes) == len(given):
        return nodes
    dtypes = {x.dtype if isinstance(x, Node) else x.node.dtype for x in given if isinstance(x, (Named, Node))}
    dtypes |= {dtype_of(x.dtype) for x in given if isinstance(x, np.ndarray) and x.dtype.kind in "biufc"}
    beside = None
    with contextlib.suppress(TypeError):  # of dtypes that have none in common
        beside = functools.reduce(promote, dtypes) if dtypes else None
    return [as_node(x, beside if isinstance(x, PYTHONS) else None) for x in given]


def array_node(x: Any, dtype: DType | None, copy: bool | None, variable: Variable | None = None) -> Node:
    """A leaf from an array-like. Writable memory of others is copied unless `copy` is False. What holds tensors keeps their
    derivatives, unless a tracked variable starts here."""
    if type(x) is np.ndarray and x.dtype == object:
        x = x.tolist()
    if isinstance(x, (list, tuple)) and _holds_tensors(x):
        return _from_node(stacked(x, dtype), dtype, variable)
    if type(x) in (list, tuple):
        array, copy = _from_python(x, dtype is None), False
    elif isinstance(x, Named):
        if x.node.tracked or (tracing.active() is not None and x.node.value is None):
            return _from_node(x.node, dtype, variable)
        try:
            array = force_array(x.node)
        except ValueNeededError:  # of what stands for an argument under vmap, or in a loop's body
            return _from_node(x.node, dtype, variable)
    elif isinstance(x, (np.ndarray, np.generic)):
        if type(x) is not np.ndarray and np.any(getattr(x, "mask", False)):
            raise TypeError(
                f"tensor: a masked array has no value where it is masked; give array.filled(value){at_user()}"
            )
        array = np.asarray(x)
    elif type(x) is Unknown and (dtype is None or dtype.kind == "f"):
        return traced_leaf(
            ops.full(x, array_type((), dtype or scalar_dtype(x, None))), dtype or scalar_dtype(x, None), variable
        )
    elif hasattr(x, "magnitude") and hasattr(x, "dimensionality"):
        return array_node(_without_units(x), dtype, copy, variable)
    elif isinstance(getattr(x, "data", None), Named):  # a labelled array around a tensor
        return array_node(x.data, dtype, copy, variable)
    elif hasattr(x, "__array__") or hasattr(x, "__dlpack__"):
        array = np.from_dlpack(x) if not hasattr(x, "__array__") else np.asarray(x)
    else:
        array = _from_python(x, dtype is None)
        if array.flags.owndata:  # else it lies in a buffer: an array.array's, a memoryview's, a ctypes array's
            copy = False
    if array.dtype == object and type(x) is not np.ndarray:
        return array_node(array, dtype, copy, variable)
    if array.dtype not in BY_NUMPY and array.dtype.newbyteorder("=") in BY_NUMPY:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in BY_NUMPY:
        _ = dtype_of(array.dtype).dtype  # raises, naming the dtype, or is bfloat16, which NumPy knows of from now on
    chosen = dtype or BY_NUMPY[array.dtype]
    if array.dtype != chosen.dtype:
        _check_real(array.dtype.kind, chosen)
        array = quietly(copied, array, chosen.dtype)
    elif copy or (copy is None and _may_change(array)):
        array = copied(array, chosen.dtype)
    return leaf(array, array_type(array.shape, chosen), variable)


def _without_units(quantity: Any) -> Any:
    """The number of a quantity of pint's that has no dimension."""
    if not quantity.dimensionless:
        raise TypeError(
            f"tensor: a quantity in {quantity.units} isn't a plain number; give its number, q.m_as(unit), or divide it by a "
            f"unit first{at_user()}"
        )
    return quantity.to("").magnitude


def _check_real(kind: str, chosen: DType) -> None:
    if chosen.kind != "c" and kind == "c":
        raise TypeError(f"cannot make a {chosen.name} tensor of complex data; take .real first{at_user()}")


def _from_node(node: Node, dtype: DType | None, variable: Variable | None) -> Node:
    """What a node becomes as a tensor's data: itself under a new name, or where a tracked variable starts, its value."""
    chosen = dtype or node.type.dtype
    _check_real(node.type.dtype.kind, chosen)
    if variable is None or not variable.tracked:
        return marker(cast(node, chosen), variable)
    if node.tracked:
        leave(node, "a new variable")
    if tracing.active() is not None and node.value is None:
        return traced_leaf(node, chosen, variable)
    try:
        array = force_array(node)
    except ValueNeededError:  # of what stands for an argument under vmap, or in a loop's body
        return traced_leaf(node, chosen, variable)
    return array_node(array, chosen, None, variable)


# Lists that hold tensors ----------------------------------------------------------------------------------------------


def stacked(x: Any, dtype: DType | None = None, beside: DType | None = None) -> Node:
    """Nested lists of tensors, arrays and numbers as one node, a stack at every level. Dtypes are promoted as operators do;
    numbers alone adapt to a dtype `beside` them.

    Raises ValueError for sequences of different lengths, TypeError for what isn't numbers.
    """
    arrays: list[DType] = []
    numbers: list[Any] = []
    _survey(x, arrays, numbers)
    common = dtype
    if common is None:
        common = functools.reduce(promote, arrays) if arrays else None
        for number in numbers:
            own = scalar_dtype(number, common or beside)
            common = own if common is None else promote(common, own)
    return _stack(x, common or default_dtype())


def _survey(x: Any, arrays: list[DType], numbers: list[Any]) -> None:
    """Note the dtypes of the tensors and arrays in nested lists, and a number of each kind."""
    kinds = set()
    for y in x:
        if isinstance(y, Named):
            arrays.append(y.node.type.dtype)
        elif isinstance(y, (list, tuple)):
            _survey(y, arrays, numbers)
        elif is_scalar(y):
            if type(y) not in kinds:
                kinds.add(type(y))
                numbers.append(y)
        else:
            arrays.append(array_node(y, None, None).type.dtype)


def _stack(x: Any, dtype: DType) -> Node:
    if isinstance(x, Named):
        _check_real(x.node.type.dtype.kind, dtype)
        return cast(x.node, dtype)
    if is_scalar(x):
        _check_real("c" if isinstance(x, complex) else "f", dtype)
        return ops.full(typed(x, dtype), array_type((), dtype))
    if not isinstance(x, (list, tuple)) or not _holds_tensors(x):
        return array_node(x, dtype, None)
    parts = [_stack(y, dtype) for y in x]
    if any(y.type.shape != parts[0].type.shape for y in parts):
        shapes = ", ".join(dict.fromkeys(str(y.type.shape) for y in parts))
        raise ValueError(f"tensor: nested sequences of different lengths: parts of shapes {shapes}{at_user()}")
    return stack(parts, 0)


def traced_leaf(node: Node, dtype: DType, variable: Variable | None) -> Node:
    """A leaf with the value that a node will have when the function that is being traced runs. It can't be known yet whether
    that is differentiated by what the value comes from: then it raises."""
    source = cast(stop_gradient(node), dtype)
    if variable is None:
        return source
    standing = [x for x in topological([node], lambda x: x.tracked) if x.op is PLACEHOLDER and x.tracked]
    if standing and variable.tracked:
        message = "a new variable has no derivative by what its value came from; use that value, or say that a constant is meant"
        source = closed(source, standing, f"{message}: t.detach(){at_user()}")
    return marker(source, variable, variable.tracked)


def dtype_of(dtype: Any) -> DType:
    """The DType that a user named. Raises TypeError with the user's line."""
    try:
        return as_dtype(dtype)
    except TypeError as error:
        raise explained(error, "dtype") from None


class Value(np.ndarray[Any, Any]):
    """A tensor's array, as what its read-only views are made from, where `frozen` doesn't make them: it tells them from views of
    others' memory."""

    __slots__ = ()


def read_only(array: Any) -> Any:
    """A view that can't be made writable."""
    made = maker[0]
    if made is not None and type(array) is np.ndarray:
        return made((VALUE, array))
    # of a read-only buffer
    view = array.view(Value)
    if view.dtype.kind != "V":
        return np.asarray(memoryview(view).toreadonly())
    # bfloat16 is none of the types that a buffer may have: its bits are
    return np.asarray(memoryview(view.view(np.uint16)).toreadonly()).view(array.dtype)


def _may_change(array: Any) -> bool:
    """Whether somebody may write into an array, now or later: unless it is known to lie in what never changes, which are
    `bytes` and the values of tensors. An array that is read-only may be a view, and may be made writable again."""
    while isinstance(array, np.ndarray) and type(array) is not Value:
        if array.flags.writeable:
            return True
        array = array.base
    owner = array.obj if isinstance(array, memoryview) and array.readonly else array
    return type(owner) not in (bytes, Value) and not is_frozen(owner)


def _from_python(x: Any, default: bool) -> Any:
    try:
        array = np.asarray(x)
    except ValueError:
        raise ValueError(f"tensor: nested sequences of different lengths{at_user()}") from None
    if array.dtype == object:
        odd = _odd_one(x)
        large = ": an integer that no dtype has" if isinstance(odd, int) else ""
        raise TypeError(f"tensor: cannot make an array of {a(odd)}{large}{at_user()}")
    if array.dtype.kind in "US":
        raise TypeError(f"tensor: cannot make an array of text ({a(_odd_one(x))}){at_user()}")
    kind = array.dtype.kind
    if not default or kind not in "fc" or (kind == "c" and default_dtype().bits != 32) or _holds_arrays(x):
        return array
    return quietly(array.astype, default_dtype().dtype if kind == "f" else np.complex64)


def _odd_one(x: Any) -> Any:
    """The first thing in nested lists that is no number, or else the first number."""
    flat = [x]
    while any(isinstance(y, (list, tuple)) for y in flat):
        flat = [z for y in flat for z in (y if isinstance(y, (list, tuple)) else [y])]
    return next((y for y in flat if not isinstance(y, (bool, int, float, complex))), flat[0] if flat else x)


PLAIN = frozenset((bool, int, float, complex))  # Python's numbers


def _holds_tensors(x: Any) -> bool:
    """Whether nested lists hold a tensor, or a number that only a compiled function's call knows."""
    if PLAIN.issuperset(map(type, x)):
        return False
    for y in x:
        kind = type(y)
        if isinstance(y, Named) or kind is Unknown or (isinstance(y, (list, tuple)) and _holds_tensors(y)):
            return True
    return False


def _holds_arrays(x: Any) -> bool:
    """Whether data are, or hold, arrays and buffers, which have a dtype of their own."""
    if isinstance(x, (list, tuple)):
        return not PLAIN.issuperset(map(type, x)) and any(_holds_arrays(y) for y in x)
    return isinstance(x, np.generic) or not isinstance(x, PYTHONS)


def a(x: Any) -> str:
    """What something is, in a message."""
    name = type(x).__name__
    return "None" if x is None else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
