# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What the documentation says, run."""

import doctest
import importlib
import pathlib
import re

import pytest

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
NEEDS = {"optuna": "optuna", "ConfigSpace": "ConfigSpace", "trials_dataframe": "pandas",
         ".trials.": "pandas", "onnx": "onnx", "torch.compile": "onnxscript"}


@pytest.mark.parametrize("name", ["bayloom", "bayloom.study", "bayloom.kernel", "bayloom.moe"])
def test_examples_of_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0 and result.failed == 0


def sections():
    """The code of each section of the tutorial; blocks of a section follow each other."""
    text = DOCUMENT.read_text()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        code = "\n".join(re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))
        if code:
            yield pytest.param(code, id=section.splitlines()[0])


@pytest.mark.parametrize("code", list(sections()))
def test_the_tutorial_runs(code, request):
    for word, module in NEEDS.items():
        if word in code:
            pytest.importorskip(module)
    if re.search(r"bayloom\.(tune|compile|Session|map|search)\(", code):
        request.getfixturevalue("bayloom_program")
    if "model.onnx" in code:
        import small_network
        small_network.write("model.onnx")
    exec(compile(code, str(DOCUMENT), "exec"), {"__name__": "tutorial"})
