"""PyTorch's own samples of its operators, run under `adjoint.torch`: values, gradients, second derivatives, errors.

`python tests/oracle/samples.py` prints what differs, operator by operator. Each sample's call is made twice, of PyTorch's
function on PyTorch's tensors and of ours on tensors with the same numbers.
"""

from __future__ import annotations

import collections
import dataclasses
import re
import sys
import types
import warnings
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import adjoint.torch as ours

MOST = 12  # samples of one operator and dtype
DTYPES = (torch.float64, torch.float32, torch.int64, torch.bool, torch.complex128)
SECOND = 4  # samples whose second derivative is compared

# Random results, or what is PyTorch's inside: not compared. Each with the reason.
INSIDE = "PyTorch's own inside, no function that a program calls"
SKIPPED = {
    **dict.fromkeys("_softmax_backward_data _native_batch_norm_legit _batch_norm_with_update native_batch_norm native_layer_norm "
                    "native_group_norm native_dropout_backward max_pool2d_with_indices_backward _upsample_bilinear2d_aa "
                    "_unsafe_masked_index _unsafe_masked_index_put_accumulate _chunk_cat _segment_reduce alias_copy "
                    "torch._scaled_mm torch._scaled_mm_v2 torch.ops.aten._safe_softmax.default "
                    "torch.ops.aten._flash_attention_forward torch.ops.aten._efficient_attention_forward jiterator_unary "
                    "jiterator_binary jiterator_4inputs_with_extra_args jiterator_binary_return_by_ref "
                    "jiterator_2inputs_2outputs grid_sampler_2d grid_sampler_3d hash_tensor nonzero_static view_copy slice "
                    "as_strided_copy".split(), INSIDE),
    **dict.fromkeys("sparse.sampled_addmm sparse.mm to_sparse".split(), "sparse tensors"),
    **dict.fromkeys([f"masked.{n}" for n in "sum prod cumsum cumprod amax amin argmax argmin mean median norm var std softmax "
                    "log_softmax softmin normalize logaddexp logsumexp".split()], "torch.masked, a prototype"),
    **dict.fromkeys("bfloat16 half chalf".split(), "half precision"),
    **dict.fromkeys("nn.functional.linear_cross_entropy".split(), "new in PyTorch 2.13, for graphics processors"),
}  # fmt: skip
# Results that differ, and why.
TRIANGLE = "the derivative by elements of a triangle that the value doesn't depend on is 0 here"
TWICE = "of elements written to one place, the derivative goes to the one that stayed"
DIFFERS = {
    "cholesky_inverse": TRIANGLE,
    "cholesky_solve": TRIANGLE,
    "linalg.pinv.hermitian": TRIANGLE,
    "nn.functional.max_unpool1d": TWICE,
    "nn.functional.max_unpool2d": TWICE,
    "nn.functional.max_unpool3d": TWICE,
    "nn.functional.ctc_loss": "there the derivative by scores before log_softmax, here by the probabilities that are given",
    "linalg.norm.subgradients_at_zero": "second derivatives of norms at zero vectors: NaN there, 0 here",
    "as_strided.partial_views": "the sample is part of a larger memory, which is not taken over with it",
    "as_strided_scatter": "the sample writes to the memory itself",
    "matrix_exp": "float32 results of norm 1e4, of which the last digits differ",
    "sum_to_size": "bools that need no sum stay bools",
    "nn.functional.local_response_norm": "integers without elements",
    "special.bessel_j0": "the last digits of large arguments",
    "special.bessel_y1": "arguments below 0 and at 0",
}  # fmt: skip
RANDOM = set("cauchy exponential geometric log_normal normal uniform randn randn_like rand_like randint randint_like multinomial "
             "bernoulli nn.functional.dropout nn.functional.dropout2d nn.functional.dropout3d nn.functional.alpha_dropout "
             "nn.functional.feature_alpha_dropout nn.functional.rrelu nn.functional.fractional_max_pool2d "
             "nn.functional.fractional_max_pool3d svd_lowrank pca_lowrank "
             "nn.functional.multi_head_attention_forward".split())  # fmt: skip
TIES = {"kthvalue", "topk", "mode", "sort", "median", "nanmedian"}
UNSET = {
    "empty",
    "empty_like",
    "new_empty",
    "new_empty_strided",
    "empty_strided",
    "empty_permuted",
    "resize_",
    "resize_as_",
}


@dataclasses.dataclass
class Report:
    """What was compared for one operator."""

    name: str
    values: int = 0
    gradients: int = 0
    seconds: int = 0
    errors: int = 0
    problems: list[str] = dataclasses.field(default_factory=list)
    skipped: str = ""


def name_of(op: Any) -> str:
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def our_function(op: Any) -> Any:
    """Our function for an entry: by its name, or its own code with our `torch` in place of PyTorch's."""
    names = [op.name, *(a.name for a in op.aliases)]
    if isinstance(op.op, types.FunctionType) and (
        op.op.__name__ == "<lambda>" or "common_methods" in op.op.__module__ or "opinfo" in op.op.__module__
    ):
        found = moved(op.op)
        if found is not None:
            return found
    for name in names:
        found = attribute(ours, name.removeprefix("torch."))
        if callable(found):
            return found
    for name in (op.name, op.name + "_"):
        if hasattr(ours.Tensor, name):
            found = getattr(ours.Tensor, name)
            return found if callable(found) else lambda x, _n=name: getattr(x, _n)
    return None


def attribute(root: Any, name: str) -> Any:
    for part in name.split("."):
        root = getattr(root, part, None)
        if root is None:
            return None
    return root


def moved(f: types.FunctionType) -> Any:
    """A function of PyTorch's tests with our module under the name `torch`."""
    if getattr(f, "__wrapped__", None) is not None:
        return None
    scope = {**f.__globals__, "torch": ours}
    cells = f.__closure__
    if cells is not None:
        values = [c.cell_contents for c in cells]
        cells = tuple(types.CellType(moved(v) if isinstance(v, types.FunctionType) else swapped(v)) for v in values)
    made = types.FunctionType(f.__code__, scope, f.__name__, f.__defaults__, cells)
    made.__kwdefaults__ = f.__kwdefaults__
    return made


def swapped(x: Any) -> Any:
    if isinstance(x, torch.dtype):
        return getattr(ours, str(x).removeprefix("torch."))
    name = getattr(x, "__name__", None)
    if callable(x) and name and getattr(torch, name, None) is x:
        return getattr(ours, name, x)
    return x


def given(x: Any, tracked: bool) -> Any:
    """An argument with PyTorch's tensors as ours."""
    if isinstance(x, torch.Tensor):
        made = ours.tensor(x.detach().resolve_conj().resolve_neg().numpy().copy())
        if tracked and x.requires_grad:
            made.requires_grad_(True)
        return made
    if isinstance(x, torch.dtype):
        return getattr(ours, str(x).removeprefix("torch."))
    if isinstance(x, torch.device):
        return ours.device("cpu")
    if isinstance(x, torch.Size):
        return ours.Size(x)
    if isinstance(x, torch.memory_format):
        return None
    if isinstance(x, torch.layout):
        return ours.strided if x is torch.strided else str(x)
    if isinstance(x, types.FunctionType):
        return moved(x) or x
    if isinstance(x, torch.nn.PairwiseDistance):
        return ours.nn.PairwiseDistance(x.norm, x.eps, x.keepdim)
    if isinstance(x, dict):
        return {k: given(v, tracked) for k, v in x.items()}
    if type(x) in (list, tuple):
        return type(x)(given(v, tracked) for v in x)
    return swapped(x)


def tensors_in(x: Any, kind: Any) -> list[Any]:
    if isinstance(x, kind):
        return [x]
    if isinstance(x, dict):
        return [t for v in x.values() for t in tensors_in(v, kind)]
    if isinstance(x, (list, tuple)):
        return [t for v in x for t in tensors_in(v, kind)]
    return []


def array(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return x.detach().resolve_conj().resolve_neg().numpy(force=True)
    return x.detach().numpy()


def compare(there: Any, here: Any, what: str, scale: float = 1.0) -> str:
    """How two results differ; empty if they don't."""
    if isinstance(there, torch.Tensor):
        if not isinstance(here, ours.Tensor):
            return f"{what}: a {type(here).__name__} in place of a tensor"
        a, b = array(there), array(here)
        if str(there.dtype) != f"torch.{here.dtype.name}":
            return f"{what}: dtype {here.dtype.name}, there {there.dtype}"
        if a.shape != b.shape:
            return f"{what}: shape {b.shape}, there {a.shape}"
        loose = (3e-4 if a.dtype in (np.float32, np.complex64) else 1e-7) * scale
        if a.dtype.kind in "fc":
            if not np.allclose(a, b, rtol=loose, atol=loose, equal_nan=True):
                return f"{what}: {flat(b)} there {flat(a)}"
        elif not np.array_equal(a, b):
            return f"{what}: {flat(b)} there {flat(a)}"
        return ""
    if isinstance(there, (tuple, list)) and isinstance(here, (tuple, list)):
        if len(there) != len(here):
            return f"{what}: {len(here)} results, there {len(there)}"
        for i, (a, b) in enumerate(zip(there, here, strict=False)):
            difference = compare(a, b, f"{what}[{i}]", scale)
            if difference:
                return difference
        return ""
    if isinstance(there, float) and isinstance(here, float):
        return "" if np.isclose(there, here, rtol=1e-5, equal_nan=True) else f"{what}: {here}, there {there}"
    if isinstance(there, torch.dtype):
        return "" if str(there) == f"torch.{here.name}" else f"{what}: {here}, there {there}"
    return "" if there == here else f"{what}: {here!r:.40}, there {there!r:.40}"


def flat(a: Any) -> str:
    return np.array2string(a.reshape(-1)[:4], precision=4).replace("\n", " ")


def difference_of_results(out: Any) -> list[Any]:
    return [t for t in tensors_in(out, torch.Tensor) if t.requires_grad]


def run(op: Any, dtypes: Any = DTYPES, most: int = MOST) -> Report:
    """Compare one operator."""
    report = Report(name_of(op))
    if op.name in SKIPPED:
        report.skipped = SKIPPED[op.name]
        return report
    f = our_function(op)
    if f is None:
        report.problems.append("missing")
        return report
    for dtype in dtypes:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        torch.manual_seed(0)
        try:
            samples = list(
                op.sample_inputs("cpu", dtype, requires_grad=op.supports_autograd and dtype.is_floating_point)
            )
        except Exception:
            continue
        for sample in samples[:: max(1, -(-len(samples) // most))]:
            try:
                one(op, f, sample, dtype, report)
            except Exception as error:
                report.problems.append(f"{shapes(sample)}: {type(error).__name__}: {str(error)[:140]}")
    if op.error_inputs_func is not None and op.name not in RANDOM:
        errors(op, f, report)
    return report


def one(op: Any, f: Any, sample: Any, dtype: Any, report: Report) -> None:
    """Compare one call."""
    if sample.kwargs.get("dropout_p"):
        return  # random
    label = f"{str(dtype).removeprefix('torch.')} {shapes(sample)}"
    try:
        mine = given((sample.input, sample.args, sample.kwargs), True)
        there = op.op(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        return
    leaves = [t for t in tensors_in((sample.input, sample.args, sample.kwargs), torch.Tensor) if t.requires_grad]
    own = [t for t in tensors_in(mine, ours.Tensor) if t.requires_grad]
    try:
        here = f(mine[0], *mine[1], **mine[2])
    except Exception as error:
        report.problems.append(f"{label}: {type(error).__name__}: {str(error)[:140]}")
        return
    try:
        if sample.output_process_fn_grad is not None and op.supports_autograd:
            there, here = sample.output_process_fn_grad(there), sample.output_process_fn_grad(here)
    except Exception:
        pass
    if op.name in TIES and isinstance(there, tuple):
        there, here = there[:1], here[:1]  # which of equal elements is named is not said
    elif op.name in ("argsort", "sort") and dtype in (torch.bool, torch.int64):
        there, here = torch.zeros(()), ours.zeros(())
    if op.name in RANDOM or op.name in UNSET:
        difference = compare_shapes(there, here)
    else:
        difference = compare(there, here, label)
    report.values += 1
    if difference:
        report.problems.append(difference)
        return
    if op.name in RANDOM or not leaves or dtype is not torch.float64:
        return
    try:
        differentiated(op, there, here, leaves, own, label, report)
    except Exception as error:
        report.problems.append(f"{label} gradient: {type(error).__name__}: {str(error)[:140]}")


def compare_shapes(there: Any, here: Any) -> str:
    a, b = tensors_in(there, torch.Tensor), tensors_in(here, ours.Tensor)
    if [tuple(t.shape) for t in a] != [tuple(t.shape) for t in b]:
        return f"shapes {[tuple(t.shape) for t in b]}, there {[tuple(t.shape) for t in a]}"
    return "" if [str(t.dtype) for t in a] == [f"torch.{t.dtype.name}" for t in b] else "dtypes differ"


def weighted(outs: list[Any], lib: Any, seed: int = 0) -> Any:
    """A number of some results: their sum with fixed weights."""
    rng = np.random.default_rng(seed)
    total = None
    for t in outs:
        weights = rng.uniform(0.5, 1.5, tuple(t.shape))
        w = torch.tensor(weights) if lib is torch else ours.tensor(weights)
        part = t.real if "complex" in str(t.dtype) else t
        term = (part * w.to(part.dtype)).sum()
        total = term if total is None else total + term
    return total


def differentiated(
    op: Any, there: Any, here: Any, leaves: list[Any], own: list[Any], label: str, report: Report
) -> None:
    outs = [t for t in tensors_in(there, torch.Tensor) if t.requires_grad]
    places = [i for i, t in enumerate(tensors_in(there, torch.Tensor)) if t.requires_grad]
    mine = [tensors_in(here, ours.Tensor)[i] for i in places]
    if not outs:
        return
    first = torch.autograd.grad(weighted(outs, torch), leaves, create_graph=True, allow_unused=True)
    if not any(t.requires_grad for t in mine):
        if any(g is not None and bool((g.abs() > 1e-12).any()) for g in first):
            report.problems.append(f"{label} gradient: not differentiated")
        return
    second = ours.autograd.grad(weighted(list(mine), ours), own, create_graph=True, allow_unused=True)
    report.gradients += 1
    for i, (a, b) in enumerate(zip(first, second, strict=False)):
        difference = compare_gradients(a, b, f"{label} gradient {i}")
        if difference:
            report.problems.append(difference)
            return
    if report.seconds >= SECOND or not op.supports_gradgrad:
        return
    try:
        outer = [t for t in first if t is not None and t.requires_grad]
        if not outer:
            return
        expected = torch.autograd.grad(weighted(outer, torch, 1), leaves, allow_unused=True)
    except (RuntimeError, NotImplementedError):
        return
    inner = [b for a, b in zip(first, second, strict=False) if a is not None and a.requires_grad]
    tracked = [b for b in inner if b is not None and b.requires_grad]
    if not tracked:
        if any(g is not None and bool((g.abs() > 1e-9).any()) for g in expected):
            report.problems.append(f"{label} second derivative: none")
        return
    rng_inner = [ours.zeros_like(own[0]) if b is None else b for b in inner]
    found = ours.autograd.grad(weighted(rng_inner, ours, 1), own, allow_unused=True)
    report.seconds += 1
    for i, (a, b) in enumerate(zip(expected, found, strict=False)):
        difference = compare_gradients(a, b, f"{label} second derivative {i}")
        if difference:
            report.problems.append(difference)
            return


def compare_gradients(a: Any, b: Any, what: str) -> str:
    if a is None and b is None:
        return ""
    a = torch.zeros_like(torch.as_tensor(array(b))) if a is None else a
    b = ours.zeros(tuple(a.shape), dtype=getattr(ours, str(a.dtype).removeprefix("torch."))) if b is None else b
    return compare(a, b, what, 100.0)


def kind_of(problem: str) -> str:
    """What sort of problem it is: a result that differs, a call that raises here, or one that must raise and doesn't."""
    if problem == "missing":
        return "missing"
    if problem.startswith("must raise"):
        return "permitted"
    return (
        "raises"
        if re.search(r"[a-z]: \w*(Error|Warning): ", problem) or re.search(r": (\w+Error): ", problem)
        else "differs"
    )


def shapes(sample: Any) -> str:
    def shown(x: Any) -> str:
        if isinstance(x, torch.Tensor):
            return str(tuple(x.shape))
        if isinstance(x, (tuple, list)):
            return "[" + ",".join(map(shown, x)) + "]"
        return str(x)[:30]

    return " ".join(
        [shown(sample.input), *map(shown, sample.args), *(f"{k}={shown(v)}" for k, v in sample.kwargs.items())]
    )


def errors(op: Any, f: Any, report: Report) -> None:
    """Calls that must raise."""
    try:
        wrong = list(op.error_inputs("cpu"))
    except Exception:
        return
    for case in wrong:
        sample = case.sample_input
        try:
            op.op(sample.input, *sample.args, **sample.kwargs)
            continue  # it doesn't raise on this machine
        except Exception:
            pass
        try:
            mine = given((sample.input, sample.args, sample.kwargs), False)
        except Exception:
            continue
        report.errors += 1
        try:
            out = f(mine[0], *mine[1], **mine[2])
            for t in tensors_in(out, ours.Tensor):
                t.detach().numpy()
        except Exception:
            continue
        report.problems.append(f"must raise: {shapes(sample)} ({case.error_regex[:60]})")


def main() -> None:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    wanted = sys.argv[1:]
    total = collections.Counter()
    for op in op_db:
        if wanted and not any(w == name_of(op) or w == op.name for w in wanted):
            continue
        report = run(op)
        total["entries"] += 1
        total["skipped"] += bool(report.skipped)
        total["same"] += not report.problems and not report.skipped
        for key in ("values", "gradients", "seconds", "errors"):
            total[key] += getattr(report, key)
        kinds = {kind_of(p) for p in report.problems}
        total["differs"] += "differs" in kinds
        total["raises"] += bool(kinds & {"raises", "missing"}) and "differs" not in kinds
        total["permits"] += kinds == {"permitted"}
        total["permitted calls"] += sum(kind_of(p) == "permitted" for p in report.problems)
        if "differs" in kinds and report.name not in DIFFERS:
            print("NOT EXPLAINED:", report.name)
        if report.problems:
            print(f"{report.name}: {len(report.problems)} of {report.values}+{report.gradients}+{report.errors}")
            for p in report.problems[: 30 if wanted else 2]:
                print("    ", p.replace("\n", " ")[:230])
    print(dict(total))


if __name__ == "__main__":
    main()
