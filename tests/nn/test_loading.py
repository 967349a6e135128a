"""Batches of samples: what a data set may be, collating, samplers, workers, resuming, files."""

from __future__ import annotations

import collections
import importlib
import itertools
import multiprocessing
import os
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint import data
from adjoint.data import DataLoader


class Squares(data.Dataset):
    def __len__(self):
        return 11

    def __getitem__(self, number):
        return np.full(3, float(number)), number**2


class Count(data.IterableDataset):
    def __iter__(self):
        return iter(range(7))


def taken(loader):
    """The batches as nested lists."""
    return [
        ad.tree.map(lambda x: x.tolist() if isinstance(x, ad.Tensor | np.ndarray) else x, batch) for batch in loader
    ]


def test_defaults_are_those_of_pytorch():
    loader = DataLoader(Squares())
    assert len(loader) == 11
    assert taken(loader)[:2] == [([[0.0] * 3], [0]), ([[1.0] * 3], [1])]
    x, y = next(iter(DataLoader(Squares(), 4)))
    assert (x.shape, x.dtype, y.tolist()) == ((4, 3), "float64", [0, 1, 4, 9])


@pytest.mark.parametrize(
    "dataset",
    [
        [(float(i), i) for i in range(6)], (np.arange(6.0), np.arange(6)), (ad.arange(6.0), ad.arange(6)),
        data.TensorDataset(np.arange(6.0), np.arange(6)), zip(np.arange(6.0), np.arange(6), strict=True),
    ],
)  # fmt: skip
def test_one_set_in_many_forms(dataset):
    assert taken(DataLoader(dataset, 4)) == [([0.0, 1.0, 2.0, 3.0], [0, 1, 2, 3]), ([4.0, 5.0], [4, 5])]


def test_dictionaries_and_memory_maps(tmp_path):
    columns = {"x": np.arange(12.0).reshape(6, 2), "name": np.array(list("abcdef"))}
    batch = next(iter(DataLoader(columns, 4, shuffle=True)))
    assert batch["x"].shape == (4, 2)
    assert batch["name"].shape == (4,)
    assert all(
        columns["name"][int(x[0] // 2)] == name for x, name in zip(batch["x"].numpy(), batch["name"], strict=True)
    )
    samples = [{"x": np.ones(2), "text": "one", "n": 1}, {"x": np.zeros(2), "text": "none", "n": 0}]
    assert taken(DataLoader(samples, 2)) == [{"x": [[1.0, 1.0], [0.0, 0.0]], "text": ["one", "none"], "n": [1, 0]}]
    np.save(tmp_path / "x.npy", np.arange(10.0))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert taken(DataLoader(mapped, 5)) == [[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]]


def test_collate():
    point = __import__("collections").namedtuple("Point", "x y")
    made = data.default_collate([point(1.0, [1, 2]), point(2.0, [3, 4])])
    assert type(made) is point
    assert made.x.dtype == "float32"
    assert [t.tolist() for t in made.y] == [[1, 3], [2, 4]]
    w = ad.variable([1.0, 2.0])
    ad.sum(data.default_collate([w, w * 2.0])).backward()
    assert w.grad.tolist() == [3.0, 3.0]
    for batch, error, message in [
        ([np.ones(2), np.ones(3)], ValueError, r"shapes \(2,\), \(3,\); give a collate_fn"),
        ([(1, 2), (1,)], ValueError, "fields"),
        ([object()], TypeError, "not object"),
    ]:
        with pytest.raises(error, match=message):
            data.default_collate(batch)
    longest = DataLoader([np.ones(2), np.ones(3)], 2, collate_fn=lambda xs: max(map(len, xs)))
    assert list(longest) == [3]
    assert [x.shape for x in DataLoader([np.ones(2), np.ones(3)], None)] == [(2,), (3,)]


def test_streams():
    assert taken(DataLoader(Count(), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert taken(DataLoader(Count(), 3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    assert taken(DataLoader((i * i for i in range(4)), 3)) == [[0, 1, 4], [9]]
    with pytest.raises(TypeError):
        len(DataLoader(Count(), 3))
    loader = DataLoader(Count(), 3)
    next(iter(loader))
    other = DataLoader(Count(), 3)
    other.load_state_dict(loader.state_dict())
    assert taken(other) == [[3, 4, 5], [6]]
    assert taken(other) == [[0, 1, 2], [3, 4, 5], [6]]


@pytest.mark.parametrize(
    "options", [{"shuffle": True}, {"shuffle": True, "num_workers": 2}, {"num_workers": 3}], ids=str
)
@pytest.mark.parametrize("stop", [0, 1, 3])
def test_resuming_in_the_middle_of_an_epoch(options, stop):
    whole = DataLoader(Squares(), 3, seed=5, **options)
    expected = [taken(whole) for _ in range(3)]
    if "shuffle" in options:
        assert expected[0] != expected[1]
    loader = DataLoader(Squares(), 3, seed=5, **options)
    list(loader)
    seen = taken(itertools.islice(loader, stop)) if stop else []
    other = DataLoader(Squares(), 3, **options)
    other.load_state_dict(loader.state_dict())
    assert seen + taken(other) == expected[1]
    assert taken(other) == expected[2]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_workers_make_the_same_batches(workers):
    large = [np.full((50, 60), float(i)) for i in range(9)]  # through shared memory
    before = taken(DataLoader(large, 2, shuffle=True))
    assert taken(DataLoader(large, 2, shuffle=True, num_workers=workers)) == before
    images, labels = np.zeros((40, 8, 8), np.float32), np.arange(40)
    options = {"augment": lambda x, generator: x + generator.random(x.shape, np.float32), "shuffle": True}
    plain, worked = (DataLoader((images, labels), 8, num_workers=n, **options) for n in (0, workers))
    assert taken(plain) == taken(worked)
    assert taken(plain) == taken(worked)
    batch = next(iter(worked))
    assert isinstance(batch[0], ad.Tensor)
    assert not multiprocessing.active_children()


def test_workers_that_fail():
    class Failing(Squares):
        def __getitem__(self, number):
            if number == 7:
                raise KeyError("seven")
            return super().__getitem__(number)

    iteration = iter(DataLoader(Failing(), 2, num_workers=2))
    assert [next(iteration)[1].tolist() for _ in range(3)] == [[0, 1], [4, 9], [16, 25]]
    with pytest.raises(KeyError, match="seven"):
        next(iteration)

    class Dying(Squares):
        def __getitem__(self, number):
            os._exit(3)

    with pytest.raises(RuntimeError, match="worker that should make batch 0 has died"):
        list(DataLoader(Dying(), 2, num_workers=1))

    class Slow(Squares):
        def __getitem__(self, number):
            __import__("time").sleep(30)

    with pytest.raises(RuntimeError, match="didn't come within"):
        list(DataLoader(Slow(), 2, num_workers=1, timeout=0.1))
    started = DataLoader([np.zeros(1)] * 4, 1, num_workers=2, worker_init_fn=lambda n: np.random.seed(n))
    assert len(list(started)) == 4
    assert not multiprocessing.active_children()


def test_what_a_worker_raises_says_where():
    class Odd(Exception):  # no other process could import it
        pass

    class Failing(Squares):
        def __init__(self, error):
            self.error = error

        def __getitem__(self, number):
            raise self.error

    for error, kind in ((ValueError("not a number"), ValueError), (Odd("very"), RuntimeError)):
        with pytest.raises(kind, match=r"not a number|Odd: very") as found:
            list(DataLoader(Failing(error), 2, num_workers=2))
        assert "In worker 0 of a DataLoader:" in found.value.__notes__[-1]
        assert "raise self.error" in found.value.__notes__[-1]
    for workers in (0, 2):  # it must not pass for the end of the epoch
        with pytest.raises(RuntimeError, match="StopIteration"):
            list(DataLoader(Failing(StopIteration()), 2, num_workers=workers))


class Noisy(Squares):
    """Samples changed at random by generators that all code shares."""

    def __getitem__(self, number):
        return random.random(), np.random.random(), ad.random.uniform(()).item()


def test_what_workers_draw_depends_on_seed_epoch_and_number_alone():
    def epochs(workers, seed=0):
        loader = DataLoader(Noisy(), 2, num_workers=workers, seed=seed)
        return [[x.numpy().tolist() for x in batch] for _ in range(2) for batch in loader]

    drawn = epochs(1)
    assert drawn == epochs(2) == epochs(3)
    for k in range(3):
        numbers = [x for batch in drawn for x in batch[k]]
        assert len(set(numbers)) == len(numbers), "two samples are changed alike"
    assert epochs(2, seed=1) != drawn
    loader = DataLoader(Noisy(), 2, num_workers=2)
    next(loader_iteration := iter(loader))
    state = loader.state_dict()
    loader_iteration.close()
    other = DataLoader(Noisy(), 2, num_workers=3)
    other.load_state_dict(state)
    assert [[x.numpy().tolist() for x in batch] for batch in other] == drawn[1 : len(drawn) // 2]
    before = random.getstate()
    list(DataLoader(Noisy(), 2, num_workers=2))
    assert random.getstate() == before


def test_workers_iterate_each_for_itself():
    class Part(ad.data.IterableDataset):
        def __iter__(self):
            info = ad.data.get_worker_info()
            first, step = (0, 1) if info is None else (info.id, info.num_workers)
            assert info is None or (info.dataset is self and info.seed == 3)
            return iter(range(first, 11, step))

    assert ad.data.get_worker_info() is None
    assert [b.tolist() for b in DataLoader(Part(), 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    loader = DataLoader(Part(), 2, num_workers=3, seed=3)
    batches = [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10], [8]]
    assert [b.tolist() for b in loader] == batches
    iteration = iter(loader)
    assert [next(iteration).tolist() for _ in range(4)] == batches[:4]
    other = DataLoader(Part(), 2, num_workers=3, seed=3)
    other.load_state_dict(loader.state_dict())
    iteration.close()
    assert [b.tolist() for b in other] == batches[4:]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="each of 2 workers iterates all of the Count"):
            list(DataLoader(Count(), 2, num_workers=2))
        assert [b.tolist() for b in DataLoader(Count(), 4, num_workers=1)] == [[0, 1, 2, 3], [4, 5, 6]]

    class Shards(data.IterableDataset):  # as a streamed data set of Hugging Face
        num_shards = 3

        def __init__(self, numbers=range(12)):
            self.numbers = numbers

        def shard(self, count, index):
            return Shards(self.numbers[index::count])

        def __iter__(self):
            return iter(self.numbers)

    for workers in (1, 2, 5):
        found = [x for b in DataLoader(Shards(), 3, num_workers=workers) for x in b.tolist()]
        assert sorted(found) == list(range(12))


def test_batches_come_where_shared_memory_is_full(monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    large = [np.full((50, 60), float(i)) for i in range(6)]
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    assert taken(DataLoader(large, 2, num_workers=2)) == taken(DataLoader(large, 2))
    if before:
        assert {name for name in set(os.listdir("/dev/shm")) - before if name.startswith("psm_")} == set()


def test_what_is_wrong_with_samples_is_told():
    cases = {
        "sample 0 of the batch has int where sample 1 has str": [1, "a"],
        "has float where sample 1 has ndarray": [1.5, np.ones(3)],
        r"sample 0 of the batch has \['a'\], sample 1 has \['b'\]": [{"a": 1}, {"b": 1}],
        "sample 0 of the batch has dict where sample 1 has list": [{"a": 1}, [1]],
        "more than 64 bits": [2**70, 1],
    }
    for text, samples in cases.items():
        with pytest.raises((TypeError, ValueError, OverflowError), match=text):
            next(iter(DataLoader(samples, 2)))
    for options, text in (
        ({"batch_size": 2.5}, "batch_size is a whole number"),
        ({"collate_fn": 3}, "collate_fn is a function"),
        ({"num_workers": "2"}, "num_workers is a whole number"),
    ):
        with pytest.raises(TypeError, match=text):
            DataLoader([1, 2], **options)
    with pytest.raises(ValueError, match="timeout is 0 or more"):
        DataLoader([1, 2], timeout=-1)
    with pytest.raises(TypeError, match="float"):  # no row, where NumPy would take the one before
        next(iter(DataLoader(np.arange(3), sampler=[1.5])))
    with pytest.raises(ValueError, match="a loader's state has epoch, batch and seed"):
        DataLoader([1, 2]).load_state_dict({})
    with pytest.raises(ValueError, match=r"'train': 2, 'test': 1"):
        DataLoader({"train": [1, 2], "test": [3]})
    texts = next(iter(DataLoader([{"name": np.str_("a")}, {"name": np.str_("b")}], 2)))
    assert texts == {"name": ["a", "b"]}


@pytest.mark.parametrize("workers", (0, 1))
def test_texts_without_an_axis_for_samples(workers):
    columns = {"x": np.arange(2.0), "name": np.array(["a", "b"])}
    for dataset in (columns, [{"x": x, "name": name} for x, name in zip(*columns.values(), strict=True)]):
        found = list(DataLoader(dataset, batch_size=None, num_workers=workers))
        assert [(sample["x"].item(), str(sample["name"])) for sample in found] == [(0.0, "a"), (1.0, "b")]


class Frame(dict):
    """What of a data frame the loader asks for."""

    ndim, iloc = 2, None


class Series(list):
    def to_numpy(self):
        return np.array(self)


def test_a_data_frame_is_its_columns():
    (batch,) = DataLoader(Frame(a=Series([1, 2]), b=Series([0.5, 1.5])), 2)
    assert batch["a"].tolist() == [1, 2] and batch["b"].tolist() == [0.5, 1.5]


LEFT = """
import numpy as np
import adjoint as ad
class Rows(ad.data.Dataset):
    def __len__(self): return 9
    def __getitem__(self, k): return {"x": np.float32(k) + np.arange(2, dtype="f4"), "name": "n"}
batches = iter(ad.data.DataLoader(Rows(), batch_size=1, num_workers=2))
next(batches)
"""


def test_a_program_that_ends_in_the_middle_of_a_pass_ends_quietly():
    for _ in range(3):
        found = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=120, check=True)
        assert not found.stderr


def test_files_that_are_odd(tmp_path):
    path = tmp_path / "odd.csv"
    for text, columns in (
        ("x\n99999999999999999999999\n", {"x": np.array([1e23])}),
        ("x\n1_000\n", {"x": np.array(["1_000"])}),
    ):
        path.write_text(text)
        found = ad.data.read_csv(path)
        assert found["x"].dtype == columns["x"].dtype and found["x"].tolist() == columns["x"].tolist()
    path.write_text("x,x\n1,2\n")
    with pytest.raises(ValueError, match="names a column twice: x, x"):
        ad.data.read_csv(path)
    for text in ("1,2\n3,4\n", "5.1,3.5,setosa\n4.9,3.0,setosa\n"):
        path.write_text(text)
        with pytest.warns(UserWarning, match=r"a column (1|5\.1), which is a number.*test_loading"):
            ad.data.read_csv(path)
    path.write_text("name,2019,2020\na,1,2\n")
    assert list(ad.data.read_csv(path)) == ["name", "2019", "2020"]
    path.write_text("x\n" + "a" * 200_000)
    with pytest.raises(ValueError, match="field larger than field limit"):
        ad.data.read_csv(path)
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "grey").mkdir()
    deep = (np.arange(64).reshape(8, 8) * 1000).astype(np.uint16)
    image.fromarray(deep).save(tmp_path / "grey" / "a.png")
    image.fromarray(deep > 3000).save(tmp_path / "grey" / "b.png")
    (tmp_path / "grey" / "c.png").write_bytes((tmp_path / "grey" / "a.png").read_bytes()[:60])
    (tmp_path / "grey" / "d.png").mkdir()
    folder = ad.data.ImageFolder(tmp_path)
    assert len(folder) == 3
    np.testing.assert_array_equal(folder[0][0][:, :, 0], deep)
    np.testing.assert_array_equal(folder[1][0][:, :, 0], 255 * (deep > 3000).astype(np.uint8))
    with pytest.raises(OSError, match=r"c\.png can't be read"):
        folder[2]
    for name in (".checkpoints", "none"):
        (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match=r"no images in the folders \.checkpoints, none of"):
        ad.data.ImageFolder(tmp_path)
    batch = next(iter(DataLoader([image.fromarray(deep)] * 2, 2)))
    assert batch.shape == (2, 8, 8)


def test_samplers():
    x = np.arange(10)
    assert taken(DataLoader(x, 4, sampler=[3, 1, 2])) == [[3, 1, 2]]
    assert taken(DataLoader(x, batch_sampler=[[1, 2], [0]])) == [[1, 2], [0]]
    assert sorted(itertools.chain(*taken(DataLoader(x, 4, sampler=data.RandomSampler(x))))) == list(range(10))
    loader = DataLoader(x, 4, sampler=data.RandomSampler(x, seed=3))
    assert taken(loader) != taken(loader)
    other = DataLoader(x, batch_sampler=data.BatchSampler(data.RandomSampler(x, seed=3), 4, drop_last=True))
    again = DataLoader(x, 4, sampler=data.RandomSampler(x, seed=3))
    assert taken(other) == taken(again)[:2]
    assert len(list(data.RandomSampler(x, num_samples=25))) == 25
    assert len(set(data.RandomSampler(x, replacement=True, num_samples=100))) <= 10
    assert sorted(data.SubsetRandomSampler([4, 2])) == [2, 4]
    parts = [list(data.DistributedSampler(x, 3, rank)) for rank in range(3)]
    assert [len(part) for part in parts] == [4, 4, 4]
    assert set(itertools.chain(*parts)) == set(range(10))
    assert [len(list(data.DistributedSampler(x, 3, rank, drop_last=True))) for rank in range(3)] == [3, 3, 3]


def test_weighted_sampling():
    sampler = data.WeightedRandomSampler([1.0, 0.0, 3.0], 40_000)
    shares = np.bincount(list(sampler), minlength=3) / 40_000
    np.testing.assert_allclose(shares, [0.25, 0, 0.75], atol=0.01)
    firsts = np.array([data.WeightedRandomSampler([1.0, 0.0, 3.0], 2, False, seed=s).order(0) for s in range(4000)])
    assert (np.sort(firsts, 1) == [0, 2]).all()
    assert (firsts[:, 0] == 2).mean() == pytest.approx(0.75, abs=0.03)
    for weights, count, replacement in (([-1.0, 2.0], 1, True), ([0.0], 1, True), ([1.0, 0.0], 2, False)):
        with pytest.raises(ValueError, match="WeightedRandomSampler"):
            data.WeightedRandomSampler(weights, count, replacement)


def test_parts_and_joins():
    joined = Squares().__add__([(np.zeros(3), -1)])
    assert len(joined) == 12
    assert joined[-1][1] == -1
    assert joined[3][1] == 9
    parts = data.random_split(joined, [5, 7], seed=1)
    assert sorted(label for part in parts for _, label in part) == sorted([i * i for i in range(11)] + [-1])
    assert [len(p) for p in data.random_split(range(10), [1 / 3, 1 / 3, 1 / 3])] == [4, 3, 3]
    with pytest.raises(ValueError, match="don't sum to"):
        data.random_split(range(10), [5, 6])
    assert [len(p) for p in data.random_split(range(10), [1, 0])] == [10, 0]  # shares
    for make in (lambda i: data.Subset([4, 5, 6], i), data.SubsetRandomSampler):
        assert sorted(make(ad.tensor([2, 0]))) == sorted(make([2, np.int64(0)]))
        with pytest.raises(TypeError, match="not a mask"):
            make(np.array([True, False, True]))
        with pytest.raises(TypeError, match=r"not 1\.5"):
            make([0, 1.5])
    assert list(Count().__add__([9])) == [*range(7), 9]


def test_files(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name, size, mode in (("b/2.png", (4, 3), "RGB"), ("a/x/1.png", (4, 3), "RGB"), ("b/1.PNG", (4, 3), "L")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        image.new(mode, size, 7 if mode == "L" else (1, 2, 3)).save(tmp_path / name)
    (tmp_path / "b" / "notes.txt").write_text("no image")
    folder = data.ImageFolder(tmp_path, transform=lambda x: np.broadcast_to(x, (3, 4, 3)))
    assert folder.classes == ["a", "b"]
    images, labels = next(iter(DataLoader(folder, 3)))
    assert (images.shape, images.dtype, labels.tolist()) == ((3, 3, 4, 3), "uint8", [0, 1, 1])
    assert images.numpy()[:, 0, 0].tolist() == [[1, 2, 3], [7, 7, 7], [1, 2, 3]]
    (tmp_path / "t.csv").write_text("x, label,n\n1.5,cat,1\n,dog,2\n")
    table = data.read_csv(tmp_path / "t.csv")
    assert [column.dtype.kind for column in table.values()] == ["f", "U", "i"]
    assert np.isnan(table["x"][1])
    (tmp_path / "bad.csv").write_text("a,b\n1\n")
    with pytest.raises(ValueError, match="row 2 of"):
        data.read_csv(tmp_path / "bad.csv")


def test_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"x": [1.0, 2.0], "n": [1, 2]}), tmp_path / "t.parquet")
    columns = data.read_parquet(tmp_path / "t.parquet")
    assert taken(DataLoader(columns, 2)) == [{"x": [1.0, 2.0], "n": [1, 2]}]


def test_parquet_with_lists_and_without_a_column(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"even": [[1.0, 2.0], [3.0, 4.0]], "ragged": [[1], [2, 3]], "text": ["a", None]})
    parquet.write_table(table, tmp_path / "lists.parquet")
    found = ad.data.read_parquet(tmp_path / "lists.parquet")
    assert found["even"].tolist() == [[1.0, 2.0], [3.0, 4.0]] and found["ragged"].dtype == object
    with pytest.raises(ValueError, match=r"has no column label; it has even, ragged, text"):
        ad.data.read_parquet(tmp_path / "lists.parquet", ["even", "label"])


def test_parquet_without_some_numbers(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    large = 2**60 + 1  # float64 has no such number
    table = arrow.table({"small": [1, None], "large": [large, None], "whole": [large, 2]})
    parquet.write_table(table, tmp_path / "t.parquet")
    found = data.read_parquet(tmp_path / "t.parquet")
    assert found["small"][0] == 1.0 and np.isnan(found["small"][1])
    assert found["large"].tolist() == [large, None] and found["whole"].tolist() == [large, 2]
    assert data.read_parquet(tmp_path / "t.parquet", "whole").keys() == {"whole"}
    twice = arrow.Table.from_arrays([arrow.array([1]), arrow.array([2])], names=["x", "x"])
    parquet.write_table(twice, tmp_path / "twice.parquet")
    with pytest.raises(ValueError, match=r"two columns of .* have the name 'x'"):
        data.read_parquet(tmp_path / "twice.parquet")


def test_a_dictionary_of_data_sets_has_no_samples():
    class Table:  # as Hugging Face's are
        column_names = ("x",)

        def __getitem__(self, index):
            return {"x": 1.0}

        def __len__(self):
            return 2

    with pytest.raises(TypeError, match="give it one of 'train', 'test'"):
        DataLoader({"train": Table(), "test": Table()}, 2)


def test_tokenizers(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    try:
        tokenizers = importlib.import_module("tokenizers")
    except ImportError:
        with pytest.raises(ImportError, match=r"a tokenizer needs the package tokenizers.*adjoint\[text\]"):
            data.tokenizer(tmp_path)
        return
    with pytest.raises(ValueError, match="holds no tokenizer"):
        data.tokenizer(tmp_path)
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(tmp_path / "tokenizer.json"))
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        assert data.tokenizer(path).encode("b a c").ids == [1, 0, 2]
    with pytest.raises(OSError):
        data.tokenizer(tmp_path / "none.json")


def test_options_that_exclude_each_other():
    x = np.arange(4)
    for make in (
        lambda: DataLoader(x, shuffle=True, sampler=[1]), lambda: DataLoader(x, 2, batch_sampler=[[1]]),
        lambda: DataLoader(Count(), shuffle=True), lambda: DataLoader(iter([1, 2]), num_workers=1),
        lambda: DataLoader([1, 2], augment=lambda x, g: x), lambda: DataLoader(x, num_workers=1, prefetch=True),
        lambda: DataLoader([]), lambda: DataLoader(x, num_workers=-1),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="DataLoader"):
            make()
    with pytest.raises(TypeError, match="neither samples by number nor an iterator"):
        DataLoader(object())


class Circle(data.Sampler):
    """0, 1, 2, 0, 1, 2, ... without end."""

    def __init__(self):
        self.drawn = 0

    def __iter__(self):
        for number in itertools.cycle(range(3)):
            self.drawn += 1
            yield number


class Growing(data.Sampler):
    """Epoch e begins at e and has no end."""

    def order(self, epoch):
        return itertools.count(epoch)


@pytest.mark.parametrize("options", [{}, {"prefetch": True}, {"num_workers": 2}])
def test_samplers_without_end(options):
    sampler = Circle()
    loader = DataLoader(np.arange(10), 2, sampler=sampler, drop_last=True, **options)
    batches = iter(loader)
    assert [next(batches).tolist() for _ in range(4)] == [[0, 1], [2, 0], [1, 2], [0, 1]]
    assert sampler.drawn <= 2 * (4 + 4)
    batches.close()
    state = loader.state_dict()
    again = DataLoader(np.arange(10), 2, sampler=Circle(), **options)
    again.load_state_dict(state)
    assert next(iter(again)).tolist() == [2, 0]
    with pytest.raises(TypeError, match="Circle"):
        len(loader)
    growing = DataLoader(np.arange(10), 3, sampler=Growing(), **options)
    assert [next(iter(growing)).tolist() for _ in range(2)] == [[0, 1, 2], [1, 2, 3]]
    batches = iter(DataLoader(Squares(), batch_sampler=itertools.cycle([[1], [2, 3]]), **options))
    assert [next(batches)[1].tolist() for _ in range(3)] == [[1], [4, 9], [1]]


@pytest.mark.parametrize("workers", [0, 2])
def test_what_batches_are_made_of(workers):
    ordered = collections.OrderedDict(a=1.0, b=np.ones(2))
    (batch,) = DataLoader([ordered, ordered], 2, num_workers=workers)
    assert type(batch) is collections.OrderedDict
    assert batch["b"].shape == (2, 2)
    (kept,) = DataLoader([1, 2], 2, collate_fn=lambda x: (np.array(x), ad.tensor(x)), num_workers=workers)
    assert [type(x) for x in kept] == [np.ndarray, ad.Tensor]
    rows = [x.shape for x in DataLoader(np.ones((3, 2)), None, shuffle=True, num_workers=workers)]
    assert rows == [(2,)] * 3
    keys = DataLoader({"x": np.arange(3)}, 2, sampler=np.array([2, 0, 1]), num_workers=workers)
    assert [batch["x"].tolist() for batch in keys] == [[2, 0], [1]]
    with pytest.raises(ValueError, match="batch_size=None makes none"):
        DataLoader([1, 2], None, drop_last=True, num_workers=workers)
