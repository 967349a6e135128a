"""Errors under PyTorch's classes: what the core raises as ValueError or TypeError is RuntimeError to PyTorch's programs."""

from __future__ import annotations

import pickle
import re
from typing import Any

from adjoint.tensors.located import PACKAGE

__all__ = ["Asserted", "OutOfBounds", "Unreadable", "as_pytorchs"]

SPELLED = (  # what the core's messages say to write, and how it is written here
    (re.compile(r"\.astype\('int64'\)"), ".long()"),
    (re.compile(r"\.astype\((\w+\.dtype)\)"), r".to(\1)"),
    (re.compile(r"squeeze\(axis=(-?\d)\)"), r"squeeze(\1)"),
    (re.compile(r"\.argmax\(axis=(-?\d)\)"), r".argmax(\1)"),
    (re.compile(r"^concat: "), "cat: "),
    (re.compile(r"\bad\.(where|tensor|no_grad|ones|zeros|stack)\b"), r"torch.\1"),
)


def _spelled(said: Any) -> Any:
    if isinstance(said, str):
        for there, here in SPELLED:
            said = there.sub(here, said)
    return said


class _Mismatch(RuntimeError, ValueError):
    """Shapes or values that don't fit: caught as either of its classes, pickled as the first."""

    def __reduce__(self) -> Any:
        return RuntimeError, self.args


class _WrongKind(RuntimeError, TypeError):
    """Dtypes or kinds of arguments that don't fit: caught as either of its classes, pickled as the first."""

    def __reduce__(self) -> Any:
        return RuntimeError, self.args


class OutOfBounds(IndexError, RuntimeError):
    """A position outside of an axis, which some of PyTorch's functions say by one class and some by the other."""

    def __reduce__(self) -> Any:
        return IndexError, self.args


class Asserted(AssertionError, RuntimeError, ValueError):
    """What PyTorch asserts: caught as such, or as what the core raises."""

    def __reduce__(self) -> Any:
        return AssertionError, self.args


class Unreadable(pickle.UnpicklingError, RuntimeError, ValueError):
    """A file that is none of those which can be read, or is cut short."""

    def __reduce__(self) -> Any:
        return pickle.UnpicklingError, self.args


Asserted.__module__, Asserted.__name__, Asserted.__qualname__ = "builtins", "AssertionError", "AssertionError"
OutOfBounds.__module__, OutOfBounds.__name__, OutOfBounds.__qualname__ = "builtins", "IndexError", "IndexError"
KINDS: dict[type[Exception], type[Exception]] = {ValueError: _Mismatch, TypeError: _WrongKind}
for _kind in KINDS.values():  # tracebacks and `type(error).__name__` say what PyTorch's say
    _kind.__module__, _kind.__name__, _kind.__qualname__ = "builtins", "RuntimeError", "RuntimeError"


def as_pytorchs(error: Exception, asserts: bool = False) -> Exception:
    """The error under PyTorch's class, with its traceback; `asserts` for what is asserted there. What user code raised stays."""
    kind = Asserted if asserts and type(error) is ValueError else KINDS.get(type(error))
    if kind is None:
        return error
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is not None and not at.tb_frame.f_code.co_filename.startswith(PACKAGE):
        return error
    return kind(*map(_spelled, error.args)).with_traceback(error.__traceback__)
