"""What the recipes share: the folder of a run, checks of its numbers, weights that say which network they belong to."""

from __future__ import annotations

import atexit
import functools
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adjoint import _files, _optional, interop, nn
from adjoint.distributed import rank

from .catalogue import build

__all__ = ["check_numbers", "load_network", "prepare", "results", "save_network"]

NETWORK, OPTIONS = "network", "options"  # in the metadata of a file of weights


def prepare(out: str | os.PathLike[str]) -> Path:
    """The folder of a run, made if need be. What is missing at the end is missed before the work.

    Raises OSError, naming the folder, where it can't be written; ImportError without safetensors or matplotlib.
    """
    _optional.load("safetensors.numpy", purpose="saving weights", extra="train")
    _optional.load("matplotlib.figure", purpose="drawing figures", extra="train")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        _files.remove_leftovers(folder)
    except OSError as error:
        raise OSError(f"can't write into the folder {folder}: {error.strerror or error}") from error
    return folder


def results(out: Path) -> Path:
    """Where this process leaves its results: `out`; of several that train together, one alone, the others where nobody looks."""
    if not rank():
        return out
    return _aside()


@functools.cache
def _aside() -> Path:
    aside = tempfile.TemporaryDirectory(prefix="adjoint-rank-")
    atexit.register(aside.cleanup)
    return Path(aside.name)


def check_numbers(lr: float, **counts: int | None) -> None:
    """Raise ValueError for a rate that isn't positive and for counts below 1."""
    for name, value in counts.items():
        if value is not None and value < 1:
            raise ValueError(f"the {name.replace('_', ' ')} must be at least 1, not {value}")
    if not lr > 0:
        raise ValueError(f"the learning rate must be positive, not {lr}")


def save_network(path: Path, model: nn.Module, name: str, **options: Any) -> None:
    """Write a network's weights with its name, and what `build` needs to make it again."""
    interop.save(path, model, metadata={NETWORK: name, OPTIONS: json.dumps(options)})


def load_network(path: str | os.PathLike[str]) -> tuple[nn.Module, str, Mapping[str, Any]]:
    """The network that these weights belong to, its name, and its options.

    Raises OSError where the file can't be read; ValueError for a damaged file, and for one that a recipe didn't write.
    """
    tensors, metadata = interop.load_with_metadata(path)
    if NETWORK not in metadata:
        raise ValueError(f"{path} doesn't say which network its weights are of; `adjoint train` writes files that do")
    try:
        name, options = metadata[NETWORK], json.loads(metadata[OPTIONS])
        model = build(name, **{key: value for key, value in options.items() if key != "characters"})
        model.load_state_dict(tensors)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    return model.eval(), name, options
