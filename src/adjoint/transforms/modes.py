"""Switching gradient tracking on and off, and equal bits for equal computations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ContextDecorator
from functools import partial
from typing import Any, TypeVar

from adjoint._setting import Base, Setting
from adjoint.execution.tiers import tiers
from adjoint.graph import MODE, Mode, get_mode

__all__ = ["deterministically", "enable_grad", "is_deterministic", "is_grad_enabled", "no_grad", "set_deterministic"]

F = TypeVar("F", bound=Callable[..., Any])
MODES = (Mode(False), Mode(True))


class _GradMode(Setting[Mode]):
    """A context manager, and a decorator, that sets whether operations are tracked in this thread or task."""

    enabled: bool
    variable = MODE

    def __enter__(self) -> None:
        outer = get_mode()
        # never mutated; outside of the library's own functions there is no site
        self.set(MODES[self.enabled] if outer.site is None else Mode(self.enabled, outer.site, outer.offset))

    def __call__(self, function: F) -> F:
        enabled = self.enabled

        @functools.wraps(function)
        def wrapped(*args: Any, **keywords: Any) -> Any:
            outer = get_mode()
            try:  # from before the mode is set: Ctrl-C may come right after
                MODE.set(Mode(enabled, outer.site, outer.offset))
                return function(*args, **keywords)
            finally:
                MODE.set(outer)

        return wrapped  # type: ignore[return-value]


class no_grad(_GradMode):
    """Inside, operations aren't tracked, and variables may be written in place. Also a decorator.

    >>> import adjoint as ad
    >>> w = ad.variable(1.0)
    >>> with ad.no_grad():
    ...     w -= 0.25
    >>> w
    Tensor(0.75, requires_grad=True)
    """

    enabled = False


class enable_grad(_GradMode):
    """Inside, operations are tracked again. Also a decorator."""

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
