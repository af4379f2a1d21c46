#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# scripts/check_layers accepts includes that point downward and names every other one.
#
#   check_layers_test.sh CHECK_LAYERS
set -euo pipefail
check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir -p "$tree"/docs "$tree"/bayloom/{ground,first,second,alsosecond}
cat >"$tree/docs/architecture.md" <<'TABLE'
| layer | module |
|---|---|
| 0 | `ground` |
| 1 | `first` |
| 2 | `second` |
| 2 | `alsosecond` |
TABLE

# expect VERDICT TEXT: the check passes or fails, and says TEXT when it fails.
expect() {
  local verdict=accepted said
  said=$("$check" "$tree") || verdict=refused
  [[ $verdict == "$1" && $said == *"$2"* ]] || {
    echo "expected to be $1 with '$2', was $verdict with '$said'"
    exit 1
  }
}
include() { echo "#include \"bayloom/$2\"" >"$tree/bayloom/$1"; }

include second/a.h first/b.h
include second/a.cc second/a.h
include first/b.h ground/c.h
expect accepted ""

include ground/deep.h first/b.h
expect refused "bayloom/ground/deep.h:1: ground (layer 0) includes first (layer 1)"
rm "$tree/bayloom/ground/deep.h"

mkdir "$tree/bayloom/second/inner"
include second/inner/d.cc alsosecond/e.h
expect refused "bayloom/second/inner/d.cc:1: second (layer 2) includes alsosecond (layer 2)"
rm "$tree/bayloom/second/inner/d.cc"

include second/f.cc attic/g.h
expect refused "includes the unknown module 'attic'"
rm "$tree/bayloom/second/f.cc"

# What an umbrella header reaches is public.
include ground.h ground/c.h
include ground/c.h ground/b.h
include ground/c.cc ground/h.h
include second/a.cc ground/b.h
expect accepted ""
include second/a.cc ground/h.h
expect refused "bayloom/second/a.cc:1: includes bayloom/ground/h.h, which bayloom/ground.h does not reach"
include second/a.cc ground.h
expect refused "bayloom/second/a.cc:1: includes the umbrella header of ground"
include second/a.cc second/a.h

include second.h second/a.h
echo '#include "bayloom/first.h"' >>"$tree/bayloom/second.h"
expect accepted ""
include first.h second/a.h
expect refused "bayloom/first.h:1: first (layer 1) includes second (layer 2)"
rm "$tree/bayloom/first.h"

mkdir "$tree/bayloom/shed"
expect refused "bayloom/shed: not in the table"
