"""Recurrent layers and cells."""

from __future__ import annotations

import math
from typing import Any

from adjoint import random
from adjoint.composites import recurrent
from adjoint.composites.recurrent import Weights
from adjoint.graph import Node
from adjoint.primitives.core import ops
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, concat, take, variable, zeros
from adjoint.tensors.located import at_user
from adjoint.transforms.loops import StepOnce

from . import functional
from .functional.ranges import check_probability
from .functional.recording import node_of, optional, scope, tensor_of
from .module import Module, whole
from .utils.rnn import PackedSequence

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNCell"]

# Steps up to which a layer is recorded step by step, which native code computes as one program; longer ones are a scan, whose
# graph doesn't grow with them.
MOST_RECORDED = 32

States = Tensor | tuple[Tensor, Tensor]


class _Recurrent(Module):
    """What the layers share: stacked cells, one or two directions, their parameters and the walk over them."""

    mode: str

    def _set(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int, bias: bool, batch_first: bool,
        dropout: float, bidirectional: bool, proj_size: int, dtype: Any,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        whole(name, input_size=input_size, hidden_size=hidden_size, num_layers=num_layers, proj_size=proj_size)
        if min(input_size, hidden_size, num_layers) < 1:
            raise ValueError(
                f"{name}: sizes must be positive; got {input_size}, {hidden_size} and {num_layers} layers{at_user()}"
            )
        if proj_size < 0 or proj_size >= hidden_size:
            raise ValueError(f"{name}: proj_size {proj_size} must be below hidden_size {hidden_size}{at_user()}")
        check_probability(f"{name}: dropout", dropout)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        rows, width = recurrent.CELLS[mode].gates * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            entering = input_size if layer == 0 else width * self._directions
            shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, entering), "weight_hh": (rows, width)}
            if bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            if proj_size:
                shapes["weight_hr"] = (proj_size, hidden_size)
            for backwards in range(self._directions):
                for kind, shape in shapes.items():
                    setattr(self, _name(kind, layer, backwards), _drawn(shape, hidden_size, dtype))

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters of each layer and direction."""
        kinds = ["weight_ih", "weight_hh", *(["bias_ih", "bias_hh"] if self.bias else [])]
        kinds += ["weight_hr"] if self.proj_size else []
        each = [(layer, backwards) for layer in range(self.num_layers) for backwards in range(self._directions)]
        return [[getattr(self, _name(kind, *at)) for kind in kinds] for at in each]

    def flatten_parameters(self) -> None:
        """Nothing: here parameters need not lie side by side."""

    def _weights(self, layer: int, backwards: int) -> Weights:
        def node(kind: str) -> Node | None:
            return optional(getattr(self, _name(kind, layer, backwards)))

        of_input, of_state = [
            node_of(getattr(self, _name(kind, layer, backwards))) for kind in ("weight_ih", "weight_hh")
        ]
        input_bias, state_bias = (node("bias_ih"), node("bias_hh")) if self.bias else (None, None)
        return Weights(of_input, of_state, input_bias, state_bias, node("weight_hr") if self.proj_size else None)

    def forward(self, x: Any, hx: Any = None) -> tuple[Any, Any]:
        """The outputs of the last layer at every step, and the last states of all layers.

        x is (L, N, input_size), with `batch_first` (N, L, input_size), or (L, input_size) for one sequence, or a
        PackedSequence; the outputs are like it, (..., directions * hidden_size). States are (layers * directions, N,
        hidden_size), without N for one sequence, and start as zeros unless given as `hx`. Raises ValueError when shapes
        don't fit.
        """
        if isinstance(x, PackedSequence):
            sizes = [int(n) for n in x.batch_sizes.numpy()]
            initial = self._initial(hx, sizes[0], x.data, x.sorted_indices)
            y, last = self._run(x.data, sizes, initial)
            states = [_in_order(state, x.unsorted_indices) for state in last]
            return x._replace(data=y), self._given_back(states)
        x = asarray(x)
        if (
            x.ndim not in (2, 3)
            or x.shape[-1] != self.input_size
            or not x.shape[-2 if self.batch_first or x.ndim == 2 else 0]
        ):
            shape = "(N, L, " if self.batch_first else "(L, N, "
            raise ValueError(
                f"{self!r}: expected {shape}{self.input_size}) or (L, {self.input_size}), L not 0; got {x.shape}{at_user()}"
            )
        batched = x.ndim == 3
        steps = x if batched and not self.batch_first else x.swapaxes(0, 1) if batched else x[:, None]
        length, count = steps.shape[:2]
        initial = self._initial(hx if batched else _with_batch(hx), count, x, None)
        y, last = self._run(steps.reshape(length * count, self.input_size), [count] * length, initial)
        y = y.reshape(length, count, y.shape[-1])
        if batched:
            return (y.swapaxes(0, 1) if self.batch_first else y), self._given_back(last)
        return y[:, 0], self._given_back([state[:, 0] for state in last])

    def _given_back(self, states: list[Tensor]) -> States:
        return states[0] if len(states) == 1 else (states[0], states[1])

    def _initial(self, given: Any, count: int, like: Tensor, order: Tensor | None) -> list[Tensor]:
        """The first states of all layers and directions."""
        layers = self.num_layers * self._directions
        widths = [self.proj_size or self.hidden_size, self.hidden_size][: recurrent.CELLS[self.mode].parts]
        if given is None:
            return [zeros((layers, count, width), dtype=like.dtype) for width in widths]
        states = [asarray(state) for state in (given if isinstance(given, tuple | list) else (given,))]
        expected = [(layers, count, width) for width in widths]
        if [state.shape for state in states] != expected:
            shapes = " and ".join(str(state.shape) for state in states)
            wanted = " and ".join(map(str, expected))
            raise ValueError(f"{self!r}: the first states must have shape {wanted}; got {shapes}{at_user()}")
        return [_in_order(state, order) for state in states]

    def _run(self, x: Tensor, sizes: list[int], initial: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """All layers over rows x (sum of sizes, input_size), step after step."""
        last: list[list[Tensor]] = [[] for _ in initial]
        for layer in range(self.num_layers):
            with scope(f"layer {layer}"):
                sides = []
                for backwards in range(self._directions):
                    at = layer * self._directions + backwards
                    state = tuple([node_of(part[at]) for part in initial])
                    weights = self._weights(layer, backwards)
                    recorded = len(sizes) <= MOST_RECORDED or len(set(sizes)) > 1
                    run = recurrent.layer if recorded else _scanned
                    y, ends = run(self.mode, node_of(x), sizes, state, weights, bool(backwards))
                    sides.append(y)
                    for parts, end in zip(last, ends, strict=True):
                        parts.append(tensor_of(end))
                x = tensor_of(ops.concat(sides, 1))
            if self.dropout and self.training and layer + 1 < self.num_layers:
                x = functional.dropout(x, self.dropout)
        return x, [concat([part[None] for part in parts], axis=0) for parts in last]

    def extra_repr(self) -> str:
        """Its sizes, and what differs from the defaults."""
        shown = [f"{self.input_size}, {self.hidden_size}"]
        for name, default in (("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False),
                              ("dropout", 0), ("bidirectional", False)):  # fmt: skip
            if getattr(self, name) != default:
                shown.append(f"{name}={getattr(self, name)}")
        return ", ".join(shown)


def _scanned(
    kind: str, x: Node, sizes: list[int], initial: recurrent.State, weights: Weights, backwards: bool
) -> tuple[Node, recurrent.State]:
    """A layer in one direction, over sequences of one length: a scan of the cell's step."""
    products = recurrent.CELLS[kind].products(x, weights)
    rows = ops.reshape(products, (len(sizes), sizes[0], products.shape[1]))
    last, y = STEPS[kind].scan(weights, initial, rows, backwards)
    return ops.reshape(y, (x.shape[0], y.shape[2])), tuple(last)


def _step_of(kind: str) -> StepOnce:
    return StepOnce(lambda constants: recurrent.CELLS[kind].step(Weights(*constants)))


STEPS = {kind: _step_of(kind) for kind in recurrent.CELLS}


def _name(kind: str, layer: int, backwards: int) -> str:
    return f"{kind}_l{layer}" + ("_reverse" if backwards else "")


def _drawn(shape: tuple[int, ...], hidden_size: int, dtype: Any) -> Tensor:
    bound = 1 / math.sqrt(hidden_size)
    return variable(random.uniform(shape, -bound, bound, dtype=dtype))


def _in_order(state: Tensor, order: Tensor | None) -> Tensor:
    return state if order is None else take(state, order, axis=1)


def _with_batch(given: Any) -> Any:
    """The states (layers, hidden_size) of one sequence with a batch of one."""
    if given is None:
        return None
    states = [asarray(state) for state in (given if isinstance(given, tuple | list) else (given,))]
    states = [state[:, None] if state.ndim == 2 else state for state in states]
    return states[0] if len(states) == 1 else tuple(states)


class RNN(_Recurrent):
    """The plain recurrent layer: `h = tanh(W_ih x + b_ih + W_hh h + b_hh)` at every step, `nonlinearity` `"tanh"` or `"relu"`.

    `num_layers` are stacked, with dropout of probability `dropout` between them in training; `bidirectional` ones also go
    from the last step to the first, their outputs side by side. Parameters are `weight_ih_l0` (hidden_size, input_size),
    `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, and so on, with `_reverse` for the second direction, first uniform within
    ±1/√hidden_size. (J. Elman, 1990.)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = None,
    ) -> None:
        _check_nonlinearity("RNN", nonlinearity)
        self.nonlinearity = nonlinearity
        mode = f"RNN_{nonlinearity.upper()}"
        self._set(
            mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, dtype
        )  # fmt: skip


class LSTM(_Recurrent):
    """Long short-term memory: a state h and a cell c, with gates for what enters, stays and leaves.

    At every step, with σ the sigmoid: `i, f, o = σ(...)`, `g = tanh(...)`, each of `W_ih x + b_ih + W_hh h + b_hh`; then
    `c = f * c + i * g` and `h = o * tanh(c)`, with `proj_size` `h = W_hr h`. The states are the pair (h, c). The rows of the
    weights are those of i, f, g, o; the options are those of `RNN`. (S. Hochreiter and J. Schmidhuber, 1997.)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        dtype: Any = None,
    ) -> None:
        self._set(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, dtype
        )


class GRU(_Recurrent):
    """Gated recurrent units: `r, z = σ(W_ih x + b_ih + W_hh h + b_hh)`, `n = tanh(W_in x + b_in + r * (W_hn h + b_hn))`.

    Then `h = (1 - z) * n + z * h`. The rows of the weights are those of r, z, n; the options are those of `RNN`. (K. Cho et
    al., 2014.)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = None,
    ) -> None:
        self._set("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, dtype)


def _check_nonlinearity(name: str, nonlinearity: str) -> None:
    if nonlinearity not in ("tanh", "relu"):
        raise ValueError(f"{name}: nonlinearity is 'tanh' or 'relu', not {nonlinearity!r}{at_user()}")


class _RecurrentCell(Module):
    """What the cells share: their parameters, and one step."""

    mode: str

    def _set(self, mode: str, input_size: int, hidden_size: int, bias: bool, dtype: Any) -> None:
        whole(type(self).__name__, input_size=input_size, hidden_size=hidden_size)
        if min(input_size, hidden_size) < 1:
            raise ValueError(
                f"{type(self).__name__}: sizes must be positive; got {input_size} and {hidden_size}{at_user()}"
            )
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        rows = recurrent.CELLS[mode].gates * hidden_size
        self.weight_ih = _drawn((rows, input_size), hidden_size, dtype)
        self.weight_hh = _drawn((rows, hidden_size), hidden_size, dtype)
        self.bias_ih = _drawn((rows,), hidden_size, dtype) if bias else None
        self.bias_hh = _drawn((rows,), hidden_size, dtype) if bias else None

    def forward(self, x: Tensor, hx: Any = None) -> Any:
        """The new state for an input (N, input_size) or (input_size,) and a state, (N, hidden_size) or (hidden_size,).

        Without a state it is zeros. Raises ValueError when shapes don't fit.
        """
        parts = recurrent.CELLS[self.mode].parts
        shape = (*x.shape[:-1], self.hidden_size)
        if x.ndim not in (1, 2) or x.shape[-1] != self.input_size:
            raise ValueError(
                f"{self!r}: expected an input (N, {self.input_size}) or ({self.input_size},), got {x.shape}{at_user()}"
            )
        given = hx if isinstance(hx, tuple | list) else (hx,)
        states = [zeros(shape, dtype=x.dtype)] * parts if hx is None else [asarray(state) for state in given]
        if [state.shape for state in states] != [shape] * parts:
            shapes = " and ".join(str(state.shape) for state in states)
            raise ValueError(f"{self!r}: expected {parts} of shape {shape} as state, got {shapes}{at_user()}")
        biases = (optional(self.bias_ih), optional(self.bias_hh))
        weights = Weights(node_of(self.weight_ih), node_of(self.weight_hh), *biases)
        with scope("step"):
            rows = [node_of(y) if y.ndim == 2 else ops.reshape(node_of(y), (1, y.shape[0])) for y in (x, *states)]
            found = recurrent.cell(self.mode, rows[0], tuple(rows[1:]), weights)
            new = [tensor_of(ops.reshape(y, shape)) for y in found]
        return new[0] if parts == 1 else tuple(new)

    def extra_repr(self) -> str:
        """Its sizes, and what differs from the defaults."""
        shown = [f"{self.input_size}, {self.hidden_size}"]
        if self.bias_ih is None:
            shown.append("bias=False")
        if self.mode == "RNN_RELU":
            shown.append("nonlinearity=relu")
        return ", ".join(shown)


class RNNCell(_RecurrentCell):
    """One step of `RNN`: (N, input_size) and a state (N, hidden_size) to a new state."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", dtype: Any = None
    ) -> None:
        _check_nonlinearity("RNNCell", nonlinearity)
        self.nonlinearity = nonlinearity
        self._set(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, bias, dtype)


class LSTMCell(_RecurrentCell):
    """One step of `LSTM`: (N, input_size) and states (h, c), each (N, hidden_size), to new ones."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: Any = None) -> None:
        self._set("LSTM", input_size, hidden_size, bias, dtype)


class GRUCell(_RecurrentCell):
    """One step of `GRU`: (N, input_size) and a state (N, hidden_size) to a new state."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: Any = None) -> None:
        self._set("GRU", input_size, hidden_size, bias, dtype)
