"""torch.autograd: derivatives of computed tensors, functions with derivatives of their own, and checks."""

from __future__ import annotations

from typing import Any

from adjoint.derive import one_cotangent, reverse
from adjoint.graph import Node, mode
from adjoint.primitives.core import LEAF, VERSION, cast, ops, stop_gradient
from adjoint.tensors.conversion import as_node
from adjoint.tensors.gradients import MET, with_hooks
from adjoint.tensors.located import at_user, recording_at_user
from adjoint.transforms.custom import Function as CoreFunction

from .._missing import getter
from .._names import FUNCTIONS, refuse
from .._parts import comes_from
from .._settings import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._tensor import Core, Tensor, as_torch
from . import functional
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "GradcheckError", "backward", "enable_grad", "functional", "grad", "gradcheck", "gradgradcheck", "inference_mode", "no_grad",
    "set_grad_enabled",
]  # fmt: skip


def _listed(x: Any) -> list[Any]:
    return [x] if isinstance(x, Core) else list(x)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Any = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: Any = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The derivatives of outputs, weighted by `grad_outputs` and added up, by inputs.

    With `is_grads_batched`, `grad_outputs` have an axis more in front, and so have the results. Raises RuntimeError for an input
    that no output depends on, unless `allow_unused` (then its gradient is None).
    """
    refuse("grad", "only_inputs", only_inputs, True)
    if materialize_grads and allow_unused is False:
        raise ValueError(f"grad: materialize_grads gives zeros, allow_unused=False refuses them; choose one{at_user()}")
    ys, xs = _listed(outputs), _listed(inputs)
    given = [None] * len(ys) if grad_outputs is None else _listed(grad_outputs)
    if is_grads_batched:
        each = [
            grad(ys, xs, u, retain_graph, create_graph, only_inputs, allow_unused, False, materialize_grads)
            for u in zip(*given, strict=True)
        ]
        return tuple([None if rows[0] is None else FUNCTIONS["stack"](rows) for rows in zip(*each, strict=True)])
    nodes, cotangents = [], []
    for y, u in zip(ys, given, strict=True):
        if not y.node.tracked:
            raise RuntimeError(f"grad: an output depends on no tensor that requires a gradient{at_user()}")
        nodes.append(y.node)
        cotangents.append(_cotangent(y, u))
    for x in xs:
        if not x.node.tracked:
            raise RuntimeError(f"grad: an input doesn't require a gradient{at_user()}")
    with recording_at_user(), mode(grad=True):
        wanted = _versions(nodes, [x.node for x in xs])
        found = _sums(wanted, reverse(nodes, cotangents, [node for same in wanted for node in same]))
    results: list[Any] = []
    after: dict[Any, Any] = {}  # what a leaf's hooks, which are called once, have left
    for x, g, same in zip(xs, found, wanted, strict=True):
        if g is None and x.node.tracked and comes_from([y.node for y in ys], set(same), tracked=True):
            g = ops.zeros(x.node.type)  # by steps alone, such as sign, whose derivative is 0
        if g is None and not allow_unused and not materialize_grads:
            raise RuntimeError(
                f"grad: no output depends on an input of shape {tuple(x.shape)}; allow_unused=True gives None for it{at_user()}"
            )
        if g is None:
            results.append(_wrapped(ops.zeros(x.node.type)) if materialize_grads else None)
        else:
            if x.node not in after:
                with mode(grad=create_graph):
                    after[x.node] = with_hooks(x.node, g)
            g = after[x.node]
            results.append(_wrapped(g if create_graph else stop_gradient(g)))
    return tuple(results)


def _versions(roots: list[Node], inputs: list[Node]) -> list[list[Node]]:
    """Each input with what else it was in the graph of some nodes: a leaf gets new values, through `.data` or by an optimizer,
    and the gradient by it is that by all of them, as in `backward()`."""
    met: dict[Any, list[Node]] = {x.attributes: [] for x in inputs if x.op is LEAF or x.op is VERSION}
    if met:
        for node in dict.fromkeys([x for root in roots for x in MET.below(root)]):
            if (node.op is LEAF or node.op is VERSION) and node.attributes in met:
                met[node.attributes].append(node)
    return [
        [x, *[y for y in met.get(x.attributes, ()) if y is not x]] if x.op in (LEAF, VERSION) else [x] for x in inputs
    ]


def _sums(wanted: list[list[Node]], found: list[Node | None]) -> list[Node | None]:
    """The gradients of inputs from those of all that each of them was."""
    results, each = list[Node | None](), iter(found)
    for same in wanted:
        total = None
        for _, g in zip(same, each, strict=False):
            total = g if total is None else total if g is None else ops.add(total, g)
        results.append(total)
    return results


def _cotangent(y: Any, u: Any) -> Any:
    if u is None:
        if y.node.type.size != 1:
            raise RuntimeError(
                f"grad: an output of shape {tuple(y.shape)} needs grad_outputs; only numbers don't{at_user()}"
            )
        if y.node.type.dtype.kind == "c":
            raise RuntimeError(f"grad: a complex output needs grad_outputs; or take .real or .abs(){at_user()}")
        return one_cotangent(y.node)
    node = as_node(u, y.dtype)
    if node.shape != y.node.type.shape:
        raise RuntimeError(
            f"grad: grad_outputs of shape {node.shape} for an output of shape {tuple(y.shape)}{at_user()}"
        )
    return cast(node, y.dtype)


def _wrapped(node: Any) -> Tensor:
    made = object.__new__(Tensor)
    made.node = node
    return made


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: bool = False, grad_variables: Any = None,
    inputs: Any = None,
) -> None:  # fmt: skip
    """Add derivatives to the `.grad` of all leaves, or of `inputs`. `grad_variables` is the old name of `grad_tensors`."""
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(f"backward: grad_tensors and grad_variables are the same argument; give one{at_user()}")
        grad_tensors = grad_variables
    ys = _listed(tensors)
    given = [None] * len(ys) if grad_tensors is None else _listed(grad_tensors)
    if len(ys) == 1:
        ys[0].backward(given[0], retain_graph, create_graph, inputs)
        return
    weighted = None
    with enable_grad():  # one reverse pass from the weighted sum of all, so that each hook is called once
        for y, u in zip(ys, given, strict=True):
            if not y.node.tracked:
                raise RuntimeError(f"backward: a tensor depends on nothing that requires a gradient{at_user()}")
            part = (y * _wrapped(_cotangent(y, u))).sum()
            weighted = part if weighted is None else weighted + part
    if weighted is not None:
        weighted.backward(None, retain_graph, create_graph, inputs)


class Function:
    """Base of functions with a derivative of their own: `forward(ctx, ...)` and `backward(ctx, ...)` are static methods."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """What the function computes."""
        raise NotImplementedError("a Function defines forward")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The cotangents of the inputs, of those of the outputs."""
        raise NotImplementedError("a Function defines backward")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Call it."""
        call = Call()
        found = as_torch(_core_of(cls).apply(*args, call))
        made = list(found) if isinstance(found, (tuple, list)) else [found]
        for x in call.dirty:  # an output that is an argument, which has been written to, is that argument
            for k, place in enumerate(call.places):
                if call.outputs[place] is x:
                    x._assign(made[k].node, "mark_dirty")
                    made[k] = x
        outputs = call.given_back()
        for place, x in zip(call.places, made, strict=True):
            outputs[place] = x
        return tuple(outputs) if call.several else outputs[0]


class Call:
    """One call of a Function: what its forward gave, where tensors are among that, and which arguments it has written to."""

    def __init__(self) -> None:
        self.outputs: list[Any] = []
        self.count = 0
        self.places: list[int] = []
        self.several = False
        self.dirty: list[Any] = []

    def tensors(self, out: Any) -> Any:
        """Note what a forward gave; the tensors in it, or the only one."""
        self.several = isinstance(out, (tuple, list))
        self.outputs = list(out) if self.several else [out]
        self.count = len(self.outputs)
        self.places = [k for k, x in enumerate(self.outputs) if isinstance(x, Core)]
        found = tuple([self.outputs[k] for k in self.places])
        return found[0] if len(found) == 1 else found

    def given_back(self) -> list[Any]:
        """What the forward gave. The rule of an output holds the call, which lets go of the outputs here: they are no cycle."""
        outputs, self.outputs, self.dirty = self.outputs, [], []
        return outputs

    def spread(self, cotangents: tuple[Any, ...]) -> list[Any]:
        """The cotangents of all that a forward gave: None of what is no tensor."""
        found: list[Any] = [None] * self.count
        for k, u in zip(self.places, cotangents, strict=True):
            found[k] = u
        return found


_cores: dict[type, Any] = {}


def _core_of(cls: Any) -> Any:
    """The core's function of the same rules, whose tensors are PyTorch's."""
    if cls not in _cores:
        separate = "setup_context" in {n for k in cls.__mro__ if k is not Function for n in vars(k)}

        def forward(ctx: Any, *arguments: Any) -> Any:
            *args, ctx.call = arguments
            ctx.needs_input_grad = ctx.needs_input_grad[:-1]
            given = as_torch(tuple(args))
            ctx.shapes_of_inputs = [tuple(x.shape) if isinstance(x, Core) else None for x in args]
            if not separate:
                return ctx.call.tensors(cls.forward(FunctionCtx(ctx), *given))
            out = cls.forward(*given)
            cls.setup_context(FunctionCtx(ctx), given, out)
            return ctx.call.tensors(out)

        def backward(ctx: Any, *grads: Any) -> Any:
            given = cls.backward(FunctionCtx(ctx), *ctx.call.spread(as_torch(grads)))
            several = list(given) if isinstance(given, (tuple, list)) else [given]
            count = len(ctx.shapes_of_inputs)
            if all([g is None for g in several[count:]]):  # of arguments that were left out
                del several[count:]
            if len(several) != count:
                raise ValueError(
                    f"{cls.__name__}.backward: {len(several)} gradients returned for {count} arguments of forward"
                )
            several = [g if needed else None for g, needed in zip(several, ctx.needs_input_grad, strict=True)]
            found = [_summed_to(g, shape) for g, shape in zip(several, ctx.shapes_of_inputs, strict=True)]
            return (*found, None)

        _cores[cls] = type(
            cls.__name__, (CoreFunction,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        )
    return _cores[cls]


def _summed_to(gradient: Any, shape: tuple[int, ...] | None) -> Any:
    """A gradient summed up over what its input would be broadcast along; as it is where the shapes don't say so."""
    if shape is None or not isinstance(gradient, Core) or tuple(gradient.shape) == shape:
        return gradient
    lengths = gradient.shape[max(gradient.ndim - len(shape), 0) :]
    fits = len(shape) <= gradient.ndim and all([n in (1, m) for n, m in zip(shape, lengths, strict=True)])
    return as_torch(gradient).sum_to_size(shape) if fits else gradient


class FunctionCtx:
    """What a Function's forward leaves for its backward, with tensors of PyTorch's kind."""

    def __init__(self, core: Any) -> None:
        object.__setattr__(self, "core", core)

    def __getattr__(self, name: str) -> Any:
        return as_torch(getattr(object.__getattribute__(self, "core"), name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.core, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.core, name)

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors."""
        self.core.save_for_backward(*tensors)

    def mark_dirty(self, *tensors: Any) -> None:
        """What a forward writes to and gives back: it is the output from then on."""
        self.core.call.dirty += tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Outputs without derivative."""
        for t in tensors:
            t.node = stop_gradient(t.node)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether zeros stand for cotangents that are missing, and not None."""
        self.core.materialize = bool(value)


class _Tensors(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Core)


class Variable(metaclass=_Tensors):
    """A tensor, from before tensors were variables themselves; each tensor is an instance."""

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: Any = None) -> Any:
        """The same values, as a leaf."""
        found: Tensor = as_torch(data).detach()
        return found.requires_grad_(requires_grad)


def once_differentiable(fn: Any) -> Any:
    """A `backward` that PyTorch differentiates no further; here its operations are."""
    return fn


class set_detect_anomaly:
    """Taken for PyTorch's sake: `ad.explain_nan(y)` says where a NaN comes from."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


class detect_anomaly(set_detect_anomaly):
    """Taken for PyTorch's sake: `ad.explain_nan(y)` says where a NaN comes from."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)


FUNCTIONS["autograd.grad"] = grad

__getattr__ = getter("torch.autograd", globals())
