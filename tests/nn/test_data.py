"""Data sets, the IDX format, downloads, batches, and files that appear whole or not at all."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import http.server
import os
import sys
import threading

import numpy as np
import pytest

import adjoint as ad
from adjoint import _files, _optional
from adjoint.data import DataLoader, image_sets, lookup, read_idx
from adjoint.data import download as fetching
from mnist_files import idx_bytes, write_mnist

digits_module = sys.modules["adjoint.data.digits"]
mnist_module = sys.modules["adjoint.data.mnist"]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    """No test sees the user's data, nor writes into the user's cache."""
    monkeypatch.delenv("ADJOINT_DATA", raising=False)
    monkeypatch.delenv("ADJOINT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


# ---------------------------------------------------------------- IDX


def test_idx_of_every_axis_count_and_type(tmp_path):
    for shape in [(), (3,), (2, 3), (2, 3, 4), (0, 5)]:
        array = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
        (tmp_path / "plain").write_bytes(idx_bytes(array))
        (tmp_path / "zipped.gz").write_bytes(gzip.compress(idx_bytes(array)))
        for name in ("plain", "zipped.gz"):
            found = read_idx(tmp_path / name)
            assert found.dtype == np.uint8
            np.testing.assert_array_equal(found, array)
    values = np.array([1.5, -2.0], ">f4")
    (tmp_path / "floats").write_bytes(bytes([0, 0, 0x0D, 1, 0, 0, 0, 2]) + values.tobytes())
    found = read_idx(tmp_path / "floats")
    assert found.dtype == np.dtype("float32")
    np.testing.assert_array_equal(found, [1.5, -2.0])


GOOD = idx_bytes(np.arange(6, dtype=np.uint8).reshape(2, 3))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "isn't an IDX file"),
        (b"\x89PNG\r\n", "isn't an IDX file"),
        (b"\0\0\x07\x01\0\0\0\0", "isn't an IDX file"),
        (GOOD[:7], "cut short"),
        (GOOD[:-1], r"cut short: shape \(2, 3\) of uint8 takes 18 bytes, the file has 17"),
        (GOOD + b"x", "bytes after its end"),
    ],
)
def test_idx_is_strict(tmp_path, data, text):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(ValueError, match=text):
        read_idx(tmp_path / "file")


@pytest.mark.parametrize("spoil", [lambda d: d[:-5], lambda d: b"no gzip" + d, lambda d: d[:20] + b"\xff\xff" + d[22:]])
def test_damaged_gzip(tmp_path, spoil):
    path = tmp_path / "images.gz"
    path.write_bytes(spoil(gzip.compress(GOOD * 50)))
    with pytest.raises(ValueError, match=r"images\.gz is damaged or cut short"):
        read_idx(path)


# ---------------------------------------------------------------- MNIST


def test_mnist_from_a_folder(tmp_path, monkeypatch):
    folder = write_mnist(tmp_path / "digits")
    images, labels = ad.data.mnist(folder)
    assert images.shape == (300, 28, 28)
    assert images.dtype == np.uint8
    assert labels.shape == (300,)
    assert labels.dtype == np.int64
    assert ad.data.mnist(str(folder), train=False)[0].shape == (100, 28, 28)

    monkeypatch.setenv("ADJOINT_DATA", str(folder))
    assert ad.data.mnist()[0].shape == (300, 28, 28)
    folder.rename(tmp_path / "mnist")
    monkeypatch.setenv("ADJOINT_DATA", str(tmp_path))
    assert ad.data.mnist()[0].shape == (300, 28, 28)
    with gzip.open(tmp_path / "mnist" / "t10k-labels-idx1-ubyte.gz") as file:
        (tmp_path / "mnist" / "t10k-labels-idx1-ubyte").write_bytes(file.read())
    (tmp_path / "mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
    assert len(ad.data.mnist(train=False)[1]) == 100


def test_a_named_folder_without_the_digits(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"nowhere doesn't exist"):
        ad.data.mnist(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"lacks train-images-idx3-ubyte\.gz"):
        ad.data.mnist(tmp_path)
    monkeypatch.setenv("ADJOINT_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"\(from ADJOINT_DATA\) lacks train-images"):
        ad.data.mnist()


def test_images_and_labels_must_belong_together(tmp_path):
    folder = write_mnist(tmp_path / "digits")
    labels = folder / "train-labels-idx1-ubyte.gz"
    labels.write_bytes(gzip.compress(idx_bytes(np.zeros(299, np.uint8))))
    with pytest.raises(ValueError, match="belong together"):
        ad.data.mnist(folder)
    labels.write_bytes(gzip.compress(idx_bytes(np.full(300, 11, np.uint8))))
    with pytest.raises(ValueError, match="label 11"):
        ad.data.mnist(folder)


class Mirror(http.server.BaseHTTPRequestHandler):
    """Serves the files in `folder`; cut short if `truncate` is set."""

    folder = None
    truncate = False
    requests = 0

    def do_GET(self):
        type(self).requests += 1
        path = self.folder / self.path.lstrip("/")
        if not path.exists():
            self.send_error(404)
            return
        data = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if self.truncate else data)

    def log_message(self, *arguments):
        pass


def change(monkeypatch, name, **changes):
    monkeypatch.setattr(mnist_module, name, dataclasses.replace(getattr(mnist_module, name), **changes))


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A mirror on this machine with small files, whose checksums the module takes for the right ones."""
    folder = write_mnist(tmp_path / "served")
    handler = type("Handler", (Mirror,), {"folder": folder})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setattr(lookup, "checkout", lambda: None)
    sums = {n: hashlib.sha256(gzip.decompress((folder / f"{n}.gz").read_bytes())).hexdigest() for n in image_sets.FILES}
    address = f"http://127.0.0.1:{server.server_port}/"
    change(monkeypatch, "MNIST", mirrors=(address,), checksums=sums)
    change(monkeypatch, "FASHION_MNIST", mirrors=("http://127.0.0.1:9/", address), checksums=sums, places=())
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_download_once_into_the_cache(mirror, tmp_path, capsys):
    with pytest.raises(FileNotFoundError, match="not on this machine"):
        ad.data.mnist(download=False)
    assert ad.data.mnist()[0].shape == (300, 28, 28)
    assert ad.data.mnist()[0].shape == (300, 28, 28)
    assert mirror.requests == 2
    assert sorted(path.name for path in (tmp_path / "cache" / "adjoint" / "mnist").iterdir()) == [
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
    ]
    assert "downloading train-images-idx3-ubyte.gz" in capsys.readouterr().err


def test_the_second_mirror_helps_and_folders_stay_apart(mirror, tmp_path):
    assert ad.data.fashion_mnist(train=False)[0].shape == (100, 28, 28)
    assert (tmp_path / "cache" / "adjoint" / "fashion-mnist" / "t10k-images-idx3-ubyte.gz").exists()
    both = tmp_path / "both"
    write_mnist(both, train=20)
    write_mnist(both / "fashion-mnist", train=30)
    assert len(ad.data.fashion_mnist(both)[0]) == 30
    assert len(ad.data.mnist(both)[0]) == 20


def test_the_files_of_the_other_data_set_are_told(tmp_path, monkeypatch):
    folder = write_mnist(tmp_path / "digits")
    labels = gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes())
    change(monkeypatch, "FASHION_MNIST", others={hashlib.sha256(labels).hexdigest(): "MNIST"})
    with pytest.raises(ValueError, match=r"train-labels-idx1-ubyte\.gz belongs to MNIST, not to Fashion-MNIST"):
        ad.data.fashion_mnist(folder)
    assert set(mnist_module.MNIST.others) < set(mnist_module._SUMS["Fashion-MNIST"])


def test_a_wrong_checksum_leaves_no_file(mirror, tmp_path):
    write_mnist(mirror.folder, train=310)
    with pytest.raises(ValueError, match="wrong checksum"):
        ad.data.mnist()
    assert list((tmp_path / "cache").rglob("*.gz")) == []


def test_a_broken_download_leaves_no_file(mirror, tmp_path):
    mirror.truncate = True
    with pytest.raises(ConnectionError, match=r"could not fetch .*ADJOINT_DATA"):
        ad.data.mnist()
    assert list((tmp_path / "cache").rglob("*.*")) == []
    mirror.truncate = False
    (mirror.folder / "train-images-idx3-ubyte.gz").unlink()
    with pytest.raises(ConnectionError, match="Not Found"):
        ad.data.mnist()


def test_offline_says_what_to_do(monkeypatch):
    monkeypatch.setattr(lookup, "checkout", lambda: None)
    change(monkeypatch, "MNIST", mirrors=("http://127.0.0.1:9/",))
    with pytest.raises(
        ConnectionError, match=r"MNIST is not on this machine.*train-images-idx3-ubyte\.gz.*ADJOINT_DATA"
    ):
        ad.data.mnist()


def test_shakespeare_is_downloaded_once_and_checked(mirror, tmp_path, monkeypatch, capsys):
    with pytest.raises(FileNotFoundError, match=r"the text of Shakespeare is not on this machine.*ADJOINT_DATA"):
        ad.data.shakespeare(download=False)
    (mirror.folder / "input.txt").write_text("First Citizen:\n")
    module = sys.modules["adjoint.data.shakespeare"]
    monkeypatch.setattr(module, "MIRRORS", ("http://127.0.0.1:9/", mnist_module.MNIST.mirrors[0]))
    with pytest.raises(ValueError, match="has the wrong checksum"):
        ad.data.shakespeare()
    assert list((tmp_path / "cache").rglob("*.txt")) == []
    monkeypatch.setattr(module, "CHECKSUM", hashlib.sha256(b"First Citizen:\n").hexdigest())
    path = ad.data.shakespeare()
    assert path == ad.data.shakespeare() == tmp_path / "cache" / "adjoint" / "shakespeare" / "input.txt"
    assert mirror.requests == 2
    assert "downloading input.txt" in capsys.readouterr().err
    assert ad.data.characters(path).decode(ad.data.characters(path).codes) == "First Citizen:\n"
    with pytest.raises(FileNotFoundError, match="doesn't exist"):
        ad.data.shakespeare(tmp_path / "nowhere")
    monkeypatch.setattr(module, "MIRRORS", ("http://127.0.0.1:9/",))
    path.unlink()
    with pytest.raises(ConnectionError, match="could not fetch"):
        ad.data.shakespeare()


def test_an_unwritable_place_for_downloads(mirror, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(OSError, match="cache"):
        ad.data.mnist()


def test_download_reports_a_strange_address(tmp_path):
    with pytest.raises(ConnectionError, match="could not fetch"):
        fetching.download("no address", tmp_path / "file")


# ---------------------------------------------------------------- digits and characters


def test_the_small_digits_come_with_the_package():
    images, labels = ad.data.digits()
    assert images.shape == (1797, 8, 8)
    assert images.dtype == np.uint8
    assert (images.min(), images.max()) == (0, 16)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    readme = (digits_module.FOLDER / "README.md").read_text()
    for name in ("images-idx3-ubyte.gz", "labels-idx1-ubyte.gz"):
        assert hashlib.sha256(gzip.decompress((digits_module.FOLDER / name).read_bytes())).hexdigest() in readme


def test_characters_of_a_file(tmp_path):
    text = "Höhe über dem Meer: 12 m\n" * 3 + "🙂"
    (tmp_path / "text").write_text(text, encoding="utf-8")
    chars = ad.data.characters(tmp_path / "text")
    assert chars.vocabulary == "".join(sorted(set(text)))
    assert chars.codes.dtype == np.int64
    assert len(chars) == len(text)
    assert chars.decode(chars.codes) == text
    assert chars.decode(chars.encode("Meer 🙂")) == "Meer 🙂"
    assert chars.encode("").tolist() == []
    train, test = chars.split(0.25)
    assert train.decode(train.codes) + test.decode(test.codes) == text
    assert len(test) == len(text) // 4


def test_contexts_are_pieces_and_what_follows(tmp_path):
    chars = ad.data.characters(text="abcdefgh")
    inputs, targets = chars.contexts(3)
    assert [chars.decode(row) for row in inputs] == ["abc", "bcd", "cde", "def", "efg"]
    assert [chars.decode(row) for row in targets] == ["bcd", "cde", "def", "efg", "fgh"]
    assert inputs.base is not None
    batches = list(DataLoader(chars.contexts(3, stride=2), 2, shuffle=False))
    assert [chars.decode(row) for row in batches[0][0].numpy()] == ["abc", "cde"]
    assert batches[0][1].dtype == "int64"


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda tmp: ad.data.characters(tmp / "none"), FileNotFoundError, "none"),
        (lambda tmp: ad.data.characters(tmp / "latin"), ValueError, "isn't a text in UTF-8"),
        (lambda tmp: ad.data.characters(tmp / "empty"), ValueError, "empty is empty"),
        (lambda tmp: ad.data.characters(), ValueError, "give a path, or text="),
        (lambda tmp: ad.data.characters(text="abc").encode("abd"), ValueError, "'d' is not in the vocabulary 'abc'"),
        (lambda tmp: ad.data.characters(text="abc").encode("0"), ValueError, "'0' is not in the vocabulary"),
        (lambda tmp: ad.data.characters(text="abc").decode([3]), IndexError, "the vocabulary has 3"),
        (lambda tmp: ad.data.characters(text="abc").contexts(3), ValueError, "too short for contexts of 3"),
        (lambda tmp: ad.data.characters(text="abc").contexts(1, stride=0), ValueError, "stride"),
    ],
)
def test_mistakes_with_characters(tmp_path, make, error, text):
    (tmp_path / "latin").write_bytes("Höhe".encode("latin-1"))
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(error, match=text):
        make(tmp_path)


# ---------------------------------------------------------------- computed data sets


@pytest.mark.parametrize(("make", "classes"), [(ad.data.moons, 2), (ad.data.spirals, 3)])
def test_synthetic(make, classes):
    points, labels = make(101, noise=0.0, seed=1)
    assert points.shape == (101, 2)
    assert points.dtype == np.float32
    assert labels.dtype == np.int64
    assert np.bincount(labels).tolist() == sorted(np.bincount(labels).tolist(), reverse=True)
    assert len(np.bincount(labels)) == classes
    again = make(101, noise=0.0, seed=1)
    np.testing.assert_array_equal(points, again[0])
    assert not np.array_equal(labels, make(101, seed=2)[1])
    with pytest.raises(ValueError, match="classes"):
        make(1)


def test_moons_lie_on_half_circles():
    points, labels = ad.data.moons(200, noise=0.0)
    upper, lower = points[labels == 0], points[labels == 1]
    np.testing.assert_allclose((upper**2).sum(1), 1, rtol=1e-6)
    np.testing.assert_allclose(((lower - [1, 0.5]) ** 2).sum(1), 1, rtol=1e-6)
    assert upper[:, 1].min() > -1e-6
    assert lower[:, 1].max() < 0.5 + 1e-6


# ---------------------------------------------------------------- batches


def rows(loader):
    return [batch.numpy().tolist() for batch in loader]


def test_batches_cover_everything_once():
    x = np.arange(10, dtype=np.float32)
    loader = DataLoader((x, 2 * x.astype(np.int64)), 4, shuffle=True)
    assert len(loader) == 3
    batches = list(loader)
    assert [len(a) for a, _ in [(a.numpy(), b) for a, b in batches]] == [4, 4, 2]
    assert all(isinstance(a, ad.Tensor) and a.dtype == "float32" and b.dtype == "int64" for a, b in batches)
    firsts = np.concatenate([a.numpy() for a, _ in batches])
    assert sorted(firsts) == list(range(10))
    assert not np.array_equal(firsts, x)
    np.testing.assert_array_equal(np.concatenate([b.numpy() for _, b in batches]), 2 * firsts)


def test_order_depends_on_seed_and_epoch_alone():
    x = np.arange(20)
    first, second = DataLoader(x, 5, shuffle=True, seed=1), DataLoader(x, 5, shuffle=True, seed=1)
    epochs = [rows(first) for _ in range(3)]
    assert epochs == [rows(second) for _ in range(3)]
    assert epochs[0] != epochs[1] != epochs[2]
    assert rows(DataLoader(x, 5, shuffle=True, seed=2)) != epochs[0]
    assert DataLoader(x, 20, shuffle=True, seed=0).order(0).tolist()[:5] == ORDER_OF_SEED_0
    assert rows(DataLoader(x, 8, shuffle=False)) == [list(range(8)), list(range(8, 16)), list(range(16, 20))]


# Fixed: a saved position must mean the same batches in every later version, on every machine.
ORDER_OF_SEED_0 = [0, 2, 11, 17, 9]


def test_drop_last_and_numpy_batches():
    loader = DataLoader(np.arange(10), 4, shuffle=False, drop_last=True, tensors=False)
    assert len(loader) == 2
    assert [type(batch) for batch in loader] == [np.ndarray, np.ndarray]


def test_transform_gets_arrays():
    loader = DataLoader(
        (np.full((6, 2), 255, np.uint8), np.arange(6)),
        3,
        transform=lambda images, labels: (images.astype(np.float32) / 255, labels),
    )
    for images, labels in loader:
        assert images.dtype == "float32"
        assert images.numpy().max() == 1
        assert labels.shape == (3,)


def test_batches_do_not_alias_the_data():
    x = np.zeros(4)
    for shuffle in (True, False):
        batch = next(iter(DataLoader(x, 4, shuffle=shuffle)))
        x += 1
        assert batch.numpy().tolist() == [x[0] - 1] * 4


@pytest.mark.parametrize("stop", [0, 1, 2, 3])
def test_resume_in_the_middle_of_an_epoch(stop):
    x = np.arange(11)
    whole = DataLoader(x, 4, shuffle=True, seed=3)
    expected = [rows(whole) for _ in range(3)]

    loader = DataLoader(x, 4, shuffle=True, seed=3)
    rows(loader)
    seen = []
    state = loader.state_dict()
    for number, batch in enumerate(loader):
        if number == stop:
            break
        seen.append(batch.numpy().tolist())
        state = loader.state_dict()
    resumed = DataLoader(x, 4, shuffle=True, seed=99)
    resumed.load_state_dict(state)
    assert seen + rows(resumed) == expected[1]
    assert rows(resumed) == expected[2]


def test_an_iteration_left_early_is_followed_by_a_new_epoch():
    loader = DataLoader(np.arange(10), 4, shuffle=True)
    fresh = DataLoader(np.arange(10), 4, shuffle=True)
    next(iter(loader))
    rows(fresh)
    assert rows(loader) == rows(fresh)


def changed_at_random(images, generator):
    return images + generator.random(images.shape, np.float32)


def augmented(x, **options):
    return DataLoader((x, np.arange(len(x))), 4, shuffle=True, augment=changed_at_random, seed=5, **options)


@pytest.mark.parametrize("prefetch", [False, True])
def test_augmentation_is_resumed_exactly(prefetch):
    x = np.zeros((11, 2), np.float32)
    whole = augmented(x, prefetch=prefetch)
    expected = [[(a.tolist(), b.tolist()) for a, b in whole] for _ in range(3)]
    assert expected[0] != expected[1]
    assert expected[0][0][0] != expected[0][1][0]
    loader = augmented(x)
    list(loader)
    iteration = iter(loader)
    seen = [next(iteration), next(iteration)]
    other = augmented(x, prefetch=prefetch)
    other.load_state_dict(loader.state_dict())
    found = [(a.tolist(), b.tolist()) for a, b in [*seen, *other]]
    assert found == expected[1]
    assert [(a.tolist(), b.tolist()) for a, b in other] == expected[2]


def test_a_thread_prepares_the_same_batches():
    threads = []

    def transform(x):
        threads.append(threading.current_thread())
        with ad.no_grad():
            return x * 2

    x = np.arange(23)
    with_thread = DataLoader(x, 5, shuffle=True, transform=transform, prefetch=True)
    without = DataLoader(x, 5, shuffle=True, transform=lambda x: x * 2)
    assert [rows(with_thread) for _ in range(2)] == [rows(without) for _ in range(2)]
    assert threading.main_thread() not in threads
    iteration = iter(with_thread)
    next(iteration)
    where = {"epoch": 2, "batch": 1, "seed": 0, "batch_size": 5, "samples": 23}
    assert with_thread.state_dict() == where  # handed out, not prepared
    del iteration
    assert not any(thread.is_alive() for thread in threads)


def test_what_goes_wrong_in_the_thread_is_raised():
    def transform(x):
        if 7 in x:
            raise RuntimeError("seven")
        return x

    loader = DataLoader(np.arange(12), 4, shuffle=False, transform=transform, prefetch=True)
    iteration = iter(loader)
    assert next(iteration).tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="seven"):
        next(iteration)


def begun(data, size):
    """The state of a loader that has given one batch."""
    loader = DataLoader(data, size)
    next(iter(loader))
    return loader.state_dict()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: DataLoader(np.zeros((0, 2)), 4), "no rows"),
        (lambda: DataLoader((), 4), "no rows"),
        (lambda: DataLoader(3.0, 4), "no rows"),
        (lambda: DataLoader((np.zeros(3), np.zeros(4)), 2), r"one length; they have \[3, 4\] rows"),
        (lambda: DataLoader(np.zeros(3), 0), "batch size"),
        (lambda: DataLoader(np.zeros(3), 4, drop_last=True), "no batch of 4"),
        (lambda: DataLoader(np.zeros(3), 1).load_state_dict({"epoch": 0, "batch": 4, "seed": 0}), "3 batches"),
        (lambda: DataLoader(np.zeros(9), 2).load_state_dict(begun(np.zeros(9), 3)), "with batch_size 3; here it is 2"),
        (lambda: DataLoader(np.zeros(9), 3).load_state_dict(begun(np.zeros(8), 3)), "with samples 8; here it is 9"),
    ],
)
def test_loader_mistakes(make, text):
    with pytest.raises(ValueError, match=text):
        make()


# ---------------------------------------------------------------- files and optional packages


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    with _files.replacing(path) as file:
        file.write(b"first")
        assert not path.exists()
    with pytest.raises(RuntimeError), _files.replacing(path) as file:
        file.write(b"second")
        raise RuntimeError
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["file"]


def test_a_missing_package_names_its_remedy(tmp_path, monkeypatch):
    with pytest.raises(
        ImportError, match=r"drawing needs the package nosuchpackage, which isn't installed: .*adjoint\[x\]"
    ):
        _optional.load("nosuchpackage.part", purpose="drawing", extra="x")
    assert _optional.try_load("nosuchpackage") is None
    (tmp_path / "brokenpackage.py").write_text("import nosuchpackage")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ImportError, match="which doesn't load"):
        _optional.load("brokenpackage", purpose="drawing", extra="x")
