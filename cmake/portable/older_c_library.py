#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Writes libraries to link against in place of this system's C library, so that what is linked runs
with an older one.

    older_c_library.py VERSION FOLDER       e.g. 2.28 build/portable/c_library

A linker binds a symbol to its newest version in the library that it sees. The libraries written here
have of each symbol of this system's C library the newest version that VERSION has, and no symbol that
VERSION has not: what needs one is not linked (newer_functions.c defines those). They hold no code, and no
program runs with them.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

# What 2.34 united with libc is in these libraries before. Which symbol was in which of them does not
# matter: the loader looks for names and versions in all libraries of a program.
EMPTY = ("libpthread.so.0", "libdl.so.2", "librt.so.1")
SYMBOL = re.compile(
    r"^ *\d+: ([0-9a-f]+) +(\w+) (FUNC|IFUNC|OBJECT|NOTYPE) +(GLOBAL|WEAK) +DEFAULT +\d+ "
    r"(\w+)@@?GLIBC_([0-9.]+)$")

Symbol = collections.namedtuple("Symbol", "address size is_object is_weak version")


def number(version: str) -> tuple:
    return tuple(int(part) for part in version.split("."))


def symbols_of(library: str, newest: str) -> dict:
    """Name to Symbol: the newest version of each that is not newer than `newest`."""
    listing = subprocess.run(["readelf", "--dyn-syms", "--wide", library], check=True, text=True,
                             capture_output=True).stdout
    chosen = {}
    for line in listing.splitlines():
        match = SYMBOL.match(line)
        if not match:
            continue
        address, size, kind, binding, name, version = match.groups()
        if number(version) > number(newest):
            continue
        if name not in chosen or number(version) > number(chosen[name].version):
            chosen[name] = Symbol(int(address, 16), int(size, 0), kind == "OBJECT",
                                  binding == "WEAK", version)
    return chosen


def assembly(symbols: dict) -> str:
    lines = [".text"]
    objects = collections.defaultdict(list)  # names of one object have one address
    for name, symbol in symbols.items():
        lines.append(f"{'.weak' if symbol.is_weak else '.globl'} {name}")
        if symbol.is_object:
            objects[symbol.address].append(name)
        else:
            lines.append(f".type {name}, @function\n{name}: .byte 0")
    lines.append(".data")
    for names in objects.values():
        size = max(symbols[name].size for name in names)
        lines.append(".balign 32")
        lines += [f".type {name}, @object\n.size {name}, {symbols[name].size}\n{name}:"
                  for name in names]
        lines.append(f".zero {max(size, 1)}")
    lines.append('.section .note.GNU-stack,"",@progbits')
    return "\n".join(lines) + "\n"


def version_script(symbols: dict) -> str:
    by_version = collections.defaultdict(list)
    for name, symbol in symbols.items():
        by_version[symbol.version].append(name)
    return "".join(
        f"GLIBC_{version} {{ global: {' '.join(f'{name};' for name in by_version[version])} }};\n"
        for version in sorted(by_version, key=number)) or "{ local: *; };\n"


def write_library(path: pathlib.Path, soname: str, symbols: dict) -> None:
    with tempfile.TemporaryDirectory() as work:
        source, script = pathlib.Path(work, "symbols.s"), pathlib.Path(work, "versions")
        source.write_text(assembly(symbols))
        script.write_text(version_script(symbols))
        subprocess.run(["cc", "-shared", "-nostdlib", f"-Wl,-soname,{soname}",
                        f"-Wl,--version-script,{script}", "-o", path, source], check=True)


def linked_path(name: str) -> str:
    """Where the compiler finds a library of this system."""
    return subprocess.run(["cc", f"-print-file-name={name}"], check=True, text=True,
                          capture_output=True).stdout.strip()


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    newest, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    script = pathlib.Path(linked_path("libc.so")).read_text()
    loader = pathlib.Path(re.search(r"(\S*/ld-linux\S*)", script).group(1))
    static = re.search(r"(\S*/libc_nonshared\.a)", script).group(1)

    write_library(folder / "libc.so.6", "libc.so.6", symbols_of(linked_path("libc.so.6"), newest))
    write_library(folder / "libm.so", "libm.so.6", symbols_of(linked_path("libm.so.6"), newest))
    write_library(folder / loader.name, loader.name, symbols_of(str(loader), newest))
    for soname in EMPTY:
        write_library(folder / soname.rsplit(".", 1)[0], soname, {})
    (folder / "libc.so").write_text(
        f"GROUP ( {folder}/libc.so.6 {static} AS_NEEDED ( {folder}/{loader.name} ) )\n")


if __name__ == "__main__":
    main()
