"""What is called before and after a module's forward pass, and when a reverse pass goes through the module."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from adjoint import tracing, tree
from adjoint.tensors import Tensor
from adjoint.tensors.hooks import HookHandle
from adjoint.tensors.located import at_user
from adjoint.transforms.custom import passing

__all__ = ["HookHandle", "Hooks", "called", "remove_by"]

Registered = dict[int, tuple[Callable[..., Any], bool]]  # by number: the hook, and whether it takes keywords
Gradients = tuple[Tensor | None, ...]

_numbers = itertools.count()


class Hooked(Protocol):
    """What has hooks: a module."""

    _hooks: Hooks | None


def remove_by(owner: Hooked, number: int) -> HookHandle:
    """The handle of a module's hook."""

    def take_out() -> None:
        hooks = owner._hooks
        if hooks is not None and any(number in kind for kind in hooks):
            tracing.refuse(owner, f"the hooks of {type(owner).__name__}")
            rest = hooks.without(number)
            if any(rest):
                owner._hooks = rest
            else:
                del owner._hooks  # as it was before there were any

    return HookHandle(take_out)


class Hooks(NamedTuple):
    """The hooks of one module, in the order of their calls. A module with other hooks has another object of this class."""

    pre: Registered = {}  # noqa: RUF012 - never changed
    post: Registered = {}  # noqa: RUF012
    backward_pre: Registered = {}  # noqa: RUF012
    backward: Registered = {}  # noqa: RUF012

    def with_one(self, kind: str, hook: Callable[..., Any], prepend: bool, with_kwargs: bool) -> tuple[Hooks, int]:
        """These and one more of a kind, last or (`prepend`) first; and its number."""
        number = next(_numbers)
        one, own = {number: (hook, with_kwargs)}, getattr(self, kind)
        return self._replace(**{kind: one | own if prepend else own | one}), number

    def without(self, number: int) -> Hooks:
        """These but the one of this number."""
        return Hooks(*[{k: x for k, x in registered.items() if k != number} for registered in self])

    def before(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments after all hooks. Raises TypeError for a hook whose result can't be taken."""
        for hook, with_kwargs in list(self.pre.values()):
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

    def after(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        """The output after all hooks."""
        for hook, with_kwargs in list(self.post.values()):
            found = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
            if found is not None:
                output = found
        return output

    def around(self, module: Any, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Callable[[Any], Any]]:
        """The arguments as they go into the module, and what the output goes through: a reverse pass calls the hooks there."""
        if not self.backward and not self.backward_pre:
            return args, lambda output: output
        seen: list[Gradients] = [()]  # the gradients by the outputs, once a reverse pass has them

        def leaving(gradients: Gradients) -> Gradients:
            for hook, _ in list(self.backward_pre.values()):
                gradients = _replaced(hook, hook(module, gradients), gradients)
            seen[0] = gradients
            return gradients if inner else entering((None,) * len(args), gradients)

        def entering(found: Gradients, gradients: Gradients | None = None) -> Gradients:
            for hook, _ in list(self.backward.values()):
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


def called(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a module with hooks gives. Hooks may take themselves or others out, or add some, which counts from then on."""
    args, kwargs = module._hooks.before(module, args, kwargs)
    args, leaving = (module._hooks or Hooks()).around(module, args)
    output = module.forward(*args, **kwargs)
    return leaving((module._hooks or Hooks()).after(module, args, kwargs, output))


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
