"""Loops and branches in pictures: written out with their turns, right in every number, and live in the page."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.control.turns import MAX_OPERATIONS
from adjoint.display.pictures import picture_of
from adjoint.picture.page import graph_data
from live_pages import assert_same
from test_live import answered, node


@pytest.fixture(autouse=True)
def wide():
    ad.set_default_dtype("float64")


def fresh(*values):
    return [ad.variable(np.array(value), dtype="float64", name=f"x{i}") for i, value in enumerate(values)]


def nested(w, xs):
    return ad.scan(lambda c, x: (ad.fori_loop(0, 3, lambda i, v: ad.tanh(v * w + x * i), c), c * w), 0.1, xs)


CASES = {
    "scan": (lambda w, xs: ad.scan(lambda c, x: (ad.tanh(c * w + x), c * x), 0.1, xs)[1].sum(), [0.5, [1.0, -2.0, 3.0]]),
    "carry": (lambda w, xs: ad.scan(lambda c, x: (ad.sin(c * w) + x, None), 0.1, xs)[0], [0.5, [1.0, -2.0, 3.0]]),
    "reverse": (lambda w, xs: ad.scan(lambda c, x: (c * w + x, c), 0.0, xs, reverse=True)[1][0], [0.5, [1.0, -2.0, 3.0]]),
    "matrix": (lambda w, xs: ad.scan(lambda c, x: (ad.tanh(w @ c + x), (c * c).sum()), np.ones(2), xs)[1].sum(),
               [[[0.5, -1.0], [0.25, 2.0]], [[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]]),
    "nested": (lambda w, xs: nested(w, xs)[0] + nested(w, xs)[1].sum(), [0.5, [1.0, -2.0]]),
    "map": (lambda w, xs: ad.map(lambda x: ad.exp(x * w), xs).sum(), [0.5, [1.0, -2.0, 3.0]]),
    "while": (lambda w, s: ad.while_loop(lambda x: x > 1, lambda x: x * w, s * s), [0.5, 2.366]),
    "cond": (lambda w, s: ad.cond(w > s, lambda v: ad.sin(v) * s, lambda v: ad.exp(v) + s, w), [0.5, 0.52]),
    "branch of arrays": (lambda w, s: ad.cond(w.sum() > s, lambda v: ad.sin(v), lambda v: v * v * s, w).sum(),
                         [[0.5, -0.4], 0.12]),
    "switch": (lambda w, s: ad.switch(ad.astype(s, "int64"), [ad.sin, ad.exp, lambda v: v * s], w), [0.5, 1.0]),
    "gradient": (lambda w, xs: ad.gradients(ad.scan(lambda c, x: (ad.sin(c * w) + x, None), 0.1, xs)[0], [w])[0],
                 [0.5, [1.0, -2.0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_turns_have_the_engines_numbers(name):
    f, values = CASES[name]
    leaves = fresh(*values)
    y = f(*leaves)
    picture = picture_of(y, "draw", known={x.node: x.name for x in leaves})
    assert not {"scan", "scanned", "while_loop", "switch", "loop_reverse"} & {
        b.operation for b in picture.boxes.values()
    }
    assert picture.boxes[picture.root].value.numbers == pytest.approx(y.item(), rel=1e-12)
    for x, gradient in zip(leaves, ad.gradients(f(*leaves), leaves), strict=True):
        if x.name in {b.name for b in picture.boxes.values()} and picture.find(x.name).gradient:
            np.testing.assert_allclose(picture.find(x.name).gradient.numbers, gradient.numpy(), rtol=1e-12)


def halved(x):
    return ad.while_loop(lambda v: v > 1, lambda v: v / 2, x)


def endless(v):
    return ad.scan(lambda c, _: (ad.while_loop(lambda c: c < 9, lambda c: c * 1.0, c), None), v, length=2)[0]


INSIDE = {
    "scan": lambda x: ad.scan(lambda c, _: (halved(c) + x, None), x, length=2)[0],
    "while_loop": lambda x: ad.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, halved(c[1]) + x), (0, x))[1],
    "branch": lambda x: ad.cond(x > 0, ad.sin, endless, x),
    "root": lambda x: ad.root(lambda z: z**3 - x, ad.tensor(1.0)).x,
    "odeint": lambda x: ad.odeint(lambda y, t: -x * y, x, [0.0, 0.3])[1],
}


@pytest.mark.parametrize("name", INSIDE)
def test_while_loops_inside_loops_and_branches_stay_as_they_are(name, tmp_path):
    x = ad.variable(2.366, name="x")
    y = INSIDE[name](x)
    picture = picture_of(y, "draw")
    assert picture.boxes[picture.root].value.numbers == pytest.approx(y.item(), rel=1e-12)
    assert picture.find("x").gradient.numbers == pytest.approx(ad.grad(INSIDE[name])(x).item(), rel=1e-9)
    note = "cond: a branch with a while_loop" if name == "branch" else "while_loop: inside another loop"
    assert any(note in text for text in picture.notes)
    ad.explore(y, str(tmp_path / "page.html"))


@pytest.mark.skipif(node is None, reason="needs node")
def test_leaves_of_loops_move_as_python_does(tmp_path):
    programs, expected = [], []
    for name, (f, values) in CASES.items():
        leaves = fresh(*values)
        y = f(*leaves)
        data = graph_data(picture_of(y, "explore", known={x.node: x.name for x in leaves}, live=True), ())
        boxes = {b["name"]: b for b in data["boxes"]}
        root = boxes.get("y") or next(b for b in data["boxes"] if b["key"] == data["root"])
        assert [why for why in data["still"].values() if why] == [], name
        generator, arrays, moves, found = np.random.default_rng(0), [np.array(v) for v in values], [], []
        for k in range(12):
            i = k % len(arrays)
            if name == "switch" and i == 1:
                continue
            arrays[i] = np.array(values[i]) + generator.uniform(-0.05, 0.05, arrays[i].shape)
            moves.append({"slot": boxes[f"x{i}"]["value"]["slot"], "numbers": arrays[i].ravel().tolist()})
            moved = fresh(*arrays)
            again = f(*moved)
            kept = [x for x in moved if boxes[x.name]["gradient"]]
            found.append([x.numpy() for x in ad.evaluate(again, *ad.gradients(again, kept))])
        read = [
            root["value"]["slot"],
            *[b["gradient"]["slot"] for n, b in sorted(boxes.items(), key=str) if n and n[0] == "x" and b["gradient"]],
        ]
        programs.append({"program": data["program"], "moves": moves, "read": read})
        expected.append((name, found))
    for (name, theirs), mine in zip(expected, answered(tmp_path, programs)["answers"], strict=True):
        for values, numbers in zip(mine, theirs, strict=True):
            assert_same(values, numbers, name)


def test_turns_are_scopes_in_scopes_and_fold():
    w, xs = fresh(0.5, [1.0, -2.0, 3.0])
    y = ad.scan(lambda c, x: (ad.fori_loop(0, 2, lambda i, v: ad.softplus(v * w) + x, c), None), 0.1, xs)[0]
    groups = picture_of(y, "draw").groups
    names = [group.name for group in groups.values()]
    assert names[:4] == ["scan: 3 ×", "turn 1 of 3", "fori_loop: 2 ×", "turn 1 of 2"]
    assert names.count("fori_loop: 2 ×") == 3 and names.count("turn 2 of 2") == 3
    assert {group.turns for group in groups.values()} == {0, 2, 3}
    folded = ad.draw(y, names={"w": w, "xs": xs, "y": y}).model
    assert [box.symbol for box in folded.boxes.values() if box.kind == "group"] == ["scan: 3 ×"]
    assert folded.find("x0").gradient.numbers == pytest.approx(ad.gradients(y, [w])[0].item())


def test_a_loop_of_many_turns_stays_one_box_and_says_so():
    (w,) = fresh(0.5)
    y = ad.fori_loop(0, MAX_OPERATIONS, lambda i, v: ad.sin(v * w), 1.0)
    picture = picture_of(y, "explore", live=True)
    assert picture.notes == (f"scan: its {MAX_OPERATIONS:,} turns are too many to be written out",)
    assert len(picture.boxes) < 8
    assert picture.find("x0").gradient.numbers == pytest.approx(ad.gradients(y, [w])[0].item())
    assert "scan" in next(filter(None, [picture.program.reason, *filter(None, picture.program.still.values())]))


def test_drawing_a_loop_leaves_it_as_it_is():
    w, xs = fresh(0.5, [1.0, -2.0, 3.0])
    carry, ys = ad.scan(lambda c, x: (c * w + x, c), 0.0, xs)
    before = (carry.node, carry.node.inputs, ys.node.value)
    ad.draw(carry + ys.sum())
    assert (carry.node, carry.node.inputs, ys.node.value) == before


def test_the_page_watches_what_decided_the_turns():
    (x,) = fresh(20.0)
    y = ad.while_loop(lambda v: v > 1, lambda v: v / 2, x)
    program = picture_of(y, "explore", known={x.node: "x"}, live=True).program
    said = "while_loop took 5 turns when this was recorded. Now it would take another number"
    assert [tuple(decision[1:]) for decision in program.data["decisions"]] == [*[(True, said)] * 5, (False, said)]
