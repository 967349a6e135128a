"""BERT (J. Devlin and others, 2018) with weights from Hugging Face, filling in what is masked.

The folder holds `config.json`, `model.safetensors` and `tokenizer.json`. Without one, a small network with random
weights guesses.

    python examples/models/bert.py path/to/bert-base-uncased "The capital of France is [MASK]."
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import adjoint as ad
from adjoint import nn

NAMES = {
    r"position_ids$|^cls\.seq_relationship|pooler|^cls\.predictions\.decoder": None, r"^bert\.(embeddings|encoder)\.": "",
    r"^layer\.": "blocks.", r"attention\.self\.": "", r"attention\.output\.dense": "output",
    r"attention\.output\.LayerNorm": "norm1", r"intermediate\.dense": "up", r"output\.dense": "down",
    r"output\.LayerNorm": "norm2", r"^cls\.predictions\.(transform\.)?": "head_", r"LayerNorm": "norm",
    r"\.gamma$": ".weight", r"\.beta$": ".bias",
}  # fmt: skip
# what else `config.json` may ask for
KNOWN = {"hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False, "tie_word_embeddings": True}


class Block(nn.Module):
    """Attention and a small network, each added to what was there and normalized after that."""

    def __init__(self, width: int, inner: int, heads: int, eps: float) -> None:
        self.heads = heads
        self.query, self.key, self.value, self.output = [nn.Linear(width, width) for _ in range(4)]
        self.norm1 = nn.LayerNorm(width, eps)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm2 = nn.LayerNorm(width, eps)

    def forward(self, x: ad.Tensor, mask: ad.Tensor | None) -> ad.Tensor:
        """Features (N, T, width) to features; the mask (N, 1, 1, T) is true where there is a word."""
        n, length, width = x.shape
        q, k, v = [p(x).reshape(n, length, self.heads, -1).swapaxes(1, 2) for p in (self.query, self.key, self.value)]
        seen = nn.functional.scaled_dot_product_attention(q, k, v, mask).swapaxes(1, 2).reshape(n, length, width)
        x = self.norm1(x + self.output(seen))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class BERT(nn.Module):
    """Codes (N, T) to scores (N, T, vocabulary) of what stands there. The arguments are those of `config.json`."""

    def __init__(self, vocab_size, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, **config):
        for name, known in KNOWN.items():
            if config.get(name, known) != known:
                raise ValueError(f"{name}={config[name]!r} isn't computed here")
        eps = config.get("layer_norm_eps", 1e-12)
        self.word_embeddings = nn.Embedding(vocab_size, hidden_size)
        self.position_embeddings = nn.Embedding(config.get("max_position_embeddings", 512), hidden_size)
        self.token_type_embeddings = nn.Embedding(config.get("type_vocab_size", 2), hidden_size)
        self.norm = nn.LayerNorm(hidden_size, eps)
        sizes = (hidden_size, intermediate_size, num_attention_heads, eps)
        self.blocks = nn.ModuleList([Block(*sizes) for _ in range(num_hidden_layers)])
        self.head_dense = nn.Linear(hidden_size, hidden_size)
        self.head_norm = nn.LayerNorm(hidden_size, eps)
        self.head_bias = ad.variable(ad.zeros(vocab_size))

    def features(self, codes: ad.Tensor, kinds: ad.Tensor | None = None, words: ad.Tensor | None = None) -> ad.Tensor:
        """The last layer's features (N, T, width). `kinds` (N, T) number the sentences, `words` (N, T) is false for padding."""
        x = self.word_embeddings(codes) + self.position_embeddings(ad.arange(codes.shape[1]))
        x = self.norm(x + self.token_type_embeddings(ad.zeros_like(codes) if kinds is None else kinds))
        mask = None if words is None else words.astype(bool)[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask)
        return x

    def forward(self, codes: ad.Tensor, kinds: ad.Tensor | None = None, words: ad.Tensor | None = None) -> ad.Tensor:
        """The scores."""
        x = self.head_norm(nn.functional.gelu(self.head_dense(self.features(codes, kinds, words))))
        return x @ self.word_embeddings.weight.mT + self.head_bias

    @classmethod
    def load(cls, folder: str | Path) -> BERT:
        """The model of a folder."""
        model = cls(**json.loads(Path(folder, "config.json").read_text()))
        model.load_state_dict(ad.interop.rename(ad.load(Path(folder, "model.safetensors")), NAMES))
        return model.eval()


def main() -> None:
    """Print the likeliest words for each mask."""
    if len(sys.argv) < 2:
        ad.random.seed(0)
        model = BERT(50, 32, 64, 2, 4)
        print("random weights guess", model(ad.tensor([[1, 2, 3]]))[0].argmax(axis=-1).tolist())
        return
    tokenizer = ad.data.tokenizer(sys.argv[1])
    encoded = tokenizer.encode(sys.argv[2])
    with ad.no_grad():
        scores = BERT.load(sys.argv[1])(ad.tensor([encoded.ids]))[0].numpy()
    for place, word in enumerate(encoded.tokens):
        if word == "[MASK]":
            print(", ".join(tokenizer.id_to_token(int(code)) for code in scores[place].argsort()[::-1][:5]))


if __name__ == "__main__":
    main()
