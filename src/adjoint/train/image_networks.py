"""Networks that see images: a residual network, an autoencoder that makes digits up, one that colours each pixel."""

from __future__ import annotations

from adjoint import nn, random
from adjoint.tensors import Tensor
from adjoint.tensors.functions import concat, exp, relu

from .networks import Standardize

__all__ = ["ResidualBlock", "ShapeUNet", "VariationalAutoencoder", "fashion_resnet"]


def _convolved(channels: int, out: int, stride: int = 1) -> nn.Sequential:
    """A convolution of 3 × 3, normalised."""
    return nn.Sequential(nn.Conv2d(channels, out, 3, stride, padding=1, bias=False), nn.BatchNorm2d(out))


class ResidualBlock(nn.Module):
    """Two convolutions added to what was there (K. He and others, 2015): (N, channels, H, W) to (N, out, H, W) / stride."""

    def __init__(self, channels: int, out: int, stride: int = 1) -> None:
        self.first = _convolved(channels, out, stride)
        self.second = _convolved(out, out)
        same = channels == out and stride == 1
        self.shortcut = (
            None if same else nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        )

    def forward(self, x: Tensor) -> Tensor:
        """The sum, rectified."""
        kept = x if self.shortcut is None else self.shortcut(x)
        result: Tensor = relu(self.second(relu(self.first(x))) + kept)
        return result


def fashion_resnet() -> nn.Sequential:
    """A convolution, five residual blocks and a linear layer: images (N, 28, 28) from 0 to 1, to scores (N, 10)."""
    return nn.Sequential(
        Standardize(0.286, 0.353),
        _convolved(1, 16),
        nn.ReLU(),
        ResidualBlock(16, 16),
        ResidualBlock(16, 32, 2),
        ResidualBlock(32, 32),
        ResidualBlock(32, 64, 2),
        ResidualBlock(64, 64),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    )


class VariationalAutoencoder(nn.Module):
    """Images (N, 28, 28) from 0 to 1 through a few normal numbers and back (D. Kingma and M. Welling, 2013).

    The encoder gives the mean and the logarithm of the variance of `code` numbers for each image; the decoder makes of numbers
    drawn so the logits of the pixels. In evaluation mode it takes the means.
    """

    def __init__(self, code: int = 10, channels: int = 16) -> None:
        self.encoder = nn.Sequential(
            nn.Conv2d(1, channels, 4, 2, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, 4, 2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        self.mean = nn.Linear(98 * channels, code)
        self.log_variance = nn.Linear(98 * channels, code)
        self.decoder = nn.Sequential(
            nn.Linear(code, 98 * channels),
            nn.ReLU(),
            nn.Unflatten(1, (2 * channels, 7, 7)),
            nn.ConvTranspose2d(2 * channels, channels, 4, 2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(channels, 1, 4, 2, padding=1),
            nn.Flatten(1, 2),
        )

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The logits (N, 28, 28), the means and the logarithms of the variances (N, code)."""
        features = self.encoder(images.expand_dims(axis=1))
        mean, log_variance = self.mean(features), self.log_variance(features)
        code = mean
        if self.training:
            code = mean + exp(0.5 * log_variance) * random.normal(mean.shape, dtype=mean.dtype)
        return self.decoder(code), mean, log_variance


class ShapeUNet(nn.Module):
    """Images (N, H, W) to scores of each pixel's class (N, classes, H, W) (O. Ronneberger and others, 2015).

    `levels` times the image is halved, and brought back to its size beside what was seen there. H and W are multiples of
    2^levels.
    """

    def __init__(self, classes: int = 4, width: int = 8, levels: int = 3) -> None:
        def block(channels: int, out: int) -> nn.Sequential:
            return nn.Sequential(_convolved(channels, out), nn.ReLU(), _convolved(out, out), nn.ReLU())

        widths = [width << level for level in range(levels + 1)]
        self.down = nn.ModuleList([block(a, b) for a, b in zip([1, *widths[:-2]], widths[:-1], strict=True)])
        self.pool = nn.MaxPool2d(2)
        self.middle = block(widths[-2], widths[-1])
        pairs = list(zip(widths[:0:-1], widths[-2::-1], strict=True))
        self.grow = nn.ModuleList([nn.ConvTranspose2d(a, b, 2, 2) for a, b in pairs])
        self.up = nn.ModuleList([block(a, b) for a, b in pairs])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, images: Tensor) -> Tensor:
        """The scores."""
        x, seen = images.expand_dims(axis=1), []
        for block in self.down:
            x = block(x)
            seen.append(x)
            x = self.pool(x)
        x = self.middle(x)
        for grow, block, beside in zip(self.grow, self.up, reversed(seen), strict=True):
            x = block(concat([grow(x), beside], axis=1))
        scores: Tensor = self.head(x)
        return scores
