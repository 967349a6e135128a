"""What a tensor looks like in print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.derive import PULLBACK, written_out
from adjoint.dtypes import BY_NUMPY, default_dtype
from adjoint.graph import Node, topological
from adjoint.primitives.core import IDENTITY, SELECT, is_traced
from adjoint.primitives.custom import CUSTOM, HOST_CALL, hooks_of

if TYPE_CHECKING:
    from adjoint.tensors.tensor import Tensor


NUMPYS_DIGITS = 8  # its default


def made_by(node: Node) -> Node:
    """The node itself, or what is below the name that it was given; of a gradient, what it stands for."""
    node = written_out(node) if node.tracked else node
    while (node.op is IDENTITY and node.attributes is not None and node.inputs) or hooks_of(node) is not None:
        node = node.inputs[0]
    return node


def operation_name(node: Node) -> str:
    """The name of what made a node, as reprs and pictures write it: `Add`, or a custom function's own name."""
    node = made_by(node)
    if node.op is CUSTOM:
        return str(node.attributes[1].name)
    if node.op is HOST_CALL:
        return str(node.attributes[0].name)
    if node.op is SELECT and node.inputs and node.inputs[0].op in (CUSTOM, HOST_CALL, PULLBACK):
        return operation_name(node.inputs[0])
    return "".join(part.capitalize() for part in node.op.name.split("_"))


def _digits(array: Any) -> int | None:
    """How many digits to show behind the point: as many as NumPy is set to, where that is more than its default or less, and
    else 8 of double precision, 4 of single."""
    if array.dtype.kind not in "fc":
        return None
    asked = int(np.get_printoptions()["precision"])
    single = array.real.dtype.itemsize < 8
    return 4 if single and asked == NUMPYS_DIGITS else asked


def describe(t: Tensor) -> str:
    """The repr: value, dtype where it isn't the default, and what made it."""
    node = t.node
    extras = []
    if t.dtype not in (default_dtype(), BY_NUMPY[np.dtype(np.int64)], BY_NUMPY[np.dtype(np.bool_)]):
        extras.append(f"dtype={t.dtype.name}")
    if node.tracked and t.creator is not None:
        extras.append(f"grad_fn={operation_name(node)}")
    elif node.tracked:
        extras.append("requires_grad=True")
    if t.name is not None:
        extras.append(f"name={t.name!r}")
    if any(is_traced(x) for x in topological([node], lambda x: x.value is None)):
        text = f"<traced {node.type}>"
    else:
        array = t._array()
        if array.dtype.kind == "V":  # bfloat16, which NumPy would print as it prints objects
            array = array.astype(np.float32)
        text = np.array2string(array, separator=", ", prefix="Tensor(", precision=_digits(array))
        if array.size == 0:
            extras.insert(0, f"shape={t.shape}")
    return f"Tensor({', '.join([text, *extras])})"
