# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Workers on a Ray cluster; needs Ray.

    pool = bayloom.ray_pool.RayPool("auto")
    bayloom.tune("resnet18.onnx", pool=pool)

Each worker is an actor that runs `bayloom worker` on a node that has the resource "bayloom", as
nodes are started with `ray start --resources '{"bayloom": 1}'`. To the tuner it is a command like
any other, this module as a program, which carries lines between its standard streams and the actor
(docs/workers.md): Ray places the workers and tells of their end, nothing is retried by it.
"""

import argparse
import importlib.util
import json
import os
import shlex
import subprocess
import sys
import threading
from typing import Optional

from ._core import InputError

_MODULE = "bayloom.ray_pool"  # also when it is the program
_CHUNK = 1 << 16


def _connect(address: str):
    import ray
    ray.init(address=address, logging_level="ERROR", log_to_driver=False)
    return ray


class RayPool:
    """The workers of a Ray cluster.

    `address` is that of the cluster, "auto" for the one of this machine. `resource` names the
    resource that machines of one kind have; each unit of it is a worker, at most `workers` of them.
    `command` is what an actor runs, where "bayloom" is the program of the package there.

    Raises ImportError without Ray.
    """

    def __init__(self, address: str = "auto", *, resource: str = "bayloom",
                 workers: Optional[int] = None, command: str = "bayloom worker"):
        if importlib.util.find_spec("ray") is None:  # which takes seconds to import
            raise ImportError("bayloom.ray_pool needs ray: pip install 'bayloom[ray]'")
        self.address = address
        self.resource = resource
        self.workers = workers
        self.command = command

    def commands(self) -> list:
        """A command for each worker that the cluster has room for, for `--workers`.

        Raises InputError where there is none.
        """
        code = [sys.executable, "-m", _MODULE, "count", "--address", self.address,
                "--resource", self.resource]
        done = subprocess.run(code, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines() or ["no answer"]
            raise InputError(f"the Ray cluster '{self.address}' cannot be used: {said[-1]}")
        return self._commands(int(done.stdout.split()[-1]))

    def _commands(self, count: int) -> list:
        """The same for so many units of the resource."""
        if count == 0:
            raise InputError(f"no node of the Ray cluster '{self.address}' has the resource "
                             f"'{self.resource}': start nodes with ray start --resources "
                             f"'{json.dumps({self.resource: 1})}'")
        if self.workers is not None:
            count = min(count, self.workers)
        relay = [sys.executable, "-m", _MODULE, "relay", "--address", self.address, "--resource",
                 self.resource, "--command", self.command]
        return ["exec " + shlex.join(relay)] * count


class _Worker:
    """What the actor is: a process whose streams are read and written from elsewhere."""

    def __init__(self, command: str):
        words = shlex.split(command)
        if words[0] == "bayloom":
            from .program import executable
            words[0] = executable()
        # Its input ends when this process does, and so does it.
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def write(self, data: bytes) -> None:
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def read(self) -> bytes:
        """What it has written, as soon as there is something; nothing at its end."""
        return os.read(self._process.stdout.fileno(), _CHUNK)

    def close(self) -> int:
        self._process.stdin.close()
        return self._process.wait()


def _reason(error: Exception) -> str:
    """Why an actor is gone: Ray's own first line, or, where the worker could not be started, the last
    line of what was raised there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if "creation task" not in lines[0]:
        return f"its machine was lost: {lines[0]}"
    said = lines[-1].rpartition("bayloom.program.CommandFailed: ")[2]
    return f"it could not be started: {said}"


def _relay(address: str, resource: str, command: str) -> int:
    """Carries lines until one end closes."""
    # Ray prints what happens in the cluster: that is not for the tuner to read.
    out = os.dup(1)
    os.dup2(2, 1)
    ray = _connect(address)
    # Reads and writes happen at a time. A trial is never tried again behind the tuner's back.
    actor = ray.remote(_Worker).options(
        num_cpus=0, resources={resource: 1}, max_restarts=0, max_task_retries=0,
        max_concurrency=2).remote(command)

    def forward() -> None:
        while True:
            data = os.read(sys.stdin.fileno(), _CHUNK)
            if not data:
                break
            try:
                # One after the other: calls that are under way together may change places.
                ray.get(actor.write.remote(data))
            except ray.exceptions.RayError:
                return  # reading shows that it is gone, and says why
        # The tuner is gone, or wants no more: everything ends with it.
        ray.kill(actor)
        os._exit(0)

    threading.Thread(target=forward, daemon=True).start()
    while True:
        try:
            data = ray.get(actor.read.remote())
        except ray.exceptions.RayError as error:
            print(_reason(error), file=sys.stderr)
            return 1
        if not data:
            return ray.get(actor.close.remote())
        os.write(out, data)


def _units(address: str, resource: str) -> int:
    """How much of the resource the cluster has."""
    return int(_connect(address).cluster_resources().get(resource, 0))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m bayloom.ray_pool", description=__doc__)
    parser.add_argument("what", choices=["commands", "count", "relay"])
    parser.add_argument("--address", default="auto")
    parser.add_argument("--resource", default="bayloom")
    parser.add_argument("--command", default="bayloom worker")
    given = parser.parse_args()
    if given.what == "count":
        print(_units(given.address, given.resource))
        return 0
    if given.what == "relay":
        return _relay(given.address, given.resource, given.command)
    try:
        pool = RayPool(given.address, resource=given.resource, command=given.command)
        # This process is there for that: no further one has to import Ray, as in pool.commands().
        print(json.dumps(pool._commands(_units(given.address, given.resource))))
    except (ImportError, InputError, ConnectionError) as error:
        print(str(error).strip().splitlines()[-1], file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
