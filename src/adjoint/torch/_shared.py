"""Tensors that were given the memory of others: `nn.Parameter(t)`, `x.data = t`, `x.set_(t)`.

Such a tensor is what a view beside it is, and what is written to it is written through that. Once nobody else holds the other
tensor, nobody can tell, and it is a plain tensor again, which everything is fast for.
"""

from __future__ import annotations

import weakref
from sys import _getframe
from typing import Any

from adjoint import tracing
from adjoint._references import COUNTED_IN_LIST, reference_counts
from adjoint.graph import Node
from adjoint.primitives.core import stop_gradient
from adjoint.tensors.hooks import inherit_hooks
from adjoint.tensors.located import at_user
from adjoint.tensors.named import new

from ._aliasing import give_other_memory, memory_of, turned_layout, turns
from ._names import METHODS
from ._parts import memory
from ._storages import Lying, Storage, deep_copy, place_in
from ._tensor import Core, Parameter, Tensor
from ._view_tensors import LeafView, View, bypassing, itself

__all__ = ["Shared", "give_memory_of", "lay_in", "leave_memory"]

_views: dict[int, tuple[weakref.ref[Any], View]] = {}  # by the addresses of the tensors that share
_slot: Any = Core.bare_node


def give_memory_of(x: Tensor, other: Tensor) -> None:
    """Let a tensor lie in the memory of another one, which has its values and type."""
    view: Any = other.data
    if x.node.tracked or x.grad is not None:  # a leaf stays the one that it is, with its gradient
        view._own = new(Tensor)
        view._own.node, view._at = x.node, None
        view.__class__ = LeafView
    table, key = _views, id(x)

    def forget(gone: Any) -> None:  # it holds the table: globals are gone before the last tensors
        if key in table and table[key][0] is gone:
            del table[key]

    _views[key] = weakref.ref(x, forget), view
    x.__class__ = SharedParameter if isinstance(x, Parameter) else SharedTensor


def _end(x: Any) -> View:
    """Make a tensor that shares memory a plain one with its value. What it was until then is the view that is given."""
    view = _views.pop(id(x))[1]
    _ = view.node
    x.__class__ = Parameter if isinstance(x, Parameter) else Tensor
    _slot.__set__(x, _slot.__get__(view._own) if isinstance(view, LeafView) else view._cached)
    return view


def _is_held(view: View) -> bool:
    """Whether anybody but this view sees the memory that it lies in."""
    below: Any = view
    while True:
        bases = [below._below()]
        if reference_counts(bases)[0] > COUNTED_IN_LIST + 1:  # that of the view below which it is
            return True
        below = bases.pop()._as_view()
        if not isinstance(below, View):
            return False


class Shared:
    """What tensors that share another's memory have in place of a node of their own."""

    __slots__ = ()

    @property
    def node(self) -> Node:
        """What the memory holds now."""
        view = _views[id(self)][1]
        if not _is_held(view) and (tracing.active() is None or _is_unseen(view)):
            _end(self)
            return self.node
        return view.node

    @node.setter
    def node(self, node: Node) -> None:
        _views[id(self)][1].node = node

    @property
    def _base(self) -> Any:
        _ = self.node  # which may end it
        return _views[id(self)][1]._below() if isinstance(self, Shared) else None

    def _as_view(self) -> View:
        return _views[id(self)][1]

    def _assign(self, node: Node, operation: str) -> None:
        self._as_view()._assign(node, operation)

    def _layout(self) -> Any:
        return turned_layout(self, turns(self)) if turns(self) else self._as_view()._layout()

    def detach_(self) -> Any:
        """Cut it from what it was computed from; a leaf is data again."""
        view = self._as_view()
        if isinstance(view, LeafView):
            view.requires_grad_(False)
        else:
            view.detach_()
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Make it a leaf that is differentiated by, or data again."""
        self._as_view().requires_grad_(requires_grad)
        return self

    __deepcopy__ = deep_copy


def _is_unseen(view: View) -> bool:
    """Whether the function that is traced hasn't read a view yet, which then still is of the node from before."""
    base = view._below()
    return not isinstance(base, (View, Shared)) and _slot.__get__(base) is view._seen


class SharedTensor(Shared, Tensor):
    """A tensor that lies in another one's memory."""

    __slots__ = ()


class SharedParameter(Shared, Parameter):
    """A parameter that lies in another tensor's memory."""

    __slots__ = ()


def _parameter(cls: type, data: Any = None, requires_grad: bool = True) -> Parameter:
    """A leaf with the values of `data`, in its memory if it is a tensor."""
    made = _copied(cls, data, requires_grad)
    if isinstance(data, Tensor) and tracing.active() is None:
        give_memory_of(made, data)
    return made


_copied: Any = Parameter.__new__
_shown: Any = Tensor.data


def _set_data(self: Any, value: Any) -> None:
    """Give a tensor the memory of another one, or of a copy of an array: views that were made before keep theirs. What adjoint
    itself assigns, as an optimizer does, is written where the tensor lies."""
    if value is self or (isinstance(value, View) and value._apply is stop_gradient and value._below() is self):
        return  # `x.data += 1` has written already
    if _getframe(1).f_globals.get("__name__", "").startswith("adjoint."):
        self._put_data(value)
    else:
        lay_in(self, value)


def lay_in(x: Any, value: Any) -> None:
    """Give a tensor other memory: that of a tensor, or of a copy of an array."""
    tracked = x.node.tracked
    if tracked and not x.is_leaf:
        raise RuntimeError(
            "data: a computed tensor would get another value and keep its derivative; assign to its name, or to a "
            f"detach(){at_user()}"
        )
    before = x.node.attributes
    leave_memory(x)
    base: Any = x._base if isinstance(x, View) else x
    if isinstance(value, Core) and value.dtype is x.dtype and value.shape != x.shape and not isinstance(x, LeafView):
        base.node = stop_gradient(value.node) if value.node.tracked else value.node
        if tracked:  # of another shape, so with no gradient yet
            Core.requires_grad_(base, True)
            inherit_hooks(base.node.attributes, before)
    else:
        x._put_data(value)
    if isinstance(value, Tensor) and value.node.type is base.node.type and tracing.active() is None:
        give_memory_of(base, value)


def _set_(self: Any, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Any:
    """Let a tensor lie in the memory of another one, or at a place of a storage."""
    if self.node.tracked:
        raise RuntimeError(f"set_: a tensor that requires a gradient can't be given other memory in place{at_user()}")
    if isinstance(source, Storage):
        owner = source._owner
        shape = (int(owner.node.type.size) - storage_offset,) if size is None else tuple(size)
        steps = memory(shape).strides if stride is None else tuple(stride)
        source = place_in(owner, Lying(shape, steps, storage_offset))
    elif size is not None:
        source = source.as_strided(size, memory(tuple(size)).strides if stride is None else stride, storage_offset)
    if source is None:
        source = self.new_empty(0)
    if source.dtype is not self.dtype:
        raise RuntimeError(f"set_: {source.dtype.name} memory for a {self.dtype.name} tensor{at_user()}")
    if source is not self:
        lay_in(self, source)
    return self


def leave_memory(x: Any) -> None:
    """Leave a tensor's memory to the views that were made of it, and give it memory of its own."""
    if isinstance(x, Shared):
        give_other_memory(x, _end(x))
        return
    if not isinstance(x, View):
        holder = new(Tensor)
        holder.node = x.node
        give_other_memory(x, holder)
        return
    apart = new(type(x))
    for name in View.__slots__:
        if hasattr(x, name):
            setattr(apart, name, getattr(x, name))
    if isinstance(x, LeafView):
        apart._own = new(Tensor)
        apart._own.node = x._own.node
    base = new(Tensor)
    base.node = stop_gradient(x.node) if x.node.tracked else x.node
    give_other_memory(x, apart)
    x._base, x._memory = base, memory_of(base)
    x._turns, x._seen, x._alone, x._of_leaf, x._at = 0, None, False, False, None
    x._tracked_write, x._apply, x._write, x._lay = True, itself, bypassing, itself


for _kind in (SharedTensor, SharedParameter):
    _kind.__name__ = _kind.__qualname__ = _kind.__name__.removeprefix("Shared")
Parameter.__new__ = _parameter  # type: ignore[method-assign]
Tensor.data = _shown.setter(_set_data)  # type: ignore[method-assign]
METHODS["set_"] = _set_
