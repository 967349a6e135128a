"""What repeats, as one box that says how often and can be opened: the turns of a loop, the equal layers of a network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from adjoint.picture.model import Box, Group, Picture

__all__ = ["with_repetitions"]

MIN_TURNS = 8  # fewer are shown as they are
MAX_PERIOD = 64  # operations of a turn
MAX_OPERATIONS = 30_000  # of a picture in which repetitions are looked for
MAX_SYMBOLS = 4


def with_repetitions(picture: Picture) -> Picture:
    """The picture with a scope around each repetition, and in it one around each turn.

    A turn is a stretch of operations that were recorded at the same lines, in the same order. What only one turn uses
    is inside it; so a loop over 400 weights is one box.
    """
    operations = [box for box in picture.boxes.values() if box.kind == "operation"]
    if not MIN_TURNS <= len(operations) <= MAX_OPERATIONS:
        return picture
    runs = _runs([_signature(picture, box) for box in operations])
    turns: dict[str, tuple[str, ...]] = {}  # the new scopes of each operation
    depth: dict[str, int] = {}  # how many scopes are around them
    groups: dict[str, Group] = {}
    for start, period, count in runs:
        stretch = operations[start : start + period * count]
        around = _common([box.groups for box in stretch])
        parts = [stretch[i * period : (i + 1) * period] for i in range(count)]
        if not _separate(parts, len(around)):
            continue
        symbols = " ".join(box.symbol for box in parts[0][:MAX_SYMBOLS]) + (" …" if period > MAX_SYMBOLS else "")
        key = f"r{start}"
        groups[key] = Group(
            key, f"{count} × ({symbols})", around[-1] if around else None, parts[0][0].place, False, count
        )
        for i, part in enumerate(parts):
            turn = f"{key}t{i}"
            groups[turn] = Group(turn, f"turn {i + 1} of {count}", key, part[0].place, is_module=False)
            turns.update({box.key: (key, turn) for box in part})
            depth.update({box.key: len(around) for box in part})
    return _regrouped(picture, turns, depth, groups) if groups else picture


def _signature(picture: Picture, box: Box) -> Any:
    return box.operation, box.symbol, box.place, tuple(picture.groups[key].name for key in box.groups)


def _runs(signatures: Sequence[Any]) -> list[tuple[int, int, int]]:
    """The repetitions in a sequence, as (start, length of a turn, turns): from the left, the longest at each place."""
    numbers: dict[Any, int] = {}
    s = np.array([numbers.setdefault(signature, len(numbers)) for signature in signatures])
    n = len(s)
    periods = min(MAX_PERIOD, n // MIN_TURNS)
    covered = np.zeros((periods + 1, n), np.int64)
    for p in range(1, periods + 1):
        differs = np.flatnonzero(s[:-p] != s[p:])
        ends = np.append(differs, n - p)
        equal = ends[np.searchsorted(ends, np.arange(n - p))] - np.arange(n - p)
        turns = equal // p + 1
        covered[p, : n - p] = np.where(turns >= MIN_TURNS, turns * p, 0)
    best = covered.argmax(0)  # of equally long ones the shortest turn
    runs, i = [], 0
    while i < n:
        length = int(covered[best[i], i])
        if length:
            runs.append((i, int(best[i]), length // int(best[i])))
        i += max(length, 1)
    return runs


def _common(groups: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    first = groups[0]
    length = 0
    while all(len(g) > length and len(first) > length and g[length] == first[length] for g in groups):
        length += 1
    return first[:length]


def _separate(parts: Sequence[Sequence[Box]], depth: int) -> bool:
    """Whether no scope reaches over two turns."""
    seen: set[str] = set()
    for part in parts:
        own = {box.groups[depth] for box in part if len(box.groups) > depth}
        if own & seen:
            return False
        seen |= own
    return True


def _regrouped(
    picture: Picture, turns: dict[str, tuple[str, ...]], depth: dict[str, int], groups: dict[str, Group]
) -> Picture:
    users: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    one: dict[str, str] = {}
    for e in picture.edges:
        users[e.source].add(turns.get(e.target, ()))
        one[e.source] = e.target
    boxes: dict[str, Box] = {}
    parents: dict[str, str] = {}
    for key, box in picture.boxes.items():
        inside, around = turns.get(key, ()), box.groups
        at = depth.get(key, 0)
        if not inside and box.kind != "operation" and len(users[key]) == 1 and key != picture.root:
            (inside,) = users[key]
            at, around = (
                depth.get(one[key], 0),
                picture.boxes[one[key]].groups[: depth.get(one[key], 0)] if inside else (),
            )
        if inside and len(around) > at:
            parents[around[at]] = inside[-1]
        boxes[key] = replace(box, groups=(*around[:at], *inside, *around[at:])) if inside else box
    old = {key: replace(g, parent=parents.get(key, g.parent)) for key, g in picture.groups.items()}
    return replace(picture, boxes=boxes, groups=_parents_first({**old, **groups}))


def _parents_first(groups: dict[str, Group]) -> dict[str, Group]:
    ordered: dict[str, Group] = {}
    for key in groups:
        chain = []
        at: str | None = key
        while at is not None and at not in ordered:
            chain.append(at)
            at = groups[at].parent
        for inner in reversed(chain):
            ordered[inner] = groups[inner]
    return ordered
