"""`ad.distributed` in one process, and the parts of batches that several would get."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.distributed.mapping import PARTS, Portions

D = ad.distributed


def test_alone_exchanges_are_the_tensor_itself() -> None:
    x = ad.variable(np.arange(6.0).reshape(1, 2, 3))
    for same in (D.all_reduce, D.replicate, D.broadcast, D.all_to_all, lambda x: D.all_reduce(x, "mean")):
        assert same(x) is x
    assert D.all_gather(x).shape == (1, 1, 2, 3) and D.reduce_scatter(x).shape == (2, 3)
    assert all(D.all_reduce(x, op) is x for op in ("max", "min"))
    assert D.all_reduce({"a": [x]})["a"][0] is x
    assert D.all_reduce([1.0, 2.0])[1].item() == 2.0
    gradient = ad.grad(lambda x: (D.reduce_scatter(x) ** 2).sum())(x)
    np.testing.assert_array_equal(gradient.numpy(), 2 * x.numpy())


def test_alone_one_may_send_to_oneself() -> None:
    x = ad.tensor([1.0, 2.0])
    assert D.send(x, 0).item() == 0.0
    np.testing.assert_array_equal(D.recv(ad.zeros(2), 0).numpy(), [1, 2])
    with pytest.raises(D.DistributedError, match="has sent nothing"):
        D.recv(ad.zeros(2), 0)


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="test_alone"):
        D.all_reduce(ad.ones(2), "median")
    with pytest.raises(ValueError, match="a part for each of 1 ranks"):
        D.reduce_scatter(ad.ones(2))
    with pytest.raises(ValueError, match="root is a rank"):
        D.broadcast(ad.ones(2), 1)
    with pytest.raises(ValueError, match="no parameters"):
        D.data_parallel(ad.nn.ReLU())


@pytest.mark.parametrize("parts", [2, 3, 7])
@pytest.mark.parametrize("augment", [None, lambda x, generator: x + generator.normal(size=x.shape).astype(x.dtype)])
def test_parts_of_batches_make_the_batches(parts: int, augment: object) -> None:
    x, y = np.arange(46, dtype="float32").reshape(23, 2), np.arange(23)
    options = {"batch_size": 6, "shuffle": True, "seed": 5, "augment": augment, "tensors": False}
    whole = ad.data.DataLoader((x, y), **options)
    split = [ad.data.DataLoader((x, y), part=(k, parts), **options) for k in range(parts)]
    for batch, *pieces in zip(whole, *split, strict=True):
        shares = [loader.share for loader in split]
        assert {count for _, count in shares} == {len(batch[1])}
        for k, field in enumerate(batch):
            together = np.concatenate([piece[k][:n] for piece, (n, _) in zip(pieces, shares, strict=True)])
            np.testing.assert_array_equal(together, field)
        assert all(len(piece[1]) == max(n, 1) for piece, (n, _) in zip(pieces, shares, strict=True))


@pytest.mark.parametrize("data", ["samples", "streamed"])
def test_parts_of_samples(data: str) -> None:
    samples = [np.float32(k) for k in range(11)]
    split = [ad.data.DataLoader(list(samples) if data == "samples" else iter(samples), 4, part=(k, 2)) for k in (0, 1)]
    found = [np.concatenate([a.numpy(), b.numpy()]) for a, b in zip(*split, strict=True)]
    np.testing.assert_array_equal(np.concatenate(found), samples)


def test_a_part_that_is_none() -> None:
    with pytest.raises(ValueError, match="the k-th of n parts"):
        ad.data.DataLoader(np.ones((4, 2)), 2, part=(2, 2))


@pytest.mark.parametrize(("seconds", "sharers"), [(1e-5, 2), (1e-3, 2), (1e-3, 16), (0.05, 3), (10.0, 4)])
def test_portions_get_smaller_and_end_together(seconds: float, sharers: int) -> None:
    """Workers take portions as they get free: all items once, few portions, and nobody works on long after the others."""
    count = 1000
    portions = [Portions(count, sharers, None) for _ in range(sharers)]
    free = [0.0] * sharers
    taken = turns = 0
    while taken < count:
        k = free.index(min(free))
        end = min(taken + portions[k].size(taken), count)
        assert end > taken and (end - taken) * seconds <= max(0.1, seconds)
        free[k] += (end - taken) * seconds
        portions[k].note(end - taken, (end - taken) * seconds)
        taken, turns = end, turns + 1
    assert sum(free) == pytest.approx(count * seconds)
    assert max(free) - min(free) <= max(0.04 * count * seconds / sharers, 1.01 * seconds)
    assert turns <= min(count, sharers * (12 + 5 * PARTS) + count * seconds / 0.05)
    assert Portions(count, 2, 7).size(0) == 7
