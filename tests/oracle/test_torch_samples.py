"""PyTorch's own samples of its operators under `adjoint.torch`: see `samples`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import samples  # with PyTorch's own, which need expecttest: the extra `oracle` has it


PARTS = 48
EVERY = 8  # the parts that aren't slow have every eighth operator together


@pytest.mark.parametrize(
    "start", [pytest.param(start, marks=[pytest.mark.slow] if start % EVERY else []) for start in range(PARTS)]
)
def test_operators_are_what_they_are_in_pytorch(start):
    entries = list(samples.op_db)[start::PARTS]
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for op in entries:
            report = samples.run(op, most=4)
            silent = [p for p in report.problems if samples.kind_of(p) == "differs"]
            if silent and report.name not in samples.DIFFERS:
                found[report.name] = silent[:3]
            if "missing" in report.problems:
                found[report.name] = ["missing"]
    assert not found
