"""Logs for TensorBoard: the format by published numbers, and what resuming makes of them."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim, train
from adjoint.train import tensorboard


def test_the_checksum_is_castagnolis():
    # RFC 3720, B.4: the CRC-32C of 32 zeros is 0x8a9136aa, of 32 ones 0x62a8ab43, of 0 to 31 0x46dd794e
    for data, crc in ((bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43), (bytes(range(32)), 0x46DD794E)):
        masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        assert tensorboard._checksum(data) == struct.pack("<I", masked)


def test_a_record_byte_by_byte():
    message = tensorboard._event(1.5, 300, {"loss": 0.25})
    value = b"\x0a\x04loss\x15" + struct.pack("<f", 0.25)
    summary = b"\x0a" + bytes([len(value)]) + value
    assert message == b"\x09" + struct.pack("<d", 1.5) + b"\x10\xac\x02\x2a" + bytes([len(summary)]) + summary


def test_what_was_written_comes_back(tmp_path):
    with train.TensorBoard(tmp_path) as board:
        for step in (1, 200, 40_000):
            board.write(step=step, loss=1 / step, name="left out", **{"test accuracy": 0.5})
        board.write(step=7, loss=float("nan"), large=-1e300, count=10**40)
    found = list(train.read_events(tmp_path))
    assert [step for step, _ in found] == [1, 200, 40_000, 7]
    assert (found[3][1]["large"], found[3][1]["count"]) == (-np.inf, np.inf)  # what float32 makes of them
    assert found[1][1] == {"loss": pytest.approx(0.005), "test accuracy": 0.5}
    assert np.isnan(found[3][1]["loss"])
    path = tmp_path / tensorboard.NAME
    path.write_bytes(path.read_bytes()[:-3])  # a record that broke off
    assert [step for step, _ in train.read_events(tmp_path)] == [1, 200, 40_000]
    with train.TensorBoard(tmp_path, after=200) as board:
        board.write(step=201, loss=2)
    assert [step for step, _ in train.read_events(tmp_path)] == [1, 200, 201]


def test_a_run_leaves_both_logs(tmp_path):
    def run(**options):
        ad.random.seed(0)
        model = nn.Linear(2, 1)
        x = np.random.default_rng(0).normal(size=(12, 2)).astype("f4")
        loader = ad.data.DataLoader((x, x[:, :1]), 4)
        logs = [tmp_path / "log.jsonl", tmp_path / "tensorboard"]
        train.fit(
            model, nn.functional.mse_loss, optim.SGD(model.parameters(), 0.1), loader, log=logs, progress=False,
            checkpoint=tmp_path / "c.safetensors", validate=lambda model: {"test": 0.5}, **options,
        )  # fmt: skip

    run(epochs=2)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    events = list(train.read_events(tmp_path / "tensorboard"))
    assert [step for step, _ in events] == [line["step"] for line in lines]
    assert events[0][1]["loss"] == pytest.approx(lines[0]["loss"])
    assert events[-1][1]["test"] == 0.5
    run(epochs=3, resume=True)
    assert [step for step, _ in train.read_events(tmp_path / "tensorboard")] == [1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9]
