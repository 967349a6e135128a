"""What the programs import besides PyTorch, as small local stand-ins: images, texts and folders without a network.

They use whichever `torch` is there, so that both sides read the same data.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

IMAGES = 640  # of a training set; a fifth of that for testing


def _digits(count: int, size: int, channels: int, seed: int) -> tuple[Any, Any]:
    """Blurred strokes whose place says the class: something to learn."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    images = rng.integers(0, 40, (count, size, size, channels))
    step = size // 10 or 1
    for i, label in enumerate(labels):
        images[i, label * step : label * step + 2 * step, size // 4 : 3 * size // 4] += 180
    images = images.astype(np.uint8)
    return (images[..., 0] if channels == 1 else images), labels


def vision(torch: Any) -> dict[str, types.ModuleType]:
    """The modules `torchvision` and `torchvision.*`."""
    from PIL import Image

    class Images:
        size, channels = 28, 1

        def __init__(
            self, root: Any = None, train: bool = True, download: bool = False, transform: Any = None, **others: Any
        ) -> None:
            self.transform = transform
            images, labels = _digits(IMAGES if train else IMAGES // 5, self.size, self.channels, int(train))
            self.images, self.targets = images, torch.tensor(labels)
            self.data = torch.tensor(images)

        def __getitem__(self, i: int) -> Any:
            image: Any = Image.fromarray(self.images[i])
            return (image if self.transform is None else self.transform(image)), int(self.targets[i])

        def __len__(self) -> int:
            return len(self.images)

    class CIFAR10(Images):
        size, channels = 32, 3

    class FakeData(Images):
        def __init__(self, image_size: Any = (3, 64, 64), transform: Any = None, **others: Any) -> None:
            self.channels, self.size = image_size[0], image_size[1]
            super().__init__(transform=transform)

    class Compose:
        def __init__(self, steps: Any) -> None:
            self.steps = steps

        def __call__(self, x: Any) -> Any:
            for step in self.steps:
                x = step(x)
            return x

    class ToTensor:
        def __call__(self, image: Any) -> Any:
            array = np.array(image)
            array = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
            return torch.from_numpy(np.ascontiguousarray(array)).to(torch.float32).div(255)

    class Normalize:
        def __init__(self, mean: Any, std: Any) -> None:
            self.mean, self.std = (torch.tensor(v).view(-1, 1, 1) for v in (mean, std))

        def __call__(self, x: Any) -> Any:
            return (x - self.mean) / self.std

    class Resize:
        def __init__(self, size: Any) -> None:
            self.size = (size, size) if isinstance(size, int) else tuple(size)

        def __call__(self, image: Any) -> Any:
            return image.resize(self.size, Image.Resampling.BILINEAR)

    class CenterCrop(Resize):
        def __call__(self, image: Any) -> Any:
            w, h = image.size
            left, top = (w - self.size[0]) // 2, (h - self.size[1]) // 2
            return image.crop((left, top, left + self.size[0], top + self.size[1]))

    def save_image(tensor: Any, path: Any, **options: Any) -> None:
        array = (tensor.detach().cpu().numpy().reshape(-1, tensor.shape[-1]) * 255).clip(0, 255).astype(np.uint8)
        Image.fromarray(array).save(path)

    def make_grid(tensor: Any, **options: Any) -> Any:
        return torch.cat(list(tensor), dim=2)

    made = {name: types.ModuleType(name) for name in ("torchvision", "torchvision.datasets", "torchvision.transforms",
                                                     "torchvision.utils", "torchvision.models")}  # fmt: skip
    root = made["torchvision"]
    for name, module in made.items():
        if "." in name:
            setattr(root, name.partition(".")[2], module)
    vars(made["torchvision.datasets"]).update(MNIST=type("MNIST", (Images,), {}), CIFAR10=CIFAR10, FakeData=FakeData)
    vars(made["torchvision.transforms"]).update(
        Compose=Compose, ToTensor=ToTensor, Normalize=Normalize, Resize=Resize, CenterCrop=CenterCrop
    )
    vars(made["torchvision.utils"]).update(save_image=save_image, make_grid=make_grid)
    made["torchvision.models"].resnet18 = resnet18(torch)  # type: ignore[attr-defined]
    return made


def resnet18(torch: Any) -> Any:
    """A residual network of the same interface: K. He et al. (2016), 18 layers."""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, inside: int, outside: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outside)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outside)
            self.downsample = None
            if stride != 1 or inside != outside:
                self.downsample = nn.Sequential(
                    nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside)
                )

        def forward(self, x: Any) -> Any:
            kept = x if self.downsample is None else self.downsample(x)
            out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            out += kept
            return self.relu(out)

    class ResNet(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, 2, 1)
            sizes = (64, 64, 128, 256, 512)
            for i in range(1, 5):
                first = Block(sizes[i - 1], sizes[i], 1 if i == 1 else 2)
                setattr(self, f"layer{i}", nn.Sequential(first, Block(sizes[i], sizes[i], 1)))
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(512, 1000)

        def forward(self, x: Any) -> Any:
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(torch.flatten(self.avgpool(x), 1))

    return lambda weights=None, **options: ResNet()


class _Quiet:
    """An object that takes every call."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: None


def others() -> dict[str, types.ModuleType]:
    """TensorBoard's writer, six, and pictures that nobody sees."""
    made = {}
    for name in ("torch.utils.tensorboard", "six", "six.moves"):
        made[name] = types.ModuleType(name)
    made["torch.utils.tensorboard"].SummaryWriter = _Quiet  # type: ignore[attr-defined]
    made["tiktoken"] = types.ModuleType("tiktoken")
    made["six.moves"].urllib = _Quiet()  # type: ignore[attr-defined]
    return made


WORDS = (
    "the a of to and in on cat dog tree house river sees walks runs under over small old green who never always".split()
)


def text(count: int, seed: int = 0) -> str:
    """So many words, line by line."""
    rng = random.Random(seed)
    return "\n".join(" ".join(rng.choice(WORDS) for _ in range(12)) for _ in range(count // 12)) + "\n"


def prepare(program: str, folder: Path) -> None:
    """The data that a program expects in its folder."""
    if program == "word_language_model":
        target = folder / "data" / "wikitext-2"
        target.mkdir(parents=True, exist_ok=True)
        for part, count in (("train", 120000), ("valid", 1500), ("test", 1500)):
            (target / f"{part}.txt").write_text(text(count, len(part)))
    elif program == "super_resolution":
        from PIL import Image

        for part, count in (("train", 8), ("test", 2)):
            target = folder / "dataset" / "BSDS300" / "images" / part
            target.mkdir(parents=True, exist_ok=True)
            rng = np.random.default_rng(count)
            for i in range(count):
                grey = np.cumsum(rng.normal(0, 12, (321, 481, 3)), axis=1) + 128
                Image.fromarray(grey.clip(0, 255).astype(np.uint8)).save(target / f"{i}.jpg")
    elif program == "nanoGPT":
        target = folder / "data" / "shakespeare_char"
        data = text(24000)
        characters = sorted(set(data))
        codes = np.array([characters.index(c) for c in data], np.uint16)
        cut = int(len(codes) * 0.9)
        codes[:cut].tofile(target / "train.bin")
        codes[cut:].tofile(target / "val.bin")
        meta = {
            "vocab_size": len(characters),
            "itos": dict(enumerate(characters)),
            "stoi": {c: i for i, c in enumerate(characters)},
        }
        with open(target / "meta.pkl", "wb") as file:
            pickle.dump(meta, file)
    elif program == "vae":
        (folder / "results").mkdir(exist_ok=True)
    elif program == "chargpt":
        (folder / "input.txt").write_text("O God, O God!\n" + text(24000))


def install(torch: Any) -> None:
    """Put the stand-ins where `import` finds them."""
    for name, module in {**vision(torch), **others()}.items():
        sys.modules.setdefault(name, module)
    os.environ.setdefault("MPLBACKEND", "Agg")
