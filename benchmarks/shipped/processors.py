# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Runs compiled libraries on emulated processors and on this one, and prints what happened.

    benchmarks/shipped/processors.py BAYLOOM NETWORK.onnx [OPTION OF COMPILE]...

Each library is run by qemu-x86_64 (Debian package qemu-user) as several processors. The table says
whose code ran and how far its outputs are from those of the first library on this machine, or what the
library answered. The network has one float32 input and one float32 output.
"""

import array
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

LIBRARIES = ["x86-64-v2", "x86-64-v3", "x86-64-v4", "native", "x86-64-v2,x86-64-v3,native"]
PROCESSORS = ["Nehalem", "Haswell", "max", "this one"]

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "net.h"

int main(int argc, char** argv) {
  const size_t in_bytes = (size_t)atoll(argv[1]), out_bytes = (size_t)atoll(argv[2]);
  void *in = malloc(in_bytes), *out = malloc(out_bytes);
  const bayloom_input inputs[] = {{in, in_bytes, NULL}};
  const bayloom_output outputs[] = {{out, out_bytes, NULL}};
  net_model* model = NULL;
  FILE* file = fopen(argv[3], "rb");
  if (argc != 6 || fread(in, in_bytes, 1, file) != 1) return 2;
  int code = net_create(BAYLOOM_ABI_VERSION, &model);
  for (int run = atoi(argv[5]); run > 0 && code == BAYLOOM_OK; --run) {
    code = net_run(model, inputs, 1, outputs, 1);
  }
  if (code != BAYLOOM_OK) return printf("error %d: %s\n", code, net_error_text(code)), 0;
  file = fopen(argv[4], "wb");
  if (fwrite(out, out_bytes, 1, file) != 1 || fclose(file) != 0) return 2;
  printf("%s\n", net_target(model));
  return net_destroy(model);
}
"""


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def checked(*command):
    result = run(*command)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {result.returncode}\n{result.stderr}")
    return result.stdout


def floats(path):
    return array.array("f", pathlib.Path(path).read_bytes())


class Library:
    """A compiled network and a program that runs it."""

    def __init__(self, bayloom, network, options, targets, folder):
        self.folder, self.targets = folder, targets
        folder.mkdir()
        checked(bayloom, "compile", network, "--threads", 1, "--target", targets, "--name", "net",
                "--out", folder, *options)
        (folder / "main.c").write_text(PROGRAM)
        checked("cc", "-O1", "-march=x86-64", "-I", folder, folder / "main.c", "-o",
                folder / "main", folder / "libnet.so", f"-Wl,-rpath,{folder}")
        sizes = re.findall(r"(\d+) bytes$", (folder / "net.h").read_text(), re.MULTILINE)
        self.in_bytes, self.out_bytes = map(int, sizes)
        self.megabytes = (folder / "libnet.so").stat().st_size / 1e6

    def run_on(self, processor, image, runs=1):
        """What the program printed, or how it ended."""
        emulator = [] if processor == "this one" else ["qemu-x86_64", "-cpu", processor]
        result = run(*emulator, self.folder / "main", self.in_bytes, self.out_bytes, image,
                     self.folder / "out", runs)
        return result.stdout.strip() if result.returncode == 0 else f"ended with {result.returncode}"

    def milliseconds(self, image):
        """A run on this machine; the least of three differences."""
        def seconds(runs):
            begin = time.monotonic()
            self.run_on("this one", image, runs)
            return time.monotonic() - begin
        return min(seconds(21) - seconds(1) for _ in range(3)) / 20 * 1e3


def main():
    bayloom, network, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        libraries = [Library(bayloom, network, options, targets, folder / str(i))
                     for i, targets in enumerate(LIBRARIES)]
        generator = random.Random(1)
        image = folder / "image"
        image.write_bytes(array.array(
            "f", (generator.gauss(0, 1) for _ in range(libraries[0].in_bytes // 4))).tobytes())
        libraries[0].run_on("this one", image)
        expected = floats(libraries[0].folder / "out")
        largest = max(map(abs, expected))

        print("| library | MB | " + " | ".join(PROCESSORS) + " | ms, this one |")
        print("|---" * (len(PROCESSORS) + 3) + "|")
        for library in libraries:
            cells = []
            for processor in PROCESSORS:
                answer = library.run_on(processor, image)
                if not answer.startswith(("error", "ended")):
                    out = floats(library.folder / "out")
                    error = max(abs(a - b) for a, b in zip(out, expected)) / largest
                    answer += f", {error:.0e}"
                cells.append(answer.split(":")[0])
            print(f"| {library.targets} | {library.megabytes:.1f} | " + " | ".join(cells) +
                  f" | {library.milliseconds(image):.1f} |", flush=True)


if __name__ == "__main__":
    main()
