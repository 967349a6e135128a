"""Makes docs/engines/pytorch_network.json, numbers of PyTorch's that a page of the documentation compares with.

    python tests/oracle/pytorch_network.py

A 2-8-1 tanh network of torch.nn learns exclusive or from 8 points: 100 steps of stochastic gradient descent in float64, one
point a step, in order. The file holds the points, PyTorch's initial weights for seed 0, and the weights after 50 and 100 steps.
test_document_oracle.py trains it again and compares.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

POINTS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.1, 0.1], [0.1, 0.9], [0.9, 0.1], [0.9, 0.9]]
TARGETS = [0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
RATE, STEPS, EVERY = 0.1, 100, 50
FILE = Path(__file__).resolve().parents[2] / "docs" / "engines" / "pytorch_network.json"


def train() -> dict[str, Any]:
    """The points, the rate, and the weights at steps 0, 50 and 100, each as nested lists."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    points, targets = torch.tensor(POINTS, dtype=torch.float64), torch.tensor(TARGETS, dtype=torch.float64)

    def weights() -> dict[str, Any]:
        return {name: parameter.tolist() for name, parameter in model.state_dict().items()}

    found = [weights()]
    for step in range(STEPS):
        i = step % len(points)
        loss = (model(points[i]) - targets[i]).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % EVERY == 0:
            found.append(weights())
    return {"points": POINTS, "targets": TARGETS, "rate": RATE, "steps": STEPS, "every": EVERY, "weights": found}


if __name__ == "__main__":
    FILE.write_text(json.dumps(train()) + "\n")
