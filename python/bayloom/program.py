# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The program `bayloom`, which is part of this package.

Compilers, their candidates and the measuring of these run in processes of their own: what they do
to themselves, this one survives, and no two versions of LLVM meet in one process.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from typing import Any, Callable, Optional, Sequence

from ._core import InputError

_POLL_SECONDS = 0.1
# Exit codes of the program (docs/errors.md).
_BAD_INPUT = 2
_NOT_IN_THIS_BUILD = 3


class CommandFailed(RuntimeError):
    """A command of the program failed, for no fault of its input."""


class NoCompiler(ImportError):
    """The command needs the compiler, which this package was built without."""


class Stopped(Exception):
    """To be raised by a callback to let the command end in order, with what it has found."""


def executable() -> str:
    """The program: what BAYLOOM_PROGRAM names, that of this package, or the one on the path."""
    named = os.environ.get("BAYLOOM_PROGRAM")
    if named:
        return named
    inside = os.path.join(os.path.dirname(__file__), "bin", "bayloom")
    found = inside if os.access(inside, os.X_OK) else shutil.which("bayloom")
    if found is None:
        raise CommandFailed("the program 'bayloom' is not in this package and not on the path; "
                            "name it with the environment variable BAYLOOM_PROGRAM")
    return found


def options(**given: Any) -> list:
    """Options of a command line: None and False are left out, lists are repeated, dicts are
    NAME=VALUE."""
    line = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            line.append(option)
        elif isinstance(value, dict):
            for key, each in value.items():
                many = each if isinstance(each, (list, tuple)) else [each]
                line += [option, f"{key}={','.join(str(one) for one in many)}"]
        elif isinstance(value, (list, tuple)):
            line += [part for each in value for part in (option, os.fspath(each))]
        else:
            line += [option, str(value)]
    return line


def run(arguments: Sequence[str], *, verbose: bool = False,
        poll: Optional[Callable[[], None]] = None) -> Any:
    """What the command prints with --json. `poll` is called now and then meanwhile; `verbose` lets
    the command's progress through to standard error.

    Raises InputError for what it refuses, NoCompiler for what its build has not and CommandFailed
    for what breaks. KeyboardInterrupt and
    what `poll` raises end the command in order before they are passed on; after Stopped its result
    is returned.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        # A session of its own: Ctrl-C reaches the command through this process only, once.
        process = subprocess.Popen([executable(), *arguments, "--json"], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=None if verbose else errors,
                                   start_new_session=True)
        try:
            _wait(process, poll)
        except Stopped:
            _interrupt(process)
        except BaseException:
            _interrupt(process)
            raise
        printed, said = (_content(file) for file in (out, errors))
    if process.returncode in (0, 128 + signal.SIGINT) and printed:
        return json.loads(printed)
    raise failure(process.returncode, said, arguments[0])


def call(arguments: Sequence[str]) -> str:
    """What a command prints that ends soon. Raises as `run` does."""
    done = subprocess.run([executable(), *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return done.stdout
    raise failure(done.returncode, done.stderr, arguments[0])


def failure(code: int, said: str, command: str) -> Exception:
    """The last line of what a command said when it failed, or the signal that ended it."""
    if code < 0:
        return CommandFailed(f"'bayloom {command}' was ended by {signal.Signals(-code).name}")
    lines = said.strip().splitlines() or [f"'bayloom {command}' ended with {code}"]
    kinds = {_BAD_INPUT: InputError, _NOT_IN_THIS_BUILD: NoCompiler}
    text = lines[-1].removeprefix("bayloom: ")
    # What is wrong with an option is said of the argument: "--max-size: ..." is "max_size: ...".
    text = re.sub(r"^--([a-z-]+)(?=: )", lambda option: option[1].replace("-", "_"), text)
    return kinds.get(code, CommandFailed)(text)


def _content(file: Any) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _wait(process: subprocess.Popen, poll: Optional[Callable[[], None]]) -> None:
    ended = False
    while not ended:
        try:
            process.wait(_POLL_SECONDS)
            ended = True
        except subprocess.TimeoutExpired:
            pass
        if poll is not None:
            poll()


def _interrupt(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGINT)
    process.wait()
