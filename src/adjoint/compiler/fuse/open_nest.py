"""Loop nests that steps may still join: what fusing fills, and makes units of once all steps are placed."""

from __future__ import annotations

from collections.abc import Container
from types import MappingProxyType

from adjoint.compiler.fuse.kinds import Nest, reading
from adjoint.plan.plan import Step
from adjoint.shapes import Shape


class OpenNest:
    """A loop nest over a domain, as far as it is known: the fields are those of `Nest`."""

    __slots__ = ("by_row", "domain", "level", "split", "steps")

    def __init__(self, domain: Shape) -> None:
        self.domain = domain
        self.split: int | None = None
        self.steps: list[Step] = []
        self.level: dict[int, str] = {}
        self.by_row: set[int] = set()

    def row_shape(self, shape: Shape) -> bool:
        """Whether values of this shape, one for each row, broadcast to the domain along the rows."""
        if self.split is None:
            return False
        rest = len(self.domain) - self.split
        return shape == self.domain[: self.split] + (1,) * rest

    def bare_shape(self, shape: Shape) -> bool:
        """Whether there is one value for each row, the trailing axes dropped."""
        return self.split is not None and shape == self.domain[: self.split]

    def read(self) -> frozenset[int]:
        """The slots that it reads from memory."""
        return reading(self.steps, self.level)

    def closed(self, read: frozenset[int], needed: Container[int]) -> Nest:
        """The unit, which reads these slots, and stores those that are needed elsewhere."""
        stored = tuple([slot for slot in self.level if slot in needed])
        level, by_row = MappingProxyType(self.level), frozenset(self.by_row)
        return Nest(self.domain, self.split, tuple(self.steps), level, by_row, read, stored)
