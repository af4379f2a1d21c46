#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Schedulers are compared in real tunings, small: sequential is as fast and as soon as itself, and
# what was tuned and timed once is not done again.
#
#   compare_schedulers.sh SOURCE_FOLDER BAYLOOM REMEASURE MODELS
set -euo pipefail
source=$1 bayloom=$2 remeasure=$3 models=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$models" bert_tiny --out "$folder/bert_tiny.onnx"
compare() {  # MORE OPTIONS...
  python3 "$source/benchmarks/scheduling/compare.py" "$folder/bert_tiny.onnx" \
    --bayloom "$bayloom" --remeasure "$remeasure" --schedulers gradient --trials 24 --seeds 1 \
    --threads 1 --out "$folder/runs" "$@"
}
compare
python3 - "$folder/runs/schedulers.json" <<'CHECK'
import json
import sys

sequential, gradient = json.load(open(sys.argv[1]))
run = sequential["runs"][0]
assert sequential["scheduler"] == "sequential" and gradient["scheduler"] == "gradient"
assert run["latency_ratio"] == run["sooner_in_trials"] == run["sooner_in_seconds"] == 1, run
assert gradient["runs"][0]["latency"] > 0, gradient
CHECK

stamp=$(stat -c %y "$folder"/runs/*.done "$folder/runs/bert_tiny-24.json")
compare >/dev/null
[[ $stamp == $(stat -c %y "$folder"/runs/*.done "$folder/runs/bert_tiny-24.json") ]]

# Another scheduler is timed together with the others.
compare --schedulers gradient,linear >/dev/null
grep -q linear "$folder/runs/schedulers.json"

# Too few trials for the ten tasks.
if compare --trials 4 --out "$folder/few" 2>"$folder/error"; then
  echo "a network without programs was compared"
  exit 1
fi
[[ $(cat "$folder/error") == "bert_tiny.onnx: 4 trials leave tasks without a program" ]]

if "$remeasure" "$folder/bert_tiny.onnx" "$folder/runs/bert_tiny-gradient-1.db" --only none \
  2>"$folder/error"; then
  echo "tunings of no strategy were timed"
  exit 1
fi
[[ $(cat "$folder/error") == "bayloom-remeasure: no finished tuning of bert_tiny.onnx" ]]
