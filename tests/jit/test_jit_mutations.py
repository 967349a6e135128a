"""Whatever changes of what a jitted function has seen takes effect or raises: tables of mutations beside the plain function."""

from __future__ import annotations

import logging
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
import mutations
import mutations_of_others

CALLS = (0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0)  # 1: change, then call
NOT_LOUD = [
    "a seeded generator", "a seeded generator of Python", "next of its own", "lists of its own", "objects of its own",
]  # fmt: skip
CASES = mutations.CASES | mutations_of_others.CASES
LOUD = {x for x in CASES if x.startswith("others: raises: ")} | {
    x for x in mutations.CASES if x.startswith("changed inside: ")
} - {f"changed inside: {x}" for x in NOT_LOUD}
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
    finally:
        while mutations_of_others.DATABASES:
            mutations_of_others.DATABASES.pop().close()
    return results, None


@pytest.mark.parametrize("name", CASES)
def test_a_change_takes_effect_or_raises(name):
    case = CASES[name]
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


def test_what_others_objects_keep_for_themselves_is_traced_once():
    """Caches and counters that they change while they are used by the function are no reason to raise or to trace anew."""
    log = logging.getLogger("test_jit_mutations")
    path, parsed, call = Path("a/b"), mutations_of_others.parser(), np.vectorize(lambda a: a * 2.0)

    @ad.jit
    def f(x):
        log.debug("traced")
        return x * float(call(2.0)) * len(str(path / "c")) * parsed.getfloat("a", "b")

    assert [f(ad.tensor(1.0)).item() for _ in range(4)] == [20.0] * 4
    assert len(f.traces) == 1
