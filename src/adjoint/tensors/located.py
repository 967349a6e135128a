"""Where the user is: the line that an operation is recorded for, and errors that name it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from sys import _getframe
from types import CodeType, FrameType
from typing import Any, TypeVar

from adjoint._setting import Setting
from adjoint.graph import MODE, Mode, Node, Scope, get_mode
from adjoint.graph.node import Located
from adjoint.primitives.core import ON_WIDENING

T = TypeVar("T")

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
NOT_THE_USERS = (PACKAGE, *[f"{os.sep}site-packages{os.sep}{name}{os.sep}" for name in ("numpy", "scipy")])


def user_frame(depth: int = 1) -> FrameType | None:
    """The nearest frame outside this package."""
    frame: FrameType | None = _getframe(depth)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


def at_user() -> str:
    """` (file.py:12)` for messages: the user's line, which is none of SciPy's or NumPy's in between."""
    frame: FrameType | None = _getframe(1)
    while frame is not None and any(part in frame.f_code.co_filename for part in NOT_THE_USERS):
        frame = frame.f_back
    return "" if frame is None else f" ({frame.f_code.co_filename}:{frame.f_lineno})"


def give_site(node: Node, frame: FrameType) -> None:
    """Note the user's frame as where a node was recorded, unless a scope knows better."""
    site = node.site
    if site is None:
        node.site = frame.f_code
        node.offset = frame.f_lasti
    elif type(site) is Scope and site.user:
        node.site = located(site, frame.f_code)
        node.offset = frame.f_lasti


_last = [Located(Scope("", None, 0, None, True), give_site.__code__)]


def located(scope: Scope, code: CodeType) -> Located:
    """Code inside a scope: for the operations of a module's function, which come one after the other, the same object.

    (Were they kept in the scope, each call of a module would leave a cycle behind.)
    """
    found = _last[0]
    if found[0] is not scope or found[1] is not code:
        _last[0] = found = Located(scope, code)
    return found


MISTAKES = (IndexError, ValueError, TypeError, OverflowError)


def explained(error: Exception, operation: str, *operands: Any) -> Exception:
    """An error about the user's input, with what its message lacks: the operation, the shapes, the user's line."""
    text = str(error)
    if operation not in text:
        text = f"{operation}: {text}"
    flat = [x for operand in operands for x in (operand if isinstance(operand, list) else [operand])]
    shapes = [str(x.shape) for x in flat if hasattr(x, "shape")]
    if shapes and not any(shape in text for shape in shapes):
        text += f"; given shape{'s' if len(shapes) > 1 else ''} {', '.join(shapes)}"
    frame = user_frame(2)
    if frame is not None:
        where = f" ({frame.f_code.co_filename}:{frame.f_lineno})"
        text = text.replace(where, "") + where
    return type(error)(text)


class PrecisionWarning(UserWarning):
    """Float64 data met a float32 network, which then computes in float64, several times slower. Given once, with the line.

    >>> import adjoint as ad
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ad.PrecisionWarning)  # or "error", to see how the program came there
    ...     (ad.variable([1.0, 2.0]) * ad.tensor([3.0, 4.0], dtype="float64")).dtype
    adjoint.float64
    """


def warn_of_widening() -> None:
    """Say that float64 data met float32 that is differentiated."""
    frame = user_frame(2)
    if frame is not None:
        warnings.warn_explicit(
            "float64 data meets a float32 tensor that is differentiated: from here on all is computed in float64, several times "
            "slower. Make the data float32, with ad.tensor(data, dtype='float32') or data.astype('float32'); or everything "
            "float64, with ad.set_default_dtype('float64') before the network is made. (This is said once.)",
            PrecisionWarning,
            frame.f_code.co_filename,
            frame.f_lineno,
            frame.f_globals.get("__name__", "__main__"),
        )


ON_WIDENING.append(warn_of_widening)


class recording_at_user(Setting[Mode]):
    """Give what is recorded inside the user's line as its site."""

    def __init__(self) -> None:
        super().__init__(MODE)

    def __enter__(self) -> None:
        outer = get_mode()
        frame = user_frame(2) if outer.site is None else None
        self.set(outer if frame is None else Mode(outer.grad, frame.f_code, frame.f_lasti, outer.outer))


def called_at_user(function: Callable[..., T], *arguments: Any) -> T:
    """What a function gives, with the user's line as the site of what it records."""
    outer = get_mode()
    frame = user_frame(2) if outer.site is None else None
    if frame is None:
        return function(*arguments)
    try:  # an interrupt comes after a call: the mode is set back wherever that is
        MODE.set(Mode(outer.grad, frame.f_code, frame.f_lasti, outer.outer))
        return function(*arguments)
    finally:
        MODE.set(outer)


def scope_for(outer: Mode, name: str, frame: FrameType | int, user: bool = False) -> Scope:
    """A named scope inside of what a mode says. `frame` is the user's, or how many frames to go up before looking for it."""
    site: Any = outer.site
    kind = type(site)
    code, offset, parent = None, 0, None
    if kind is CodeType:  # the user's line is known, and what calls may be the package's own
        code, offset = site, outer.offset
    else:
        if site is not None:
            parent = site if kind is Scope else site.scope
        if kind is Located:  # here, too
            code, offset = site.code, outer.offset
        elif parent is None or parent.user:  # else the outermost library scope already knows the user's line
            found: Any = _getframe(frame) if isinstance(frame, int) else frame
            if isinstance(frame, int) and found.f_code.co_filename.startswith(PACKAGE):
                found = user_frame(frame + 1)
            if found is not None:
                code, offset = found.f_code, found.f_lasti
    return Scope(name, code, offset, parent, user)


def enter_scope(name: str, frame: FrameType | int, user: bool = False) -> Any:
    """Start recording inside a named scope; give the token to `leave_scope`.

    `frame` is the user's, or how many frames to go up from here before looking for it.
    """
    outer = get_mode()
    scope = scope_for(outer, name, frame + 1 if isinstance(frame, int) else frame, user)
    try:
        token = MODE.set(Mode(outer.grad, scope, 0, outer.outer))
    except BaseException:  # of a signal's handler, right after
        MODE.set(outer)
        raise
    return token


leave_scope = MODE.reset


def recorded_inside(node: Node, scope: Any) -> bool:
    """Whether a node was recorded inside a scope, or in one that is inside it."""
    site = node.site
    at = site.scope if isinstance(site, Located) else site if isinstance(site, Scope) else None
    while at is not None:
        if at is scope:
            return True
        at = at.parent
    return False
