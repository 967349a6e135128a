"""What a tensor is at bottom: a name for a node."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar, overload

from adjoint.dtypes import DType
from adjoint.execution import evaluation_lock
from adjoint.graph import Node, Scope, Variable
from adjoint.primitives.core import FULL, IDENTITY, LEAF, VERSION, marker
from adjoint.primitives.custom import CUSTOM, hooks_of
from adjoint.tensors.located import at_user, give_site
from adjoint.tensors.pending import count_pending

if TYPE_CHECKING:
    from adjoint.tensors.tensor import Number, Tensor

__all__ = ["Named", "Shape", "own", "owner_of", "recorded", "tensors_are", "variable_of", "wrap"]

Shape = tuple[int, ...]
T = TypeVar("T")

new = object.__new__


class Count(int):
    """A number of elements. To call it, as PyTorch's `x.size(0)` does, is an error that says what to write."""

    __slots__ = ()

    def __call__(self, axis: int | None = None) -> NoReturn:
        instead = "x.shape" if axis is None else f"x.shape[{axis}]"
        raise TypeError(f"size is the number of elements, {int(self)}, not a method; here it is {instead}{at_user()}")


class Named:
    """A name for a node, and what the node says of itself: the base of the parts that `Tensor` is made of."""

    __slots__ = ("__weakref__", "_marks", "node")

    _marks: dict[str, Any]  # attributes that programs put on tensors of PyTorch's interface; mostly there are none
    node: Node
    bare_node: Any  # the slot of `node`, also while a function is traced that reads and binds `node`
    # whether `backward()` adds to this tensor where it is a `.grad`, as PyTorch does, and doesn't put another one there
    _added_to = False
    # the tensor whose memory this one is a part of: PyTorch's interface has such tensors, which find their node there
    _base: Any = None

    @property
    def shape(self) -> Shape:
        """The sizes of the axes."""
        return self.node.type.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.node.type.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.node.type.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of elements."""
        return Count(self.node.type.size)

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.node.type.dtype.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.node.type.size * self.node.type.dtype.itemsize  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        """Always "cpu"."""
        return "cpu"

    def to_device(self, device: Any, /, *, stream: Any = None) -> Self:
        """The tensor itself: "cpu" is the one device. Raises ValueError for another, or for a stream."""
        if str(device) != "cpu" or stream is not None:
            raise ValueError(f"to_device: tensors lie in main memory: the device is 'cpu', without a stream{at_user()}")
        return self

    @property
    def name(self) -> str | None:
        """The name given with `name=` or by assignment."""
        variable = variable_of(self.node)
        return None if variable is None else variable.name

    @name.setter
    def name(self, name: str | None) -> None:
        variable = variable_of(self.node)
        if variable is not None:
            variable.name = name
        elif self.node.op is FULL:  # constants may be shared
            self.node = marker(self.node, Variable(name, tracked=False))
        else:
            own(self.node, Variable(name, tracked=False))


Named.bare_node = Named.__dict__["node"]


def variable_of(node: Node) -> Variable | None:
    """The variable that a leaf or marker belongs to."""
    if node.op in (LEAF, VERSION, IDENTITY):
        variable: Variable | None = node.attributes
        return variable
    return variable_of(node.inputs[0]) if node.op is CUSTOM and hooks_of(node) is not None else None


def owner_of(x: Any) -> Any:
    """The tensor whose memory a tensor is, or is a part of."""
    while x._base is not None:
        _ = x.node  # which looks whether another tensor has the memory by now, or nobody else
        base = x._base
        x = x if base is None else base
    return x


def own(node: Node, variable: Variable) -> None:
    """Let a node belong to a variable: its name, and if tracked its gradient. All who refer to the node go on to do so, so
    what it was becomes a node of its own, below it."""
    if node.op is CUSTOM and hooks_of(node) is not None:
        node = node.inputs[0]  # what is stored is the gradient that the hooks leave
    with evaluation_lock():
        if node.op is not FULL and not node.inputs:
            node.op = LEAF
        else:
            inner = Node(
                node.op, node.inputs, node.attributes, node.type, node.site, node.offset, node.tracked, node.value
            )
            node.op, node.inputs = IDENTITY, (inner,)
        node.attributes = variable


def wrap(node: Node, number: bool = False) -> Tensor:
    """A tensor that names a node; one that stands for a number where that is said."""
    tensor = new(Number if number else Tensor)
    tensor.node = node
    return tensor


@overload
def recorded(node: Node, frame: FrameType) -> Tensor: ...


@overload
def recorded(node: Node, frame: FrameType, kind: type[T]) -> T: ...


def recorded(node: Node, frame: FrameType, kind: Any = None) -> Any:
    """A tensor for a node just recorded, with the line that asked for it; of a class of its own where one is given."""
    site = node.site
    if site is None:  # what `give_site` does most often
        node.site = frame.f_code
        node.offset = frame.f_lasti
    elif type(site) is Scope:
        give_site(node, frame)
    if not node.tracked and type(node.type) is not tuple:
        count_pending(node)
    tensor = new(Tensor if kind is None else kind)
    tensor.node = node
    return tensor


def tensors_are(kind: Any, number: Any) -> None:
    """Let `wrap` make objects of these classes: called once, where they are defined of parts that call `wrap`."""
    globals().update(Tensor=kind, Number=number)
