"""Where the files of a data set are looked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from adjoint import _files

__all__ = ["cached", "find"]


def find(
    files: Sequence[str],
    subfolder: str,
    folder: str | os.PathLike[str] | None,
    complaint: str,
    places: Sequence[str] = (),
) -> Path | None:
    """The first of some files that is there, any of which would do; None when there is none.

    If a folder is named, in the argument or by ADJOINT_DATA, they are looked for there alone: in its `subfolder`, then in
    itself. Otherwise in `data/subfolder` of the checkout, in the cache, and in `places`. Raises FileNotFoundError, with
    `complaint`, when a named folder lacks them.
    """
    named = folder if folder is not None else os.environ.get("ADJOINT_DATA") or None
    if named is None:
        around = [checkout(), cached(subfolder), *map(Path, places)]
        found = [_within(place, subfolder, files) for place in around if place is not None]
        return next((path for path in found if path is not None), None)
    path = _within(Path(named), subfolder, files)
    if path is None:
        source = "" if folder is not None else " (from ADJOINT_DATA)"
        if not Path(named).is_dir():
            what = "is a file" if Path(named).exists() else "doesn't exist"
            raise FileNotFoundError(f"the data folder {named}{source} {what}")
        raise FileNotFoundError(f"the data folder {named}{source} lacks {files[0]}; {complaint}")
    return path


def cached(subfolder: str) -> Path:
    """The folder of a data set in the cache."""
    return _files.cache_folder() / subfolder


def checkout() -> Path | None:
    """The folder `data` of the repository, if this file lies in one."""
    root = Path(__file__).resolve().parents[3]
    return root / "data" if (root / "pyproject.toml").is_file() else None


def _within(folder: Path, subfolder: str, files: Sequence[str]) -> Path | None:
    # Its own subfolder first: a folder of several data sets may hold the files of another under the same names.
    candidates = [place / file for place in (folder / subfolder, folder) for file in files]
    return next((path for path in candidates if path.is_file()), None)
