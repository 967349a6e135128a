"""What PyTorch calls a view is a tensor of its own here, `View`, that keeps no value: it computes itself from its base, and
what is written to it is written to the base. So the base and all of its views agree, and derivatives go through as they do
through any other operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any, TypeVar

from adjoint.composites import indexing
from adjoint.graph import Calls, Node, Scope, get_mode, mode
from adjoint.primitives.core import DETACH, LEAF, VERSION, cast, marker, ops, stop_gradient
from adjoint.primitives.custom import custom
from adjoint.tensors.assignment import mapped, rebind
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import PACKAGE, at_user, give_site, user_frame
from adjoint.tensors.named import new, recorded
from adjoint.tensors.pending import count_pending, force_selection
from adjoint.tensors.surfaces import surface_of

from ._aliasing import (
    Memory,
    after_turns,
    before_turns,
    found_same,
    laid,
    memories,
    memory_of,
    note_turn,
    turned,
    turned_layout,
    turns,
)
from ._now import part_of, taken_now
from ._parts import memory, relaid
from ._tensor import Core, Parameter, Tensor, as_torch
from ._writing import in_steps, ints, is_basic, nodes, selecting

__all__ = [
    "SURFACE",
    "LeafView",
    "View",
    "bypassing",
    "conjugated",
    "flat_view",
    "following",
    "following_a_list",
    "itself",
    "part",
    "permuted",
    "reshaping",
    "turn",
    "view_of",
]

F = TypeVar("F", bound=Callable[..., Any])
Apply = Callable[[Node], Node]
Write = Callable[[Node, Node], Node]
Layout = Callable[[Any], Any]


class View(Tensor):
    """A tensor that is part of another one's memory, or all of it in another shape. Its class is called Tensor in print.

    `_write` says what the base becomes when the view is written to, `_lay` where its elements are in memory, `_seen` of
    which node of the base `_cached` was computed. `_turns` counts how often the base's axes had been changed in place by then.
    """

    __slots__ = (
        "_alone",
        "_apply",
        "_at",
        "_base",
        "_cached",
        "_changed",
        "_lay",
        "_memory",
        "_of_leaf",
        "_own",
        "_seen",
        "_tracked_write",
        "_turns",
        "_write",
    )

    _alone: bool  # made untracked, of what is tracked
    _changed: bool  # written to, through any name, since it was made, while nothing was tracked
    _of_leaf: bool  # made of a view that was a leaf already
    _base: Tensor | None
    _apply: Apply
    _at: tuple[Any, ...] | None  # the index in the base that this view is at, where it is one
    _write: Write | None
    _lay: Layout | None
    _memory: Memory
    _own: Tensor  # of a leaf: what is tracked
    _seen: Node | None
    _cached: Node
    _tracked_write: bool
    _turns: int

    @property
    def node(self) -> Node:
        """What the base gives now."""
        base = self._base if self._memory.holder is None else self._below()
        below = base.node  # type: ignore[union-attr]
        if below is self._seen:
            return self._cached
        return self._anew(self._below(), below)

    @node.setter
    def node(self, node: Node) -> None:
        self._put(node)

    def _anew(self, base: Tensor, below: Node) -> Node:
        """What the base gives, which names another node now."""
        if not self._knows(base, below):
            if not self._tracked_write and self._cached.tracked:
                raise RuntimeError(
                    "a tensor changed after something that is differentiated had been written to its .data or .detach(): the "
                    f"derivative of what stands there would be lost; write to a clone(){at_user()}"
                )
            with mode(grad=True):  # whoever asks first
                self._cached = _seen_through(self._apply, before_turns(base, self._turns, below))
            if self._cached.tracked and (self._alone or (type(base) is LeafView and not self._of_leaf)):
                self._cached = stop_gradient(self._cached)
            self._seen, self._changed = below, not self._cached.tracked
        return self._cached

    def _put(self, node: Node) -> None:
        """Write to the base what this view is to be."""
        base = self._below()
        if self._write is None:
            raise RuntimeError(
                "in-place: several elements of this view are one element of the tensor below; clone() it before you write "
                f"to it{at_user()}"
            )
        below = before_turns(base, self._turns, base.node)
        written = after_turns(base, self._turns, self._write(below, node))
        self._seen = None
        if self._tracked_write:
            base._assign(written, "in-place operation on a view")
        else:
            _write_untracked(base, stop_gradient(written) if written.tracked else written)
            if node.tracked:  # it is this tensor's own, and the base has its value
                self._cached, self._seen = node, base.node

    def _assign(self, node: Node, operation: str) -> None:
        """Write to the base. What `x.data` is given, of the leaf's own type, needs none of the checks."""
        if self._apply is stop_gradient and self._cached.op is DETACH and not node.tracked and not turned:
            base = self._below()
            below = base.node
            if (
                type(base) in WITHOUT_BASE
                and below.type is node.type
                and below.tracked
                and (below.op is LEAF or below.op is VERSION)
            ):
                self._seen = None
                rebind(base, node)
                return
        Tensor._assign(self, node, operation)

    def _below(self) -> Tensor:
        """The base: another tensor that has this view's memory, if the one that it was made of has other memory by now."""
        holder = self._memory.holder
        if holder is not None and holder is not self._base:
            self._base = holder
        assert self._base is not None
        return self._base

    def _knows(self, base: Tensor, below: Node) -> bool:
        """Whether the base's value is the one that this view saw, whatever its history is now."""
        how = found_same(base, self._seen, below)
        anew = how == "leaf" and self._changed  # PyTorch makes those anew that were written to
        return how is not None and not anew

    def _layout(self) -> Any:
        return turned_layout(self, turns(self)) if turns(self) else laid(self._below(), self._turns, self._lay)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make it a leaf, which still is part of the memory of the tensor below."""
        if requires_grad and not self.node.tracked:
            own = new(Tensor)
            own.node = self.node
            Tensor.requires_grad_(own, True)
            self._own = own
            self._at = None  # it is more than a part now
            self.__class__ = LeafView
        else:
            Tensor.requires_grad_(self, requires_grad)
        return self

    def detach_(self) -> Tensor:
        """A view can't be cut from its base in place; an untracked one is cut anyway."""
        if not self.node.tracked:
            return self
        raise RuntimeError(f"detach_: a view can't be detached in place; use detach(){at_user()}")


WITHOUT_BASE = frozenset({Tensor, Parameter})


class LeafView(View):
    """A view that is a leaf: it has a gradient of its own, and shares its values with the tensor below."""

    __slots__ = ()

    @property
    def node(self) -> Node:
        """The leaf, with what the base gives now."""
        base, own = self._below(), self._own
        below = base.node
        if below is not self._seen:
            with mode(grad=False):
                rebind(own, self._apply(before_turns(base, self._turns, below)))
            self._seen = below
        return own.node

    @node.setter
    def node(self, node: Node) -> None:
        base, own = self._below(), self._own
        self._put(
            stop_gradient(node)
        )  # first: if something pending is evaluated there, this leaf is read, and made of the base
        rebind(own, node)
        self._seen = base.node

    def _assign(self, node: Node, operation: str) -> None:
        frozen = not self._own.node.tracked
        if frozen and node.tracked and get_mode().grad:
            self._end()
            self._assign(node, operation)
            return
        if get_mode().grad:
            Core._assign(self._own, node, operation)  # it raises: a leaf isn't written to while it is tracked
        self.node = node

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make it a view like others again, or data that keeps its gradient, or a leaf once more."""
        if requires_grad or self._own.grad is not None:
            Core.requires_grad_(self._own, requires_grad)
        else:
            self._end()
        return self

    def _end(self) -> None:
        self.__class__ = View  # type: ignore[assignment]
        self._seen = None


SURFACE = surface_of(Tensor, Parameter, View, Memory, memories, turned)


def following(f: F, of_views: bool = True) -> F:
    """A function that looks at no value and draws none: what it records follows from the kinds of its arguments. So calls of a
    kind that was met before are native code's (`graph.known_calls`). Without `of_views`, what it gives of a view follows from how
    that lies in memory, too."""
    calls = Calls(SURFACE, looks=True, of_views=of_views)

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        again = calls.again
        if again is None:
            return f(*args, **keywords)
        given = (*args, tuple(keywords), *keywords.values()) if keywords else args
        known = again(*given)
        return calls.learn(given, f(*args, **keywords), _getframe(1)) if known is None else known

    return called  # type: ignore[return-value]


def following_a_list(f: F) -> F:
    """As `following`: a function of a list or tuple of tensors, and of more."""
    calls = Calls(SURFACE, looks=True)

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        again = calls.again
        if again is None or not args or type(args[0]) not in (list, tuple):
            return f(*args, **keywords)
        given = (*args[0], *args[1:], tuple(keywords), *keywords.values())
        known = again(*given)
        return calls.learn(given, f(*args, **keywords), _getframe(1)) if known is None else known

    return called  # type: ignore[return-value]


def _seen_through(apply: Apply, below: Node) -> Node:
    """What a view of a node is: never the node itself if that is tracked, for a view is no leaf."""
    node = apply(below)
    return marker(node) if node is below and node.tracked else node


def _write_untracked(base: Tensor, node: Node) -> None:
    """What writing through `.data` or `.detach()` does to the tensor itself: a computed one keeps its derivative."""
    own = base.node
    whole = base
    while isinstance(whole, View) and not whole.is_leaf:
        whole = whole._below()._as_view()
    if not own.tracked or whole.is_leaf:
        with mode(grad=False):
            base._assign(node, "in-place operation on .data")
        return
    with mode(grad=True):
        base.node = custom([node], [own], _as_before, "data", True, _as_before)


def _as_before(cotangents: list[Node | None], node: Node) -> list[Node | None]:
    """The rule of a computed tensor with other values: the derivatives of what it was computed as."""
    return cotangents


def view_of(
    base: Any,
    apply: Apply,
    write: Write | None,
    layout: Layout | None,
    frame: FrameType | None = None,
    tracked_write: bool = True,
    depth: int = 2,
) -> Tensor:
    """A view of a tensor: what it is of the base's node, and what the base becomes when it is written to. The user is so many
    frames up from here, or farther, unless his `frame` is given."""
    if not isinstance(base, Tensor):
        base = as_torch(base)
    below = base.node
    node = apply(below)
    tracked = below.tracked
    if tracked and node is below:  # a view is no leaf
        node = marker(node)
    view = new(View)
    view._base, view._apply, view._write, view._lay, view._at = base, apply, write, layout, None
    view._tracked_write = tracked_write
    view._memory = memories.get(id(base)) or memory_of(base)
    view._turns = turns(base) if turned else 0
    view._alone, view._changed = tracked and not get_mode().grad, False
    view._of_leaf = type(base) is LeafView
    view._cached, view._seen = node, below
    if node is not below:
        site = node.site
        if site is None or (type(site) is Scope and site.user):
            if frame is None:
                frame = _getframe(depth)
                if frame.f_code.co_filename.startswith(PACKAGE):
                    frame = user_frame(depth) or frame
            give_site(node, frame)
        if not node.tracked:
            count_pending(node)
    return view


def turn(x: Tensor, forth: Apply, back: Apply, layout: Layout, operation: str) -> Tensor:
    """Change a tensor's axes in place: `forth` of its node, and `back` again."""
    node = x.node
    if get_mode().grad and node.tracked and x.is_leaf:
        Core._assign(x, node, operation)  # it raises: a leaf isn't written to while it is tracked
    first: Callable[[], Any]
    view = x._as_view()
    if isinstance(view, View):
        apply, write = view._apply, view._write
        view._at = None
        first = functools.partial(laid, view._below(), view._turns, view._lay)
        view._apply = lambda below: forth(apply(below))
        view._write = None if write is None else lambda below, value: write(below, back(value))
        view._seen = None
    else:
        first = functools.partial(memory, node.type.shape)
        with mode(grad=True):
            changed = forth(node)
        if x.is_leaf:
            rebind(x, changed)
        else:
            x.node = changed
    note_turn(x, first, forth, back, layout)
    return x


How = tuple[Apply, Write, Layout]


@functools.lru_cache(1 << 10)
def _permuting(axes: tuple[int, ...]) -> How:
    back = tuple([axes.index(i) for i in range(len(axes))])
    return (
        lambda node: ops.permute_dims(node, axes),
        lambda _, value: ops.permute_dims(value, back),
        lambda a: a.transpose(axes),
    )


def permuted(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The axes in another order, as a view."""
    return view_of(x, *_permuting(axes), depth=3)


@functools.lru_cache(1 << 10)
def reshaping(own: tuple[int, ...], shape: tuple[int, ...]) -> How:
    """How a tensor of a shape is seen in another one, is written to through that, and lies."""
    return (
        lambda node: ops.reshape(node, shape),
        lambda _, value: ops.reshape(value, own),
        lambda a: relaid(a, shape),
    )


def flat_view(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The elements in another shape, as a view."""
    return view_of(x, *reshaping(x.node.type.shape, shape), depth=3)


def part(x: Any, plain: Any, frame: FrameType | None = None) -> Tensor:
    """The part at an index of plain ints, slices, None and an ellipsis, as a view."""
    view = view_of(
        x,
        lambda node: part_of(node, plain),
        lambda node, value: indexing.setitem(node, plain, value, force_selection),
        lambda a: _part(a, plain),
        frame,
        depth=3,
    )
    view._at = plain if type(plain) is tuple else (plain,)  # type: ignore[attr-defined]
    return view


# What gives views ---------------------------------------------------------------------------------------------------------


def _T(self: Any) -> Tensor:
    """The axes reversed, as a view."""
    return permuted(self, tuple(range(self.ndim))[::-1])


def _mT(self: Any) -> Tensor:
    """The last two axes exchanged, as a view."""
    if self.ndim < 2:
        raise RuntimeError(f"mT: expected at least two axes, got shape {tuple(self.shape)}{at_user()}")
    return permuted(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))


def _H(self: Any) -> Tensor:
    """A matrix conjugated and transposed."""
    if self.ndim not in (0, 2):
        raise RuntimeError(f"H: expected a matrix, got shape {tuple(self.shape)}{at_user()}")
    return self.mH if self.ndim else self


def _mH(self: Any) -> Tensor:
    """The last two axes exchanged, and conjugated, as a view."""
    return conjugated(self.mT)


def conjugated(x: Any) -> Tensor:
    """The complex conjugate, as a view; the tensor itself if it is real."""
    return x if x.dtype.kind != "c" else view_of(x, ops.conj, lambda _, part: ops.conj(part), lambda a: a)


def _real(self: Any) -> Tensor:
    """The real part, as a view; the tensor itself if it is real."""
    if self.dtype.kind != "c":
        return self
    return view_of(self, ops.real, lambda old, part: ops.add(cast(part, old.dtype), _times_i(ops.imag(old))), None)


def _set_real(self: Any, value: Any) -> None:
    self.real._replace(value, "real")


def _imag(self: Any) -> Tensor:
    """The imaginary part of a complex tensor, as a view."""
    if self.dtype.kind != "c":
        raise RuntimeError(f"imag: only complex tensors have it, this one is {self.dtype.name}{at_user()}")
    return view_of(
        self,
        ops.imag,
        lambda old, part: ops.add(cast(ops.real(old), old.dtype), _times_i(cast(part, old.dtype))),
        None,
    )


def _set_imag(self: Any, value: Any) -> None:
    self.imag._replace(value, "imag")


def _data(self: Any) -> Tensor:
    """An untracked view: what is written to it is written to the tensor, without being recorded."""
    return view_of(self, stop_gradient, bypassing, itself, tracked_write=False)


def itself(x: Any) -> Any:
    return x


def _detach(self: Any) -> Tensor:
    """The same value, untracked, as a view."""
    return self.data


def _getitem(self: Any, index: Any) -> Tensor:
    if is_basic(index):
        return part(self, ints(index))
    own = self.node
    found = taken_now(own, index)
    if found is not None:
        made = new(Tensor)
        made.node = found
        return made
    at = selecting(own, index)
    if at is not None:
        return _part_at_nodes(self, at) if any(type(i) is Node for i in at) else part(self, at)
    index, then = in_steps(index, own.type.ndim)
    if then is not None or is_basic(index):
        first = _getitem(self, index)
        return first if then is None else _getitem(first, then)
    node = mapped("index", indexing.getitem, own, nodes(index), force_selection)
    return recorded(node, user_frame(2) or _getframe(1), Tensor)


def _part_at_nodes(x: Any, at: tuple[Any, ...]) -> Tensor:
    """The part at an index that holds nodes of integers, as a view."""
    anywhere = tuple([0 if type(i) is Node else i for i in at])
    view = view_of(
        x,
        lambda node: mapped("index", indexing.getitem, node, at, force_selection),
        lambda node, value: indexing.setitem(node, at, value, force_selection),
        lambda a: _part(a, anywhere),
        depth=3,
    )
    view._at = at  # type: ignore[attr-defined]
    return view


def bypassing(old: Node, value: Node) -> Node:
    return value


def _part(a: Any, index: Any) -> Any:
    """A part of an array, as an array even if it is one element."""
    several = index if type(index) is tuple else (index,)
    return a[several if Ellipsis in several else (*several, ...)]


def _times_i(x: Node) -> Node:
    return ops.multiply(cast(x, x.dtype if x.dtype.kind == "c" else _complex(x.dtype)), 1j)


def _complex(dtype: Any) -> Any:
    return dtype_of("complex128" if dtype.name == "float64" else "complex64")


# They are put onto the class here, for a view is a tensor itself.
for _name, _method in {
    "T": property(following(_T)), "mT": property(following(_mT)), "H": property(_H), "mH": property(_mH),
    "real": property(_real, _set_real), "imag": property(_imag, _set_imag), "data": property(following(_data)),
    "detach": following(_detach), "__getitem__": _getitem,
}.items():  # fmt: skip
    setattr(Tensor, _name, _method)
View.__name__ = View.__qualname__ = "Tensor"
