# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""A C program that links to a compiled network computes what `bayloom run` does.

    classify_test.py BAYLOOM MODELS CLASSIFY_C
"""

import array
import pathlib
import random
import subprocess
import sys
import tempfile

PIXELS, CLASSES = 3 * 224 * 224, 1000


def varint(number):
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def tensor(shape, values):
    """A float32 tensor as ONNX stores it: dims (1), data_type (2) and raw_data (9)."""
    dims = b"".join(b"\x08" + varint(extent) for extent in shape)
    data = values.tobytes()
    return dims + b"\x10\x01" + b"\x4a" + varint(len(data)) + data


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {result.returncode}\n{result.stderr}")
    return result.stdout


def main():
    bayloom, models, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        network, library, program = folder / "squeezenet1.1.onnx", folder / "lib", folder / "classify"
        library.mkdir()
        run(models, "squeezenet1.1", "--out", network)
        run(bayloom, "compile", network, "--out", library)
        run("cc", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{library}", source, "-o", program,
            f"-L{library}", "-lsqueezenet1_1", f"-Wl,-rpath,{library}")

        generator = random.Random(1)
        image = array.array("f", (generator.gauss(0, 1) for _ in range(PIXELS)))
        (folder / "image.f32").write_bytes(image.tobytes())
        shown = run(program, folder / "image.f32", folder / "scores.f32")
        scores = array.array("f", (folder / "scores.f32").read_bytes())
        assert len(scores) == CLASSES
        ranking = sorted(range(CLASSES), key=lambda i: -scores[i])
        assert [int(line.split()[1].rstrip(":")) for line in shown.splitlines()] == ranking[:5], shown

        # bayloom run compares its outputs with those of the folder.
        (folder / "input_0.pb").write_bytes(tensor([1, 3, 224, 224], image))
        (folder / "output_0.pb").write_bytes(tensor([1, CLASSES], scores))
        run(bayloom, "run", network, "--data", folder)

        short = subprocess.run([program, folder / "lib/squeezenet1_1.h"], capture_output=True, text=True)
        assert short.returncode == 2 and "not a file of" in short.stderr, short


if __name__ == "__main__":
    main()
