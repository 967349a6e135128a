"""Registration: one place where each function gets its names, its method and its in-place method, and what all share."""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable
from sys import _getframe
from typing import Any, TypeVar

from adjoint.composites.recipes import remembered_as_given
from adjoint.graph import MODE, NARROW, Calls, Mode, Scope, get_mode
from adjoint.primitives import elementwise
from adjoint.primitives.core import cast
from adjoint.tensors.composing import composites
from adjoint.tensors.located import PACKAGE, at_user, give_site, located, user_frame
from adjoint.tensors.named import new, wrap

from ._autocast import apart, narrowed
from ._errors import as_pytorchs
from ._tensor import Core, Tensor, as_torch
from ._view_tensors import SURFACE, following, following_a_list

__all__ = [
    "FUNCTIONS", "IN_PLACE", "METHODS", "at_users_line", "function", "like", "method", "pair_type",
    "numbers_between", "recorded_at_user", "refuse", "with_keywords", "with_positions", "written",
]  # fmt: skip

FUNCTIONS: dict[str, Callable[..., Any]] = {}
METHODS: dict[str, Callable[..., Any]] = {}
IN_PLACE: dict[str, Callable[..., Any]] = {}
OF_NODES: dict[str, Callable[[Any, Any], Any]] = {  # what two floating tensors of one type need no more than
    name: getattr(elementwise, kind)
    for kind, names in {"add": ("add",), "subtract": ("sub", "subtract"), "multiply": ("mul", "multiply"),
                        "divide": ("div", "divide", "true_divide")}.items()
    for name in names
}  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
Quick = Callable[[tuple[Any, ...]], Any]

# other names of arguments: NumPy's, which PyTorch takes too, and its documents' beside its own
ALIASES = [
    ("axis", "dim"), ("keepdims", "keepdim"), ("x", "input"), ("x1", "input"), ("x2", "other"), ("a", "input"), ("A", "input"),
    ("input", "A"), ("input", "x"), ("b", "B"), ("other", "B"),
]  # fmt: skip
CONSTRUCTION = [  # what functions that make tensors take besides, as `**options`
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
    for name, default in {
        "dtype": None, "layout": None, "device": None, "requires_grad": False, "pin_memory": False, "memory_format": None,
    }.items()
]  # fmt: skip
OUT = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)


# functions whose first operand may be a number beside a tensor
NUMBERS_FIRST = set(
    """bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift float_power pow remainder
xlogy result_type mul multiply true_divide floor_divide add sub subtract div divide rsub xlog1py zeta polygamma
addmm addmv addr addbmm baddbmm""".split()
)


def at_users_line(f: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What a function gives, as tensors of PyTorch's kind, recorded at the line of whoever called its caller."""
    if NARROW:
        f = narrowed(f)
    outer = get_mode()
    scope = outer.site
    if scope is None or (type(scope) is Scope and scope.user):  # outside of all, or in a function of a user's module
        frame: Any = _getframe(2)
        if frame.f_code.co_filename.startswith(PACKAGE):
            frame = user_frame(3) or frame
        site = frame.f_code if scope is None else located(scope, frame.f_code)
        try:  # an interrupt comes after a call: the mode is set back wherever that is
            MODE.set(Mode(outer.grad, site, frame.f_lasti, outer.outer))
            result = f(*args, **keywords)
        except (ValueError, TypeError) as error:
            raise as_pytorchs(error) from None
        finally:
            MODE.set(outer)
    else:
        result = f(*args, **keywords)
    return result if type(result) is Tensor else as_torch(result)


def recorded_at_user(f: Callable[..., Any], quick: Quick | None = None) -> Callable[..., Any]:
    """The function with the user's line as where its operations are recorded, and tensors of PyTorch's kind as results. `quick`
    is asked first: it has the one node of a call that is as simple as most, and None for others."""
    signature = inspect.signature(f)
    names = signature.parameters
    aliases = {alias: name for alias, name in ALIASES if name in names and alias not in names}
    takes_out = "out" in names
    of_tensor = next(iter(names), "") == "input" and f.__name__.rstrip("_") not in NUMBERS_FIRST
    of_list = next(iter(names), "") == "tensors" and names["tensors"].kind is not inspect.Parameter.VAR_POSITIONAL
    flags = {i: name for i, (name, p) in enumerate(names.items()) if p.annotation in (bool, "bool")}
    first_flag = min(flags, default=len(names))
    looks_at_first = of_tensor or of_list

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        if not keywords:
            if quick is not None and not (NARROW and f.__name__ == "mm"):  # which an autocast narrows
                node = quick(args)
                if node is not None:
                    return _at_callers_line(node, _getframe(1))
            if len(args) <= first_flag and (not looks_at_first or (args and isinstance(args[0], Core) is of_tensor)):
                return at_users_line(f, args, keywords)
        out = None
        if keywords:
            for alias, name in aliases.items():
                if alias in keywords:
                    keywords[name] = keywords.pop(alias)
            if not takes_out:
                out = keywords.pop("out", None)
            for name in flags.values():
                if name in keywords:
                    check_flag(f, name, keywords[name])
        if len(args) > first_flag:
            for i, name in flags.items():
                if i < len(args):
                    check_flag(f, name, args[i])
        if of_list and args and isinstance(args[0], Core):
            raise TypeError(
                f"{f.__name__}: it takes a list or tuple of tensors, not a tensor; write {f.__name__}([a, b]){at_user()}"
            )
        if of_tensor and not isinstance(args[0] if args else keywords.get("input"), Core):
            given = args[0] if args else keywords.get("input")
            own = getattr(given, f.__name__, None) if hasattr(given, "to_dense") else None
            if own is not None:  # mm(a, b) of a sparse matrix
                return own(*args[1:], **keywords)
            raise TypeError(f"{f.__name__}: expected a tensor, got {type(given).__name__}{at_user()}")
        if out is None:
            return at_users_line(f, args, keywords)
        return written(out, apart(at_users_line, f, args, keywords))

    called.aliases = aliases  # type: ignore[attr-defined]
    called.__signature__ = signature if takes_out else with_keywords(signature, OUT)  # type: ignore[attr-defined]
    return called


def _at_callers_line(node: Any, frame: Any) -> Tensor:
    """The tensor of a node just recorded for who called from a frame."""
    if node.site is None or type(node.site) is Scope:
        if frame.f_code.co_filename.startswith(PACKAGE):
            frame = user_frame(3) or frame
        give_site(node, frame)
    tensor = new(Tensor)
    tensor.node = node
    return tensor


def check_flag(f: Callable[..., Any], name: str, value: Any) -> None:
    """Raise TypeError for what only looks true or false, such as a text."""
    if not isinstance(value, (bool, Core)):
        raise TypeError(f"{f.__name__}: {name} must be True or False, not {value!r}{at_user()}")


def with_keywords(signature: inspect.Signature, *more: inspect.Parameter) -> inspect.Signature:
    """A signature with more arguments by keyword alone. `**options` are what makes tensors takes, by name."""
    kept = [p for p in signature.parameters.values() if p.name != "options"]
    if len(kept) < len(signature.parameters):
        more = (*CONSTRUCTION, *more)
    added = [p for p in more if p.name not in signature.parameters]
    return signature.replace(parameters=sorted([*kept, *added], key=lambda p: p.kind))


def like(f: F, other: Callable[..., Any], *inserted: inspect.Parameter) -> F:
    """A function with the signature of the one that it calls, with more arguments after the first."""
    first, *rest = [p for p in inspect.signature(other).parameters.values() if p.name != "out"]
    f.__signature__ = inspect.Signature([first, *inserted, *rest])  # type: ignore[attr-defined]
    f.__wrapped__ = other  # type: ignore[attr-defined]
    return f


def refuse(where: str, argument: str, value: Any, *allowed: Any) -> None:
    """Raise TypeError for an argument that has no meaning here, unless it says what is the case anyway."""
    if not any(value is x or (type(value) is type(x) and value == x) for x in (None, *allowed)):
        raise TypeError(f"{where}: {argument}={value!r} isn't here; leave {argument} out{at_user()}")


def written(out: Any, result: Any) -> Any:
    """What `out=` asks for: the results as new values of these tensors."""
    if isinstance(result, tuple):
        for target, value in zip(out, result, strict=True):
            written(target, value)
        return type(result)(*out) if hasattr(result, "_fields") else tuple(out)
    node = result.node
    if node.tracked and isinstance(out, Tensor) and out.requires_grad:
        raise RuntimeError(f"out=: the function is differentiated, which needs a result of its own{at_user()}")
    if node.dtype is not out.dtype:
        if "buifc".index(node.dtype.kind) > "buifc".index(out.dtype.kind):
            raise RuntimeError(f"out=: a {node.dtype.name} result doesn't fit a {out.dtype.name} tensor{at_user()}")
        node = cast(node, out.dtype)
    if node.shape != tuple(out.shape) and type(out) is Tensor:
        out.node = node
    else:
        out._assign(node, "out=")
    return out


def function(
    *names: str, methods: bool = True, in_place: bool = False, quick: Quick | None = None, follows: bool | str = False
) -> Callable[[F], F]:
    """Register a function of `torch` under its own name and others; as a method too; and its in-place method. Calls of one that
    `follows` may be native code's: see `following`, and of one that follows "a list" `following_a_list`."""

    def register(f: F) -> F:
        plain = recorded_at_user(f, quick)
        called = (following_a_list if follows == "a list" else following)(plain) if follows else plain
        for name in (f.__name__.rstrip("_"), *names):
            FUNCTIONS[name] = called
            if methods:
                METHODS[name] = called
            if in_place:
                make_in_place(name, plain)
        return f

    return register


def numbers_between(*names: str) -> Callable[[F], F]:
    """Take these keywords as numbers behind the first tensor, too, as PyTorch does for programs of its first releases:
    `x.add_(-lr, g)` for `x.add_(g, alpha=-lr)`, and of the function `addmm(2, x, a, b)`. It stands below `function`."""

    def register(f: F) -> F:
        kinds = inspect.signature(f).parameters.values()
        places = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in kinds)

        @functools.wraps(f)
        def called(*args: Any, **keywords: Any) -> Any:
            if names[0] == "beta" and len(args) > 1 and isinstance(args[1], Core) and not isinstance(args[0], Core):
                args = (args[1], args[0], *args[2:])
            more = len(args) - places
            if 0 < more <= len(names) and not keywords:
                tensors, numbers = (args[0], *args[1 + more :]), args[1 : 1 + more]
                if all([isinstance(x, Core) for x in tensors]) and not any([isinstance(x, Core) for x in numbers]):
                    return f(*tensors, **dict(zip(names, numbers, strict=False)))
            return f(*args, **keywords)

        return called  # type: ignore[return-value]

    return register


def method(*names: str) -> Callable[[F], F]:
    """Register a method that is no function of `torch`."""

    def register(f: F) -> F:
        called = recorded_at_user(f)
        for name in (f.__name__.rstrip("_") if not names else names[0], *names):
            METHODS[name] = called
        return f

    return register


def make_in_place(name: str, f: Callable[..., Any]) -> None:
    """The method, and function of `torch`, that gives a tensor the value of a function of it."""
    own = name + "_"
    of_nodes = OF_NODES.get(name)
    calls = None if of_nodes is None else Calls(SURFACE, looks=True)

    def changed(input: Tensor, *args: Any, **keywords: Any) -> Tensor:
        node = None
        if calls is not None and len(args) == 1 and not keywords:
            known = None if calls.again is None else calls.again(input, args[0])
            node = _sum_or_product(calls, of_nodes, input, args[0]) if known is None else known.node
        if node is None:
            node = (apart(f, input, *args, **keywords) if NARROW else f(input, *args, **keywords)).node
        try:
            input._assign(node, own)
        except (ValueError, TypeError) as error:
            raise as_pytorchs(error) from None
        return input

    changed.__name__ = changed.__qualname__ = own
    like(changed, f)
    changed.__doc__ = f"`{name}`, in place."
    METHODS[own] = IN_PLACE[own] = changed


def _sum_or_product(calls: Calls, of_nodes: Any, input: Tensor, other: Any) -> Any:
    """The one node of an operation on floating tensors of one type, without a look at the arguments; None for others."""
    if isinstance(other, Core):
        a, b = input.node, other.node
        if a.type is b.type and a.type.inexact:
            node = of_nodes(a, b)
            frame = user_frame(3) or _getframe(2)
            give_site(node, frame)
            if calls.again is not None:
                made = new(Tensor)
                made.node = node
                calls.learn((input, other), made, frame)
            return node
    return None


def with_positions(f: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    """What a function that looks at no value gives for a tensor and plain arguments, two tensors: as PyTorch's named tuple of
    values and positions, by recipes."""
    name = f.__name__.strip("_")

    @remembered_as_given
    def recorded(x: Any, *args: Any) -> list[Any]:
        return [y.node for y in f(wrap(x), *args)]

    def called(input: Any, *args: Any) -> Any:
        return pair_type(name, "values", "indices")(*composites(name, recorded, input.node, *args))

    return called


@functools.cache
def pair_type(name: str, *fields: str) -> Any:
    """The named tuple that a function returns."""
    kind = namedtuple(name, fields)  # type: ignore[misc]
    kind.__module__ = "torch.return_types"
    kind.__repr__ = _as_return_type  # type: ignore[method-assign]
    return kind


def _as_return_type(self: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"torch.return_types.{type(self).__name__}(\n{fields})"
