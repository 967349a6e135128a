"""Folding: which scopes are shown as one box, and boxes for what is too much to show at all."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace

from adjoint.picture.model import Box, Edge, Group, Picture

__all__ = ["LIMIT", "auto_folded", "fold"]

LIMIT = 120  # boxes that a picture shows before it folds by itself
ROWS, COLUMNS = 16, 5  # of the boxes that a huge graph is folded into


def auto_folded(picture: Picture, limit: int = LIMIT) -> set[str]:
    """The scopes to fold unless told otherwise: composite functions; modules too, innermost first, if much is left."""
    folded = {key for key, group in picture.groups.items() if not group.is_module}
    depth: dict[str, int] = {}
    for key, group in picture.groups.items():  # a parent comes before its children
        depth[key] = 0 if group.parent is None else depth[group.parent] + 1
    for level in range(max(depth.values(), default=0), -1, -1):
        if _count(picture, folded) <= limit:
            break
        folded |= {key for key in picture.groups if depth[key] == level}
    return folded


def _shown_as(box: Box, folded: Collection[str]) -> str:
    for key in box.groups:
        if key in folded:
            return key
    return box.key


def _count(picture: Picture, folded: Collection[str]) -> int:
    return len({_shown_as(box, folded) for box in picture.boxes.values()})


def fold(picture: Picture, folded: Collection[str], limit: int | None = LIMIT) -> Picture:
    """The picture with these scopes as boxes. If it still has more boxes than `limit`, the rest folds by height.

    Parallel edges into or out of a folded box are joined, and what they carry is added up, so that the numbers at every
    other box still add up. A scope of a single operation is not worth a box of its own.
    """
    shown = {box.key: _shown_as(box, folded) for box in picture.boxes.values()}
    users: dict[str, set[str]] = defaultdict(set)
    for e in picture.edges:
        users[e.source].add(shown[e.target])
    members: dict[str, list[Box]] = defaultdict(list)
    for box in picture.boxes.values():
        # a constant that only one scope uses belongs to it
        only = next(iter(users[box.key])) if box.kind == "constant" and len(users[box.key]) == 1 else ""
        members[only if only in picture.groups else shown[box.key]].append(box)
    place = {box.key: key for key, boxes in members.items() if len(boxes) > 1 for box in boxes}
    names = {key: picture.groups[key].name for key in place.values()}
    if place:
        picture = _joined(picture, place, names)
    if limit is not None and len(picture.boxes) > limit:
        picture = _by_height(picture, limit)
    return _without_trivial_groups(picture)


def _joined(picture: Picture, place: dict[str, str], names: dict[str, str]) -> Picture:
    """The picture with boxes replaced by the one that stands for them."""
    members: dict[str, list[Box]] = defaultdict(list)
    for box in picture.boxes.values():
        members[place.get(box.key, box.key)].append(box)
    inner_uses = {e.source for e in picture.edges if _same(place, e)}
    outer_uses = {e.source for e in picture.edges if not _same(place, e)}
    boxes: dict[str, Box] = {}
    for key, own in members.items():
        if key not in names:
            boxes[key] = own[0]
            continue
        ends = [b for b in own if b.key == picture.root or b.key in outer_uses]
        ends = ends or [b for b in own if b.key not in inner_uses]
        out = ends[-1] if len(ends) == 1 else None
        group = picture.groups.get(key)
        count = sum(b.count for b in own if b.kind in ("operation", "group"))
        boxes[key] = Box(
            key=key,
            kind="group",
            name=out.name if out else None,
            symbol=names[key],
            operation=names[key],
            detail=f"{count:,} operations" if count else f"{len(own):,} leaves",
            type=out.type if out else "",
            value=out.value if out else None,
            gradient=out.gradient if out else None,
            groups=_outside(own[-1].groups, key) if group else (),
            place=group.place if group else "",
            source=own[-1].source if group else "",
            count=count,
        )
    edges: dict[tuple[str, str, object], Edge] = {}
    for e in picture.edges:
        source, target = place.get(e.source, e.source), place.get(e.target, e.target)
        if source == target:
            continue
        joined = target in names
        edge_key = (source, target, None if joined else e.position)
        old = edges.get(edge_key)
        if old is None:
            local, slot = (None, None) if joined else (e.local, e.local_slot)
            edges[edge_key] = replace(e, source=source, target=target, local=local, local_slot=slot)
        else:
            edges[edge_key] = replace(old, carried=old.carried + e.carried)
    root = place.get(picture.root, picture.root)
    return replace(picture, boxes=_ordered(boxes, edges.values()), edges=tuple(edges.values()), root=root)


def _outside(groups: tuple[str, ...], key: str) -> tuple[str, ...]:
    return groups[: groups.index(key)] if key in groups else ()


def _same(place: dict[str, str], e: Edge) -> bool:
    return place.get(e.source, e.source) == place.get(e.target, e.target)


def _ordered(boxes: dict[str, Box], edges: Collection[Edge]) -> dict[str, Box]:
    """The boxes with inputs first again; where folding made a cycle, as they came."""
    inputs: dict[str, list[str]] = defaultdict(list)
    for e in edges:
        inputs[e.target].append(e.source)
    order: dict[str, Box] = {}
    open_: set[str] = set()
    for start in boxes:
        stack = [start]
        while stack:
            key = stack[-1]
            missing = [x for x in inputs[key] if x not in order and x not in open_]
            if key in order or not missing:
                order.setdefault(key, boxes[key])
                open_.discard(key)
                stack.pop()
            else:
                open_.add(key)
                stack.append(missing[0])
    return order


def heights(picture: Picture) -> dict[str, int]:
    """How many edges lie on the longest way from a leaf to each box."""
    inputs: dict[str, list[str]] = defaultdict(list)
    for e in picture.edges:
        inputs[e.target].append(e.source)
    height: dict[str, int] = {}
    for key in picture.boxes:
        height[key] = 1 + max((height.get(x, 0) for x in inputs[key]), default=-1)
    return height


def _by_height(picture: Picture, limit: int) -> Picture:
    """Fold slices of the graph between two heights. An edge always leads to a greater height, so no cycle can arise.

    The root, and named boxes as far as there is room, stay as they are.
    """
    height = heights(picture)
    named = [b.key for b in picture.boxes.values() if b.name][: limit // 3]
    lowest: dict[str, int] = {}
    for e in picture.edges:
        lowest[e.source] = min(lowest.get(e.source, height[e.target]), height[e.target])
    for key, box in picture.boxes.items():  # a constant goes where it is first used
        if box.kind in ("constant", "data") and not box.name:
            height[key] = lowest.get(key, 0)
    kept = {picture.root, *named}
    free = [key for key in picture.boxes if key not in kept]
    top = max(height.values()) + 1
    rows = min(ROWS, max(2, limit // 6))
    cuts = sorted(height[key] for key in free)
    bounds = sorted({cuts[len(cuts) * i // rows] for i in range(rows)} | {height[key] for key in named if height[key]})
    if len(bounds) > 2 * rows:
        bounds = bounds[:: -(-len(bounds) // (2 * rows))]
    starts = set(bounds)
    below = itertools.accumulate(h in starts for h in range(top + 1))
    row_of = [max(count - 1, 0) for count in below]
    place, names = _boxes_of_rows(picture, {key: row_of[height[key]] for key in free})
    hidden = sum(picture.boxes[key].count for key in place)
    every = sum(b.count for b in picture.boxes.values())
    note = f"{hidden:,} of {every:,} nodes are folded into {len(names)} boxes by their height"
    folded = _joined(picture, place, names)
    return replace(folded, notes=(*picture.notes, note + "; fold=False shows all of them"))


def _boxes_of_rows(picture: Picture, rows: dict[str, int]) -> tuple[dict[str, str], dict[str, str]]:
    """What is connected within a row becomes a box, the smaller ones of a row with each other: for each key its box, and the
    boxes' names."""
    parent = {key: key for key in rows}

    def find(key: str) -> str:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for e in picture.edges:
        if e.source in parent and e.target in parent and rows[e.source] == rows[e.target]:
            parent[find(e.source)] = find(e.target)
    components: dict[tuple[int, str], list[str]] = defaultdict(list)
    for key, row in rows.items():
        components[row, find(key)].append(key)
    by_row: dict[int, list[list[str]]] = defaultdict(list)
    for (at, _), keys in components.items():
        by_row[at].append(keys)
    place: dict[str, str] = {}
    names: dict[str, str] = {}
    for _, parts in sorted(by_row.items()):
        parts.sort(key=len, reverse=True)
        for keys in [*parts[: COLUMNS - 1], [key for part in parts[COLUMNS - 1 :] for key in part]]:
            if len(keys) > 1:
                new = f"f{len(names)}"
                names[new] = _what(picture, keys)
                place.update(dict.fromkeys(keys, new))
    return place, names


def _what(picture: Picture, keys: list[str]) -> str:
    """What is inside, by the operations that are most common there."""
    counts: dict[str, int] = defaultdict(int)
    for key in keys:
        box = picture.boxes[key]
        if box.kind in ("operation", "group"):
            counts[box.symbol] += box.count
    common = sorted(counts, key=lambda symbol: -counts[symbol])
    return " · ".join(f"{counts[s]:,} {s}" for s in common[:3]) + (" …" if len(common) > 3 else "") or "leaves"


def _without_trivial_groups(picture: Picture) -> Picture:
    """Leave out the scopes around a single box, which would only be a frame around a frame."""
    inside: dict[str, int] = defaultdict(int)
    for box in picture.boxes.values():
        for key in box.groups:
            inside[key] += 1
    kept = {key for key, count in inside.items() if count > 1}
    boxes = {key: replace(b, groups=tuple(g for g in b.groups if g in kept)) for key, b in picture.boxes.items()}
    groups: dict[str, Group] = {}
    for key, group in picture.groups.items():
        if key in kept:
            parent = group.parent
            while parent is not None and parent not in kept:
                parent = picture.groups[parent].parent
            groups[key] = replace(group, parent=parent)
    return replace(picture, boxes=boxes, groups=groups)
