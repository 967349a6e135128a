"""GPT-2 (A. Radford and others, 2019) with weights from Hugging Face, writing on from a text.

The folder holds `config.json`, `model.safetensors` and `tokenizer.json` of any GPT-2. Without one, a small network with random
weights writes codes.

    python examples/models/gpt2.py path/to/gpt2 "The history of mathematics"
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import adjoint as ad
from adjoint import nn

# the names of the file, and the names here; its matrices are stored the other way round
NAMES = {
    r"^transformer\.": "",
    r"\.attn\.(masked_)?bias$": None,
    r"^lm_head\.": None,
    r"^h\.": "blocks.",
    r"\.mlp\.c_": ".c_",
}
TRANSPOSED = r"(c_attn|c_proj|c_fc)\.weight$"
# what else `config.json` may ask for
KNOWN = {"tie_word_embeddings": True, "scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False}


class Attention(nn.Module):
    """Each place looks at itself and the places before it."""

    def __init__(self, width: int, heads: int) -> None:
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x: ad.Tensor, cache: nn.KeyValueCache | None) -> ad.Tensor:
        """Features (N, T, width) to features; with a cache, of the next T places."""
        n, length, width = x.shape
        parts = self.c_attn(x).reshape(n, length, 3, self.heads, width // self.heads)
        q, k, v = [parts[:, :, i].swapaxes(1, 2) for i in range(3)]
        if cache is None:
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            y = cache.attend(q, k, v)
        return self.c_proj(y.swapaxes(1, 2).reshape(n, length, width))


class Block(nn.Module):
    """Attention and a small network, each added to what was there."""

    def __init__(self, width: int, heads: int, eps: float) -> None:
        self.ln_1 = nn.LayerNorm(width, eps)
        self.attn = Attention(width, heads)
        self.ln_2 = nn.LayerNorm(width, eps)
        self.c_fc = nn.Linear(width, 4 * width)
        self.c_proj = nn.Linear(4 * width, width)

    def forward(self, x: ad.Tensor, cache: nn.KeyValueCache | None = None) -> ad.Tensor:
        """Features to features."""
        x = x + self.attn(self.ln_1(x), cache)
        return x + self.c_proj(nn.functional.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    """Codes (N, T) to scores (N, T, vocabulary) of what follows each."""

    def __init__(
        self, vocab_size=50257, n_positions=1024, n_embd=768, n_layer=12, n_head=12, layer_norm_epsilon=1e-5, **config
    ):
        for name, known in KNOWN.items():
            if config.get(name, known) != known:
                raise ValueError(f"{name}={config[name]!r} isn't computed here")
        if config.get("activation_function", "gelu_new") not in ("gelu_new", "gelu_pytorch_tanh"):
            raise ValueError(f"the activation {config['activation_function']} isn't computed here")
        self.heads, self.length = n_head, n_positions
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.wpe = nn.Embedding(n_positions, n_embd)
        self.blocks = nn.ModuleList([Block(n_embd, n_head, layer_norm_epsilon) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd, layer_norm_epsilon)

    def forward(self, codes: ad.Tensor, caches: list[nn.KeyValueCache] | None = None) -> ad.Tensor:
        """The scores."""
        places = ad.arange(codes.shape[1])
        if caches is not None:
            places = places + caches[0].position
        x = self.wte(codes) + self.wpe(places)
        for number, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[number])
        return self.ln_f(x) @ self.wte.weight.mT

    @classmethod
    def load(cls, folder: str | Path) -> GPT2:
        """The model of a folder."""
        model = cls(**json.loads(Path(folder, "config.json").read_text()))
        model.load_state_dict(
            ad.interop.rename(ad.load(Path(folder, "model.safetensors")), NAMES, transpose=TRANSPOSED)
        )
        return model.eval()

    def generate(self, codes: list[int], count: int) -> list[int]:
        """The codes and the `count` likeliest next ones: the step is compiled once, and each place is computed once."""
        length = min(self.length, len(codes) + count)
        features = self.wte.weight.shape[1] // self.heads
        caches = [nn.KeyValueCache(1, self.heads, length, features) for _ in self.blocks]
        step = ad.jit(lambda x: self(x, caches)[0, -1].argmax())
        found = list(codes)
        with ad.no_grad():
            following = step(ad.tensor([found]))
            while len(found) < length:
                found.append(following.item())
                if len(found) < length:
                    following = step(ad.tensor([[found[-1]]]))
        return found


def main() -> None:
    """Write on from a text."""
    if len(sys.argv) < 2:
        ad.random.seed(0)
        model = GPT2(vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=4)
        print("random weights write", *model.generate([1, 2, 3], 12))
        return
    tokenizer = ad.data.tokenizer(sys.argv[1])
    codes = GPT2.load(sys.argv[1]).generate(tokenizer.encode(sys.argv[2]).ids, 40)
    print(tokenizer.decode(codes))


if __name__ == "__main__":
    main()
