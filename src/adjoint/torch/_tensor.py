"""PyTorch's tensor: a core tensor whose attributes, slices and in-place methods mean what they mean there.

What PyTorch calls a view is a tensor of its own here, `View`, that keeps no value: it computes itself from its base, and
what is written to it is written to the base. So the base and all of its views agree, and derivatives go through as they do
through any other operation.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from adjoint import tensors
from adjoint.composites import indexing
from adjoint.graph import Node, mode
from adjoint.primitives.core import cast, marker, ops, stop_gradient
from adjoint.tensors.assignment import mapped
from adjoint.tensors.conversion import as_node, dtype_of
from adjoint.tensors.located import at_user, give_site
from adjoint.tensors.named import new, variable_of
from adjoint.tensors.pending import count_pending, force_selection
from adjoint.tensors.text import describe, made_by

from ._now import part_of, written_now
from ._parts import Extent, GradFn, Size, in_order, memory, relaid

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
        """Cut this tensor from what it was computed from."""
        self.node = stop_gradient(self.node)
        return self

    def clone(self, *, memory_format: Any = None) -> Tensor:
        """The same value as a tensor of its own, differentiated through."""
        return wrapped(marker(self.node), _getframe(1))

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the derivative to the `.grad` of every leaf. The graph is kept anyway, so `retain_graph` changes nothing."""
        if inputs is None:
            Core.backward(self, gradient, create_graph)
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
        return Core.numpy(self)

    def __repr__(self) -> str:
        text = describe(self)
        kind = "Parameter containing:\n" if isinstance(self, Parameter) else ""
        return f"{kind}t{text[1:]}".replace("dtype=", "dtype=torch.")

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
        if _is_basic(index):
            plain = _ints(index)
            return view_of(
                self,
                lambda x: part_of(x, plain),
                lambda x, value: indexing.setitem(x, plain, value, force_selection),
                lambda a: a[plain],
                _getframe(1),
            )
        return wrapped(mapped("index", indexing.getitem, self.node, _nodes(index), force_selection), _getframe(1))

    def __setitem__(self, index: Any, value: Any) -> None:
        if type(self) is Tensor and written_now(self, index, value):
            return
        if isinstance(value, Core):
            value = _fitted(value.node, self.node, index)
        Core.__setitem__(self, index, value)

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

    def _layout(self) -> Any:
        """An array of the tensor's shape and strides, counted in elements. It is never read: it stands for the memory."""
        return memory(self.node.type.shape)

    _base: Tensor | None = None

    is_cuda = is_xpu = is_mps = is_meta = is_sparse = is_quantized = is_mkldnn = is_nested = is_inference = False


def _bypassing(old: Node, value: Node) -> Node:
    return value


class View(Tensor):
    """A tensor that is part of another one's memory, or all of it in another shape."""

    __slots__ = ("_apply", "_base", "_cached", "_lay", "_seen", "_tracked_write", "_write")

    _base: Tensor | None
    _apply: Apply
    _write: Write | None
    _lay: Layout | None
    _seen: Node | None
    _cached: Node
    _tracked_write: bool

    @property
    def node(self) -> Node:
        """What the base gives now."""
        base = self._base
        if base is None:
            return self._cached
        below = base.node
        if below is not self._seen:
            self._cached = self._apply(below)
            self._seen = below
        return self._cached

    @node.setter
    def node(self, node: Node) -> None:
        base = self._base
        if base is None:
            self._cached = node
            return
        if self._write is None:
            raise RuntimeError(
                "in-place: several elements of this view are one element of the tensor below; clone() it before you write "
                f"to it{at_user()}"
            )
        below = base.node
        if self._tracked_write:
            base._assign(self._write(below, node), "in-place operation on a view")
        else:
            _write_untracked(base, self._write(below, node))
        self._seen = None

    def _layout(self) -> Any:
        if self._base is None:
            return memory(self.node.type.shape)
        below = self._base._layout()
        return None if self._lay is None or below is None else self._lay(below)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make it a leaf of its own, which is no view any more."""
        if requires_grad != self.node.tracked:
            self._cached, self._base = self.node, None
            Core.requires_grad_(self, requires_grad)
        return self

    def detach_(self) -> NoReturn:
        """A view can't be cut from its base in place."""
        raise RuntimeError(f"detach_: a view can't be detached in place; use detach(){at_user()}")


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
    below = base.node
    view._cached, view._seen = apply(below), below
    node = view._cached
    if node is not below:
        give_site(node, frame or _getframe(2))
        if not node.tracked:
            count_pending(node)
    return view


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
    x.__class__ = Tensor if kind is View or kind is Core else kind
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


def _is_basic(index: Any) -> bool:
    """Whether an index takes a view: of ints, slices, None and an ellipsis alone."""
    for item in index if type(index) is tuple else (index,):
        kind = type(item)
        if kind is int or kind is slice or item is None or item is Ellipsis or isinstance(item, np.integer):
            continue
        return False
    return True


def _ints(index: Any) -> Any:
    """A basic index whose slices are bounded by plain ints."""
    if type(index) is tuple:
        return tuple([_ints(i) for i in index])
    if type(index) is slice and any(isinstance(v, Core) for v in (index.start, index.stop, index.step)):
        return slice(*(int(v) if isinstance(v, Core) else v for v in (index.start, index.stop, index.step)))
    return index


def _nodes(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple([i.node if isinstance(i, Core) else _ints(i) for i in index])
    return index.node if isinstance(index, Core) else index


def _fitted(value: Node, own: Node, index: Any) -> Any:
    """A value with the dtype of the tensor that it is written into, and without leading axes of size one too many."""
    if value.dtype is not own.dtype:
        value = cast(value, own.dtype)
    while value.ndim > own.ndim and value.shape[0] == 1:
        value = ops.reshape(value, value.shape[1:])
    return _of_node(value)


def _of_node(node: Node) -> Core:
    found = new(Core)
    found.node = node
    return found


CPU: list[Any] = [None]  # the one device, set where devices are defined

__all__ += ["cast_tensor", "in_order", "permuted", "reclassed"]
