"""Llama (H. Touvron and others, 2023; also Llama 2 and 3, and Mistral up to its window) with weights from Hugging Face.

The folder holds `config.json`, `tokenizer.json`, and `model.safetensors` or its parts with their index. Without one, a small
network with random weights writes codes.

    python examples/models/llama.py path/to/TinyLlama "The history of mathematics"
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import adjoint as ad
from adjoint import nn

NAMES = {r"^model\.": "", r"rotary_emb\.inv_freq$": None, r"\.(self_attn|mlp)\.": "."}


class Block(nn.Module):
    """Attention with rotary positions, whose heads share keys and values in groups, and a gated network."""

    def __init__(self, width: int, inner: int, heads: int, groups: int, features: int, eps: float, base: float) -> None:
        self.heads, self.groups, self.base = heads, groups, base
        self.input_layernorm = nn.RMSNorm(width, eps)
        self.q_proj = nn.Linear(width, heads * features, bias=False)
        self.k_proj = nn.Linear(width, groups * features, bias=False)
        self.v_proj = nn.Linear(width, groups * features, bias=False)
        self.o_proj = nn.Linear(heads * features, width, bias=False)
        self.post_attention_layernorm = nn.RMSNorm(width, eps)
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: ad.Tensor, places: ad.Tensor, cache: nn.KeyValueCache | None = None) -> ad.Tensor:
        """Features (N, T, width) of these places (T,) to features."""
        n, length, _ = x.shape
        y = self.input_layernorm(x)
        q = self.q_proj(y).reshape(n, length, self.heads, -1).swapaxes(1, 2)
        k, v = [p(y).reshape(n, length, self.groups, -1).swapaxes(1, 2) for p in (self.k_proj, self.v_proj)]
        q, k = [nn.functional.rotary(z, places, self.base) for z in (q, k)]
        if cache is None:
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            y = cache.attend(q, k, v, enable_gqa=True)
        x = x + self.o_proj(y.swapaxes(1, 2).reshape(n, length, -1))
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(nn.functional.silu(self.gate_proj(y)) * self.up_proj(y))


class Llama(nn.Module):
    """Codes (N, T) to scores (N, T, vocabulary) of what follows each. The arguments are those of `config.json`."""

    def __init__(self, vocab_size, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, **config):
        groups = config.get("num_key_value_heads") or num_attention_heads
        features = config.get("head_dim") or hidden_size // num_attention_heads
        rotary = config.get("rope_parameters") or config.get("rope_scaling") or {}
        if rotary.get("rope_type", "default") != "default":
            raise ValueError(f"rotary positions of the kind {rotary['rope_type']} aren't computed here")
        if config.get("hidden_act", "silu") != "silu":
            raise ValueError(f"the activation {config['hidden_act']} isn't computed here")
        self.window = config.get("sliding_window") or math.inf
        base = config.get("rope_theta") or rotary.get("rope_theta", 10000.0)
        eps = config.get("rms_norm_eps", 1e-6)
        sizes = (hidden_size, intermediate_size, num_attention_heads, groups, features, eps, base)
        self.cached = (groups, features)
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.ModuleList([Block(*sizes) for _ in range(num_hidden_layers)])
        self.norm = nn.RMSNorm(hidden_size, eps)
        self.lm_head = nn.Linear(hidden_size, vocab_size, bias=False)
        if config.get("tie_word_embeddings"):
            self.lm_head.weight = self.embed_tokens.weight

    def forward(self, codes: ad.Tensor, caches: list[nn.KeyValueCache] | None = None) -> ad.Tensor:
        """The scores."""
        places = ad.arange(codes.shape[1])
        if caches is not None:
            places = places + caches[0].position
        if (codes.shape[1] if caches is None else caches[0].keys.shape[2]) > self.window:
            raise ValueError(f"each place sees no more than {self.window} others: longer texts aren't computed here")
        x = self.embed_tokens(codes)
        for number, layer in enumerate(self.layers):
            x = layer(x, places, None if caches is None else caches[number])
        return self.lm_head(self.norm(x))

    @classmethod
    def load(cls, folder: str | Path) -> Llama:
        """The model of a folder, in one file or in parts."""
        model = cls(**json.loads(Path(folder, "config.json").read_text()))
        whole = Path(folder, "model.safetensors")
        state = ad.interop.rename(ad.load(whole if whole.exists() else f"{whole}.index.json"), NAMES)
        state.setdefault("lm_head.weight", state["embed_tokens.weight"])
        model.load_state_dict(state)
        return model.eval()

    def generate(self, codes: list[int], count: int, temperature: float = 0.0) -> list[int]:
        """The codes and `count` next ones: the likeliest, or drawn from softmax(scores / temperature)."""
        caches = [nn.KeyValueCache(1, self.cached[0], len(codes) + count, self.cached[1]) for _ in self.layers]

        def chosen(x: ad.Tensor) -> ad.Tensor:
            scores = self(x, caches)[0, -1]
            return ad.random.categorical(scores / temperature) if temperature else scores.argmax()

        step, found = ad.jit(chosen), list(codes)
        with ad.no_grad():
            following = step(ad.tensor([found]))
            for number in range(count):
                found.append(following.item())
                if number + 1 < count:
                    following = step(ad.tensor([[found[-1]]]))
        return found


def main() -> None:
    """Write on from a text."""
    if len(sys.argv) < 2:
        ad.random.seed(0)
        model = Llama(50, 32, 64, 2, 4, num_key_value_heads=2)
        print("random weights write", *model.generate([1, 2, 3], 12))
        return
    tokenizer = ad.data.tokenizer(sys.argv[1])
    codes = Llama.load(sys.argv[1]).generate(tokenizer.encode(sys.argv[2]).ids, 40)
    print(tokenizer.decode(codes))


if __name__ == "__main__":
    main()
