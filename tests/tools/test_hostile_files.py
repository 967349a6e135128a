"""Files that aren't what they should be: bombs, odd headers, devices and pipes in the place of files."""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import struct
import subprocess
import sys
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import _files, interop, train
from adjoint.cli import main
from adjoint.data import idx

pytest.importorskip("safetensors")
unix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
MEGABYTE = 1 << 20


def peak_of(action: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# ---- bombs -----------------------------------------------------------------------------------------------------------


def png(width: int, height: int) -> bytes:
    """A picture in black of any size, in few bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packer = zlib.compressobj(9)
    data = b"".join([packer.compress(bytes(1 + 3 * width)) for _ in range(min(height, 8))]) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize("width, height", [(30_000, 30_000), (100_000, 700), (12_000, 12_000)])
def test_a_picture_that_unpacks_to_gigabytes(tmp_path: Path, width: int, height: int) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "bomb.png"
    path.write_bytes(png(width, height))

    def read() -> None:
        with pytest.raises(ValueError, match="pixels"):
            ad.data.read_image(path)

    assert peak_of(read) < 20 * MEGABYTE


def test_a_picture_of_many_pixels_is_read(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "wide.png").write_bytes(png(3000, 8))
    assert ad.data.read_image(tmp_path / "wide.png").shape == (8, 3000)


def test_a_gzip_file_that_unpacks_to_much(tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    start = b"\0\0\x08\x01" + (100).to_bytes(4, "big") + bytes(100)
    with gzip.open(path, "wb") as file:
        file.write(start)
        for _ in range(64):
            file.write(bytes(MEGABYTE))

    def read() -> None:
        with pytest.raises(ValueError, match="after its end"):
            idx.read_idx(path)

    assert peak_of(read) < 4 * MEGABYTE
    path.write_bytes(gzip.compress(b"\0\0\x08\x02" + b"\xff" * 8 + bytes(1000)))
    with pytest.raises(ValueError, match="are not unpacked"):
        idx.read_idx(path)
    path.write_bytes(gzip.compress(b"text and no numbers" * 100))
    with pytest.raises(ValueError, match="isn't an IDX file"):
        idx.read_idx(path)
    path.write_bytes(gzip.compress(start))
    assert idx.read_idx(path).shape == (100,)


@pytest.mark.parametrize(
    "expression",
    [
        "outer(outer(outer(x, x), outer(x, x)), outer(x, x))",
        "sum(outer(outer(x, x), outer(x, x)))",
        "outer(x, outer(x, x))",
    ],
)
def test_large_products_are_not_drawn(expression: str, capsys: pytest.CaptureFixture[str]) -> None:
    x = "x=[" + ",".join(["1"] * 300) + "]"
    assert main(["draw", expression, x]) == 1
    told = capsys.readouterr().err
    assert told.startswith("adjoint: error: ") and "elements" in told and told.count("\n") == 1
    assert main(["draw", "sum(outer(x, x))", x]) == 0


# ---- odd safetensors -------------------------------------------------------------------------------------------------


def safetensors(header: Any, data: bytes = bytes(8)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
ODD: list[Any] = [
    None,
    [],
    "text",
    3,
    {"x": None},
    {"x": ENTRY, "__metadata__": 3},
    {"x": ENTRY, "__metadata__": {"a": 1}},
    {"x": ENTRY, "__metadata__": {"a": None}},
    {"x": {**ENTRY, "shape": [1 << 60, 1 << 60]}},
    {"x": {**ENTRY, "shape": [-2]}},
    {"x": {**ENTRY, "dtype": "F99"}},
    {"x": {**ENTRY, "data_offsets": [0, 1 << 62]}},
    {"x": ENTRY, "y": ENTRY},
    b"[" * 100_000,
    b'{"x":' * 50_000,
]


@pytest.mark.parametrize("header", ODD, ids=range(len(ODD)))
def test_headers_that_say_something_odd(header: Any, tmp_path: Path) -> None:
    path = tmp_path / "odd.safetensors"
    path.write_bytes(safetensors(header))
    for read in (ad.load, interop.load_metadata, lambda path: train.load_checkpoint(path)):
        with pytest.raises(ValueError, match=r"odd\.safetensors"):
            read(path)


def test_metadata_that_is_null_is_none(tmp_path: Path) -> None:
    path = tmp_path / "null.safetensors"
    path.write_bytes(safetensors({"x": ENTRY, "__metadata__": None}))
    try:
        assert ad.load(path)["x"].tolist() == [0, 0] and interop.load_metadata(path) == {}
    except ValueError as error:  # newer readers refuse it
        assert "null.safetensors" in str(error)


def test_a_tensor_with_the_name_of_the_metadata(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no tensor can have the name '__metadata__'"):
        ad.save(tmp_path / "file", {"__metadata__": ad.ones(2)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "state",
    ["null", "[]", "3", '{"a": {"tensor": "gone", "array": true}}', '{"a": {"tuple": 3}}', "[" * 5000, '{"a": {}}'],
)
def test_checkpoints_that_say_something_odd(state: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.safetensors"
    ad.save(path, {"x": ad.ones(2)}, metadata={"adjoint checkpoint": state})
    with pytest.raises(ValueError, match=r"odd\.safetensors"):
        train.load_checkpoint(path)


@pytest.mark.parametrize("options", ["null", "[1]", '{"hidden": "many"}', '{"no": 1}', "[" * 5000])
def test_weights_that_say_something_odd(options: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.safetensors"
    ad.save(path, {"x": ad.ones(2)}, metadata={"network": "mnist-mlp", "options": options})
    with pytest.raises(ValueError):
        train.folder.load_network(path)


# ---- what is no regular file -----------------------------------------------------------------------------------------


@unix
def test_pipes_and_devices_are_written_to_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for write in (
        lambda: ad.save(pipe, {"x": ad.ones(2)}),
        lambda: ad.draw(ad.variable(1.0) * 2, pipe),
        lambda: ad.explore(ad.variable(1.0) * 2, pipe),
    ):
        found: list[bytes] = []
        reader = threading.Thread(target=lambda found=found: found.append(pipe.read_bytes()), daemon=True)
        reader.start()
        write()
        reader.join(10)
        assert found and len(found[0]) > 50
    ad.save(os.devnull, {"x": ad.ones(2)})
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode) and stat.S_ISFIFO(os.stat(pipe).st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    link = tmp_path / "link"
    link.symlink_to(os.devnull)
    ad.save(link, {"x": ad.ones(2)})
    assert link.is_symlink()


@unix
def test_a_checkpoint_is_no_device_nor_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", os.devnull):
        with pytest.raises(OSError, match="a device or a pipe"):
            train.save_checkpoint(path, step=1)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode) and stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


@unix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_standard_output_is_written_to(name: str, kind: str, tmp_path: Path) -> None:
    if name.startswith("/proc") and not os.path.exists("/proc/self/fd"):
        pytest.skip("no /proc")
    code = f"print('before'); import adjoint as ad; ad.draw(ad.variable(2.0) * 3).save({name!r}, 'dot'); print('after')"
    with open(tmp_path / "out", "wb") as file:
        run = subprocess.run(
            [sys.executable, "-c", code], stdout=subprocess.PIPE if kind == "pipe" else file, stderr=subprocess.PIPE
        )
    text = (run.stdout if kind == "pipe" else (tmp_path / "out").read_bytes()).decode()
    assert run.returncode == 0, run.stderr
    assert text.startswith("before\n") and text.endswith("after\n") and "digraph" in text


@unix
def test_the_command_says_beside_the_picture_what_it_wrote() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "adjoint", "draw", "x*2", "x=3", "--out", "/dev/stdout"], capture_output=True, text=True
    )
    if "pygraphviz" in run.stderr:
        pytest.skip("no Graphviz")
    assert run.returncode == 0 and run.stdout.lstrip().startswith("<") and "wrote /dev/stdout" in run.stderr


# ---- what a kill leaves ----------------------------------------------------------------------------------------------


def test_the_resume_removes_the_partial_files_of_a_run_that_was_killed(tmp_path: Path) -> None:
    mine = ["run.safetensors", ".hidden", "notes.partial", ".notes.partial"]
    left = [
        ".run.safetensors.0123abcd.new", "..run.safetensors.0123abcd.new.89abcdef.partial", ".run.safetensors.0123abcd.link",
        ".losses.png.0123abcd.partial", ".log.jsonl.0123abcd.partial",
    ]  # fmt: skip
    for name in [*mine, *left]:
        (tmp_path / name).write_text("")
    _files.remove_leftovers(tmp_path, "run.safetensors")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*mine, *left[3:]])
    train.folder.prepare(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(mine)


def test_equal_runs_write_equal_bytes(tmp_path: Path) -> None:
    code = """
import sys, numpy as np, adjoint as ad
from adjoint import nn, optim, train
ad.random.seed(3)
model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.1), nn.Linear(4, 1))
optimizer = optim.Adam(model.parameters())
x = np.linspace(0, 1, 24, dtype="f").reshape(8, 3)
folder = sys.argv[1]
train.fit(model, nn.functional.mse_loss, optimizer, ad.data.DataLoader((x, x[:, :1]), 4, shuffle=True, seed=1), epochs=3,
          checkpoint=folder + "/run.safetensors", log=folder + "/log.jsonl", progress=False)
ad.save(folder + "/weights.safetensors", model, metadata={"b": "1", "a": "2", "c": "3"})
y = (model(ad.tensor(x[:1])) ** 2).sum()
ad.explore(y, folder + "/page.html")
ad.draw(y).save(folder + "/y.dot")
ad.plot.losses([3.0, 2.0, 1.0], path=folder + "/losses.svg")
ad.plot.losses([3.0, 2.0, 1.0], path=folder + "/losses.png")
"""
    found = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        run = subprocess.run(
            [sys.executable, "-c", code, str(folder)], capture_output=True, text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
    for files in found:  # the log says how long it took
        files["log.jsonl"] = re.sub(rb'"seconds": [0-9.e-]+', b"", files["log.jsonl"])
    assert len(found[0]) >= 8
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        assert [name for name in other if other[name] != found[0][name]] == []


def test_the_order_of_what_is_saved_does_not_matter(tmp_path: Path) -> None:
    values = {f"x{k}": np.full(3, k) for k in range(20)}
    ad.save(tmp_path / "one", values, metadata={"z": "é", "a": "b"})
    ad.save(tmp_path / "two", dict(reversed(values.items())), metadata={"a": "b", "z": "é"})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
