#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Messages of libraries name no options of the command line: users of C++ and Python have none.
# An OptionError names the field, and the command line its option (docs/errors.md).
#
#   option_names_test.sh SOURCE
set -euo pipefail
option='"(--[a-z][a-z-]*[^"a-z-]|[^"]*[ ('"'"'|]--[a-z])'

found() {
  (cd "$1" && grep -rnE "$option" bayloom --include='*.cc' --include='*.h' |
    grep -vE '^bayloom/(cli/|[a-z_]*main\.cc)|^[^:]*:[0-9]*: *//')
}

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/bayloom/"{space,cli}
printf 'Run({"ptxas", "--version", "-Wl,--strip"});\n// see "bayloom tune --help"\n' >"$tree/bayloom/space/a.cc"
printf 'throw InputError("--jobs: say it to each worker");\n' >"$tree/bayloom/cli/a.cc"
if found "$tree"; then echo "refused what is no message of a library"; exit 1; fi
printf 'throw InputError("--jobs: one");\nthrow InputError("begin without --resume");\n' \
  >"$tree/bayloom/space/a.cc"
[[ $(found "$tree" | wc -l) -eq 2 ]] || { echo "accepted an option's name in a message"; exit 1; }

if found "$1"; then echo "messages of libraries name options of the command line"; exit 1; fi
