"""Random loaders in PyTorch and in `adjoint.torch`: the same batches, of the same containers, in the same order."""

import collections
import itertools
import random

import numpy as np
import pytest

import adjoint.torch as own

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle

Pair = collections.namedtuple("Pair", ["first", "second"])

# samples by their number
LEAVES = {
    "float": lambda world, i: i * 0.5,
    "int": lambda world, i: i,
    "bool": lambda world, i: i % 2 == 0,
    "text": lambda world, i: f"s{i}",
    "bytes": lambda world, i: b"%d" % i,
    "none": lambda world, i: None,
    "array": lambda world, i: np.full((2,), i, np.float32),
    "matrix": lambda world, i: np.full((2, 2), i),
    "number of NumPy": lambda world, i: np.float32(i),
    "array of texts": lambda world, i: np.array(["a", "b"]),
    "tensor": lambda world, i: world.tensor([float(i), 1.0]),
    "of several lengths": lambda world, i: world.ones(1 + i % 2),
    "int or float": lambda world, i: i if i % 2 else i * 0.5,
    "range": lambda world, i: range(3),
    "empty": lambda world, i: [],
    "set": lambda world, i: {i},
}
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "pair": lambda x: Pair(*x),
    "dict": dict,
    "ordered": collections.OrderedDict,
}


def drawn_form(rng, depth=0):
    """A leaf's name, or the name of a container and what is in it."""
    if depth > 2 or rng.random() < 0.5:
        return rng.choice(list(LEAVES))
    kind = rng.choice(list(CONTAINERS))
    count = 2 if kind == "pair" else rng.randint(1, 3)
    return kind, [drawn_form(rng, depth + 1) for _ in range(count)]


def sample(form, world, i):
    if isinstance(form, str):
        return LEAVES[form](world, i)
    kind, inside = form
    fields = [sample(x, world, i) for x in inside]
    return CONTAINERS[kind](enumerate(fields) if kind in ("dict", "ordered") else fields)


def told(x):
    """A batch as text that says types, dtypes and values."""
    if hasattr(x, "dtype") and hasattr(x, "tolist"):
        kind = "array" if isinstance(x, np.ndarray | np.generic) else "tensor"
        return f"{kind} {str(x.dtype).rpartition('.')[2]} {x.tolist()}"
    if isinstance(x, dict):
        return f"{type(x).__name__} { ({k: told(v) for k, v in x.items()}) }"
    if isinstance(x, list | tuple):
        return f"{type(x).__name__} {[told(v) for v in x]}"
    return repr(x)


def drawn_options(rng, n):
    order = [rng.randrange(max(n, 1)) for _ in range(rng.randint(3, 6))]
    options = {"batch_size": rng.choice([1, 2, 3, None]), "drop_last": rng.random() < 0.3}
    options["sampler"] = rng.choice([None, None, order, "endless"])
    if rng.random() < 0.2:
        options = {"batch_sampler": rng.choice([[order[:2], order[2:]], "endless"])}
    if rng.random() < 0.2:
        options["collate_fn"] = rng.choice([len, list, tuple])
    return options, order, rng.choice(["map", "list", "iterated", "tensors", "subset", "joined"])


def batches(world, form, n, options, order, kind):
    """The length and the first batches of a loader; the class of what it raises."""
    made = world.utils.data

    class Samples(made.Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            return sample(form, world, i)

    class Iterated(made.IterableDataset):
        def __iter__(self):
            return (sample(form, world, i) for i in range(n))

    class Endless(made.Sampler):
        def __iter__(self):
            return itertools.cycle(order)

    endless = {"sampler": Endless(), "batch_sampler": itertools.cycle([order])}
    options = {k: endless[k] if isinstance(v, str) else v for k, v in options.items()}
    dataset = {
        "map": Samples, "list": lambda: [sample(form, world, i) for i in range(n)], "iterated": Iterated,
        "tensors": lambda: made.TensorDataset(world.arange(n), world.ones(n, 2)),
        "subset": lambda: made.Subset(Samples(), range(0, n, 2)), "joined": lambda: made.ConcatDataset([Samples(), Samples()]),
    }[kind]  # fmt: skip
    try:
        loader = made.DataLoader(dataset(), **options)
        found = [told(batch) for batch in itertools.islice(loader, 5)]
    except (TypeError, ValueError, IndexError, RuntimeError):
        return "raises"
    try:
        return [len(loader), *found]
    except TypeError:
        return ["no length", *found]


def test_random_loaders():
    compared = 0
    for seed in range(300):
        rng = random.Random(seed)
        n = rng.choice([0, 1, 2, 3, 5, 8])
        drawn = drawn_form(rng), n, *drawn_options(rng, n)
        expected, found = batches(torch, *drawn), batches(own, *drawn)
        assert found == expected, (seed, drawn)
        compared += expected != "raises"
    assert compared > 100
