"""A vision transformer (A. Dosovitskiy and others, 2020) with weights from Hugging Face, naming what a photo shows.

The folder holds `config.json` and `model.safetensors`. Without one, a small network with random weights looks at noise.

    python examples/models/vit.py path/to/vit-base-patch16-224 photo.jpg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import adjoint as ad
from adjoint import nn

# what the file calls its layers has changed: both names of each lead here
NAMES = {
    r"pooler": None, r"^vit\.(embeddings\.)?": "", r"^patch_embeddings\.projection": "patches",
    r"^(encoder\.layer|layers)\.": "blocks.", r"layernorm_before": "norm1", r"layernorm_after": "norm2",
    r"attention\.(attention\.)?(q_proj|query)": "query", r"attention\.(attention\.)?(k_proj|key)": "key",
    r"attention\.(attention\.)?(v_proj|value)": "value", r"attention\.(o_proj|output\.dense)": "output",
    r"mlp\.fc1|intermediate\.dense": "up", r"mlp\.fc2|output\.dense": "down", r"^layernorm": "norm",
}  # fmt: skip


class Block(nn.Module):
    """Attention of all patches to all, and a small network, each added to what was there."""

    def __init__(self, width: int, inner: int, heads: int, eps: float, bias: bool) -> None:
        self.heads = heads
        self.norm1 = nn.LayerNorm(width, eps)
        self.query, self.key, self.value = [nn.Linear(width, width, bias) for _ in range(3)]
        self.output = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width, eps)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: ad.Tensor) -> ad.Tensor:
        """Features (N, T, width) to features."""
        n, length, width = x.shape
        y = self.norm1(x)
        q, k, v = [p(y).reshape(n, length, self.heads, -1).swapaxes(1, 2) for p in (self.query, self.key, self.value)]
        y = nn.functional.scaled_dot_product_attention(q, k, v).swapaxes(1, 2).reshape(n, length, width)
        x = x + self.output(y)
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class ViT(nn.Module):
    """Images (N, channels, size, size) to scores (N, classes). The arguments are those of `config.json`."""

    def __init__(self, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, **config):
        if config.get("hidden_act", "gelu") != "gelu":
            raise ValueError(f"the activation {config['hidden_act']} isn't computed here")
        size, patch = config.get("image_size", 224), config.get("patch_size", 16)
        eps, bias = config.get("layer_norm_eps", 1e-12), config.get("qkv_bias", True)
        self.names = {int(key): name for key, name in config.get("id2label", {0: "0", 1: "1"}).items()}
        self.cls_token = ad.variable(ad.zeros((1, 1, hidden_size)))
        self.position_embeddings = ad.variable(ad.zeros((1, (size // patch) ** 2 + 1, hidden_size)))
        self.patches = nn.Conv2d(config.get("num_channels", 3), hidden_size, patch, patch)
        sizes = (hidden_size, intermediate_size, num_attention_heads, eps, bias)
        self.blocks = nn.ModuleList([Block(*sizes) for _ in range(num_hidden_layers)])
        self.norm = nn.LayerNorm(hidden_size, eps)
        self.classifier = nn.Linear(hidden_size, len(self.names))

    def forward(self, images: ad.Tensor) -> ad.Tensor:
        """The scores."""
        x = self.patches(images).flatten(2).swapaxes(1, 2)
        first = ad.broadcast_to(self.cls_token, (x.shape[0], 1, x.shape[2]))
        x = ad.concat([first, x], axis=1) + self.position_embeddings
        for block in self.blocks:
            x = block(x)
        return self.classifier(self.norm(x)[:, 0])

    @classmethod
    def load(cls, folder: str | Path) -> ViT:
        """The model of a folder."""
        model = cls(**json.loads(Path(folder, "config.json").read_text()))
        model.load_state_dict(ad.interop.rename(ad.load(Path(folder, "model.safetensors")), NAMES))
        return model.eval()


def photo(path: str, size: int = 224) -> ad.Tensor:
    """An image file as the network expects it: (1, 3, size, size), from -1 to 1."""
    from PIL import Image  # noqa: PLC0415 - only this needs it

    pixels = np.asarray(Image.open(path).convert("RGB").resize((size, size)), "f4")
    return ad.tensor(pixels.transpose(2, 0, 1)[None] / 127.5 - 1)


def main() -> None:
    """Print the likeliest classes."""
    if len(sys.argv) < 2:
        ad.random.seed(0)
        model = ViT(32, 64, 2, 4, image_size=16, patch_size=4)
        print("random weights give", model(ad.random.normal((1, 3, 16, 16)))[0].numpy().round(3).tolist())
        return
    model = ViT.load(sys.argv[1])
    with ad.no_grad():
        shares = ad.softmax(model(photo(sys.argv[2]))[0]).numpy()
    for number in shares.argsort()[::-1][:5]:
        print(f"{shares[number]:6.1%}  {model.names[int(number)]}")


if __name__ == "__main__":
    main()
