"""Random indices, read and written at, in PyTorch and in `adjoint.torch`: values, shapes and gradients."""

import random

import numpy as np
import pytest

import adjoint.torch as own

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")]

WRITES = ["=", "=", "+=", "-=", "*="]


def drawn_item(rng, extents, draws):
    """One item of an index as text, and how many axes it takes; `extents` are those of the axes left."""
    n = extents[0]
    kind = rng.random()
    if kind < 0.3:
        start, stop = (rng.choice(["", rng.randint(-n - 1, n + 1)]) for _ in range(2))
        return f"{start}:{stop}:{rng.choice(['', 1, 2])}", 1
    if kind < 0.55:
        i = rng.randrange(-n, n)
        return rng.choice([str(i), f"torch.tensor({i})", f"np.int64({i})"]), 1
    if kind < 0.7:
        axes = rng.randint(1, min(2, len(extents)))
        mask = (draws.random(extents[:axes]) < rng.choice([0, 0.4, 1])).tolist()
        return f"torch.tensor({mask})", axes
    if kind < 0.75:
        return rng.choice(["True", "torch.tensor(False)"]), 0
    places = draws.integers(-n, n, size=rng.choice([(2,), (2,), (3, 1), (1,)])).tolist()
    return rng.choice([f"torch.tensor({places})", f"torch.tensor({places}, dtype=torch.int32)", str(places)]), 1


def drawn_index(rng, shape, draws):
    items, used, ellipsis = [], 0, False
    while used < len(shape) and rng.random() < 0.9:
        kind = rng.random()
        if kind < 0.1:
            items.append("None")
        elif kind < 0.2 and not ellipsis:
            items.append("...")
            ellipsis, used = True, used + rng.randint(0, len(shape) - used - 1)
        else:
            item, axes = drawn_item(rng, shape[used:], draws)
            items.append(item)
            used += axes
    return ", ".join(items) or "..."


def run(world, shape, line, seed):
    """The tensor read, or written into, and the gradients of x and of the values v; the class of an error."""
    draws = np.random.default_rng(seed)
    leaves = [world.tensor(draws.normal(size=s).tolist(), dtype=world.float64).reshape(s) for s in shape]
    for leaf in leaves:
        leaf.requires_grad_()
    names = {"torch": world, "np": np, "x": leaves[0] * 1.0, "v": leaves[1]}
    try:
        exec(line, names)
    except (IndexError, RuntimeError, ValueError, TypeError):
        return None
    made = names.get("y", names["x"])
    weights = np.random.default_rng(1).normal(size=tuple(made.shape))
    (made * world.tensor(weights.tolist(), dtype=world.float64).reshape(tuple(made.shape))).sum().backward()
    grads = [np.zeros(tuple(x.shape)) if x.grad is None else x.grad.numpy() for x in leaves]
    return [made.detach().numpy(), *grads]


def positions(shape, index):
    """Which elements an index takes; None where it can't."""
    try:
        return eval(f"x[{index}]", {"x": torch.arange(int(np.prod(shape))).reshape(shape), "torch": torch, "np": np})
    except (IndexError, RuntimeError, ValueError, TypeError):
        return None


def test_random_indices():
    """PyTorch's derivative of a write that repeats a position isn't the one of what it does, so no position comes twice."""
    compared = 0
    for seed in range(600):
        rng, draws = random.Random(seed), np.random.default_rng(seed)
        shape = rng.choice([(4,), (3, 4), (2, 3, 4), (2, 1, 3), (2, 2, 2, 2), (2, 5, 3), (1,)])
        index = drawn_index(rng, shape, draws)
        found, line, given = positions(shape, index), f"y = x[{index}] * v", ()
        if found is not None and rng.random() < 0.6 and len(found.unique()) == found.numel():
            given = tuple(found.shape)[rng.randint(0, found.ndim) :]
            line = f"x[{index}] {rng.choice(WRITES)} v"
        results = [run(world, (shape, given), line, seed) for world in (torch, own)]
        assert (results[0] is None) == (results[1] is None), (shape, line)
        if results[0] is not None:
            compared += 1
            for a, b in zip(*results, strict=True):
                assert a.shape == b.shape, (shape, line)
                np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12, err_msg=f"{shape} {line}")
    assert compared > 300


@pytest.mark.parametrize("index", ["[[0, 1], [1, 2]]", "[[[0, 1]]]", "[slice(0, 2), 1]", "[None, 0]", "[[True, False, True]]",
                                   "[torch.tensor([0, 1]), torch.tensor([1, 2])]", "[0, 2]", "[0] * 40"])  # fmt: skip
def test_lists_for_tuples(index):
    """As PyTorch reads them now; it warns that it means to change this."""
    for line in (f"y = x[{index}] * 2", f"x[{index}] = 5.0"):
        expected, found = (run(world, ((3, 4), ()), line, 0) for world in (torch, own))
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-12, err_msg=line)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_a_number_in_slices(dtype, dim):
    values = (np.random.default_rng(0).normal(size=(5, 6, 7)) * 5).astype(dtype)

    def filled(library):
        x = library.tensor(values)
        found = [x.index_fill(dim, library.tensor(at), 1) for at in ([0, 3, 3], 2)]
        x.index_fill_(dim, library.tensor([1]), 0)
        found += [x, x.index_fill(dim, library.tensor([], dtype=library.int64), 1)]
        if dtype != "float32":
            return found
        y = library.tensor(values, requires_grad=True)
        number = library.tensor(2.0, requires_grad=True)
        (y.index_fill(dim, library.tensor([0, 2, 2]), number) ** 3).sum().backward()
        return [*found, y.grad, number.grad]

    for theirs, ours in zip(filled(torch), filled(own), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
