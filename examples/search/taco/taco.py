# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Compiles a kernel of sparse tensor algebra with TACO (tensor-compiler.org) as a schedule says,
checks it and times it. Gets one configuration a line, answers with its milliseconds.

    python3 taco.py KERNEL WORK_FOLDER

WORK_FOLDER keeps what was compiled. The environment may say more:

    TACO     the program, if it is not on the path
    TENSOR   the sparsity: uniform, banded, powerlaw (the default) or blocked
    PREPARE  if set, kernels are compiled but not run, and 0 is answered
"""

import ctypes
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import tensors

# Loops are named as TACO's schedules name them; `order` counts them from 0.
ROWS = "split(i,i0,i1,{rows})"
POSITIONS = "pos(j,jpos,B),split(jpos,jpos0,jpos1,{split})"
PARALLEL = "parallelize({loop},CPUThread,NoRaces)"

KERNELS = {
    "spmv": {
        "expression": "A(i) = B(i,j) * C(j)",
        "layout": "ds",
        "dimensions": {"i": 40000, "j": 40000},
        "count": 1000000,
        "loops": ["i0", "i1", "jpos0", "jpos1"],
        "schedule": [ROWS, POSITIONS, "reorder({loops})", "unroll(jpos1,{unroll})", PARALLEL],
    },
    "spmm": {
        "expression": "A(i,k) = B(i,j) * C(j,k)",
        "layout": "ds",
        "dimensions": {"i": 8000, "j": 8000, "k": 64},
        "count": 160000,
        "loops": ["i0", "i1", "jpos0", "k", "jpos1"],
        "schedule": [ROWS, POSITIONS, "reorder({loops})", PARALLEL],
    },
    "sddmm": {
        "expression": "A(i,j) = B(i,j) * C(i,k) * D(k,j)",
        "layout": "ds",
        "dimensions": {"i": 1000, "j": 1000, "k": 128},
        "count": 60000,
        "loops": ["i0", "i1", "jpos0", "k", "jpos1"],
        "schedule": [ROWS, POSITIONS, "reorder({loops})", PARALLEL],
    },
    "ttv": {
        "expression": "A(i,j) = B(i,j,k) * C(k)",
        "layout": "sss",
        "dimensions": {"i": 300, "j": 300, "k": 300},
        "count": 800000,
        "loops": ["chunk", "fpos2", "kpos0", "kpos1"],
        "schedule": ["fuse(i,j,f),pos(f,fpos,B),split(fpos,chunk,fpos2,{chunk})",
                     "pos(k,kpos,B),split(kpos,kpos0,kpos1,{split})",
                     "reorder({loops})", "unroll(kpos1,{unroll})", PARALLEL],
    },
    "mttkrp": {
        "expression": "A(i,j) = B(i,k,l,m) * C(k,j) * D(l,j) * E(m,j)",
        "layout": "dsss",
        "dimensions": {"i": 400, "k": 60, "l": 60, "m": 60, "j": 32},
        "count": 120000,
        "loops": ["i0", "i1", "k", "l", "m", "j"],
        "schedule": [ROWS, "reorder({loops})", "unroll(i1,{unroll})", PARALLEL],
    },
}

ENOUGH_SECONDS = 0.06  # of running one kernel
SCHEDULES = {"static": 1, "dynamic": 2, "guided": 3}  # of OpenMP's runtime


class Infeasible(Exception):
    pass


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        words = [line for line in done.stderr.splitlines() if "rror:" in line or "failed:" in line]
        why = (words or ["failed"])[0].split("rror: ")[-1].strip()
        raise Infeasible(f"{pathlib.Path(command[0]).name}: {why}")


def accesses(expression):
    """[("A", "ik"), ("B", "ij"), ...]"""
    terms = expression.replace("=", "*").replace(" ", "").split("*")
    return [(term[0], term[2:-1].replace(",", "")) for term in terms]


class Kernel:
    def __init__(self, name, work):
        self.kernel = KERNELS[name]
        self.work = pathlib.Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.operands = None

    def directives(self, configuration):
        loops = [self.kernel["loops"][item] for item in configuration["order"]]
        parallel = "chunk" if "chunk" in loops else "i0"
        chosen = [d for d in self.kernel["schedule"]
                  if not d.startswith("unroll") or configuration["unroll"] > 1]
        return ",".join(chosen).format(loop=parallel, **{**configuration, "loops": ",".join(loops)})

    def build(self, directives):
        """The path of a shared library with `compute`; what was built before is not built again."""
        key = hashlib.sha1(directives.encode()).hexdigest()[:16]
        library, failure = self.work / (key + ".so"), self.work / (key + ".failed")
        if failure.exists():
            raise Infeasible(failure.read_text())
        if library.exists():
            return library
        try:
            self.compile(directives, self.work / f"{key}-{os.getpid()}", library)
        except Infeasible as error:
            failure.write_text(str(error))
            raise
        return library

    def compile(self, directives, temporary, library):
        command = [os.environ.get("TACO", "taco"), self.kernel["expression"],
                   f"-f=B:{self.kernel['layout']}", f"-write-source={temporary}.c"]
        source = temporary.with_suffix(".c")
        try:
            run(command + ([f"-s={directives}"] if directives else []))
            code = source.read_text().split("\nint assemble(")[0]  # what computes comes first
            source.write_text(code.replace("#pragma unroll", "#pragma GCC unroll"))
            run(["cc", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-w", "-shared", "-fPIC",
                 str(source), "-o", str(temporary)])
            temporary.rename(library)
        finally:
            source.unlink(missing_ok=True)

    def prepare(self):
        """Makes the operands, and the result as TACO computes it without a schedule."""
        sizes = self.kernel["dimensions"]
        shapes = {name: [sizes[i] for i in indices]
                  for name, indices in accesses(self.kernel["expression"])}
        pattern = os.environ.get("TENSOR", "powerlaw")
        self.operands = {
            name: tensors.sparse(pattern, self.kernel["layout"], shape, self.kernel["count"])
            if name == "B" else tensors.dense(shape)
            for name, shape in shapes.items()
        }
        compute = self.load(self.build(""))
        compute()
        self.expected = self.result()

    def load(self, library):
        function = ctypes.CDLL(str(library)).compute
        operands = [ctypes.byref(operand) for operand in self.operands.values()]
        return lambda: function(*operands)

    def result(self):
        return ctypes.string_at(self.operands["A"].values, 8 * self.operands["A"].values_size)

    def measure(self, library, configuration):
        """The median of several runs, in milliseconds; of slow kernels, one run."""
        if self.operands is None:
            self.prepare()
        openmp = ctypes.CDLL("libgomp.so.1")
        openmp.omp_set_num_threads(configuration["threads"])
        openmp.omp_set_schedule(SCHEDULES[configuration["schedule"]], configuration["omp_chunk"])
        compute = self.load(library)
        values = self.operands["A"].values
        ctypes.memset(values, 255, 8 * self.operands["A"].values_size)
        first = self.time(compute)
        if self.result() != self.expected:
            raise Infeasible("wrong result")
        runs = min(25, int(ENOUGH_SECONDS / first))
        return 1e3 * (statistics.median(self.time(compute) for _ in range(runs)) if runs else first)

    @staticmethod
    def time(function):
        begun = time.perf_counter()
        function()
        return time.perf_counter() - begun


def main():
    kernel = Kernel(*sys.argv[1:3])
    for line in sys.stdin:
        configuration = json.loads(line)
        try:
            library = kernel.build(kernel.directives(configuration))
            answer = {"milliseconds": 0}
            if "PREPARE" not in os.environ:
                answer = {"milliseconds": kernel.measure(library, configuration)}
        except (Infeasible, subprocess.TimeoutExpired) as error:
            answer = {"feasible": False, "reason": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
