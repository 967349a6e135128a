"""Compile the LLVM text of a file in C, as the package keeps it, to machine code for any x86-64 under POSIX, and write that to
standard output; behind it the SHA-256 of the text. Functions are called `name.function`, as `adjoint.runtime.code` wants them.
`make native` calls it, with a Python that has llvmlite."""

import hashlib
import sys
from pathlib import Path

import llvmlite.binding as llvm

TRIPLE = "x86_64-unknown-linux-gnu"


def machine_code(name: str, text: str) -> bytes:
    """The object code of a module's text, whose variables on the stack become registers."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu="x86-64", opt=2, reloc="pic", codemodel="default", jit=True
    )
    module = llvm.parse_assembly(text.replace("@$", f"@{name}.") + "\nattributes #0 = { nounwind }\n")
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.run(module, builder)
    return bytes(machine.emit_object(module))


if __name__ == "__main__":
    source = Path(sys.argv[1])
    sys.stdout.buffer.write(
        machine_code(source.stem, source.read_text("utf-8")) + hashlib.sha256(source.read_bytes()).digest()
    )
