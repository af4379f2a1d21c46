#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# The studies of searches on GPUs from end to end, on an imaginary device, small.
#
#   gpu_study.sh SOURCE_FOLDER BIN
set -euo pipefail
cd "$1"
bin=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

study() {
  benchmarks/gpu/study "$folder/records" --out "$folder/study" --bin "$bin" --small --estimate
}
study
for name in optimizers strategies selections schedulers; do
  [[ $(head -n 1 "$folder/study/$name.txt") == "times: estimated, not measured" ]]
done
python3 - "$folder/study" <<'CHECK'
import gzip
import json
import pathlib
import sys

study = pathlib.Path(sys.argv[1])
sizes = {}
for name in ("known", "unknown"):
    (record,) = (study / "spaces").glob(f"*-{name}/estimated-*_T4.json.gz")
    space = json.loads(gzip.open(record).read())
    assert space["metadata"]["times"] == "estimated, not measured", space["metadata"]
    valid = [r for r in space["results"] if r["invalidity"] == "correct"]
    sizes[name] = (len(space["results"]), len(valid))
assert sizes["known"][0] == sizes["known"][1] == sizes["unknown"][1], sizes
assert sizes["unknown"][0] > 2 * sizes["unknown"][1], sizes
refused = {}
for name in ("known", "unknown"):
    runs = json.load(open(study / f"strategies-{name}.json"))
    assert {run["times"] for run in runs} == {"simulated by a model"}, runs[0]
    assert len({run["strategy"] for run in runs}) == 6
    refused[name] = sum(run["refused"] for run in runs) / len(runs)
assert refused["known"] < 0.1 < refused["unknown"], refused
CHECK

# What is there is not estimated again.
study >"$folder/again.txt"
[[ $(grep -c "^0 programs estimated, not measured" "$folder/again.txt") == 2 ]]
