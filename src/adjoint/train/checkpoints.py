"""Checkpoints: everything needed to go on, in one safetensors file that appears whole or not at all.

Tensors are stored as such; what else a `state_dict` holds (numbers, names, nested containers) is JSON in the file's
metadata, with the names of the tensors in their places.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from adjoint import _files, interop, random
from adjoint.interop.nesting import pack, unpack

__all__ = ["DamagedCheckpoint", "load_checkpoint", "previous", "save_checkpoint"]

STATE = "adjoint checkpoint"  # the metadata that holds the JSON
RANDOM = "random generator"


class DamagedCheckpoint(ValueError):
    """A checkpoint that is cut short, has wrong bytes, or is something else."""


def save_checkpoint(path: str | os.PathLike[str], **parts: Any) -> None:
    """Write models, optimizers, schedules, loaders, random generators and plain values, by name, to one file.

    A part is anything with `state_dict()`, an `ad.random.Generator`, or a value made of numbers, text, arrays, tensors,
    lists, tuples and dictionaries. The default random generator is always in it.

    The new file takes the place of an old one when all of it is on the disk; the old one is kept under the name
    `previous(path)` until the next. Raises OSError where it can't be written (a full disk, a folder without permission):
    what was saved before is untouched then. TypeError for what can't be saved.

    >>> import adjoint as ad, tempfile
    >>> model = ad.nn.Linear(2, 1)
    >>> optimizer = ad.optim.Adam(model.parameters())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ad.train.save_checkpoint(f"{folder}/run.safetensors", model=model, optimizer=optimizer, step=7)
    ...     found = ad.train.load_checkpoint(f"{folder}/run.safetensors", model=model, optimizer=optimizer)
    >>> found
    {'step': 7}
    """
    tensors: dict[str, Any] = {}
    states = {
        name: pack(_state(part), name, tensors, "save_checkpoint")
        for name, part in {**parts, RANDOM: random.default_generator}.items()
    }
    target = Path(path)
    if _files.is_stream(target):
        raise OSError(
            f"can't write the checkpoint {target}: it is no file (a device or a pipe), and could not be read again"
        )
    try:
        fresh = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
        try:
            interop.save(fresh, tensors, metadata={STATE: json.dumps(states)})
            if os.path.exists(target):
                _keep(target)
            os.replace(fresh, target)
            _files.sync_folder(target.parent)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        kept = next((old for old in (target, previous(target)) if os.path.exists(old)), None)
        state = f"; the last one, {kept}, is untouched" if kept is not None else ""
        raise type(error)(f"can't write the checkpoint {target}: {error.strerror or error}{state}") from error


def load_checkpoint(
    path: str | os.PathLike[str], *, check: Callable[[Mapping[str, Any]], object] | None = None, **parts: Any
) -> dict[str, Any]:
    """Give every part that `save_checkpoint` wrote its state back, and the default random generator; return plain values.

    `parts` are the objects by the names under which they were saved; values that aren't named here come back in the
    dictionary. `check` sees them first, and raises ValueError to refuse. Raises OSError where the file can't be read;
    ValueError when it is damaged or cut short (its subclass `DamagedCheckpoint`), lacks a part, or doesn't fit one: the
    message names the keys and shapes, and nothing has been changed then.
    """
    try:
        tensors, metadata = interop.load_with_metadata(path)
    except ValueError as error:
        raise DamagedCheckpoint(str(error)) from error
    if STATE not in metadata:
        raise ValueError(f"{path} holds weights only, not a checkpoint; ad.load(path) reads them")
    try:
        states = {name: unpack(value, tensors) for name, value in json.loads(metadata[STATE]).items()}
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise DamagedCheckpoint(f"{path} is damaged: what it says of its tensors can't be read ({error!r})") from error
    wanted = {**parts, RANDOM: random.default_generator}
    missing = sorted(set(wanted) - set(states))
    if missing:
        there = ", ".join(sorted(set(states) - {RANDOM}))
        raise ValueError(f"the checkpoint {path} has no {', '.join(missing)}; it has {there}")
    values = {name: value for name, value in states.items() if name not in wanted}
    if check is not None:
        try:
            check(values)
        except ValueError as error:
            raise ValueError(f"the checkpoint {path} can't be used: {error}") from error
    before = {name: _state(part) for name, part in wanted.items()}
    restored = []
    try:
        for name, part in wanted.items():
            restored.append(name)
            _restore(part, states[name])
    except (ValueError, KeyError, TypeError, IndexError) as error:
        for name in restored:
            _restore(wanted[name], before[name])
        raise ValueError(f"the checkpoint {path} doesn't fit {name}: {error}") from error
    return values


def previous(path: str | os.PathLike[str]) -> Path:
    """Where the checkpoint before the last is kept."""
    return Path(path).with_name(f"{Path(path).stem}.previous{Path(path).suffix}")


def _keep(target: Path) -> None:
    """Give the present file a second name, in place of the one before, so that at every moment a whole one has each name."""
    link = target.with_name(f".{target.name}.{secrets.token_hex(4)}.link")
    try:
        os.link(target, link)
        os.replace(link, previous(target))
    except OSError:  # no hard links here: then the new file just takes the old one's place
        pass
    with contextlib.suppress(OSError):  # also where both are one file already, of which a rename leaves all names
        link.unlink(missing_ok=True)


def _state(part: Any) -> Any:
    if isinstance(part, random.Generator):
        return part.state.numpy()
    return part.state_dict() if hasattr(part, "state_dict") else part


def _restore(part: Any, state: Any) -> None:
    if isinstance(part, random.Generator):
        part.state = state
    else:
        part.load_state_dict(state)
