"""Machine code by its contents: a function that was compiled before, by whichever program or process, is found again.

Functions that are new are compiled together, as one module; its object code is one entry of the cache, and each function has
an entry that says where it is. Both are found by hashes of everything that decides the code. Names in the object code are made
of these hashes, so a function can't be taken for another, and object code holds no address.
"""

from __future__ import annotations

import functools
import os
import re
import struct
import weakref
from collections.abc import Iterable

from adjoint._tuples import NamedTuple
from adjoint.runtime import llvm, object_cache
from adjoint.runtime.executable import Mapped
from adjoint.runtime.interrupts import Uninterrupted
from adjoint.runtime.mapped import mapped

HEX = 32  # digits of a hash in a name
RELAX = "@relax()"  # in a file in C: a loop that waits says so to the processor, on ARM and on x86
PAUSES = "@llvm.aarch64.hint(i32 1)", "@llvm.x86.sse2.pause()"


class Source(NamedTuple):
    """Functions in LLVM IR. Their names start with `$`; those in `names` are called from outside, without it. Where the code is
    put into memory, the number of 64 bits that is `left_open` becomes another one: an address, say. Of a `draft` code will do
    that is made in a quarter of the time and runs slower: it computes the same. One whose `symbol` is known needs no text while
    its code is on disk."""

    text: str
    declarations: frozenset[str]
    names: tuple[str, ...]
    left_open: tuple[int, int] | None = None
    draft: bool = False
    symbol: str = ""

    def filled(self, contents: bytes) -> bytes:
        """Object code with that number."""
        if self.left_open is None:
            return contents
        before, after = [struct.pack("<Q", n) for n in self.left_open]
        return contents.replace(before, after)


class Gone(LookupError):
    """Code isn't on disk any more, and there is no text that it could be compiled from."""


class Code:
    """The machine code of a source: the address of each of its names. `library` keeps it alive. A `draft` knows the source that
    it was made of, and its `final` code once there is some."""

    __slots__ = ("__weakref__", "addresses", "draft", "final", "library")

    def __init__(self, library: llvm.Library | Mapped, symbol: str, names: Iterable[str], draft: Source | None) -> None:
        self.library, self.draft = library, draft
        self.final: Code | None = None
        self.addresses = {name: library.address(f"{symbol}.{name}") for name in names}


def in_c(name: str, names: tuple[str, ...], left_open: tuple[int, int] | None = None) -> Source:
    """The source that is a file in C of this package, of which `make native` has made LLVM's text."""
    with open(os.path.join(os.path.dirname(__file__), f"{name}.ll"), encoding="utf-8") as file:
        text = file.read()
    if RELAX not in text:
        return Source(text, frozenset(), names, left_open)
    pause = PAUSES["x86" in llvm.triple()]
    declared = frozenset({"declare void " + pause.replace("i32 1", "i32")})
    return Source(text.replace(RELAX, pause), declared, names, left_open)


@functools.cache
def _functions_in_c(name: str) -> dict[str, str]:
    texts = [f"define {text}" for text in in_c(name, ()).text.split("\ndefine ")[1:]]
    return {text[text.index("@$") + 2 : text.index("(")]: text for text in texts}


def functions_in_c(name: str, wanted: Iterable[str]) -> str:
    """LLVM's text of some functions of a file in C, and of those that they call."""
    known, found, left = _functions_in_c(name), dict[str, str](), list(wanted)
    while left:
        one = left.pop()
        if one not in found:
            found[one] = known[one]
            left += re.findall(r"@\$(\w+)\(", known[one])
    return "\n".join([found[one] for one in sorted(found)])


def symbol_of(source: Source) -> str:
    """What the names in a source's code begin with: it follows from all that decides the code."""
    parts = source.text, llvm.attributes(llvm.vector_bits()), *llvm.machine_key()
    return "k" + str(object_cache.hashed("\0".join(parts).encode()).hexdigest())[:HEX]


def named(source: Source) -> Source:
    """A source that knows its symbol."""
    return source._replace(symbol=symbol_of(source))


_loaded: weakref.WeakValueDictionary[str, Code] = weakref.WeakValueDictionary()


def find(source: Source) -> list[Code]:
    """The machine code of a source if it was compiled before, in a list; else an empty one. LLVM isn't loaded for it."""
    with llvm.lock:
        return [] if llvm.facts(loading=False) is None else load([source], compiling=False)


def load(sources: list[Source], compiling: bool = True) -> list[Code]:
    """The machine code of each source; of those alone that were compiled before, without `compiling`. One with a number left open
    is loaded by itself. Raises RuntimeError where LLVM rejects one, Gone where one without a text isn't on disk."""
    if not sources:
        return []
    with llvm.lock, Uninterrupted():
        symbols = [source.symbol or symbol_of(source) for source in sources]
        asked: dict[str, Source] = {}
        for symbol, source in zip(symbols, sources, strict=True):
            if symbol not in asked or not source.draft:
                asked[symbol] = source
        found = {
            symbol: code
            for symbol, source in asked.items()
            if (code := _loaded.get(symbol)) is not None and (source.draft or code.draft is None)
        }
        missing = {symbol: source for symbol, source in asked.items() if symbol not in found}
        for draft in (False, True):
            found |= _remembered(missing, draft, compiling)
        if compiling and not all([source.text for source in missing.values()]):
            raise Gone("code that was there before is not in the cache")
        for draft in (False, True) if compiling else ():
            some = {symbol: source for symbol, source in missing.items() if source.draft == draft}
            found |= _compiled(some, draft) if some else {}
        _loaded.update(found)
        return [found[symbol] for symbol in symbols if symbol in found]


def _remembered(missing: dict[str, Source], draft: bool, compiling: bool) -> dict[str, Code]:
    """The machine code on disk of sources by their symbols, which are missing no more."""
    found: dict[str, Code] = {}
    modules: dict[str, list[str]] = {}
    for symbol, source in missing.items():
        entry = object_cache.load(_entry(symbol, draft)) if source.draft or not draft else None
        if entry is not None:
            modules.setdefault(entry.decode(), []).append(symbol)
    for place, members in modules.items():
        contents = object_cache.load(place)
        if contents is not None:
            contents = missing[members[0]].filled(contents)
            library = llvm.link(contents) if compiling else mapped(contents)
            for symbol in members if library is not None else ():
                source = missing.pop(symbol)
                found[symbol] = Code(library, symbol, source.names, source if draft else None)  # type: ignore[arg-type]
    return found


def _compiled(sources: dict[str, Source], draft: bool) -> dict[str, Code]:
    """The machine code of sources by their symbols, compiled together and remembered on disk."""
    ending = llvm.attributes(llvm.vector_bits())
    declarations = sorted(frozenset().union(*[source.declarations for source in sources.values()]))
    texts = [source.text.replace("@$", f"@{symbol}.") for symbol, source in sources.items()]
    contents = llvm.object_code("\n".join([*declarations, *texts, ending]), draft)
    library = llvm.link(next(iter(sources.values())).filled(contents))
    found = {
        symbol: Code(library, symbol, source.names, source if draft else None) for symbol, source in sources.items()
    }
    place = object_cache.key_of("draft" if draft else "module", *sources)
    object_cache.store(place, contents)
    for symbol in sources:
        object_cache.store(_entry(symbol, draft), place.encode())
    return found


def _entry(symbol: str, draft: bool) -> str:
    """The entry that says where the code of a source is."""
    return object_cache.key_of(symbol, "draft") if draft else object_cache.key_of(symbol)
