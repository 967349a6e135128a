"""What pages are asked to compute: a root for each case of the table of operations, leaves moved, and Python's answers."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad
from adjoint.picture import build
from adjoint.picture.page import graph_data
from adjoint.picture.program import plain
from operation_rows import inexact_arrays
from operations import OPERATIONS

# They choose elements by their values when they are recorded; a page that moves the values keeps that choice (docs/pictures.md).
CHOSEN_BY_VALUES = frozenset("unique_all unique_counts unique_inverse unique_values".split())
# A page that moves a matrix leaves each eigenvalue beside where it was; LAPACK may order them anew.
ORDERED_BY_LAPACK = frozenset({"roots"})
CASES = [
    (f"{operation.name}-{row}-{number}", operation, case)
    for row, operation in enumerate(OPERATIONS)
    for number, case in enumerate(operation.cases)
    if operation.name not in CHOSEN_BY_VALUES
    and operation.dtypes[0] in "fc"
    and inexact_arrays(operation.draw(case, "float64"))
    # of a polynomial the degree follows from its zeros when it is recorded
    and not (operation.name == "roots" and 0 in operation.draw(case, "float64")[0])
]


def root_of(operation: Any, case: Any, arguments: list[Any], tensors: list[ad.Tensor]) -> ad.Tensor:
    """One real number that depends on every element of what an operation gives."""
    total = ad.tensor(0.0, dtype="float64")
    for y in operation.of_tensors(case, arguments, tensors):
        if operation.name in ORDERED_BY_LAPACK:
            y = ad.stack([y.sum(), (y * y * y).sum()])
        if np.dtype(y.dtype.name).kind == "c":
            y = ad.real(y) + 2 * ad.imag(y)
        weights = np.cos(np.arange(y.size)).reshape(y.shape) + 1.5
        total = total + (ad.astype(y, "float64") * weights).sum()
    return total


class Asked:
    """One page's data, what its leaves are set to, and what Python gets there."""

    def __init__(self, operation: Any, case: Any, moves: int) -> None:
        self.operation, self.case = operation, case
        self.arguments = operation.draw(case, "float64")
        self.arrays = inexact_arrays(self.arguments)
        self.names = [f"leaf{i}" for i in range(len(self.arrays))]
        self.y = self._root(self.arrays)[1]
        self.data = graph_data(build(self.y.node, live=True), ())
        generator = np.random.default_rng(len(self.arrays))
        with np.errstate(all="ignore"):
            self.moves = [
                (
                    i,
                    array
                    + generator.uniform(-0.1, 0.1, array.shape) * np.where(np.isfinite(array), np.abs(array) + 0.1, 0),
                )
                for i, array in enumerate(self.arrays)
                for _ in range(moves)
            ]

    def _root(self, arrays: list[Any]) -> tuple[list[ad.Tensor], ad.Tensor]:
        tensors = [ad.variable(array, name=name) for array, name in zip(arrays, self.names, strict=True)]
        return tensors, root_of(self.operation, self.case, self.arguments, tensors)

    def boxes(self) -> list[dict[str, Any]]:
        """The boxes of the leaves that can be moved, in order."""
        found = {box["name"]: box for box in self.data["boxes"] if box["kind"] == "variable"}
        still = self.data["still"]
        found = {name: box for name, box in found.items() if still.get(str(box["value"]["slot"]), "not there") is None}
        return [found[name] for name in self.names if name in found]

    def question(self) -> dict[str, Any]:
        """For the page's own engine: the program, and for each move a slot, its elements, and the slots to read."""
        boxes = {box["name"]: box for box in self.boxes()}
        root = next(box for box in self.data["boxes"] if box["key"] == self.data["root"])
        read = [box["gradient"]["slot"] for box in boxes.values() if box["gradient"]]
        return {
            "program": self.data["program"],
            "moves": [
                {"slot": boxes[self.names[i]]["value"]["slot"], "numbers": plain(numbers.ravel().tolist())}
                for i, numbers in self.moves
                if self.names[i] in boxes and numbers.size
            ],
            "read": [root["value"]["slot"], *read],
        }

    def answers(self) -> list[list[np.ndarray]]:
        """Python's value and gradients after each move; a leaf that was moved stays where it is."""
        arrays = list(self.arrays)
        shown = {box["name"]: box for box in self.boxes()}
        found = []
        for i, numbers in self.moves:
            if self.names[i] not in shown or not numbers.size:
                continue
            arrays[i] = numbers
            tensors, y = self._root(arrays)
            leaves = [
                t for t, name in zip(tensors, self.names, strict=True) if name in shown and shown[name]["gradient"]
            ]
            gradients = ad.gradients(y, leaves) if leaves else []
            found.append([y.numpy(), *(g.numpy() for g in gradients)])
        return found


def assert_same(found: list[list[float]], expected: list[np.ndarray], where: str) -> None:
    """To 1e-12, beside the largest number of the array."""
    assert len(found) == len(expected), where
    for mine, theirs in zip(found, expected, strict=True):
        theirs = np.asarray(theirs, np.float64).ravel()
        scale = max(1.0, np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0.0))
        np.testing.assert_allclose(np.array(mine, np.float64), theirs, 1e-12, 1e-12 * scale, err_msg=where)
