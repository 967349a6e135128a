"""A small training with everything that has a state, to be killed and resumed: `python long_training.py FOLDER [jit]`.

It prints a line for each step, and writes its last weights to FOLDER/weights.safetensors.
"""

import sys
import time
from pathlib import Path

import numpy as np

import adjoint as ad
from adjoint import nn, optim, train


class Noisy(nn.Module):
    """A network whose every step draws random numbers, as dropout does."""

    def __init__(self):
        self.first = nn.Linear(16, 12)
        self.last = nn.Linear(12, 4)

    def forward(self, x):
        hidden = self.first(x.reshape(len(x), 16)).relu()
        if self.training:
            hidden = hidden * ad.random.bernoulli(0.8, hidden.shape, dtype="float32")
        return self.last(hidden)


class Tell:
    """Progress that prints each step at once, and takes its time."""

    def start(self, epoch, epochs, steps):
        pass

    def advance(self, loss):
        print(f"step {loss!r}", flush=True)
        time.sleep(PAUSE)

    def line(self, text):
        print(text, flush=True)

    def close(self):
        pass


PAUSE = 0.004


def run(folder, epochs=4, resume=True, pause=PAUSE, compiled=False):
    """Train, going on from the checkpoint in the folder if there is one. Gives the model, its average and the history."""
    global PAUSE
    PAUSE = pause
    folder = Path(folder)
    generator = np.random.default_rng(0)
    images = generator.random((90, 4, 4), np.float32)
    labels = generator.integers(0, 4, 90)
    ad.random.seed(1)
    model = Noisy()
    optimizer = optim.AdamW(model.parameters(), lr=0.01, amsgrad=True)
    loader = ad.data.DataLoader(
        (images, labels), 8, shuffle=True, seed=3, augment=ad.data.Augmentation(pixels=1, degrees=20), prefetch=True
    )
    average = optim.AveragedModel(model, optim.get_ema_avg_fn(0.9))
    history = train.fit(
        model,
        nn.functional.cross_entropy,
        optimizer,
        loader,
        epochs=epochs,
        schedule=optim.OneCycleLR(optimizer, 0.05, epochs=epochs, steps_per_epoch=len(loader)),
        clip_norm=1.0,
        compile=compiled,
        average=average,
        early_stopping=train.EarlyStopping("accuracy", patience=50),
        validate=lambda model: {"accuracy": train.accuracy(model, images, labels)},
        log=folder / "log.jsonl",
        checkpoint=folder / "run.safetensors",
        checkpoint_every=5,
        resume=resume,
        progress=Tell(),
    )
    ad.save(folder / "weights.safetensors", {**model.state_dict(), **average.state_dict("average.")})
    return model, average, history


if __name__ == "__main__":
    run(sys.argv[1], compiled="jit" in sys.argv)
