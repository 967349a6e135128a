"""The engine's derivative rules as data, for a page that derives formulas by itself: what each elementwise rule records.

Each rule is called once, on placeholders; the graph that it leaves is written down. So the page has no rules of its own
that could say something else.
"""

from __future__ import annotations

from typing import Any

from adjoint.dtypes import bool_, float64
from adjoint.graph import PRIMITIVES, Node, Primitive, array_type, mode, topological
from adjoint.picture.formulas import FORMULAS
from adjoint.picture.program import plain
from adjoint.picture.steps import computed
from adjoint.primitives.core import FULL, placeholder
from adjoint.primitives.elementwise import WHERE

__all__ = ["rules_data"]

INPUTS = {WHERE: (bool_, float64, float64)}  # those that aren't floats


def rules_data() -> dict[str, Any]:
    """For each elementwise operation that a page computes: its rules, symbol and words; and which ones give bools.

    A rule is a list of steps, [operation, operands, attributes], each operand "u" (the cotangent of the result), "r" (the
    result), an input's number, ["step", i] or ["number", x]; the last step is the cotangent. None: nothing flows back.
    """
    elementary = sorted(computed().elementary)
    known = [PRIMITIVES[name] for name in elementary if name in PRIMITIVES]  # none that loads later is elementwise
    names = [op.name for op in known if op.elementwise and op.name not in ("astype", "power_constant")]
    return {
        "rules": {name: [_rule(PRIMITIVES[name], i) for i in range(_arity(PRIMITIVES[name]))] for name in names},
        "symbols": {op.name: op.symbol for op in known if op.symbol != op.name},
        "formulas": {name: FORMULAS[name] for name in elementary if name in FORMULAS},
        "bools": [name for name in names if PRIMITIVES[name].result == "bool"],
    }


def _arity(op: Primitive) -> int:
    return len(op.vjp) if isinstance(op.vjp, tuple) else 0


def _rule(op: Primitive, position: int) -> Any:
    rule = op.vjp[position] if isinstance(op.vjp, tuple) else None
    if rule is None:
        return None
    dtypes = INPUTS.get(op, (float64,) * _arity(op))
    inputs = tuple([placeholder(array_type((), dtype), "x") for dtype in dtypes])
    result = array_type((), bool_ if op.result == "bool" else float64)
    out, u = Node(op, inputs, None, result, None, 0, True), placeholder(result, "u")
    with mode(grad=False):
        found = rule(u, out, *inputs)
    return None if found is None else _steps(found, out, u, inputs)


def _steps(found: Node, out: Node, u: Node, inputs: tuple[Node, ...]) -> list[Any]:
    known: dict[Node, Any] = {u: "u", out: "r"} | {x: i for i, x in enumerate(inputs)}
    steps: list[Any] = []
    for node in topological([found], lambda node: node not in known):
        if node in known:
            continue
        if node.op is FULL:
            known[node] = ["number", plain(node.attributes)]
        else:
            steps.append([node.op.name, [known[x] for x in node.inputs], plain(node.attributes)])
            known[node] = ["step", len(steps) - 1]
    if known[found] != ["step", len(steps) - 1]:  # the cotangent itself, or a number
        steps.append(["marker", [known[found]], None])
    return steps
