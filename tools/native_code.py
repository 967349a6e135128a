"""Compile the LLVM text of a file in C, as the package keeps it, to machine code for any x86-64 under POSIX, and write that to
standard output as it will lie in memory (see `adjoint.runtime.shipped`): first a line with the SHA-256 of the text and where each
function begins. `make native` calls it, with a Python that has llvmlite and this package."""

import hashlib
import sys
from pathlib import Path

import llvmlite.binding as llvm

from adjoint.runtime.code import PAUSES, RELAX
from adjoint.runtime.mapped import placed

TRIPLE = "x86_64-unknown-linux-gnu"


def machine_code(text: str) -> bytes:
    """The object code of a module's text, whose variables on the stack become registers."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu="x86-64", opt=2, reloc="pic", codemodel="default", jit=True
    )
    pause = PAUSES[True]
    text = f"declare void {pause}\n{text.replace('@$', '@').replace(RELAX, pause)}\nattributes #0 = {{ nounwind }}\n"
    module = llvm.parse_assembly(text)
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.run(module, builder)
    return bytes(machine.emit_object(module))


def shipped(text: bytes) -> bytes:
    """What the package keeps of a module's text."""
    found = placed(machine_code(text.decode()))
    if found is None:
        raise SystemExit("the code refers to what isn't its own")
    contents, names = found
    line = " ".join([hashlib.sha256(text).hexdigest(), *[f"{name}={at}" for name, at in sorted(names.items())]])
    return line.encode() + b"\n" + contents


if __name__ == "__main__":
    sys.stdout.buffer.write(shipped(Path(sys.argv[1]).read_bytes()))
