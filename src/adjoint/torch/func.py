"""torch.func: transformations of functions."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from adjoint import tree
from adjoint.nn import functional_calls
from adjoint.nn.module import Module as CoreModule
from adjoint.primitives.core import ops
from adjoint.primitives.random import EXAMPLES, REFUSING
from adjoint.tensors.located import at_user
from adjoint.transforms import grad as transforms
from adjoint.transforms import jacobians
from adjoint.transforms import vmap as batching

from ._errors import as_pytorchs
from ._missing import getter
from ._names import refuse
from ._parts import comes_from
from ._tensor import Core, as_torch

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
    "jvp", "linearize", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def inside(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gets tensors of PyTorch's kind where a transformation gives it the core's.

    They stand for the arguments, so what is written to those that are differentiated by would reach nobody: that raises.
    """

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def called(*args: Any, **keywords: Any) -> Any:
        given = as_torch(args)
        tensors = [x for x in tree.flatten(given)[0] if isinstance(x, Core)]
        nodes = [x.node for x in tensors]
        held = [(x, x.node) for x in captured(f)]
        out = f(*given, **{k: as_torch(v) for k, v in keywords.items()})
        for x, node in held:
            if x.node is not node:
                x.node = node
                raise RuntimeError(
                    f"{getattr(f, '__name__', 'the function')} writes in place to a tensor of shape {tuple(x.shape)} that it was "
                    f"not given; give it as an argument, or write to its clone(){at_user()}"
                )
        if any([node.tracked and x.node is not node for x, node in zip(tensors, nodes, strict=True)]):
            raise RuntimeError(
                f"{getattr(f, '__name__', 'the function')} writes in place to an argument that it is differentiated by; write to "
                f"its clone(){at_user()}"
            )
        return out

    return called


DRAWN = (
    'vmap: the function draws random numbers; write randomness="different" for other ones in each example, or "same", or draw '
    "them outside"
)
LOOKED_AT = 1000  # a longer list is data


def captured(f: Any) -> list[Any]:
    """The tensors that a function has besides its arguments: in its closure, its defaults, the globals that it names, in lists,
    dictionaries, modules and other functions among these."""
    found: list[Any] = []
    seen: set[int] = set()
    stack: list[Any] = [f]
    while stack:
        x = stack.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Core):
            found.append(x)
        elif isinstance(x, CoreModule):
            stack += [*x.parameters(), *x.buffers()]
        elif isinstance(x, (list, tuple, dict)) and len(x) <= LOOKED_AT:
            stack += x.values() if isinstance(x, dict) else x
        elif isinstance(x, functools.partial):
            stack += [x.func, *x.args, *x.keywords.values()]
        elif isinstance(x, types.MethodType):
            stack += [x.__func__, x.__self__]
        elif isinstance(x, types.FunctionType) and not (x.__module__ or "").startswith("adjoint."):
            stack += x.__defaults__ or ()
            stack += [cell.cell_contents for cell in x.__closure__ or () if _is_filled(cell)]
            stack += [x.__globals__[name] for name in x.__code__.co_names if name in x.__globals__]
    return found


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # a name that is bound later
        return False


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: what it writes in place is recorded as new values anyway, views included."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(f"functionalize: remove is 'mutations' or 'mutations_and_views', not {remove!r}{at_user()}")
    return func


def scalar(name: str, f: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
    """A function to be differentiated, which must return a tensor, with `has_aux` as the first of two."""

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        out = f(*args, **keywords)
        value = out[0] if has_aux and isinstance(out, tuple) and out else out
        if not isinstance(value, (Core, tuple)):
            raise RuntimeError(f"{name}: the function must return a tensor, not a {type(value).__name__}{at_user()}")
        return out

    return called


def outside(f: Callable[..., Any]) -> Callable[..., Any]:
    """A transformed function whose results are of PyTorch's kind."""

    def called(*args: Any, **keywords: Any) -> Any:
        try:
            return as_torch(f(*args, **keywords))
        except (ValueError, TypeError) as error:
            raise as_pytorchs(error) from None

    return called


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives the gradient of one that returns a number."""
    return outside(transforms.grad(scalar("grad", inside(func), has_aux), argnums, has_aux))


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives gradient and value, in this order."""
    both = transforms.value_and_grad(scalar("grad_and_value", inside(func), has_aux), argnums, has_aux)

    def called(*args: Any, **keywords: Any) -> Any:
        value, gradient = both(*args, **keywords)
        return gradient, value

    return outside(called)


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value and the pullback, which with one primal gives its cotangent alone; with `has_aux` also what comes beside."""
    out, pull, *aux = outside(transforms.vjp)(inside(func), *primals, has_aux=has_aux)
    pull = outside(pull)

    def pullback(*cotangents: Any) -> Any:
        found = as_torch(pull(cotangents[0] if len(cotangents) == 1 else cotangents))
        return tuple(found) if isinstance(found, (tuple, list)) else found

    return (as_torch(out), pullback, *[as_torch(x) for x in aux])


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The value and the derivative along tangents; with `has_aux` also what the function returns beside its value."""
    refuse("func.jvp", "strict", strict, False)
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(f"jvp: primals and tangents are tuples; write (x,), (t,){at_user()}")
    return tuple(outside(transforms.jvp)(inside(func), primals, tangents, has_aux))


def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """The value and the linear function of tangents."""
    out, push = jacobians.linearize(inside(func), *primals)
    return as_torch(out), outside(push)


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: Any = None
) -> Callable[..., Any]:
    """A function over a batch. What it draws is an error, with `randomness="different"` other numbers for each example, with
    "same" the same for all.

    The batch is computed at once, whatever `chunk_size` says.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"vmap: randomness is 'error', 'different' or 'same', not {randomness!r}{at_user()}")
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise ValueError(f"vmap: chunk_size is None or a positive number, not {chunk_size!r}{at_user()}")

    def mapped(*args: Any, **keywords: Any) -> Any:
        leaves, axes = tree.flatten(args)[0], batching.input_axes(in_dims, args)
        written: list[int] = []  # the arguments that the function writes to in place; the shared ones are themselves
        places: list[Any] = []

        @functools.wraps(func, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
        def one(*given: Any, **named: Any) -> Any:
            tensors = tree.flatten(as_torch(given))[0]
            before = [(i, x, x.node) for i, x in enumerate(tensors) if isinstance(x, Core)]
            held = [(x, x.node) for x in captured(func)]
            if randomness == "same":  # as if each were the first example
                *around, example = EXAMPLES.get()
                EXAMPLES.set((*around, ops.zeros(example.type)))
            refusing = REFUSING.get()
            try:  # from before it is set: a signal's handler may come right after
                REFUSING.set(DRAWN if randomness == "error" else refusing)
                out = func(*given, **{k: as_torch(v) for k, v in named.items()})
            finally:
                REFUSING.set(refusing)
            for x, node in held:
                if x.node is not node and comes_from([x.node], {node for _, _, node in before}):
                    x.node = node
                    raise RuntimeError(
                        f"vmap: a value for each example is written in place to a tensor of shape {tuple(x.shape)} that all "
                        f"share; give it as an argument{at_user()}"
                    )
            for value in tree.flatten(out)[0]:
                if not isinstance(value, Core):
                    raise ValueError(f"vmap: the function must return tensors, not a {type(value).__name__}{at_user()}")
            written[:] = [i for i, x, node in before if x.node is not node]
            places[:] = [axes[i] for i in written]
            return out, [tensors[i] for i in written]

        out, values = batching.vmap(one, in_dims, (out_dims, places))(*args, **keywords)
        for i, place, value in zip(written, places, values, strict=True):
            if place is not None:
                leaves[i]._assign(value.node, "in-place operation under vmap")
        return out

    return outside(mapped)


def jacrev(
    func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False, chunk_size: Any = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The Jacobian in reverse mode; with `has_aux` also what the function returns beside its value."""
    return outside(jacobians.jacrev(inside(func), argnums, has_aux))


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The Jacobian in forward mode; with `has_aux` also what the function returns beside its value."""
    refuse("func.jacfwd", "randomness", randomness, "error", "different", "same")
    called = inside(func)
    return outside(jacobians.jacfwd(_drawing_nothing(called) if randomness == "error" else called, argnums, has_aux))


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The second derivatives. What the function draws is an error, as in `jacfwd`."""
    return outside(jacobians.hessian(_drawing_nothing(inside(func)), argnums))


def _drawing_nothing(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that may draw no random numbers: PyTorch calls it for a batch of tangents."""

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        before = REFUSING.get()
        REFUSING.set(DRAWN)
        try:
            return f(*args, **keywords)
        finally:
            REFUSING.set(before)

    return called


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: Any = None, *, tie_weights: bool = True,
    strict: bool = False,
) -> Any:  # fmt: skip
    """What a module gives with these tensors in place of its own."""
    found = functional_calls.called(
        module, parameter_and_buffer_dicts, () if args is None else args, kwargs, tie_weights, strict, keeps=True
    )
    return as_torch(found)


def stack_module_state(models: Any) -> Any:
    """The parameters and buffers of models, stacked."""
    return as_torch(functional_calls.stack_module_state(models))


__getattr__ = getter("torch.func", globals())
