"""The page's colours: text has contrast, and colour-blind readers tell apart what is told by colour.

Dichromacies are simulated by G. Machado, M. Oliveira and L. Fernandes, "A physiologically-based model for simulation of
color vision deficiency", IEEE TVCG 15 (2009), severity 1, on linear RGB; differences are CIE 1976 ΔE in L*a*b*.
"""

import itertools
import re
from importlib import resources

import numpy as np
import pytest

CSS = resources.files("adjoint.picture").joinpath("explorer.css").read_text()
VISION = {
    "trichromat": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = TO_XYZ @ np.ones(3)
# What means something by its colour, where it stands side by side; all but the first have another sign too (dashes, text).
APART = [
    ("positive", "negative"),
    *itertools.combinations(("flow", "gradient", "tangent"), 2),
    ("variable-line", "group-line"),
]


def theme(dark):
    block = re.search(r':root\[data-theme="dark"\] \{(.*?)\}' if dark else r":root \{(.*?)\}", CSS, re.DOTALL)[1]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def linear(colour):
    x = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    t = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_colours_that_mean_something_differ_for_all_readers(vision, dark):
    colours = theme(dark)
    for a, b in APART:
        seen = [lab(np.array(VISION[vision]) @ linear(colours[name])) for name in (a, b)]
        assert np.linalg.norm(seen[0] - seen[1]) > 20, (a, b)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_contrast_on_its_ground(dark):
    colours = theme(dark)

    def contrast(a, b):
        low, high = sorted(float(TO_XYZ[1] @ linear(colours[name])) for name in (a, b))
        return (high + 0.05) / (low + 0.05)

    pairs = [
        (text, ground)
        for text in ("ink", "muted", "gradient", "tangent", "positive", "negative")
        for ground in ("panel", "ground")
    ]
    pairs += [("ink", box) for box in ("box", "variable", "data", "group", "now")] + [
        ("gradient", "variable"),
        ("gradient", "box"),
    ]
    for text, ground in [*pairs, ("gradient", "group"), ("gradient", "now"), ("tangent", "now")]:
        assert contrast(text, ground) >= 4.5, (text, ground)
    for line in ("flow", "variable-line", "group-line", "gradient", "tangent", "focus"):
        assert contrast(line, "ground") >= 3, line
