"""The numbers of PyTorch's that the documentation compares with are PyTorch's."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")

import pytorch_network


@pytest.mark.oracle
def test_the_network_of_the_documentation():
    known, found = json.loads(pytorch_network.FILE.read_text()), pytorch_network.train()
    assert {k: v for k, v in known.items() if k != "weights"} == {k: v for k, v in found.items() if k != "weights"}
    for then, now in zip(known["weights"], found["weights"], strict=True):
        assert then.keys() == now.keys()
        for name in then:
            np.testing.assert_allclose(then[name], now[name], rtol=0, atol=1e-12)
