"""The arguments of `adjoint.torch`'s functions and classes against those of PyTorch's.

Every argument that PyTorch's has is taken with the same place and default, or refused by an error that names it; and none is
taken and then never read, but for those whose meaning can't change a result.
"""

from __future__ import annotations

import ast
import dis
import importlib
import inspect
import os
import types
import warnings
from pathlib import Path

import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
for _name in ("distributions", "optim.swa_utils", "utils.checkpoint", "utils.data", "signal.windows"):
    importlib.import_module(f"torch.{_name}")
    ours = importlib.import_module(f"adjoint.torch.{_name}")
ours = importlib.import_module("adjoint.torch")

SPACES = """torch Tensor nn nn.functional nn.init nn.utils nn.utils.rnn nn.utils.parametrizations optim optim.lr_scheduler
optim.swa_utils utils.data utils.checkpoint autograd autograd.functional func linalg fft special distributions
signal.windows""".split()

# taken, and never read: why that changes no result (docs/from/torch.md has the same table)
WITHOUT_EFFECT = {
    "where elements lie in memory": """memory_format pin_memory non_blocking stride physical_layout force device
        device_ids output_device""",
    "what computes it, or how": """compute_mode foreach cudnn_enabled cudnn_enable dynamic mode options chunk_size
        _preallocate_and_copy vectorize outer_jacobian_strategy use_reentrant preserve_rng_state determinism_check early_stop
        prefetch_factor persistent_workers in_order enable_nested_tensor mask_check volatile cache_enabled _stacklevel
        num precision fast_mode gen_non_contig_grad_outputs
        check_undefined_grad check_grad_dtypes warn_only check_nan""",
    "it is always so": "retain_graph stable sorted",
    "how a file is written or read": """pickle_module pickle_protocol mmap encoding _use_new_zipfile_serialization
        _disable_byteorder_record""",
}
HARMLESS = {name for names in WITHOUT_EFFECT.values() for name in names.split()}
READ_ELSEWHERE = {
    "inplace",
    "input",
}  # by what calls the core's function; and the tensor whose dtype alone could matter

# arguments of PyTorch's that are refused by name
REFUSED = {
    "torch": {
        "addmm": "out_dtype", "baddbmm": "out_dtype", "bmm": "out_dtype", "mm": "out_dtype", "full": "names",
        "compile": "name recompile_limit isolate_recompiles shapes_spec", "isin": "test_element", "stft": "align_to_window",
        "Generator": "seed", "expand_copy": "implicit out", "hardshrink": "out", "threshold": "out", "slice_scatter": "out",
        "result_type": "scalar2", **dict.fromkeys(
            """alias_copy as_strided_copy detach_copy diagonal_copy narrow_copy permute_copy select_copy split_with_sizes_copy
            squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy view_copy""".split(), "out"),
    },
    "Tensor": {"expand": "implicit", "map_": "callable", "map2_": "callable y", "new": "other storage",
               "stft": "align_to_window"},
    "nn": {"Hardtanh": "min_value max_value"},
    "nn.functional": {"hardshrink": "out", "rrelu_": "generator"},
}  # fmt: skip
# other places of arguments: those that PyTorch has under several names have one place here
OTHER_ORDER = {
    "torch": "dsplit hsplit vsplit tensor_split split_with_sizes unsafe_split unsafe_split_with_sizes split_with_sizes_copy "
             "view_copy",
    "nn.functional": "fractional_max_pool2d fractional_max_pool3d",  # the stub is that of what they call
    "Tensor": "split split_with_sizes tensor_split unsafe_split unsafe_split_with_sizes polygamma polygamma_",
}  # fmt: skip
# other defaults that mean the same
OTHER_DEFAULTS = {
    "device generator layout memory_format dtype context_fn pickle_module pickle_protocol": "None is the one there is",
    "unbiased": "None is N - 1, as `correction` says",
    "stride dims dim size activation event_shape requires_grad spacing pin_memory "
    "batch_shape stable compute_mode backend encoding": "another way to write it",
    "align_corners recompute_scale_factor indexing padding_idx": "None warns and means this",
    "gumbel_softmax.eps": "nothing reads it",
    "reduction": "where PyTorch 2.13 takes 0 though its stub says 1 (see _natives)",
    "cudnn_enabled cudnn_enable": "what computes it",
}
SAME_MEANING = {name for names in OTHER_DEFAULTS for name in names.split()}


def _stubs(path, inside=None):
    found = {}

    def visit(body, wanted):
        for item in body:
            if isinstance(item, ast.FunctionDef) and wanted:
                found.setdefault(item.name, []).append(_of_stub(item.args))
            elif isinstance(item, ast.ClassDef) and item.name == inside:
                visit(item.body, True)
            elif isinstance(item, ast.If):
                visit(item.body, wanted)

    visit(ast.parse(Path(path).read_text()).body, inside is None)
    return found


def _of_stub(arguments):
    places = arguments.posonlyargs + arguments.args
    missing = len(places) - len(arguments.defaults)
    found = {}
    for i, a in enumerate(places):
        found[a.arg] = ("place", ast.unparse(arguments.defaults[i - missing]) if i >= missing else None)
    for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[a.arg] = ("name", None if d is None else ast.unparse(d))
    found.pop("self", None)
    return found


HERE = os.path.dirname(torch.__file__)
OF_TORCH = _stubs(f"{HERE}/_C/_VariableFunctions.pyi")
OF_TENSOR = _stubs(f"{HERE}/_C/__init__.pyi", "TensorBase")
OF_NN = _stubs(f"{HERE}/_C/_nn.pyi")


def _schemas(name):
    made = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        arguments = [a for a in schema.arguments if a.alias_info is None or not a.alias_info.is_write]
        own = {}
        for a in arguments:
            default = repr(a.default_value) if a.has_default_value() else None
            own["input" if a.name == "self" else a.name] = ("name" if a.kwarg_only else "place", default)
        made.append(own)
    return made or None


def _signature(f):
    try:
        parameters = inspect.signature(f).parameters.values()
    except (ValueError, TypeError):
        return None
    return {
        p.name: ("name" if p.kind is p.KEYWORD_ONLY else "place", None if p.default is p.empty else repr(p.default))
        for p in parameters
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }


def _theirs(space, name, f):
    """The arguments that PyTorch's takes: a dictionary for each overload; None where nothing says."""
    if space in ("linalg", "fft", "special"):
        return _schemas(f"{space}_{name}")
    table = {"torch": OF_TORCH, "Tensor": OF_TENSOR}.get(space, {})
    if name in table:
        return table[name]
    found = _signature(f)
    if found is not None and (found or space != "nn.functional"):
        if space == "Tensor":
            found.pop("self", None)
        return [found]
    return OF_NN.get(name) or OF_TORCH.get(name) or _schemas(name)


def _get(root, space):
    for part in space.split(".") if space != "torch" else ():
        root = getattr(root, part)
    return root


def _names():
    for space in SPACES:
        mine, theirs = _get(ours, space), _get(torch, space)
        for name in sorted(dir(mine)):
            if name.startswith("_") or not hasattr(theirs, name):
                continue
            try:
                f, g = getattr(mine, name), getattr(theirs, name)
            except AttributeError:  # a hint, where the core has none
                continue
            if not callable(f) or not callable(g) or isinstance(f, types.ModuleType):
                continue
            if (
                (getattr(f, "__module__", "") or "").split(".")[0] != "adjoint"
                or name == "cuda"
                or (space != "torch" and name in ("cast", "enable_grad"))
            ):
                continue
            yield space, name, f, g


def _own(space, f):
    found = _signature(f)
    if found is not None and space == "Tensor":
        found = dict(list(found.items())[1:])
    return found


def _unread(f):
    """The arguments that a function's code never looks at."""
    inside = [f.__init__] if isinstance(f, type) else [f]
    if isinstance(f, type):
        inside += [vars(k)["__init__"] for k in f.__mro__[1:4] if "__init__" in vars(k)]
    found = set()
    for g in inside:
        code = getattr(inspect.unwrap(g), "__code__", None)
        if code is None or (isinstance(f, type) and "__new__" in vars(f)):
            continue
        read, stack = set(), [code]
        while stack:
            at = stack.pop()
            for step in dis.get_instructions(at):
                if step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
                    read.update(step.argval if isinstance(step.argval, tuple) else [step.argval])
            stack += [c for c in at.co_consts if isinstance(c, types.CodeType)]
        found |= set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) - read - {"self"}
    return found


ALL = list(_names())


def test_there_are_many():
    assert len(ALL) > 1400, len(ALL)


def test_no_argument_is_taken_and_ignored():
    found = {f"{space}.{name}": _unread(f) - HARMLESS - READ_ELSEWHERE for space, name, f, _ in ALL}
    refusing = {"torch.embedding_bag"}  # it raises, whatever is given
    assert not {k: v for k, v in found.items() if v and k not in refusing}


def test_what_has_no_effect_is_in_the_documents():
    text = (Path(__file__).parents[2] / "docs" / "from" / "torch.md").read_text()
    assert not [name for name in HARMLESS if not name.startswith("_") and f"`{name}" not in text]


def _missing():
    for space, name, f, g in ALL:
        theirs, mine = _theirs(space, name, g), _own(space, f)
        if theirs is None or mine is None:
            continue
        aliases = set(getattr(f, "aliases", ()))
        lost = []
        for overload in theirs:
            first = next(iter(overload), None)
            lost += [
                k
                for k in overload
                if k not in mine and k not in aliases and not (k == first and overload[k][0] == "place")
            ]
        if lost:
            yield space, name, f, sorted(set(lost))


def test_what_is_refused_is_known():
    found: dict[str, dict[str, list[str]]] = {}
    for space, name, _, lost in _missing():
        found.setdefault(space, {})[name] = lost
    known = {space: {n: sorted(v.split()) for n, v in table.items()} for space, table in REFUSED.items()}
    assert found == known


@pytest.mark.parametrize(("space", "name"), [(s, n) for s, table in REFUSED.items() for n in table])
def test_what_is_refused_raises_with_its_name(space, name):
    f = getattr(_get(ours, space), name)
    for argument in REFUSED[space][name].split():
        said = []
        for places in ([], [ours.ones(2, 2)], [ours.ones(2, 2)] * 2, [ours.ones(2, 2)] * 3, [(2,), 1.0]):
            with pytest.raises(Exception) as caught, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                f(*places, **{argument: ours.ones(2, 2)})
            said.append(str(caught.value))
        assert any(argument in message for message in said), said


def test_places_are_the_same():
    wrong = {}
    for space, name, f, g in ALL:
        theirs, mine = _theirs(space, name, g), _own(space, f)
        if (
            theirs is None
            or mine is None
            or name in OTHER_ORDER.get(space, "").split()
            or (inspect.isclass(g) and space == "torch")
        ):
            continue
        if any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(f).parameters.values()):
            continue  # sizes, tensors: they take any number of places
        places = [k for k, v in mine.items() if v[0] == "place"]
        aliases = {(v, k) for k, v in getattr(f, "aliases", {}).items()}
        agree = []
        for overload in theirs:
            there = [k for k, v in overload.items() if v[0] == "place"]
            both = list(zip(places, there, strict=False))
            agree.append(all(i == 0 or a == b or (a, b) in aliases for i, (a, b) in enumerate(both)))
        if not any(agree):
            wrong[f"{space}.{name}"] = (places, theirs)
    assert not wrong


def _value(text):
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return list(found) if isinstance(found, (tuple, list)) else found


def test_defaults_are_the_same():
    wrong = {}
    for space, name, f, g in ALL:
        theirs, mine = _theirs(space, name, g), _own(space, f)
        if theirs is None or mine is None:
            continue
        for key, (_, default) in mine.items():
            given = [o[key][1] for o in theirs if key in o and o[key][1] is not None]
            if default is None or not given or {key, f"{name}.{key}"} & SAME_MEANING or all(d == "..." for d in given):
                continue
            if _value(default) not in [_value(d) for d in given] and default[:1] != "<":
                wrong[f"{space}.{name}"] = (key, default, given)
    assert not wrong


def test_optimizers_refuse_to_be_differentiated_through():
    p = ours.nn.Parameter(ours.ones(2))
    for name in ours.optim.NAMES:
        kind = getattr(ours.optim, name)
        if "differentiable" in inspect.signature(kind).parameters:
            with pytest.raises(TypeError, match="differentiable"):
                kind([p], lr=0.1, differentiable=True)
        for argument in ("foreach", "fused", "capturable"):
            if argument in inspect.signature(kind).parameters:
                kind([p], lr=0.1, **{argument: True})
