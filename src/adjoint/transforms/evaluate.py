"""Running recorded graphs: forcing values, and running a graph again with other leaf values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import execution, tree
from adjoint.control.reroll import reroll
from adjoint.derive import expand
from adjoint.graph import Node, substitute, topological
from adjoint.primitives.core import LEAF, VERSION, cast, leaf, placeholder
from adjoint.tensors.conversion import as_node
from adjoint.tensors.leaving import leave
from adjoint.tensors.located import at_user
from adjoint.tensors.named import variable_of, wrap
from adjoint.tensors.pending import settle
from adjoint.tensors.tensor import Tensor

__all__ = ["evaluate", "function"]


def evaluate(*tensors: Any) -> Any:
    """Compute the values of tensors (or trees of them) now, all in one evaluation, and give them back.

    With a mapping `{x: value, ...}` as the last argument, evaluate the recorded graph anew with other values for those
    tensors: the result is new, and the tensors keep their values. Raises ValueError where nothing depends on one of them
    (an untracked tensor forgets its graph once it has its value; a variable may be one of which the result is independent, as
    the gradient of what is linear is) or where shapes differ, TypeError for a key that is no tensor.

    >>> import adjoint as ad
    >>> x, z = ad.variable(2.0), ad.variable(0.0)
    >>> y = 3 * x**3 + 4 * x + 1 + x * z
    >>> ad.evaluate(y, {x: 3.0})
    Tensor(94.)
    """
    items = list(tensors)
    bindings = items.pop() if len(items) > 1 and isinstance(items[-1], Mapping) else None
    for key in bindings or ():
        if not isinstance(key, Tensor):
            raise TypeError(
                f"evaluate: other values are given for tensors, as in {{x: 3.0}}, not for a {type(key).__name__}, "
                f"{key!r}{at_user()}"
            )
    result = items[0] if len(items) == 1 else tuple(items)
    leaves, structure = tree.flatten(result)
    found = [t for t in leaves if isinstance(t, Tensor)]
    if bindings is None:  # inside a traced function there is nothing to do yet
        settle([t.node for t in found])
        return result
    roots = _rebound([t.node for t in found], bindings)
    _leave(roots, "evaluate()")
    execution.evaluate(roots)
    values = iter([_value(root) for root in roots])
    return structure.unflatten([next(values) if isinstance(t, Tensor) else t for t in leaves])


def _leave(nodes: Sequence[Node], how: str) -> None:
    """What is computed with other values has no graph."""
    for node in nodes:
        if node.tracked:
            leave(node, how)


def _value(root: Node) -> Tensor:
    return wrap(leaf(root.value, root.type))


def _sources(tensor: Tensor, order: Sequence[Node]) -> list[Node]:
    """The nodes of a graph that a tensor stands for: its node, or any version of its variable."""
    variable = variable_of(tensor.node)
    if variable is None or not variable.tracked:
        return [node for node in order if node is tensor.node]
    return [
        node for node in order if (node.op in (LEAF, VERSION) and node.attributes is variable) or node is tensor.node
    ]


def _rebound(outputs: Sequence[Node], bindings: Mapping[Tensor, Any]) -> list[Node]:
    roots = expand(outputs)
    order = topological(roots)
    replacements: dict[Node, Node] = {}
    for tensor, value in bindings.items():
        node = cast(as_node(value, tensor.dtype), tensor.dtype)
        if node.shape != tensor.shape:
            raise ValueError(f"evaluate: shape {node.shape} given for a tensor of shape {tensor.shape}{at_user()}")
        replacements.update(dict.fromkeys(_found(tensor, order, "evaluate"), node))
    return substitute(roots, replacements)


def _found(tensor: Tensor, order: Sequence[Node], operation: str) -> list[Node]:
    """The nodes that a tensor stands for. Of a variable there may be none, as in the gradient of what is linear."""
    sources = _sources(tensor, order)
    if not sources and variable_of(tensor.node) is None:
        name = f" {tensor.name!r}" if tensor.name else ""
        remedy = (
            "What was computed under no_grad, or a second time, doesn't"
            if tensor.requires_grad
            else "An untracked tensor forgets its graph once it has its value; make the input with ad.variable(...)"
        )
        raise ValueError(f"{operation}: nothing here depends on the given tensor{name}. {remedy}{at_user()}")
    return sources


def function(inputs: Any, outputs: Any) -> Callable[..., Any]:
    """A function of a recorded graph: called with values for `inputs` (a list of tensors), it gives `outputs` (a tensor
    or tree of them) for those values. Compiled once; a call costs no recording.

    Values are numbers, arrays or tensors of the inputs' shapes; variables that aren't inputs keep the values they had.
    Derivatives are outputs like any other: see `ad.gradients`. Raises ValueError where nothing depends on an input (but
    for variables: a derivative may be constant), TypeError for another number of values.

    >>> import adjoint as ad
    >>> x, z = ad.variable(2.0), ad.variable(0.0)
    >>> y = 3 * x**3 + 4 * x + 1 + x * z
    >>> f = ad.function([x, z], [y, *ad.gradients(y, [x])])
    >>> f(3.0, 0.0)
    [Tensor(94.), Tensor(85.)]
    """
    given, _ = tree.flatten(inputs)
    leaves, structure = tree.flatten(outputs)
    for t in [*given, *leaves]:
        if not isinstance(t, Tensor):
            raise TypeError(f"function: inputs and outputs are tensors, got {type(t).__name__}{at_user()}")
    roots = expand([t.node for t in leaves])
    order = topological(roots)
    types = [t.node.type for t in given]
    labels = [f"input {t.name}" if t.name else f"argument {k} of a recorded function" for k, t in enumerate(given)]
    stand_ins = [placeholder(t, label, False) for t, label in zip(types, labels, strict=True)]
    replacements: dict[Node, Node] = {}
    for t, stand_in in zip(given, stand_ins, strict=True):
        replacements.update(dict.fromkeys(_found(t, order, "function"), stand_in))
    rebound = substitute(roots, replacements)
    replay = execution.Replay(rebound, stand_ins, reroll)
    result_types = [t.node.type for t in leaves]

    @functools.wraps(function, assigned=(), updated=())
    def call(*values: Any) -> Any:
        if len(values) != len(types):
            raise TypeError(f"function: expected {len(types)} values, got {len(values)}{at_user()}")
        _leave([*rebound, *[v.node for v in values if isinstance(v, Tensor)]], "a recorded function")
        arrays = [_array_for(v, t) for v, t in zip(values, types, strict=True)]
        results = execution.own(replay.run(arrays, replay.unknowns), arrays)
        return structure.unflatten([wrap(leaf(a, t)) for a, t in zip(results, result_types, strict=True)])

    call.replay = lambda: replay  # type: ignore[attr-defined] # for explanations
    call.leaf_names = lambda: [None] * len(stand_ins)  # type: ignore[attr-defined] # which are called as the inputs
    return call


def _array_for(value: Any, type: Any) -> Any:
    if isinstance(value, Tensor):
        execution.evaluate([value.node])
        value = value.node.value
    array = np.asarray(value, type.dtype.dtype)
    if array.shape != type.shape:
        raise ValueError(f"function: shape {array.shape} given where {type.shape} is needed{at_user()}")
    return array
