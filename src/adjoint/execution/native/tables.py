"""What native code is called with: a table of pointers for each run, and one of its own for each thread in it."""

from __future__ import annotations

from typing import Any

from adjoint.execution.native import onednn

ALIGNMENT = 64
FAILURE = ("index", "failure")  # the key of where it is noted that an index is out of bounds


class Table:
    """The pointers of a run: a position for each array and library function. The first is that to the threads' own tables."""

    def __init__(self) -> None:
        self.positions: dict[Any, int] = {"own": 0}
        self.shared: dict[tuple[int, str], int] = {}  # bytes of scratch space that all threads see, by unit and purpose
        self.until: dict[tuple[int, str], int] = {}  # the last unit that reads such space, if it isn't that one
        self.packed: dict[Any, tuple[int, str]] = {}  # where matrices are packed, by their views
        self.primitives: list[onednn.Primitive] = []
        self.checks: list[tuple[int, int]] = []  # the axis that an index selects along, and its length
        self.keep: list[onednn.Primitive] = []  # that own descriptors in use

    def at(self, key: Any) -> int:
        return self.positions.setdefault(key, len(self.positions))

    def check(self, axis: int, n: int) -> int:
        """The number of a check of indices."""
        self.checks.append((axis, n))
        return len(self.checks) - 1

    def share(self, unit: int, purpose: str, size: int) -> int:
        """The position of scratch space that lives while a unit runs."""
        self.shared[unit, purpose] = size
        return self.at((unit, purpose))

    def primitive(self, primitive: onednn.Primitive) -> int:
        """The position of a primitive of oneDNN."""
        self.primitives.append(primitive)
        return self.at(("primitive", len(self.primitives) - 1))


class Own:
    """What each thread has for itself: scratch space, and memory objects for the primitives of oneDNN that it calls.

    Its table has the scratch space first, then for each call the array of arguments and the memory objects in it.
    """

    def __init__(self) -> None:
        self.calls: list[onednn.Primitive] = []
        self.length = 1
        self.scratch = 0  # bytes
        self.reserved: dict[int, int] = {}

    def reserve(self, unit: int, size: int) -> int:
        """The offset of scratch space; another unit's may lie in the same place."""
        offset = self.reserved.get(unit, 0)
        self.reserved[unit] = offset + -(-size // ALIGNMENT) * ALIGNMENT
        self.scratch = max(self.scratch, self.reserved[unit])
        return offset

    def call(self, primitive: onednn.Primitive) -> int:
        """The first position of a call's pointers."""
        self.calls.append(primitive)
        first = self.length
        self.length += 1 + len(primitive.arguments)
        return first
