"""Where a value leaves the graph as a number of Python's or an array of NumPy's, and whether that may lose a derivative.

The rule: a tensor that depends on what is being differentiated by doesn't leave while the function runs (`float(x)`, `x.item()`,
`np.asarray(x)`, ... raise), unless to be printed, formatted, compared or plotted. Elsewhere a tensor that is tracked leaves
when it is asked to by name (`x.item()`, `x.numpy()`, `float(x)`), and doesn't when Python or NumPy would convert it unasked
(`math.sin(x)`, `np.array([x, x])`). Gradients switched off (`ad.no_grad()`) switch the rule off. The rule of a custom
operation may compute as it likes; what left is noted, so that differentiating its result by that raises.
"""

from __future__ import annotations

import dis
import importlib
import os
from collections.abc import Collection, Iterable
from contextvars import ContextVar
from sys import _getframe
from types import CodeType, FrameType
from typing import Any, Self

from adjoint._setting import Setting
from adjoint.graph import Node, get_mode
from adjoint.primitives.core import VERSION
from adjoint.primitives.custom import closed
from adjoint.tensors.located import PACKAGE, user_frame

__all__ = [
    "at_asker", "closed_by", "custom_code", "differentiating", "instead_of_scipys", "is_differentiating", "leave",
    "leave_unasked",
]  # fmt: skip


LIBRARIES = ("numpy", "scipy", "pandas", "xarray", "matplotlib")
STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
SITE_PACKAGES = tuple(os.path.join(STANDARD_LIBRARY, name) for name in ("site-packages", "dist-packages"))


class _Differentiated:
    """A function that is being differentiated by these nodes runs."""

    __slots__ = ("markers", "outer")

    def __init__(self, markers: Collection[Node], outer: Any) -> None:
        self.markers = markers
        self.outer = outer


class _Custom:
    """The user's code of a custom operation runs. `left` are the nodes whose values it has taken."""

    __slots__ = ("left", "outer")

    def __init__(self, outer: Any) -> None:
        self.left: dict[Node, None] = {}
        self.outer = outer


_running: ContextVar[_Differentiated | _Custom | None] = ContextVar("adjoint_leaving", default=None)


class differentiating(Setting["_Differentiated | _Custom | None"]):
    """Inside runs a function that is being differentiated by the markers: what depends on them doesn't leave."""

    def __init__(self, markers: Collection[Node]) -> None:
        super().__init__(_running)
        self.markers = markers

    def __enter__(self) -> None:
        self.set(_Differentiated(self.markers, _running.get()))


def is_differentiating() -> bool:
    """Whether a function that is being differentiated runs, or a custom operation's own code."""
    return _running.get() is not None


class custom_code(Setting["_Differentiated | _Custom | None"]):
    """Inside runs a custom operation's own code: values leave freely, and `left` notes the nodes that they belong to."""

    left: dict[Node, None]

    def __init__(self) -> None:
        super().__init__(_running)

    def __enter__(self) -> Self:
        inner = _Custom(_running.get())
        self.left = inner.left
        self.set(inner)
        return self


def closed_by(what: str, result: Node, sources: Iterable[Node]) -> Node:
    """What a custom operation's code has made, once more differentiable by everything but the nodes whose values it took."""
    wanted = list(dict.fromkeys(x for x in sources if x.tracked))
    if not wanted or not get_mode().grad:
        return result
    message = (
        f"{what} was computed from plain values (NumPy's arrays or Python's numbers), so it can't be "
        "differentiated again by what these came from. Write the rule on tensors, and leave to it the inputs and outputs "
        "themselves, or what is computed from them as tensors"
    )
    return closed(result, wanted, message)


def leave(node: Node, how: str) -> None:
    """Called for a tracked node whose value was asked for by name. Raises RuntimeError where a derivative would be lost."""
    state = _running.get()
    if state is not None and get_mode().grad and _is_differentiated(node, state) and not _only_read(_getframe(2)):
        raise RuntimeError(_complaint(node, how))


def leave_unasked(node: Node, how: str, frame: FrameType) -> None:
    """Called for a tracked node that is being converted, from a frame. Raises RuntimeError where a derivative would be lost."""
    if not get_mode().grad:
        return
    state = _running.get()
    if state is not None:
        if _is_differentiated(node, state) and not _only_read(frame):
            raise RuntimeError(_complaint(node, how))
        if _in_custom(state):
            return
    if _site(frame.f_code, frame.f_lasti) != "asked" and not _only_read(frame):
        raise RuntimeError(
            f"{how}: this tensor of shape {node.type.shape} is tracked, and {_OBJECT[how]} has no derivative. {_own_function()}; "
            f"where a plain value is meant, t.item() or t.numpy(){at_asker()}"
        )


_OBJECT = dict.fromkeys(("float()", "int()", "complex()"), "a number of Python's")
_OBJECT |= dict.fromkeys(("np.asarray()", "__dlpack__"), "an array outside of the graph")


def _complaint(node: Node, how: str) -> str:
    return (
        f"{how}: the function is being differentiated by what this tensor of shape {node.type.shape} depends on, and a value "
        f"that leaves the graph here would have no derivative. {_own_function()}; or wrap outside code in ad.host_call or "
        f"ad.custom_vjp, or say that a constant is meant: t.detach(){at_asker()}"
    )


# Modules of SciPy, and where functions of the same names are here.
SPACES = {
    "linalg": "linalg",
    "fft": "fft",
    "special": "special",
    "signal": "fft",
    "optimize": "scipy",
    "integrate": "scipy",
}


def _own_function() -> str:
    """What to call instead."""
    general = "Use adjoint's own functions (ad.sin for math.sin, ad.stack for np.array, a tensor to write into)"
    return instead_of_scipys() or general


def instead_of_scipys() -> str:
    """Where SciPy asked for the value, the function of the same name, if there is one."""
    found, frame = "", user_frame(2)
    while frame is not None:
        library, _, rest = str(frame.f_globals.get("__name__")).partition(".")
        space, name = rest.partition(".")[0], frame.f_code.co_name
        if library == "scipy":
            own = SPACES.get(space)
            if space == "stats":
                found = "scipy.stats takes arrays: distributions whose densities have derivatives are in ad.stats"
            elif own is not None and name in importlib.import_module(f"adjoint.{own}").__all__:
                found = f"scipy.{space}.{name} takes arrays: here it is ad.{own}.{name}, which has a derivative"
            elif space == "integrate" and name in importlib.import_module("adjoint").__all__:
                found = f"scipy.{space}.{name} takes arrays: here it is ad.{name}, which has a derivative"
        frame = frame.f_back
    return found


def at_asker() -> str:
    """` (file.py:12)` for messages: the user's line, which may have called a library that asked for the value."""
    found = frame = user_frame(2)
    while frame is not None:
        name, file = str(frame.f_globals.get("__name__")), frame.f_code.co_filename
        standard = file.startswith(STANDARD_LIBRARY) and not file.startswith(SITE_PACKAGES)
        if not standard and name.partition(".")[0] not in LIBRARIES and not file.startswith(PACKAGE):
            found = frame
            break
        frame = frame.f_back
    return "" if found is None else f" ({found.f_code.co_filename}:{found.f_lineno})"


def _is_differentiated(node: Node, state: Any) -> bool:
    """Whether a running function is being differentiated by something that the node depends on. The innermost custom
    operation takes note of the node instead, for its own rule says how its inputs are differentiated by."""
    markers: set[Node] = set()
    while state is not None:
        if type(state) is _Custom:
            state.left[node] = None
            break
        markers.update(state.markers)
        state = state.outer
    seen: set[Node] = set()
    stack = [node]
    while stack:
        x = stack.pop()
        if x in markers:
            return True
        if x not in seen and x.tracked and x.op is not VERSION:
            seen.add(x)
            stack += x.inputs
    return False


def _in_custom(state: Any) -> bool:
    while state is not None and type(state) is not _Custom:
        state = state.outer
    return state is not None


# Who asks -------------------------------------------------------------------------------------------------------------

READERS = (
    "numpy.testing", "matplotlib", "mpl_toolkits", "logging", "adjoint.plot", "adjoint.picture", "adjoint.debug",
    "adjoint.interop", "adjoint.train", "adjoint.cli",
)  # fmt: skip
_PASSED = ("numpy", "contextlib", "functools", "adjoint.tensors")
_CONVERSIONS = frozenset({"float", "int", "complex"})
_READING = frozenset(
    {"print", "str", "repr", "format", "isnan", "isfinite", "isinf", "isclose", "debug", "info", "warning", "error"}
)
_READING_OPERATIONS = ("COMPARE_OP", "CONTAINS_OP", "FORMAT_", "BUILD_STRING")

_sites: dict[int, tuple[CodeType, dict[int, str]]] = {}  # by id, since codes are compared by their contents


def _only_read(frame: FrameType | None) -> bool:
    """Whether what asks formats text, compares, plots or writes a report: no number of it comes back into a formula."""
    if frame is not None and _site(frame.f_code, frame.f_lasti) == "read":
        return True
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.startswith(READERS):
            return True
        if not name.startswith(_PASSED):
            return False
        frame = frame.f_back
    return False


def _site(code: CodeType, offset: int) -> str:
    """What an instruction does with the value: "asked" for `float(x)` written out, "read" where the value ends in text or in a
    comparison, else "". Worked out once for each place in a program."""
    held = _sites.get(id(code))
    if held is None:
        if len(_sites) >= 1024:
            _sites.clear()
        held = _sites[id(code)] = (code, {})
    found = held[1].get(offset)
    if found is None:
        instructions = list(dis.get_instructions(code))
        here = [x for x in instructions if x.offset <= offset][-1]  # it may be followed by an inline cache
        # in the library's own code, a conversion is one of what a user gave where a number was expected
        found = "" if code.co_filename.startswith(PACKAGE) else _use(here, instructions)
        held[1][offset] = found
    return found


def _use(here: dis.Instruction, instructions: list[dis.Instruction]) -> str:
    if here.opname == "BINARY_OP" and here.argrepr.startswith("%"):
        return "read"  # `text % values`: `number % tensor` would never ask for a number
    start, end = _span(here)
    for x in instructions:
        first, last = _span(x)
        if first <= start and end <= last and _reads(x, instructions):
            inside = [y for y in instructions if first <= _span(y)[0] and _span(y)[1] <= last]
            if not any(y.opname.startswith("STORE_") for y in inside):
                return "read"
    return "asked" if _calls(here, _CONVERSIONS, instructions) else ""


def _reads(x: dis.Instruction, instructions: list[dis.Instruction]) -> bool:
    return x.opname.startswith(_READING_OPERATIONS) or _calls(x, _READING, instructions)


def _calls(x: dis.Instruction, names: Collection[str], instructions: list[dis.Instruction]) -> bool:
    """Whether an instruction calls a function of such a name, which then begins where the call does."""
    return "CALL" in x.opname and any(
        y.opname.startswith("LOAD_") and isinstance(y.argval, str) and y.argval in names and _span(y)[0] == _span(x)[0]
        for y in instructions
    )


def _span(x: dis.Instruction) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the expression of an instruction begins and ends. Without columns (`-X no_debug_ranges`), the line has to do."""
    line, end_line, column, end_column = x.positions or (None, None, None, None)
    return (line or 0, column or 0), (end_line or line or 0, end_column or 0)
