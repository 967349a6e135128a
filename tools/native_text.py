"""Read the LLVM text that clang makes of a file in C, whose name is given, and print what the package keeps: the functions alone,
under the names that `adjoint.runtime.code` wants, without what names one processor, one version of clang or its guesses.
`make native` calls it."""

import hashlib
import re
import sys
from pathlib import Path

DROPPED = (
    r"captures\([a-z0-9_: ]*\)", r"noalias(?= noundef)", r"\bnoundef\b", r"\bnonnull\b", r"\bread(only|none)\b", r"\bwriteonly\b",
    r"\bdso_local\b", r"\b(local_)?unnamed_addr\b", r"\btail\b", r"\brange\([^)]*\)", r"(?<=inbounds) nuw", r"#\d+",
    r", ![\w.]+ !\d+", r";.*$", r"initializes\(\([^)]*\)\)",
)  # fmt: skip
HINTS = "@llvm.lifetime."


def kept(text: str) -> str:
    """The functions of a module's text."""
    found, inside = [], False
    for line in text.splitlines():
        inside = inside or line.startswith("define")
        if inside and HINTS not in line:
            for pattern in DROPPED:
                line = re.sub(pattern, "", line)
            line = re.sub(r"@(\w+)\(", lambda name: f"@{'' if name[1] == 'relax' else '$'}{name[1]}(", line)
            indent = len(line) - len(line.lstrip())
            line = line[:indent] + re.sub(r" +", " ", line[indent:]).replace("( ", "(").replace(" )", ")").rstrip()
            found.append(line.replace(") {", ") #0 {") if line.startswith("define") else line)
        if line == "}":
            inside = False
    return "\n".join(found) + "\n"


if __name__ == "__main__":
    source = Path(sys.argv[1])
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    sys.stdout.write(f"; Made from {source.name} by `make native`; its SHA-256 is {digest}\n{kept(sys.stdin.read())}")
