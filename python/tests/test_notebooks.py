# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The notebooks of the examples run, from an empty folder."""

import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NEEDS = {"black_box_search": ["numpy", "pandas"], "tuned_network": ["numpy", "onnx", "pandas"],
         "accelerator_mapping": ["pandas"]}


@pytest.mark.parametrize("name", sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")))
def test_a_notebook_runs(name, tmp_path, bayloom_program):
    for module in NEEDS[name]:
        pytest.importorskip(module)
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    # What is kept in the tree has no outputs, which would differ from machine to machine.
    assert not any(cell.get("outputs") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
