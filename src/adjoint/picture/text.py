"""A picture as a tree of text for a terminal."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from adjoint.picture.model import Box, Edge, Picture

__all__ = ["explanation", "text_tree"]

MAX_NAME = 60
MAX_SUMMARY = 24  # leaves whose gradients are listed
RED, BOLD, DIM, PLAIN = "\033[31m", "\033[1m", "\033[2m", "\033[0m"


def shortened(text: str, limit: int = MAX_NAME) -> str:
    """At most so many characters of one line; what can't be printed is replaced."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def explanation(picture: Picture, box: Box) -> str:
    """`12 + 12 + 12 + 4 + 0 = 40` for a box that several uses flow into, else just the amount."""
    if box.gradient is None:
        return ""
    parts = [e.amount for e in picture.contributions(box.key)]
    if len(parts) < 2 or not box.gradient.is_number or len(parts) > 8:
        return box.gradient.text
    joined = parts[0].removeprefix("+") + "".join(f" {p[0]} {p[1:]}" for p in parts[1:])
    return f"{joined} = {box.gradient.text}"


def text_tree(picture: Picture, *, color: bool = False) -> str:
    """The picture as an indented tree, the root first. What is used more than once is written out once.

    Behind an arrow stands what flows back along that edge; below the tree, for each leaf, how that adds up.
    """

    def paint(text: str, code: str) -> str:
        return f"{code}{text}{PLAIN}" if color and text else text

    inputs: dict[str, list[Edge]] = defaultdict(list)
    for e in picture.edges:
        inputs[e.target].append(e)
    for edges in inputs.values():
        edges.sort(key=lambda e: e.position)
    lines: list[str] = []
    written: set[str] = set()
    stack: list[tuple[str, str, str, str]] = [(picture.root, "", "", "")]
    while stack:
        key, lead, below, amount = stack.pop()
        box = picture.boxes[key]
        again = key in written and bool(inputs[key])
        parts = [lead + _head(box)]
        if amount:
            parts.append(paint(f"← {amount}", RED))
        if again:
            parts.append(paint("(above)", DIM))
        elif box.kind == "group":
            parts.append(paint(f"({box.detail}, folded)", DIM))
        lines.append("  ".join(parts))
        if again:
            continue
        written.add(key)
        children = inputs[key]
        for i, e in reversed(list(enumerate(children))):
            last = i == len(children) - 1
            stack.append((e.source, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "), e.amount))
    summary = _summary(picture)
    if summary:
        lines += ["", paint("What flows back adds up:", BOLD), *(paint(s, RED) for s in summary)]
    lines += [paint(f"note: {note}", DIM) for note in picture.notes]
    return "\n".join(lines)


def _summary(picture: Picture) -> list[str]:
    """For each leaf how its gradient adds up; of very many the largest."""
    leaves = [b for b in picture.boxes.values() if b.kind == "variable" and b.gradient is not None]
    many = len(leaves) > MAX_SUMMARY
    if many:
        leaves.sort(key=_size, reverse=True)
    lines = [f"  {shortened(picture.derivative_name(b))} = {explanation(picture, b)}" for b in leaves[:MAX_SUMMARY]]
    return [*lines, f"  and {len(leaves) - MAX_SUMMARY:,} more, none larger"] if many else lines


def _size(box: Box) -> float:
    """The largest number of a gradient; that of a large array, whose numbers aren't kept, counts as infinite."""
    numbers = box.gradient.numbers if box.gradient else None
    if numbers is None:
        return math.inf
    largest = float(np.max(np.abs(numbers), initial=0.0))
    return math.inf if math.isnan(largest) else largest


def _head(box: Box) -> str:
    name = shortened(box.name) if box.name else ""
    value = box.value.text if box.value is not None else ""
    if box.value is not None and box.value.shape:
        value += f" : {box.type}"
    if box.kind in ("operation", "group"):
        return " = ".join(filter(None, [name, shortened(box.symbol), value]))
    return " = ".join(filter(None, [name, value])) or box.symbol
