"""The first networks behind `adjoint train`: for digits, clothes, points and text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from adjoint import nn
from adjoint.tensors import Tensor
from adjoint.tensors.functions import arange, stack, tensor, zeros
from adjoint.tracer.jit import jit
from adjoint.transforms.modes import no_grad

__all__ = [
    "CharLSTM", "CharTransformer", "Standardize", "fashion_cnn", "mnist_cnn", "mnist_network", "moons_network",
]  # fmt: skip


def mnist_network() -> nn.Sequential:
    """The 784-128-64-10 relu network: images (N, 28, 28) from 0 to 1, to scores (N, 10)."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 128),
        nn.ReLU(),
        nn.Linear(128, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


class Standardize(nn.Module):
    """Grey images (N, height, width) with a channel axis, (N, 1, height, width), their mean and deviation made 0 and 1."""

    def __init__(self, mean: float, deviation: float) -> None:
        self.mean = mean
        self.deviation = deviation

    def forward(self, x: Tensor) -> Tensor:
        """`(x - mean) / deviation`, with an axis for the channel."""
        standard: Tensor = (x - self.mean) * (1 / self.deviation)
        return standard.expand_dims(axis=1)

    def extra_repr(self) -> str:
        """The mean and the deviation."""
        return f"mean={self.mean}, deviation={self.deviation}"


def mnist_cnn() -> nn.Sequential:
    """Two convolutions and two linear layers: images (N, 28, 28) from 0 to 1, to scores (N, 10). 105,866 parameters."""
    return nn.Sequential(
        Standardize(0.1307, 0.3081),
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def fashion_cnn() -> nn.Sequential:
    """Two normalised convolutions and two linear layers: images (N, 28, 28) from 0 to 1, to scores (N, 10)."""
    return nn.Sequential(
        Standardize(0.286, 0.353),
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def moons_network() -> nn.Sequential:
    """A 2-32-32-2 tanh network: points (N, 2), to scores (N, 2)."""
    return nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))


class Block(nn.Module):
    """A layer of a transformer: each place looks at the places before it, then at itself; both added to what was there."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x: Tensor, mask: Tensor, weights: list[Tensor] | None = None) -> Tensor:
        """Features (N, T, width), and the mask (T, T) that is true where a place mustn't look, to features.

        To `weights`, if there is such a list, what each head looks at is added, (N, heads, T, T).
        """
        inner = self.norm1(x)
        seen, looked_at = self.attention(
            inner,
            inner,
            inner,
            need_weights=weights is not None,
            attn_mask=mask,
            average_attn_weights=False,
            is_causal=True,
        )
        if weights is not None:
            weights.append(looked_at)
        x = x + seen
        result: Tensor = x + self.mlp(self.norm2(x))
        return result


class CharTransformer(nn.Module):
    """A small GPT (A. Radford and others, 2018): codes of characters (N, T) int64, to scores (N, T, vocabulary).

    The scores at a place are those of the character that follows, and depend on the codes up to it. T is at most
    `context`. Raises ValueError for longer pieces, and for a width that the heads don't divide.
    """

    def __init__(
        self, vocabulary: int, context: int = 64, width: int = 64, heads: int = 4, layers: int = 2, dropout: float = 0.0
    ) -> None:
        self.context = context
        self.characters = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads, dropout) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, codes: Tensor) -> Tensor:
        """The scores."""
        return self._scores(codes, None)

    def looked_at(self, codes: Tensor) -> Tensor:
        """How much each place looks at which, in every layer and head: codes (T,), to weights (layers, heads, T, T)."""
        weights: list[Tensor] = []
        self._scores(codes[None], weights)
        return stack([each[0] for each in weights])

    def _scores(self, codes: Tensor, weights: list[Tensor] | None) -> Tensor:
        length = codes.shape[1]
        if length > self.context:
            raise ValueError(f"CharTransformer: {length} characters, but the context is {self.context}")
        place = arange(length)
        x = self.characters(codes) + self.places(place)
        mask = place[None, :] > place[:, None]
        for block in self.blocks:
            x = block(x, mask, weights)
        scores: Tensor = self.head(self.norm(x))
        return scores

    def reader(self) -> Callable[[Sequence[int]], np.ndarray]:
        """A function from the codes of a text (at least one) to the scores (vocabulary,) of what follows it."""
        step = jit(lambda window, last: self(window)[0, last])

        def read(codes: Sequence[int]) -> np.ndarray:
            # The window is always full, with zeros behind its last character, which doesn't see them: it is compiled once.
            seen = codes[-self.context :]
            window = np.zeros((1, self.context), np.int64)
            window[0, : len(seen)] = seen
            with no_grad():
                scores: np.ndarray = step(tensor(window), tensor(len(seen) - 1)).numpy()
            return scores

        return read


class CharLSTM(nn.Module):
    """A recurrent network that reads text: codes of characters (N, T) int64, to scores (N, T, vocabulary).

    Characters are vectors of `width` numbers that go through `layers` LSTMs with states of `width` numbers (A. Graves,
    "Generating sequences with recurrent neural networks", 2013). The scores at a place are those of the character that
    follows; they depend on all codes up to it.
    """

    def __init__(self, vocabulary: int, width: int = 128, layers: int = 2, dropout: float = 0.0) -> None:
        self.characters = nn.Embedding(vocabulary, width)
        self.memory = nn.LSTM(width, width, layers, batch_first=True, dropout=dropout)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, codes: Tensor) -> Tensor:
        """The scores."""
        states, _ = self.memory(self.characters(codes))
        scores: Tensor = self.head(states)
        return scores

    def reader(self) -> Callable[[Sequence[int]], np.ndarray]:
        """A function from the codes of a text (at least one) to the scores (vocabulary,) of what follows it.

        A text that goes on from the one of the call before is read from there.
        """
        shape = (self.memory.num_layers, 1, self.memory.hidden_size)
        read: list[int] = []
        state = (zeros(shape), zeros(shape))
        scores = zeros(self.head.out_features)

        @jit
        def step(code: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
            seen, state = self.memory(self.characters(code[None, None]), state)
            return self.head(seen)[0, 0], state

        def follow(codes: Sequence[int]) -> np.ndarray:
            nonlocal state, scores
            if read != list(codes[: len(read)]):
                read.clear()
                state = (zeros(shape), zeros(shape))
            with no_grad():
                for code in codes[len(read) :]:
                    scores, state = step(tensor(code), state)
                    read.append(code)
                return scores.numpy()

        return follow
