"""What type checkers are told of the methods that tensors get at run time: `python tests/helpers/tensor_methods.py` writes
`src/adjoint/tensors/methods.pyi` anew, of the tables in `tensors/protocols.py` and of the operations' records."""

from __future__ import annotations

from pathlib import Path

from adjoint.tensors.protocols import ALIASES, LAZY_METHODS, METHODS

FILE = Path(__file__).resolve().parents[2] / "src" / "adjoint" / "tensors" / "methods.pyi"
HEAD = '''"""The methods of tensors that are public functions, for type checkers: the class gets them when the package is
imported, or when they are first looked up. `python tests/helpers/tensor_methods.py` writes this file, a test compares it."""

'''


def text() -> str:
    modules = {"adjoint.tensors.functions": sorted(METHODS)}
    modules |= {module: sorted(names.split()) for module, names in LAZY_METHODS.items()}
    imports = [f"from {module.rpartition('.')[0]} import {module.rpartition('.')[2]}" for module in modules]
    methods = [f"    {name} = {module.rpartition('.')[2]}.{name}" for module in modules for name in modules[module]]
    aliases = [f"    {name} = {function}" for name, function in ALIASES.items()]
    return HEAD + "\n".join(sorted(imports)) + "\n\nclass Methods:\n" + "\n".join([*methods, *aliases]) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
