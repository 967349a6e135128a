"""`explain`: the chain rule for one input, as a sum over paths."""

from __future__ import annotations

import html
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.debug.numbers import brief, number
from adjoint.derive import CHECKPOINT, expand, one_cotangent, reverse
from adjoint.execution import evaluate
from adjoint.graph import Node, depends_on, mode, topological
from adjoint.primitives.core import IDENTITY, SELECT, VERSION, ops
from adjoint.tensors.conversion import a
from adjoint.tensors.gradients import check_differentiable
from adjoint.tensors.located import at_user
from adjoint.tensors.named import variable_of
from adjoint.tensors.tensor import Tensor
from adjoint.tensors.text import operation_name

__all__ = ["Explanation", "Path", "explain"]

LONG = 20  # steps of a path that are shown
SILENT = (IDENTITY, SELECT, CHECKPOINT)  # they change nothing and tell nothing


class Path(NamedTuple):
    """One term of the sum: the way from the output down to the input, and what it contributes to the derivative.

    `steps` are pairs (operation with its value, local derivative or None for arrays), from the output down. `paths` is
    how many paths the term stands for: 1, or more where they are folded.
    """

    contribution: np.ndarray[Any, Any]
    steps: tuple[tuple[str, float | complex | None], ...]
    paths: int
    place: str


class Explanation:
    """The derivative of an output by one input as a sum over paths. `str()` gives the text."""

    def __init__(self, output: str, name: str, total: Any, terms: Sequence[Path]) -> None:
        self.output = output
        self.name = name
        self.total = total
        self.terms = tuple(terms)

    @property
    def paths(self) -> int:
        """How many paths lead from the input to the output."""
        return sum(term.paths for term in self.terms)

    def __str__(self) -> str:
        head = f"d{self.output}/d{self.name} = {brief(self.total)}"
        if not self.terms:
            return f"{head}: {self.output} does not depend on {self.name}"
        count = self.paths
        lines = [f"{head}, the sum over {count} path{'s' if count > 1 else ''}:"]
        width = max(len(brief(term.contribution)) for term in self.terms)
        for term in self.terms:
            texts = [text for text, _ in reversed(term.steps)]
            if len(texts) > LONG:
                texts[LONG // 2 : -LONG // 2] = [f"… {len(texts) - LONG} more …"]
            chain = " → ".join(texts)
            factors = [d for _, d in term.steps if d is not None]
            known = len(factors) == len(term.steps)
            product = " × ".join(number(d) for d in reversed(factors) if d != 1) or "1"
            if term.paths > 1:
                chain = f"… {term.paths} paths … → {chain}" if chain else f"… {term.paths} paths"
                known = False
            tail = f"   [{product}]" if known and len(factors) <= LONG else ""
            lines.append(f"  {brief(term.contribution):>{width}}  {self.name} → {chain}{tail}  {term.place}".rstrip())
        lines.append(f"  {brief(sum(term.contribution for term in self.terms)):>{width}}  in all")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Explanation of d{self.output}/d{self.name}: {self.paths} paths>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        rows = []
        for term in self.terms:
            texts = [text for text, _ in reversed(term.steps)]
            way = " → ".join(texts if len(texts) <= LONG else [*texts[: LONG // 2], "…", *texts[-LONG // 2 :]])
            if term.paths > 1:
                way = f"… {term.paths} paths … {way}"
            cells = [f"{self.name} → {way}", brief(term.contribution), term.place]
            rows.append("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(c)}</td>" for c in cells) + "</tr>")
        head = html.escape(f"∂{self.output}/∂{self.name} = {brief(self.total)}, the sum over {self.paths} paths")
        columns = "<tr><th>way to the result</th><th>amount</th><th>line</th></tr>"
        return {
            "text/plain": str(self),
            "text/html": f"<table><caption>{head}</caption>{columns}{''.join(rows)}</table>",
        }


def explain(y: Tensor, x: Tensor, *, most: int = 20) -> Explanation:
    """Print the chain rule for the derivative of y by x: every path from x to y, with the values on the way, the local
    derivatives, and their product; the products add up to the derivative.

    y has one element, x any shape. More than `most` paths are folded: a term then stands for several, its contribution
    still exact. Returns the Explanation that is printed. Local derivatives are shown between single numbers; for arrays
    the contributions are. Raises RuntimeError for an untracked x, ValueError for a y with more elements.

    >>> import adjoint as ad
    >>> x, z = ad.variable(2.0, name="x"), ad.variable(0.0, name="z")
    >>> y = 3 * x**3 + 4 * x + 1 + x * z
    >>> found = ad.explain(y, x)  # doctest: +ELLIPSIS
    dy/dx = 40, the sum over 3 paths:
      36  x → PowerConstant = 8 → Multiply = 24 → Add = 32 → Add = 33 → Add = 33   [12 × 3]...
       4  x → Multiply = 8 → Add = 32 → Add = 33 → Add = 33   [4]...
       0  x → Multiply = 0 → Add = 33   [0]...
      40  in all
    """
    for t in (y, x):
        if not isinstance(t, Tensor):
            raise TypeError(f"explain: it takes two tensors, explain(y, x), got {a(t)}{at_user()}")
    if y.size != 1:
        raise ValueError(
            f"explain: y must have one element, its shape is {y.shape}; choose one: explain(y[i], x){at_user()}"
        )
    check_differentiable(y.dtype, "explain")
    source = x.node
    if not source.tracked:
        raise RuntimeError(f"explain: x is not tracked; make it with ad.variable(...){at_user()}")
    with mode(grad=False):
        (root,) = expand([y.node])
        order = topological([root], lambda n: n.tracked and n is not source and n.op is not VERSION)
        active = {n for n in depends_on(order, [source]) if n.tracked}
        terms = _terms(root, source, order, active, most) if root in active else []
        one = one_cotangent(root)
        (total,) = reverse([root], [one], [source])
        contributions = [_contribution(term, source) for term in terms]
        locals_ = [[_local(node, k) for node, k, _ in term.prefix] for term in terms]
        total = ops.zeros(source.type) if total is None else total
        values = [n for term in terms for n, _, _ in term.prefix if not isinstance(n.type, tuple)]
        evaluate([total, *contributions, *[d for row in locals_ for d in row if d is not None], *values])
    found = []
    for term, contribution, row in zip(terms, contributions, locals_, strict=True):
        steps = [
            (_label(node), None if d is None else d.value.item())
            for (node, _, _), d in zip(term.prefix, row, strict=True)
            if node.op not in SILENT
        ]
        origin = next((n.origin for n, _, _ in reversed(term.prefix) if n.origin.file), None)
        place = f"({origin.file.rpartition('/')[2]}:{origin.line})" if origin is not None else ""
        found.append(Path(np.asarray(contribution.value), tuple(steps), term.paths, place))
    explanation = Explanation(_name(y, "y"), _name(x, "x"), np.asarray(total.value), found)
    sys.stdout.write(f"{explanation}\n")
    return explanation


class _Term:
    """A prefix of paths from the output down to a node: (node, which input, the cotangent that goes in there)."""

    def __init__(self, prefix: tuple[tuple[Node, int, Any], ...], node: Node, cotangent: Any, paths: int) -> None:
        self.prefix = prefix
        self.node = node
        self.cotangent = cotangent
        self.paths = paths


def _terms(root: Node, source: Node, order: Sequence[Node], active: set[Node], most: int) -> list[_Term]:
    count: dict[Node, int] = {}
    for node in order:
        count[node] = 1 if node is source else sum(count.get(x, 0) for _, x in _edges(node, active))
    terms = [_Term((), root, one_cotangent(root), count[root])]
    grown = True
    while grown:
        grown = False
        following: list[_Term] = []
        waiting = len(terms)
        for term in terms:
            waiting -= 1
            edges = [] if term.node is source else [(k, x) for k, x in _edges(term.node, active) if count[x]]
            if not edges or len(following) + len(edges) + waiting > max(most, 1):
                following.append(term)
                continue
            grown = True
            pulled = _pulled(term.node, term.cotangent, active)
            for k, x in edges:
                if pulled[k] is not None:
                    following.append(_Term((*term.prefix, (term.node, k, term.cotangent)), x, pulled[k], count[x]))
        terms = following
    return terms


def _edges(node: Node, active: set[Node]) -> list[tuple[int, Node]]:
    """The inputs that a derivative goes to."""
    rules = node.op.vjp
    inputs = list(enumerate(node.inputs))
    if node.op is CHECKPOINT:
        inputs = inputs[: node.attributes]
    elif isinstance(rules, tuple):
        inputs = [(k, x) for k, x in inputs if rules[k] is not None]
    elif rules is None and node.op is not SELECT:
        inputs = []
    elif node.op.name == "custom":
        inputs = inputs[node.attributes[0] :]
    return [(k, x) for k, x in inputs if x in active]


def _pulled(node: Node, u: Any, active: set[Node]) -> list[Any]:
    """The cotangents of the inputs: for a node with several outputs a list of them."""
    rules = node.op.vjp
    inputs = node.inputs
    if node.op is SELECT:
        slots: list[Any] = [None] * len(inputs[0].type)
        slots[node.attributes] = u
        return [slots]
    if node.op is CHECKPOINT:
        return [*(u if isinstance(node.type, tuple) else [u]), *[None] * (len(inputs) - node.attributes)]
    if isinstance(rules, tuple):
        return [
            None if r is None or x not in active else r(u, node, *inputs) for r, x in zip(rules, inputs, strict=True)
        ]
    return list(rules(u, node, [x in active for x in inputs])) if rules is not None else [None] * len(inputs)


def _contribution(term: _Term, source: Node) -> Node:
    if term.node is source:
        return term.cotangent  # type: ignore[no-any-return]
    outputs, cotangents = [term.node], [term.cotangent]
    if isinstance(term.cotangent, list):
        pairs = [(ops_select(term.node, i), u) for i, u in enumerate(term.cotangent) if u is not None]
        outputs, cotangents = [y for y, _ in pairs], [u for _, u in pairs]
    (found,) = reverse(outputs, cotangents, [source])
    return ops.zeros(source.type) if found is None else found


def ops_select(node: Node, index: int) -> Node:
    """One output of a node with several."""
    return Node(SELECT, (node,), index, node.type[index], node.site, node.offset, node.tracked)


def _local(node: Node, position: int) -> Node | None:
    """The derivative of a node by one input, where both are single numbers."""
    x = node.inputs[position]
    if isinstance(node.type, tuple) or isinstance(x.type, tuple) or node.type.size != 1 or x.type.size != 1:
        return None
    found: Any = _pulled(node, one_cotangent(node), {x})[position]
    return found  # type: ignore[no-any-return]


def _label(node: Node) -> str:
    name = operation_name(node)
    if isinstance(node.type, tuple):
        return name
    return f"{name} = {brief(node.value)}" if node.type.size <= 1 else f"{name} {list(node.shape)}"


def _name(tensor: Tensor, otherwise: str) -> str:
    variable = variable_of(tensor.node)
    return otherwise if variable is None or variable.name is None else variable.name
