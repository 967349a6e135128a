"""Switching gradient tracking on and off, and equal bits for equal computations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import ContextDecorator
from functools import partial
from itertools import repeat
from operator import attrgetter, not_
from typing import Any, TypeVar

from adjoint._setting import Base
from adjoint.execution.tiers import tiers
from adjoint.graph import MODE, OUTERMOST, Mode, get_mode

__all__ = [
    "deterministically", "enable_grad", "in_turns", "is_deterministic", "is_grad_enabled", "leave", "no_grad",
    "set_deterministic",
]  # fmt: skip

IN_STRETCHES = inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction
F = TypeVar("F", bound=Callable[..., Any])
# Each `next` of it goes back to the outer mode, in C, and gives False.
leave: Iterator[bool] = map(not_, map(MODE.set, map(attrgetter("outer"), map(MODE.get, repeat(OUTERMOST)))))


class _End(Base):  # type: ignore[misc]
    """Whose `__exit__`, which is C's as that of a `Setting`, ends the innermost block of a mode, whatever interrupts."""

    closed = True

    def __init__(self) -> None:
        self.close = partial(next, leave)


class _GradMode:
    """A context manager, and a decorator, that sets whether operations are tracked in this thread or task. It holds nothing: what
    was there before is in the mode."""

    __slots__ = ()
    enabled: bool
    __exit__ = _End().__exit__  # bound already, to what it is the end of

    def __enter__(self) -> None:
        outer = get_mode()
        within = outer.within
        try:
            MODE.set(Mode(self.enabled, outer.site, outer.offset, outer) if within is None else within[self.enabled])
        except BaseException:  # of a signal's handler, which may come right after the call
            MODE.set(outer)
            raise

    def __call__(self, function: F) -> F:
        if any([is_such(function) for is_such in IN_STRETCHES]):
            return in_turns(function, lambda: self)  # type: ignore[no-any-return]
        enabled = self.enabled

        @functools.wraps(function)
        def wrapped(*args: Any, **keywords: Any) -> Any:
            outer = get_mode()
            try:  # from before the mode is set: Ctrl-C may come right after
                MODE.set(Mode(enabled, outer.site, outer.offset, outer))
                return function(*args, **keywords)
            finally:
                MODE.set(outer)

        return wrapped  # type: ignore[return-value]


def in_turns(function: Any, mode: Callable[[], Any]) -> Any:
    """A function in a context, and so each stretch of one whose code runs only when it is asked for. `mode` makes such a context:
    other threads and tasks may be inside of theirs at the same time."""

    @functools.wraps(function)
    def generator(*args: Any, **keywords: Any) -> Generator[Any, Any, Any]:
        inner = function(*args, **keywords)
        step, given = inner.send, None
        try:
            while True:
                with mode():
                    value = step(given)
                try:
                    given = yield value
                    step = inner.send
                except GeneratorExit:
                    with mode():
                        inner.close()
                    raise
                except BaseException as error:
                    step, given = inner.throw, error
        except StopIteration as end:
            return end.value

    @functools.wraps(function)
    def plain(*args: Any, **keywords: Any) -> Any:
        with mode():
            return function(*args, **keywords)

    @functools.wraps(function)
    async def coroutine(*args: Any, **keywords: Any) -> Any:
        with mode():
            return await function(*args, **keywords)

    @functools.wraps(function)
    async def asynchronous(*args: Any, **keywords: Any) -> AsyncGenerator[Any, Any]:
        inner = function(*args, **keywords)
        step, given = inner.asend, None
        try:
            while True:
                with mode():
                    value = await step(given)
                try:
                    given = yield value
                    step = inner.asend
                except GeneratorExit:
                    with mode():
                        await inner.aclose()
                    raise
                except BaseException as error:
                    step, given = inner.athrow, error
        except StopAsyncIteration:
            return

    if inspect.isasyncgenfunction(function):
        return asynchronous
    if inspect.iscoroutinefunction(function):
        return coroutine
    return generator if inspect.isgeneratorfunction(function) else plain


class no_grad(_GradMode):
    """Inside, operations aren't tracked, and variables may be written in place. Also a decorator.

    >>> import adjoint as ad
    >>> w = ad.variable(1.0)
    >>> with ad.no_grad():
    ...     w -= 0.25
    >>> w
    Tensor(0.75, requires_grad=True)
    """

    __slots__ = ()
    enabled = False


class enable_grad(_GradMode):
    """Inside, operations are tracked again. Also a decorator."""

    __slots__ = ()
    enabled = True


def is_grad_enabled() -> bool:
    """Whether operations on variables are tracked now."""
    return get_mode().grad


def set_deterministic(enabled: bool = True) -> None:
    """Whether equal computations give equal bits, whatever was computed before; off at first, and for all threads.

    Without it, a structure that comes back is compiled once that pays, and compiled code may round a sum, a sine or a
    matrix product in the last digits otherwise than NumPy. With it, graph, shapes, processor and versions alone decide
    how something is computed; what is small stays with NumPy, and what is met once is compiled too. What
    `ad.function` made before keeps its ways.

    Where a graph ends is asked before that: what more than 1,024 pending operations would compute, of more than four million
    elements, is computed in parts while more is recorded (2,048 operations of fewer elements), and where these end follows
    from all that was recorded since the process began. So a longer step than that, repeated in one process, may round otherwise;
    under `ad.jit` it is one graph.
    """
    tiers.deterministic = bool(enabled)


def is_deterministic() -> bool:
    """Whether `set_deterministic` is on."""
    return tiers.deterministic


class deterministically(ContextDecorator, Base):  # type: ignore[misc]
    """Inside, `set_deterministic` is on; also a decorator. Afterwards it is as it was, whatever interrupts: see `Setting`."""

    closed = True

    def __init__(self) -> None:
        self.befores: list[bool] = []
        restore = partial(setattr, tiers, "deterministic")
        self.close = partial(next, map(restore, iter(self.befores.pop, None)))

    def __enter__(self) -> None:
        before = tiers.deterministic
        try:
            self.befores.append(before)
            tiers.deterministic = True
        except BaseException:  # of a signal's handler
            tiers.deterministic = before
            raise
