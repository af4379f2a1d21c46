# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""A network in parts, run by the example, computes what onnxruntime does.

    run_plan_test.py BAYLOOM EXAMPLE_FOLDER
"""

import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def detector(path):
    """Scores of 16 places by a convolution, those above 0 by NonZero, and sums around them."""
    generator = numpy.random.default_rng(1)

    def weights(name, *shape):
        values = generator.standard_normal(shape).astype(numpy.float32)
        return numpy_helper.from_array(values, name)

    nodes = [
        helper.make_node("Conv", ["image", "w"], ["features"], pads=[1, 1, 1, 1], name="conv"),
        helper.make_node("Relu", ["features"], ["positive"], name="relu"),
        helper.make_node("NonZero", ["positive"], ["places"], name="find"),
        helper.make_node("Transpose", ["places"], ["listed"], perm=[1, 0], name="list"),
        helper.make_node("GatherND", ["positive", "listed"], ["found"], name="take"),
        helper.make_node("ReduceSum", ["found"], ["sum"], keepdims=0, name="sum"),
        helper.make_node("Div", ["positive", "sum"], ["shares"], name="divide"),
        helper.make_node("Conv", ["shares", "v"], ["result"], pads=[1, 1, 1, 1], name="last"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "detector", [value("image", TensorProto.FLOAT, [1, 3, 16, 16])],
        [value("result", TensorProto.FLOAT, [1, 4, 16, 16]),
         value("found", TensorProto.FLOAT, ["count"])],
        [weights("w", 8, 3, 3, 3), weights("v", 4, 8, 3, 3)],
        value_info=[value("sum", TensorProto.FLOAT, [])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main():
    bayloom, example = sys.argv[1:]
    sys.path.insert(0, example)
    from run_plan import Plan

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = folder / "detector.onnx"
        detector(model)
        subprocess.run([bayloom, "compile", model, "--partial", "--out", folder / "lib",
                        "--effort", "none"], check=True)
        plan = Plan(folder / "lib" / "detector.plan.json")
        assert [type(step).__name__ for step in plan.steps] == [
            "LibraryStep", "OnnxStep", "LibraryStep"], plan.steps
        image = numpy.random.default_rng(2).standard_normal((1, 3, 16, 16)).astype(numpy.float32)
        session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        actual = plan.run({"image": image})
        for output, expected in zip(session.get_outputs(), session.run(None, {"image": image})):
            numpy.testing.assert_allclose(actual[output.name], expected, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main()
