"""Updates of tables of which a step uses few rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adjoint.composites.rows import added_up, rows_of
from adjoint.primitives.core import ops
from adjoint.tensors import Tensor
from adjoint.tensors.functions import any, where, zeros_like
from adjoint.tensors.named import wrap

if TYPE_CHECKING:
    from .optimizer import Group, State

__all__ = ["update_rows"]

Update = Callable[..., Tensor]


def update_rows(update: Update, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
    """The new value of a table, by an `update` that goes element by element. Rows whose gradient is zero stay as they are, in the
    table and in the tensors of the state. Where the gradient is known by its rows, no others are looked at."""
    known = rows_of(gradient.node)
    remembers = [x for x in state.values() if isinstance(x, Tensor)]
    if known is None:
        if not remembers:
            return update(parameter, gradient, state, group)
        return _masked(update, parameter, gradient, state, group, lambda x: x.detach(), lambda x, new: new)
    rows, indices = added_up(known, parameter.shape[0])

    def take(x: Tensor) -> Tensor:
        return wrap(ops.gather(x.node, [indices]))

    def put(x: Tensor, new: Tensor) -> Tensor:
        return wrap(ops.scatter(x.node, new.node, [indices]))

    if not remembers:  # then zeros change nothing
        return put(parameter, update(take(parameter), wrap(rows), state, group))
    return _masked(update, parameter, wrap(rows), state, group, take, put)


def _masked(
    update: Update, parameter: Tensor, gradient: Tensor, state: State, group: Group,
    take: Callable[[Tensor], Tensor], put: Callable[[Tensor, Tensor], Tensor],
) -> Tensor:  # fmt: skip
    """An update of what `take` gives of the table and of the state, `put` where it came from, but for rows without a gradient."""
    used = any(gradient != 0, axis=tuple(range(1, gradient.ndim)), keepdims=True)
    before = {name: take(x) if _is_like(x, parameter) else x for name, x in state.items()}
    after: Any = {name: x.detach() if isinstance(x, Tensor) else state[name] for name, x in before.items()}
    taken = take(parameter)
    updated = update(taken, gradient, after, group)
    for name, x in after.items():
        if name not in state and isinstance(x, Tensor):
            state[name] = zeros_like(parameter)
        if not isinstance(x, Tensor):
            state[name] = x
        elif _is_like(state[name], parameter):
            state[name].data = put(state[name], where(used, x, before.get(name, 0.0)))
        else:
            state[name].data = x
    return put(parameter, where(used, updated, taken))


def _is_like(x: Any, parameter: Tensor) -> bool:
    return isinstance(x, Tensor) and x.shape == parameter.shape
