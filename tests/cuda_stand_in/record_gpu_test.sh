#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# scripts/record_gpu, with what stands for the driver: record_gpu_test.sh SCRIPT BAYLOOM DRIVER
set -euo pipefail
script=$1
program=$2
export BAYLOOM_CUDA_DRIVER=$3 BAYLOOM_CUDA_IMAGE=stand-in
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

fail() {
  echo "$*"
  exit 1
}
options=(--out "$out" --program "$program" --target cuda:sm_90 --families "softmax"
  --pool "--tasks-per-family 1 --programs-per-task 4" --operators "matmul:16,16,16 matmul:8,24,40"
  --figures "matmul:17,16,16")
record() { "$script" "${options[@]}" --time 10s "$@"; }
trials() { zcat "$out"/*.jsonl.gz 2>/dev/null | grep -c '"trial"' || true; }

# Calls go on where the last one ended; on a busy machine it takes more of them.
record >"$out/first.txt"
for ((calls = 1; calls < 20; ++calls)); do
  [[ -s $out/figures.jsonl && -e $out/tuned.db ]] && (($(trials) > 0)) && break
  record >/dev/null
done
first=$(trials)
echo "$first trials after $calls calls"
((first > 0)) || fail "nothing was measured"
grep -q bayloom "$out/machine.txt" || fail "machine.txt does not name the program"

# Where there is nothing to compare with, one line says so.
if ! python3 -c 'import torch' 2>/dev/null; then
  [[ $(grep -c "nothing to compare with" "$out/first.txt") == 1 ]] || fail "peers: not one line"
fi
# A figure is measured once.
python3 - "$out/figures.jsonl" <<'CHECK' || fail "figures.jsonl"
import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
assert [line["subject"] for line in lines] == ["matmul:17,16,16"], lines
assert lines[0]["tuned"]["total"] > 0 and lines[0]["tuned"]["trials"] > 0, lines
CHECK

# Ctrl-C ends it, what was measured is exported, and the next call goes on.
set -m
tuned() {
  python3 -c 'import sqlite3, sys
print(sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute("SELECT COUNT(*) FROM trials").fetchone()[0])' \
    "$out/tuned.db"
}
before=$(tuned)
"$script" "${options[@]}" --only trajectories --time 10m >/dev/null 2>"$out/stopped.txt" &
stopped=$!
until (($(tuned) > before)); do
  kill -0 "$stopped" || fail "it ended without a trial: $(cat "$out/stopped.txt")"
  sleep 0.2
done
kill -INT -- "-$stopped"
code=0
wait "$stopped" || code=$?
set +m
[[ $code == 130 ]] || fail "stopped with $code: $(cat "$out/stopped.txt")"
(($(trials) > first)) || fail "what was measured before the stop is lost"

# What is missing is one line.
code=0
BAYLOOM_CUDA_DRIVER=/nowhere/libcuda.so.1 record 2>"$out/missing.txt" || code=$?
[[ $code == 2 ]] || fail "without a driver: $code"
grep -q "there is no NVIDIA driver here" "$out/missing.txt" || fail "$(cat "$out/missing.txt")"
code=0
record --time soon 2>"$out/missing.txt" || code=$?
[[ $code == 2 && $(wc -l <"$out/missing.txt") == 1 ]] || fail "--time soon: $code"
