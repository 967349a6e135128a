"""A megabyte of Shakespeare's plays, to learn from character by character."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from . import download as fetching
from . import lookup

__all__ = ["shakespeare"]

FILE = "input.txt"
# The text that A. Karpathy's char-rnn learned from; its commit stands in the address, so that it stays what it is.
MIRRORS = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/data/tinyshakespeare/",
)
CHECKSUM = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"


def shakespeare(folder: str | os.PathLike[str] | None = None, download: bool = True) -> Path:
    """The file of 1,115,394 characters from Shakespeare's plays, "tiny Shakespeare" (A. Karpathy, 2015).

    `input.txt` is looked for in `folder` or its subfolder `shakespeare`; if none is given, in the folder that the
    environment variable ADJOINT_DATA names; if that isn't set, in `shakespeare` of the cache (see `data.mnist`). As a last
    resort it is downloaded into the cache (1.1 MB) and checked, unless `download=False`. `data.characters` reads it.

    Raises FileNotFoundError when a named folder lacks it, ValueError when what was downloaded has the wrong checksum,
    ConnectionError when it is nowhere and can't be downloaded.
    """
    remedy = f"Put {FILE} into a folder, and give that folder as an argument or in ADJOINT_DATA"
    found = lookup.find((FILE,), "shakespeare", folder, "it is the text that char-rnn learned from")
    if found is not None:
        return found
    path = lookup.cached("shakespeare") / FILE
    if not download:
        raise FileNotFoundError(f"the text of Shakespeare is not on this machine: {path} doesn't exist. {remedy}")
    failures = []
    for mirror in MIRRORS:
        try:
            fetching.download(mirror + FILE, path, check=partial(_check, mirror + FILE))
        except ConnectionError as error:
            failures.append(str(error))
        else:
            return path
    raise ConnectionError(f"the text of Shakespeare is not on this machine: {'; '.join(failures)}. {remedy}")


def _check(address: str, data: bytes) -> None:
    found = fetching.sha256(data)
    if found != CHECKSUM:
        raise ValueError(f"{FILE}, downloaded from {address}, has the wrong checksum {found}; expected {CHECKSUM}")
