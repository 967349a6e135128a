"""A context variable with another value inside a block, and as it was afterwards, whatever interrupts."""

from __future__ import annotations

import io
from contextvars import ContextVar, Token
from functools import partial
from typing import Any, Generic, TypeVar

__all__ = ["Setting"]

T = TypeVar("T")
Base: Any = io.IOBase


class Setting(Base, Generic[T]):  # type: ignore[misc]
    """A context manager that sets a context variable; it may be entered again inside of itself.

    Signals' handlers (Ctrl-C) run where a function of Python's starts, so a `__exit__` written in Python may end before it
    has begun. That of `io.IOBase` is C's, calls `close()` and does nothing else. Here `close` is C's as well: it takes the
    last token from the list and resets the variable.
    """

    closed = True  # else the finalizer of `io.IOBase` would call `close` once more
    variable: ContextVar[T]  # that of a class, or of an instance

    def __init__(self, variable: ContextVar[T] | None = None) -> None:
        if variable is not None:
            self.variable = variable
        self.tokens: list[Token[T]] = []
        self.close = partial(next, map(self.variable.reset, iter(self.tokens.pop, None)))

    def set(self, value: T) -> None:
        """What `__enter__` calls last: from here on until `__exit__` the variable has this value."""
        before, count = self.variable.get(), len(self.tokens)
        try:
            self.tokens.append(self.variable.set(value))
        except BaseException:  # of a handler, which may come right after either call
            del self.tokens[count:]
            self.variable.set(before)
            raise

    def __enter__(self) -> Any:
        raise NotImplementedError
