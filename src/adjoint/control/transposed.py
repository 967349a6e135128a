"""The reverse pass of a scan as a scan in the other direction: what it carries, what it reads of each step, what it sums up.

Of what the body computes it reads what costs more to compute again than to stack and read back. A sum over the steps of products,
the gradient of a constant matrix, is one product after the loop: see `template`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from adjoint._tuples import NamedTuple
from adjoint.control.body import Body, stand_in
from adjoint.control.lean import Loop, active_carries, step_back
from adjoint.control.template import Template
from adjoint.execution.tiers import tiers
from adjoint.graph import Node, mode, substitute, topological
from adjoint.primitives.contraction import MATMUL
from adjoint.primitives.core import SELECT, ops
from adjoint.primitives.reductions import SUM
from adjoint.primitives.structural import CONCAT, PERMUTE

__all__ = ["Transposed", "summed_product", "transposed"]

Nodes = Sequence[Node]
SMALL = 64  # elements of an array that costs less to compute again than to stack and read back


class Transposed(NamedTuple):
    """The reverse pass of a loop, as a loop.

    residuals   the nodes of the body that it reads of every step
    reread      the numbers of the slices that it reads again
    carries, constants, slices   the numbers of those that cotangents are computed of
    given       the numbers of the results that come with cotangents, carries apart
    products    for a constant whose cotangent is a sum of products over the steps: its factors
    """

    template: Template
    residuals: list[Node]
    reread: list[int]
    carries: list[int]
    constants: list[int]
    slices: list[int]
    given: list[int]
    products: dict[int, tuple[Factor, Factor]]


class Factor(NamedTuple):
    """A factor at every step, stacked: a result of the reverse pass, or one of the arrays that it is `given`. `turned`: what is
    stacked is its transpose."""

    given: bool
    place: int
    turned: bool


def transposed(loop: Loop, wanted: tuple[bool, ...], given: tuple[bool, ...]) -> Transposed:
    """The reverse pass of a loop by its wanted inputs, where these of its results come with cotangents."""
    key = ("transposed", loop.constants, loop.carries, wanted, given, tiers.deterministic)
    return loop.body.remembered(key, lambda: _transpose(loop, wanted, given))


def _transpose(loop: Loop, wanted: Sequence[bool], given: Sequence[bool]) -> Transposed:
    body = loop.body
    constants, slices = body.inputs[: loop.constants], body.inputs[loop.constants + loop.carries :]
    active, carried = active_carries(loop, wanted)
    back = step_back(loop, active, carried, given)
    with mode(grad=True):
        found = back.found
        read = _reads(body, found, set(constants))
        residuals = [x for x in read if x not in set(slices)]
        reread = [i for i, x in enumerate(slices) if x in read]
        stand_ins = [stand_in(x, "a residual") for x in residuals]
        found = substitute(found, dict(zip(residuals, stand_ins, strict=True)))
        a, b = len(carried), len(carried) + len(back.constants)
        sums = [stand_in(x, "a sum over the steps") for x in found[a:b]]
        totals = [ops.add(s, g) for s, g in zip(sums, found[a:b], strict=True)]
        outputs = found[b:]
        given_to_it = back.coming + stand_ins + [slices[i] for i in reread]
        products: dict[int, tuple[Factor, Factor]] = {}
        if not tiers.deterministic:
            for k, g in enumerate(found[a:b]):
                if g.op is MATMUL and g.ndim == 2:
                    left, right = [_factor(x, given_to_it, outputs) for x in g.inputs]
                    products[k] = left, right
        kept = [k for k in range(len(sums)) if k not in products]
        template = Template.of(
            back.moving + [sums[k] for k in kept],
            given_to_it,
            found[:a] + [totals[k] for k in kept],
            outputs,
        )
    return Transposed(template, residuals, reread, carried, back.constants, back.slices, back.given, products)


def _factor(x: Node, given: list[Node], outputs: list[Node]) -> Factor:
    """Where a matrix is stacked: what isn't stacked anyway joins the outputs."""
    turned = x.op is PERMUTE and x.attributes == (1, 0)
    base = x.inputs[0] if turned else x
    if base in given:
        return Factor(given=True, place=given.index(base), turned=turned)
    if base not in outputs:
        outputs.append(base)
    return Factor(given=False, place=outputs.index(base), turned=turned)


def _reads(body: Body, found: Nodes, constants: set[Node]) -> list[Node]:
    """The nodes of the body that its reverse pass reads; what is cheap is computed again from what it is made of."""
    inputs = set(body.inputs)
    own = set(topological(body.outputs, lambda x: x.value is None)) | inputs
    varying = inputs - constants
    for node in topological(body.outputs, lambda x: x not in inputs and x.value is None):
        if any([x in varying for x in node.inputs]):
            varying.add(node)

    def part(x: Node) -> bool:
        """One of several results of a node of the body: these are read, for what has several results can't be stacked."""
        return x.op is SELECT and x.inputs[0] in own

    def remade(x: Node) -> bool:
        light = x.op.light or x.op is CONCAT or x.op is SUM
        small = light and type(x.type) is not tuple and x.type.size <= SMALL
        return (x.op.cheap or small) and x not in inputs and x.op is not SELECT

    stack = [x for x in topological(found, lambda x: x not in own and not part(x)) if x in own or part(x)]
    varying.update([x for x in stack if part(x) and x.inputs[0] in varying])
    read = dict.fromkeys([x for x in stack if x in varying and not remade(x)])
    seen = set(read)
    while stack:
        node = stack.pop()
        if node in seen or node not in varying:
            continue
        seen.add(node)
        if remade(node) and not (node.op.elementwise and _is_less(node, varying, read, remade)):
            stack += node.inputs
        else:
            read[node] = None
    return [x for x in read if not (x.op.shares and x.inputs[0] in read)]


def _is_less(node: Node, varying: set[Node], read: Container[Node], remade: Callable[[Node], bool]) -> bool:
    """Whether to read an elementwise result is less than to read what it is made of, and isn't read anyway."""
    size: int = node.type.size
    if size <= SMALL:
        return False
    more = 0  # elements to read besides
    seen = set(node.inputs)
    stack = list(seen)
    while stack and more <= size:
        x = stack.pop()
        if x not in varying or x in read:
            continue
        if remade(x):
            stack += set(x.inputs) - seen
            seen.update(x.inputs)
        else:
            more += x.type.size
    return more > size


def summed_product(left: Node, right: Node, left_turned: bool, right_turned: bool) -> Node:
    """The sum over the steps of left[t] @ right[t], as one product; what is turned stands for its transpose."""
    if right_turned:
        right = ops.permute_dims(right, (0, 2, 1))
    steps, k, n = right.shape
    right = ops.reshape(right, (steps * k, n))
    if left_turned:
        wide = ops.permute_dims(ops.reshape(left, (steps * k, left.shape[2])), (1, 0))
    else:
        wide = ops.reshape(ops.permute_dims(left, (1, 0, 2)), (left.shape[1], steps * k))
    return ops.matmul(wide, right)
