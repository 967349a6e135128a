"""What changes modules after they are made, and buffers as attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn, Self

from adjoint.nn.module import Module as CoreModule
from adjoint.primitives.core import LEAF, VERSION
from adjoint.tensors.assignment import rebind
from adjoint.tensors.functions import zeros as core_zeros
from adjoint.tensors.located import at_user

from .._creation import on_cpu
from .._tensor import torch_tensor

__all__ = ["Buffer", "Surgery", "check_name", "forget", "parameter_lines"]

OWN_GRADIENT = frozenset({LEAF, VERSION})  # what leaves are, whose variables hold their gradients


class Buffer:
    """Assigned to an attribute of a module, its tensor is a buffer of the module: `self.mask = nn.Buffer(torch.ones(3))`."""

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        self.data = torch_tensor([] if data is None else data).detach()
        self.persistent = persistent


class Surgery(CoreModule):
    """Methods of modules that are seldom needed."""

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """The module: its tensors are on the one device, and have some values."""
        on_cpu(device)
        return self

    def _named_members(
        self, get_members_fn: Any, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """What a function gives of this module and of all below it, as pairs, by their whole names: libraries walk modules so."""
        seen: set[int] = set()
        for place, module in (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        ):
            for name, value in get_members_fn(module):
                if value is not None and id(value) not in seen:
                    if remove_duplicate:
                        seen.add(id(value))
                    yield f"{place}.{name}" if place else name, value

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        parts = [f"({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules_held()]
        if len(lines) == 1 and not parts:
            return f"{self._get_name()}({extra})"
        inside = "".join([f"\n  {line}" for line in lines + parts])
        return f"{self._get_name()}({inside}\n)" if inside else f"{self._get_name()}()"

    def register_backward_hook(self, hook: Any) -> NoReturn:
        """Raises: PyTorch's gives the gradients of a module's last operation alone."""
        raise RuntimeError(f"register_backward_hook isn't here; use register_full_backward_hook(hook){at_user()}")


def check_name(module: Any, what: str, name: str) -> None:
    """Raise KeyError for what can't be the name of an attribute."""
    if not name or "." in name:
        raise KeyError(f"{type(module).__name__}: a {what} can't be called {name!r}; dots separate names{at_user()}")


def parameter_lines(named: Any, by_type: bool) -> str:
    """The lines of parameters in a list's print, or in that of a dictionary, which says types."""
    return "\n".join([
        f"  ({name}): Parameter containing: [{p.type() if by_type else f'torch.{p.dtype.name}'} of size "
        f"{'x'.join(map(str, p.shape))}]"
        for name, p in named
    ])  # fmt: skip


def forget(parameters: Any, set_to_none: bool) -> None:
    """Gradients become None; or zeros in place, where there are some."""
    for p in parameters:
        node = p.node
        if set_to_none and node.op in OWN_GRADIENT:
            if node.attributes is not None:
                node.attributes.grad = None
        elif set_to_none or p.grad is None:
            p.grad = None
        else:
            rebind(p.grad, core_zeros(tuple(p.shape), dtype=p.dtype).node)
