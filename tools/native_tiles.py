"""Write the kernels of matrix products and convolutions that come with the package, as machine code for any x86-64 with AVX2, to
standard output: first a line with the SHA-256 of their texts and where each function begins, then what lies in memory. `make
native` calls it, with a Python that has llvmlite and this package."""

import hashlib
import sys

from adjoint.compiler import shipped_tiles
from adjoint.compiler.targets import target
from adjoint.runtime import llvm
from adjoint.runtime.mapped import placed


def shipped() -> bytes:
    """What the package keeps of them."""
    with target.instead(shipped_tiles.PROCESSOR):
        written = shipped_tiles.text()
        machine, module = llvm.optimised(written)
        found = placed(bytes(machine.emit_object(module)))
    if found is None:
        raise SystemExit("the code refers to what isn't its own")
    contents, names = found
    digest = hashlib.sha256(written.encode()).hexdigest()
    line = " ".join([digest, *[f"{name}={at}" for name, at in sorted(names.items())]])
    return line.encode() + b"\n" + contents


if __name__ == "__main__":
    sys.stdout.buffer.write(shipped())
