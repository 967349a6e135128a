"""Calls of functions whose recording follows from the types of their tensors and from their other arguments.

From the third of a kind on they make the nodes that those before made, without a look at shapes, names of arguments and defaults:
by native code where there is some (`graph.known_calls`). What the functions themselves are made of has such recipes too
(`composites.recipes`); here the whole call has one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from sys import _getframe
from typing import Any

from adjoint.composites.recipes import PLAIN, Recipe, recipe_of
from adjoint.dtypes import default_dtype
from adjoint.graph import NARROW, Calls, Located, Mode, Node, Scope, get_mode
from adjoint.primitives.core import FULL
from adjoint.tensors.located import scope_for
from adjoint.tensors.named import new
from adjoint.tensors.repeating import recorded_by
from adjoint.tracing import active

from .._now import times
from .._tensor import Core, Tensor
from .._view_tensors import SURFACE

__all__ = ["FOLLOWING", "replayed"]

# Those that look at no value, draw no number that isn't seen in their graph, and record all in a scope of their name.
FOLLOWING = frozenset(
    """adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool2d affine_grid avg_pool1d avg_pool2d avg_pool3d bilinear celu
cosine_similarity elu fold glu grid_sample group_norm hardshrink hardsigmoid hardswish hardtanh hinge_embedding_loss huber_loss
interpolate kl_div l1_loss layer_norm leaky_relu log_softmax logsigmoid lp_pool2d margin_ranking_loss max_pool1d max_pool2d
max_pool3d mish mse_loss pad pairwise_distance pixel_shuffle poisson_nll_loss relu6 rms_norm scaled_dot_product_attention selu
silu smooth_l1_loss softmax softplus softshrink softsign tanhshrink triplet_margin_loss unfold""".split()
)
MOST = 1 << 12  # kinds of calls
Called = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]

MET, WITHOUT = (), frozenset[None]()  # in place of a recipe: of a kind met once, and of one that leaves none

_recipes: dict[Any, Recipe | tuple[()] | frozenset[None]] = {}


def _kind_of(f: Any, args: tuple[Any, ...], keywords: dict[str, Any], grad: bool) -> tuple[Any, list[Node]] | None:
    """The kind of a call, and the nodes of its tensors; None where what it records doesn't follow from kinds."""
    nodes: list[Node] = []
    key: list[Any] = [f, grad, default_dtype()]
    for given in (args, keywords.values()):
        for x in given:
            kind = type(x)
            if isinstance(x, Core):
                node = x.node
                if node.op is FULL:  # its number may decide what is recorded
                    return None
                nodes.append(node)
                key += (node.type, node.tracked, node.value is None)
            elif kind in PLAIN:
                key += (kind, x)
            elif kind is float:
                key.append(x.hex())
            elif isinstance(x, tuple) and all([type(n) is int for n in x]):
                key.append(tuple(x))
            else:
                return None
    if keywords:
        key += keywords
    return tuple(key), nodes


@functools.cache
def _calls_of(f: Any) -> Calls:
    return Calls(SURFACE, level=2, looks=True)


def replayed(name: str, f: Any, args: tuple[Any, ...], keywords: dict[str, Any], otherwise: Called) -> Any:
    """What `otherwise(f, args, keywords)` gives: the tensor of `f`, a function of this name, called two frames up from here."""
    calls = _calls_of(f)
    if calls.again is None:
        return _replayed(name, f, args, keywords, otherwise)
    given = (*args, *keywords.values(), tuple(keywords)) if keywords else args
    known = calls.again(*given)
    if known is not None:
        return known
    frame = _getframe(2)
    return calls.learn(given, _replayed(name, f, args, keywords, otherwise), frame)


def _replayed(name: str, f: Any, args: tuple[Any, ...], keywords: dict[str, Any], otherwise: Called) -> Any:
    if NARROW or active() is not None:
        return otherwise(f, args, keywords)
    outer = get_mode()
    found = _kind_of(f, args, keywords, outer.grad)
    if found is None:
        return otherwise(f, args, keywords)
    key, nodes = found
    recipe = _recipes.get(key)
    if not recipe:
        before = times[0]
        result = otherwise(f, args, keywords)
        if times[0] != before:  # an index of data, say, whose elements are a constant of what was recorded
            _recipes[key] = WITHOUT
        elif recipe is None:
            if len(_recipes) >= MOST:
                _recipes.clear()
            _recipes[key] = MET
        elif recipe is MET and type(result) is Tensor and len(set(nodes)) == len(nodes):
            _recipes[key] = _noted(name, result.node, nodes, outer) or WITHOUT
        return result
    tensor = new(Tensor)
    tensor.node = recorded_by(recipe, nodes, scope_for(outer, name, 4))  # type: ignore[arg-type]
    return tensor


def _noted(name: str, result: Node, nodes: list[Node], outer: Mode) -> Recipe | None:
    """The recipe of a call; None where not all that it recorded lies in its own scope."""
    site, around = result.site, outer.site
    parent = around.scope if isinstance(around, Located) else around if isinstance(around, Scope) else None
    if type(site) is not Scope or site.name != name or site.parent is not parent:
        return None
    return recipe_of(result, nodes, site, alone=True)
