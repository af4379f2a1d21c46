#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# all_flags.sh BAYLOOM EXAMPLES: the scenario of all of gcc's flags names over 200 of them, begins with
# what is as good as -O3, and is searched.
set -euo pipefail
for tool in gcc python3; do
  command -v "$tool" > /dev/null || { echo "no $tool here"; exit 77; }
done
gcc --version | grep -q "Free Software Foundation" || { echo "gcc is another compiler"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 "$2/gcc_all_flags/make_scenario.py" stencil.c > stencil.json
"$1" search stencil.json --trials 3 --optimizer random --db run.db --csv trials.csv --out best.json
python3 - << 'END'
import csv, json
parameters = json.load(open("stencil.json"))["parameters"]
conditional = {name for name, parameter in parameters.items() if "active_if" in parameter}
assert len(parameters) > 200 and len(conditional) > 20, (len(parameters), len(conditional))
trials = list(csv.DictReader(open("trials.csv")))
assert trials[0]["verdict"] == "ok", trials[0]["reason"]
assert 0.5 < float(trials[0]["ratio"]) < 2, trials[0]["ratio"]
assert any(not trial[name] for trial in trials for name in conditional)
assert all(trial[name] for trial in trials for name in parameters if name not in conditional)
END
