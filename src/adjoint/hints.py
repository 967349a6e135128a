"""What to write here for a name that NumPy, PyTorch or JAX has: one table, looked into only where a name wasn't found.

Modules say it from their `__getattr__`. A tensor has an `Elsewhere` for each such name instead: see `tensors.elsewhere`. What has
no row is looked for by rules: in place, in `ad` itself, in another namespace, in `adjoint.torch`, in NumPy.

A row says what to write instead, as code that runs (`x`, `y` are arrays of shape (2, 3), `i` integers, `model` and
`optimizer` what they are called), and after a `#` what else there is to know; a row that starts with `#` has no code. The
tests run every row. `{}` in a row of keywords stands for the function that was called.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy

from adjoint import hints_of_torch

__all__ = ["KEYWORDS", "NAMES", "attribute_error", "hint", "hinted_module", "keyword_error", "split_row"]

PYTORCHS = " (or use adjoint.torch, which has PyTorch's names)"
CPU = "# adjoint computes on the CPU, so there is nothing to move: leave it out"
VALUES = "# tensors are values: nothing that shares memory with them can be written to"

TENSOR: dict[str, str] = {
    # PyTorch: shapes
    "view": "x.reshape(3, 2)",
    "view_as": "x.reshape(y.shape)",
    "reshape_as": "x.reshape(y.shape)",
    "unsqueeze": "ad.expand_dims(x, axis=0)",
    "permute": "x.permute_dims(1, 0)",
    "t": "x.T",
    "dim": "x.ndim",
    "ndimension": "x.ndim",
    "numel": "x.size",
    "nelement": "x.size",
    "expand": "x.broadcast_to((4, 2, 3))",
    "expand_as": "x.broadcast_to(y.shape)",
    "repeat_interleave": "x.repeat(2, axis=0)",
    "chunk": "x.split(2)  # into as many equal parts",
    "tensor_split": "x.split([1])",
    "unbind": "x.unstack(axis=0)",
    "contiguous": "x  # it always is",
    "narrow": "x[:, 0:2]",
    "select": "x[:, 0]",
    "swapdims": "x.swapaxes(0, 1)",
    "movedim": "x.moveaxis(0, 1)",
    "adjoint": "ad.conj(x).mT",
    "unflatten": "x.reshape(2, 3, 1)",
    "is_contiguous": "True",
    "stride": VALUES,
    "storage": VALUES,
    "data_ptr": VALUES,
    "untyped_storage": VALUES,
    # PyTorch: dtypes and devices
    "float": 'x.astype("float32")',
    "double": 'x.astype("float64")',
    "long": 'x.astype("int64")',
    "int": 'x.astype("int32")',
    "bool": 'x.astype("bool")',
    "half": 'x.astype("float16")',
    "bfloat16": 'x.astype("bfloat16")',
    "to": 'x.astype("float64")  # there is one device, the CPU',
    "type": 'x.astype("float64")',
    "type_as": "x.astype(y.dtype)",
    "cpu": "x  # it is there",
    "cuda": CPU,
    "is_cuda": "False",
    "get_device": CPU,
    "pin_memory": CPU,
    "is_floating_point": 'x.dtype.kind == "f"',
    "is_complex": 'x.dtype.kind == "c"',
    "element_size": "x.dtype.itemsize",
    # PyTorch: arithmetic
    "add": "x + y",
    "sub": "x - y",
    "subtract": "x - y",
    "mul": "x * y",
    "multiply": "x * y",
    "div": "x / y",
    "divide": "x / y",
    "true_divide": "x / y",
    "pow": "x**2",
    "neg": "-x",
    "mm": "x @ y.mT",
    "bmm": "x @ y.mT",
    "mv": "x @ y[0]",
    "addmm": "1.0 + x @ y.mT",
    "floor_divide": "x // y",
    "remainder": "x % y",
    "fmod": "ad.copysign(abs(x) % abs(y), x)",
    "clamp": "x.clip(0.0, 1.0)",
    "clamp_min": "x.clip(min=0.0)",
    "clamp_max": "x.clip(max=1.0)",
    "rsqrt": "1 / ad.sqrt(x)",
    "lerp": "x + 0.5 * (y - x)",
    "logical_and": "ad.logical_and(x, y)",
    "logical_or": "ad.logical_or(x, y)",
    "absolute": "abs(x)",
    "eq": "x == y",
    "ne": "x != y",
    "lt": "x < y",
    "le": "x <= y",
    "gt": "x > y",
    "ge": "x >= y",
    "equal": "bool((x == y).all())",
    "allclose": "bool((abs(x - y) <= 1e-8 + 1e-5 * abs(y)).all())",
    "isclose": "abs(x - y) <= 1e-8 + 1e-5 * abs(y)",
    "arctan": "ad.atan(x)",
    "arcsin": "ad.asin(x)",
    "arccos": "ad.acos(x)",
    "frac": "x - ad.trunc(x)",
    "amax": "x.max(axis=1)",
    "amin": "x.min(axis=1)",
    "nansum": "ad.where(ad.isnan(x), 0.0, x).sum()",
    "values": "x.max(axis=1)  # max, min and sort give the values alone",
    "indices": "x.argmax(axis=1)  # max and sort give the values alone; argmax and argsort the indices",
    "topk": "ad.sort(x, descending=True)[:, :2]  # ad.argsort(...) for the indices",
    # PyTorch: indexing
    "gather": "ad.take_along_axis(x, i, axis=1)",
    "index_select": "ad.take(x, i[0], axis=1)",
    "masked_fill": "ad.where(x > 0, 0.0, x)",
    "masked_select": "x[x > 0]",
    "scatter_add": "ad.scatter_add(x, i[0], y, axis=1)",
    "index_add": "ad.scatter_add(x, i[0], y, axis=1)",
    "scatter": "# x[rows, columns] = values writes at positions",
    "argwhere": "ad.stack(x.nonzero(), axis=1)",
    # PyTorch: making and gradients
    "new_zeros": "ad.zeros((2, 3), dtype=x.dtype)",
    "new_ones": "ad.ones((2, 3), dtype=x.dtype)",
    "new_full": "ad.full((2, 3), 1.0, dtype=x.dtype)",
    "new_tensor": "ad.tensor([1.0], dtype=x.dtype)",
    "detach_": "x.detach()",
    "grad_fn": "x.creator",
    "share_memory_": VALUES,
}
FROM_PYTORCH = frozenset(TENSOR)
TENSOR |= {
    # NumPy
    "ptp": "x.max() - x.min()",
    "strides": VALUES,
    "flags": VALUES,
    "base": VALUES,
    "flat": "x.flatten()",
    "tobytes": "x.numpy().tobytes()",
    "tofile": 'ad.save("x.safetensors", {"x": x})',
    "putmask": "ad.where(x > 0, 0.0, x)",
    "resize": "x.reshape(3, 2)",
    # JAX
    "at": "# x[0] = v is allowed: it rebinds the name x, differentiates right, and changes no other tensor",
    "block_until_ready": "ad.evaluate(x)  # x.item() and x.numpy() evaluate too",
    "device_buffer": CPU,
    "weak_type": "# Python numbers never widen an array",
}

MODULE: dict[str, str] = {
    # NumPy
    "array": "ad.tensor([1.0, 2.0])",
    "ndarray": "ad.Tensor",
    "asanyarray": "ad.asarray([1.0])",
    "ascontiguousarray": "ad.asarray([1.0])",
    "concatenate": "ad.concat([x, y])",
    "mgrid": "ad.meshgrid(ad.arange(2), ad.arange(3))",
    "ogrid": "ad.meshgrid(ad.arange(2), ad.arange(3))",
    "frompyfunc": "ad.vectorize(lambda v: v + 1.0)(x)",
    "row_stack": "ad.concat([x, y], axis=0)",
    "transpose": "ad.permute_dims(x, (1, 0))",
    "arcsin": "ad.asin(x)",
    "arccos": "ad.acos(x)",
    "arctan": "ad.atan(x)",
    "arctan2": "ad.atan2(x, y)",
    "arcsinh": "ad.asinh(x)",
    "arccosh": "ad.acosh(x)",
    "arctanh": "ad.atanh(x)",
    "absolute": "ad.abs(x)",
    "fabs": "ad.abs(x)",
    "mod": "ad.remainder(x, y)",
    "fmod": "ad.copysign(abs(x) % abs(y), x)",
    "rint": "ad.round(x)",
    "fix": "ad.trunc(x)",
    "around": "ad.round(x)",
    "true_divide": "ad.divide(x, y)",
    "amax": "ad.max(x, axis=0)",
    "amin": "ad.min(x, axis=0)",
    "identity": "ad.eye(3)",
    "conjugate": "ad.conj(x)",
    "invert": "ad.bitwise_invert(i)",
    "bitwise_not": "ad.bitwise_invert(i)",
    "left_shift": "ad.bitwise_left_shift(i, 1)",
    "right_shift": "ad.bitwise_right_shift(i, 1)",
    "float_power": "ad.power(x, 2.0)",
    "deg2rad": "x * (ad.pi / 180)",
    "rad2deg": "x * (180 / ad.pi)",
    "radians": "x * (ad.pi / 180)",
    "degrees": "x * (180 / ad.pi)",
    "exp2": "2.0**x",
    "logspace": "10.0 ** ad.linspace(0.0, 2.0, 5)",
    "geomspace": "ad.exp(ad.linspace(0.0, 2.0, 5))",
    "argwhere": "ad.stack(ad.nonzero(x), axis=1)",
    "flatnonzero": "ad.nonzero(ad.flatten(x))[0]",
    "rollaxis": "ad.moveaxis(x, 1, 0)",
    "copy": "x.clone()",
    "shape": "x.shape",
    "ndim": "x.ndim",
    "size": "x.size",
    "errstate": "# special values pass without warnings; ad.explain_nan(y) says where one was made",
    # PyTorch
    "cat": "ad.concat([x, y])",
    "as_tensor": "ad.asarray([1.0])",
    "from_numpy": "ad.tensor(np.ones(3))",
    "rand": "ad.random.uniform((2, 3))",
    "randn": "ad.random.normal((2, 3))",
    "randint": "ad.random.integers(0, 10, (2, 3))",
    "randperm": "ad.random.permutation(5)",
    "rand_like": "ad.random.uniform(x.shape)",
    "randn_like": "ad.random.normal(x.shape)",
    "manual_seed": "ad.random.seed(0)",
    "seed": "ad.random.seed(0)",
    "bernoulli": "ad.random.bernoulli(0.5, (2, 3))",
    "normal": "ad.random.normal((2, 3))",
    "Generator": "ad.random.Generator(0)",
    "clamp": "ad.clip(x, 0.0, 1.0)",
    "mul": "ad.multiply(x, y)",
    "sub": "ad.subtract(x, y)",
    "div": "ad.divide(x, y)",
    "neg": "ad.negative(x)",
    "mm": "ad.matmul(x, y.mT)",
    "bmm": "ad.matmul(x, y.mT)",
    "mv": "ad.matmul(x, y[0])",
    "addmm": "1.0 + x @ y.mT",
    "unsqueeze": "ad.expand_dims(x, axis=0)",
    "permute": "ad.permute_dims(x, (1, 0))",
    "t": "x.T",
    "numel": "x.size",
    "chunk": "ad.split(x, 2)  # into as many equal parts",
    "tensor_split": "ad.split(x, [1])",
    "unbind": "ad.unstack(x, axis=0)",
    "gather": "ad.take_along_axis(x, i, axis=1)",
    "index_select": "ad.take(x, i[0], axis=1)",
    "masked_select": "x[x > 0]",
    "repeat_interleave": "ad.repeat(x, 2, axis=0)",
    "eq": "ad.equal(x, y)",
    "ne": "ad.not_equal(x, y)",
    "lt": "ad.less(x, y)",
    "le": "ad.less_equal(x, y)",
    "gt": "ad.greater(x, y)",
    "ge": "ad.greater_equal(x, y)",
    "ger": "ad.outer(x[0], y[0])",
    "addcmul": "x + 0.5 * x * y",
    "addcdiv": "x + 0.5 * x / y",
    "is_tensor": "isinstance(x, ad.Tensor)",
    "set_grad_enabled": "ad.no_grad()  # or ad.enable_grad()",
    "inference_mode": "ad.no_grad()",
    "autograd": "ad.gradients(model(x).sum(), [*model.parameters()])  # autograd.Function is ad.Function",
    "func": "ad.vmap(ad.grad(lambda v: (v**2).sum()))(x)  # ad.vjp, ad.jacrev and the others too",
    "compile": "ad.jit(model)",
    "device": CPU,
    "cuda": CPU,
    "get_device": CPU,
    "float": "ad.float32",
    "double": "ad.float64",
    "long": "ad.int64",
    "int": "ad.int32",
    "half": "ad.float16",
    "FloatTensor": "ad.tensor([1.0])",
    "LongTensor": "ad.tensor([1, 2])",
    "DoubleTensor": 'ad.tensor([1.0], dtype="float64")',
    "utils": "# DataLoader is in ad.data, clip_grad_norm_ in ad.nn.utils",
    "distributions": "ad.stats.Normal(0.0, 1.0).log_prob(x)  # distributions stand in ad.stats",
    "derivative": "ad.grad(lambda t: (t**3).sum())(x)",
    "to_numpy": "x.numpy()",
    "backward": "ad.variable(2.0).backward()  # of a tensor: loss.backward()",
    "gradient": "ad.grad(lambda t: (t**3).sum())(x)  # of a function; of a sampled curve ad.numpy.gradient",
    "dtype": "ad.DType",
    "set_printoptions": "np.set_printoptions()",
    "set_default_device": CPU,
    "Size": "x.shape  # a tuple",
    # JAX
    "Array": "ad.Tensor",
    "lax": "ad.cond(x.sum() > 0, ad.sin, ad.cos, x)  # jax.lax's names stand in ad itself: scan, while_loop, switch, ...",
    "jnp": "ad.numpy  # NumPy's functions under their own names; in ad itself the Array API standard's",
    "tree_map": "ad.tree.map(lambda v: v * 2, {'w': x})",
    "tree_util": "ad.tree.map(lambda v: v * 2, {'w': x})  # ad.tree has flatten and register, too",
    "tree_flatten": "ad.tree.flatten({'w': x})",
    "remat": "ad.checkpoint(ad.sin)(x)",
    "device_put": CPU,
    "device_get": "x.numpy()",
    "devices": CPU,
    "pmap": CPU + "; ad.vmap maps over an axis",
    "block_until_ready": "ad.evaluate(x)",
    "make_jaxpr": 'ad.draw(ad.sin(ad.variable(1.0)), format="txt")',
    "disable_jit": "# leave ad.jit out",
    "eval_shape": "ad.sin(x).shape  # known at once, nothing is computed",
    "PRNGKey": "ad.random.Generator(0)",
    "config": 'ad.set_default_dtype("float32")  # "float64" is what jax_enable_x64 is for',
    "linear_transpose": "ad.vjp(lambda v: 2.0 * v, x)[1]",
    "named_call": "# scopes are recorded by themselves",
    "elementwise_grad": "ad.grad(lambda v: ad.sin(v).sum())(x)",
    "jax": "ad.jit(ad.sin)(x)  # jax's transformations stand in ad itself",
    "enable_x64": 'ad.set_default_dtype("float32")  # "float64" is what jax_enable_x64 is for',
    "multigrad_dict": "ad.grad(lambda w: (w['a'] * w['b']).sum())({'a': x, 'b': y})",
    "grad_and_aux": "ad.grad(lambda v: (v.sum(), v), has_aux=True)(x)",
    "make_vjp": "ad.vjp(ad.sin, x)",
    "make_jvp": "ad.jvp(ad.sin, (x,), (y,))",
    "make_hvp": "ad.hvp(lambda v: (v**3).sum(), x, y)",
    "multigrad": "ad.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, y)",
    "value_and_gradient": "ad.value_and_grad(lambda v: v.sum())(x)",
    "Variable": "ad.variable(2.0)",
    "Parameter": "ad.nn.Parameter(x)",
    "Module": "ad.nn.Module",
    "constant": "ad.tensor(2.0)",
    "GradientTape": "ad.grad(lambda v: (v**2).sum())(x)",
}

RANDOM: dict[str, str] = {
    "randn": "ad.random.normal((2, 3))",
    "rand": "ad.random.uniform((2, 3))",
    "random": "ad.random.uniform((2, 3))",
    "randint": "ad.random.integers(0, 10, (2, 3))",
    "standard_normal": "ad.random.normal((2, 3))",
    "manual_seed": "ad.random.seed(0)",
    "shuffle": "ad.random.permutation(x)",
    "default_rng": "ad.random.Generator(0)",
    "PRNGKey": "ad.random.normal((3,), key=ad.random.key(0))  # or ad.random.Generator(0), which counts by itself",
    "RandomState": "ad.random.Generator(0)",
    "get_state": "ad.random.default_generator.state",
    "get_rng_state": "ad.random.default_generator.state",
}

FUNCTIONAL: dict[str, str] = {
    "pad": "ad.pad(x, ((0, 0), (1, 1)))  # widths for the axes in their order",
    "normalize": "x / ad.norm(x, axis=1, keepdims=True).clip(min=1e-12)",
    "binary_cross_entropy": "ad.nn.functional.binary_cross_entropy_with_logits(x, ad.sigmoid(y))  # on scores before the sigmoid",
    "cosine_similarity": "ad.vecdot(x, y) / (ad.norm(x, axis=1) * ad.norm(y, axis=1))",
    "unfold": "ad.unfold(x.reshape(1, 1, 2, 3), 2)",
    "fold": "ad.fold(ad.ones((1, 4, 2)), (2, 3), 2)",
    "upsample": "ad.nn.functional.interpolate(ad.ones((1, 1, 4, 4)), scale_factor=2)",
    "upsample_nearest": "ad.nn.functional.interpolate(ad.ones((1, 1, 4, 4)), scale_factor=2)",
    "upsample_bilinear": 'ad.nn.functional.interpolate(ad.ones((1, 1, 4, 4)), 8, mode="bilinear", align_corners=True)',
    "linear_cross_entropy": "ad.nn.functional.cross_entropy(ad.nn.functional.linear(x, y), i[:, 0])",
    "multi_head_attention_forward": "ad.nn.MultiheadAttention(4, 2)(*[ad.ones((3, 4))] * 3)[0]",
}

NN: dict[str, str] = {
    "F": "ad.nn.functional.relu(x)",
    "DataParallel": CPU,
    "parameter": "ad.nn.Parameter(x)",
    "SyncBatchNorm": "ad.nn.BatchNorm2d(3)  # ad.distributed.data_parallel(..., sync_batch_norm=True) for several processes",
    "Buffer": 'model.register_buffer("mask", ad.ones((3,)))',
    "NLLLoss2d": "ad.nn.NLLLoss()",
    "RNNBase": "isinstance(model, (ad.nn.RNN, ad.nn.LSTM, ad.nn.GRU))",
    "AdaptiveLogSoftmaxWithLoss": "# adjoint.torch.nn has it",
}
UTILS: dict[str, str] = {
    "weight_norm": "ad.nn.utils.parametrizations.weight_norm(ad.nn.Linear(3, 2))",
    "spectral_norm": "ad.nn.utils.parametrizations.spectral_norm(ad.nn.Linear(3, 2))",
    "remove_weight_norm": "# ad.nn.utils.parametrize.remove_parametrizations(layer, 'weight')",
    "remove_spectral_norm": "# ad.nn.utils.parametrize.remove_parametrizations(layer, 'weight')",
    "stateless": "ad.nn.functional_call(model, model.state_dict(), (x,))",
    **dict.fromkeys(
        ("prune", "fuse_conv_bn_eval", "fuse_linear_bn_eval", "skip_init"), "# adjoint.torch.nn.utils has it"
    ),
}

MODEL: dict[str, str] = {
    "cuda": CPU,
    "cpu": CPU,
    "half": 'model.to("float16")',
    "bfloat16": "# model.to('bfloat16') casts, with the package ml_dtypes",
    "to_empty": CPU,
    "get_extra_state": "# what else is to be saved: a buffer, or an entry beside the state that ad.save is given",
    "set_extra_state": "# what else is to be saved: a buffer, or an entry beside the state that ad.save is given",
    "register_backward_hook": "model.register_full_backward_hook(lambda module, given, out: None)",
    "fit": "# ad.train.fit(model, ...) trains; model.train() sets the mode",
    "predict": "model(x)",
    "trainable_weights": "list(model.parameters())",
    "weights": "list(model.parameters())",
    "compile": "ad.jit(model)",
    "get_parameter": 'dict(model.named_parameters())["weight"]',
    "save": 'ad.save("model.safetensors", model)',
    "load": 'model.load_state_dict(ad.load("model.safetensors"))',
    "numel": "sum(p.size for p in model.parameters())",
    "share_memory": CPU,
    "type": 'model.to("float64")',
}

OPTIM: dict[str, str] = {
    "lr_scheduler": "ad.optim.StepLR(optimizer, 10)  # schedules stand in ad.optim itself",
    "swa_utils": "ad.optim.AveragedModel(model)",
}
OPTIMIZER: dict[str, str] = {
    "minimize": "optimizer.zero_grad(), model(x).sum().backward(), optimizer.step()",
    "apply_gradients": "optimizer.step()  # after loss.backward()",
    **dict.fromkeys(
        ("register_step_post_hook", "register_step_pre_hook"),
        "# write it after, or before, optimizer.step(); adjoint.torch has hooks",
    ),
    "init": "# an optimizer keeps its own state: ad.optim.Adam(model.parameters()), then optimizer.step()",
}
DATA: dict[str, str] = {
    "StackDataset": "# adjoint.torch.utils.data has it",
    "dataloader": "ad.data.DataLoader(x, 2)",
    "sampler": "ad.data.DataLoader(x, 2, shuffle=True)",
}

CUSTOM_JVP = {
    "defjvp": "# here it is def_jvp(rule), with rule(primals, tangents)",
    "defjvps": "# here it is def_jvp(rule): one rule(primals, tangents) for all arguments",
    "def_vjp": "# reverse mode transposes def_jvp's rule; ad.custom_vjp takes a reverse rule",
    "defvjp": "# reverse mode transposes def_jvp's rule; ad.custom_vjp takes a reverse rule",
}
CUSTOM_VJP = {
    "defvjp": "# here it is def_vjp(forward, backward), with forward(*args) and backward(residuals, cotangent)",
    "defjvp": "# here it is def_jvp(rule), with rule(primals, tangents)",
}

STATS = {
    name: f"ad.stats.{own}"
    for name, own in {
        "norm": "Normal", "gamma": "Gamma", "expon": "Exponential", "uniform": "Uniform", "beta": "Beta", "t": "StudentT",
        "laplace": "Laplace", "cauchy": "Cauchy", "poisson": "Poisson", "binom": "Binomial",
        "bernoulli": "Bernoulli", "geom": "Geometric", "lognorm": "LogNormal", "logistic": "Logistic", "dirichlet": "Dirichlet",
        "multivariate_normal": "MultivariateNormal", "weibull_min": "Weibull", "halfnorm": "HalfNormal",
    }.items()
}  # fmt: skip

NAMES: dict[str, dict[str, str]] = {
    "adjoint.stats": STATS,
    "Tensor": TENSOR,
    "custom_jvp": CUSTOM_JVP,
    "custom_vjp": CUSTOM_VJP,
    "adjoint": MODULE,
    "adjoint.random": RANDOM,
    "adjoint.nn": NN,
    "adjoint.nn.functional": FUNCTIONAL,
    "adjoint.nn.utils": UTILS,
    "Module": MODEL,
    "adjoint.optim": OPTIM,
    "Optimizer": OPTIMIZER,
    "adjoint.data": DATA,
}

KEYWORDS: dict[str, str] = {
    "dim": "`axis`",
    "dims": "`axes`",
    "keepdim": "`keepdims`",
    "input": "the first argument, without a name",
    "tensors": "the first argument, without a name",
    "other": "the second argument, without a name",
    "a": "the first argument, without a name",
    "arr": "the first argument, without a name",
    "unbiased": "`correction`: 1 for N - 1, which is PyTorch's default, 0 for N, which is this one's",
    "ddof": "`correction`",
    "out": "the result: x = {}(...)",
    "where": "a choice before: {}(ad.where(mask, x, 0))",
    "initial": "one more element, or a maximum with it afterwards",
    "requires_grad": "ad.variable(ad.{}(...))",
    "device": "the CPU always: leave it out",
    "layout": "nothing here: leave it out",
    "pin_memory": "nothing here: leave it out",
    "size": "`shape`",
    "sizes": "`shape`",
    "as_tuple": "always a tuple, one array for each axis",
    "a_min": "`min`",
    "a_max": "`max`",
    "split_size_or_sections": "`sections`, how many or where they begin",
    "start_dim": "`start`",
    "end_dim": "`end`",
    "order": "row-major always: leave it out",
    "kind": "stable always: leave it out",
    "largest": "ad.sort(x, descending=True)",
    "memory_format": "nothing here: leave it out",
    "non_blocking": "nothing here: leave it out",
    "copy": "ad.asarray(x, copy=True)",
    "like": "nothing here: leave it out",
    "args": "nothing: parameters come one after the other, {}(..., a, b) for args=(a, b)",
    "donate_argnums": "nothing: memory that nobody else holds is used again by itself",
    "donate_argnames": "nothing: memory that nobody else holds is used again by itself",
    "axis_name": "nothing: what goes across the batch is written behind {}, on its result",
    "axis_size": "nothing: the arguments tell how many there are",
}


def split_row(row: str) -> tuple[str, str]:
    """The code of a row, and the remark after it."""
    code, _, remark = row.partition("#")
    return code.strip(), remark.strip()


def _row(place: str, name: str) -> str | None:
    """What the tables say of a name."""
    others = importlib.import_module("adjoint.hints_of_jax").NAMES
    return NAMES.get(place, {}).get(name) or others.get(place, {}).get(name)


def hint(place: str, name: str) -> str:
    """What to write for a name that isn't there, as the end of a message; empty where nothing is known."""
    row = _row(place, name)
    if row is None and place == "adjoint.nn.functional":
        row = _row("adjoint.nn", name)
    if row is not None:
        code, remark = split_row(row)
        if place == "Tensor" and code and not remark and name in FROM_PYTORCH:
            inside = "; ad.jit, ad.grad and ad.vmap give adjoint's tensors to a function, torch.compile and torch.func PyTorch's"
            return f"; here it is {code} (or use adjoint.torch{inside if 'adjoint.torch' in sys.modules else ''})"
        return f"; here it is {code}" + (f" ({remark})" if remark else "") if code else f"; {remark}"
    if name.startswith("_"):
        return ""
    return _by_rule(place, name) or _in_another_namespace(place, name)


def _by_rule(place: str, name: str) -> str:
    """What is said of a name that has no row, but is known from its form, or stands in `ad`; as the end of a message."""
    public = importlib.import_module("adjoint").__all__
    if place.startswith("adjoint."):
        return f"; here it is ad.{name}" if name in public else ""
    if place != "Tensor":
        return ""
    if name.endswith("_"):
        plain = name.rstrip("_")
        instead = split_row(TENSOR.get(plain, ""))[0] or (f"ad.{plain}(x)" if plain in public else "a new value")
        ways = f"write x = {instead}, or x += ..., or w.data = ... for a parameter"
        return f"; nothing is changed in place by name: {ways}{PYTORCHS}"
    if name in public:
        return f"; here it is ad.{name}(x, ...)"
    code, remark = split_row(_row("adjoint", name) or "")
    return f"; here it is {code}" + (f" ({remark})" if remark else "") if code else f"; {remark}" if remark else ""


NAMESPACES = {  # of those whose names one expects in another one
    "adjoint": ("linalg", "special", "nn.functional", "fft"),
    "adjoint.nn": ("nn.functional",),
    "Tensor": ("linalg", "special"),
}


def _in_another_namespace(place: str, name: str) -> str:
    """Where a name stands that another module has, or this one in another case or with an underscore, as the end of a message."""
    if not place.startswith("adjoint") and place != "Tensor":
        return ""
    own = getattr(importlib.import_module(place), "__all__", []) if place != "Tensor" else []
    plain = name.removesuffix("_with_indices").rstrip("_")  # F.relu_, F.max_pool2d_with_indices
    alike = [n for n in own if n != name and (n in (f"{name}_", plain) or n.lower() == name.lower())]
    if alike and name.endswith("_with_indices"):
        return f"; here it is ad{place.removeprefix('adjoint')}.{alike[0]}(x, ..., return_indices=True)"
    if alike:
        return f"; here it is ad{place.removeprefix('adjoint')}.{alike[0]}"
    called = "(x, ...)" if place == "Tensor" else ""
    for other in NAMESPACES.get(place, ()):
        if name in importlib.import_module(f"adjoint.{other}").__all__:
            return f"; here it is ad.{other}.{name}{called}"
    if place in ("adjoint", "Tensor") and name in importlib.import_module("adjoint.numpy.functions").FUNCTIONS:
        return f"; here it is ad.numpy.{name}{called}"
    names, there = hints_of_torch.NAMES.get(place, ((), ""))
    if name in names:
        return f"; {there} has it, PyTorch's interface"
    return _numpys_own(name) if place == "adjoint" else ""


def _numpys_own(name: str) -> str:
    """Where a name stands that is NumPy's, and no operation on tensors; as the end of a message."""
    if name in importlib.import_module("adjoint.numpy").OWN:
        return f"; here it is ad.numpy.{name}"
    if name in numpy.__all__:
        return f"; ad.numpy.{name} is NumPy's own, for its arrays, numbers and types"
    return ""


def attribute_error(place: str, owner: Any, name: str) -> AttributeError:
    """The error for a name that isn't there. `place`: the key of its table."""
    subject = (
        f"module {place!r}" if place.startswith("adjoint") else repr(place if owner is None else type(owner).__name__)
    )
    return AttributeError(f"{subject} has no attribute {name!r}{hint(place, name)}", name=name, obj=owner)


def hinted_module(place: str) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a module whose missing names lead to the ones that are here."""

    def missing(name: str) -> NoReturn:
        raise attribute_error(place, importlib.import_module(place), name)

    return missing


def keyword_error(function: str, keywords: Iterable[str], where: str) -> TypeError:
    """The error for keywords that a function hasn't. `where`: the user's line, as a message ends."""
    name = next(iter(keywords))
    known = KEYWORDS.get(name)
    instead = f"; here it is {known.format(function)}" if known else ""
    return TypeError(f"{function}: there is no argument {name!r}{instead}{where}")
