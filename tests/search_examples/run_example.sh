#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Runs an example of a search, small: it must find a configuration with a value. Exits with 77
# (skipped) where a program that the example needs is not installed.
#
#   run_example.sh BAYLOOM SCENARIO TRIALS [NEEDED PROGRAM OR FILE...]
set -euo pipefail
bayloom=$1 scenario=$2 trials=$3
shift 3
for needed in "$@"; do
  [[ $needed == taco ]] && needed=${TACO:-taco}  # no package has it: it may be anywhere
  if [[ ! -e $needed ]] && ! command -v "$needed" >/dev/null; then
    echo "skipped: $needed is not installed"
    exit 77
  fi
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$bayloom" search "$scenario" --trials "$trials" --db "$folder/search.db" --csv "$folder/trials.csv" \
  --out "$folder/best.json"
grep -q '"value"' "$folder/best.json"
rows=$(($(wc -l <"$folder/trials.csv") - 1))
[[ $rows -eq $trials ]] || { echo "expected $trials rows, found $rows"; exit 1; }
