"""torch.autograd.functional: Jacobians, Hessians and their products, of functions of one tensor or of several.

Inputs, cotangents and tangents are a tensor or a tuple of them, and so are results. They are cut from the graph unless
`create_graph`. With `strict`, an output that doesn't depend on an input is a RuntimeError; else its derivative is zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.derive import one_cotangent, reverse
from adjoint.tensors.located import at_user
from adjoint.transforms import grad as transforms
from adjoint.transforms import jacobians
from adjoint.transforms.modes import enable_grad

from .._missing import getter
from .._tensor import Core, as_torch
from .._view_tensors import flat_view

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _listed(x: Any, what: str) -> tuple[bool, tuple[Any, ...]]:
    """Whether it is a tuple, and its tensors."""
    several = isinstance(x, (tuple, list))
    found = tuple(x) if several else (x,)
    for i, part in enumerate(found):
        if not isinstance(part, Core):
            place = f", place {i}," if several else ""
            raise TypeError(
                f"{what}{place} must be a tensor or a tuple of tensors, not {type(part).__name__}{at_user()}"
            )
    return several, found


def _of(x: tuple[Any, ...], several: bool) -> Any:
    return x if several else x[0]


def _cut(x: Any, create_graph: bool) -> Any:
    """Results, cut from the graph unless derivatives of them are wanted."""
    if isinstance(x, tuple):
        return tuple([_cut(part, create_graph) for part in x])
    return as_torch(x) if create_graph else as_torch(x).detach().clone()


def _fixed(x: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """The inputs, cut from the graph, or such that results are tracked."""
    if not create_graph:
        return tuple([part.detach() for part in x])
    return tuple([part if part.node.tracked else part.detach().clone().requires_grad_(True) for part in x])


def _called(name: str, func: Callable[..., Any], several: list[bool]) -> Callable[..., Any]:
    """The function on PyTorch's tensors, with a tuple as its result; `several` notes whether that was one."""

    def called(*args: Any) -> Any:
        many, outputs = _listed(func(*as_torch(args)), f"{name}: what the function returns")
        several[:] = [many]
        return outputs

    return called


def _scalar(name: str, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which must return one number."""

    def called(*args: Any) -> Any:
        _, outputs = _listed(func(*as_torch(args)), f"{name}: what the function returns")
        if len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError(f"{name}: the function must return one tensor with one element{at_user()}")
        return flat_view(outputs[0], ())

    return called


def _vectors(name: str, v: Any, like: tuple[Any, ...], what: str) -> tuple[Any, ...]:
    """`v` as tensors of these shapes; ones where it is left out for a single number."""
    if v is None:
        if len(like) != 1 or like[0].node.type.size != 1:
            raise RuntimeError(f"{name}: v may only be left out for {what} with a single element{at_user()}")
        return (as_torch(_tensor(one_cotangent(like[0].node))),)
    _, found = _listed(v, f"{name}: v")
    shapes, expected = [tuple(x.shape) for x in found], [tuple(x.shape) for x in like]
    if shapes != expected:
        raise RuntimeError(f"{name}: v has shapes {shapes}, {what} {expected}{at_user()}")
    return found


def _tensor(node: Any) -> Any:
    made = object.__new__(Core)
    made.node = node
    return made


def _check_strict(name: str, func: Callable[..., Any], xs: tuple[Any, ...], order: int = 1) -> None:
    """Raise where an output, or a first derivative, doesn't depend on an input."""
    with enable_grad():
        leaves = tuple([x.detach().clone().requires_grad_(True) for x in xs])
        outputs = _called(name, func, [])(*leaves)
        for i, y in enumerate(outputs):
            if not y.node.tracked:
                raise RuntimeError(f"{name}: strict, and output {i} doesn't depend on the inputs{at_user()}")
            found = reverse([y.node], [one_cotangent(y.node)], [x.node for x in leaves])
            for j, g in enumerate(found):
                if g is None:
                    raise RuntimeError(f"{name}: strict, and output {i} doesn't depend on input {j}{at_user()}")
                if order > 1 and not g.tracked:
                    raise RuntimeError(f"{name}: strict, and the derivative by input {j} is constant{at_user()}")


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """What the function gives, and the product of `v` with its Jacobian."""
    several, xs = _listed(inputs, "vjp: inputs")
    if strict:
        _check_strict("vjp", func, xs)
    many: list[bool] = []
    outputs, pull = transforms.vjp(_called("vjp", func, many), *_fixed(xs, create_graph))
    found = pull(_vectors("vjp", v, outputs, "outputs"))
    return _cut(_of(outputs, many[0]), create_graph), _cut(_of(tuple(found), several), create_graph)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """What the function gives, and the product of its Jacobian with `v`."""
    _, xs = _listed(inputs, "jvp: inputs")
    if strict:
        _check_strict("jvp", func, xs)
    many: list[bool] = []
    tangents = _vectors("jvp", v, xs, "inputs")
    outputs, moved = transforms.jvp(_called("jvp", func, many), _fixed(xs, create_graph), tangents)
    return _cut(_of(outputs, many[0]), create_graph), _cut(_of(moved, many[0]), create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: of each output by each input, of the shapes of both. It is computed as one batch, `vectorize` or not."""
    several, xs = _listed(inputs, "jacobian: inputs")
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f"jacobian: strategy is 'reverse-mode' or 'forward-mode', not {strategy!r}{at_user()}")
    if strict:
        _check_strict("jacobian", func, xs)
    many: list[bool] = []
    made = jacobians.jacrev if strategy == "reverse-mode" else jacobians.jacfwd
    found = made(_called("jacobian", func, many), tuple(range(len(xs))))(*_fixed(xs, create_graph))
    rows = tuple([_of(tuple(row), several) for row in found])
    return _cut(_of(rows, many[0]), create_graph)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function that returns one number: by each input and each input, of the shapes of both."""
    several, xs = _listed(inputs, "hessian: inputs")
    if strict:
        _check_strict("hessian", func, xs, 2)
    found = jacobians.hessian(_scalar("hessian", func), tuple(range(len(xs))))(*_fixed(xs, create_graph))
    rows = tuple([_of(tuple(row), several) for row in found])
    return _cut(_of(rows, several), create_graph)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """What a function gives that returns one number, and the product of its Hessian with `v`."""
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """What a function gives that returns one number, and the product of `v` with its Hessian, which is symmetric."""
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def _hessian_product(name: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool) -> Any:
    several, xs = _listed(inputs, f"{name}: inputs")
    if strict:
        _check_strict(name, func, xs, 2)
    tangents = _vectors(name, v, xs, "inputs")
    shape: list[tuple[int, ...]] = []

    def scalar(*args: Any) -> Any:
        out = func(*as_torch(args))
        number = _scalar(name, lambda: out)()
        shape[:] = [tuple(_listed(out, name)[1][0].shape)]
        return number

    primals = _fixed(xs, create_graph)
    both = transforms.value_and_grad(scalar, tuple(range(len(xs))))
    (value, _), (_, moved) = transforms.jvp(both, primals, tangents)
    return _cut(value.reshape(shape[0]), create_graph), _cut(_of(tuple(moved), several), create_graph)


__getattr__ = getter("torch.autograd.functional", globals())
