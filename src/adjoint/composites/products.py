"""Products of arrays: matmul with NumPy's batching, tensordot and einsum, all through the one matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.composites.recipes import remembered
from adjoint.graph import NARROW, Node, array_type, get_mode
from adjoint.primitives.contraction import MATMUL
from adjoint.primitives.core import cast, conjugate, ops, same_type
from adjoint.shapes import Shape, broadcast_shapes, normalize_axis, size_of


def matmul(a: Node, b: Node) -> Node:
    """NumPy's matmul: 1-d operands are vectors, leading axes broadcast."""
    s, t = a.type.shape, b.type.shape
    if len(s) == 2 and len(t) == 2 and s[1] == t[0] and a.type.dtype is b.type.dtype and not NARROW:
        mode = get_mode()
        type = array_type((s[0], t[1]), a.type.dtype)
        return Node(MATMUL, (a, b), None, type, mode.site, mode.offset, mode.grad and (a.tracked or b.tracked))
    if not a.ndim or not b.ndim:
        raise ValueError(
            f"matmul: operands need at least one axis, got shapes {a.shape} and {b.shape}; use * for scalars"
        )
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        hint = ""
        if b.ndim > 1 and a.shape[-1] == b.shape[-1]:
            hint = "; did you mean a @ b.mT?"
        raise ValueError(
            f"matmul: shapes {a.shape} and {b.shape} do not fit: {a.shape[-1]} columns, {inner} rows{hint}"
        )
    a, b = same_type("matmul", [a, b])
    left = ops.reshape(a, (1, *a.shape)) if a.ndim == 1 else a
    right = ops.reshape(b, (*b.shape, 1)) if b.ndim == 1 else b
    lead = broadcast_shapes("matmul", left.shape[:-2], right.shape[:-2])
    rows, columns = left.shape[-2], right.shape[-1]
    if right.ndim == 2 and left.ndim > 2:  # one large product instead of many small ones
        flat = ops.reshape(left, (size_of(left.shape[:-1]), left.shape[-1]))
        product = ops.reshape(ops.matmul(flat, right), (*lead, rows, columns))
    else:
        left = ops.broadcast_to(left, (*lead, *left.shape[-2:]))
        right = ops.broadcast_to(right, (*lead, *right.shape[-2:]))
        product = ops.matmul(left, right)
    shape: Shape = lead
    if a.ndim > 1:
        shape = (*shape, rows)
    if b.ndim > 1:
        shape = (*shape, columns)
    return ops.reshape(product, shape)


@remembered
def linear(x: Node, weight: Node, bias: Node | None) -> Node:
    """x (..., in) by a weight (out, in), plus a bias (out,)."""
    product = matmul(x, ops.permute_dims(weight, tuple(range(weight.ndim))[::-1]))
    return product if bias is None else ops.add(product, bias)


def vecdot(a: Node, b: Node, axis: int) -> Node:
    a, b = [_axis_last(x, axis) for x in same_type("vecdot", [a, b])]
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"vecdot: along axis {axis} the sizes are {a.shape[-1]} and {b.shape[-1]}; they must be equal")
    shape = broadcast_shapes("vecdot", a.shape, b.shape)
    products = ops.multiply(conjugate(ops.broadcast_to(a, shape)), ops.broadcast_to(b, shape))
    return cast(ops.sum(products, (len(shape) - 1,)), a.dtype)


def _axis_last(x: Node, axis: int) -> Node:
    place = normalize_axis(axis, x.ndim, "vecdot")
    return ops.permute_dims(x, (*(i for i in range(x.ndim) if i != place), place))


def dot(a: Node, b: Node) -> Node:
    if not a.ndim or not b.ndim:
        return ops.multiply(a, b)
    if b.ndim == 1:
        return tensordot(a, b, 1)
    return tensordot(a, b, ([a.ndim - 1], [b.ndim - 2]))


def outer(a: Node, b: Node) -> Node:
    a, b = ops.reshape(a, (a.type.size, 1)), ops.reshape(b, (1, b.type.size))
    return ops.multiply(a, b)


def tensordot(a: Node, b: Node, axes: Any) -> Node:
    if isinstance(axes, int):
        first, second = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        first, second = (list(x) if isinstance(x, Sequence) else [x] for x in axes)
    first = [normalize_axis(i, a.ndim, "tensordot") for i in first]
    second = [normalize_axis(i, b.ndim, "tensordot") for i in second]
    if len(set(first)) < len(first) or len(set(second)) < len(second):
        raise ValueError(f"tensordot: axes {axes} name an axis twice")
    if [a.shape[i] for i in first] != [b.shape[i] for i in second]:
        raise ValueError(f"tensordot: axes {first} of {a.shape} and {second} of {b.shape} differ in size")
    rest_a = [i for i in range(a.ndim) if i not in first]
    rest_b = [i for i in range(b.ndim) if i not in second]
    inner = size_of(tuple(a.shape[i] for i in first))
    shape_a, shape_b = tuple(a.shape[i] for i in rest_a), tuple(b.shape[i] for i in rest_b)
    a, b = same_type("tensordot", [a, b])
    left = ops.reshape(ops.permute_dims(a, tuple(rest_a + first)), (size_of(shape_a), inner))
    right = ops.reshape(ops.permute_dims(b, tuple(second + rest_b)), (inner, size_of(shape_b)))
    return ops.reshape(ops.matmul(left, right), shape_a + shape_b)


# einsum: operands are contracted pairwise, left to right; each pair is one batched matrix product -------------------------


def einsum(subscripts: str, operands: Sequence[Node]) -> Node:
    """Einstein summation in NumPy's string notation, ellipsis included."""
    inputs, output = _parse(subscripts, operands)
    operands = same_type("einsum", list(operands))
    terms = [_diagonal(x, labels) for x, labels in zip(operands, inputs, strict=True)]
    _check_sizes(subscripts, terms)
    while len(terms) > 1:
        (a, la), (b, lb), *others = terms
        needed = set(output).union(*(labels for _, labels in others)) if others else set(output)
        terms = [_contract(a, la, b, lb, needed), *others]
    x, labels = terms[0]
    x, labels = _sum_out(x, labels, set(output))
    return ops.permute_dims(x, tuple(labels.index(c) for c in output))


def _parse(subscripts: str, operands: Sequence[Node]) -> tuple[list[str], str]:
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ValueError(f"einsum: {subscripts!r} names {len(terms)} operands, got {len(operands)}")
    hidden = 0
    for term, x in zip(terms, operands, strict=True):
        letters = term.replace("...", "")
        if not all(c.isalpha() for c in letters) or ("..." not in term and len(letters) != x.ndim):
            raise ValueError(f"einsum: subscripts {term!r} do not fit an operand of shape {x.shape}")
        if "..." in term:
            hidden = max(hidden, x.ndim - len(letters))
    # the axes that an ellipsis stands for get labels of their own, right-aligned
    extra = [chr(0x2460 + i) for i in range(hidden)]
    inputs = []
    for term, x in zip(terms, operands, strict=True):
        count = x.ndim - len(term.replace("...", ""))
        inputs.append(term.replace("...", "".join(extra[hidden - count :])))
    if arrow:
        output = right.replace("...", "".join(extra))
    else:
        joined = "".join(inputs)
        output = "".join(extra) + "".join(sorted(c for c in set(joined) if joined.count(c) == 1 and c not in extra))
    unknown = [c for c in output if not any(c in labels for labels in inputs)]
    if unknown or len(set(output)) != len(output):
        raise ValueError(
            f"einsum: output subscripts {right!r} of {subscripts!r} must be distinct and occur in the inputs"
        )
    return inputs, output


def _diagonal(x: Node, labels: str) -> tuple[Node, str]:
    """Take diagonals until every label occurs once."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            n = x.shape[i]
            if x.shape[j] != n:
                raise ValueError(f"einsum: label {c!r} stands for sizes {n} and {x.shape[j]}")
            rest = [k for k in range(x.ndim) if k not in (i, j)]
            lead = tuple([x.shape[k] for k in rest])
            flat = ops.reshape(ops.permute_dims(x, (*rest, i, j)), (*lead, n * n))
            x = ops.slice_(flat, (*[(0, size, 1) for size in lead], (0, n, n + 1)))
            labels = "".join([labels[k] for k in rest]) + c
    return x, labels


def _check_sizes(subscripts: str, terms: list[tuple[Node, str]]) -> None:
    sizes: dict[str, int] = {}
    for x, labels in terms:
        for c, n in zip(labels, x.shape, strict=True):
            if sizes.setdefault(c, n) != n and 1 not in (n, sizes[c]):
                raise ValueError(f"einsum: label {c!r} of {subscripts!r} stands for sizes {sizes[c]} and {n}")
            sizes[c] = max(sizes[c], n) if n and sizes[c] else min(sizes[c], n)
    for k, (x, labels) in enumerate(terms):
        shape = tuple(sizes[c] for c in labels)
        terms[k] = (ops.broadcast_to(x, shape), labels)


def _sum_out(x: Node, labels: str, needed: set[str]) -> tuple[Node, str]:
    axes = tuple(i for i, c in enumerate(labels) if c not in needed)
    return (cast(ops.sum(x, axes), x.dtype) if axes else x), "".join(c for c in labels if c in needed)


def _contract(a: Node, la: str, b: Node, lb: str, needed: set[str]) -> tuple[Node, str]:
    a, la = _sum_out(a, la, needed | set(lb))
    b, lb = _sum_out(b, lb, needed | set(la))
    batch = [c for c in la if c in lb and c in needed]
    inner = [c for c in la if c in lb and c not in needed]
    rows = [c for c in la if c not in lb]
    columns = [c for c in lb if c not in la]
    sizes = {**dict(zip(la, a.shape, strict=True)), **dict(zip(lb, b.shape, strict=True))}

    def arranged(x: Node, labels: str, *groups: list[str]) -> Node:
        order = [labels.index(c) for group in groups for c in group]
        shape = [sizes[c] for c in groups[0]] + [size_of(tuple(sizes[c] for c in g)) for g in groups[1:]]
        return ops.reshape(ops.permute_dims(x, tuple(order)), tuple(shape))

    labels = "".join(batch + rows + columns)
    if not inner:  # nothing is summed: an outer product needs no matrix product
        left = arranged(a, la, batch, rows, [])
        right = arranged(b, lb, batch, [], columns)
        product = ops.multiply(left, right)
    else:
        product = ops.matmul(arranged(a, la, batch, rows, inner), arranged(b, lb, batch, inner, columns))
    return ops.reshape(product, tuple(sizes[c] for c in labels)), labels
