"""How many references objects have: what says whether anybody else holds a value, whose memory may then be written over.

Nobody asks for that of a local name by itself. Since Python 3.14 the lines around decide whether `getrefcount(x)` finds a
reference of the call's beside the name's, and a parameter may be one that the caller alone holds. What is in a list, and counted
from there, has one reference of the list's and one of the counting's in every version.
"""

from __future__ import annotations

from collections.abc import Iterable
from sys import getrefcount
from typing import Any

__all__ = ["COUNTED_IN_LIST", "reference_counts"]


def reference_counts(objects: Iterable[Any]) -> list[int]:
    """How many references the items of a list or tuple have."""
    return list(map(getrefcount, objects))


COUNTED_IN_LIST = reference_counts([object()])[0]  # of an object that only a list holds
