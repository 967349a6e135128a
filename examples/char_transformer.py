"""A small transformer reads a text character by character, and writes on in its manner.

The text is any file in UTF-8; by default, this library's own source.

    python examples/char_transformer.py --text my_diary.txt
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import math

import numpy as np

import adjoint as ad
from adjoint import nn


class Transformer(nn.Module):
    """Codes (N, T) to scores (N, T, characters) of what follows each: attention to what came before, then a small network."""

    def __init__(self, characters: int, context: int, width: int, heads: int, layers: int) -> None:
        self.characters = nn.Embedding(characters, width)
        self.places = nn.Embedding(context, width)
        self.attentions = nn.ModuleList([nn.MultiheadAttention(width, heads, batch_first=True) for _ in range(layers)])
        self.mlps = nn.ModuleList(
            [nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width)) for _ in range(layers)]
        )
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2 * layers + 1)])
        self.head = nn.Linear(width, characters)

    def forward(self, codes: ad.Tensor) -> ad.Tensor:
        """The scores."""
        place = ad.arange(codes.shape[1])
        later = place[None, :] > place[:, None]  # where a place mustn't look
        x = self.characters(codes) + self.places(place)
        for number, (attention, mlp) in enumerate(zip(self.attentions, self.mlps, strict=True)):
            inner = self.norms[2 * number](x)
            x = x + attention(inner, inner, inner, attn_mask=later, need_weights=False)[0]
            x = x + mlp(self.norms[2 * number + 1](x))
        return self.head(self.norms[-1](x))


def write(model: Transformer, text: ad.data.Characters, context: int, count: int) -> str:
    """Begin with the text's first characters, and draw each next one from the softmax of its scores."""
    codes, generator = text.codes[:context].tolist(), np.random.default_rng(0)
    with ad.no_grad():
        for _ in range(count):
            scores = model(ad.tensor(np.array([codes[-context:]])))[0, -1]
            shares = ad.softmax(scores / 0.7).numpy().astype(np.float64)
            codes.append(int(generator.choice(len(shares), p=shares / shares.sum())))
    return text.decode(np.array(codes))


def main() -> None:
    """Train, print the loss in bits for each character now and then, and write."""
    parser = argparse.ArgumentParser(description="A character transformer.")
    parser.add_argument("--quick", action="store_true", help="a smaller network and fewer steps")
    parser.add_argument("--text", help="a file in UTF-8 (default: the source of a module of adjoint)")
    options = parser.parse_args()
    context, width, layers, steps = (16, 16, 1, 60) if options.quick else (48, 48, 2, 400)

    text = ad.data.characters(options.text) if options.text else ad.data.characters(text=inspect.getsource(ad.Tensor))
    ad.random.seed(0)
    model = Transformer(len(text.vocabulary), context, width, 4, layers)
    optimizer = ad.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = ad.optim.OneCycleLR(optimizer, 1e-2, total_steps=steps, cycle_momentum=False)
    loader = ad.data.DataLoader(text.contexts(context), batch_size=32, shuffle=True, seed=0)
    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    print(f"{len(text):,} characters, {len(text.vocabulary)} different ones")

    for step in range(steps):
        inputs, targets = next(batches)
        scores = model(inputs)
        loss = nn.functional.cross_entropy(scores.reshape(-1, scores.shape[-1]), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % max(1, steps // 10) == 0 or step == steps - 1:
            print(f"step {step:4}  {loss.item() / math.log(2):.3f} bits a character")
    print("\n" + write(model, text, context, 60 if options.quick else 300))


if __name__ == "__main__":
    main()
