"""torch.func: transformations of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adjoint import tree
from adjoint.nn import functional_calls
from adjoint.tensors.located import at_user
from adjoint.transforms import grad as transforms
from adjoint.transforms import jacobians
from adjoint.transforms import vmap as batching

from ._errors import as_pytorchs
from ._missing import getter
from ._names import refuse
from ._tensor import Core, as_torch

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "stack_module_state", "vjp",
    "vmap",
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
        out = f(*given, **{k: as_torch(v) for k, v in keywords.items()})
        if any([node.tracked and x.node is not node for x, node in zip(tensors, nodes, strict=True)]):
            raise RuntimeError(
                f"{getattr(f, '__name__', 'the function')} writes in place to an argument that it is differentiated by; write to "
                f"its clone(){at_user()}"
            )
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
    return outside(transforms.grad(inside(func), argnums, has_aux))


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that gives gradient and value, in this order."""
    both = transforms.value_and_grad(inside(func), argnums, has_aux)

    def called(*args: Any, **keywords: Any) -> Any:
        value, gradient = both(*args, **keywords)
        return as_torch(gradient), as_torch(value)

    return called


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value and the pullback, which with one primal gives its cotangent alone; with `has_aux` also what comes beside."""
    out, pull, *aux = transforms.vjp(inside(func), *primals, has_aux=has_aux)

    def pullback(*cotangents: Any) -> Any:
        found = as_torch(pull(cotangents[0] if len(cotangents) == 1 else cotangents))
        return tuple(found) if isinstance(found, (tuple, list)) else found

    return (as_torch(out), pullback, *[as_torch(x) for x in aux])


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The value and the derivative along tangents; with `has_aux` also what the function returns beside its value."""
    refuse("func.jvp", "strict", strict, False)
    return tuple(as_torch(x) for x in transforms.jvp(inside(func), tuple(primals), tuple(tangents), has_aux))


def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """The value and the linear function of tangents."""
    out, push = jacobians.linearize(inside(func), *primals)
    return as_torch(out), outside(push)


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: Any = None
) -> Callable[..., Any]:
    """A function over a batch. Random numbers inside are other ones for each example.

    So `randomness="same"` is a TypeError. The batch is computed at once, whatever `chunk_size` says.
    """
    refuse("func.vmap", "randomness", randomness, "error", "different")
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
            out = func(*given, **{k: as_torch(v) for k, v in named.items()})
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
    refuse("func.jacfwd", "randomness", randomness, "error", "different", "same")  # the function is called once
    return outside(jacobians.jacfwd(inside(func), argnums, has_aux))


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """The second derivatives."""
    return outside(jacobians.hessian(inside(func), argnums))


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: Any = None, *, tie_weights: bool = True,
    strict: bool = False,
) -> Any:  # fmt: skip
    """What a module gives with these tensors in place of its own."""
    found = functional_calls.functional_call(
        module, parameter_and_buffer_dicts, () if args is None else args, kwargs, tie_weights=tie_weights, strict=strict
    )
    return as_torch(found)


def stack_module_state(models: Any) -> Any:
    """The parameters and buffers of models, stacked."""
    return as_torch(functional_calls.stack_module_state(models))


__getattr__ = getter("torch.func", globals())
