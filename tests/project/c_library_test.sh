#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# A program linked against the older C library runs, and scripts/check_c_library tells it from others.
#
#   c_library_test.sh SOURCE PROGRAM OTHER
set -euo pipefail
check=$1/scripts/check_c_library
"$2"
"$check" "$2"
fails() { if "$@" >"$work/output" 2>&1; then echo "not refused: $*" >&2; exit 1; fi; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fails "$check" "$3"
grep -q 'needs libstdc++.so.6' "$work/output"
grep -qE ' needs version 2\.(29|3[0-9]) of the C library' "$work/output"
fails "$check" --newest 2.2.5 "$2"
"$check" --newest 2.99 "$2"
fails "$check"
