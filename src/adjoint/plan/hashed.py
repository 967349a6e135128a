"""Long keys of tables, whose hash is computed once: that of a plan of many steps takes milliseconds."""

from __future__ import annotations

from typing import Any

__all__ = ["Hashed"]


class Hashed:
    """A key that equals whatever is made of an equal one."""

    __slots__ = ("code", "key")

    def __init__(self, key: Any) -> None:
        self.key = key
        self.code = hash(key)

    def __hash__(self) -> int:
        return self.code

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Hashed) and self.code == other.code and bool(self.key == other.key))
