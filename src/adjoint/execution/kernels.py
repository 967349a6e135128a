"""What a table of kernels says of each."""

from __future__ import annotations

from adjoint._tuples import NamedTuple

__all__ = ["Kernel"]


class Kernel(NamedTuple):
    """One kernel, or one step of the interpreter: `kind` is loops, product, window, matrices, move, transform, running, order or
    numpy, or how often a stretch of operations on single numbers is done; bytes read and written; floating operations; seconds;
    how many units of the program share its code; the user's lines; why it isn't native, if it isn't."""

    kind: str
    shape: tuple[int, ...]
    operations: tuple[str, ...]
    bytes: int
    flops: int
    seconds: float
    shared: int = 1
    lines: str = ""
    reason: str = ""
