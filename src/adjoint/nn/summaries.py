"""What a network is made of: its layers, the shapes that pass through, its parameters, and the work of one pass.

The network is called once on zeros, in evaluation mode, and only recorded: shapes are known without a value, and the
recorded graph says what there is to compute.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adjoint import tree
from adjoint._tuples import NamedTuple
from adjoint.graph import Node, topological
from adjoint.shapes import Shape, as_shape
from adjoint.tensors import Tensor
from adjoint.tensors.functions import zeros
from adjoint.tensors.located import at_user

if TYPE_CHECKING:
    from .module import Module

__all__ = ["Row", "Summary", "flops", "summary"]


class Row(NamedTuple):
    """A module: how deep it lies, its name and class, its outputs' shapes, its own and all parameters, its work."""

    depth: int
    name: str
    kind: str
    shapes: tuple[Shape, ...]
    own_parameters: int
    parameters: int
    flops: int


class Summary(NamedTuple):
    """The rows of a table, the whole network first; printed, the table."""

    rows: list[Row]
    trainable: int
    frozen: int
    flops: int

    def __str__(self) -> str:
        """The table, one module a line, and what it adds up to."""
        cells = [("layer", "output", "parameters", "flops")]
        for row in self.rows:
            label = "  " * row.depth + (f"{row.name}: {row.kind}" if row.name else row.kind)
            shapes = ", ".join(map(str, row.shapes)) or "not called"
            cells.append(
                (label, shapes, f"{row.parameters:,}" if row.parameters else "", f"{row.flops:,}" if row.flops else "")
            )
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}".rstrip() for a, b, c, d in cells
        ]
        rule = "-" * (sum(widths) + 6)
        total = f"{self.trainable + self.frozen:,} parameters" + (
            f", {self.frozen:,} of them frozen" if self.frozen else ""
        )
        return "\n".join(
            [lines[0], rule, *lines[1:], rule, f"{total}; {self.flops:,} floating point operations forward"]
        )

    def __repr__(self) -> str:
        return str(self)


def summary(model: Module, *inputs: Any, dtype: Any = None) -> Summary:
    """The layers of a model with their outputs' shapes, parameters and floating point operations, for inputs of these shapes.

    Each of `inputs` is a shape, batch included, or a tensor to use as it is (integers, say). Multiply-adds of products and
    convolutions count as two operations, every element of an elementwise operation and of what a reduction reads as one;
    moving elements is free. A module that is called several times has the work of all calls. Nothing is computed, and the
    model stays as it was.

    >>> import adjoint as ad
    >>> ad.nn.summary(ad.nn.Sequential(ad.nn.Linear(4, 8), ad.nn.ReLU(), ad.nn.Linear(8, 2)), (1, 4))
    layer        output  parameters  flops
    --------------------------------------
    Sequential   (1, 2)          58    114
      0: Linear  (1, 8)          40     72
      1: ReLU    (1, 8)                  8
      2: Linear  (1, 2)          18     34
    --------------------------------------
    58 parameters; 114 floating point operations forward
    """
    if not inputs:
        raise TypeError(f"summary: give the shape of the input, batch included, such as (1, 28, 28){at_user()}")
    arguments = [x if isinstance(x, Tensor) else zeros(as_shape(x, "summary"), dtype=dtype) for x in inputs]
    named = list(model.named_modules())
    calls: dict[int, list[tuple[tuple[Shape, ...], int]]] = {id(module): [] for _, module in named}
    with _recorded(named, calls):
        model(*arguments)
    rows = []
    for path, module in named:
        made = calls[id(module)]
        own = sum(p.size for p in module.parameters(recurse=False))
        everything = sum(p.size for p in module.parameters())
        depth = path.count(".") + 1 if path else 0
        shapes = made[-1][0] if made else ()
        name = path.rpartition(".")[2]
        rows.append(Row(depth, name, type(module).__name__, shapes, own, everything, sum(work for _, work in made)))
    trainable = sum(p.size for p in model.parameters() if p.requires_grad)
    return Summary(rows, trainable, rows[0].parameters - trainable, rows[0].flops)


@contextmanager
def _recorded(named: list[tuple[str, Module]], calls: dict[int, list[Any]]) -> Iterator[None]:
    """Note what each call of a module gives and does; the modules are in evaluation mode meanwhile, and then as before."""
    modes = [module.training for _, module in named]
    handles = []

    def note(module: Module, args: Any, kwargs: Any, output: Any) -> None:
        given = {x.node for x in _tensors((args, kwargs))}
        results = _tensors(output)
        nodes = topological([x.node for x in results], lambda node: node not in given)
        work = sum(flops(node) for node in nodes if node not in given)
        calls[id(module)].append((tuple([x.shape for x in results]), work))

    try:
        for _, module in named:
            module.__dict__["training"] = False
            handles.append(module.register_forward_hook(note, with_kwargs=True))
        yield
    finally:
        for handle in handles:
            handle.remove()
        for (_, module), training in zip(named, modes, strict=True):
            module.__dict__["training"] = training


def _tensors(values: Any) -> list[Tensor]:
    return [x for x in tree.flatten(values)[0] if isinstance(x, Tensor)]


# Work -----------------------------------------------------------------------------------------------------------------


def _product(node: Node) -> int:
    return 2 * node.type.size * node.inputs[0].shape[-1]  # type: ignore[no-any-return]


def _convolution(node: Node) -> int:
    return 2 * node.type.size * math.prod(node.inputs[1].shape[1:])  # type: ignore[no-any-return]


def _read(node: Node) -> int:
    return node.inputs[0].type.size  # type: ignore[no-any-return]


def _window(node: Node) -> int:
    return node.type.size * math.prod(node.attributes.sizes)  # type: ignore[no-any-return]


_WORK = {
    "matmul": _product, "convolution": _convolution, "max_pool": _window, "pool_sum": _window,
    **dict.fromkeys(["sum", "prod", "max", "min", "argmax", "argmin", "cumulative_sum", "cumulative_prod"], _read),
}  # fmt: skip
_FREE = {"astype"}


def flops(node: Node) -> int:
    """The floating point operations of one node, two for a multiply-add; 0 for what only moves elements."""
    if not node.inputs or node.op.name in _FREE:
        return 0
    count = _WORK.get(node.op.name)
    if count is not None:
        return count(node)
    return node.type.size if node.op.elementwise else 0
