"""`python -m benchmarks.programs FOLDER`: run the programs in a folder of checkouts, and write the table of their times.

FOLDER holds checkouts of karpathy/micrograd, makemore, minGPT and nanoGPT, pytorch/examples, and (as `tutorials`) the files of
the sixty-minute tutorial. Each program runs as it is, in a copy of its folder, once under `adjoint.torch` and once under
PyTorch, on one thread, with small data of `standins`. `--only NAME` runs one, `--with adjoint` one side.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import pkgutil  # noqa: F401  # runpy's, which PyTorch has loaded before the clock starts
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

# name: folder, file, arguments
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "micrograd": ("micrograd", "test/test_engine.py", ""),
    "micrograd demo": ("micrograd", "demo.ipynb", "3"),
    "makemore transformer": ("makemore", "makemore.py", "--max-steps 60 --num-workers 0 -i names.txt"),
    "makemore bigram": ("makemore", "makemore.py", "--type bigram --max-steps 300 --num-workers 0"),
    "makemore mlp": ("makemore", "makemore.py", "--type mlp --max-steps 300 --num-workers 0"),
    "makemore rnn": ("makemore", "makemore.py", "--type rnn --max-steps 60 --num-workers 0"),
    "makemore gru": ("makemore", "makemore.py", "--type gru --max-steps 60 --num-workers 0"),
    "makemore bow": ("makemore", "makemore.py", "--type bow --max-steps 100 --num-workers 0"),
    "minGPT adder": ("minGPT", "projects/adder/adder.py", "--trainer.max_iters=120 --trainer.num_workers=0"),
    "minGPT chargpt": ("minGPT", "projects/chargpt/chargpt.py", "--trainer.max_iters=20 --trainer.num_workers=0 --model.model_type=gpt-micro --trainer.batch_size=16"),
    "nanoGPT train.py": ("nanoGPT", "train.py", "config/train_shakespeare_char.py --device=cpu --compile=False --eval_iters=4 --log_interval=10 --block_size=64 --batch_size=12 --n_layer=4 --n_head=4 --n_embd=128 --max_iters=60 --lr_decay_iters=60 --dropout=0.0 --eval_interval=30"),
    "nanoGPT sample.py": ("nanoGPT", "sample.py", "--device=cpu --out_dir=out-shakespeare-char --num_samples=10 --max_new_tokens=500"),
    "mnist": ("examples/mnist", "main.py", "--epochs 1 --no-accel --test-batch-size 128"),
    "mnist_rnn": ("examples/mnist_rnn", "main.py", "--epochs 1"),
    "vae": ("examples/vae", "main.py", "--epochs 3 --no-accel"),
    "regression": ("examples/regression", "main.py", ""),
    "word_language_model LSTM": ("examples/word_language_model", "main.py", "--epochs 1 --log-interval 5 --emsize 64 --nhid 64"),
    "word_language_model Transformer": ("examples/word_language_model", "main.py", "--epochs 1 --log-interval 5 --model Transformer --emsize 64 --nhid 64 --lr 5"),
    "super_resolution": ("examples/super_resolution", "main.py", "--upscale_factor 3 --batchSize 4 --testBatchSize 2 --nEpochs 1 --lr 0.001 --threads 0"),
    "dcgan": ("examples/dcgan", "main.py", "--dataset fake --niter 1 --dry-run --workers 0 --batchSize 16"),
    "siamese_network": ("examples/siamese_network", "main.py", "--epochs 1 --dry-run --no-accel --batch-size 16 --test-batch-size 64"),
    "tutorial: tensors": ("tutorials", "tensor_tutorial.py", ""),
    "tutorial: autograd": ("tutorials", "autograd_tutorial.py", ""),
    "tutorial: networks": ("tutorials", "neural_networks_tutorial.py", ""),
    "tutorial: classifier": ("tutorials", "cifar10_tutorial.py", ""),
}  # fmt: skip


class _Renamed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """`import torch...` gives `adjoint.torch...`: the one change of a program's imports, made while they run."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name == "torch" or name.startswith("torch."):
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, spec: Any) -> Any:
        return importlib.import_module(f"adjoint.{spec.name}")

    def exec_module(self, module: Any) -> None:
        pass


def run_one(side: str, file: str, arguments: list[str]) -> None:
    """In a process of its own: run a program, and print how long it took."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if side == "adjoint":
        sys.meta_path.insert(0, _Renamed())
    torch = importlib.import_module("torch")

    torch.set_num_threads(1)
    from benchmarks.programs.standins import install

    install(torch)
    sys.argv = [file, *arguments]
    sys.path.insert(0, str(Path(file).resolve().parent))
    sys.path.insert(0, os.getcwd())
    start, wall = time.process_time(), time.perf_counter()
    if file.endswith(".ipynb"):
        run_notebook(side, file, int(arguments[0]))
    elif Path(file).name.startswith("test_"):
        for name, f in runpy.run_path(file).items():
            if name.startswith("test_"):
                f()
    else:
        runpy.run_path(file, run_name="__main__")
    print("TIMES", json.dumps([time.process_time() - start, time.perf_counter() - wall]))


def run_notebook(side: str, file: str, steps: int) -> None:
    """The cells of micrograd's demo, with so many steps of its 100: of its own numbers, or (`adjoint`) of the core's variables."""
    if side == "adjoint":
        import adjoint as ad

        ad.set_default_dtype("float64")
        engine = importlib.import_module("micrograd.engine")
        vars(engine)["Value"] = lambda data: ad.variable(float(data))  # a bias starts as the integer 0
    cells = json.loads(Path(file).read_text())["cells"]
    names: dict[str, Any] = {"__name__": "__main__"}
    for source in ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]:
        exec(re.sub(r"^%.*$", "", source, flags=re.MULTILINE).replace("range(100)", f"range({steps})"), names)


def measure(side: str, name: str, checkouts: Path, python: str) -> tuple[float | None, str]:
    """The seconds of the processor that a program takes, or what it failed with; and its output."""
    folder, file, arguments = PROGRAMS[name]
    if not (checkouts / folder / file).exists():
        return None, f"{name}: {checkouts / folder / file} isn't there; the checkout is missing, or is a part of one"
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / Path(folder).name
        kept = Path(tempfile.gettempdir()) / f"nanoGPT-{side}"
        shutil.copytree(checkouts / folder, place)
        if name == "nanoGPT sample.py" and kept.exists():
            shutil.copytree(kept, place / "out-shakespeare-char")
        from benchmarks.programs.standins import prepare

        prepare("chargpt" if "chargpt" in name else Path(folder).name, place)
        own = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}  # both sides read compiled Python
        own["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "programs-bytecode")
        environment = {**own, "OMP_NUM_THREADS": "1", "ADJOINT_NUM_THREADS": "1",
                       "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), str(place), *([os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else [])])}  # fmt: skip
        command = [python, "-m", "benchmarks.programs", "--one", side, file, *arguments.split()]
        subprocess.run(command, cwd=place, env=environment, capture_output=True, timeout=1200)  # the second run counts
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=1200)
        if name == "nanoGPT train.py" and done.returncode == 0:
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(place / "out-shakespeare-char", kept)
    times = [line for line in done.stdout.splitlines() if line.startswith("TIMES")]
    output = done.stdout + done.stderr
    steps = re.search(
        r"after (\d+) batches", done.stdout
    )  # regression ends when its loss is small: the time of 600 batches
    seconds = json.loads(times[0][6:])[0] if times else None
    return (seconds if seconds is None or not steps else seconds * 600 / int(steps.group(1))), output


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        run_one(sys.argv[2], sys.argv[3], sys.argv[4:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--with", dest="side", choices=["adjoint", "torch"])
    parser.add_argument("--show", action="store_true", help="print what the programs print")
    options = parser.parse_args()
    for name in options.only or ():
        if name not in PROGRAMS:
            parser.error(f"no program {name!r}; there are {', '.join(PROGRAMS)}")
    print("| program | adjoint.torch | PyTorch | ratio |\n|---|---|---|---|")
    for name in options.only or PROGRAMS:
        found: list[float | None] = []
        for side in [options.side] if options.side else ["adjoint", "torch"]:
            seconds, output = measure(side, name, options.folder.resolve(), sys.executable)
            found.append(seconds)
            if options.show or seconds is None:
                print(output[-3000:], file=sys.stderr)
        shown = ["failed" if s is None else f"{s:.2f} s" for s in found]
        ratio = f"{found[1] / found[0]:.2f}" if len(found) == 2 and found[0] and found[1] else ""
        print(f"| {name} | {' | '.join(shown)} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
