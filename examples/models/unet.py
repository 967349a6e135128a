"""The U-Net of a diffusion model (J. Ho and others, 2020) with weights from Hugging Face; `diffusion.py` draws with it.

`UNet.load(folder)` reads `config.json` and `diffusion_pytorch_model.safetensors` of a UNet2DModel.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import adjoint as ad
from adjoint import nn

NAMES = {
    r"\.to_out\.0\.": ".to_out.", r"(down|up)samplers\.0\.conv\.": "resampled.", r"_blocks?\.": ".",
    r"resnets\.(\d+)\.": r"blocks.\1.residual.", r"attentions\.(\d+)\.": r"blocks.\1.attention.",
}  # fmt: skip
# what else `config.json` may ask for
KNOWN = {"act_fn": "silu", "mid_block_scale_factor": 1, "center_input_sample": False}


class Residual(nn.Module):
    """Two convolutions, told of the time in between, added to what was there."""

    def __init__(self, channels: int, out: int, times: int, groups: int, eps: float) -> None:
        self.norm1 = nn.GroupNorm(groups, channels, eps)
        self.conv1 = nn.Conv2d(channels, out, 3, padding=1)
        self.time_emb_proj = nn.Linear(times, out)
        self.norm2 = nn.GroupNorm(groups, out, eps)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(channels, out, 1) if channels != out else None

    def forward(self, x: ad.Tensor, time: ad.Tensor) -> ad.Tensor:
        """Images (N, channels, H, W) and features of the time (N, times) to images."""
        y = self.conv1(nn.functional.silu(self.norm1(x)))
        y = y + self.time_emb_proj(nn.functional.silu(time))[:, :, None, None]
        y = self.conv2(nn.functional.silu(self.norm2(y)))
        return y + (x if self.conv_shortcut is None else self.conv_shortcut(x))


class Attention(nn.Module):
    """Each pixel looks at all, added to what was there."""

    def __init__(self, width: int, features: int, groups: int, eps: float) -> None:
        self.heads = width // features
        self.group_norm = nn.GroupNorm(groups, width, eps)
        self.to_q, self.to_k, self.to_v, self.to_out = [nn.Linear(width, width) for _ in range(4)]

    def forward(self, x: ad.Tensor) -> ad.Tensor:
        """Images (N, width, H, W) to images."""
        n, width, *size = x.shape
        y = self.group_norm(x.flatten(2)).swapaxes(1, 2)
        q, k, v = [
            p(y).reshape(n, -1, self.heads, width // self.heads).swapaxes(1, 2)
            for p in (self.to_q, self.to_k, self.to_v)
        ]
        y = nn.functional.scaled_dot_product_attention(q, k, v).swapaxes(1, 2).reshape(n, -1, width)
        return x + self.to_out(y).swapaxes(1, 2).reshape(n, width, *size)


class Block(nn.Module):
    """A residual block, and attention after it where there is some."""

    def __init__(self, channels: int, out: int, attends: bool, settings: tuple[int, int, float, int]) -> None:
        times, groups, eps, features = settings
        self.residual = Residual(channels, out, times, groups, eps)
        self.attention = Attention(out, features, groups, eps) if attends else nn.Identity()

    def forward(self, x: ad.Tensor, time: ad.Tensor) -> ad.Tensor:
        """Images (N, channels, H, W) and features of the time to images."""
        return self.attention(self.residual(x, time))


class Level(nn.Module):
    """Blocks of one size of images, and a convolution to the next size."""

    def __init__(
        self, inputs: list[int], out: int, attends: list[bool], resampled: nn.Module | None, settings: tuple
    ) -> None:
        pairs = zip(inputs, attends, strict=True)
        self.blocks = nn.ModuleList([Block(channels, out, attention, settings) for channels, attention in pairs])
        self.resampled = resampled


class UNet(nn.Module):
    """Noisy images (N, C, H, W) and times (N,) to the noise in them. The arguments are those of `config.json`."""

    def __init__(self, in_channels, out_channels, block_out_channels, down_block_types, up_block_types, **config):
        if other := [name for name, value in KNOWN.items() if config.get(name, value) != value]:
            raise ValueError(f"{other[0]}={config[other[0]]!r} isn't computed here")
        depth, groups = config.get("layers_per_block", 2), config.get("norm_num_groups", 32)
        widths, eps = list(block_out_channels), config.get("norm_eps", 1e-5)
        self.first, self.shift = widths[0], config.get("freq_shift", 0)
        self.sine_first = not config.get("flip_sin_to_cos", True)
        self.padding = config.get("downsample_padding", 1)
        settings = (4 * widths[0], groups, eps, config.get("attention_head_dim") or widths[-1])
        self.conv_in = nn.Conv2d(in_channels, widths[0], 3, padding=1)
        linear = {"linear_1": nn.Linear(widths[0], 4 * widths[0]), "linear_2": nn.Linear(4 * widths[0], 4 * widths[0])}
        self.time_embedding = nn.ModuleDict(linear)
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        kept, channels = [widths[0]], widths[0]
        for number, (width, kind) in enumerate(zip(widths, down_block_types, strict=True)):
            smaller = nn.Conv2d(width, width, 3, 2, self.padding) if number + 1 < len(widths) else None
            self.down.append(
                Level([channels] + [width] * (depth - 1), width, ["Attn" in kind] * depth, smaller, settings)
            )
            kept += [width] * (depth + (smaller is not None))
            channels = width
        self.mid = Level([channels] * 2, channels, [True, False], None, settings)
        for number, (width, kind) in enumerate(zip(widths[::-1], up_block_types, strict=True)):
            inputs = [(channels if k == 0 else width) + kept.pop() for k in range(depth + 1)]
            larger = nn.Conv2d(width, width, 3, padding=1) if number + 1 < len(widths) else None
            self.up.append(Level(inputs, width, ["Attn" in kind] * (depth + 1), larger, settings))
            channels = width
        self.conv_norm_out = nn.GroupNorm(groups, widths[0], eps)
        self.conv_out = nn.Conv2d(widths[0], out_channels, 3, padding=1)

    def forward(self, x: ad.Tensor, times: ad.Tensor) -> ad.Tensor:
        """The noise."""
        half = self.first // 2
        rates = ad.exp(ad.arange(half, dtype="float32") * (-math.log(10000.0) / (half - self.shift)))
        angles = times.astype("float32")[:, None] * rates
        waves = [ad.sin(angles), ad.cos(angles)]
        time = self.time_embedding["linear_1"](ad.concat(waves if self.sine_first else waves[::-1], axis=1))
        time = self.time_embedding["linear_2"](nn.functional.silu(time))
        x = self.conv_in(x)
        kept = [x]
        for level in self.down:
            for block in level.blocks:
                x = block(x, time)
                kept.append(x)
            if level.resampled is not None:
                x = level.resampled(x if self.padding else nn.functional.pad(x, (0, 1, 0, 1)))
                kept.append(x)
        for block in self.mid.blocks:
            x = block(x, time)
        for level in self.up:
            for block in level.blocks:
                x = block(ad.concat([x, kept.pop()], axis=1), time)
            if level.resampled is not None:
                x = level.resampled(nn.functional.interpolate(x, scale_factor=2))
        return self.conv_out(nn.functional.silu(self.conv_norm_out(x)))

    @classmethod
    def load(cls, folder: str | Path) -> UNet:
        """The model of a folder."""
        model = cls(**json.loads(Path(folder, "config.json").read_text()))
        model.load_state_dict(ad.interop.rename(ad.load(Path(folder, "diffusion_pytorch_model.safetensors")), NAMES))
        return model.eval()
