"""Expressions typed in a shell: read by Python's own parser, computed by walking what it found. Nothing is ever executed.

Numbers, names, `+ - * / ** @ % //`, comparisons, calls of a few functions, lists as arrays: all else is refused.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import adjoint as ad
from adjoint.graph import PRIMITIVES

__all__ = ["FUNCTIONS", "assignments", "compute"]

MAX_LENGTH, MAX_DEPTH, MAX_NUMBER, MAX_SIZE = 100_000, 200, 10.0**300, 1 << 20

COMPOSED = "log_softmax logsumexp matmul max mean min norm outer prod softmax square std sum var".split()
# Those, and every elementwise operation that is a function of `ad`.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(ad, name)
    for name in dir(ad)
    if name in COMPOSED or (name in PRIMITIVES and PRIMITIVES[name].elementwise and name != "astype")
}
CONSTANTS = {"pi": math.pi, "e": math.e}

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.MatMult: operator.matmul, ast.Mod: operator.mod, ast.FloorDiv: operator.floordiv,
}  # fmt: skip
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}


def assignments(items: Sequence[str]) -> dict[str, Any]:
    """Variables from `x=2` and `w=[1, 2]`. Raises ValueError for anything else."""
    variables: dict[str, Any] = {}
    for item in items:
        name, sign, text = item.partition("=")
        if not sign or not name.strip().isidentifier():
            raise ValueError(f"{item!r} isn't of the form name=number, such as x=2 or w=[1,2]")
        name = name.strip()
        try:
            value = _number_or_list(_parsed(text).body)
        except ValueError as error:
            raise ValueError(f"{item!r}: {error}") from None
        if name in FUNCTIONS:
            raise ValueError(f"{name} is the name of a function; call the variable something else")
        variables[name] = ad.variable(value, name=name)
    return variables


def _parsed(text: str) -> ast.Expression:
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the expression is longer than {MAX_LENGTH:,} characters")
    try:
        return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, RecursionError, MemoryError) as error:
        where = f" at column {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise ValueError(f"can't read {text.strip()[:80]!r}{where}") from None


def _number(node: ast.Constant) -> int | float:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{ast.unparse(node)[:60]} isn't a number")
    if abs(value) > MAX_NUMBER:
        raise ValueError("a number is too large")
    return value


def _number_or_list(node: ast.expr, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError("too deeply nested")
    if isinstance(node, ast.List):
        return [_number_or_list(x, depth + 1) for x in node.elts]
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        return UNARY[type(node.op)](_number_or_list(node.operand, depth + 1))
    if isinstance(node, ast.Constant):
        return float(_number(node))
    if isinstance(node, ast.Name) and node.id in CONSTANTS:
        return CONSTANTS[node.id]
    raise ValueError(f"expected a number or a list of numbers, got {ast.unparse(node)[:60]!r}")


def compute(text: str, variables: Mapping[str, Any]) -> ad.Tensor:
    """The value of an expression as a tensor. Raises ValueError for what isn't arithmetic, or an unknown name.

    >>> from adjoint.cli.expression import assignments, compute
    >>> compute("3*x**3 + 4*x + 1 + x*z", assignments(["x=2", "z=0"]))
    Tensor(33., grad_fn=Add)
    """
    unused = set(variables)
    try:
        result = _value(_parsed(text).body, variables, unused, 0)
    except OverflowError:
        raise ValueError("a number is too large") from None
    except (TypeError, IndexError, ZeroDivisionError) as error:
        raise ValueError(str(error)) from None
    if isinstance(result, ad.Tensor) and result.size > MAX_SIZE:
        raise ValueError(f"the result has {result.size:,} elements; more than {MAX_SIZE:,} are not drawn")
    if unused:
        raise ValueError(f"{', '.join(sorted(unused))}: given a value, but not in {text.strip()[:80]!r}")
    if not isinstance(result, ad.Tensor):
        raise ValueError("there is no variable in the expression; give one, such as: adjoint draw 'x**2' x=3")
    return result


def _value(node: ast.expr, variables: Mapping[str, Any], unused: set[str], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"the expression is nested more than {MAX_DEPTH} deep")

    def value(inner: ast.expr) -> Any:
        found = _value(inner, variables, unused, depth + 1)
        if isinstance(found, ad.Tensor) and found.size > MAX_SIZE:
            raise ValueError(
                f"{ast.unparse(inner)[:60]!r} has {found.size:,} elements; more than {MAX_SIZE:,} are not drawn"
            )
        return found

    if isinstance(node, ast.Constant):
        return _number(node)
    if isinstance(node, ast.Name):
        if node.id in variables:
            unused.discard(node.id)
            return variables[node.id]
        if node.id in CONSTANTS:
            return CONSTANTS[node.id]
        known = ", ".join(variables) or "none"
        raise ValueError(f"{node.id} has no value (known: {known}); add {node.id}=1 to the command")
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        left, right = value(node.left), value(node.right)
        if not isinstance(left, ad.Tensor) and not isinstance(right, ad.Tensor):
            # whole numbers could grow without end
            left, right = float(left), float(right)
        return BINARY[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        return UNARY[type(node.op)](value(node.operand))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        left, right = value(node.left), value(node.comparators[0])
        return COMPARED[type(node.ops[0])](left if isinstance(left, ad.Tensor) else ad.tensor(float(left)), right)
    if isinstance(node, ast.List):
        return ad.tensor(_number_or_list(node))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id not in FUNCTIONS:
            raise ValueError(f"there is no function {node.func.id}; there are {', '.join(sorted(FUNCTIONS))}")
        arguments = [value(x) for x in node.args]
        if not any(isinstance(x, ad.Tensor) for x in arguments):
            arguments = [ad.tensor(float(x)) for x in arguments]
        return FUNCTIONS[node.func.id](*arguments)
    raise ValueError(
        f"{ast.unparse(node)[:60]!r} isn't arithmetic; only numbers, names, operators, comparisons and functions are read"
    )
