#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Runs the lesson on a network that the examples write.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" bert_tiny --out "$folder/bert_tiny.onnx"
"$2" "$folder/bert_tiny.onnx"
