"""torch.save and torch.load: tensors as safetensors, all else as JSON beside them. No pickle is ever executed."""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import os
import sys
import tempfile
from collections import Counter, OrderedDict
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from adjoint.dtypes import DTYPES, DType
from adjoint.interop import load_with_metadata
from adjoint.interop import save as save_tensors
from adjoint.interop.torch_files import is_torch_file, read_torch
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user
from adjoint.tensors.named import owner_of

from ._creation import device, on_cpu
from ._errors import Unreadable
from ._storages import Lying, lying, overlapping, place_in, views_of_storages
from ._tensor import Core, Parameter, Size, Tensor, as_torch, reclassed
from .nn.modules import Module

__all__ = ["add_safe_globals", "load", "safe_globals", "save"]

KEY = "adjoint.torch"  # the entry of the file's metadata that has the structure
PAIRS = "adjoint.torch.complex128"  # and the one that names what is stored as pairs of float64
OBJECTS = ("module", "object", "name")  # what a structure has of classes and functions
NAMESPACES = ("argparse:Namespace", "types:SimpleNamespace")


def save(
    obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: Any = None, _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:  # fmt: skip
    """Write tensors, and containers of them with numbers, texts and arrays, to a file (a path, or something to write to).

    A module, a dataclass's instance or a namespace is written as the name of its class, and its attributes; `load` finds the class
    by that name. What can't be written so
    is a TypeError. There is one format, so what says how PyTorch writes (`pickle_module` and the others) changes nothing.
    """  # noqa: E501
    parts = _Parts()
    structure = json.dumps(parts.structure(obj))
    tensors = parts.tensors
    if not tensors:
        tensors["nothing"] = np.zeros(0, np.float32)
    metadata = {KEY: structure}
    if paired := [name for name, x in tensors.items() if x.dtype == "complex128"]:  # which safetensors don't have
        metadata[PAIRS] = json.dumps(paired)
        for name in paired:
            tensors[name] = np.stack([tensors[name].real, tensors[name].imag], axis=-1)
    if isinstance(f, (str, os.PathLike)):
        save_tensors(_path(f), tensors, metadata=metadata)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.safetensors")
        save_tensors(path, tensors, metadata=metadata)
        with open(path, "rb") as file:
            f.write(file.read())


class safe_globals:
    """What PyTorch may load besides weights. Here the names of a file's classes are looked up among loaded modules anyway."""

    def __init__(self, safe_globals: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def add_safe_globals(safe_globals: Any) -> None:
    """Nothing to do: see `safe_globals`."""


def _path(f: Any) -> Any:
    return os.fspath(f)


class _Parts:
    """The tensors and arrays of what is saved, each once, and their entries in the structure."""

    def __init__(self) -> None:
        self.tensors: dict[str, Any] = {}
        self.names: dict[int, str] = {}
        self.entries: list[tuple[dict[str, Any], Core]] = []

    def structure(self, x: Any) -> Any:
        """A value as JSON. Tensors that share memory are one there, and where each of them lies in it."""
        made = _written(x, self)
        said = [(entry, x, lying(x)) for entry, x in self.entries if isinstance(x, Tensor)]
        found = [(entry, x, at) for entry, x, at in said if at is not None]
        shared = overlapping((k, id(owner_of(x)), at) for k, (_, x, at) in enumerate(found))
        for k in sorted(shared):
            entry, x, at = found[k]
            owner = owner_of(x)
            if owner is not x:
                self.tensors.pop(self.names[id(x)], None)
                kind = "tensor" if "tensor" in entry else "parameter"
                entry[kind], entry["of"] = [list(at.shape), list(at.strides), at.offset], self.entry(owner)
                entry["name"] = self.names[id(x)]
        return made

    def name(self, x: Any) -> str:
        """What a tensor or an array is called among those of the file."""
        if id(x) not in self.names:
            name = self.names[id(x)] = f"t{len(self.names)}"
            self.tensors[name] = np.array(x.detach().numpy() if isinstance(x, Core) else x)
        return self.names[id(x)]

    def entry(self, x: Any) -> dict[str, Any]:
        """Its entry."""
        kind = "array" if isinstance(x, np.ndarray) else "parameter" if isinstance(x, Parameter) else "tensor"
        made = {kind: self.name(x), "grad": isinstance(x, Core) and x.requires_grad}
        if kind != "array":
            self.entries.append((made, x))
        return made


def _written(x: Any, parts: _Parts) -> Any:
    """A value as JSON, its tensors and arrays put aside."""
    if isinstance(x, (Core, np.ndarray)):
        return parts.entry(x)
    if x is None or isinstance(x, (bool, str)):
        return x
    if isinstance(x, int):
        return {"int": str(int(x))}
    if isinstance(x, (float, np.floating)):
        return {"float": float(x).hex()}
    if isinstance(x, np.integer):
        return {"int": str(int(x))}
    if isinstance(x, complex):
        return {"complex": [x.real, x.imag]}
    if isinstance(x, bytes):
        return {"bytes": base64.b64encode(x).decode()}
    if isinstance(x, DType):
        return {"dtype": x.name}
    if isinstance(x, device):
        return {"device": str(x)}
    if isinstance(x, dict):
        kind = "ordered" if isinstance(x, OrderedDict) else "dict"
        return {kind: [[_written(k, parts), _written(v, parts)] for k, v in x.items()]}
    for container, name in ((Size, "size"), (tuple, "tuple"), (list, "list"), (set, "set")):
        if isinstance(x, container):
            return {name: [_written(v, parts) for v in x]}
    if isinstance(x, Module):
        return {"module": _name(x), "state": _written(dict(vars(x)), parts)}
    if _is_record(type(x)):
        state = vars(x) if hasattr(x, "__dict__") else {f.name: getattr(x, f.name) for f in dataclasses.fields(x)}
        return {"object": _name(x), "state": _written(dict(state), parts)}
    if isinstance(x, (FunctionType, BuiltinFunctionType, type)) and "<" not in x.__qualname__:
        return {"name": f"{x.__module__}:{x.__qualname__}"}
    hint = (
        "save its state_dict()" if hasattr(x, "state_dict") else "save numbers, texts, tensors and containers of them"
    )
    raise TypeError(
        f"save: a {type(x).__module__}.{type(x).__name__} would need a pickle, which runs code when it is read; {hint}{at_user()}"
    )


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: Any = None, mmap: Any = None,
         encoding: str = "utf-8") -> Any:  # fmt: skip
    """What `save` has written, safetensors files of others, and `.pt` files of PyTorch that hold plain tensors."""
    if map_location is not None and not callable(map_location) and not isinstance(map_location, dict):
        on_cpu(map_location)
    if not isinstance(f, (str, os.PathLike)):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.safetensors")
            with open(path, "wb") as file:
                file.write(f.read() if not isinstance(f, io.BytesIO) else f.getvalue())
            return _load(path, weights_only, "load: what was given")
    return _load(_path(f), weights_only, "")


def _load(path: str, weights_only: Any, called: str) -> Any:
    """What a file holds; an error calls it by its path, or as it is `called`."""
    with open(path, "rb") as file:
        start = file.read(9)
    try:
        if is_torch_file(start):
            value, places = read_torch(path)
            return _pytorchs(value, views_of_storages(places))
        tensors, metadata = load_with_metadata(path)
    except ValueError as error:
        raise Unreadable(str(error).replace(str(path), called or str(path))) from None
    if KEY not in metadata:
        return {name: as_torch(t) for name, t in tensors.items()}
    for name in json.loads(metadata.get(PAIRS, "[]")):
        tensors[name] = asarray(np.ascontiguousarray(tensors[name].numpy()).view(np.complex128)[..., 0])
    structure = json.loads(metadata[KEY])
    if weights_only and any(f'"{kind}"' in metadata[KEY] for kind in OBJECTS):
        _refuse_objects(structure, path)
    made: dict[str, Any] = {}
    return _read(structure, tensors, made)


def _pytorchs(x: Any, done: dict[int, Any]) -> Any:
    """What a file of PyTorch's holds, with tensors of PyTorch's kind; each object once, however often it is referred to. `done`
    are those of them that there are."""
    if id(x) not in done:
        if isinstance(x, Core):
            found: Any = reclassed(x, Parameter) if x.requires_grad else as_torch(x)
        elif isinstance(x, dict) and not isinstance(x, Counter):
            found = {k: _pytorchs(v, done) for k, v in x.items()}
        else:
            found = type(x)(_pytorchs(v, done) for v in x) if isinstance(x, (list, tuple, set)) else x
        done[id(x)] = found
    return done[id(x)]


def _name(x: Any) -> str:
    return _name_of(type(x))


def _name_of(kind: Any) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _is_record(kind: Any) -> bool:
    """Whether a class is attributes and no more: a dataclass or a namespace, of which nothing runs when one is made or freed."""
    plain = dataclasses.is_dataclass(kind) or (isinstance(kind, type) and _name_of(kind) in NAMESPACES)
    return plain and not hasattr(kind, "__del__")


def _refuse_objects(x: Any, path: Any) -> None:
    """Raise where a structure names classes or functions."""
    named = [kind for kind in OBJECTS if isinstance(x, dict) and kind in x]
    if named:
        what = x[named[0]]
        raise RuntimeError(f"load: {path} holds a {what}, no weights; weights_only=False reads it{at_user()}")
    for value in x.values() if isinstance(x, dict) else x if isinstance(x, list) else ():
        _refuse_objects(value, path)


def _object(name: str) -> Any:
    """A class or function of a module that is loaded already; none is imported for a file's sake."""
    place, _, path = name.partition(":")
    found: Any = sys.modules.get(place)
    if found is None:
        raise RuntimeError(f"load: the file needs {name}, whose module isn't loaded; import {place} first{at_user()}")
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _module(x: Any, tensors: Any, made: dict[str, Any]) -> Any:
    """A module of its class, with the attributes that it had. No constructor is called."""
    kind = _object(x["module"])
    if not (isinstance(kind, type) and issubclass(kind, Module)):
        raise RuntimeError(f"load: {x['module']} is no module{at_user()}")
    found = kind.__new__(kind)
    found.__dict__.update(_read(x["state"], tensors, made))
    return found


def _record(x: Any, tensors: Any, made: dict[str, Any]) -> Any:
    """An instance of a dataclass, or a namespace, with the attributes that it had. No constructor is called."""
    kind = _object(x["object"])
    if not _is_record(kind):
        raise RuntimeError(f"load: {x['object']} is neither a dataclass nor a namespace{at_user()}")
    found = object.__new__(kind)
    for name, value in _read(x["state"], tensors, made).items():
        object.__setattr__(found, name, value)
    return found


def _kept(x: Any, kind: str, grad: bool) -> Any:
    """What is loaded, of the kind that was saved."""
    return Parameter(x, grad) if kind == "parameter" else x.requires_grad_(grad)


def _read(x: Any, tensors: Any, made: dict[str, Any]) -> Any:
    if not isinstance(x, dict):
        return x
    kind, value = next(iter(x.items()))
    if kind == "array":
        return np.array(tensors[value].numpy())
    if "of" in x:  # a part of another one's memory
        key = x.get("name") or json.dumps([value, x["of"]])
        if key not in made:
            at = Lying(tuple(value[0]), tuple(value[1]), value[2])
            made[key] = _kept(place_in(_read(x["of"], tensors, made).detach(), at), kind, x["grad"])
        return made[key]
    if kind in ("tensor", "parameter"):
        if value not in made:
            made[value] = _kept(as_torch(tensors[value]), kind, x["grad"])
        return made[value]
    if kind == "module":
        return _module(x, tensors, made)
    if kind == "object":
        return _record(x, tensors, made)
    if kind == "name":
        return _object(value)
    if kind == "dtype":
        return DTYPES[value]
    if kind in ("dict", "ordered"):
        pairs = [(_read(k, tensors, made), _read(v, tensors, made)) for k, v in value]
        return dict(pairs) if kind == "dict" else OrderedDict(pairs)
    simple: dict[str, Any] = {
        "int": int, "float": float.fromhex, "complex": lambda v: complex(*v), "bytes": base64.b64decode,
        "device": device,
    }  # fmt: skip
    if kind in simple:
        return simple[kind](value)
    container = {"size": Size, "tuple": tuple, "list": list, "set": set}[kind]
    return container(_read(v, tensors, made) for v in value)
