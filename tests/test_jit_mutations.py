"""Whatever changes of what a jitted function has seen takes effect or raises: tables of mutations beside the plain function."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import adjoint as ad
import mutations

CALLS = (0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0)  # 1: change, then call
NOT_LOUD = [
    "a seeded generator", "a seeded generator of Python", "next of its own", "lists of its own", "objects of its own",
]  # fmt: skip
LOUD = {x for x in mutations.CASES if x.startswith("changed inside: ")} - {f"changed inside: {x}" for x in NOT_LOUD}
READ_ONLY = {"a large NumPy array", "the base of a large NumPy array", "changed inside: large array"}


def played(case, jit):
    """The results of the calls, and the error that ended them."""
    results = []
    try:
        f, change = case(jit)
        changes = 0
        for changing in CALLS:
            if changing:
                change(changes)
                changes += 1
            leaves, _ = ad.tree.flatten(f())
            results.append([x.numpy().copy() if isinstance(x, ad.Tensor) else np.array(x) for x in leaves])
    except Exception as error:
        return results, error
    return results, None


@pytest.mark.parametrize("name", mutations.CASES)
def test_a_change_takes_effect_or_raises(name):
    case = mutations.CASES[name]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*traced anew again and again", RuntimeWarning)
        expected, wrong = played(case, lambda f: f)
        found, error = played(case, ad.jit)
    assert len(found) <= len(expected)
    for one, other in zip(found, expected, strict=False):
        assert len(one) == len(other)
        for x, y in zip(one, other, strict=True):
            np.testing.assert_allclose(x, y, 1e-5, 1e-6)
    if name in READ_ONLY:
        assert isinstance(error, ValueError) and "read-only" in str(error)
    elif name in LOUD:
        assert not found and isinstance(error, RuntimeError), error
        assert re.search(r"^f: .*\(.+:\d+\)$", str(error)), "the message names the function and the user's line"
    else:
        assert type(error) is type(wrong), error
        assert len(found) == len(expected)
