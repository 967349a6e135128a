"""Python that is written while a program runs: functions for one call, one trace, one set of numbers.

Compiling a text takes Python far longer than running it once. So what a text depends on stays out of it, as objects that it
names, and equal texts are compiled once: calls of other lengths have the same one.
"""

from __future__ import annotations

import os.path
from types import CodeType
from typing import Any

# The file that the code says it is of: one of this package's, so that nobody takes it for the user's.
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<written>")
MOST = 1 << 22  # characters that are remembered

_codes: dict[
    str, CodeType
] = {}  # the least recently used first. No OrderedDict, which an interrupt can leave in pieces.
_length = [0]


def run_source(source: str, names: dict[str, Any]) -> None:
    """Execute a text with these names, which get what it defines."""
    code = _codes.pop(source, None)
    if code is None:
        code = compile(source, FILE, "exec")
        _length[0] += len(source)
    _codes[source] = code
    while _length[0] > MOST and len(_codes) > 1:
        try:
            oldest = next(iter(_codes))
            del _codes[oldest]
            _length[0] -= len(oldest)
        except (KeyError, RuntimeError, StopIteration):  # another thread was there
            break
    exec(code, names)
