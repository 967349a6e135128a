"""What is called before and after a module's forward pass, and when a reverse pass goes through the module."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any, Protocol

from adjoint import tracing, tree
from adjoint._tuples import NamedTuple
from adjoint.tensors import Tensor
from adjoint.tensors.hooks import HookHandle
from adjoint.tensors.located import at_user
from adjoint.transforms.custom import passing

__all__ = [
    "HookHandle", "Hooks", "Registered", "add_to", "called", "everywhere", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "remove_by",
]  # fmt: skip

Gradients = tuple[Tensor | None, ...]

_numbers = itertools.count()


class Registered(NamedTuple):
    """A hook, whether it takes keywords, and whether it is called after errors too."""

    hook: Callable[..., Any]
    with_kwargs: bool
    always: bool = False


class Hooked(Protocol):
    """What has hooks: a module, or all of them."""

    _hooks: Hooks | None


def add_to(owner: Hooked, kind: str, registered: Registered, prepend: bool) -> HookHandle:
    """Give a module, or all, one more hook of a kind, last or (`prepend`) first. The handle takes it out again."""
    tracing.refuse(owner, _of(owner))
    number = next(_numbers)
    hooks = owner._hooks or Hooks()
    one, own = {number: registered}, getattr(hooks, kind)
    owner._hooks = hooks._replace(**{kind: one | own if prepend else own | one})
    return remove_by(owner, number)


def _of(owner: Hooked) -> str:
    return f"the hooks of {'all modules' if owner is everywhere else type(owner).__name__}"


def remove_by(owner: Hooked, number: int) -> HookHandle:
    """The handle of a hook."""

    def take_out() -> None:
        hooks = owner._hooks
        if hooks is not None and any(number in kind for kind in hooks):
            tracing.refuse(owner, _of(owner))
            rest = hooks.without(number)
            if any(rest):
                owner._hooks = rest
            else:
                del owner._hooks  # as it was before there were any

    return HookHandle(take_out)


class Hooks(NamedTuple):
    """The hooks of one module, in the order of their calls. A module with other hooks has another object of this class."""

    pre: dict[int, Registered] = {}  # noqa: RUF012 - never changed
    post: dict[int, Registered] = {}  # noqa: RUF012
    backward_pre: dict[int, Registered] = {}  # noqa: RUF012
    backward: dict[int, Registered] = {}  # noqa: RUF012

    def without(self, number: int) -> Hooks:
        """These but the one of this number."""
        return Hooks(*[{k: x for k, x in registered.items() if k != number} for registered in self])

    def before(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments after all hooks. Raises TypeError for a hook whose result can't be taken."""
        for hook, with_kwargs, _ in list(self.pre.values()):
            if with_kwargs:
                found = hook(module, args, kwargs)
                if found is None:
                    continue
                if not (isinstance(found, tuple) and len(found) == 2):
                    raise TypeError(f"a forward pre-hook with keywords returns None or (args, kwargs), not {found!r}")
                args, kwargs = found
            else:
                found = hook(module, args)
                if found is not None:
                    args = found if isinstance(found, tuple) else (found,)
        return args, kwargs

    def around(self, module: Any, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Callable[[Any], Any]]:
        """The arguments as they go into the module, and what the output goes through: a reverse pass calls the hooks there."""
        if not self.backward and not self.backward_pre:
            return args, lambda output: output
        seen: list[Gradients] = [()]  # the gradients by the outputs, once a reverse pass has them

        def leaving(gradients: Gradients) -> Gradients:
            for hook, *_ in list(self.backward_pre.values()):
                gradients = _replaced(hook, hook(module, gradients), gradients)
            seen[0] = gradients
            return gradients if inner else entering((None,) * len(args), gradients)

        def entering(found: Gradients, gradients: Gradients | None = None) -> Gradients:
            for hook, *_ in list(self.backward.values()):
                found = _replaced(hook, hook(module, found, seen[0]), found)
            return found if gradients is None else gradients

        inner = [k for k, x in enumerate(args) if isinstance(x, Tensor) and x.requires_grad]
        given = list(args)
        if inner and self.backward:
            chosen = [args[k] for k in inner]
            tensors = passing("backward hook", chosen, lambda u: _picked(entering(_spread(u, inner, args)), inner))
            for k, x in zip(inner, tensors, strict=True):
                given[k] = x

        def out(output: Any) -> Any:
            leaves, structure = tree.flatten(output)
            tracked = [k for k, x in enumerate(leaves) if isinstance(x, Tensor) and x.requires_grad]
            if not tracked:
                return output
            chosen = [leaves[k] for k in tracked]
            passed = passing("backward hook", chosen, lambda u: _picked(leaving(_spread(u, tracked, leaves)), tracked))
            for k, x in zip(tracked, passed, strict=True):
                leaves[k] = x
            return structure.unflatten(leaves)

        return tuple(given), out


class Everywhere(tracing.Watched):
    """What all modules share: hooks that are called around each of them, before its own."""

    _hooks: Hooks | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        tracing.changed()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        tracing.changed()


everywhere = Everywhere()


def hooks_of(module: Hooked) -> Hooks:
    """The hooks that count for a module now: those of all modules, then its own."""
    shared, own = everywhere._hooks, module._hooks
    if shared is None or own is None:
        return shared or own or Hooks()
    return Hooks(*[a | b for a, b in zip(shared, own, strict=True)])


def called(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a module with hooks gives. Hooks may take themselves or others out, or add some, which counts from then on."""
    output: Any = None
    finished: set[int] = set()
    try:
        args, kwargs = hooks_of(module).before(module, args, kwargs)
        args, leaving = hooks_of(module).around(module, args)
        output = module.forward(*args, **kwargs)
        for number, registered in list(hooks_of(module).post.items()):
            finished.add(number)
            output = _after(registered, module, args, kwargs, output)
        return leaving(output)
    except Exception:
        for number, registered in list(hooks_of(module).post.items()):
            if registered.always and number not in finished:
                try:
                    output = _after(registered, module, args, kwargs, output)
                except Exception as error:
                    warnings.warn(f"a forward hook raised after another error had been raised: {error!r}", stacklevel=2)
        raise


def _after(registered: Registered, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
    """The output after a forward hook."""
    hook = registered.hook
    found = hook(module, args, kwargs, output) if registered.with_kwargs else hook(module, args, output)
    return output if found is None else found


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call `hook(module, args)` before each call of any module, before the module's own hooks.

    It is `Module.register_forward_pre_hook` for all modules, layers inside others too.

    >>> import adjoint as ad
    >>> with ad.nn.register_module_forward_pre_hook(lambda module, args: print(type(module).__name__, args[0].shape)):
    ...     y = ad.nn.Sequential(ad.nn.Linear(3, 2))(ad.ones((5, 3)))
    Sequential (5, 3)
    Linear (5, 3)
    """
    return add_to(everywhere, "pre", Registered(hook, False), prepend=False)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> HookHandle:
    """Call `hook(module, args, output)` after each call of any module, before the module's own hooks.

    It is `Module.register_forward_hook` for all modules, layers inside others too.

    >>> import adjoint as ad
    >>> seen = []
    >>> model = ad.nn.Sequential(ad.nn.Linear(3, 2), ad.nn.ReLU())
    >>> with ad.nn.register_module_forward_hook(lambda module, args, output: seen.append(type(module).__name__)):
    ...     y = model(ad.ones(3))
    >>> seen
    ['Linear', 'ReLU', 'Sequential']
    """
    return add_to(everywhere, "post", Registered(hook, with_kwargs, always_call), prepend=False)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call `hook(module, grad_output)` when a reverse pass comes to a call of any module, before the module's own hooks.

    >>> import adjoint as ad
    >>> with ad.nn.register_module_full_backward_pre_hook(lambda module, grads: print(type(module).__name__, grads[0].item())):
    ...     ad.nn.Linear(3, 1)(ad.ones(3)).sum().backward()
    Linear 1.0
    """
    return add_to(everywhere, "backward_pre", Registered(hook, False), prepend=False)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call `hook(module, grad_input, grad_output)` when a reverse pass has gone through a call of any module.

    >>> import adjoint as ad
    >>> def show(module, grad_input, grad_output):
    ...     print(type(module).__name__, grad_input[0].shape, grad_output[0].shape)
    >>> with ad.nn.register_module_full_backward_hook(show):
    ...     ad.nn.Linear(3, 2)(ad.variable([1.0, 2.0, 3.0])).sum().backward()
    Linear (3,) (2,)
    """
    return add_to(everywhere, "backward", Registered(hook, False), prepend=False)


def _spread(gradients: Gradients, places: list[int], among: Any) -> Gradients:
    """Gradients of some of many values, None for the others."""
    found: list[Tensor | None] = [None] * len(among)
    for k, gradient in zip(places, gradients, strict=True):
        found[k] = gradient
    return tuple(found)


def _picked(gradients: Gradients, places: list[int]) -> Gradients:
    return tuple([gradients[k] for k in places])


def _replaced(hook: Any, found: Any, before: Gradients) -> Gradients:
    """What a hook makes of gradients. Raises TypeError for what isn't as many."""
    if found is None:
        return before
    after = found if isinstance(found, tuple) else (found,)
    if len(after) != len(before):
        name = getattr(hook, "__name__", type(hook).__name__)
        raise TypeError(
            f"the backward hook {name} returned {len(after)} gradients in place of {len(before)}{at_user()}"
        )
    return after
