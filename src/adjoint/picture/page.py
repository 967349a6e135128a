"""The explorer: one HTML file with the graph, its layout and the script that plays it. It asks the network for nothing."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Collection, Sequence
from importlib import resources
from types import ModuleType
from typing import Any

from adjoint.picture.folding import fold
from adjoint.picture.formulas import formula
from adjoint.picture.layout import layout
from adjoint.picture.model import Box, Edge, Picture, Quantity
from adjoint.picture.program import scripts_of
from adjoint.picture.rules import rules_data
from adjoint.picture.text import shortened

__all__ = ["LIMIT", "TASKS", "explorer_page", "playground_page"]

NUMBER = 8  # characters that a number may take when it is moved
MAX_LINE = 34  # characters; the script shortens to as many
MIN_HEAT, MAX_HEAT = 5, (24, 8)  # elements from which an array is shown in colours; columns and rows of them
LIMIT = 3_000  # boxes that a page holds; a bigger graph folds before
# The scripts of a page, in the order in which they are read; they share one scope.
# Between the two parts of the engine stand the scripts of rare operations, in the pages that need them.
ENGINE = ("arrays", "elementwise", "array_steps")
SHOWING = (
    "elements",
    "numbers",
    "view",
    "layout",
    "canvas",
    "heat",
    "moving",
    "compare",
    "tangents",
    "questions",
    "panel",
    "acting",
)
PLAYGROUND = (
    *ENGINE,
    "program",
    *SHOWING,
    "recording",
    "parser",
    "reversing",
    "gallery",
    "playground",
    "learning",
    "training",
)

TASKS = ("weights", "line", "moons")  # that the playground trains: scripts/learning.js

# Nothing may be fetched, sent or framed; the page's own style and script are all that there is.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


def explorer_page(
    picture: Picture,
    folded: Collection[str],
    graphviz: ModuleType | None = None,
    questions: Sequence[Sequence[Any]] = (),
) -> str:
    """The page of a picture, at first with these scopes folded, asking these questions."""
    data = graph_data(picture, folded, graphviz) | {"questions": questions}
    scripts = (*ENGINE, *scripts_of(data["program"]), "program", *SHOWING, "opening")
    return page(f"{shortened(picture.title, 80)}: how it was computed", scripts, data)


def playground_page(
    formula: str | None = None, training: str | None = None, questions: Sequence[Sequence[Any]] = ()
) -> str:
    """The page in which one types a formula of one's own, at first this one, with these questions; or at first training
    this model."""
    data = {"rules": rules_data(), "formula": formula, "training": training, "questions": questions}
    return page("Playground: type a formula, drag its numbers", PLAYGROUND, data)


def page(title: str, scripts: Collection[str], data: Any) -> str:
    """One HTML file of these scripts, which share a scope, and the data that they start from."""
    return PAGE.format(
        title=html.escape(shortened(title, 120)),
        policy=POLICY,
        style=_asset("explorer.css"),
        script="".join(_asset(f"scripts/{name}.js") for name in scripts),
        data=embedded(data),
    )


def _asset(name: str) -> str:
    return resources.files("adjoint.picture").joinpath(name).read_text("utf-8")


def graph_data(picture: Picture, folded: Collection[str], graphviz: ModuleType | None = None) -> dict[str, Any]:
    """A picture as its page holds it."""
    repeated = [key for key, group in picture.groups.items() if group.turns]
    picture = fold(picture, repeated if len(picture.boxes) > LIMIT else (), LIMIT)
    folded = [key for key in picture.groups if key in folded]
    sizes = {key: box_size(picture, box) for key, box in picture.boxes.items()}
    states = {"": ()} | {",".join(sorted(c)): c for c in (tuple(folded), tuple(_outermost(picture)))}
    return {
        "title": shortened(picture.title, 80),
        "root": picture.root,
        "notes": _notes(picture),
        "boxes": [_box(picture, box, sizes[box.key]) for box in picture.boxes.values()],
        "edges": [_edge(e) for e in picture.edges],
        "groups": [
            {"key": g.key, "name": g.name, "parent": g.parent, "place": g.place, "turns": g.turns}
            for g in picture.groups.values()
        ],
        "folded": folded,
        "layouts": {name: _layout(picture, c, graphviz) for name, c in states.items()},
        "comparisons": [
            {
                "key": c.key, "reverse": _quantity(c.reverse), "difference": _quantity(c.difference), "error": _safe(c.error),
                "how": c.how,
            }
            for c in picture.comparisons
        ],
        "code": _code(picture),
        "program": None if picture.program is None else picture.program.data,
        "still": {} if picture.program is None else {str(slot): why for slot, why in picture.program.still.items()},
    }  # fmt: skip


MAX_CODE, MAX_UNIT = 240_000, 30_000  # characters of code in a page, and of one unit's text at one stage


def _code(picture: Picture) -> Any:
    """What becomes of the boxes: of each the step in the plan and its unit's number, and the units' texts."""
    units: dict[str, list[str]] = {}
    boxes: dict[str, list[Any]] = {}
    room = MAX_CODE
    for key, texts in picture.texts.items():
        place = None if texts.place is None else str(texts.place)
        boxes[key] = [texts.step, place]
        if place is not None and place not in units:
            stages = [_beginning(text) for text in (texts.unit, texts.loops, texts.llvm, texts.assembly)]
            room -= sum(map(len, stages))
            units[place] = stages if room >= 0 else [*stages[:2], "", ""]
    return {"boxes": boxes, "units": units} if boxes else None


def _beginning(text: str) -> str:
    return text if len(text) <= MAX_UNIT else f"{text[:MAX_UNIT]}\n… {len(text) - MAX_UNIT:,} more characters"


def _notes(picture: Picture) -> list[str]:
    program = picture.program
    if program is None:
        return list(picture.notes)
    if program.data is not None:
        return [*picture.notes, *program.notes]
    return [*picture.notes, f"nothing can be moved here: {program.reason}"]


def _edge(e: Edge) -> Any:
    return {
        "source": e.source, "target": e.target, "position": e.position, "local": _safe(e.local), "amount": e.amount,
        "localSlot": e.local_slot, "carried": [_quantity(q) for q in e.carried],
    }  # fmt: skip


def embedded(data: Any) -> str:
    """JSON that can stand in a script element: no text inside can end the element or begin another."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _outermost(picture: Picture) -> list[str]:
    return [key for key, group in picture.groups.items() if group.parent is None]


def box_size(picture: Picture, box: Box) -> tuple[float, float]:
    """Room for a box's lines of text: the symbol or name, the value, the gradient."""
    is_operation = box.kind in ("operation", "group")
    head = box.symbol if is_operation else _value_line(box) or box.symbol
    lines = [
        head,
        _value_line(box) if is_operation else "",
        f"{picture.derivative_name(box) if box.name else 'gradient'} = {_text(box.gradient)}" if box.gradient else "",
    ]
    head_width = 8.4 * min(len(head), MAX_LINE)  # it is set larger
    width = max(head_width, *(7.1 * min(len(line), MAX_LINE) for line in lines))
    across, down = heat_size(box)
    wide, high = shape_size(box)
    return max(52.0, width + 22, across + 20 + 2 * wide), 14.0 + 16.0 * sum(map(bool, lines)) + (
        down + 6.0 if down else high
    )


def shape_size(box: Box) -> tuple[float, float]:
    """Room for an array's shape: on either side of its colours, or a line of its own where it has none."""
    shape = box.value.shape if box.value else ()
    if not shape:
        return 0.0, 0.0
    wide = 6.2 * len(str(list(shape)))
    return (wide, 0.0) if math.prod(shape) >= MIN_HEAT else (max(0.0, wide / 2 - 10), 13.0)


def heat_size(box: Box) -> tuple[float, float]:
    """Room for the colours of an array's elements, the last axis across; the script works it out likewise."""
    shape = box.value.shape if box.value else ()
    if math.prod(shape) < MIN_HEAT or not shape:
        return 0.0, 0.0
    columns, rows = min(shape[-1], MAX_HEAT[0]), min(math.prod(shape[:-1]), MAX_HEAT[1])
    cell = max(3.0, min(10.0, 96.0 // columns))
    return cell * columns, cell * rows


def _value_line(box: Box) -> str:
    value = _text(box.value) if box.value else ""
    return f"{box.name} = {value}" if box.name else value


def _text(q: Quantity) -> str:
    """A quantity's text, with room for more letters in a single number, which may be moved."""
    return q.text if q.shape else q.text.ljust(NUMBER)


def _quantity(q: Quantity | None) -> Any:
    if q is None:
        return None
    return {"text": q.text, "shape": q.shape, "dtype": q.dtype, "numbers": _safe(q.numbers), "slot": q.slot}


def _safe(numbers: Any) -> Any:
    """Numbers as JSON knows them: what is not finite, or complex, as text."""
    if isinstance(numbers, list):
        return [_safe(x) for x in numbers]
    if isinstance(numbers, float) and not -1e308 < numbers < 1e308:
        return str(numbers)
    return str(numbers) if isinstance(numbers, complex) else numbers


def _box(picture: Picture, box: Box, size: tuple[float, float]) -> Any:
    computes, rules = formula(box)
    return {
        "key": box.key, "kind": box.kind, "name": box.name, "symbol": box.symbol, "operation": box.operation,
        "detail": box.detail, "type": box.type, "value": _quantity(box.value), "gradient": _quantity(box.gradient),
        "groups": box.groups, "place": box.place, "source": box.source, "size": size, "formula": computes,
        "rules": rules, "derivative": picture.derivative_name(box),
    }  # fmt: skip


def _layout(picture: Picture, folded: Collection[str], graphviz: ModuleType | None) -> Any:
    """Places for the boxes as they are shown when these scopes are folded."""
    shown = fold(picture, folded, None)
    sizes = {key: box_size(shown, box) for key, box in shown.boxes.items()}
    found = layout(shown, sizes, graphviz)
    curves: dict[str, Any] = {}
    for e, points in zip(shown.edges, found.curves, strict=True):
        joined = shown.boxes[e.target].kind == "group" and e.target in picture.groups
        curves[f"{e.source} {e.target} {'' if joined else e.position}"] = [round(c, 1) for p in points for c in p]
    centres = {key: (round(x, 1), round(y, 1), *sizes[key]) for key, (x, y) in found.centres.items()}
    return {"boxes": centres, "curves": curves}


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<noscript>The explorer needs JavaScript.</noscript>
<script type="application/json" id="graph">{data}</script>
<script>
"use strict";
(() => {{
{script}}})();
</script>
</body>
</html>
"""
