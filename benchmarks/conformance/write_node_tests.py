# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Writes the tests of operators that the installed package `onnx` has, a folder each.

    python3 benchmarks/conformance/write_node_tests.py FOLDER

Releases of ONNX no longer hold them as files. Each folder gets model.onnx and test_data_set_0 with
the inputs and expected outputs, as Debian's libonnx-testdata has them.
"""

import pathlib
import random
import sys

import numpy
from onnx import numpy_helper
from onnx.backend.test import loader


def serialized(value, info):
    """A test's input or output as the bytes of its protobuf message."""
    if hasattr(value, "SerializeToString"):
        return value.SerializeToString()
    kind = info.type.WhichOneof("value")
    convert = {"map_type": numpy_helper.from_dict, "sequence_type": numpy_helper.from_list,
               "optional_type": numpy_helper.from_optional}.get(kind)
    if convert is None:
        return numpy_helper.from_array(numpy.asarray(value), info.name).SerializeToString()
    return convert(value, info.name).SerializeToString()


def write(case, root):
    folder = root / case.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir(exist_ok=True)
        for kind, values, infos in (("input", inputs, case.model.graph.input),
                                    ("output", outputs, case.model.graph.output)):
            for i, value in enumerate(values):
                (data / f"{kind}_{i}.pb").write_bytes(serialized(value, infos[i]))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    numpy.random.seed(0)
    random.seed(0)
    cases = loader.load_model_tests(kind="node")
    for case in cases:
        write(case, pathlib.Path(sys.argv[1]))
    print(f"{len(cases)} tests in {sys.argv[1]}")


if __name__ == "__main__":
    main()
