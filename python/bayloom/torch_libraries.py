# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Compiled graphs of torch, kept on disk for later processes."""

import contextlib
import hashlib
import os
import tempfile
from importlib import metadata
from typing import Any, Callable, Iterator, Mapping, Optional

import torch

from . import _core, program

_MAX_BYTES = 2 << 30  # of all of them; those that were not used for longest are removed


def key_of(graph: torch.fx.GraphModule, constants: Mapping[int, torch.Tensor],
           options: Mapping[str, Any]) -> str:
    """What a library depends on, as a name: the operators with all that they are given, the
    constants, the options, the processor, the programs that were found by tuning, and the versions
    of what compiles it."""
    key = hashlib.blake2b(digest_size=16)

    def add(*what: Any) -> None:
        for each in what:
            key.update(repr(each).encode(errors="backslashreplace") + b"\0")

    for module in graph.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                value = node.meta.get("val")
                add(node.op, node.name, str(node.target), node.args, sorted(node.kwargs.items()),
                    (value.dtype, value.shape, value.stride())
                    if isinstance(value, torch.Tensor) else None)
                if node.op == "get_attr" and isinstance(getattr(module, node.target), torch.Tensor):
                    key.update(_bytes(getattr(module, node.target)))
    for place, tensor in constants.items():
        add(place, tensor.dtype, tensor.shape)
        key.update(_bytes(tensor))
    executable = os.stat(program.executable())
    add(sorted(options.items()), _core.__version__, executable.st_size, executable.st_mtime_ns,
        torch.__version__, metadata.version("onnxscript"), _processor(), _tuned(options.get("db")))
    return key.hexdigest()


@contextlib.contextmanager
def kept_library(key: str, build: Callable[[str, str], str]) -> Iterator[str]:
    """The library of this key, which `build`, called with a folder and a name, makes where there is
    none. What is loaded from it stays loaded."""
    folder = _folder()
    name = f"graph_{key}"
    kept = os.path.join(folder or "", f"lib{name}.so")
    if folder is not None and os.path.exists(kept):
        os.utime(kept)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="bayloom-", dir=folder) as scratch:
        library = build(scratch, name)
        if folder is not None:
            os.replace(library, kept)
            _remove_oldest(folder)
            library = kept
        yield library


def _store() -> Optional[str]:
    """The database of known programs, as the program finds it (docs/libraries.md)."""
    named = os.environ.get("BAYLOOM_STORE")
    if named:
        return None if named == "off" else named
    data = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            return None
        data = os.path.join(home, ".local", "share")
    return os.path.join(data, "bayloom", "programs.db")


def _folder() -> Optional[str]:
    """Where libraries are kept: beside the database of known programs; None where nothing can be
    kept."""
    store = _store()
    if store is None:
        return None
    folder = os.path.splitext(os.path.abspath(store))[0] + ".torch"
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _remove_oldest(folder: str) -> None:
    libraries = sorted((entry for entry in os.scandir(folder) if entry.is_file()),
                       key=lambda entry: entry.stat().st_mtime, reverse=True)
    total = 0
    for number, entry in enumerate(libraries):
        total += entry.stat().st_size
        if total > _MAX_BYTES and number > 0:
            with contextlib.suppress(FileNotFoundError):
                os.remove(entry.path)


def _bytes(tensor: torch.Tensor) -> memoryview:
    return memoryview(tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy())


def _processor() -> list:
    """What libraries for this machine depend on."""
    kinds = ("model name", "flags", "CPU implementer", "CPU part", "Features")
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        lines = {line for line in file if line.startswith(kinds)}
    return [sorted(lines), len(os.sched_getaffinity(0))]


def _tuned(database: Any) -> list:
    """What tunings have added to the database of known programs, and to the one that is named."""
    found: list = []
    store = _store()
    if store is not None and os.path.exists(store):
        with contextlib.suppress(_core.InputError, _core.MachineError):
            found += [run["uuid"] for run in _core.Database(store).runs()]
    if database is not None and os.path.exists(database):
        named = os.stat(database)
        found += [named.st_size, named.st_mtime_ns]
    return found
