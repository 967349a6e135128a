"""Pictures of tensors: how they were computed and where their gradients come from."""

from __future__ import annotations

import html
import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from adjoint import _files, _optional
from adjoint.control.turns import write_out
from adjoint.derive import expand
from adjoint.display.conditions import asked_of
from adjoint.display.notebooks import make_widget
from adjoint.execution.stages import Formula
from adjoint.graph import Node
from adjoint.picture import Picture, build
from adjoint.picture.dot import dot_text
from adjoint.picture.folding import LIMIT, auto_folded, fold
from adjoint.picture.page import TASKS, explorer_page, playground_page
from adjoint.picture.repeating import with_repetitions
from adjoint.picture.text import text_tree
from adjoint.primitives.core import cast
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import at_user, user_frame
from adjoint.tensors.naming import named_tensors
from adjoint.tensors.tensor import Tensor, _f_namespace
from adjoint.tensors.waiting import Waiting

__all__ = ["Drawing", "Exploration", "draw", "explore", "playground", "show_pictures"]

GRAPHVIZ = ("svg", "png", "pdf")
FORMATS = (*GRAPHVIZ, "dot", "txt")


class Drawing:
    """A picture of a tensor. `print(drawing)` gives a tree, a notebook shows the graph, `save` writes a file.

    model: boxes, edges and scopes as plain data (`adjoint.picture.Picture`), as they are shown.
    """

    def __init__(self, model: Picture) -> None:
        self.model = model

    @property
    def text(self) -> str:
        """The tree as plain text."""
        return text_tree(self.model)

    @property
    def dot(self) -> str:
        """The graph in the DOT language."""
        return dot_text(self.model)

    def svg(self) -> str:
        """The graph as SVG. Raises ImportError without pygraphviz."""
        return self.render("svg").decode()

    def render(self, format: str) -> bytes:
        """The picture as "svg", "png", "pdf" (laid out by Graphviz), "dot" or "txt".

        Raises ValueError for another format, ImportError without pygraphviz where that is needed.
        """
        if format == "txt":
            return (self.text + "\n").encode()
        if format == "dot":
            return self.dot.encode()
        if format not in GRAPHVIZ:
            raise ValueError(f"draw: there is no format {format!r}; choose one of {', '.join(FORMATS)}{at_user()}")
        graphviz = _optional.load("pygraphviz", purpose=f"drawing as {format.upper()}", extra="draw")
        options = "-Gdpi=144" if format == "png" else ""
        with warnings.catch_warnings():  # Graphviz warns of fonts that a system lacks, and takes others
            warnings.simplefilter("ignore", RuntimeWarning)
            drawn: bytes = graphviz.AGraph(string=self.dot).draw(format=format, prog="dot", args=options)
        return drawn

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write a file, whole or not at all; its suffix says the format unless one is given."""
        chosen = format or Path(path).suffix.lstrip(".").lower() or "svg"
        content = self.render({"gv": "dot", "text": "txt"}.get(chosen, chosen))
        with _files.replacing(path) as file:
            file.write(content)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<drawing of {self.model.title}: {len(self.model.boxes)} boxes, {len(self.model.edges)} edges>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle = {"text/plain": self.text}
        if _optional.try_load("pygraphviz") is not None:
            bundle["image/svg+xml"] = self.svg()
        return bundle


def draw(
    t: Tensor,
    path: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,
    wrt: Tensor | Sequence[Tensor] | None = None,
    cotangent: Any = None,
    gradients: bool | None = None,
    names: Mapping[str, Any] | None = None,
    fold: bool | Collection[str] | None = None,
    variables_only: bool = False,
    plumbing: bool = False,
    limit: int = LIMIT,
) -> Drawing:
    """Draw how a tensor was computed, and how its gradient flows back.

    Every operation is a box with its value. Grey edges lead upwards, as values go; red ones lead back, each labelled
    with the gradient that it carries, and at every box those that arrive add up.

    path, format: write it to a file as "svg", "png", "pdf" (by Graphviz: the extra `draw`), "dot" or "txt".
    wrt: differentiate by these alone (default: by every variable). cotangent: needed for gradients of a tensor that
    isn't a single number. gradients: False leaves the red edges out.
    names: what to call tensors, beside their `name=`; by default the caller's local variables and the parameters of its
    modules. fold: which scopes to show as one box: True for all, False for none, or their names; by default composite
    functions such as softmax, and whatever it takes to stay below `limit` boxes.
    variables_only: leave out what has no name. plumbing: show also the broadcasts, casts and reshapes that were only
    needed to make arrays fit.

    Values are computed for the picture alone; the tensors stay as they are. Raises TypeError for what isn't a tensor,
    ValueError for an unknown format, ImportError without pygraphviz where it is needed.

    >>> import adjoint as ad
    >>> x, z = ad.variable(2.0), ad.variable(0.0)
    >>> y = 3 * x**3 + x * z
    >>> print(ad.draw(y))
    y = + = 24
    ├─ × = 24  ← +1
    │  ├─ 3
    │  └─ ^3 = 8  ← +3
    │     └─ x = 2  ← +36
    └─ × = 0  ← +1
       ├─ x = 2  ← +0
       └─ z = 0  ← +2
    <BLANKLINE>
    What flows back adds up:
      ∂y/∂x = 36 + 0 = 36
      ∂y/∂z = 2
    """
    picture = picture_of(
        t, "draw", wrt=wrt, cotangent=cotangent, gradients=gradients, names=names, plumbing=plumbing,
        variables_only=variables_only,
    )  # fmt: skip
    drawing = Drawing(folded(picture, fold, limit))
    if path is not None:
        drawing.save(path, format)
    elif format is not None:
        drawing.render(format)  # what is wrong with it is told here rather than later
    return drawing


class Exploration:
    """An explorer page. A notebook shows it; `save` writes it; `widget` lets Python follow its leaves.

    html: the whole page, which needs nothing beside itself.
    """

    def __init__(self, html: str, leaves: Mapping[str, tuple[int, Tensor]] | None = None) -> None:
        self.html = html
        self._leaves = dict(leaves or {})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all."""
        with _files.replacing(path) as file:
            file.write(self.html.encode())

    def widget(self) -> Any:
        """The page as a widget of Jupyter or marimo, with leaves that go both ways.

        A named variable that is moved in the page is set in Python, as by `x.data = ...`; `w["x"] = 3.0` sets it and moves
        the page. What was computed from it before keeps its value: compute it anew. Raises ImportError without anywidget
        (the extra `notebook`).
        """
        return make_widget(self.html, self._leaves)

    def __repr__(self) -> str:
        return f"<explorer page of {len(self.html):,} characters>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        framed = html.escape(self.html, quote=True)
        frame = f'<iframe srcdoc="{framed}" sandbox="allow-scripts" style="width:100%;height:640px;border:0"></iframe>'
        return {"text/plain": repr(self), "text/html": frame}


def explore(
    t: Tensor,
    path: str | os.PathLike[str] | None = None,
    *,
    wrt: Tensor | Sequence[Tensor] | None = None,
    cotangent: Any = None,
    gradients: bool | None = None,
    names: Mapping[str, Any] | None = None,
    fold: bool | Collection[str] | None = None,
    variables_only: bool = False,
    plumbing: bool = False,
    compare: bool = True,
    questions: Iterable[Any] = (),
    code: bool = True,
) -> Exploration:
    """Make a page in which one steps through the evaluation of a tensor and then through its reverse pass.

    The page is one file that asks the network for nothing: open it in any browser. It shows each operation's values,
    the local derivative, the product and what has added up so far, with the rule's formula and the line of your source;
    click a leaf for the sum over paths that makes its gradient. Real leaves can be dragged, typed and pulled: the page
    computes the graph that was recorded, forward and reverse, as far as it has no host code, complex numbers or large
    arrays, and says where it can't. Its keys are listed in the page.

    path: where to write it. compare: put finite differences beside the gradients of the leaves. The other options are
    those of `ad.draw`; what `fold` names can be unfolded in the page.
    questions: what the reader is asked to predict before the page tells it, each `(question, answer)` or `(question,
    answer, right)`; `right` is a number, or a list of choices with the right one first, and a guess is compared with it.
    Raises TypeError for what isn't a tensor, or no such question.

    >>> import adjoint as ad
    >>> x = ad.variable(2.0)
    >>> page = ad.explore(x**2)
    >>> page.html.startswith("<!doctype html>")
    True
    """
    known = named_tensors(names) if names is not None else tensors_in(user_frame(1))
    picture = picture_of(
        t, "explore", wrt=wrt, cotangent=cotangent, gradients=gradients, known=_by_node(known), plumbing=plumbing,
        variables_only=variables_only, compare=compare, live=True, texts_of=_texts_of if code else None,
    )  # fmt: skip
    asked = _checked(questions, "explore")
    written = explorer_page(picture, _chosen(picture, fold), _optional.try_load("pygraphviz"), asked)
    page = Exploration(written, _movable(picture, known))
    if path is not None:
        page.save(path)
    return page


def _checked(questions: Iterable[Any], operation: str) -> list[list[Any]]:
    """Questions as a page asks them: [question, answer], and what is right, a number or choices with the right one first.

    Raises TypeError for anything else.
    """
    found: list[list[Any]] = []
    for one in questions:
        parts = list(one) if isinstance(one, (tuple, list)) else []
        right = parts[2] if len(parts) == 3 else 0
        choices = isinstance(right, (tuple, list)) and len(right) > 1 and all(isinstance(c, str) for c in right)
        number = isinstance(right, (int, float)) and not isinstance(right, bool)
        if len(parts) not in (2, 3) or not all(isinstance(x, str) for x in parts[:2]) or not (choices or number):
            raise TypeError(
                f"{operation}: a question is (question, answer) or (question, answer, right), two texts and a number or a list "
                f"of choices with the right one first; got {one!r}{at_user()}"
            )
        found.append(parts)
    return found


def _texts_of(outputs: Sequence[Node]) -> Any:
    return Formula(outputs).of


def _movable(picture: Picture, known: Mapping[str, Tensor]) -> dict[str, tuple[int, Tensor]]:
    """The named variables that the page can move, each with its place in the page's program."""
    program = picture.program
    if program is None:
        return {}
    slots = {name: (program.slots.get(x.node), x) for name, x in known.items()}
    return {
        name: (slot, x) for name, (slot, x) in slots.items() if slot is not None and program.still.get(slot, "") is None
    }


def playground(
    path: str | os.PathLike[str] | None = None,
    *,
    formula: str | None = None,
    training: str | None = None,
    questions: Iterable[Any] = (),
) -> Exploration:
    """Make a page in which one types a formula, drags its numbers, and steps through both passes, without Python.

    The page reads lines of `name = expression` as they are typed, with arithmetic, arrays of numbers, `@`, `.T`, indices
    and the usual functions; errors are shown at the character. A name without a value is a number to drag. Derivatives
    come from this engine's own rules, which the page carries as data. It asks the network for nothing.

    path: where to write it. formula: what it starts with; by default the first of its gallery. training: start with the
    room in which the page trains "weights" (three of them), a "line" or a network on two "moons". questions: what it asks
    about that formula, as in `ad.explore`. Raises ValueError for another model, TypeError for what is no question.

    >>> import adjoint as ad
    >>> page = ad.playground(formula="y = tanh(w*x + b)")
    >>> page.html.startswith("<!doctype html>")
    True
    """
    if training is not None and training not in TASKS:
        raise ValueError(f"playground: training is {', '.join(map(repr, TASKS))}, not {training!r}{at_user()}")
    page = Exploration(playground_page(formula, training, _checked(questions, "playground")))
    if path is not None:
        page.save(path)
    return page


def picture_of(
    t: Tensor,
    operation: str,
    *,
    wrt: Any = None,
    cotangent: Any = None,
    names: Any = None,
    known: Mapping[Node, str] | None = None,
    **options: Any,
) -> Picture:
    """The model of a tensor's picture, with the names that are known, or given, or else those of the user's frame."""
    if not isinstance(t, Tensor):
        raise TypeError(f"{operation}: expected a tensor, got {type(t).__name__}{at_user()}")
    chosen = [wrt] if isinstance(wrt, Tensor) else wrt
    for x in chosen or ():
        if not isinstance(x, Tensor) or not x.requires_grad:
            raise ValueError(f"{operation}: wrt takes tensors that require gradients, got {x!r}{at_user()}")
    u = None
    if cotangent is not None:
        u = cast(as_node(cotangent, t.dtype), t.dtype)
        if u.shape != t.shape:
            raise ValueError(f"{operation}: cotangent of shape {u.shape} for a tensor of shape {t.shape}{at_user()}")
    if known is None:
        known = _by_node(named_tensors(names) if names is not None else tensors_in(user_frame(2)))
    (root,) = expand([t.node])
    loops = write_out(root)
    if loops.turns:  # what runs is the loop, not its turns
        options["texts_of"] = None
    known = {loops.new.get(root if node is t.node else node, node): name for node, name in known.items()}
    wrt_nodes = None if chosen is None else [loops.new.get(x.node, x.node) for x in chosen]
    decisions = [*loops.decisions, *asked_of(loops.root, known)] if options.get("live") else loops.decisions
    picture = build(
        loops.root, wrt=wrt_nodes, cotangent=u, names=known, turns=loops.turns, decisions=decisions, **options
    )
    return with_repetitions(replace(picture, notes=(*picture.notes, *loops.notes)))


def folded(picture: Picture, choice: bool | Collection[str] | None, limit: int | None) -> Picture:
    """The picture folded as the user said."""
    if choice is False:
        return fold(picture, (), None)
    return fold(picture, _chosen(picture, choice, limit or LIMIT), limit)


def _chosen(picture: Picture, choice: bool | Collection[str] | None, limit: int = LIMIT) -> Collection[str]:
    """The scopes to fold, as the user said. Raises ValueError for one that isn't there."""
    if choice is None:
        return auto_folded(picture, limit)
    if isinstance(choice, bool):
        return list(picture.groups) if choice else []
    wanted = {choice} if isinstance(choice, str) else set(choice)
    unknown = wanted - {group.name for group in picture.groups.values()}
    if unknown:
        there = ", ".join(sorted({group.name for group in picture.groups.values()})) or "none"
        missing = ", ".join(sorted(unknown))
        raise ValueError(f"fold: there is no scope {missing} in this picture, only {there}{at_user()}")
    return [key for key, group in picture.groups.items() if group.name in wanted]


# Names ----------------------------------------------------------------------------------------------------------------


def tensors_in(frame: FrameType | None) -> dict[str, Tensor]:
    """The tensors that the local variables of a frame name, and the parameters of its modules."""
    if frame is None:
        return {}
    variables = dict(frame.f_locals)
    if frame.f_code.co_name != "<module>":  # a function's own names come first, then the global ones that it uses
        used = frame.f_code.co_names
        variables |= {k: frame.f_globals[k] for k in used if k in frame.f_globals and k not in variables}
    return named_tensors({k: v for k, v in variables.items() if not k.startswith("_") and k.isidentifier()})


def _by_node(tensors: Mapping[str, Tensor]) -> dict[Node, str]:
    """The name of each node; of several the first."""
    found: dict[Node, str] = {}
    for name, x in tensors.items():
        if not isinstance(x, Waiting):
            found.setdefault(x.node, name)
    return found


# Notebooks ------------------------------------------------------------------------------------------------------------

_show = False


def show_pictures(on: bool = True) -> None:
    """Let notebooks show a tensor's picture instead of its text, or stop that again."""
    global _show
    _show = on


def _notebook_picture(t: Tensor) -> dict[str, str] | None:
    if not _show:
        return None
    bundle = Drawing(folded(picture_of(t, "draw"), None, LIMIT))._repr_mimebundle_()
    return {**bundle, "text/plain": repr(t)}


_f_namespace["notebook_picture"] = _notebook_picture
