"""The engine of a page, in JavaScript, without a browser: its numbers are Python's for every operation. Needs node."""

import json
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import mpmath
import numpy as np
import pytest
import scipy.linalg
import scipy.special

import adjoint as ad
from adjoint.display.pictures import picture_of
from adjoint.picture import build, program
from adjoint.picture.model import quantity
from adjoint.picture.page import ENGINE, SHOWING, graph_data, page
from adjoint.picture.program import plain
from adjoint.picture.steps import computed
from live_pages import CASES, Asked, assert_same

node = shutil.which("node")
# What stays still in pages, which say so: a histogram finds its edges when it is recorded.
STILL = {"histogram"}
WITHOUT_STEPS = set("marker stop_gradient reshape after custom checkpoint select_output full".split())
pytestmark = pytest.mark.skipif(node is None, reason="needs node")


def answered(folder, programs=(), texts=()):
    scripts = resources.files("adjoint.picture")
    engine, asked = folder / "engine.js", folder / "questions.json"
    engine.write_text(
        "".join(
            scripts.joinpath(f"scripts/{name}.js").read_text()
            for name in (*ENGINE, *computed().scripts, "program", "numbers")
        )
    )
    asked.write_text(json.dumps({"programs": programs, "texts": texts}, allow_nan=False))
    done = subprocess.run(
        [node, Path(__file__).with_name("page_engine.js"), engine, asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_operation_moves_as_python_does(tmp_path):
    asked = {name: Asked(operation, case, 2) for name, operation, case in CASES}
    live = {name: one for name, one in asked.items() if one.boxes()}
    still = {name.split("-")[0] for name, one in asked.items() for why in one.data["still"].values() if why}
    assert still == STILL, (
        "write their steps in picture/scripts: elementwise.js, array_steps.js, or the script of their topic"
    )
    reasons = {why for one in asked.values() for why in [*one.data["still"].values(), *one.data["notes"]] if why}
    unknown = {why.split("pages don't know ")[1] for why in reasons if "pages don't know " in why}
    assert not unknown, "pages know every primitive"
    found = answered(tmp_path, [one.question() for one in live.values()])
    assert set(found["operations"]) == computed().operations
    assert computed().complex <= computed().operations and set(found["ofComplex"]) == computed().complex - WITHOUT_STEPS
    for (name, one), mine in zip(live.items(), found["answers"], strict=True):
        expected = one.answers()
        assert len(mine) == len(expected), name
        for values, theirs in zip(mine, expected, strict=True):
            assert_same(values, theirs, name)


def test_numbers_are_written_as_python_writes_them(tmp_path):
    generator = np.random.default_rng(0)
    arrays = [
        np.array(x)
        for x in (0.0, -0.0, 1.0, 12345.678, 123456.7, 1e-5, 0.00012345678, 1e9, -2.5, np.inf, np.nan, 1e300)
    ]
    arrays += [generator.normal(size=()) * 10.0 ** generator.integers(-12, 12) for _ in range(200)]
    arrays += [
        generator.normal(size=shape) for shape in [(1,), (3,), (2, 2), (3, 3), (7,), (4, 5), (0,), (2, 0), (1, 9)]
    ]
    arrays += [np.array([1.0, 0.0, 1e-7]), np.array([[1e5, -3.0], [0.5, 2e10]]), np.arange(3), np.array([True, False])]
    arrays += [np.ones(7), np.full((3, 4), -0.5), np.zeros(9, bool), np.ones(9, bool), np.arange(9) > 4]
    arrays += [
        np.array(z) for z in (1 + 2j, -0.5 - 1e-9j, complex(0.0, -0.0), complex(np.nan, np.inf), 12345.678 + 1e20j)
    ]
    arrays += [np.array([1 - 2j, 0.25]), np.array([[1j, 2], [3, -1e-7]]), np.arange(7) * (3 - 4j)]
    arrays = [np.asarray(array) for array in arrays]
    asked = [(plain(array.ravel().tolist()), array.shape, array.dtype.name) for array in arrays]
    assert answered(tmp_path, texts=asked)["texts"] == [quantity(array).text for array in arrays]


def moving(y, **names):
    """Which named leaves a page of y can move, and why the others can't."""
    data = build(y.node, names={t.node: name for name, t in names.items()}, live=True)
    assert data.program is not None
    return {
        data.find(name).name: data.program.still.get(data.find(name).value.slot, "not in the program") for name in names
    }


def build_live(y):
    """The picture of a page."""
    return picture_of(y, "explore", live=True)


def test_host_code_and_what_leads_to_it_stay_still():
    x, w = ad.variable(2.0), ad.variable(3.0)
    y = ad.host_call(np.cbrt, x, shape=(), dtype="float32", vjp=lambda u, x: u) * w
    assert moving(y, x=x, w=w) == {"x": "cbrt is host code, which a page doesn't have", "w": None}


def test_random_draws_stay_as_they_were(tmp_path):
    x = ad.variable(np.ones(5), dtype="float64")
    y = (ad.random.normal((5,), dtype="float64") * x).sum()
    drawn = ad.gradients(y, [x])[0].numpy()
    data = build(y.node, names={x.node: "x"}, live=True)
    slot, gradient = data.find("x").value.slot, data.find("x").gradient.slot
    program = {"program": data.program.data, "moves": [{"slot": slot, "numbers": [3.0] * 5}], "read": [gradient]}
    (((found,),),) = answered(tmp_path, [program])["answers"]
    np.testing.assert_allclose(found, drawn, 1e-15)
    anew = build((ad.random.normal((5,)) * x).sum().node, live=True)
    assert graph_data(anew, ())["notes"] == ["random numbers stay as they were drawn"]
    assert graph_data(build((x * x).sum().node, live=True), ())["notes"] == []


def test_what_was_computed_before_says_that_it_stays():
    """A condition that was looked at, and the order that a reverse pass found, have let go of what they come from."""
    x = ad.variable(np.array([2.0, -1.0, 3.0]), name="x")
    chosen = x > 0
    y = (ad.where(chosen, x * x, -x) + ad.sort(x) + np.arange(3.0) * x).sum()
    assert graph_data(build(y.node, live=True), ())["notes"] == []
    assert chosen.numpy().tolist() == [True, False, True]
    ad.gradients(y, [x])[0].numpy()
    data = graph_data(build(y.node, live=True), ())
    assert data["notes"] == ["computed before this picture was made, these stay as they were: >, argsort"]
    details = {box["symbol"]: box["detail"] for box in data["boxes"]}
    assert details[">"] == details["argsort"] == "computed before: it stays as it was"


def test_conditions_by_which_python_chose_are_watched():
    x, w = ad.variable(2.0, name="x"), ad.variable(-1.0, name="w")
    y = x * w if x > 1 and not w > 0.5 else x
    decisions = graph_data(build_live(y), ())["program"]["decisions"]
    found = {said.split(" (")[0].removeprefix("Python asked whether "): outcome for _, outcome, said in decisions}
    assert found == {"x > 1": True, "0.5 < w": False} or found == {"x > 1": True, "w > 0.5": False}
    x.data = 0.5  # what was asked of another value says nothing of this one
    decisions = graph_data(build_live(x * w), ())["program"]["decisions"]
    assert [outcome for _, outcome, _ in decisions] == [False]


SPECIAL_POINTS = {
    "gammaln": [1 + 1e-8, 1 - 3e-5, 2 + 1e-9, 1.29, 2.31, 0.3, 1e5, -2.5],
    "digamma": [-1e6 - 0.3, -3.7, 1e8, 0.1, 30.0],
    "i0": [30.0, 30.0001, 29.9999, 700.0, -31.0],
    "i1": [30.0, 30.0001, -700.0, 1e-9, 5.0],
    "i0e": [800.0, -800.0, 30.0001, 29.9999, np.inf],
    "i1e": [800.0, -800.0, 1e5, 0.0, 12.0],
}
PAIRS_OF = {
    "polygamma": [(n, x) for n in (1, 2, 5) for x in (-29.9, -30.1, -1000.5, -2000.3, 3.5)],
    "zeta": [(3.0, -1000.3), (4.0, -2000.3), (101.0, -500.25), (2.0, -31.5), (1.5, 1e10), (3.0, np.inf), (2.0, -0.5)],
}
PAIRS = [(100.0, 100.0), (1e-3, 200.0), (1e10, 2.0), (9.99, 10.01), (1e5, 1e5), (0.5, 1e6), (3.0, 4.0), (np.inf, 1.0)]


@pytest.mark.parametrize("name", [*SPECIAL_POINTS, "beta", "betaln"])
def test_special_functions_keep_their_digits(name, tmp_path):
    """Relatively: near zeros, and where parts of a formula are infinite or cancel."""
    given = np.array(PAIRS).T if name in ("beta", "betaln") else [np.array(SPECIAL_POINTS[name])]
    xs = [ad.variable(np.ones_like(x), name=f"x{k}", dtype="float64") for k, x in enumerate(given)]
    y = getattr(ad.special, name)(*xs)
    data = graph_data(build(y.node, live=True), ())
    boxes = {box["name"]: box for box in data["boxes"]}
    moves = [
        {"slot": boxes[f"x{k}"]["value"]["slot"], "numbers": plain(numbers.tolist())} for k, numbers in enumerate(given)
    ]
    root = next(box for box in data["boxes"] if box["key"] == data["root"])
    asked = {"program": data["program"], "moves": moves, "read": [root["value"]["slot"]]}
    *_, (found,) = answered(tmp_path, [asked])["answers"][0]
    exact = {
        "gammaln": lambda x: mpmath.log(abs(mpmath.gamma(x))),
        "digamma": mpmath.digamma,
        "i0": lambda x: mpmath.besseli(0, x),
        "i1": lambda x: mpmath.besseli(1, x),
        "i0e": lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)),
        "i1e": lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)),
        "beta": mpmath.beta,
        "betaln": lambda a, b: mpmath.log(mpmath.beta(a, b)),
    }[name]
    limits = {"i0e": 0.0, "beta": 0.0, "betaln": -np.inf}
    with mpmath.workdps(60):
        expected = [
            float(exact(*map(mpmath.mpf, xs))) if np.isfinite(xs).all() else limits[name]
            for xs in zip(*given, strict=True)
        ]
    np.testing.assert_allclose(np.array(found, float), expected, rtol=1e-12)


@pytest.mark.parametrize("name", PAIRS_OF)
def test_the_gamma_functions_derivatives_far_below_zero(name, tmp_path):
    """In the page and in Python: to the digits of their largest part, without a term for each whole number on the way."""
    for order, x in PAIRS_OF[name]:
        leaf = ad.variable(0.5, name="x", dtype="float64")
        y = (
            ad.special.zeta(ad.tensor(order, dtype="float64"), leaf)
            if name == "zeta"
            else ad.special.polygamma(order, leaf)
        )
        data = graph_data(build(y.node, live=True), ())
        boxes = {box["key"]: box for box in data["boxes"]}
        slot = next(box["value"]["slot"] for box in boxes.values() if box["name"] == "x")
        asked = {"program": data["program"], "moves": [{"slot": slot, "numbers": plain([x])}]}
        ((((found,),),),) = answered(tmp_path, [asked | {"read": [boxes[data["root"]]["value"]["slot"]]}])["answers"]
        with mpmath.workdps(60):
            z = mpmath.mpf(x)
            if name == "polygamma":
                expected = mpmath.psi(order, z)
            elif z < 0:
                expected = (-1) ** int(order) * mpmath.psi(int(order) - 1, z) / mpmath.factorial(int(order) - 1)
            else:
                expected = mpmath.zeta(order, z) if np.isfinite(x) else 0
        assert found == pytest.approx(float(expected), rel=1e-11), (order, x)
        if name == "polygamma":
            assert ad.special.polygamma(order, np.float64(x)).item() == pytest.approx(float(expected), rel=1e-11)


def test_a_trigamma_that_no_sum_reaches():
    assert ad.special.polygamma(1, np.float64(-1e12 - 0.25)).item() == pytest.approx(2 * np.pi**2, rel=1e-11)


WIDE = np.array([1e-8, 0.3, 2.5, 9.9, 24.9, 30.0, 31.0, 123.4, 1e4, -0.3, -40.0])
ORDERS = np.array([0.0, 1.0, 2.0, 5.0, 20.0, 0.5, 1 / 3, 7.7, -0.5, -1.0, -2.3])
OF_SCIPY = {
    "j0 j1 y0 y1 k0 k1 k0e k1e dawsn": [WIDE],
    "jv yv kv kve iv ive": [np.repeat(ORDERS, WIDE.size), np.tile(WIDE, ORDERS.size)],
    "owens_t": [np.repeat(WIDE, WIDE.size), np.tile(WIDE, WIDE.size)],
    "poch binom": [np.repeat([0.5, 3.3, 50.0, 200.0, -1.5], 6), np.tile([0.0, 1.0, 2.0, 7.2, 20.0, 0.3], 5)],
    "betainc": [
        np.repeat([0.1, 1.0, 2.0, 100.0], 20), np.tile(np.repeat([0.2, 3.0, 50.0, 1000.0], 5), 4),
        np.tile([0.0, 1e-6, 0.3, 0.9, 1.0], 16),
    ],
    "sici shichi fresnel": [WIDE],
    "lambertw": [np.array([-0.3678, -0.1, -1e-9, 0.5, 2.9, 3.1, 1e5, 1e300])],
}  # fmt: skip


@pytest.mark.parametrize("names", OF_SCIPY)
def test_integrals_and_bessel_functions_are_scipys_everywhere(names, tmp_path):
    """Near 0 and far out, at every order: where one formula follows another."""
    given = OF_SCIPY[names]
    programs, expected = [], []
    for name in names.split():
        xs = [ad.variable(np.full_like(x, 0.5), name=f"x{k}", dtype="float64") for k, x in enumerate(given)]
        function = scipy.special.__dict__[name]
        found, theirs = getattr(ad.special, name)(*xs), function(*given)
        for y, numbers in zip(*[one if isinstance(one, tuple) else (one,) for one in (found, theirs)], strict=True):
            data = graph_data(build(y.node, live=True), ())
            boxes = {box["key"]: box for box in data["boxes"]}
            slots = {box["name"]: box["value"]["slot"] for box in boxes.values()}
            moves = [{"slot": slots[f"x{k}"], "numbers": plain(x.tolist())} for k, x in enumerate(given)]
            programs.append(
                {"program": data["program"], "moves": moves, "read": [boxes[data["root"]]["value"]["slot"]]}
            )
            expected.append((name, numbers.real))
    for (name, numbers), (*_, (mine,)) in zip(expected, answered(tmp_path, programs)["answers"], strict=True):
        np.testing.assert_allclose(np.array(mine, float), numbers, 1e-12, 1e-12, err_msg=name)


HYPERGEOMETRIC = {
    "hyp1f1": [
        (1.5, 2.0, 0.3), (-0.5, 0.75, -50.0), (1.0, 2.0, -800.0), (1.5, 2.0, -1e5), (30.0, 2.0, -20.0), (-3.0, 2.5, 7.0),
        (1e-3, 0.5, 40.0), (-7.3, -2.2, -59.0), (5.5, 2.5, 300.0), (80.3, 1.2, -70.0), (1.0, 1e-8, 1.0), (2.0, 2.0, -61.0),
    ],
    "hyp2f1": [
        (1.5, 0.5, 2.0, 0.3), (1.0, 1.0, 2.5, 0.99), (1.0, 1.0, 2.0, 0.999999), (0.5, 0.5, 1.0, 1 - 1e-13),
        (1.0, 2.0, 3.0, -100.0), (20.0, -15.5, 3.0, 0.8), (1.0, 1.0, 2.5, 1.0), (3.0, 2.0, 1.5, 0.9999), (-2.0, 1.0, 2.5, 3.0),
        (-4.3, -5.0, -0.5, -3.1), (-3.5, 2.3, -2.7, 0.99999),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", HYPERGEOMETRIC)
def test_hypergeometric_functions_keep_their_digits(name, tmp_path):
    """Where terms cancel, far out, and close to the singular point; mpmath in 40 digits says what they are."""
    given = np.array(HYPERGEOMETRIC[name]).T
    xs = [ad.variable(np.full_like(x, 0.5), name=f"x{k}", dtype="float64") for k, x in enumerate(given)]
    data = graph_data(build(getattr(ad.special, name)(*xs).node, live=True), ())
    boxes = {box["key"]: box for box in data["boxes"]}
    slots = {box["name"]: box["value"]["slot"] for box in boxes.values()}
    moves = [{"slot": slots[f"x{k}"], "numbers": plain(x.tolist())} for k, x in enumerate(given)]
    asked = {"program": data["program"], "moves": moves, "read": [boxes[data["root"]]["value"]["slot"]]}
    *_, (mine,) = answered(tmp_path, [asked])["answers"][0]
    with mpmath.workdps(40):
        expected = [float(mpmath.re(getattr(mpmath, name)(*map(mpmath.mpf, row)))) for row in given.T]
    np.testing.assert_allclose(mine, expected, 1e-12)


def test_reflections_have_lapacks_signs(tmp_path):
    for m, n in [(1, 1), (4, 1), (4, 2), (7, 3), (5, 5)]:
        a = np.random.default_rng(m).normal(size=(m, n))
        x = ad.variable(np.ones((m, n)), name="x", dtype="float64")
        q, r = ad.linalg.qr(x)
        data = graph_data(build(ad.concat([q.flatten(), r.flatten()]).node, live=True), ())
        root = next(box for box in data["boxes"] if box["key"] == data["root"])
        slot = next(box["value"]["slot"] for box in data["boxes"] if box["name"] == "x")
        moves = [{"slot": slot, "numbers": plain(a.ravel().tolist())}]
        asked = {"program": data["program"], "moves": moves, "read": [root["value"]["slot"]]}
        (((found,),),) = answered(tmp_path, [asked])["answers"]
        np.testing.assert_allclose(found, np.concatenate([y.ravel() for y in np.linalg.qr(a)]), 0, 1e-14)


OF_COMPLEX = {
    "products": lambda z, w: z * w - z / w + (-z) * ad.conj(w) + ad.sign(w) * ad.abs(z),
    "powers": lambda z, w: z**3 + w**-2 + z**2.5 + ad.power(z, w) + ad.sqrt(w),
    "functions": lambda z, w: (
        ad.exp(z) * ad.sin(w) + ad.cos(z) / ad.tan(w) + ad.log(w) * ad.sinh(z) + ad.cosh(w) * ad.tanh(z)
    ),
    "parts": lambda z, w: ad.real(z) * w + ad.imag(w) ** 2 * z,
    "places": lambda z, w: (
        ad.concat([z[:, ::-1], ad.matrix_transpose(w).reshape((2, 3))], axis=0)[1:3] * ad.roll(z, 1, axis=1) + z[[1, 0]]
    ),
    "sums": lambda z, w: ad.cumulative_sum(z, axis=1) * w.sum(axis=0) + (ad.conj(ad.matrix_transpose(z)) @ w).sum(),
    "choices": lambda z, w: ad.where(ad.abs(z) > ad.abs(w), z, w * w) + ad.where(z == w, 1.0, z),
    "spectra": lambda z, w: ad.fft.ifft(ad.fft.fft(z) * ad.conj(ad.fft.fft(w))) + ad.fft.fft2(z, norm="ortho"),
    "halves": lambda z, w: ad.fft.rfft(ad.fft.irfft(z, n=5) * ad.fft.irfft(w, n=5)) * ad.fft.hfft(z, axis=0).sum(),
}


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_complex_leaves_move_as_python_does(name, tmp_path):
    def computed(z, w):
        found = OF_COMPLEX[name](z, w)
        return (ad.real(found) * 0.7 + ad.imag(found) * ad.cos(ad.abs(found))).sum()

    generator = np.random.default_rng(len(name))
    places = [generator.normal(size=(2, 2, 3, 2)) for _ in range(4)]
    z, w = (ad.variable(x.view(complex)[..., 0], name=n) for n, x in zip("zw", places[0], strict=True))
    data = graph_data(build(computed(z, w).node, live=True), ())
    boxes = {box["name"]: box for box in data["boxes"] if box["kind"] == "variable"}
    root = next(box for box in data["boxes"] if box["key"] == data["root"])
    moves = [
        {"slot": boxes[n]["value"]["slot"], "numbers": x.ravel().tolist()}
        for at in places[1:]
        for n, x in zip("zw", at, strict=True)
    ]
    read = [root["value"]["slot"], *(boxes[n]["gradient"]["slot"] for n in "zw")]
    found = answered(tmp_path, [{"program": data["program"], "moves": moves, "read": read}])["answers"][0]
    for (value, *gradients), at in zip(found[1::2], places[1:], strict=True):
        moved = [ad.variable(x.view(complex)[..., 0]) for x in at]
        y = computed(*moved)
        expected = [np.array(g.numpy(), order="C").view(float) for g in ad.gradients(y, moved)]
        assert_same([value, *gradients], [y.numpy(), *expected], name)


def test_transforms_of_any_length_are_numpys(tmp_path):
    """Of 1 to 60 numbers, of primes and powers, along either axis."""
    programs, expected = [], []
    generator = np.random.default_rng(0)
    for n in [*range(1, 61), 97, 128, 243, 1000]:
        x = ad.variable(np.zeros(n), name="x", dtype="float64")
        for direction, moved in (("fft", generator.normal(size=n)), ("rfft", generator.normal(size=n))):
            y = getattr(ad.fft, direction)(x)
            data = graph_data(build(ad.concat([ad.real(y), ad.imag(y)]).node, live=True), ())
            boxes = {box["key"]: box for box in data["boxes"]}
            slot = next(box["value"]["slot"] for box in boxes.values() if box["name"] == "x")
            asked = {"program": data["program"], "moves": [{"slot": slot, "numbers": moved.tolist()}]}
            programs.append(asked | {"read": [boxes[data["root"]]["value"]["slot"]]})
            theirs = getattr(np.fft, direction)(moved)
            expected.append(np.concatenate([theirs.real, theirs.imag]))
    for (((mine,),)), theirs in zip(answered(tmp_path, programs)["answers"], expected, strict=True):
        np.testing.assert_allclose(mine, theirs, 0, 1e-14 * np.linalg.norm(theirs) + 1e-14)


def test_the_root_of_a_singular_symmetric_matrix(tmp_path):
    """It exists, though its derivative doesn't."""
    a = ad.variable(np.array([[2.0, 1.0], [1.0, 3.0]]), name="a")
    data = graph_data(build((ad.linalg.sqrtm(a) * 1.0).node, live=True), ())
    boxes = {box["key"]: box for box in data["boxes"]}
    slot = next(box["value"]["slot"] for box in boxes.values() if box["name"] == "a")
    moves = [{"slot": slot, "numbers": numbers} for numbers in ([4, 2, 2, 1], [0, 0, 0, 0], [1, 2, 2, 1], [1, 2, 3, 9])]
    asked = {"program": data["program"], "moves": moves, "read": [boxes[data["root"]]["value"]["slot"]]}
    singular, nothing, negative, other = (np.array(x[0], float) for x in answered(tmp_path, [asked])["answers"][0])
    np.testing.assert_allclose(singular, np.array([4, 2, 2, 1]) / np.sqrt(5), 1e-14)
    assert (nothing == 0).all() and np.isnan(negative).all()
    np.testing.assert_allclose(other, scipy.linalg.sqrtm([[1.0, 2.0], [3.0, 9.0]]).ravel(), 1e-13)


OF_MATRICES = {
    "second derivatives of a determinant": lambda a: ad.grad(lambda x: ad.linalg.det(x) ** 2)(a).sum() * 0.1,
    "eigenvalues": lambda a: ad.real(ad.linalg.eigvals(a) ** 3).sum(),
    "eigenvectors": lambda a: ad.abs(ad.linalg.eig(a)[1]).sum(),
}


@pytest.mark.parametrize("name", OF_MATRICES)
def test_derivatives_of_general_matrices_move_as_python_does(name, tmp_path):
    first, *places = np.random.default_rng(1).normal(size=(4, 4, 4))
    a = ad.variable(first, name="a")
    data = graph_data(build(OF_MATRICES[name](a).node, live=True), ())
    box = next(box for box in data["boxes"] if box["kind"] == "variable")
    root = next(box for box in data["boxes"] if box["key"] == data["root"])
    moves = [{"slot": box["value"]["slot"], "numbers": x.ravel().tolist()} for x in places]
    read = [root["value"]["slot"], box["gradient"]["slot"]]
    found = answered(tmp_path, [{"program": data["program"], "moves": moves, "read": read}])["answers"][0]
    for mine, place in zip(found, places, strict=True):
        value, gradient = ad.value_and_grad(OF_MATRICES[name])(ad.tensor(place))
        np.testing.assert_allclose(np.ravel(mine[0]), value.item(), 1e-9)
        np.testing.assert_allclose(np.ravel(mine[1]), gradient.numpy().ravel(), 1e-8, 1e-9)


def test_vectors_keep_their_signs_while_a_matrix_moves(tmp_path):
    """At first they are Python's; then each is the closest to the one before, and spans what Python's spans."""
    generator = np.random.default_rng(4)
    a, direction = generator.normal(size=(2, 4, 4)) / 4
    a += np.diag([1.0, -2.0, 4.0, 7.0])
    for name, start in {"eigh": a + a.T, "svd": a, "svd of more rows": a[:, :2]}.items():
        turn = direction + direction.T if name == "eigh" else direction[:, : start.shape[1]]
        x = ad.variable(start, name="x", dtype="float64")
        vectors = ad.linalg.eigh(x)[1] if name == "eigh" else ad.linalg.svd(x)[0]
        data = graph_data(build((vectors * 1.0).node, live=True), ())
        root = next(box for box in data["boxes"] if box["key"] == data["root"])
        slot = next(box["value"]["slot"] for box in data["boxes"] if box["name"] == "x")
        places = [start + t * turn for t in np.linspace(0, 1, 200)]
        moves = [{"slot": slot, "numbers": plain(place.ravel().tolist())} for place in places]
        asked = {"program": data["program"], "moves": moves, "read": [root["value"]["slot"]]}
        found = np.array(answered(tmp_path, [asked])["answers"][0]).reshape(200, 4, 4)
        np.testing.assert_allclose(found[0], vectors.numpy(), 1e-12, 1e-12)
        columns = start.shape[1]
        for mine, place in zip(found, places, strict=True):
            theirs = np.linalg.eigh(place)[1] if name == "eigh" else np.linalg.svd(place)[0]
            np.testing.assert_allclose(mine.T @ mine, np.eye(4), 0, 1e-13)
            signs = np.sign(np.sum(mine * theirs, 0))[:columns]
            np.testing.assert_allclose(mine[:, :columns] * signs, theirs[:, :columns], 1e-11, 1e-11)
        assert np.abs(np.diff(found, axis=0)).max() < 0.05, name


def test_a_page_holds_the_scripts_that_its_operations_need():
    x = ad.variable(np.array([[2.0, 1.0], [0.5, 3.0]]), name="x")
    pages = {name: ad.explore(y).html for name, y in {
        "": (x * x).sum(), "special": ad.special.gammaln(x).sum(), "integrals": ad.special.j0(x).sum(),
        "hypergeometric": ad.special.hyp1f1(1.5, 2.5, x).sum(), "systems": ad.linalg.inv(x).sum(),
        "spectra": ad.linalg.svdvals(x).sum(), "complex": ad.abs(ad.fft.fft(x)).sum(),
        "eigenvalues": ad.abs(ad.linalg.eigvals(x)).sum(),
    }.items()}  # fmt: skip
    of_each = {
        "special": "gammaln",
        "integrals": "besselWave",
        "hypergeometric": "hyp1f1",
        "systems": "eliminate",
        "spectra": "singularOf",
        "complex": "fourier",
        "eigenvalues": "triangularForm",
    }
    also = {
        "eigenvalues": {"complex", "systems"},
        "integrals": {"special"},
        "hypergeometric": {"special"},
        "spectra": {"systems"},
    }
    for name, html in pages.items():
        held = {script for script, function in of_each.items() if f"function {function}(" in html}
        assert held == ({name} if name else set()) | also.get(name, set())


def test_large_arrays_and_long_graphs_say_so(monkeypatch):
    w = ad.variable(np.ones((2000, 300)))
    picture = build((w * w).sum().node, live=True)
    assert picture.program.data is None and "too large" in picture.program.reason
    s = x = ad.variable(1.0)
    monkeypatch.setattr(program, "MAX_SLOTS", 5_000)
    for _ in range(3_000):  # of two operations each
        s = ad.sin(s) * x
    assert "don't compute graphs of" in build(s.node, live=True).program.reason
    z = ad.variable(np.array(1 + 2j))
    assert build(ad.abs(ad.prod(z)).node, live=True).program.reason == "pages know prod of real numbers alone"
    assert build(ad.variable(2.0).node, live=True).program.reason == "nothing is computed from it"
    assert build((ad.tensor([1, 2]) * 3).node, live=True).program.reason == "it is computed from no floating number"


def test_the_page_holds_no_more_than_its_scripts_and_its_data():
    x = ad.variable(2.0)
    assert len(ad.explore(x * x).html) < 165_000
    assert len(ad.playground().html) < 230_000
    every = page("of every operation", (*ENGINE, *computed().scripts, "program", *SHOWING, "opening"), {})
    assert len(every) < 270_000
