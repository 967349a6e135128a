"""Recurrent layers: a cell's step, and the loop over time that carries its state.

What a step needs of the input are products with one weight; they are computed for all steps at once, before the loop. A step
is one function of the state and of that step's row of these products. Sequences of several lengths lie longest first, so
that step t concerns the first `sizes[t]` of them: a sequence that has ended isn't computed on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjoint._tuples import NamedTuple
from adjoint.composites.products import linear
from adjoint.graph import Node
from adjoint.primitives.core import ops

State = tuple[Node, ...]
Step = Callable[[State, Node], State]  # the output is the new state's first part


class Weights(NamedTuple):
    """A cell's parameters: of the input, of the state, their biases, and of the projection of an LSTM's output."""

    of_input: Node
    of_state: Node
    input_bias: Node | None = None
    state_bias: Node | None = None
    projection: Node | None = None


class Cell(NamedTuple):
    """A kind of cell: how many rows its weights have for each unit, how many parts its state, and its step."""

    gates: int
    parts: int
    products: Callable[[Node, Weights], Node]
    step: Callable[[Weights], Step]


def _columns(x: Node, part: int, parts: int) -> Node:
    """One of so many equal parts of the columns."""
    size = x.shape[1] // parts
    return ops.slice_(x, ((0, x.shape[0], 1), (part * size, size, 1)))


def _all_products(x: Node, w: Weights) -> Node:
    """x (..., in) by the input's weight, with both biases."""
    bias = w.input_bias
    if bias is not None and w.state_bias is not None:
        bias = ops.add(bias, w.state_bias)
    return linear(x, w.of_input, bias)


def _plain(activation: str) -> Callable[[Weights], Step]:
    def of(w: Weights) -> Step:
        def step(state: State, row: Node) -> State:
            return (getattr(ops, activation)(ops.add(row, linear(state[0], w.of_state, None))),)

        return step

    return of


def _lstm(w: Weights) -> Step:
    """The long short-term memory of S. Hochreiter and J. Schmidhuber (1997) with the forget gate of F. Gers et al. (2000)."""

    def step(state: State, row: Node) -> State:
        h, c = state
        products = linear(h, w.of_state, None)
        gates = [ops.add(_columns(row, i, 4), _columns(products, i, 4)) for i in range(4)]
        enter, forget, leave = [ops.sigmoid(gates[i]) for i in (0, 1, 3)]
        c = ops.add(ops.multiply(forget, c), ops.multiply(enter, ops.tanh(gates[2])))
        h = ops.multiply(leave, ops.tanh(c))
        return h if w.projection is None else linear(h, w.projection, None), c

    return step


def _gru_products(x: Node, w: Weights) -> Node:
    """The state's bias of the candidate is multiplied by the reset gate, so it stays inside the loop."""
    bias = w.input_bias
    if bias is not None and w.state_bias is not None:
        size = bias.shape[0] // 3
        gates = ops.embed(ops.slice_(w.state_bias, ((0, 2 * size, 1),)), bias.shape, ((0, 2 * size, 1),))
        bias = ops.add(bias, gates)
    return linear(x, w.of_input, bias)


def _gru(w: Weights) -> Step:
    """The gated recurrent unit of K. Cho et al. (2014), the reset gate after the product."""

    def step(state: State, row: Node) -> State:
        (h,) = state
        size = h.shape[1]
        products = linear(h, w.of_state, None)
        reset, update = [ops.sigmoid(ops.add(_columns(row, i, 3), _columns(products, i, 3))) for i in (0, 1)]
        inner = _columns(products, 2, 3)
        if w.state_bias is not None:
            inner = ops.add(inner, ops.slice_(w.state_bias, ((2 * size, size, 1),)))
        candidate = ops.tanh(ops.add(_columns(row, 2, 3), ops.multiply(reset, inner)))
        return (ops.add(candidate, ops.multiply(update, ops.subtract(h, candidate))),)

    return step


CELLS = {
    "RNN_TANH": Cell(1, 1, _all_products, _plain("tanh")),
    "RNN_RELU": Cell(1, 1, _all_products, _plain("relu")),
    "LSTM": Cell(4, 2, _all_products, _lstm),
    "GRU": Cell(3, 1, _gru_products, _gru),
}


def cell(kind: str, x: Node, state: State, weights: Weights) -> State:
    """One step on x (N, in)."""
    made = CELLS[kind]
    return made.step(weights)(state, made.products(x, weights))


def layer(
    kind: str, x: Node, sizes: Sequence[int], initial: State, weights: Weights, backwards: bool
) -> tuple[Node, State]:
    """A layer in one direction: rows x (sum of sizes, in), step after step, to outputs alike and the last states.

    For sequences of several lengths; those of one length are a scan of `step`.
    """
    made = CELLS[kind]
    loop = _backwards if backwards else _forwards
    outputs, last = loop(made.step(weights), _rows(made.products(x, weights), sizes), sizes, initial)
    return ops.concat(outputs, 0), last


def _rows(products: Node, sizes: Sequence[int]) -> list[Node]:
    """The rows of each step."""
    found, start = [], 0
    for size in sizes:
        found.append(ops.slice_(products, ((start, size, 1), (0, products.shape[1], 1))))
        start += size
    return found


def _part(x: Node, start: int, stop: int) -> Node:
    return ops.slice_(x, ((start, stop - start, 1), (0, x.shape[1], 1)))


def _forwards(step: Step, rows: list[Node], sizes: Sequence[int], initial: State) -> tuple[list[Node], State]:
    """Sequences that have ended leave their states behind."""
    state = initial
    ended: list[State] = []
    outputs = []
    for row, size in zip(rows, sizes, strict=True):
        running = state[0].shape[0]
        if size < running:
            ended.insert(0, tuple([_part(x, size, running) for x in state]))
            state = tuple([_part(x, 0, size) for x in state])
        state = step(state, row)
        outputs.append(state[0])
    return outputs, _joined([state, *ended])


def _backwards(step: Step, rows: list[Node], sizes: Sequence[int], initial: State) -> tuple[list[Node], State]:
    """The longest sequences begin; others join where they end."""
    state = tuple([_part(x, 0, sizes[-1]) for x in initial])
    outputs: list[Node] = []
    for row, size in zip(reversed(rows), reversed(sizes), strict=True):
        running = state[0].shape[0]
        if size > running:
            state = _joined([state, tuple([_part(x, running, size) for x in initial])])
        state = step(state, row)
        outputs.insert(0, state[0])
    return outputs, state


def _joined(states: list[State]) -> State:
    return tuple([ops.concat(list(parts), 0) for parts in zip(*states, strict=True)])
