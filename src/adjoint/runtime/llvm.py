"""LLVM IR to machine code in memory, through llvmlite.

The target is described by the processor's feature string, never by its name: virtual machines hide or invent names.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from adjoint import _forks, _optional
from adjoint.runtime.interrupts import Uninterrupted

# The parts of an ELF file that tell what it calls (System V ABI, AMD64 supplement).
SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8"),
                    ("link", "<u4"), ("info", "<u4"), ("alignment", "<u8"), ("entry", "<u8")])  # fmt: skip
RELOCATION = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
RELOCATIONS, CALL = 4, 4  # SHT_RELA, R_X86_64_PLT32

ROOM, ROOM_PER_CHARACTER = 1 << 25, 40  # bytes that LLVM takes for a module, at most about twice what was measured
ENGINE_BYTES = 60_000  # what an engine takes beside its code

resource: Any = _optional.try_load("resource")  # Windows has none
lock = _forks.waited_for()  # held for every call of LLVM, whose own locks would else stay held in the child of a fork
_state: dict[str, Any] = {}


def binding() -> Any:
    """llvmlite's binding, initialized once; None where llvmlite is missing or has no target for this machine."""
    with lock:
        if "binding" not in _state:
            _state["binding"] = _load()
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
        _state["features"] = llvm.get_host_cpu_features().flatten()
        _state["target"] = target
    except Exception:
        return None
    return llvm


def vector_bits() -> int:
    """How wide the processor's vectors are: 512, 256 or 128 bits. ADJOINT_VECTOR_BITS forces a width."""
    forced = os.environ.get("ADJOINT_VECTOR_BITS")
    if forced:
        bits = int(forced)
        if bits not in (128, 256, 512):
            raise ValueError(f"ADJOINT_VECTOR_BITS must be 128, 256 or 512, got {forced}")
        return bits
    if "bits" not in _state:
        binding()
        features = set(_state.get("features", "").split(","))
        wide = "+avx512f" in features and "+avx512dq" in features and "+avx512vl" in features
        _state["bits"] = 512 if wide else 256 if "+avx2" in features and "+fma" in features else 128
    return int(_state["bits"])


def has_fma() -> bool:
    """Whether the processor multiplies and adds in one instruction."""
    if binding() is None:
        return False
    return has_feature("fma") or triple().startswith(("aarch64", "arm64"))


def has_ldexp() -> bool:
    """Whether vectors are multiplied by powers of two in one instruction: with AVX-512, for which LLVM has known it since its
    version 22; elsewhere and before, llvm.ldexp is a call for each element."""
    llvm = binding()
    return llvm is not None and vector_bits() == 512 and has_feature("avx512dq") and llvm.llvm_version_info[0] >= 22


@functools.cache
def has_blends() -> bool:
    """Whether the processor chooses among elements of a register by the bits of another: x86 since SSE4.1."""
    return has_feature("sse4.1")


def has_feature(name: str) -> bool:
    """Whether the processor has a feature, as LLVM names it."""
    return binding() is not None and f"+{name}" in _features(_state["features"])


@functools.lru_cache(4)
def _features(text: str) -> frozenset[str]:
    return frozenset(text.split(","))


def is_x86() -> bool:
    """Whether machine code is made for x86-64."""
    return binding() is not None and triple().startswith("x86_64")


def triple() -> str:
    """What machine code is made for, as LLVM names it."""
    with lock:
        return str(binding().get_process_triple())


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
    """What machine code depends on besides its source: the processor's features, what it is made for, LLVM's version."""
    llvm = binding()
    return _state["features"], llvm.get_process_triple(), str(llvm.llvm_version_info)


def link(contents: bytes) -> Library:
    """Object code in memory."""
    with lock, Uninterrupted():
        llvm = binding()
        together = None if calls_outside(contents) else True
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(), use_lmm=together)
        # The engine owns the target machine from here on.
        engine.add_object_file(llvm.ObjectFileRef.from_data(contents))
        engine.finalize_object()
    return Library(engine, len(contents))


def calls_outside(contents: bytes) -> bool:
    """Whether object code calls functions of elsewhere, as `memcpy`; True for what isn't x86's ELF.

    Where the address space is in pieces, LLVM's own memory manager may put code and its constants more than 2 GB apart, which
    LLVM meets by ending the process. llvmlite's takes one block for all of it, but doesn't count the table that such calls need,
    and ends the process as well.
    """
    if contents[:5] != b"\x7fELF\x02" or contents[18:20] != b"\x3e\x00":  # 64 bits, x86-64
        return True
    start, size, count = (
        int.from_bytes(contents[at : at + n], "little") for at, n in ((0x28, 8), (0x3A, 2), (0x3C, 2))
    )
    headers = np.frombuffer(contents, SECTION, count, start) if size == SECTION.itemsize else ()
    for header in headers:
        if header["type"] != RELOCATIONS:
            continue
        entries = np.frombuffer(contents, RELOCATION, int(header["size"]) // RELOCATION.itemsize, int(header["offset"]))
        symbols = headers[int(header["link"])]
        names = np.frombuffer(contents, SYMBOL, int(symbols["size"]) // SYMBOL.itemsize, int(symbols["offset"]))
        calls = entries["symbol"][entries["type"] == CALL]
        if (names["section"][calls] == 0).any():
            return True
    return not len(headers)


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


def _machine() -> Any:
    return _state["target"].create_target_machine(
        cpu="", features=_state["features"], opt=1, reloc="pic", codemodel="default", jit=True
    )


def object_code(text: str) -> bytes:
    """A module's object code. Raises RuntimeError where LLVM rejects the module."""
    with lock, Uninterrupted():
        machine, module = _optimised(text)
        return bytes(machine.emit_object(module))


def assembly(text: str) -> str:
    """A module's machine code in the processor's own notation, as `object_code` makes it."""
    with lock, Uninterrupted():
        machine, module = _optimised(text)
        return str(machine.emit_assembly(module))


def _optimised(text: str) -> tuple[Any, Any]:
    """The machine that writes code, and a module for it whose variables on the stack are registers."""
    llvm = binding()
    _check_room(len(text))
    # One machine writes all code: what it knows of the processor takes 0.7 MB, and half the time for a small module.
    if "writer" not in _state:
        _state["writer"] = _machine()
    machine = _state["writer"]
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.run(module, builder)
    return machine, module
