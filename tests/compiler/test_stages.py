"""Every stage from the plan to machine code, as people read it, is that of the program that runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim
from adjoint.compiler import pipeline
from adjoint.compiler.targets import target
from adjoint.execution.native.program import Native
from adjoint.execution.native.report import Report
from adjoint.execution.tiers import tiers
from adjoint.runtime import llvm


def normal(*shape: int, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


native_only = pytest.mark.skipif(tiers.backend == "numpy", reason="needs native code")


def formula() -> tuple[ad.Tensor, ad.Tensor]:
    x = ad.variable(normal(6, 40, dtype="float32"), name="x")
    y = ad.softmax(x * 2.5, axis=-1)
    return y, ad.gradients(y[0, 0], [x])[0]


@native_only
def test_every_stage_is_printed_with_names_shapes_and_lines() -> None:
    y, g = formula()
    texts = {stage: ad.execution.explain(y, g, stage=stage) for stage in pipeline.NAMES}
    assert all(len(text) > 50 for text in texts.values())
    assert "multiply(x, " in texts["plan"] and "float32[6, 40]" in texts["plan"] and "test_stages.py:" in texts["plan"]
    assert "x  float32[6, 40]  leaf" in texts["plan"]
    assert "loops over 6×40, a row is 40" in texts["units"] and "test_stages.py:" in texts["units"]
    assert "1 chunk; its code serves" in texts["units"]
    assert "define void @$unit" in texts["llvm"] and "ret" in texts["assembly"]
    assert repr(texts["plan"]) == texts["plan"]
    assert y.node.value is None, "looking must not compute"
    with pytest.raises(ValueError, match="the stages are plan, together, simplify"):
        ad.execution.explain(y, stage="fused")


@native_only
def test_all_stages_are_printed_in_order_and_what_changed_nothing_in_a_line() -> None:
    y, g = formula()
    text = ad.execution.explain([y], {"gradient": g}, stage="all")
    heads = [line.split(":")[0][3:] for line in text.splitlines() if line.startswith("-- ")]
    assert heads == [*pipeline.NAMES]
    assert "as after plan" in text and text.count("steps 1") < 3, "a plan that stayed as it was isn't printed again"
    assert ad.execution.explain(y, g, stage="loops") in text
    assert all(f"-- {stage.name}: {stage.about}" in text for stage in pipeline.STAGES)


@native_only
def test_other_processors_are_read_and_never_run() -> None:
    x = ad.variable(normal(48, 40, dtype="float32"), name="x")
    f = ad.function([x], [ad.softmax(x @ x.T, axis=-1)])
    own, before = target.target(), f(x)[0].numpy()
    texts = {name: ad.execution.explain(f, stage="all", target=name) for name in target.PROCESSORS}
    assert target.PROCESSORS.keys() == target.TUNING.keys()
    assert "tiles of 6×4 vectors of 4" in texts["neon"] and "fmla" in texts["neon"] and "xmm" not in texts["neon"]
    assert "zmm" in texts["avx512"] and "ymm" in texts["avx2"] and "xmm" in texts["sse"]
    assert "zmm" not in texts["avx2"] and "ymm" not in texts["sse"]
    with target.tuned(heights=((4, 3), (3, 3), (2, 3), (1, 3))):
        assert "tiles of 3×4 vectors of 4" in ad.execution.explain(f, stage="units", target="neon")
    with target.instead("neon"):
        seen: list[target.Target] = []
        thread = threading.Thread(target=lambda: seen.append(target.target()))
        thread.start()
        thread.join()
        assert target.target().name == "neon" and seen == [own], "other threads compile for the machine"
        with pytest.raises(AssertionError, match="isn't run here"):
            llvm.object_code("")
    assert target.target() == own
    np.testing.assert_array_equal(f(x)[0].numpy(), before)
    with pytest.raises(ValueError, match=r"kinds of processors are avx512, .*got 'arm'"):
        ad.execution.explain(f, stage="units", target="arm")
    with pytest.raises(ValueError, match="name a stage too"):
        ad.execution.explain(f, target="neon")


def test_what_numpy_runs_has_stages_too() -> None:
    for y in (ad.tensor(np.zeros((0, 3))) + 1, ad.exp(ad.tensor([1j]))):
        for stage in pipeline.NAMES:
            assert "steps 1, leaves 1" in ad.execution.explain(y, stage=stage)
        with pytest.raises(ValueError, match="the stages are plan"):
            ad.execution.explain(y, stage="fused")
    with pytest.raises(ValueError, match="nothing is given"):
        ad.execution.explain()
    with pytest.raises(TypeError, match="a compiled function is explained alone"):
        ad.execution.explain(ad.jit(ad.sin), ad.tensor(1.0) + 1)
    with pytest.raises(TypeError, match=r"got function: give explain what a call returns, or ad.jit of the function"):
        ad.execution.explain(lambda x: x)
    with pytest.raises(TypeError, match=r"got int$"):
        ad.execution.explain([ad.tensor(1.0) + 1, 3])


@native_only
def test_what_is_shown_of_a_compiled_function_is_what_runs() -> None:
    ad.random.seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)

    @ad.jit
    def step(x: ad.Tensor) -> ad.Tensor:
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    with pytest.raises(ValueError, match=r"step has not been called.*call it once.*test_stages.py"):
        ad.execution.explain(step)
    step(ad.tensor(normal(32, 8, dtype="float32")))
    program = step.replay().program
    assert isinstance(program, Native)
    shown = Report(step.replay().executable.plan, True)
    assert isinstance(shown.program, Native)
    assert program.linked.calls[:, [0, 2, 3]].tolist() == shown.program.linked.calls[:, [0, 2, 3]].tolist()
    explanation = ad.execution.explain(step)
    assert explanation.backend == "native" and all(kernel.seconds > 0 for kernel in explanation.kernels)
    assert "test_stages.py" in str(explanation)
    text = ad.execution.explain(step, stage="plan")
    assert "x  float32[32, 8]  leaf" in text and "(Linear)" in text
    assert "(model.0.weight)" in text and "optimizer.exp_avg_sq[model.2.bias]  float32[4]  leaf" in text
    assert "x[32×8] @ model.0.weight[8×16]" in ad.execution.explain(step, stage="units")


shifts = {"left": ad.tensor([1.0, 2.0]), "both": [ad.tensor(0.0), ad.tensor([3.0, 4.0])]}


def test_leaves_have_the_names_by_which_a_function_reads_them() -> None:
    w = ad.variable([1.0, 2.0])
    (w * 2).sum().backward()
    text = ad.execution.explain(called(ad.jit(lambda x: (shifts["left"] + x) @ shifts["both"][1])), stage="plan")
    assert "shifts['left']  float32[2]  leaf" in text and "shifts['both'][1]  float32[2]  leaf" in text
    text = ad.execution.explain(called(ad.jit(lambda x: (x * w.grad + w.detach()).sum())), stage="plan")
    assert "w.grad  float32[2]  leaf" in text and "w  float32[2]  leaf" in text
    f = ad.jit(lambda p, *more, scale, **named: (p["w"] * more[0][1] * scale * named["left"]).sum(), static_argnums=())
    x = ad.tensor([1.0, 1.0])
    f({"w": x * 1}, (0, x * 2), scale=3.0, left=x * 3)
    text = ad.execution.explain(f, stage="plan")
    assert all([f"{name}  float32[2]  leaf" in text for name in ("p['w']", "more[0][1]", "left")]), text
    lazy = nn.LazyLinear(3)
    text = ad.execution.explain(
        called(ad.jit(lambda x: x * shifts["left"] if lazy.weight is not None else x)), stage="plan"
    )
    assert "shifts['left']" in text


def called(f: Callable[[ad.Tensor], ad.Tensor]) -> Callable[[ad.Tensor], ad.Tensor]:
    f(ad.tensor([1.0, 1.0]))
    return f


def test_a_function_that_is_part_of_another_graph_says_so() -> None:
    f = ad.jit(lambda x: ad.sin(x).sum())
    f(ad.variable([1.0, 2.0]))
    with pytest.raises(ValueError, match="explain what a call gives"):
        ad.execution.explain(f)


@native_only
def test_what_is_not_native_says_why() -> None:
    y = ad.exp(ad.fft.dct(ad.tensor(normal(5, 7)), axis=1)) + 1
    explanation = ad.execution.explain(y)
    reasons = [kernel.reason for kernel in explanation.kernels if kernel.reason]
    assert reasons == ["trigonometric_transform has no native code for float64"] and reasons[0] in str(explanation)
    assert "not native: trigonometric_transform" in ad.execution.explain(y, stage="units")
    alone = ad.execution.explain(ad.fft.dct(ad.tensor(normal(5, 7)), axis=1))
    assert alone.backend == "numpy" and "none of its operations has native code" in str(alone)


@native_only
def test_the_code_of_a_node_in_a_picture() -> None:
    x = ad.variable(normal(50, dtype="float32"), name="x")
    y = ad.sum(ad.exp(x) / (1 + x * x))
    (g,) = ad.gradients(y, [x])
    y.item()
    found = ad.execution.stages.Formula([y.node, g.node])
    texts = found.of(y.node)
    assert texts is not None and texts.place == 1 and "sum[(0,)]" in texts.step and "test_stages.py:" in texts.step
    assert "exp(x)" in texts.unit and "define" in texts.llvm and texts.assembly
    assert found.of(x.node) is None
    assert y.node.value is not None and g.node.value is None, "looking must not compute"
    square = next(node for node in y.node.inputs[0].inputs[1].inputs if node.op.name == "multiply")
    assert ad.execution.stages.of(square).step.startswith("%1 = multiply(x, x)")


@native_only
def test_the_code_of_one_of_several_results() -> None:
    eigenvalues, _ = ad.linalg.eigh(ad.tensor(normal(40, 40) @ normal(40, 40).T))
    y = ad.sum(eigenvalues * 2)
    texts = ad.execution.stages.Formula([y.node]).of(eigenvalues.node)
    assert texts is not None and texts.place == 1 and "eigh" in texts.unit


@native_only
def test_a_tape_is_shown() -> None:
    x = ad.tensor(np.linspace(0.1, 0.9, 50, dtype=np.float32))
    y = x
    for _ in range(80):
        y = ad.sin(y) * x + 0.5
    assert "instructions for the tape machine" in ad.execution.explain(y, stage="units")
    assert "sin(float32) -> float32" in ad.execution.explain(y, stage="loops")
    assert "define void @$case" in ad.execution.explain(y, stage="llvm")
    assert ad.execution.explain(y).backend == "native"


@native_only
def test_stages_are_printed_as_they_run() -> None:
    program = "import adjoint as ad; f = ad.jit(lambda x: (ad.sin(x) * 2).sum()); f(ad.tensor([1.0, 2.0]))"
    for stages, expected in (
        ("units,llvm", ("-- units", "schedule: vectors of 2", "-- llvm", "define void @$unit")),
        ("all", (*[f"-- {name}: " for name in pipeline.NAMES], "as after plan", "schedule: vectors of 2")),
        ("no", ("names stages of plan",)),
    ):
        result = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True,
            env={**os.environ, "ADJOINT_SHOW": stages},
        )  # fmt: skip
        assert all(word in result.stderr for word in expected), result.stderr


def test_a_compiled_function_that_solves_a_system_is_explained() -> None:
    """Nobody has given it a matrix yet: what stands in for one can be solved."""
    f = ad.jit(lambda a, b: ad.linalg.solve(a, b).sum() + ad.linalg.cholesky(a @ a.mT).sum())
    a = np.eye(40) * 3 + 0.1
    f(ad.tensor(a), ad.tensor(np.ones((40, 1))))
    assert "solve" in str(ad.execution.explain(f))


@native_only
def test_loops_and_branches_show_what_they_repeat_and_choose() -> None:
    row = ad.tensor(normal(64, 8))

    def f(x: ad.Tensor) -> ad.Tensor:
        wide = ad.scan(lambda c, _: (ad.sin(c) @ row[:8] + 1, None), x, None, length=1200)[0].sum()
        small = ad.while_loop(lambda c: c < 100, lambda c: c * 1.5 + 1, wide * 0 + 1.0)
        return ad.cond(small > 3, lambda: (row.mT @ row).sum() * small, lambda: small)

    compiled = ad.jit(f)
    compiled(ad.tensor(normal(64, 8)))
    found = ad.execution.explain(compiled)
    kinds = [k.kind for k in found.kernels]
    assert {"scan", "while_loop", "switch"} <= set(kinds)
    inside = {(kinds[number - 1], label): part for number, label, part in found.inside}
    assert list(inside) == [
        ("scan", "1,200 times"),
        ("while_loop", "each time"),
        ("switch", "branch 0"),
        ("switch", "branch 1"),
    ]
    steps = inside["scan", "1,200 times"]
    assert steps.backend == "native" and {name for k in steps.kernels for name in k.operations} >= {"sin", "add"}
    (loop,) = inside["while_loop", "each time"].kernels
    assert loop.kind == "one loop" and sorted(loop.operations) == ["add", "add", "multiply"] and loop.seconds > 0
    assert inside["switch", "branch 0"].kernels == []
    text = str(found)
    assert f"kernel {1 + kinds.index('scan')}, 1,200 times:" in text and "not native" not in text
    for stage in pipeline.NAMES:
        assert "1,200 times:" in ad.execution.explain(compiled, stage=stage)
    loops = ad.execution.explain(compiled, stage="loops")
    assert "one native loop does all steps" in loops and "for i from 0 to count" in loops


def test_loops_that_numpy_runs_show_what_they_repeat(backends: Callable[[str], None]) -> None:
    backends("numpy")
    y = ad.scan(lambda c, x: (c + x, c), ad.zeros(()), ad.ones(5))[1]
    found = ad.execution.explain(y)
    ((number, label, inside),) = found.inside
    assert (found.kernels[number - 1].kind, label) == ("scan", "5 times")
    assert [k.operations for k in inside.kernels] == [("add",)] and inside.backend == "numpy"
    assert "5 times:\n  steps 1, leaves 2" in ad.execution.explain(y, stage="plan")


@native_only
def test_a_movement_says_what_it_moves() -> None:
    f = ad.jit(lambda x: ad.pad(x, 1).reshape((100,)) + ad.tensor(np.arange(100.0)))
    f(ad.tensor(np.ones((8, 8))))
    said = ad.execution.explain(f, stage="units")
    assert "move %2 = embed[((10, 10), ((1, 8, 1), (1, 8, 1)))](x)  float64[10, 10]" in said
