"""What is said of an operation, once: in its record, from which everybody else reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

if TYPE_CHECKING:
    from adjoint.graph.node import Node

__all__ = ["PRIMITIVES", "Operation", "Primitive", "Rule", "StandIn"]

Rule = Callable[..., "Node | None"]


class Facts(TypedDict, total=False):
    """What a record may say; see `Operation`."""

    elementwise: bool
    takes_out: bool
    view: bool
    cheap: bool
    light: bool
    exact: bool
    swallows: bool
    moves: bool
    spends: bool
    passes_on: bool
    waits: bool
    opaque: bool
    rearranges: bool
    rewrites: bool
    indices_from: int
    linear: bool
    bilinear: bool
    quotient: bool
    shares: bool
    combines: str
    result: str
    images: tuple[bool, ...]
    native: Callable[..., Any] | None
    masked: Callable[..., Any] | None
    key: Callable[[Any], Any] | None
    symbol: str
    reads: Callable[[Any], int] | None
    narrowed: Callable[[Any, frozenset[int]], Any] | None


class Operation:
    """What a step of a plan does: a primitive, or what the compiler puts in the place of one.

    Facts, all of them False, 0, empty or None unless an operation's record says otherwise:

    elementwise the kernel works element by element on inputs of the output's shape and accepts `out=`
    takes_out   the kernel accepts `out=`
    view        the result may share memory with the first input
    cheap       recomputing the result costs no more than reading it back: never kept for the reverse pass
    light       elementwise, and an instruction or two of machine code: computed again rather than stored and read back
    exact       every implementation gives the same bits, so that native code and NumPy's kernel may stand for each other
    swallows    the result can be finite though an input is NaN
    moves       the kernel moves elements, or hands them on, and computes nothing with them: it takes those of 16 bits as they are
    spends      the kernel accepts `spent=True`: nobody reads its first input any more, which it may write over
    passes_on   the result is the first input, or the first ones; further inputs are waited for, or for derivatives
    waits       it passes on, and only once its further inputs are there
    opaque      it is what code of the user's made, which may do anything when it runs
    rearranges  which elements of the inputs the result has follows from the attributes alone: given the elements' numbers,
                from 1, the kernel says where each comes from, and 0 where none does
    rewrites    the result is the first input but for some places
    indices_from   the number of the first input that says which elements are read or written, where native code has it
    linear      linear in all floating inputs together: what it makes of Taylor coefficients are its own
    bilinear    linear in each of its two inputs: its Taylor coefficients are sums of what it makes of theirs
    quotient    its first input by its second
    shares      its derivative computes from its input nearly all that the function itself needs
    combines    of a reduction the elementwise operation that puts two partial results together
    result      "bool" or "real" where the dtype of an elementwise result isn't the inputs': bool, or a part of a complex one
    images      which inputs are images (N, C, ...), in order, of what native code computes with the channels last
    native      native(e, *inputs) -> its formula for native code on real numbers, by operations of the emitter e (see
                compiler.loops.build); None: it has none, or a longer one in compiler.loops.formulas
    masked      the kernel that treats zero times infinity as zero (see primitives.elementwise.scale)
    key         what of the attributes matters to evaluation and so enters a plan's key (None: all)
    symbol      how a picture writes it, if not by its name
    reads       reads(type) -> how many of the inputs, the first ones, its value needs; the others are for its derivative
                rule (None: it needs all)
    narrowed    narrowed(attributes, used) -> attributes with which only the outputs numbered `used` are computed, None in
                place of the others (None: it computes all)
    """

    __slots__ = ("name", *Facts.__annotations__)

    name: str
    elementwise: bool
    takes_out: bool
    view: bool
    cheap: bool
    light: bool
    exact: bool
    swallows: bool
    moves: bool
    spends: bool
    passes_on: bool
    waits: bool
    opaque: bool
    rearranges: bool
    rewrites: bool
    indices_from: int
    linear: bool
    bilinear: bool
    quotient: bool
    shares: bool
    combines: str
    result: str
    images: tuple[bool, ...]
    native: Callable[..., Any] | None
    masked: Callable[..., Any] | None
    key: Callable[[Any], Any] | None
    symbol: str
    reads: Callable[[Any], int] | None
    narrowed: Callable[[Any, frozenset[int]], Any] | None

    def __init__(self, name: str, facts: Facts) -> None:
        unknown = facts.keys() - Facts.__annotations__.keys()
        if unknown:
            raise TypeError(f"{name}: an operation's record says nothing named {', '.join(sorted(unknown))}")
        self.name = name
        for fact in Facts.__annotations__:
            setattr(self, fact, facts.get(fact, UNSAID.get(fact, False)))
        self.symbol = self.symbol or name
        self.takes_out = self.takes_out or self.elementwise
        self.moves = self.moves or self.view


# What isn't said; it is no.
UNSAID: dict[str, Any] = {"indices_from": 0, "combines": "", "result": "", "images": (), "symbol": ""} | dict.fromkeys(
    ("native", "masked", "key", "reads", "narrowed")
)


class Primitive(Operation):
    """Everything about one operation, in one place: its facts, see `Operation`, and what follows.

    name        its name, also the key in PRIMITIVES
    kernel      kernel(attributes, type) -> NumPy function of the inputs' arrays (of a given output type)
    vjp         one rule for each input, rule(cotangent, node, *inputs) -> cotangent of that input or None; or one
                callable vjp(cotangent, node, wanted) -> a list of them, for any number of inputs
    variadic    the number of inputs varies, so it enters a plan's key
    graphs      graphs(attributes) -> the graphs that it repeats or chooses from, each a control.running.Inside, to be explained
                (None: it has none)
    stands_for  stands_for(output) -> the graph that one of its outputs stands for; None: the operation stands for itself
    copied      copied(node, replacements, same_values) -> attributes of a node's copy among replaced nodes, for attributes that
                refer to nodes themselves (None: they are the same)
    batch       batching rule, rule(batch, node, inputs, mapped) -> node with the batch axis in front: see the module
                `batch`, which fills it in; elementwise primitives share one
    """

    __slots__ = ("batch", "copied", "graphs", "kernel", "stands_for", "variadic", "vjp")

    def __init__(
        self,
        name: str,
        kernel: Callable[[Any, Any], Callable[..., Any]],
        vjp: tuple[Rule | None, ...] | Callable[..., list[Node | None]] | None = None,
        **facts: Unpack[Facts],
    ) -> None:
        super().__init__(name, facts)
        self.kernel = kernel
        self.vjp = vjp
        self.variadic = not isinstance(vjp, tuple)
        self.batch: Callable[..., Any] | None = None
        self.graphs: Callable[[Any], Sequence[Any]] | None = None
        self.stands_for: Callable[[Node], Node] | None = None
        self.copied: Callable[[Node, dict[Node, Node], bool], Any] | None = None
        if name in PRIMITIVES:
            raise ValueError(f"primitive {name!r} is registered twice")
        PRIMITIVES[name] = self

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


PRIMITIVES: dict[str, Primitive] = {}


class StandIn(Operation):
    """What stands in a primitive's place in a plan that is compiled; no graph has such a node, and NumPy no kernel for it."""

    __slots__ = ()

    def __init__(self, name: str, **facts: Unpack[Facts]) -> None:
        super().__init__(name, facts)

    @staticmethod
    def kernel(attributes: Any, type: Any) -> Callable[..., Any]:
        """What stands where a step has its NumPy function."""
        return no_kernel


def no_kernel(*arguments: Any) -> Any:
    """Raise AssertionError: nobody runs such a step by NumPy."""
    raise AssertionError("what stands in a primitive's place has no NumPy kernel")
