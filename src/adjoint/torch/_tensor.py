"""PyTorch's tensor: a core tensor whose attributes, slices and in-place methods mean what they mean there.

Views, and what gives them, stand in `_view_tensors`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import tensors, tree
from adjoint.graph import Node, Variable, get_mode
from adjoint.primitives.core import LEAF, VERSION, cast, is_scalar, marker, ops, stop_gradient
from adjoint.tensors.conversion import as_node, dtype_of
from adjoint.tensors.gradients import backward
from adjoint.tensors.located import at_user
from adjoint.tensors.named import new, recorded, variable_of
from adjoint.tensors.tensor import Number
from adjoint.tensors.text import made_by

from ._aliasing import (
    note_same,
    turned,
    turned_layout,
    turns,
)
from ._errors import as_pytorchs
from ._now import written_now
from ._parts import RANKS, Extent, GradFn, Size, in_order, memory
from ._printing import printed
from ._writing import cut, fitted, in_steps, is_basic, selecting

__all__ = [
    "AS_PYTORCHS",
    "Parameter",
    "Size",
    "Tensor",
    "as_torch",
    "node_of",
    "torch_tensor",
]

Core = tensors.Tensor
Apply = Callable[[Node], Node]
Write = Callable[[Node, Node], Node]
Layout = Callable[[Any], Any]


class Tensor(Core):
    """A tensor with PyTorch's methods. Made by `torch.tensor`, `torch.zeros`, ... and by every operation on tensors."""

    __slots__ = ()

    if TYPE_CHECKING:  # `_legacy` has it

        def __new__(cls, *data: Any, size: Any = None, device: Any = None) -> Tensor: ...

    def __init__(self, *data: Any, size: Any = None, device: Any = None) -> None:
        """All is done by `__new__`: `Tensor(2, 3)` has that shape, `Tensor([1, 2])` these values, both in the default dtype."""

    __hash__ = object.__hash__

    if TYPE_CHECKING:  # `_view_tensors` has these, which give views

        def __getitem__(self, index: Any) -> Tensor: ...
        def detach(self) -> Tensor: ...

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

    # Derivatives ----------------------------------------------------------------------------------------------------------

    @property
    def grad(self) -> Any:
        """The gradient that `backward()` added up here; None before."""
        node = self.node
        variable = node.attributes if node.op is VERSION or node.op is LEAF else variable_of(node)
        found = None if variable is None else variable.grad
        return found if found is None or type(found) is Tensor else as_torch(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        node = self.node
        variable = node.attributes if node.op is VERSION or node.op is LEAF else variable_of(node)
        if value is not None:
            if value is self or not isinstance(value, Core) or value.node.type is not node.type:
                kind = value.node.type if isinstance(value, Core) else type(value).__name__
                given = "itself" if value is self else str(kind)
                raise RuntimeError(
                    f"grad: a tensor of {node.type!r} was given {given}; its gradient is one like it{at_user()}"
                )
            Core.grad.fset(self, value)  # type: ignore[attr-defined]
            if isinstance(value, Tensor):
                variable.grad = value  # type: ignore[union-attr]  # the tensor itself, to which others may write
        elif variable is not None:
            variable.grad = None

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

    def detach_(self) -> Tensor:
        """Cut this tensor from what it was computed from. Views that were made before go on being differentiated."""
        before = self.node
        if self.is_leaf:  # data that keeps its gradient
            Core.requires_grad_(self, False)
        else:
            self.node = stop_gradient(before)
        note_same(self, before, "detached")
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make it a leaf that is differentiated by, or data again, which keeps its `.grad`. Views that were made before stay what
        they were."""
        before = self.node
        try:
            Core.requires_grad_(self, requires_grad)
        except TypeError as error:
            raise as_pytorchs(error) from None
        if self.node is not before:
            note_same(self, before, "leaf")
        return self

    @property
    def retains_grad(self) -> bool:
        """Whether `backward()` stores the gradient of this computed tensor, since `retain_grad()` was called."""
        variable = variable_of(self.node)
        return not self.is_leaf and variable is not None and variable.tracked

    def clone(self, *, memory_format: Any = None) -> Tensor:
        """The same value as a tensor of its own, differentiated through."""
        return recorded(marker(self.node), _getframe(1), Tensor)

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the derivative to the `.grad` of every leaf. The graph is kept anyway, so `retain_graph` changes nothing."""
        if not self.node.tracked:
            raise RuntimeError(
                "backward: this tensor depends on nothing that requires a gradient; make the inputs to differentiate by with "
                f"requires_grad=True{at_user()}"
            )
        if gradient is None and self.node.type.dtype.kind == "c":
            raise RuntimeError(
                f"backward: a complex number needs its gradient; give it, or take .real or .abs(){at_user()}"
            )
        if inputs is None:
            try:
                backward(self.node, gradient, create_graph)
            except (ValueError, TypeError) as error:
                raise as_pytorchs(error) from None
            return
        chosen = [inputs] if isinstance(inputs, Core) else list(inputs)
        for x in chosen:
            if not x.is_leaf:
                Core.retain_grad(x)
        keep = {id(variable_of(x.node)) for x in chosen}
        passed = [v for v in _leaves_below(self.node) if id(v) not in keep]
        try:
            for variable in passed:
                variable.tracked = False
            Core.backward(self, gradient, create_graph)
        finally:
            for variable in passed:
                variable.tracked = True

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
        if isinstance(self, Parameter):
            return Parameter(self.data, self.requires_grad)
        made = self.detach()  # which shares memory, as in PyTorch
        return made.requires_grad_() if self.node.tracked else made  # a leaf, also of what was computed

    def __deepcopy__(self, memo: Any) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        made = memo[id(self)] = reclassed(Core.__deepcopy__(_plain(self), memo), type(self))
        gradient = None if isinstance(self, Parameter) else self.grad
        if gradient is not None and made.node.tracked:  # of a parameter it isn't kept, as in PyTorch
            made.grad = copy.deepcopy(gradient, memo)
        return made

    def __reduce__(self) -> Any:
        kind = Parameter if isinstance(self, Parameter) else Tensor
        return _rebuild, (kind, copy.copy(np.asarray(self.data.numpy())), self.requires_grad)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    # Reading and writing at an index --------------------------------------------------------------------------------------

    def __setitem__(self, index: Any, value: Any) -> None:
        if not (isinstance(value, (Core, np.ndarray)) or is_scalar(value)):
            raise TypeError(f"index: a {type(value).__name__} can't be written into a tensor{at_user()}")
        if (
            type(value) is not Tensor
            and isinstance(value, Tensor)
            and value._base is self
            and _is_there(self, index, value)
        ):
            return
        if not is_basic(index):
            index, then = in_steps(index, self.ndim)
            if then is not None:
                self[tuple([int(i) if isinstance(i, Core) else i for i in index])][then] = value
                return
        try:
            if type(self) is Tensor and written_now(self, index, value):
                return
            if isinstance(value, Core):
                value = fitted(value.node, self.node)
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

    def _as_view(self) -> Tensor:
        """The tensor; of one that shares another's memory, the view that it is."""
        return self

    def _replace(self, value: Any, operation: str) -> Tensor:
        """Write a value over all elements, cast and broadcast to them."""
        own = self.node.type
        node = cut(as_node(value, own.dtype), self.node)
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

    _added_to = True

    is_cuda = is_xpu = is_mps = is_meta = is_sparse = is_sparse_csr = is_quantized = is_mkldnn = is_nested = False
    is_cpu = True
    is_ipu = is_maia = is_mtia = is_vulkan = False

    def is_inference(self) -> bool:
        """False: inference mode leaves nothing behind in tensors."""
        return False


class Parameter(Tensor):
    """A tensor that is a parameter of the module that it is assigned to."""

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        """A leaf with the values of `data`."""
        source = torch_tensor([] if data is None else data)
        if requires_grad and not source.dtype.inexact:
            raise RuntimeError(
                f"Parameter: only floating and complex tensors have derivatives, not {source.dtype.name}{at_user()}"
            )
        made: Any = reclassed(Core.__deepcopy__(_plain(_cut(source)), {}), Parameter)
        if requires_grad != made.node.tracked:
            Core.requires_grad_(made, requires_grad)
        return made

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        """All is done by `__new__`."""


def _is_there(x: Tensor, index: Any, view: Any) -> bool:
    """Whether a view is the part that it is to be written over, as in `x[i] += 1`, whose second half is `x[i] = view`."""
    if turned or view._at is None or view._memory.holder is not None or x.node.tracked:
        return False
    return bool(view._at == selecting(x.node, index))


def _cut(x: Tensor) -> Tensor:
    plain = new(Tensor)
    plain.node = stop_gradient(x.node) if x.node.tracked else x.node
    return plain


# Making tensors -----------------------------------------------------------------------------------------------------------


AS_PYTORCHS: dict[type, type] = {}  # the core's named tuples, and PyTorch's in their place


def as_torch(x: Any) -> Any:
    """What the core gives, with its tensors as PyTorch's. They are fresh, so they change their class and stay what they are."""
    kind = type(x)
    if kind is Core or kind is Number:
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
        return AS_PYTORCHS.get(kind, kind)(*[as_torch(v) for v in x])
    return kind(as_torch(v) for v in x) if kind in (tuple, list) else x


def reclassed(x: Any, kind: type) -> Any:
    """A plain tensor as one of a class; views become tensors of their own."""
    x.__class__ = Parameter if issubclass(kind, Parameter) else Tensor
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
    return x if x.node.type.dtype is kind else recorded(cast(x.node, kind), _getframe(1), Tensor)


def _array_of(x: Any) -> Any:
    return x.numpy() if isinstance(x, Core) else x


def _leaves_below(node: Node) -> list[Variable]:
    """The variables whose leaves a node was computed from."""
    found, seen, stack = [], {node}, [node]
    while stack:
        x = stack.pop()
        if x.op in (LEAF, VERSION) and x.attributes is not None and x.attributes.tracked:
            found.append(x.attributes)
        for y in x.inputs:
            if y.tracked and y not in seen:
                seen.add(y)
                stack.append(y)
    return found


CPU: list[Any] = [None]  # the one device, set where devices are defined

__all__ += ["cast_tensor", "in_order", "reclassed"]
