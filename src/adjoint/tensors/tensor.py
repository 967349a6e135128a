"""Tensor: a name for a node. Operators record, and numbers appear when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import tracing
from adjoint.composites import indexing, products, shaping
from adjoint.derive import one_cotangent, pullback, reverse
from adjoint.dtypes import BY_NUMPY, DType, as_dtype, default_dtype, scalar_dtype
from adjoint.execution import evaluation_lock
from adjoint.graph import Node, Primitive, Scope, Variable, array_type, get_mode, mode
from adjoint.primitives import elementwise
from adjoint.primitives.core import (
    FULL, IDENTITY, LEAF, PLACEHOLDER, VERSION, cast, is_scalar, leaf, marker, ops, stop_gradient, typed, version,
)  # fmt: skip
from adjoint.primitives.custom import CUSTOM, HOST_CALL
from adjoint.tensors.located import MISTAKES, at_user, explained, give_site, recording_at_user
from adjoint.tensors.pending import accumulating, count_pending, force, force_array, settle
from adjoint.tensors.text import describe, made_by
from adjoint.unknown import Unknown

if TYPE_CHECKING:
    from adjoint.tensors import functions as _f

Shape = tuple[int, ...]

new = object.__new__


class Tensor:
    """An array that remembers how it was computed.

    Made by `ad.tensor`, `ad.variable`, the other constructors and every operation on tensors. Operations record a graph
    at once (shapes, dtypes and errors are known then); values are computed when something asks for them.
    """

    __slots__ = ("__weakref__", "node")

    node: Node
    __array_priority__ = 1000.0

    def __init__(self) -> None:
        raise TypeError("make tensors with ad.tensor(data), ad.variable(value) or ad.zeros(shape), ...")

    # What it is -------------------------------------------------------------------------------------------------------

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
        return self.node.type.size  # type: ignore[no-any-return]

    @property
    def device(self) -> str:
        """Always "cpu"."""
        return "cpu"

    @property
    def T(self) -> Tensor:
        """The axes reversed."""
        return _recorded(ops.permute_dims(self.node, tuple(range(self.ndim))[::-1]), _getframe(1))

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged. Raises ValueError for fewer than two."""
        if self.ndim < 2:
            raise ValueError(f"mT: expected at least two axes, got shape {self.shape}")
        return _recorded(ops.matrix_transpose(self.node), _getframe(1))

    @property
    def real(self) -> Tensor:
        """The real part; the tensor itself if it is real."""
        return self if self.dtype.kind != "c" else _recorded(elementwise.real(self.node), _getframe(1))

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""
        node = self.node
        return _recorded(elementwise.imag(node) if self.dtype.kind == "c" else ops.zeros(node.type), _getframe(1))

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
            _own(self.node, Variable(name, tracked=False))

    @property
    def creator(self) -> Primitive | None:
        """The operation that made this tensor; None for data and variables."""
        node = made_by(self.node)
        return None if node.op in (LEAF, VERSION, FULL, PLACEHOLDER) else node.op

    @property
    def parents(self) -> tuple[Tensor, ...]:
        """The tensors that the operation was applied to. An untracked tensor forgets them once it has its value."""
        node = made_by(self.node)
        if node.op is VERSION:
            return ()
        inputs = node.inputs
        if node.op is CUSTOM:
            inputs = inputs[node.attributes[0] :]
        return tuple([wrap(x) for x in inputs])

    # Values -----------------------------------------------------------------------------------------------------------

    def _array(self) -> Any:
        node = self.node
        if type(node.value) is not np.ndarray:
            force([node])
        return node.value

    def numpy(self) -> np.ndarray[Any, Any]:
        """The value as a read-only NumPy array that shares the tensor's memory."""
        view = self._array().view()
        view.flags.writeable = False
        return view  # type: ignore[no-any-return]

    def item(self) -> Any:
        """The value of a tensor with one element as a Python number. Raises ValueError for any other size."""
        array = self._array()
        if array.size != 1:
            raise ValueError(f"item: only a tensor with one element has it, this one has shape {self.shape}{at_user()}")
        return array.item()

    def tolist(self) -> Any:
        """The value as nested lists of Python numbers."""
        return self._array().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"cannot give {array.dtype} as {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, **keywords: Any) -> Any:
        # a copy: other libraries write into what they import, and a value never changes
        return np.array(self._array()).__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth of a tensor with {self.size} elements (shape {self.shape}) is ambiguous; use t.any() or "
                f"t.all(), or ad.where to choose element by element{at_user()}"
            )
        return bool(self._array().item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __round__(self, digits: int | None = None) -> Any:
        """`round(t)`: to integers, halves to even; with digits, to that many decimals. The derivative is 0."""
        if not digits:
            return _recorded(elementwise.rint(self.node), _getframe(1))
        return _recorded(
            elementwise.divide(elementwise.rint(elementwise.multiply(self.node, 10.0**digits)), 10.0**digits),
            _getframe(1),
        )

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return other // self, other % self

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"only an integer tensor with one element can be an index, this one is {self.dtype.name}")
        return int(self.item())

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        frame = _getframe(1)
        return iter([_recorded(x, frame) for x in shaping.unstack(self.node, 0)])

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and self.size == 1 else format(str(self), spec)

    def __repr__(self) -> str:
        return describe(self)

    def __deepcopy__(self, memo: Any) -> Tensor:
        variable = variable_of(self.node)
        fresh = None if variable is None else Variable(variable.name, variable.tracked)
        return wrap(leaf(self._array(), self.node.type, fresh))

    def __reduce__(self) -> Any:
        return _rebuild, (np.array(self._array()), self.is_leaf and self.requires_grad, self.name)

    # Gradients --------------------------------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether derivatives are tracked through this tensor."""
        return self.node.tracked

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self.requires_grad_(flag)

    def requires_grad_(self, flag: bool = True) -> Tensor:
        """Make a leaf a variable, or data again; returns the tensor. Raises TypeError for integers and bools."""
        node = self.node
        if flag == node.tracked:
            return self
        if not flag and not self.is_leaf:
            raise RuntimeError(f"requires_grad_(False): only a leaf can stop being tracked; use detach(){at_user()}")
        if flag:
            check_differentiable(self.dtype, "requires_grad")
        name = self.name
        variable = Variable(name, flag) if flag or name else None
        tracer = tracing.active()
        if tracer is None:
            self.node = leaf(self._array(), node.type, variable)
        else:
            tracer.refuse_change(self, "requires_grad of a tensor")
            self.node = _copy(node, node.dtype, variable)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return self.node.op in (LEAF, VERSION, FULL, PLACEHOLDER) or not self.node.tracked

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward()` added up here; None before."""
        variable = variable_of(self.node)
        return None if variable is None else variable.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        variable = variable_of(self.node)
        if variable is None or not variable.tracked:
            if value is None:
                return
            raise RuntimeError(
                "grad: this tensor owns no gradient; make it a variable, or call retain_grad()" + at_user()
            )
        if value is not None:
            value = wrap(cast(as_node(value), self.dtype))
            if value.shape != self.shape:
                raise ValueError(f"grad: shape {value.shape} given for a tensor of shape {self.shape}{at_user()}")
        variable.grad = value

    def zero_grad(self) -> None:
        """Forget the gradient."""
        self.grad = None

    def retain_grad(self) -> None:
        """Let `backward()` store the gradient of this inner tensor in its `.grad` too."""
        if not self.requires_grad:
            raise RuntimeError("retain_grad: this tensor is not tracked" + at_user())
        variable = variable_of(self.node)
        if variable is None:
            _own(self.node, Variable(None))
        else:
            variable.tracked = True

    def detach(self) -> Tensor:
        """The same value, untracked: a constant to every derivative."""
        return _recorded(stop_gradient(self.node), _getframe(1))

    def clone(self) -> Tensor:
        """The same value as a tensor of its own, differentiated through."""
        return _recorded(marker(self.node), _getframe(1))

    def backward(self, gradient: Any = None, create_graph: bool = False) -> None:
        """Add the derivative of this tensor to the `.grad` of every variable it depends on.

        gradient: the cotangent, of this tensor's shape; needed unless the tensor has one element.
        create_graph: whether the gradients are themselves differentiable.

        Raises RuntimeError if nothing is tracked, ValueError if a cotangent is missing or its shape is wrong.

        >>> import adjoint as ad
        >>> x = ad.variable(3.0)
        >>> (x**2).backward()
        >>> x.grad
        Tensor(6.)
        """
        backward(self, gradient, create_graph)

    def draw(self, path: Any = None, **options: Any) -> Any:
        """The picture of how this tensor was computed: `ad.draw(t, path, ...)`."""
        return _f_namespace["draw"](self, path, **options)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """What a notebook shows: a picture if that was asked for with `ad.show_pictures()`, else just the text."""
        picture = _f_namespace.get("notebook_picture")
        return None if picture is None else picture(self)

    @property
    def data(self) -> Tensor:
        """An untracked alias that writes through: `w.data -= lr * w.grad` and `w.data[0] = 1` give w a new value."""
        alias = new(DataAlias)
        alias.node = stop_gradient(self.node) if self.node.tracked else self.node
        alias.owner = self
        return alias

    @data.setter
    def data(self, value: Any) -> None:
        own = self.node.type
        node = as_node(value, own.dtype)
        if node.type is not own:
            if node.type.shape != own.shape:
                raise ValueError(f"data: shape {node.type.shape} given for a tensor of shape {own.shape}{at_user()}")
            node = cast(node, own.dtype)
        _rebind(self, node)

    # In place: the name gets a new node -------------------------------------------------------------------------------

    def _assign(self, node: Node, operation: str) -> None:
        """Rebind this name to the result of an in-place operation."""
        own = self.node.type
        if node.type is not own:
            if node.type.shape != own.shape:
                raise ValueError(
                    f"{operation}: the result has shape {node.type.shape}, the tensor {own.shape}{at_user()}"
                )
            if "buifc".index(node.type.dtype.kind) > "buifc".index(own.dtype.kind):
                raise TypeError(
                    f"{operation}: a {node.type.dtype.name} result does not fit a {own.dtype.name} tensor{at_user()}"
                )
            node = cast(node, own.dtype)
        variable = variable_of(self.node) if self.node.op in (LEAF, VERSION) else None
        if variable is not None and variable.tracked:
            if get_mode().grad:
                raise RuntimeError(
                    f"{operation} writes in place to a variable, whose history would be lost. To give it a new value:\n"
                    "    with ad.no_grad():\n        w -= lr * w.grad\n"
                    f"or\n    w.data -= lr * w.grad{at_user()}"
                )
            _rebind(self, node)
        else:
            self.node = node
            if not node.tracked:
                accumulating(self)

    def __setitem__(self, index: Any, value: Any) -> None:
        changed = _mapped("assignment", indexing.setitem, self.node, _index(index), _value(value), force_array)
        give_site(changed, _getframe(1))
        self._assign(changed, "assignment")

    def __getitem__(self, index: Any) -> Tensor:
        return _recorded(_mapped("index", indexing.getitem, self.node, _index(index), force_array), _getframe(1))

    # NumPy's protocols ------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        handler = UFUNCS.get((ufunc, method))
        if handler is None or any(k for k, v in keywords.items() if k not in ("axis", "keepdims") and v is not None):
            return NotImplemented
        with recording_at_user():
            return handler(*inputs, **keywords)

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        handler = ARRAY_FUNCTIONS.get(function)
        if handler is None:
            return NotImplemented
        with recording_at_user():
            return handler(*args, **keywords)

    # Operators: filled in below, declared here for type checkers ---------------------------------------------------------

    if TYPE_CHECKING:
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _f._operator
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _f._operator
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = _f._operator
        __rshift__ = __rrshift__ = __lt__ = __le__ = __gt__ = __ge__ = _f._operator
        __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _f._operator
        __imatmul__ = __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _f._operator

        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

        sum, prod, max, min, mean, var, std = _f.sum, _f.prod, _f.max, _f.min, _f.mean, _f.var, _f.std
        any, all, argmax, argmin, logsumexp = _f.any, _f.all, _f.argmax, _f.argmin, _f.logsumexp
        norm, softmax, log_softmax, count_nonzero = _f.norm, _f.softmax, _f.log_softmax, _f.count_nonzero
        cumulative_sum, cumulative_prod, sort, argsort = _f.cumulative_sum, _f.cumulative_prod, _f.sort, _f.argsort
        abs, sign, exp, expm1, log, log1p, log2 = _f.abs, _f.sign, _f.exp, _f.expm1, _f.log, _f.log1p, _f.log2
        log10, sqrt, square, reciprocal = _f.log10, _f.sqrt, _f.square, _f.reciprocal
        sin, cos, tan, asin, acos, atan = _f.sin, _f.cos, _f.tan, _f.asin, _f.acos, _f.atan
        sinh, cosh, tanh, asinh, acosh, atanh = _f.sinh, _f.cosh, _f.tanh, _f.asinh, _f.acosh, _f.atanh
        erf, relu, sigmoid, softplus, gelu, silu = _f.erf, _f.relu, _f.sigmoid, _f.softplus, _f.gelu, _f.silu
        floor, ceil, round, trunc, conj = _f.floor, _f.ceil, _f.round, _f.trunc, _f.conj
        isfinite, isinf, isnan, clip, maximum, minimum = (
            _f.isfinite,
            _f.isinf,
            _f.isnan,
            _f.clip,
            _f.maximum,
            _f.minimum,
        )
        astype, flatten, squeeze, expand_dims = _f.astype, _f.flatten, _f.squeeze, _f.expand_dims
        broadcast_to, moveaxis, swapaxes, repeat, tile = _f.broadcast_to, _f.moveaxis, _f.swapaxes, _f.repeat, _f.tile
        flip, roll, take, take_along_axis = _f.flip, _f.roll, _f.take, _f.take_along_axis
        matmul, dot, outer, split, unstack = _f.matmul, _f.dot, _f.outer, _f.split, _f.unstack
        nonzero, tril, triu = _f.nonzero, _f.tril, _f.triu

    else:
        __hash__ = object.__hash__

    def reshape(self, *shape: Any) -> Tensor:
        """The same elements in another shape, given as ints or one tuple; one -1 is filled in."""
        return _f_namespace["reshape"](self, shape[0] if len(shape) == 1 else shape)  # type: ignore[no-any-return]

    def permute_dims(self, *axes: Any) -> Tensor:
        """The axes in another order, given as ints or one tuple."""
        chosen = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return _f_namespace["permute_dims"](self, chosen)  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> Tensor:
        """The axes in another order; without arguments, reversed."""
        return self.permute_dims(*axes) if axes else self.permute_dims(tuple(range(self.ndim))[::-1])


_f_namespace: dict[str, Callable[..., Any]] = {}  # the public functions, by name: filled by `functions`
UFUNCS: dict[tuple[Any, str], Callable[..., Any]] = {}
ARRAY_FUNCTIONS: dict[Any, Callable[..., Any]] = {}


class DataAlias(Tensor):
    """What `t.data` gives: its own in-place operations change the owner too."""

    __slots__ = ("owner",)

    owner: Tensor

    def _assign(self, node: Node, operation: str) -> None:
        super()._assign(node, operation)
        _rebind(self.owner, self.node)


# From and to nodes ----------------------------------------------------------------------------------------------------


def wrap(node: Node) -> Tensor:
    """A tensor that names a node."""
    tensor = new(Tensor)
    tensor.node = node
    return tensor


def as_node(x: Any, beside: DType | None = None) -> Node:
    """The node of a tensor, or of data: an array keeps its dtype, Python numbers take the default ones."""
    if isinstance(x, Tensor):
        return x.node
    if isinstance(x, Node):
        return x
    if is_scalar(x):
        dtype = scalar_dtype(x, beside)
        return ops.full(typed(x, dtype), array_type((), dtype))
    return array_node(x, None, None)


def array_node(x: Any, dtype: DType | None, copy: bool | None, variable: Variable | None = None) -> Node:
    """A leaf from an array-like. Writable memory of others is copied unless `copy` is False."""
    if isinstance(x, Tensor):
        if tracing.active() is not None and x.node.value is None:
            return _copy(x.node, dtype or x.dtype, variable)
        array = x._array()
    elif isinstance(x, (np.ndarray, np.generic)):
        array = np.asarray(x)
    elif type(x) is Unknown and (dtype is None or dtype.kind == "f"):
        return _copy(
            ops.full(x, array_type((), dtype or scalar_dtype(x, None))), dtype or scalar_dtype(x, None), variable
        )
    elif hasattr(x, "__array__") or hasattr(x, "__dlpack__"):
        array = np.from_dlpack(x) if not hasattr(x, "__array__") else np.asarray(x)
    else:
        array = _from_python(x, dtype is None)
        copy = False
    if array.dtype not in BY_NUMPY and array.dtype.newbyteorder("=") in BY_NUMPY:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in BY_NUMPY:
        dtype_of(array.dtype)  # raises, naming the dtype
    chosen = dtype or BY_NUMPY[array.dtype]
    if array.dtype != chosen.dtype:
        if chosen.kind != "c" and array.dtype.kind == "c":
            raise TypeError(f"cannot make a {chosen.name} tensor of complex data; take .real first{at_user()}")
        with np.errstate(all="ignore"):
            array = array.astype(chosen.dtype)
    elif copy or (copy is None and _writable(array)):
        array = array.copy()
    return leaf(array, array_type(array.shape, chosen), variable)


def _copy(node: Node, dtype: DType, variable: Variable | None) -> Node:
    """A leaf with the value that a node will have when the function that is being traced runs."""
    source = cast(stop_gradient(node), dtype)
    return source if variable is None else version(source, variable)


def dtype_of(dtype: Any) -> DType:
    """The DType that a user named. Raises TypeError with the user's line."""
    try:
        return as_dtype(dtype)
    except TypeError as error:
        raise explained(error, "dtype") from None


def _writable(array: Any) -> bool:
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def _from_python(x: Any, default: bool) -> Any:
    if isinstance(x, (list, tuple)) and _holds_tensors(x):
        x = _evaluated(x)
    try:
        array = np.asarray(x)
    except ValueError:
        raise ValueError(f"tensor: nested sequences of different lengths{at_user()}") from None
    if array.dtype == object:
        raise TypeError(f"tensor: cannot make an array of {_a(_first_leaf(x))}{at_user()}")
    if array.dtype.kind in "US":
        raise TypeError(f"tensor: cannot make an array of text ({_a(_first_leaf(x))}){at_user()}")
    leaves_are_python = default and not (isinstance(x, (list, tuple)) and _holds_arrays(x))
    with np.errstate(all="ignore"):
        if leaves_are_python and array.dtype.kind == "f":
            return array.astype(default_dtype().dtype)
        if leaves_are_python and array.dtype.kind == "c" and default_dtype().bits == 32:
            return array.astype(np.complex64)
    return array


def _first_leaf(x: Any) -> Any:
    while isinstance(x, (list, tuple)) and len(x):
        x = x[0]
    return x


def _holds_tensors(x: Any) -> bool:
    return any(isinstance(y, Tensor) or (isinstance(y, (list, tuple)) and _holds_tensors(y)) for y in x)


def _holds_arrays(x: Any) -> bool:
    return any(
        isinstance(y, (np.ndarray, np.generic)) or (isinstance(y, (list, tuple)) and _holds_arrays(y)) for y in x
    )


def _evaluated(x: Any) -> Any:
    return [y._array() if isinstance(y, Tensor) else _evaluated(y) if isinstance(y, (list, tuple)) else y for y in x]


def variable_of(node: Node) -> Variable | None:
    """The variable that a leaf or marker belongs to."""
    return node.attributes if node.op in (LEAF, VERSION, IDENTITY) else None


def _own(node: Node, variable: Variable) -> None:
    """Let a node belong to a variable: its name, and if tracked its gradient. All who refer to the node go on to do so, so
    what it was becomes a node of its own, below it."""
    with evaluation_lock():
        if node.op is not FULL and not node.inputs:
            node.op = LEAF
        else:
            inner = Node(
                node.op, node.inputs, node.attributes, node.type, node.site, node.offset, node.tracked, node.value
            )
            node.op, node.inputs = IDENTITY, (inner,)
        node.attributes = variable


def _index(index: Any) -> Any:
    """An index with tensors replaced by their nodes."""
    if isinstance(index, tuple):
        return tuple([i.node if isinstance(i, Tensor) else i for i in index])
    return index.node if isinstance(index, Tensor) else index


def _value(value: Any) -> Any:
    return value if is_scalar(value) else as_node(value)


def _mapped(operation: str, function: Callable[..., Node], *args: Any) -> Node:
    """Call a function of nodes; its complaints gain the operation, the shapes and the user's line."""
    try:
        return function(*args)
    except MISTAKES as error:
        raise explained(error, operation, *args) from None


def _recorded(node: Node, frame: FrameType) -> Tensor:
    """A tensor for a node just recorded, with the line that asked for it."""
    give_site(node, frame)
    if not node.tracked and type(node.type) is not tuple:
        count_pending(node)
    return wrap(node)


def _rebind(tensor: Tensor, node: Node) -> None:
    """Give a tensor a new value. A variable gets a new version, whose gradient lands in the same `.grad`."""
    old = tensor.node
    variable = variable_of(old) if old.op in (LEAF, VERSION) else None
    if variable is None or not variable.tracked:
        tensor.node = stop_gradient(node) if node.tracked else node
        if node.value is None:
            accumulating(tensor)  # a running statistic, say, that nobody reads
        if variable is not None and variable.name is not None:
            tensor.name = variable.name
        return
    if old.op is VERSION and old.value is None:
        settle([old])
    value = node.value
    if type(value) is np.ndarray:
        tensor.node = leaf(value, node.type, variable)
    else:
        tensor.node = version(node, variable)


# The reverse pass -----------------------------------------------------------------------------------------------------


def backward(tensor: Tensor, gradient: Any, create_graph: bool) -> None:
    """What `Tensor.backward` does."""
    node = tensor.node
    if not node.tracked:
        raise RuntimeError(
            "backward: this tensor depends on no variable; make the inputs to differentiate by with ad.variable(...) or "
            f"ad.tensor(..., requires_grad=True){at_user()}"
        )
    if gradient is None:
        if node.type.size != 1:
            raise ValueError(
                f"backward: a tensor of shape {node.shape} needs a cotangent of that shape: backward(gradient), or sum it "
                f"first: t.sum().backward(){at_user()}"
            )
        u = one_cotangent(node)
    else:
        u = as_node(gradient, node.dtype)
        if u.shape != node.shape:
            raise ValueError(f"backward: cotangent of shape {u.shape} for a tensor of shape {node.shape}{at_user()}")
        u = cast(u, node.dtype)
    leaves, custom = _variables(node)
    with recording_at_user():
        if create_graph or custom:
            with mode(grad=create_graph):
                found = reverse([node], [u], leaves)
            pairs = [(x, g) for x, g in zip(leaves, found, strict=True) if g is not None]
        else:
            pairs = list(zip(leaves, pullback(node, u, leaves), strict=True))
        busy = [x.attributes.grad.node for x, _ in pairs if x.attributes.grad is not None]
        if busy and not create_graph:
            settle(busy)
        for x, g in pairs:
            variable = x.attributes
            if variable.grad is None:
                variable.grad = wrap(g)
            else:
                with mode(grad=create_graph):
                    variable.grad = wrap(elementwise.add(variable.grad.node, g))


def _variables(root: Node) -> tuple[list[Node], bool]:
    """The leaves and markers below a node that own a gradient; whether a custom rule is on the way."""
    leaves: list[Node] = []
    seen = {root}
    order = [root]
    custom = False
    for node in order:  # which grows on the way
        op = node.op
        if op in _LOOKED_AT:
            if op is CUSTOM or op is HOST_CALL:
                custom = True
            elif op is PLACEHOLDER:
                raise RuntimeError(
                    f"backward: {node.attributes} was computed from variables outside of the traced function, where "
                    f"their gradients can't be added up; use ad.grad, or compute it inside{at_user()}"
                )
            else:
                variable = node.attributes
                if variable is not None and variable.tracked:
                    leaves.append(node)
                if op is VERSION:
                    continue
        for x in node.inputs:
            if x.tracked and x not in seen:
                seen.add(x)
                order.append(x)
    return leaves, custom


_LOOKED_AT = frozenset({LEAF, VERSION, IDENTITY, CUSTOM, HOST_CALL, PLACEHOLDER})


def check_differentiable(dtype: DType, operation: str) -> None:
    """Raise TypeError for a dtype without derivatives."""
    if not dtype.inexact:
        raise TypeError(
            f"{operation}: only floating and complex tensors have derivatives, not {dtype.name}; give 2.0 instead of 2, or "
            f"astype(ad.float32){at_user()}"
        )


def _rebuild(array: Any, tracked: bool, name: str | None) -> Tensor:
    return wrap(array_node(array, None, False, Variable(name, tracked) if tracked or name else None))


# Operators ------------------------------------------------------------------------------------------------------------


def _a(x: Any) -> str:
    return "None" if x is None else f"a {type(x).__name__}"


def _binary_operator(name: str, function: Callable[[Any, Any], Node], reflected: bool) -> Any:
    def method(self: Tensor, other: Any) -> Any:
        if type(other) is Tensor:
            b: Any = other.node
        elif type(other) is float or type(other) is int or is_scalar(other):
            b = other
        elif isinstance(other, (Tensor, np.ndarray, np.generic)):
            b = as_node(other)
        elif other is None or isinstance(other, (str, bytes, list, tuple, dict, set)):
            hint = "; make it a tensor first: ad.tensor([...])" if isinstance(other, (list, tuple)) else ""
            raise TypeError(f"{name}: a Tensor and {_a(other)} do not go together{hint}{at_user()}")
        else:
            return NotImplemented
        try:
            node = function(b, self.node) if reflected else function(self.node, b)
        except MISTAKES as error:
            raise explained(error, name, self.node, b) from None
        site = node.site
        if site is None:
            frame = _getframe(1)
            node.site = frame.f_code
            node.offset = frame.f_lasti
        elif type(site) is Scope:
            give_site(node, _getframe(1))
        if not node.tracked:
            count_pending(node)
        tensor = new(Tensor)
        tensor.node = node
        return tensor

    return method


def _in_place_operator(function: Callable[[Any, Any], Node], symbol: str) -> Any:
    compute = _binary_operator(symbol, function, False)

    def method(self: Tensor, other: Any) -> Any:
        result = compute(self, other)
        if result is NotImplemented:
            return NotImplemented
        self._assign(result.node, symbol)
        return self

    return method


def _unary_operator(name: str, function: Callable[[Node], Node]) -> Any:
    def method(self: Tensor) -> Tensor:
        return _recorded(_mapped(name, function, self.node), _getframe(1))

    return method


def power(x: Any, y: Any) -> Node:
    """x to the power y: a Python number as exponent has a rule of its own."""
    if is_scalar(y) and isinstance(x, Node) and not isinstance(y, (complex, Unknown)):
        return elementwise.power_constant(x, y if isinstance(y, float) and not float(y).is_integer() else int(y)
                                          if not isinstance(y, float) or x.dtype.inexact else float(y))  # fmt: skip
    return elementwise.power(x, y)


def _matmul(a: Any, b: Any) -> Node:
    if type(a) is not Node or type(b) is not Node:
        raise ValueError("matmul: operands need at least one axis; use * for scalars")
    return products.matmul(a, b)


_BINARY = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply, "truediv": elementwise.divide,
    "floordiv": elementwise.floor_divide, "mod": elementwise.remainder, "pow": power, "matmul": _matmul,
    "and": elementwise.bitwise_and, "or": elementwise.bitwise_or, "xor": elementwise.bitwise_xor,
    "lshift": elementwise.bitwise_left_shift, "rshift": elementwise.bitwise_right_shift,
}  # fmt: skip
for _name, _function in _BINARY.items():
    setattr(Tensor, f"__{_name}__", _binary_operator(_name, _function, False))
    setattr(Tensor, f"__r{_name}__", _binary_operator(_name, _function, True))
    setattr(Tensor, f"__i{_name}__", _in_place_operator(_function, f"in-place {_name}"))
for _name, _function in {
    "lt": elementwise.less, "le": elementwise.less_equal, "gt": elementwise.greater, "ge": elementwise.greater_equal,
    "eq": elementwise.equal, "ne": elementwise.not_equal,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_name}__", _binary_operator(_name, _function, False))
for _name, _unary in {
    "neg": elementwise.negative, "pos": lambda x: x, "abs": elementwise.absolute, "invert": elementwise.bitwise_invert,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_name}__", _unary_operator(_name, _unary))

__all__ = ["Tensor", "array_node", "as_node", "check_differentiable", "dtype_of", "power", "variable_of", "wrap"]
