# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Result files of the benchmark programs, run small: their provenance and their rows.

    result_files.py SOURCE_FOLDER COMPILERS SIMULATE
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def read(path):
    result = json.loads(path.read_text())
    assert result["title"] and result["date"].count("-") == 2 and result["commit"], result
    assert result["machine"]["cores"] >= 1 and "family" in result["machine"]["processor"], result
    assert len(result["command"]) == 1 and str(path) in result["command"][0], result
    return result


def check_compilers(folder, source, compilers):
    path = folder / "compilers.json"
    run(compilers, source / "benchmarks/compilers/fpga.yaml", "--seeds", 2, "--optimizers",
        "random,bayesian", "--result", path)
    row, mean = read(path)["rows"]
    assert (row["benchmark"], row["configurations"], row["failing"]) == ("fpga-macs", 50, 11), row
    assert mean["benchmark"] == "mean" and mean["random_full"] == row["random_full"], mean
    for optimizer in ("random", "bayesian"):
        assert 0 < row[f"{optimizer}_third"] <= row[f"{optimizer}_full"] <= 1, row


def check_searches(folder, source, simulate):
    runs, path = folder / "runs.json", folder / "recorded_spaces.json"
    run(simulate, "loop-order", "--seeds", 3, "--trials", 20, "--optimizers", "random,annealing",
        "--json", runs)
    entries = json.loads(runs.read_text())
    for entry in entries:
        entry["space"] = "convolution/A100"
    entries[0]["runs"][0]["trials_to_reach"] = [4, 7, None]
    entries[0]["runs"][1]["trials_to_reach"] = [5, None, None]
    entries[0]["runs"][2]["trials_to_reach"] = [6, 9, None]
    runs.write_text(json.dumps(entries))
    run(sys.executable, source / "benchmarks/peers/autotuners/tabulate.py", runs, "--peer", "X=1.0",
        "--result", path)
    result = read(path)
    row = result["rows"][0]
    assert result["peers"] == {"X": "1.0"} and len(result["rows"]) == 2, result
    assert (row["search"], row["seeds"], row["max_evaluations"]) == ("Bayloom random", 3, 20), row
    assert (row["A100_10"], row["A100_10_low"], row["A100_10_high"]) == (5, 4, 5), row
    assert (row["A100_5"], row["A100_5_low"], row["A100_1"]) == (9, 7, ">20"), row


def main():
    source, compilers, simulate = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        check_compilers(pathlib.Path(name), source, compilers)
        check_searches(pathlib.Path(name), source, simulate)


if __name__ == "__main__":
    main()
