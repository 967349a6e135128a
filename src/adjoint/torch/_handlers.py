"""Whether somebody would notice that an error comes late: whether a `try` or a `with` is around, in any function that is running.

What may fail because of values is computed at once only there, as PyTorch does. Elsewhere an error ends the program, and says the
line at which it was recorded, whenever it comes; so there it waits until it is computed with the rest, in a tenth of the time.
"""

from __future__ import annotations

import functools
from sys import _getframe
from types import FrameType

from adjoint.tensors.located import PACKAGE

__all__ = ["is_handled"]


def is_handled() -> bool:
    """Whether an error would meet a handler in what runs outside of this package, as far as the program's own module goes."""
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        code, outer = frame.f_code, frame.f_back
        if not code.co_filename.startswith(PACKAGE):
            if code.co_exceptiontable and _covers(code.co_exceptiontable, frame.f_lasti):
                return True
            names = frame.f_globals
            within = outer is not None and outer.f_globals is names  # as what a program executes itself
            if code.co_name == "<module>" and names.get("__name__") == "__main__" and not within:
                return False
        frame = outer
    return False


@functools.lru_cache(1 << 10)
def _covers(table: bytes, offset: int) -> bool:
    """Whether a function's table of handlers has one for the instruction at an offset. Its entries are four numbers of six bits a
    byte, of which the first two are where the instructions begin and how many they are, in units of two bytes."""
    numbers, value = list[int](), 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:  # the last of a number
            numbers.append(value)
            value = 0
    return any([2 * a <= offset < 2 * (a + n) for a, n in zip(numbers[::4], numbers[1::4], strict=True)])
