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

record() {
  "$script" --out "$out" --time 12s --program "$program" --target cuda:sm_90 \
    --families "softmax" --pool "--tasks-per-family 1 --programs-per-task 4" \
    --operators "matmul:16,16,16 matmul:8,24,40"
}
trials() { zcat "$out"/*.jsonl.gz | grep -c '"trial"'; }

record
first=$(trials)
record
second=$(trials)
echo "$first trials, then $second"
((first > 0 && second > first)) || { echo "the second call did not go on"; exit 1; }
grep -q bayloom "$out/machine.txt" || { echo "machine.txt does not name the program"; exit 1; }
