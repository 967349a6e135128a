"""What the reference says of each function's shapes and dtypes, found by calling it: `python tests/helpers/operation_facts.py`
writes `docs/_extension/facts.txt` anew. The inputs are those of the table of operations; results aren't computed, but where
what a function gives depends on values."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad
from operation_rows import Case, Operation, Spec, Static, is_inexact, map_leaves, outputs
from operations import OPERATIONS

FACTS = Path(__file__).resolve().parents[2] / "docs" / "_extension" / "facts.txt"
HEAD = (
    "# Shapes and dtypes of each function with a row in the table of operations, found by calling it:\n"
    "# tests/helpers/operation_facts.py writes this file, tests/tools/test_reference.py compares it with what the functions do.\n"
)
KINDS = (("float32", "float64"), ("complex64", "complex128"), ("int64",), ("bool",))
SHOWN_CASES = 3


def facts() -> Iterator[tuple[str, str]]:
    """Each function's name, and what is to be said of it, by name."""
    found: dict[str, str] = {}
    for operation in OPERATIONS:
        if operation.name not in found:
            said = facts_of(operation)
            if said:
                found[operation.name] = said
    yield from sorted((f"ad.{name}", said) for name, said in found.items())


def facts_of(operation: Operation) -> str:
    """What is to be said of a function, by the cases of its row; nothing if none of them is a call of the function itself."""
    function: Any = functools.reduce(lambda space, name: getattr(space, name, None), operation.name.split("."), ad)
    if not callable(function):  # an operator, an index
        return ""
    shapes: list[str] = []
    for case in operation.cases:
        text = shapes_of(operation, function, case)
        if text and text not in shapes:
            shapes.append(text)
    case = next((c for c in operation.cases if shapes_of(operation, function, c)), None)
    if case is None:
        return ""
    return f"Shapes: {'; '.join(shapes[:SHOWN_CASES])}. Dtypes: {dtypes_of(operation, function, case)}."


def called(operation: Operation, function: Any, case: Case, dtype: str) -> list[Any]:
    """The tensors that the function gives for a case, its floating arrays in a dtype."""

    def tensor(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return ad.tensor(leaf.astype(dtype) if is_inexact(leaf) else leaf)
        return leaf.value if isinstance(leaf, Static) else leaf

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arguments = map_leaves(tensor, operation.draw(case, "float64"))
        return [y for y in outputs(function(*arguments, **case.keywords)) if isinstance(y, ad.Tensor)]


def drawn_shapes(case: Case) -> list[tuple[int, ...]]:
    shapes: list[tuple[int, ...]] = []

    def note(leaf: Any) -> None:
        if isinstance(leaf, (Spec, np.ndarray)):
            shapes.append(leaf.shape)

    map_leaves(note, list(case.arguments))
    return shapes


def shapes_of(operation: Operation, function: Any, case: Case) -> str:
    """`(3, 4), axis=1 → (3,)`; nothing if the case can't be called so, or has no arrays."""
    given = [str(s) for s in drawn_shapes(case)]
    options = [f"{name}={x!r}" for name, x in case.keywords.items() if isinstance(x, (int, str, tuple)) or x is None]
    for dtype in ("float64", "int64"):
        try:
            results = called(operation, function, case, dtype)
        except (TypeError, ValueError, IndexError, RuntimeError, ArithmeticError):
            continue
        if given and results and len(options) == len(case.keywords):
            return f"{', '.join([*given, *options])} → {', '.join(str(y.shape) for y in results)}"
    return ""


def dtypes_of(operation: Operation, function: Any, case: Case) -> str:
    """`float32 and float64 stay; int64 and bool become float32; complex raises TypeError`, by calls in each dtype."""
    groups: dict[str, list[str]] = {}
    for kind in KINDS:
        results = [outcome(operation, function, case, dtype) for dtype in kind]
        name = "complex" if kind[0] == "complex64" else "float" if kind[0] == "float32" else kind[0]
        if all(result == dtype for result, dtype in zip(results, kind, strict=True)):
            groups.setdefault("stays", []).append(name)
        elif len(set(results)) == 1:
            groups.setdefault(results[0], []).append(name)
        else:
            for result, dtype in zip(results, kind, strict=True):
                groups.setdefault(result, []).append(dtype)
    return "; ".join(said(result, names) for result, names in groups.items())


def outcome(operation: Operation, function: Any, case: Case, dtype: str) -> str:
    """The dtypes that the function gives, or the error that it raises."""
    try:
        names = [y.dtype.name for y in called(operation, function, case, dtype)]
    except Exception as error:
        return f"!{type(error).__name__}"
    return names[0] if len(set(names)) == 1 else ", ".join(names)


def said(result: str, dtypes: list[str]) -> str:
    """`int64 and bool give float32`."""
    names = f"{', '.join(dtypes[:-1])} and {dtypes[-1]}" if dtypes[1:] else dtypes[0]
    several = "" if dtypes[1:] else "s"
    if result.startswith("!"):
        return f"{names} raise{several} {result[1:]}"
    if result == "stays":
        return f"{names} keep{several} {'its' if several else 'their'} dtype"
    return f"{names} give{several} {result}"


def text() -> str:
    return HEAD + "".join(f"{name}: {said}\n" for name, said in facts())


if __name__ == "__main__":
    FACTS.write_text(text())
