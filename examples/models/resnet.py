"""A residual network (K. He and others, 2015) with weights from Hugging Face, naming what a photo shows.

The folder holds `config.json` and `model.safetensors`. Without one, a small network with random weights looks at noise.

    python examples/models/resnet.py path/to/resnet-50 photo.jpg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import adjoint as ad
from adjoint import nn

NAMES = {
    r"^resnet\.": "", r"^embedder\.embedder\.": "stem.", r"^encoder\.": "", r"\.layers\.": ".", r"\.layer\.": ".steps.",
    r"convolution": "0", r"normalization": "1", r"^classifier\.1\.": "classifier.",
}  # fmt: skip
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of the photos that it was trained on


def convolved(channels: int, out: int, size: int, stride: int = 1, activation: str | None = "relu") -> nn.Sequential:
    """A normalised convolution and what follows it."""
    convolution = nn.Conv2d(channels, out, size, stride, padding=size // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(out), *([nn.ReLU()] if activation else []))


class Residual(nn.Module):
    """Some convolutions, added to what was there, which is convolved itself where the shape changes."""

    def __init__(self, channels: int, out: int, stride: int, bottleneck: bool, early: bool) -> None:
        self.shortcut = convolved(channels, out, 1, stride, None) if channels != out or stride != 1 else None
        if bottleneck:
            inner = out // 4
            first, second = (stride, 1) if early else (1, stride)
            steps = [convolved(channels, inner, 1, first), convolved(inner, inner, 3, second)]
            self.steps = nn.Sequential(*steps, convolved(inner, out, 1, activation=None))
        else:
            self.steps = nn.Sequential(convolved(channels, out, 3, stride), convolved(out, out, 3, activation=None))

    def forward(self, x: ad.Tensor) -> ad.Tensor:
        """Images (N, channels, H, W) to images."""
        kept = x if self.shortcut is None else self.shortcut(x)
        return ad.relu(self.steps(x) + kept)


class ResNet(nn.Module):
    """Images (N, channels, H, W) to scores (N, classes). The arguments are those of `config.json`."""

    def __init__(self, embedding_size=64, hidden_sizes=(256, 512, 1024, 2048), depths=(3, 4, 6, 3), **config):
        if config.get("hidden_act", "relu") != "relu":
            raise ValueError(f"the activation {config['hidden_act']} isn't computed here")
        bottleneck = config.get("layer_type", "bottleneck") == "bottleneck"
        early = config.get("downsample_in_bottleneck", False)
        self.names = {int(key): name for key, name in config.get("id2label", {0: "0", 1: "1"}).items()}
        self.stem = convolved(config.get("num_channels", 3), embedding_size, 7, 2)
        self.pool = nn.MaxPool2d(3, 2, padding=1)
        self.stages = nn.ModuleList()
        channels = embedding_size
        for number, (out, depth) in enumerate(zip(hidden_sizes, depths, strict=True)):
            stride = 2 if number or config.get("downsample_in_first_stage") else 1
            made = [Residual(channels, out, stride, bottleneck, early)]
            made += [Residual(out, out, 1, bottleneck, early) for _ in range(depth - 1)]
            self.stages.append(nn.Sequential(*made))
            channels = out
        self.classifier = nn.Linear(channels, len(self.names))

    def forward(self, images: ad.Tensor) -> ad.Tensor:
        """The scores."""
        x = self.pool(self.stem(images))
        for stage in self.stages:
            x = stage(x)
        return self.classifier(x.mean(axis=(2, 3)))

    @classmethod
    def load(cls, folder: str | Path) -> ResNet:
        """The model of a folder."""
        model = cls(**json.loads(Path(folder, "config.json").read_text()))
        model.load_state_dict(ad.interop.rename(ad.load(Path(folder, "model.safetensors")), NAMES))
        return model.eval()


def photo(path: str, size: int = 224) -> ad.Tensor:
    """An image file as the network expects it: (1, 3, size, size), each colour of mean 0 and deviation 1."""
    from PIL import Image  # noqa: PLC0415 - only this needs it

    pixels = np.asarray(Image.open(path).convert("RGB").resize((size, size)), "f4") / 255
    return ad.tensor(((pixels - np.float32(MEAN)) / np.float32(DEVIATION)).transpose(2, 0, 1)[None])


def main() -> None:
    """Print the likeliest classes."""
    if len(sys.argv) < 2:
        ad.random.seed(0)
        model = ResNet(8, (16, 32), (1, 2)).eval()
        print("random weights give", model(ad.random.normal((1, 3, 32, 32)))[0].numpy().round(3).tolist())
        return
    model = ResNet.load(sys.argv[1])
    with ad.no_grad():
        shares = ad.softmax(model(photo(sys.argv[2]))[0]).numpy()
    for number in shares.argsort()[::-1][:5]:
        print(f"{shares[number]:6.1%}  {model.names[int(number)]}")


if __name__ == "__main__":
    main()
