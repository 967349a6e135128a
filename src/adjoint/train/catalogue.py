"""The networks behind `adjoint train`, by the names of their recipes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adjoint import nn
from adjoint.tensors import Tensor
from adjoint.tensors.functions import zeros

from .image_networks import ShapeUNet, VariationalAutoencoder, fashion_resnet
from .networks import CharLSTM, CharTransformer, fashion_cnn, mnist_cnn, mnist_network, moons_network

__all__ = ["NETWORKS", "TEXTS", "build", "example_input"]

NETWORKS = {
    "mnist-mlp": mnist_network,
    "mnist-cnn": mnist_cnn,
    "fashion-cnn": fashion_cnn,
    "resnet-fashion": fashion_resnet,
    "vae-mnist": VariationalAutoencoder,
    "unet-shapes": ShapeUNet,
    "moons": moons_network,
    "lstm-text": CharLSTM,
    "gpt-text": CharTransformer,
}

TEXTS = ("lstm-text", "gpt-text")  # those that read characters


def build(name: str, **options: Any) -> nn.Module:
    """A network with fresh weights, by the name of its recipe. Raises ValueError for another name."""
    if name not in NETWORKS:
        raise ValueError(f"there is no network {name!r}; there are {', '.join(NETWORKS)}")
    make: Any = NETWORKS[name]
    made: nn.Module = make(**options)
    return made


def example_input(name: str, options: Mapping[str, Any]) -> Tensor:
    """A batch of one, all zeros, for a network of that name that was built with these options."""
    if name in TEXTS:
        return zeros((1, int(options.get("context", 64))), dtype="int64")
    if name == "moons":
        return zeros((1, 2))
    return zeros((1, 32, 32) if name == "unet-shapes" else (1, 28, 28))
