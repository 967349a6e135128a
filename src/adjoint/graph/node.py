"""The expression graph: nodes, their types, and the modes under which they are recorded.

A `Node` is one primitive applied to inputs. It never changes what it means: evaluation may fill in its value, and an
untracked node then forgets its inputs, but no value is ever replaced. Names that can be rebound are tensors, one layer
up. Nothing here points from an input to its consumers, so graphs are free of cycles and freed by reference counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextvars import ContextVar
from numbers import Integral
from types import CodeType
from typing import Any

from adjoint._setting import Setting
from adjoint._tuples import NamedTuple
from adjoint.dtypes import DType
from adjoint.graph.primitive import Primitive

Shape = tuple[int, ...]


class ArrayType:
    """The shape and dtype of an array. Equal types are almost always the same object, so `is` is the fast comparison.

    `code` is a number no other type ever gets; a plan's key holds it in place of shape and dtype.
    """

    __slots__ = ("code", "computes", "dtype", "inexact", "ndim", "real_inexact", "shape", "size", "zero")

    def __init__(self, shape: Shape, dtype: DType) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ndim = len(shape)
        self.inexact = dtype.inexact
        self.computes = dtype.inexact and not dtype.narrow  # not with numbers of 16 bits
        if dtype.narrow and not NARROW:
            NARROW.append(dtype)
        self.real_inexact = dtype.kind == "f"
        size: Any = 1
        for n in shape:
            size *= n
        if type(size) is not int and not isinstance(size, Integral):  # a tensor would be in every later sum
            raise TypeError(f"a shape is made of integers, got {shape}")
        self.size = size if hasattr(size, "sheet") else int(size)
        self.code = next(_codes)
        self.zero: Node | None = None  # the constant 0 of this type, made when first asked for

    def __repr__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


# Whether there are arrays of 16-bit floating numbers: until one is made no operation looks for them.
NARROW: list[DType] = []
# What records an operation among whose inputs or results they are (see `primitives.narrow`); None: it isn't one.
WIDENED: list[Callable[[Primitive, tuple[Node, ...], Any, Any], Node | None]] = []

_codes = itertools.count()
MAX_INTERNED = 1 << 16


def array_type(shape: Shape, dtype: DType) -> ArrayType:
    """The type with this shape and dtype."""
    try:
        found = dtype.types.get(shape)
    except TypeError:  # extents that are followed have no hash: see `compiler.extents`
        return _followed(shape, dtype)
    if found is None:
        if any([hasattr(n, "sheet") for n in shape]):
            return _followed(shape, dtype)
        if len(dtype.types) >= MAX_INTERNED:
            dtype.types.clear()  # older types stay valid: comparisons fall back from identity to contents
        found = dtype.types[shape] = ArrayType(shape, dtype)
    return found


def _followed(shape: Shape, dtype: DType) -> ArrayType:
    """The type with a shape that follows from extents. All on the sheet on which these stand are compared, so that here, too,
    types are equal that are the same, and no others."""
    sheet: Any = next((n.sheet for n in shape if hasattr(n, "sheet")), None)
    if sheet is None:
        raise TypeError(f"a shape is made of integers, got {shape}")
    known: list[ArrayType] = sheet.types.setdefault((dtype, len(shape)), [])
    for found in known:
        if found.shape == shape:
            return found
    known.append(ArrayType(shape, dtype))
    return known[-1]


class Scope:
    """A composite function or a module being recorded: its name, where it was called, and the scope around that.

    `user` says that the code inside is the user's own, so that its lines are worth remembering too.
    """

    __slots__ = ("name", "offset", "parent", "site", "user")

    def __init__(self, name: str, site: CodeType | None, offset: int, parent: Scope | None, user: bool) -> None:
        self.name = name
        self.site = site
        self.offset = offset
        self.parent = parent
        self.user = user


class Located(NamedTuple):
    """The user's code inside a scope."""

    scope: Scope
    code: CodeType


Site = CodeType | Scope | Located | None


class Origin(NamedTuple):
    """Where a node was recorded: the user's file, line and function, and the names of the scopes, outermost first."""

    file: str
    line: int
    function: str
    scopes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else "unknown"


class Mode:
    """What recording looks up: whether gradients are tracked, and the site to give to nodes made inside the library. A block that
    switches gradients on or off ends by going back to `outer` of the mode there is (see `transforms.modes`): where a mode takes
    another one's place, for a while, that is the other one's. `within` are the modes of such blocks, if they are made already,
    with gradients off and on."""

    __slots__ = ("grad", "offset", "outer", "site", "within")

    def __init__(self, grad: bool, site: Site, offset: int, outer: Mode | None) -> None:
        self.grad = grad
        self.site = site
        self.offset = offset
        self.outer = self if outer is None else outer
        self.within: tuple[Mode, Mode] | None = None


def _outermost() -> Mode:
    """The mode outside of all blocks, with those of two blocks inside of each other."""
    base = Mode(True, None, 0, None)
    base.within = Mode(False, None, 0, base), Mode(True, None, 0, base)
    for mode in base.within:
        mode.within = Mode(False, None, 0, mode), Mode(True, None, 0, mode)
    return base


OUTERMOST = _outermost()
MODE: ContextVar[Mode] = ContextVar("adjoint_mode", default=OUTERMOST)
get_mode = MODE.get


class Variable:
    """The owner of a gradient: what a leaf's versions share. `grad` and `hooks` are whatever the tensor layer stores there. The
    gradient of a table that is `sparse` is kept as the rows that a step uses. `asked` are conditions on its value by which Python
    chose: see `tensors.conditions`."""

    __slots__ = ("asked", "grad", "hooks", "name", "sparse", "tracked")

    def __init__(self, name: str | None = None, tracked: bool = True) -> None:
        self.name = name
        self.tracked = tracked
        self.sparse = False
        self.grad: Any = None
        self.hooks: Any = None
        self.asked: tuple[Any, ...] = ()


class Node:
    """One primitive applied to inputs. Compared and hashed by identity.

    `value` is None (pending), an ndarray, a tuple of them (several outputs), or `Kept`, a value that evaluation left
    for the reverse pass. `site` and `offset` are the code object and instruction offset that recorded it: see `origin`.
    `number` is its place in the order of nodes that evaluation numbered last: see `execution.canonical`.
    """

    __slots__ = ("attributes", "inputs", "number", "offset", "op", "site", "tracked", "type", "value")

    def __init__(
        self,
        op: Primitive,
        inputs: tuple[Node, ...],
        attributes: Any,
        type: Any,
        site: Site,
        offset: int,
        tracked: bool,
        value: Any = None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.attributes = attributes
        self.type = type
        self.site = site
        self.offset = offset
        self.tracked = tracked
        self.value = value
        self.number = 0

    @property
    def shape(self) -> Shape:
        return self.type.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> DType:
        return self.type.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return self.type.ndim  # type: ignore[no-any-return]

    @property
    def origin(self) -> Origin:
        """Where the user recorded this node."""
        return origin_of(self.site, self.offset)

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.type}>"


def place_of(site: Site, offset: int) -> tuple[CodeType | None, int, tuple[str, ...]]:
    """Where in the user's code a site is, and its scopes' names, outermost first: equal for what is recorded there again."""
    names: list[str] = []
    scope: Scope | None = None
    code: CodeType | None = None
    if isinstance(site, Located):
        scope, code = site
    elif isinstance(site, Scope):
        scope = site
    else:
        code = site
    while scope is not None:
        names.append(scope.name)
        if code is None:
            code, offset = scope.site, scope.offset
        scope = scope.parent
    return code, offset, tuple(reversed(names))


def origin_of(site: Site, offset: int) -> Origin:
    """The user's line of what was recorded at a site."""
    code, offset, names = place_of(site, offset)
    if code is None:
        return Origin("", 0, "", names)
    return Origin(code.co_filename, line_of(code, offset), code.co_name, names)


def line_of(code: CodeType, offset: int) -> int:
    """The source line of the instruction at a byte offset."""
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return line
    return code.co_firstlineno


class Kept:
    """A value that evaluation kept because the reverse pass will read it."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array


def record(op: Primitive, inputs: tuple[Node, ...], attributes: Any, type: Any) -> Node:
    """A node of the operation, tracked if an input is, gradients are on and the result can have one."""
    if NARROW and not op.moves:
        made = WIDENED[0](op, inputs, attributes, type)
        if made is not None:
            return made
    mode = get_mode()
    tracked = False
    if mode.grad and (type.__class__ is tuple or type.inexact):
        for x in inputs:
            if x.tracked:
                tracked = True
                break
    return Node(op, inputs, attributes, type, mode.site, mode.offset, tracked)


class mode(Setting[Mode]):
    """Record under another mode: gradients on or off (None: as they are), and a site for the nodes made inside."""

    def __init__(self, grad: bool | None = None, site: Site = None, offset: int = 0) -> None:
        super().__init__(MODE)
        self.given = grad, site, offset

    def __enter__(self) -> Mode:
        outer = get_mode()
        grad, site, offset = self.given
        if grad is None:
            grad = outer.grad
        if site is None:
            site, offset = outer.site, outer.offset
        inner = Mode(grad, site, offset, outer.outer)
        self.set(inner)
        return inner
