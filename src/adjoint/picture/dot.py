"""A picture in the DOT language, for Graphviz."""

from __future__ import annotations

import html
from collections import defaultdict

from adjoint.picture.model import Box, Edge, Group, Picture, number_text
from adjoint.picture.text import explanation, shortened

__all__ = ["dot_text"]

INK, FLOW, GRADIENT, MUTED = "#1f2933", "#7b8794", "#c62828", "#616e7c"
FILLS = {
    "variable": "#dbeafe",
    "data": "#eef1f4",
    "constant": "#ffffff",
    "operation": "#ffffff",
    "group": "#fdf3d7",
    "computed": "#ffffff",
}
BORDERS = {
    "variable": "#2563a8",
    "data": "#9aa5b1",
    "constant": "#cbd2d9",
    "operation": "#7b8794",
    "group": "#c99a2e",
    "computed": "#7b8794",
}
FONT = "Helvetica,Arial,sans-serif"


def dot_text(picture: Picture, *, legend: bool = True) -> str:
    """The DOT source: values flow up along grey edges, red edges carry gradient back, groups are clusters."""
    lines = [
        "digraph adjoint {",
        f'  graph [rankdir=BT, bgcolor=white, fontname="{FONT}", nodesep=0.35, ranksep=0.3, labelloc=b];',
        f'  node [shape=box, style="rounded,filled", fontname="{FONT}", fontsize=13, margin="0.12,0.06"];',
        "  node [height=0.3, width=0.3];",
        f'  edge [fontname="{FONT}", fontsize=11, arrowsize=0.65, color="{FLOW}", penwidth=1.1];',
    ]
    caption = _caption(picture, legend)
    if caption:
        lines.append(f"  label=<{caption}>;")
    children: dict[str | None, list[Group]] = defaultdict(list)
    for group in picture.groups.values():
        children[group.parent].append(group)
    inside: dict[str | None, list[Box]] = defaultdict(list)
    for box in picture.boxes.values():
        inside[box.groups[-1] if box.groups else None].append(box)
    lines += [_node(picture, box) for box in inside[None]]
    # (group, True) opens a cluster, (group, False) closes it
    stack = [(group, True) for group in reversed(children[None])]
    while stack:
        group, opens = stack.pop()
        if not opens:
            lines.append("  }")
            continue
        name = _escaped(shortened(group.name, 40))
        lines.append(
            f'  subgraph "cluster_{group.key}" {{ label=<<b>{name}</b>>; style="rounded,dashed"; color="#c99a2e"; '
            f'fontcolor="#8a6510"; fontsize=12; labeljust=l; labelloc=t;'
        )
        lines += [_node(picture, box) for box in inside[group.key]]
        stack.append((group, False))
        stack += [(child, True) for child in reversed(children[group.key])]
    for e in picture.edges:
        lines += _edge(picture, e)
    return "\n".join([*lines, "}"]) + "\n"


def _caption(picture: Picture, legend: bool) -> str:
    parts = []
    if legend and any(e.carried for e in picture.edges):
        title = _escaped(shortened(picture.title, 30))
        parts.append(
            f'<font point-size="11" color="{MUTED}">grey: values, upwards  ·  </font>'
            f'<font point-size="11" color="{GRADIENT}">red: gradient of {title}, back down; amount = arriving × slope; '
            "at a box, the amounts add up</font>"
        )
    parts += [f'<font point-size="11" color="{MUTED}">{_escaped(note)}</font>' for note in picture.notes]
    return "<br/>".join(parts)


def _escaped(text: str) -> str:
    """Text for an HTML-like label. Graphviz takes no control characters there."""
    return html.escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text), quote=True)


def _rows(text: str, limit: int) -> str:
    """Text for a label, a matrix with each row on a line of its own."""
    rows = text.split("], [") if text.startswith("[[") and len(text) > 24 else [text]
    if len(rows) > 1:
        rows = [rows[0] + "],", *("[" + row + "]," for row in rows[1:-1]), "[" + rows[-1]]
    return "<br/>&#160;".join(_escaped(shortened(row, limit)) for row in rows)


def _font(text: str, color: str, size: int, bold: bool = False) -> str:
    text = f"<b>{text}</b>" if bold else text
    return f'<font color="{color}" point-size="{size}">{text}</font>'


def _node(picture: Picture, box: Box) -> str:
    rows = []
    value = _rows(box.value.text, 48) if box.value is not None else ""
    name = _escaped(shortened(box.name, 32)) if box.name else ""
    symbol = _escaped(shortened(box.symbol, 32))
    if box.kind in ("operation", "group"):
        rows.append(_font(symbol, INK, 16 if len(symbol) < 4 else 13, bold=True))
        if name or value:
            rows.append(_font(" = ".join(filter(None, [name, value])), INK, 13))
    elif name:
        rows.append(_font(f"<b>{name}</b> = {value}" if value else f"<b>{name}</b>", INK, 14))
    else:
        rows.append(_font(value or symbol, INK, 13))
    if box.kind == "group":
        rows.append(_font(box.detail, MUTED, 10))
    if box.value is not None and box.value.shape:
        rows.append(_font(_escaped(box.type), MUTED, 10))
    if box.gradient is not None:
        if box.kind == "variable":
            parts = explanation(picture, box)
            rows.append(_font(_escaped(shortened(picture.derivative_name(box), 48)), GRADIENT, 11))
            rows.append(_font(f"= {_rows(parts, 60)}", GRADIENT, 12, bold=True))
        elif box.key == picture.root and box.gradient.is_number:
            title = _escaped(shortened(picture.title, 30))
            rows.append(_font(f"∂{title}/∂{title} = {_escaped(box.gradient.text)}", GRADIENT, 10))
        else:
            rows.append(_font(f"gradient {_rows(box.gradient.text, 48)}", GRADIENT, 10))
    width = 2.0 if box.key == picture.root else 1.2
    where = _quoted(f"{box.operation}  {box.place}  {box.source}".strip())
    return (
        f'  "{box.key}" [label=<{"<br/>".join(rows)}>, fillcolor="{FILLS[box.kind]}", color="{BORDERS[box.kind]}", '
        f"penwidth={width}, tooltip={where}];"
    )


def _quoted(text: str) -> str:
    safe = "".join(c if c.isprintable() else " " for c in text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _edge(picture: Picture, e: Edge) -> list[str]:
    lines = [f'  "{e.source}" -> "{e.target}";']
    if e.carried:
        rows = [_font(_rows(e.amount, 48), GRADIENT, 12, bold=True)]
        arriving = picture.boxes[e.target].gradient
        if e.local is not None and arriving is not None and arriving.is_number and len(e.carried) == 1:
            rows.append(_font(f"{_escaped(number_text(arriving.numbers))} × {number_text(e.local)}", GRADIENT, 9))
        # Drawn from the source like its grey twin, so that Graphviz lays the two side by side, with the arrow at the source.
        lines.append(f'  "{e.source}" -> "{e.target}" [dir=back, color="{GRADIENT}", label=<{"<br/>".join(rows)}>];')
    return lines
