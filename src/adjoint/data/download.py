"""Fetching a file once, with a progress bar, checked, and put in place whole."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from adjoint import _files, _optional

__all__ = ["download", "sha256"]

CHUNK = 1 << 16
TIMEOUT = 30  # seconds without a byte


def download(url: str, path: Path, *, check: Callable[[bytes], object] | None = None) -> None:
    """Fetch `url` into the file `path`, whose folder is made if need be.

    `check` gets the bytes before they are kept, and raises ValueError to refuse them. Shows progress on a terminal.
    Raises ConnectionError when the address can't be reached or the answer breaks off, OSError when the file can't be
    written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Whoever reads data loads this module, and hardly anybody fetches: so the network's modules, with their encryption, wait.
    request, client = importlib.import_module("urllib.request"), importlib.import_module("http.client")
    try:
        with request.urlopen(url, timeout=TIMEOUT) as response:
            data = _read(response, int(response.headers.get("Content-Length") or 0), path.name)
    except (OSError, client.HTTPException, ValueError) as error:
        if isinstance(error, request.HTTPError):
            error.close()  # it is the answer itself, with its connection
        raise ConnectionError(f"could not fetch {url}: {getattr(error, 'reason', error)}") from error
    if check is not None:
        check(data)
    with _files.replacing(path) as file:
        file.write(data)


def sha256(data: bytes) -> str:
    """The SHA-256 checksum of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _read(response: BinaryIO, total: int, name: str) -> bytes:
    parts = []
    with _progress(name, total) as advance:
        while part := response.read(CHUNK):
            parts.append(part)
            advance(len(part))
    data = b"".join(parts)
    if total and len(data) != total:
        raise ConnectionError(f"got {len(data)} of {total} bytes")
    return data


@contextmanager
def _progress(name: str, total: int) -> Iterator[Callable[[int], object]]:
    rich = _optional.try_load("rich.progress") if sys.stderr.isatty() else None
    if rich is None:
        sys.stderr.write(f"downloading {name}" + (f" ({total / 1e6:.1f} MB)\n" if total else "\n"))
        yield lambda count: None
        return
    console = _optional.load("rich.console", purpose="the progress bar", extra="train").Console(stderr=True)
    columns = (
        rich.TextColumn("downloading {task.description}"),
        rich.BarColumn(),
        rich.DownloadColumn(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=console) as bar:
        task = bar.add_task(name, total=total or None)
        yield lambda count: bar.advance(task, count)
