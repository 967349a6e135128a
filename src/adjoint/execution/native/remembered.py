"""What was found out of structures, as much as is worth keeping."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

__all__ = ["Remembered"]

T = TypeVar("T")


class Remembered(Generic[T]):
    """A table that lets go of what was used longest ago when all together weigh more than `most`; one always stays."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.weight = 0
        self.entries: OrderedDict[Any, tuple[T, int]] = OrderedDict()

    def __contains__(self, key: Any) -> bool:
        return key in self.entries

    def __iter__(self) -> Iterator[T]:
        """What is remembered, used longest ago first."""
        return iter([value for value, _ in self.entries.values()])

    def get(self, key: Any) -> T | None:
        """What is remembered under a key, which has been used with this; None for nothing."""
        found = self.entries.get(key)
        if found is None:
            return None
        self.entries.move_to_end(key)
        return found[0]

    def put(self, key: Any, value: T, weight: int) -> None:
        """Remember something, or that it has another weight by now. It weighs at least 1."""
        weight = max(weight, 1)
        before = self.entries.pop(key, None)
        self.entries[key] = value, weight
        self.weight += weight - (0 if before is None else before[1])
        if self.weight > self.most:  # counted anew, for an interrupt may have come between an entry and its weight
            weight = sum([one for _, one in self.entries.values()])
            while weight > self.most - self.most // 8 and len(self.entries) > 1:  # so that it is counted seldom
                weight -= self.entries.popitem(last=False)[1][1]
            self.weight = weight

    def clear(self) -> None:
        """Forget all."""
        self.entries.clear()
        self.weight = 0
