"""Named tuples that are made at once are those of `typing`; and a program waits for no module that it doesn't need."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest

from adjoint import _tuples

UNWANTED = "hashlib json multiprocessing pathlib string subprocess tempfile urllib.parse"
PROGRAM = f"""
import sys, typing
import numpy as np
before = set(sys.modules)
import adjoint as ad
assert (ad.jit(lambda x: ad.sin(x) * x)(np.zeros(8)).numpy() == 0).all()
new = set(sys.modules) - before
print("llvmlite" in new)
print(sorted(new & set({UNWANTED.split()})))
print([name for name in sorted(new) for x in vars(sys.modules[name]).values() if x is typing.NamedTuple])
"""


class Ours(_tuples.NamedTuple):
    """A pair."""

    first: int
    second: Any = None

    @property
    def both(self) -> tuple[int, Any]:
        return self.first, self.second


class Theirs(typing.NamedTuple):
    """A pair."""

    first: int
    second: Any = None


class Nothing(_tuples.NamedTuple):
    """Without fields."""


def test_named_tuples_are_those_of_typing() -> None:
    mine, other = Ours(1, [2]), Theirs(1, [2])
    assert mine == other and Ours(2) == Ours(first=2) == (2, None) and hash(Ours(2)) == hash(Theirs(2))
    assert repr(mine) == repr(other).replace("Theirs", "Ours") and mine.both == (1, [2]) and mine.second is mine[1]
    assert Ours._fields == Theirs._fields == Ours.__match_args__ and Ours.__doc__ == "A pair."
    assert list(inspect.signature(Ours).parameters) == list(inspect.signature(Theirs).parameters)
    assert mine._replace(first=3) == other._replace(first=3) and type(mine._replace(first=3)) is Ours
    assert mine._asdict() == other._asdict() and Ours._make([4, 5]) == (4, 5)
    assert not hasattr(mine, "__dict__") and Nothing() == () and repr(Nothing()) == "Nothing()"
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    for twin in (copy.copy(mine), copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert type(twin) is Ours and twin == mine


@pytest.mark.parametrize("call", ["Ours()", "Ours(1, 2, 3)", "Ours(third=1)", "Ours(1)._replace(third=1)"])
def test_wrong_fields_are_refused(call: str) -> None:
    with pytest.raises(TypeError, match="Ours"):
        eval(call)


def test_fields_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        Ours(1).first = 2  # type: ignore[misc]


def test_a_program_whose_code_is_cached_waits_for_few_modules(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite")
    env = {**os.environ, "ADJOINT_CACHE": str(tmp_path)}
    for loads in (True, False):
        result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env, check=True)
        loaded, unwanted, typed = result.stdout.splitlines()
        assert loaded == str(loads)
        assert loads or unwanted == "[]", unwanted
        assert typed == "[]", typed
