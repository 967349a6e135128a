"""LLVM IR to machine code in memory, through llvmlite.

The target is described by the processor's feature string, never by its name: virtual machines hide or invent names. What LLVM
says of the machine is remembered beside the code that it made, and that code is put into memory without it (`mapped`): a program
whose code was all compiled before doesn't load LLVM.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from adjoint import _forks, _optional
from adjoint._tuples import NamedTuple
from adjoint.runtime import object_cache
from adjoint.runtime.executable import Mapped
from adjoint.runtime.interrupts import Uninterrupted
from adjoint.runtime.mapped import calls_outside, mapped

ROOM, ROOM_PER_CHARACTER = 1 << 25, 40  # bytes that LLVM takes for a module, at most about twice what was measured
ENGINE_BYTES = 60_000  # what an engine takes beside its code

resource: Any = _optional.try_load("resource")  # Windows has none
lock = _forks.waited_for()  # held for every call of LLVM, whose own locks would else stay held in the child of a fork
_state: dict[str, Any] = {}
LIMITS = () if resource is None else (resource.RLIMIT_AS, resource.RLIMIT_DATA)
CHANGING = (
    "cpu MHz",
    "bogomips",
    "processor",
    "core id",
    "apicid",
    "initial apicid",
)  # what one processor says at a time


class Facts(NamedTuple):
    """What machine code depends on besides its source: the processor's features, what it is made for, LLVM's version."""

    features: str
    triple: str
    version: tuple[int, ...]


# The processor that texts are made for in this context, if it isn't the machine's own.
_other: ContextVar[Facts | None] = ContextVar("other", default=None)


@contextmanager
def instead(triple: str, features: str) -> Iterator[None]:
    """In this context write for another processor, whose code is read and never run: none is compiled for the machine."""
    token = _other.set(Facts(features, triple, _known().version))
    try:
        yield
    finally:
        _other.reset(token)


def is_other() -> bool:
    """Whether what is written is for another processor."""
    return _other.get() is not None


def is_loaded() -> bool:
    """Whether LLVM is in memory."""
    return _state.get("binding") is not None


def facts(loading: bool = True) -> Facts | None:
    """What LLVM says of this machine, remembered since a process asked it; None where llvmlite is missing, or, without `loading`,
    where nobody has asked it yet."""
    found = _other.get() or _state.get("facts")
    if found is not None:
        return found
    with lock:
        if "facts" not in _state:
            key = _key_of_facts()
            found = None if key is None else object_cache.load(key)
            if found is not None:
                features, triple, *version = found.decode().split("\n")
                _state["facts"] = Facts(features, triple, tuple(map(int, version)))
            elif not loading:
                return None
            elif binding() is not None and key is not None:
                features, triple, version = _state["facts"]
                object_cache.store(key, "\n".join([features, triple, *map(str, version)]).encode())
        return _state["facts"]  # type: ignore[no-any-return]


def _key_of_facts() -> str | None:
    """Under what the facts are remembered: this boot of this machine with its processor, and llvmlite's library as it is now.
    None where one of these isn't known, or memory is limited: then nobody knows whether the library loads."""
    folder = _optional.folder_of("llvmlite")
    if folder is None or resource is None or any([resource.getrlimit(k)[0] != resource.RLIM_INFINITY for k in LIMITS]):
        return None
    library = os.path.join(folder, "binding", "libllvmlite.so")
    try:
        found = os.stat(library)
        with open("/proc/sys/kernel/random/boot_id") as boot_id, open("/proc/cpuinfo", "rb") as file:
            boot = boot_id.read()
            processor = file.read(1 << 12).decode().partition("\n\n")[0]
    except OSError:
        return None
    lines = [line for line in processor.splitlines() if not line.startswith(CHANGING)]
    return object_cache.key_of("facts", library, str(found.st_size), str(found.st_mtime_ns), boot, *lines)


def binding() -> Any:
    """llvmlite's binding, initialized once; None where llvmlite is missing or has no target for this machine."""
    with lock:
        if "binding" not in _state:
            _state["binding"] = _load()
            _state.setdefault("facts", None)
        return _state["binding"]


def _load() -> Any:
    try:
        llvm = _optional.try_load("llvmlite.binding")
    except OSError:  # there isn't enough memory to load the library
        return None
    if llvm is None:
        return None
    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_triple(llvm.get_process_triple())
        features = llvm.get_host_cpu_features().flatten()
        _state["facts"] = Facts(features, llvm.get_process_triple(), tuple(llvm.llvm_version_info))
        _state["target"] = target
    except Exception:
        return None
    return llvm


def vector_bits() -> int:
    """How wide the processor's vectors are: 512, 256 or 128 bits. ADJOINT_VECTOR_BITS forces a width."""
    if is_other():
        return _widest()
    forced = os.environ.get("ADJOINT_VECTOR_BITS")
    if forced:
        bits = int(forced)
        if bits not in (128, 256, 512):
            raise ValueError(f"ADJOINT_VECTOR_BITS must be 128, 256 or 512, got {forced}")
        return bits
    if "bits" not in _state:
        _state["bits"] = _widest()
    return int(_state["bits"])


def _widest() -> int:
    if all([has_feature(name) for name in ("avx512f", "avx512dq", "avx512vl")]):
        return 512
    return 256 if has_feature("avx2") and has_feature("fma") else 128


def has_fma() -> bool:
    """Whether the processor multiplies and adds in one instruction."""
    if facts() is None:
        return False
    return has_feature("fma") or triple().startswith(("aarch64", "arm64"))


def has_ldexp() -> bool:
    """Whether vectors are multiplied by powers of two in one instruction: with AVX-512, for which LLVM has known it since its
    version 22; elsewhere and before, llvm.ldexp is a call for each element."""
    known = facts()
    return known is not None and vector_bits() == 512 and has_feature("avx512dq") and known.version[0] >= 22


def has_blends() -> bool:
    """Whether the processor chooses among elements of a register by the bits of another: x86 since SSE4.1."""
    return has_feature("sse4.1")


def has_feature(name: str) -> bool:
    """Whether the processor has a feature, as LLVM names it."""
    known = facts()
    return known is not None and f"+{name}" in _features(known.features)


@functools.lru_cache(4)
def _features(text: str) -> frozenset[str]:
    return frozenset(text.split(","))


def triple() -> str:
    """What machine code is made for, as LLVM names it."""
    return _known().triple


def _known() -> Facts:
    known = facts()
    if known is None:
        raise RuntimeError("llvmlite doesn't load here (pip install llvmlite)")
    return known


def attributes(bits: int) -> str:
    """The attributes of every function: vectors stay as wide as they are written."""
    return f'attributes #0 = {{ nounwind "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}" }}'


class Library:
    """Compiled functions, alive as long as this object."""

    def __init__(self, engine: Any, size: int) -> None:
        self.engine = engine
        self.nbytes = ENGINE_BYTES + 2 * size  # about what it takes, with object code of that size

    def address(self, name: str) -> int:
        with lock:
            return int(self.engine.get_function_address(name))


def machine_key() -> tuple[str, str, str]:
    """The facts as text."""
    known = _known()
    return known.features, known.triple, str(known.version)


def link(contents: bytes) -> Library | Mapped:
    """Object code in memory."""
    found = mapped(contents)
    if found is not None:
        return found
    with lock, Uninterrupted():
        llvm = binding()
        together = None if calls_outside(contents) else True
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(), use_lmm=together)
        # The engine owns the target machine from here on.
        engine.add_object_file(llvm.ObjectFileRef.from_data(contents))
        engine.finalize_object()
    return Library(engine, len(contents))


def _check_room(size: int) -> None:
    """Raise MemoryError where the process's limits leave too little to compile so many characters: LLVM, when it gets no
    memory, ends the process."""
    if resource is None:
        return
    try:
        with open("/proc/self/statm", "rb") as file:
            pages = [int(number) for number in file.read().split()]
    except OSError:  # only Linux has it
        return
    needed = ROOM + ROOM_PER_CHARACTER * size
    for kind, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
        limit, _ = resource.getrlimit(kind)
        if limit != resource.RLIM_INFINITY and limit - used * resource.getpagesize() < needed:
            raise MemoryError(
                f"compiling may take {needed / 1e6:.0f} MB, and the process's limit (ulimit -v or -d) leaves less; raise it, "
                "or set ADJOINT_BACKEND=numpy"
            )


def _machine(level: int = 1) -> Any:
    target, known = _state["target"], _known()
    if is_other():
        llvm = binding()
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        target = llvm.Target.from_triple(known.triple)
    return target.create_target_machine(
        cpu="", features=known.features, opt=level, reloc="pic", codemodel="default", jit=True
    )


def object_code(text: str, draft: bool = False) -> bytes:
    """A module's object code. Raises RuntimeError where LLVM rejects the module. That of a `draft` is made in a quarter of the
    time: registers are given out instruction by instruction."""
    if is_other():
        raise AssertionError("code for another processor isn't run here")
    with lock, Uninterrupted():
        machine, module = optimised(text, 0 if draft else 1)
        return bytes(machine.emit_object(module))


def assembly(text: str) -> str:
    """A module's machine code in the processor's own notation, as `object_code` makes it."""
    with lock, Uninterrupted():
        machine, module = optimised(text)
        return str(machine.emit_assembly(module))


def optimised(text: str, level: int = 1) -> tuple[Any, Any]:
    """The machine that writes code of a level, maybe of another processor, and a module for it whose variables on the stack are
    registers."""
    llvm = binding()
    if llvm is None:
        raise MemoryError("llvmlite doesn't load here any more; set ADJOINT_BACKEND=numpy")
    _check_room(len(text))
    # One machine writes all code of a level: what it knows of the processor takes 0.7 MB, and half the time for a small module.
    writers = {} if is_other() else _state.setdefault("writers", {})
    if level not in writers:
        writers[level] = _machine(level)
    machine = writers[level]
    module = llvm.parse_assembly(text)
    module.triple = triple()
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.run(module, builder)
    return machine, module
