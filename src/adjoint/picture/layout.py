"""Where boxes go: by Graphviz if it is there and the graph isn't big, else by a layered layout of our own.

The layers are those of K. Sugiyama, S. Tagawa and M. Toda (1981): heights, crossings reduced by moving each box to the
mean place of its neighbours, then coordinates. The root is at the top; y grows downwards.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from adjoint.picture.folding import heights
from adjoint.picture.model import Picture

__all__ = ["Layout", "layered", "layout"]

GAP_X, GAP_Y = 34.0, 64.0
SWEEPS = 10
MAX_BENDS, SHORT = 20_000, 10  # where there were more, edges that cross more layers than these go straight
FOR_GRAPHVIZ = 250  # boxes; more take it too long,
BENDS_FOR_GRAPHVIZ = 1_500  # and so do long edges: one leaf that is used in each of 66 turns takes it minutes

Point = tuple[float, float]
Sizes = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The centre of each box, and for each edge the points of a chain of cubic curves from source to target."""

    centres: dict[str, Point]
    curves: list[list[Point]]


def layout(picture: Picture, sizes: Sizes, graphviz: ModuleType | None) -> Layout:
    """Lay out a picture whose boxes have these widths and heights."""
    if graphviz is not None and len(picture.boxes) <= FOR_GRAPHVIZ and _bends(picture) <= BENDS_FOR_GRAPHVIZ:
        return _by_graphviz(picture, sizes, graphviz)
    return layered(picture, sizes)


def _bends(picture: Picture) -> int:
    """How many layers all edges cross."""
    height = heights(picture)
    return sum(max(0, height[e.target] - height[e.source] - 1) for e in picture.edges)


def _by_graphviz(picture: Picture, sizes: Sizes, graphviz: ModuleType) -> Layout:
    lines = ["digraph {", f"graph [rankdir=BT, nodesep={GAP_X / 72}, ranksep={GAP_Y / 72}];"]
    lines.append('node [shape=box, fixedsize=true, label=""]; edge [dir=none, label=""];')
    for key in picture.boxes:
        width, height = sizes[key]
        lines.append(f'"{key}" [width={width / 72:.4f}, height={height / 72:.4f}];')
    lines += [f'"{e.source}" -> "{e.target}" [comment="{i}"];' for i, e in enumerate(picture.edges)]
    graph = graphviz.AGraph(string="\n".join([*lines, "}"]))
    graph.layout(prog="dot")
    centres: dict[str, Point] = {}
    for key in picture.boxes:
        x, y = graph.get_node(key).attr["pos"].split(",")
        centres[key] = (float(x), -float(y))
    drawn: dict[int, list[Point]] = {}
    for edge in graph.edges_iter():
        points = [p.split(",") for p in edge.attr["pos"].split() if not p.startswith(("e", "s"))]
        drawn[int(edge.attr["comment"])] = [(float(x), -float(y)) for x, y in points]
    return Layout(centres, [drawn[i] for i in range(len(picture.edges))])


def layered(picture: Picture, sizes: Sizes) -> Layout:
    """The layout of our own, in time nearly linear in the graph."""
    rank = heights(picture)
    lowest: dict[str, int] = {}
    for e in picture.edges:
        lowest[e.source] = min(lowest.get(e.source, rank[e.target]), rank[e.target])
    inner = {e.target for e in picture.edges}
    for key in picture.boxes:  # a leaf belongs just below where it is first used
        if key not in inner and key in lowest:
            rank[key] = lowest[key] - 1
    # A long edge bends around what lies between: a point in every layer that it crosses.
    spans = [max(0, rank[e.target] - rank[e.source] - 1) for e in picture.edges]
    longest = math.inf if sum(spans) <= MAX_BENDS else SHORT
    chains: list[list[str]] = []
    width = {key: sizes[key][0] for key in picture.boxes}
    for i, e in enumerate(picture.edges):
        between = range(rank[e.source] + 1, rank[e.target]) if spans[i] <= longest else ()
        bends = [f"bend {i} {r}" for r in between]
        for bend, r in zip(bends, between, strict=True):
            rank[bend], width[bend] = r, 8.0
        chains.append([e.source, *bends, e.target])
    below: dict[str, list[str]] = defaultdict(list)
    above: dict[str, list[str]] = defaultdict(list)
    for chain in chains:
        for low, high in itertools.pairwise(chain):
            above[low].append(high)
            below[high].append(low)
    rows: list[list[str]] = [[] for _ in range(max(rank.values()) + 1)]
    for key in _by_depth(picture.root, below, rank):
        rows[rank[key]].append(key)
    place = {key: float(i) for row in rows for i, key in enumerate(row)}
    for sweep in range(SWEEPS):
        neighbours = above if sweep % 2 else below
        for row in reversed(rows) if sweep % 2 else rows:
            row.sort(key=lambda k: _mean([place[n] for n in neighbours[k]], place[k]))
            for i, key in enumerate(row):
                place[key] = float(i)
    x = _across(rows, width, above, below)
    y: dict[str, float] = {}
    at = 0.0
    for row in reversed(rows):
        tallest = max((sizes[k][1] for k in row if k in sizes), default=0.0)
        for key in row:
            y[key] = at + tallest / 2
        at += tallest + GAP_Y
    centres = {key: (x[key], y[key]) for key in picture.boxes}
    return Layout(centres, [_curve([(x[k], y[k]) for k in chain], sizes, chain) for chain in chains])


def _by_depth(root: str, below: Mapping[str, list[str]], rank: Mapping[str, int]) -> list[str]:
    """All boxes and bends, as a walk from the root meets them: neighbours start out near each other."""
    seen: dict[str, None] = {}
    stack = [root]
    while stack:
        key = stack.pop()
        if key not in seen:
            seen[key] = None
            stack.extend(reversed(below.get(key, [])))
    return [*seen, *(key for key in rank if key not in seen)]


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _across(
    rows: list[list[str]], width: Mapping[str, float], above: Mapping[str, list[str]], below: Mapping[str, list[str]]
) -> dict[str, float]:
    """Horizontal places: each box as near to the middle of its neighbours as its row's order leaves room."""
    x: dict[str, float] = {}
    for row in rows:
        at = 0.0
        for key in row:
            x[key] = at + width[key] / 2
            at += width[key] + GAP_X
        shift = (at - GAP_X) / 2
        for key in row:
            x[key] -= shift
    for sweep in range(SWEEPS):
        neighbours = above if sweep % 2 else below
        for row in reversed(rows) if sweep % 2 else rows:
            wish = [_mean([x[n] for n in neighbours[key]], x[key]) for key in row]
            room = [(width[a] + width[b]) / 2 + GAP_X for a, b in itertools.pairwise(row)]
            right, left = list(wish), list(wish)
            for i in range(1, len(row)):
                right[i] = max(right[i], right[i - 1] + room[i - 1])
            for i in range(len(row) - 2, -1, -1):
                left[i] = min(left[i], left[i + 1] - room[i])
            for key, a, b in zip(row, right, left, strict=True):
                x[key] = (a + b) / 2
    return x


def _curve(points: list[Point], sizes: Sizes, chain: list[str]) -> list[Point]:
    """Cubic curves through the points, upright at each; from the source's upper edge to the target's lower one."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    points = [(x0, y0 - sizes[chain[0]][1] / 2), *points[1:-1], (x1, y1 + sizes[chain[-1]][1] / 2)]
    curve = [points[0]]
    for (ax, ay), (bx, by) in itertools.pairwise(points):
        middle = (ay + by) / 2
        curve += [(ax, middle), (bx, middle), (bx, by)]
    return curve
