"""Short programs as people write them with PyTorch: the same values, dtypes, prints and errors under `adjoint.torch`.

`torch_snippets.txt` has them: a line that begins with "> " is one, other lines go together up to an expression, whose value is
compared. "# random": only shapes and dtypes are compared. "# raises": both sides raise, of classes that may differ.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib
import io
import math
import os
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
ours = importlib.import_module("adjoint.torch")
for _name in ("distributions", "optim.lr_scheduler", "utils.data"):
    importlib.import_module(f"torch.{_name}")
    importlib.import_module(f"adjoint.torch.{_name}")
ANYWHERE = re.compile(r"\b(0x[0-9a-f]+)")


def snippets(text):
    """The programs of a file, each with whether all of it is compared."""
    group = []
    for line in text.split("\n"):
        if not line.strip() or line.startswith("##"):
            continue
        if line.startswith("> "):
            yield line[2:]
            continue
        group.append(line)
        with contextlib.suppress(SyntaxError):
            if not line[0].isspace() and isinstance(ast.parse("\n".join(group)).body[-1], ast.Expr):
                yield "\n".join(group)
                group = []
    assert not group, group


SNIPPETS = list(snippets((Path(__file__).parent / "torch_snippets.txt").read_text()))


def names_for(t):
    """What the programs find defined: libraries, some tensors, and ways to make a module the same on both sides."""
    t.manual_seed(0)

    def seq(*shape):
        return t.tensor(np.sin(np.arange(math.prod(shape)) * 1.7 + 0.3).astype("float32")).reshape(shape)

    def fill(module):
        with t.no_grad():
            for k, p in enumerate(module.parameters()):
                p.copy_(seq(*p.shape) * 0.5 + 0.01 * k)
        return module

    return {
        "torch": t, "nn": t.nn, "F": t.nn.functional, "np": np, "math": math, "copy": copy, "pickle": pickle, "io": io, "os": os,
        "seq": seq, "fill": fill, "x": t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "v": t.tensor([3.0, 1.0, 2.0]),
        "i": t.tensor([0, 2, 1]), "b": t.tensor([True, False, True]), "A": t.arange(24.0).reshape(2, 3, 4),
        "M": t.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]], dtype=t.float64),
        "w": t.tensor([1.0, 2.0, 3.0], requires_grad=True), "z": t.tensor([1 + 2j, -3.5j, 0.5]), "__name__": "__snippet__",
    }  # fmt: skip


def words(text):
    """Text without what has to differ: the package's name, where classes live, addresses."""
    text = text.replace("adjoint.torch.", "torch.").replace("adjoint.", "torch.")
    return re.sub(
        r"torch\.(utils\.data|nn\.modules|distributions)\.[\w.]*\.(\w+)", r"torch.\1.\2", ANYWHERE.sub("0x", text)
    )


def plain(value, t):
    """A value as tuples, arrays and text."""
    if isinstance(value, t.Tensor):
        known = value.detach()
        known = known.resolve_conj().resolve_neg() if t is torch else known
        known = known.float() if str(known.dtype).endswith("bfloat16") else known
        return "tensor", words(str(value.dtype)), tuple(value.shape), bool(value.requires_grad), np.array(known.numpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return "array", str(value.dtype), np.array(value)
    if type(value).__module__ == "torch.return_types":
        return type(value).__name__, [plain(x, t) for x in value]
    if isinstance(value, t.Size):
        return "size", tuple(value)
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [plain(x, t) for x in value]
    if isinstance(value, dict):
        return "dict", [(words(str(k)), plain(x, t)) for k, x in value.items()]
    if value is None or isinstance(value, (bool, int, float, complex, bytes)):
        return type(value).__name__, value
    return ("type", value.__name__) if isinstance(value, type) else ("text", words(str(value)))


def run(code, t, folder):
    """The value of a program's last line, what it prints, and the error that it raises."""
    if t is not torch:
        code = re.sub(r"^from torch\b", "from adjoint.torch", code, flags=re.MULTILINE)
    names, printed = names_for(t), io.StringIO()
    tree = ast.parse(code)
    last = tree.body.pop()
    folder.mkdir()
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(printed),
            contextlib.chdir(folder),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            exec(compile(tree, "program", "exec"), names)
            value = plain(eval(compile(ast.Expression(last.value), "program", "eval"), names), t)
    except Exception as error:
        return None, words(printed.getvalue()), error
    finally:
        t.set_default_dtype(t.float32)
        t.set_printoptions(profile="default")
    return value, words(printed.getvalue()), None


def check_same(a, b, random):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if not random:
            near = 1e-7 if a.dtype in ("float64", "complex128") else 2e-5
            np.testing.assert_allclose(a, b, near, near)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            check_same(x, y, random)
    elif isinstance(a, (float, complex)):
        assert random or a == pytest.approx(b, 2e-5, 2e-5, nan_ok=True)
    else:
        assert a == b


@pytest.mark.parametrize("code", SNIPPETS, ids=[re.sub(r"\W+", " ", code)[:60] for code in SNIPPETS])
def test_a_program_does_the_same(code, tmp_path):
    expected, theirs_printed, theirs_error = run(code, torch, tmp_path / "there")
    found, printed, error = run(code, ours, tmp_path / "here")
    if theirs_error is None:
        if error is not None:
            raise error
        check_same(expected, found, "# random" in code)
        assert theirs_printed == printed
        return
    assert error is not None, f"PyTorch raises {theirs_error!r}"
    if "# raises" not in code:
        assert type(theirs_error).__name__.lstrip("_") in [kind.__name__ for kind in type(error).__mro__], (
            theirs_error,
            error,
        )
