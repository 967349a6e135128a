"""The one place where optional packages are imported, so that each missing one names its remedy.

Optional are the packages of the extras in pyproject.toml. Nothing else in adjoint imports them, so `import adjoint`
needs only the required ones and stays fast.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from types import ModuleType

from adjoint.tracing import unobserved

__all__ = ["folder_of", "load", "try_load"]


def load(name: str, *, purpose: str, extra: str) -> ModuleType:
    """Import a module of an optional package, such as `"rich.progress"`.

    `purpose` says in a few words what it is for, `extra` which of adjoint's extras installs it. Raises ImportError,
    with the command that helps, when the package is missing or doesn't load.
    """
    try:
        return _imported(name)
    except ImportError as error:
        package = name.partition(".")[0]
        missing = isinstance(error, ModuleNotFoundError) and error.name == package
        state = "isn't installed" if missing else f"doesn't load ({error})"
        raise ImportError(
            f"{purpose} needs the package {package}, which {state}: pip install 'adjoint[{extra}]'"
        ) from error


def try_load(name: str) -> ModuleType | None:
    """Import a module of an optional package, or give None where that fails: for what merely gets nicer with it."""
    try:
        return _imported(name)
    except ImportError:
        return None


def folder_of(name: str) -> str | None:
    """Where an optional package lies, which isn't imported; None where it is missing."""
    if sys.modules.get(name, name) is None:  # as tests say that it is missing
        return None
    with unobserved():
        found = importlib.machinery.PathFinder.find_spec(name)
    folders = None if found is None else found.submodule_search_locations
    return next(iter(folders), None) if folders else None


def _imported(name: str) -> ModuleType:
    """The module. What a package asks of the clock and the environment as it is imported is no part of a traced function."""
    with unobserved():
        return importlib.import_module(name)
