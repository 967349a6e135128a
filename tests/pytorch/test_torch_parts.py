"""Parts at integers that are tensors, and parts of data that are changed in place: `x[i] += 1`."""

import operator

import numpy as np
import pytest

import adjoint.torch as torch

INDICES = {
    "row": lambda i: i, "element": lambda i: (i, 0), "column": lambda i: (slice(None), i), "both": lambda i: (i, i),
    "new axis": lambda i: (None, i), "ellipsis": lambda i: (..., i),
}  # fmt: skip


def _pending(i):
    return (torch.tensor([float(i), 0.0]) * 2).argmax() + torch.tensor(i)


@pytest.mark.parametrize("at", INDICES)
@pytest.mark.parametrize("made", [torch.tensor, np.array, lambda i: torch.tensor(i, dtype=torch.int8), _pending])
def test_an_integer_tensor_without_axes_takes_a_view(at, made):
    x, y = torch.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    index = INDICES[at](made(1))
    part = x[index]
    part += 10
    x[index].mul_(2)
    plain = INDICES[at](1)
    y[plain] = (y[plain] + 10) * 2
    assert x.tolist() == y.tolist() and part.tolist() == y[plain].tolist() and part._base is not None
    assert part.stride() == x[plain].stride()
    x[index] = 0.0
    assert not part.any()


def test_a_view_at_a_tensor_of_a_table_that_is_trained():
    table = torch.nn.Parameter(torch.arange(6.0).reshape(3, 2))
    row = torch.tensor(1)
    changed = table * 2
    changed[row] *= 3
    (changed[row] * table[row]).sum().backward()
    assert table.grad.tolist() == [[0.0, 0.0], [24.0, 36.0], [0.0, 0.0]]
    with torch.no_grad():
        table[row].fill_(7.0)
    assert table[1].tolist() == [7.0, 7.0]
    with pytest.raises(RuntimeError, match="history"):
        table[row] += 1


def test_other_indices_copy():
    for index in (torch.tensor([1]), torch.tensor(True), (torch.tensor(1), [0, 1])):
        x = torch.zeros(3, 2)
        x[index].add_(1)
        assert not x.any()


def test_a_compiled_function_takes_a_view_at_what_it_is_given():
    @torch.compile
    def f(x, i):
        y = x.clone()
        y[i].mul_(10)
        y[i, i] += 1
        return y

    for k in (0, 1):
        expected = np.arange(4.0).reshape(2, 2)
        expected[k] *= 10
        expected[k, k] += 1
        assert f(torch.arange(4.0).reshape(2, 2), torch.tensor(k)).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool", "complex64"]
)
def test_data_changed_part_by_part_is_as_it_is_all_at_once(dtype):
    kind = getattr(torch, dtype)
    for change in (operator.iadd, operator.isub, operator.imul, operator.itruediv):
        for value in (
            1,
            100,
            0.1,
            -1,
            True,
            torch.tensor(3).to(kind),
            torch.tensor(2.5),
            torch.tensor([1, 2]).to(kind),
            2**40,
        ):
            results = []
            for whole in (
                torch.tensor([[1, 120], [3, 4]]).to(kind),
                torch.tensor([[1, 120], [3, 4]]).to(kind),
            ):
                try:
                    if len(results):
                        piece = whole[0].clone()  # no part of anything
                        whole[0] = change(piece, value)
                    else:
                        part = whole[0]
                        assert change(part, value) is part and part.tolist() == whole[0].tolist()
                    results.append((whole.tolist(), whole.dtype))
                except (RuntimeError, TypeError) as error:
                    results.append(type(error))
            assert results[0] == results[1], (dtype, value)


def test_counts_of_pairs():
    pairs = [(0, 1), (2, 2), (0, 1), (1, 0)] * 3
    counts, seen = torch.zeros((3, 3), dtype=torch.int32), torch.zeros(3, 3)
    row = counts[0]
    for i, j in pairs:
        counts[i, j] += 1
        seen[torch.tensor(i), torch.tensor(j)] += 1
    assert counts.tolist() == seen.tolist() == [[0, 6, 0], [3, 0, 0], [0, 0, 3]] and counts.dtype is torch.int32
    assert row.tolist() == [0, 6, 0]
    given = torch.ones(2)
    given[0] -= given[1]
    assert given.tolist() == [0.0, 1.0]


def test_a_part_that_moved_away_is_written_where_it_belongs():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    part = x[0]
    x.t_()
    part += 10
    assert x.tolist() == [[11.0, 3.0], [12.0, 4.0]]
    x[0] = part  # not the part that it is by now
    assert x.tolist() == [[11.0, 12.0], [12.0, 4.0]]
    y = torch.zeros(2, 2)
    row = y[0]
    y.data = torch.ones(2, 2)
    row += 5
    assert y.tolist() == [[1.0, 1.0], [1.0, 1.0]] and row.tolist() == [5.0, 5.0]
    y[0] = row
    assert y[0].tolist() == [5.0, 5.0]
    leaf = torch.zeros(2, 2)[0].requires_grad_()
    with pytest.raises(RuntimeError, match="history"):
        leaf += 1
    other = torch.zeros(2, 2)
    turned = other[:, 0]
    turned.unsqueeze_(0)
    turned += 2
    assert other.tolist() == [[2.0, 0.0], [2.0, 0.0]]


def test_ranges_count_the_numbers_as_they_are_given():
    assert torch.arange(2.5, dtype=torch.int32).tolist() == [0, 1, 2]
    assert torch.arange(2.5, dtype=torch.int64).tolist() == [0, 1]  # which counts with 2
    assert torch.arange(0, 4.7, 1.5, dtype=torch.int64).tolist() == [0, 1, 2, 3]
    assert torch.arange(3, -1, -2).tolist() == [3, 1]
    assert torch.arange(1.0, 2.0, 0.25).tolist() == [1.0, 1.25, 1.5, 1.75]
    x = torch.arange(3)
    before = x.numpy().copy()
    x += 1
    assert before.tolist() == [0, 1, 2] and x.tolist() == [1, 2, 3]


def test_combinations_of_two_stand_in_the_order_of_the_others():
    x = torch.arange(4)
    for repeated in (False, True):
        pairs = torch.combinations(x, 2, repeated).tolist()
        assert pairs == sorted(pairs) and len(pairs) == 10 - 4 * (not repeated)
        assert all(a <= b if repeated else a < b for a, b in pairs)
    assert torch.combinations(x, 3).tolist() == [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    assert tuple(torch.combinations(x, 0).shape) == (0,)
