"""Pictures out of noise: a U-Net takes away, step by step, what it holds for noise.

The folder holds `config.json` and `diffusion_pytorch_model.safetensors` of a UNet2DModel. Without one, a small network with
random weights draws.

    python examples/models/diffusion.py path/to/ddpm-cat-256/unet picture.png
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from unet import UNet

import adjoint as ad


def draw(model: UNet, shape: tuple[int, ...], steps: int = 50) -> np.ndarray:
    """Images out of noise, without fresh noise on the way (J. Song and others, 2020), with the usual 1000 times."""
    kept = np.append(
        np.cumprod(1 - np.linspace(1e-4, 0.02, 1000)), 1.0
    )  # of the picture, at each time; all at the last
    x, step, times = ad.random.normal(shape), ad.jit(model), np.linspace(999, 0, steps).astype(int)
    with ad.no_grad():
        for time, following in zip(times, [*times[1:], -1], strict=True):
            noise, now, then = step(x, ad.full((shape[0],), int(time))), float(kept[time]), float(kept[following])
            clean = ad.clip((x - (1 - now) ** 0.5 * noise) / now**0.5, -1.0, 1.0)
            x = then**0.5 * clean + (1 - then) ** 0.5 * noise
    return x.numpy()


def main() -> None:
    """Draw a picture."""
    ad.random.seed(0)
    if len(sys.argv) < 2:
        kinds = (("DownBlock2D", "AttnDownBlock2D"), ("AttnUpBlock2D", "UpBlock2D"))
        model = UNet(1, 1, (8, 16), *kinds, layers_per_block=1, norm_num_groups=4, attention_head_dim=8)
        print("random weights draw", draw(model, (1, 1, 8, 8), 2)[0, 0, 0].round(3))
        return
    import matplotlib.pyplot as pyplot  # noqa: PLC0415 - only this needs it

    size = json.loads(Path(sys.argv[1], "config.json").read_text())["sample_size"]
    picture = draw(UNet.load(sys.argv[1]), (1, 3, size, size))[0].transpose(1, 2, 0)
    pyplot.imsave(sys.argv[2], (picture + 1) / 2)


if __name__ == "__main__":
    main()
