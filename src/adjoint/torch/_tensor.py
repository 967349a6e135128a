"""PyTorch's tensor: a core tensor whose attributes, slices and in-place methods mean what they mean there.

What PyTorch calls a view is a tensor of its own here, `View`, that keeps no value: it computes itself from its base, and
what is written to it is written to the base. So the base and all of its views agree, and derivatives go through as they do
through any other operation.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import Any

import numpy as np

from adjoint import tensors, tree
from adjoint.composites import indexing
from adjoint.graph import Node, get_mode, mode
from adjoint.primitives.core import cast, is_scalar, marker, ops, stop_gradient
from adjoint.tensors.assignment import mapped, rebind
from adjoint.tensors.conversion import as_node, dtype_of
from adjoint.tensors.located import at_user, give_site
from adjoint.tensors.named import new, variable_of
from adjoint.tensors.pending import count_pending, force_selection
from adjoint.tensors.text import made_by

from ._aliasing import (
    after_turns,
    before_turns,
    found_same,
    laid,
    note_same,
    note_turn,
    turned,
    turned_layout,
    turns,
)
from ._errors import as_pytorchs
from ._now import part_of, written_now
from ._parts import RANKS, Extent, GradFn, Size, in_order, memory, relaid
from ._printing import printed
from ._writing import fitted, ints, is_basic, nodes

__all__ = [
    "Parameter",
    "Size",
    "Tensor",
    "View",
    "as_torch",
    "flat_view",
    "node_of",
    "torch_tensor",
    "view_of",
    "wrapped",
]

Core = tensors.Tensor
Apply = Callable[[Node], Node]
Write = Callable[[Node, Node], Node]
Layout = Callable[[Any], Any]


class Tensor(Core):
    """A tensor with PyTorch's methods. Made by `torch.tensor`, `torch.zeros`, ... and by every operation on tensors."""

    __slots__ = ()

    def __new__(cls, *data: Any) -> Tensor:
        """`Tensor(2, 3)` has that shape and no values that matter (zeros); `Tensor([1, 2])` has these as float32."""
        if len(data) == 1 and not isinstance(data[0], int):
            return cast_tensor(torch_tensor(data[0]), "float32")
        shape = data if data else (0,)
        made = new(Tensor)
        made.node = ops.zeros(_type(shape, "float32"))
        return made

    def __init__(self, *data: Any) -> None:
        """All is done by `__new__`."""

    __hash__ = object.__hash__

    # What it is -----------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes of the axes."""
        return Size(self.node.type.shape)

    @property
    def size(self) -> Any:
        """`x.size()` is the shape, `x.size(dim)` the size of one axis."""
        kind = self.node.type
        found = Extent(kind.size)
        found.shape = Size(kind.shape)
        return found

    @property
    def device(self) -> Any:
        """Always the CPU."""
        return CPU[0]

    @property
    def T(self) -> Tensor:
        """The axes reversed, as a view."""
        return permuted(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged, as a view."""
        if self.ndim < 2:
            raise RuntimeError(f"mT: expected at least two axes, got shape {tuple(self.shape)}{at_user()}")
        return permuted(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))

    @property
    def H(self) -> Tensor:
        """A matrix conjugated and transposed."""
        if self.ndim not in (0, 2):
            raise RuntimeError(f"H: expected a matrix, got shape {tuple(self.shape)}{at_user()}")
        return self.mH if self.ndim else self

    @property
    def mH(self) -> Tensor:
        """The last two axes exchanged, and conjugated."""
        turned = self.mT
        return turned if self.dtype.kind != "c" else wrapped(ops.conj(turned.node), _getframe(1))

    @property
    def real(self) -> Tensor:
        """The real part, as a view; the tensor itself if it is real."""
        if self.dtype.kind != "c":
            return self
        return view_of(self, ops.real, lambda old, part: ops.add(cast(part, old.dtype), _times_i(ops.imag(old))), None)

    @real.setter
    def real(self, value: Any) -> None:
        self.real._replace(value, "real")

    @property
    def imag(self) -> Tensor:
        """The imaginary part of a complex tensor, as a view."""
        if self.dtype.kind != "c":
            raise RuntimeError(f"imag: only complex tensors have it, this one is {self.dtype.name}{at_user()}")
        return view_of(
            self,
            ops.imag,
            lambda old, part: ops.add(cast(ops.real(old), old.dtype), _times_i(cast(part, old.dtype))),
            None,
        )

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag._replace(value, "imag")

    # Derivatives ----------------------------------------------------------------------------------------------------------

    @property
    def grad(self) -> Any:
        """The gradient that `backward()` added up here; None before."""
        return as_torch(Core.grad.fget(self))  # type: ignore[attr-defined]

    @grad.setter
    def grad(self, value: Any) -> None:
        Core.grad.fset(self, value)  # type: ignore[attr-defined]

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded for derivatives."""
        return self.node.tracked

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self.requires_grad_(flag)

    @property
    def grad_fn(self) -> Any:
        """The operation that made a tracked tensor; None for leaves."""
        node = made_by(self.node)
        return None if not node.tracked or self.is_leaf else GradFn(node)

    @property
    def data(self) -> Tensor:
        """An untracked view: what is written to it is written to the tensor, without being recorded."""
        return view_of(self, stop_gradient, _bypassing, lambda a: a, tracked_write=False)

    @data.setter
    def data(self, value: Any) -> None:
        Core.data.fset(self, value)  # type: ignore[attr-defined]

    def detach(self) -> Tensor:
        """The same value, untracked, as a view."""
        return self.data

    def detach_(self) -> Tensor:
        """Cut this tensor from what it was computed from. Views that were made before go on being differentiated."""
        before = self.node
        self.node = stop_gradient(before)
        note_same(self, before, "detached")
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make it a leaf that is differentiated by, or data again. Views that were made before stay what they were."""
        before = self.node
        try:
            Core.requires_grad_(self, requires_grad)
        except TypeError as error:
            raise as_pytorchs(error) from None
        if self.node is not before:
            note_same(self, before, "leaf")
        return self

    def clone(self, *, memory_format: Any = None) -> Tensor:
        """The same value as a tensor of its own, differentiated through."""
        return wrapped(marker(self.node), _getframe(1))

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the derivative to the `.grad` of every leaf. The graph is kept anyway, so `retain_graph` changes nothing."""
        if inputs is None:
            try:
                Core.backward(self, gradient, create_graph)
            except (ValueError, TypeError) as error:
                raise as_pytorchs(error) from None
            return
        chosen = [inputs] if isinstance(inputs, Core) else list(inputs)
        before = {id(v): (v, v.grad) for v in _variables_below(self.node)}
        Core.backward(self, gradient, create_graph)
        keep = {id(variable_of(x.node)) for x in chosen}
        for key, (variable, gradient_before) in before.items():
            if key not in keep:
                variable.grad = gradient_before

    def register_hook(self, hook: Callable[[Tensor], Any]) -> Any:
        """Call `hook(gradient)` when a reverse pass has the gradient of this tensor; what it returns, unless None, replaces it."""  # noqa: E501
        return Core.register_hook(self, lambda gradient: hook(as_torch(gradient)))

    # Values ---------------------------------------------------------------------------------------------------------------

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """The value as a NumPy array that shares memory. It is read-only: writing to it raises, instead of reaching the tensor."""  # noqa: E501
        if self.node.tracked and not force:
            raise RuntimeError(
                f"numpy: this tensor requires a gradient, which ends here; write t.detach().numpy(){at_user()}"
            )
        return Core.numpy(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return as_torch(Core.__array_ufunc__(self, ufunc, method, *inputs, **keywords))

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        """NumPy's functions see arrays, as in PyTorch."""
        return function(*tree.map(_array_of, args), **tree.map(_array_of, keywords))

    def __repr__(self) -> str:
        text = printed(self)
        return f"Parameter containing:\n{text}" if isinstance(self, Parameter) else text

    def __format__(self, spec: str) -> str:
        if self.ndim or isinstance(self, Parameter):
            return Core.__format__(self, spec)
        return format(self.item(), spec)

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter([self[i] for i in range(self.node.type.shape[0])])

    def __copy__(self) -> Any:
        return reclassed(Core.__copy__(_plain(self)), type(self))

    def __deepcopy__(self, memo: Any) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        made = memo[id(self)] = reclassed(Core.__deepcopy__(_plain(self), memo), type(self))
        return made

    def __reduce__(self) -> Any:
        kind = Parameter if isinstance(self, Parameter) else Tensor
        return _rebuild, (kind, copy.copy(np.asarray(self.data.numpy())), self.is_leaf and self.requires_grad)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    # Reading and writing at an index --------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Tensor:
        if is_basic(index):
            plain = ints(index)
            return view_of(
                self,
                lambda x: part_of(x, plain),
                lambda x, value: indexing.setitem(x, plain, value, force_selection),
                lambda a: _part(a, plain),
                _getframe(1),
            )
        return wrapped(mapped("index", indexing.getitem, self.node, nodes(index), force_selection), _getframe(1))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not (isinstance(value, (Core, np.ndarray)) or is_scalar(value)):
            raise TypeError(f"index: a {type(value).__name__} can't be written into a tensor{at_user()}")
        try:
            if type(self) is Tensor and written_now(self, index, value):
                return
            if isinstance(value, Core):
                value = fitted(value.node, self.node, index)
            Core.__setitem__(self, index, value)
        except (ValueError, TypeError) as error:
            raise as_pytorchs(error) from None

    # What needs one number ------------------------------------------------------------------------------------------------

    def item(self) -> Any:
        """The one element as Python's number."""
        try:
            return Core.item(self)
        except ValueError as error:
            raise as_pytorchs(error) from None

    def __bool__(self) -> bool:
        try:
            return Core.__bool__(self)
        except ValueError as error:
            raise as_pytorchs(error) from None

    # In place -------------------------------------------------------------------------------------------------------------

    def _replace(self, value: Any, operation: str) -> Tensor:
        """Write a value over all elements, cast and broadcast to them."""
        own = self.node.type
        node = as_node(value, own.dtype)
        if node.dtype is not own.dtype:
            node = cast(node, own.dtype)
        if node.shape != own.shape:
            node = ops.broadcast_to(node, own.shape)
        self._assign(node, operation)
        return self

    def _assign(self, node: Node, operation: str) -> None:
        if not get_mode().grad and self._base is None and self.node.tracked and not self.is_leaf:
            raise RuntimeError(
                f"{operation}: what is written to a computed tensor under no_grad would reach its value and not its "
                f"derivative; write to it outside of no_grad, or to its detach().clone(){at_user()}"
            )
        if node.tracked and variable_of(node) is not None:
            node = marker(node)  # the value of a variable, not the variable
        own = self.node.type.dtype
        if node.type.dtype is not own and RANKS[node.type.dtype.kind] == RANKS[own.kind] == RANKS["i"]:
            node = cast(node, own)
        Core._assign(self, node, operation)

    def _layout(self) -> Any:
        """An array of the tensor's shape and strides, counted in elements. It is never read: it stands for the memory."""
        return turned_layout(self, turns(self)) if turns(self) else memory(self.node.type.shape)

    _base: Tensor | None = None

    is_cuda = is_xpu = is_mps = is_meta = is_sparse = is_quantized = is_mkldnn = is_nested = is_inference = False


def _bypassing(old: Node, value: Node) -> Node:
    return value


class View(Tensor):
    """A tensor that is part of another one's memory, or all of it in another shape. Its class is called Tensor in print.

    `_write` says what the base becomes when the view is written to, `_lay` where its elements are in memory, `_seen` of
    which node of the base `_cached` was computed. `_turns` counts how often the base's axes had been changed in place by then.
    """

    __slots__ = (
        "_alone",
        "_apply",
        "_base",
        "_cached",
        "_changed",
        "_lay",
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
    _write: Write | None
    _lay: Layout | None
    _own: Tensor  # of a leaf: what is tracked
    _seen: Node | None
    _cached: Node
    _tracked_write: bool
    _turns: int

    @property
    def node(self) -> Node:
        """What the base gives now."""
        base = self._base
        assert base is not None
        below = base.node
        if below is not self._seen and not self._knows(base, below):
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

    @node.setter
    def node(self, node: Node) -> None:
        self._put(node)

    def _put(self, node: Node) -> None:
        """Write to the base what this view is to be."""
        base = self._base
        assert base is not None
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

    def _knows(self, base: Tensor, below: Node) -> bool:
        """Whether the base's value is the one that this view saw, whatever its history is now."""
        how = found_same(base, self._seen, below)
        anew = how == "leaf" and self._changed  # PyTorch makes those anew that were written to
        return how is not None and not anew

    def _layout(self) -> Any:
        assert self._base is not None
        return turned_layout(self, turns(self)) if turns(self) else laid(self._base, self._turns, self._lay)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make it a leaf, which still is part of the memory of the tensor below."""
        if requires_grad and not self.node.tracked:
            own = new(Tensor)
            own.node = self.node
            Tensor.requires_grad_(own, True)
            self._own = own
            self.__class__ = LeafView
        else:
            Tensor.requires_grad_(self, requires_grad)
        return self

    def detach_(self) -> Tensor:
        """A view can't be cut from its base in place; an untracked one is cut anyway."""
        if not self.node.tracked:
            return self
        raise RuntimeError(f"detach_: a view can't be detached in place; use detach(){at_user()}")


class LeafView(View):
    """A view that is a leaf: it has a gradient of its own, and shares its values with the tensor below."""

    __slots__ = ()

    @property
    def node(self) -> Node:
        """The leaf, with what the base gives now."""
        base, own = self._base, self._own
        assert base is not None
        below = base.node
        if below is not self._seen:
            with mode(grad=False):
                rebind(own, self._apply(before_turns(base, self._turns, below)))
            self._seen = below
        return own.node

    @node.setter
    def node(self, node: Node) -> None:
        base, own = self._base, self._own
        assert base is not None
        rebind(own, node)
        self._put(stop_gradient(node))
        self._seen = base.node

    def _assign(self, node: Node, operation: str) -> None:
        if get_mode().grad:
            Core._assign(self._own, node, operation)  # it raises: a leaf isn't written to while it is tracked
        self.node = node

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make it a view like others again."""
        if not requires_grad:
            self.__class__ = View  # type: ignore[assignment]
            self._seen = None
        return self


def _seen_through(apply: Apply, below: Node) -> Node:
    """What a view of a node is: never the node itself if that is tracked, for a view is no leaf."""
    node = apply(below)
    return marker(node) if node is below and node.tracked else node


def _write_untracked(base: Tensor, node: Node) -> None:
    """What writing through `.data` or `.detach()` does to the tensor itself."""
    if base.node.tracked and not base.is_leaf:
        raise RuntimeError(
            "in-place: what is written through .data or .detach() of a computed tensor would reach its value and not its "
            f"derivative; write to the tensor itself, or to a clone(){at_user()}"
        )
    with mode(grad=False):
        base._assign(node, "in-place operation on .data")


class Parameter(Tensor):
    """A tensor that is a parameter of the module that it is assigned to."""

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        """A leaf with the values of `data`."""
        source = torch_tensor([] if data is None else data)
        made: Any = reclassed(Core.__deepcopy__(_plain(_cut(source)), {}), Parameter)
        if requires_grad != made.node.tracked:
            Core.requires_grad_(made, requires_grad)
        return made

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        """All is done by `__new__`."""


def _cut(x: Tensor) -> Tensor:
    plain = new(Tensor)
    plain.node = stop_gradient(x.node) if x.node.tracked else x.node
    return plain


# Making tensors -----------------------------------------------------------------------------------------------------------


def wrapped(node: Node, frame: FrameType) -> Tensor:
    """A tensor for a node just recorded, with the line that asked for it."""
    give_site(node, frame)
    if not node.tracked and type(node.type) is not tuple:
        count_pending(node)
    tensor = new(Tensor)
    tensor.node = node
    return tensor


def view_of(
    base: Any,
    apply: Apply,
    write: Write | None,
    layout: Layout | None,
    frame: FrameType | None = None,
    tracked_write: bool = True,
) -> Tensor:
    """A view of a tensor: what it is of the base's node, and what the base becomes when it is written to."""
    base = as_torch(base)
    view = new(View)
    view._base, view._apply, view._write, view._lay, view._tracked_write = base, apply, write, layout, tracked_write
    view._turns = turns(base) if turned else 0
    below = base.node
    view._alone, view._changed, view._of_leaf = below.tracked and not get_mode().grad, False, type(base) is LeafView
    view._cached, view._seen = _seen_through(apply, below), below
    node = view._cached
    if node is not below:
        give_site(node, frame or _getframe(2))
        if not node.tracked:
            count_pending(node)
    return view


def turn(x: Tensor, forth: Apply, back: Apply, layout: Layout, operation: str) -> Tensor:
    """Change a tensor's axes in place: `forth` of its node, and `back` again."""
    node = x.node
    if get_mode().grad and node.tracked and x.is_leaf:
        Core._assign(x, node, operation)  # it raises: a leaf isn't written to while it is tracked
    first: Callable[[], Any]
    if isinstance(x, View) and x._base is not None:
        apply, write = x._apply, x._write
        first = functools.partial(laid, x._base, x._turns, x._lay)
        x._apply = lambda below: forth(apply(below))
        x._write = None if write is None else lambda below, value: write(below, back(value))
        x._seen = None
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


def permuted(x: Tensor, axes: tuple[int, ...], frame: FrameType | None = None) -> Tensor:
    """The axes in another order, as a view."""
    return view_of(
        x,
        lambda node: ops.permute_dims(node, axes),
        lambda _, value: ops.permute_dims(value, tuple([axes.index(i) for i in range(len(axes))])),
        lambda a: a.transpose(axes),
        frame,
    )


def flat_view(x: Tensor, shape: tuple[int, ...], frame: FrameType | None = None) -> Tensor:
    """The elements in another shape, as a view."""
    own = tuple(x.shape)
    return view_of(
        x,
        lambda node: ops.reshape(node, shape),
        lambda _, value: ops.reshape(value, own),
        lambda a: relaid(a, shape),
        frame,
    )


def as_torch(x: Any) -> Any:
    """What the core gives, with its tensors as PyTorch's. They are fresh, so they change their class and stay what they are."""
    kind = type(x)
    if kind is Core:
        x.__class__ = Tensor
        return x
    if isinstance(x, Tensor) or not isinstance(x, (Core, tuple, list, dict)):
        return x
    if isinstance(x, Core):  # an alias of the core's
        plain = new(Tensor)
        plain.node = x.node
        return plain
    if isinstance(x, dict):
        return {k: as_torch(v) for k, v in x.items()} if kind is dict else x
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return kind(*[as_torch(v) for v in x])
    return kind(as_torch(v) for v in x) if kind in (tuple, list) else x


def reclassed(x: Any, kind: type) -> Any:
    """A plain tensor as one of a class; views become tensors of their own."""
    x.__class__ = Tensor if kind in (View, LeafView, Core) else kind
    return x


def _plain(x: Any) -> Any:
    """A core tensor of the same node."""
    plain = new(Core)
    plain.node = x.node
    return plain


def _rebuild(kind: type, array: Any, tracked: bool) -> Any:
    made = reclassed(tensors.functions.tensor(array), kind)
    return made.requires_grad_(True) if tracked else made


def node_of(x: Any) -> Node:
    """The node of a tensor or of data."""
    return x.node if isinstance(x, Core) else as_node(x)


def torch_tensor(data: Any, dtype: Any = None) -> Tensor:
    """A tensor of data; a tensor as it is, but for its dtype."""
    if isinstance(data, Core):
        found = data if isinstance(data, Tensor) else as_torch(data)
        return found if dtype is None or found.dtype is dtype else cast_tensor(found, dtype)
    return as_torch(tensors.functions.tensor(data, dtype=dtype))


def cast_tensor(x: Tensor, dtype: Any) -> Tensor:
    """A tensor as another dtype; itself if it has it."""
    kind = dtype_of(dtype)
    return x if x.node.type.dtype is kind else wrapped(cast(x.node, kind), _getframe(1))


def _part(a: Any, index: Any) -> Any:
    """A part of an array, as an array even if it is one element."""
    several = index if type(index) is tuple else (index,)
    return a[several if Ellipsis in several else (*several, ...)]


def _array_of(x: Any) -> Any:
    return x.numpy() if isinstance(x, Core) else x


View.__name__ = View.__qualname__ = "Tensor"


def _type(shape: Any, dtype: str) -> Any:
    return as_node(np.empty(shape, dtype)).type


def _times_i(x: Node) -> Node:
    return ops.multiply(cast(x, x.dtype if x.dtype.kind == "c" else _complex(x.dtype)), 1j)


def _complex(dtype: Any) -> Any:
    return dtype_of("complex128" if dtype.name == "float64" else "complex64")


def _variables_below(node: Node) -> list[Any]:
    found, seen, stack = [], {node}, [node]
    while stack:
        x = stack.pop()
        variable = variable_of(x)
        if variable is not None and variable.tracked:
            found.append(variable)
        for y in x.inputs:
            if y.tracked and y not in seen:
                seen.add(y)
                stack.append(y)
    return found


CPU: list[Any] = [None]  # the one device, set where devices are defined

__all__ += ["cast_tensor", "in_order", "permuted", "reclassed", "turn"]
