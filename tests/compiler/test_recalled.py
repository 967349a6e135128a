"""Units that an earlier process has written: they are as if written anew, and written anew where anything may differ."""

import gc
import os

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint import nn
from adjoint.compiler import linking, recalled, units
from adjoint.compiler.extents import Sheet
from adjoint.execution.native.program import compile_nests
from adjoint.execution.tiers import tiers
from random_graphs import planned


def layers(n):
    """Products, nests, moves; of several sizes, so that some are written for all of them."""

    def f(x):
        for k in (n, n + 7, n + 12):
            w = ad.reshape(ad.arange(40 * k, dtype=ad.float32) / 999, (40, k))
            x = ad.softmax(ad.tanh(x @ w) @ w.mT, axis=-1) + ad.roll(x, 1)
        return ad.concat([x, x[:, ::2]], axis=1)[ad.tensor([2, 0, 1])]

    return f, (6, 40)


def images(n):
    """Convolutions, a pool, an order."""
    model = nn.Sequential(
        nn.Conv2d(3, n, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(n, n, 3), nn.BatchNorm2d(n)
    )
    for k, p in enumerate(model.parameters()):
        p.data = ad.reshape(ad.arange(p.size, dtype=ad.float32) % (7 + k) / 9, p.shape)
    return lambda x: ad.sort(ad.reshape(model(x), (-1,)), axis=0), (2, 3, 12, 12)


def algebra(n):
    """A decomposition, a running sum, a transform."""

    def f(x):
        a = x @ x.mT + n * ad.eye(40)
        return ad.cumulative_sum(ad.linalg.solve(a, x), axis=0) + ad.real(ad.fft.fft(x, axis=-1))

    return f, (40, 40)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """The keys of what is written, with an empty cache of this test's own."""
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "code"))
    found = []
    write = units.write_unit

    def noted(key, how=None):
        found.append(key)
        return write(key, how)

    monkeypatch.setattr(units, "write_unit", noted)
    return found


def as_a_new_process():
    linking.forget()
    gc.collect()


def computed(make, n):
    """What a function gives, compiled alone: what it is made of isn't, however often it was computed before."""
    before, tiers.backend = tiers.backend, "numpy"
    try:
        f, shape = make(n)
        x = ad.tensor(np.random.default_rng(n).normal(size=shape).astype("f4"))
        plan, leaves, numbers = planned([f(x)])
    finally:
        tiers.backend = before
    program = compile_nests(plan)
    return program.run(leaves, numbers, False)[0].tobytes()


def bits(make, n):
    """What it gives in a process that has compiled nothing."""
    as_a_new_process()
    return computed(make, n)


def described(unit):
    """All that a kernel is made of, but for the code itself."""
    written, source, followed = unit
    arguments = vars(written.arguments).copy()
    for name in ("roles", "keep", "primitives"):
        del arguments[name]
    formula = None if followed is None else (followed.made_of, followed.formula.text)
    return arguments, written._replace(functions=(), arguments=None), source.symbol, source.names, source.draft, formula


@pytest.mark.parametrize("make", [layers, images, algebra])
def test_what_is_recalled_is_what_was_written(make, written, monkeypatch):
    kept, back = {}, {}
    remember, recall = recalled.remember, recalled.recall
    monkeypatch.setattr(
        recalled, "remember", lambda entry, batch: (kept.update({entry: batch}), remember(entry, batch))
    )
    monkeypatch.setattr(recalled, "recall", lambda entry: back.setdefault(entry, recall(entry)))
    first = bits(make, 24)
    assert written and kept
    count = len(written)
    back.clear()
    assert bits(make, 24) == first
    again = len(written) - count
    assert again < count and back.keys() >= kept.keys()
    recalled_units = 0
    for entry, batch in kept.items():
        assert {x: y.symbol for x, y in batch.tiles.items()} == {x: y.symbol for x, y in back[entry].tiles.items()}
        for one, other in zip(batch.units, back[entry].units, strict=True):
            if other is None:  # it holds a primitive of oneDNN
                assert one.written.arguments.primitives
            else:
                recalled_units += 1
                assert described(one) == described(other)
    assert recalled_units == count - again > 0


def test_what_serves_other_extents_does_so_once_it_is_recalled(written):
    found = bits(layers, 24), computed(layers, 50)
    count = len(written)
    assert (bits(layers, 24), computed(layers, 50)) == found
    assert len(written) == count > 0


def test_code_that_is_gone_is_written_anew(written, tmp_path, monkeypatch):
    entries, symbols = set(), []
    remember = recalled.remember

    def noted(entry, batch):
        entries.add(entry)
        symbols.append([unit.source.symbol for unit in batch.units])
        remember(entry, batch)

    monkeypatch.setattr(recalled, "remember", noted)
    first = bits(layers, 24)
    count, known = len(written), entries.copy()
    for name in os.listdir(tmp_path / "code"):
        if name not in known:
            os.unlink(tmp_path / "code" / name)
    assert bits(layers, 24) == first
    assert len(written) == 2 * count and entries == known
    half = len(symbols) // 2
    assert symbols[:half] == symbols[half:] != []


def test_another_compiler_and_other_settings_recall_nothing(written, monkeypatch):
    first = bits(layers, 24)
    count = len(written)
    monkeypatch.setattr(recalled, "_files", lambda: ("edited",))
    assert bits(layers, 24) == first
    assert len(written) == 2 * count
    monkeypatch.setattr(linking, "settings", lambda: ("another processor",))
    assert bits(layers, 24) == first
    assert len(written) == 3 * count


def test_drafts_are_recalled_with_their_text(written, tmp_path, monkeypatch):
    monkeypatch.setattr(linking, "DRAFT_FROM", 1)
    asked = []
    compiled = linking._compiled

    def noted(some, draft):
        asked[:] = [(key, None, ()) for key, _, _ in some]
        return compiled(some, draft)

    monkeypatch.setattr(linking, "_compiled", noted)
    bits(layers, 24)
    as_a_new_process()
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "drafts"))
    made = compiled(asked, True)
    count = len(written)
    names = [kernel.code.addresses.keys() for kernel in made]
    del made
    as_a_new_process()
    drafts = compiled(asked, True)
    assert len(written) == count
    assert [kernel.code.addresses.keys() for kernel in drafts] == names
    assert any(kernel.code.draft is not None and kernel.code.draft.text for kernel in drafts)
    linking.finish([kernel.code for kernel in drafts])
    assert all(kernel.code.draft is None or kernel.code.final is not None for kernel in drafts)


def test_what_its_parts_dont_tell_is_not_written_down():
    def bytes_of(x):
        return recalled._told(x, each=True)

    assert len({bytes_of(x) for x in (0.0, -0.0, 0, False, 1, True, 1.0, (), None, "1")}) == 10
    shared = ("a", 1)
    assert bytes_of((shared, shared)) == bytes_of((("a", 1), (*shared,)[:1] + shared[1:]))
    with Sheet() as sheet:
        for x in (object(), sheet.symbol(3), np.zeros(2), lambda: 0, dict):
            with pytest.raises(recalled.Untold):
                bytes_of((1, x))


def test_without_a_cache_nothing_is_asked(written, monkeypatch):
    monkeypatch.setenv("ADJOINT_CACHE", "")
    assert recalled.entry_of([], (), False) is None
    first = bits(layers, 24)
    count = len(written)
    assert bits(layers, 24) == first and len(written) == 2 * count
