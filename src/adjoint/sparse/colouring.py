"""Colours for the columns of a sparse matrix, so that few products with it tell all its entries.

A. Gebremedhin, F. Manne and A. Pothen, "What color is your Jacobian? Graph coloring for computing derivatives" (SIAM Review 47,
2005).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import _optional
from adjoint.tensors.located import at_user

__all__ = ["COLOURINGS", "Recovery", "acyclic_colours", "column_colours", "scipy_sparse", "star_colours"]

Array = np.ndarray[Any, Any]


def scipy_sparse() -> Any:
    """SciPy's module. Raises ImportError that names the extra."""
    return _optional.load("scipy.sparse", purpose="a sparse derivative", extra="science")


def column_colours(matrix: Any) -> Array:
    """A colour for each column, so that no row has two of one colour: greedily, in order (A. Curtis, M. Powell and J. Reid,
    "On the estimation of sparse Jacobian matrices", 1974)."""
    wide = matrix.astype(np.int32)
    beside = scipy_sparse().csr_array(wide.T @ wide)
    found = np.full(matrix.shape[1], -1)
    for column in range(matrix.shape[1]):
        taken = set(found[beside.indices[beside.indptr[column] : beside.indptr[column + 1]]].tolist())
        found[column] = _first_outside(taken)
    return found


def _first_outside(taken: set[int]) -> int:
    colour = 0
    while colour in taken:
        colour += 1
    return colour


def _neighbours(matrix: Any) -> list[list[int]]:
    """The columns that share an entry with each, without itself, of a symmetric matrix."""
    return [
        [k for k in matrix.indices[matrix.indptr[v] : matrix.indptr[v + 1]].tolist() if k != v]
        for v in range(matrix.shape[0])
    ]


def star_colours(matrix: Any) -> Array:
    """A colour for each column of a symmetric matrix, so that neighbours differ and every path of four has three colours: then
    each entry or its mirror image stands alone in a product (the article's algorithm 4.1)."""
    near = _neighbours(matrix)
    found = [-1] * len(near)
    around: list[dict[int, int]] = [{} for _ in near]  # how many neighbours of a column have each colour
    for v, beside in enumerate(near):
        taken = set(around[v])
        for w in beside:
            if found[w] < 0:
                taken.update(around[w])
            else:
                taken.update([found[x] for x in near[w] if x != v and found[x] >= 0 and around[x][found[w]] > 1])
        found[v] = _first_outside(taken)
        for w in beside:
            around[w][found[v]] = around[w].get(found[v], 0) + 1
    return np.array(found)


def acyclic_colours(matrix: Any) -> Array:
    """A colour for each column of a symmetric matrix, so that neighbours differ and two colours never make a cycle: then the
    entries follow from the products one after the other (the article's section 5)."""
    near = _neighbours(matrix)
    found = [-1] * len(near)
    parents: dict[
        tuple[int, int], tuple[int, int]
    ] = {}  # trees of two colours: a column with the colour that isn't its own

    def root(key: tuple[int, int]) -> tuple[int, int]:
        while (up := parents.setdefault(key, key)) != key:
            parents[key] = parents[up]
            key = up
        return key

    for v, beside in enumerate(near):
        coloured = [w for w in beside if found[w] >= 0]
        taken = {found[w] for w in coloured}
        colour = _first_outside(taken)
        while len({(found[w], root((w, colour))) for w in coloured}) < len(coloured):
            taken.add(colour)
            colour = _first_outside(taken)
        found[v] = colour
        for w in coloured:
            parents[root((v, found[w]))] = root((w, colour))
    return np.array(found)


COLOURINGS = {"column": column_colours, "star": star_colours, "acyclic": acyclic_colours}


class Recovery:
    """Where the entries of a matrix of a pattern stand in its products with the sums of its columns of each colour.

    numbers: for each equation the place of its right side among the products (colours, rows). `entries(values)` gives the
    entries of the matrix in its pattern's order, of the right sides: alone, or after substitution.
    """

    def __init__(self, pattern: Any, colours: Array, symmetric: bool) -> None:
        self.pattern, self.colours = pattern, colours
        self.count = int(colours.max(initial=-1)) + 1
        rows = pattern.shape[0]
        entries = pattern.tocoo()
        place = (entries.row, colours[entries.col])
        together = scipy_sparse().csr_array((np.ones(entries.nnz, np.int64), place), shape=(rows, max(self.count, 1)))
        alone = np.asarray(together[place]).ravel() == 1 if entries.nnz else np.zeros(0, bool)
        numbers = place[1] * rows + place[0]
        self.solve: Any = None
        if symmetric and not alone.all():
            mirrored = np.asarray(together[entries.col, colours[entries.row]]).ravel() == 1
            numbers = np.where(alone, numbers, colours[entries.row] * rows + entries.col)
            alone = alone | mirrored
        if symmetric and not alone.all():
            numbers = self._substituted(entries, place[1] * rows + place[0])
        elif not alone.all():
            raise ValueError(f"sparse derivative: columns of one colour share a row; give other colours{at_user()}")
        self.numbers = numbers.astype(np.int64)

    def _substituted(self, entries: Any, equations: Array) -> Array:
        """Equations in an order in which each has one unknown more than those before."""
        n = self.pattern.shape[0]
        low, high = np.minimum(entries.row, entries.col), np.maximum(entries.row, entries.col)
        edges, edge = np.unique(low * n + high, return_inverse=True)
        members: dict[int, list[int]] = {}
        for e, q in zip(edge.tolist(), equations.tolist(), strict=True):
            members.setdefault(q, []).append(e)
        where: list[list[int]] = [[] for _ in edges]
        for q, list_ in members.items():
            for e in list_:
                where[e].append(q)
        remaining = {q: len(list_) for q, list_ in members.items()}
        ready, known = [q for q, k in remaining.items() if k == 1], [False] * len(edges)
        order: list[tuple[int, int]] = []
        while ready:
            q = ready.pop()
            unknown = [e for e in members[q] if not known[e]]
            if not unknown:
                continue
            known[unknown[0]] = True
            order.append((unknown[0], q))
            for other in where[unknown[0]]:
                remaining[other] -= 1
                if remaining[other] == 1:
                    ready.append(other)
        if len(order) < len(edges):
            raise ValueError(f"sparse derivative: the colours don't determine all entries; give other ones{at_user()}")
        position = {e: k for k, (e, _) in enumerate(order)}
        triples = [(k, position[e]) for k, (_, q) in enumerate(order) for e in members[q]]
        rows, columns = np.array(triples).T
        sparse = scipy_sparse()
        system = sparse.csc_array((np.ones(len(triples)), (rows, columns)), shape=(len(order),) * 2)
        linalg = _optional.load("scipy.sparse.linalg", purpose="a sparse derivative", extra="science")
        self.solve = linalg.splu(system, permc_spec="NATURAL", diag_pivot_thresh=0.0).solve
        self.spread = np.array([position[e] for e in range(len(edges))])[edge]
        return np.array([q for _, q in order])

    def entries(self, values: Array) -> Array:
        """The entries of the matrix."""
        if self.solve is None:
            return values
        found: Array = self.solve(values.astype(np.float64))[self.spread].astype(values.dtype)
        return found
