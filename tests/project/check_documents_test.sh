#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# The checks of documents accept what is right and name the place of what is not: retired words,
# excerpts that differ from the source, links to nowhere, result files without provenance, a page
# that is not rendered.
#
#   check_documents_test.sh SCRIPTS
set -euo pipefail
scripts=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# expect VERDICT TEXT COMMAND...: the check passes or fails, and says TEXT when it fails.
expect() {
  local verdict=accepted said
  said=$("${@:3}" 2>&1) || verdict=refused
  [[ $verdict == "$1" && $said == *"$2"* ]] || {
    echo "${*:3}: expected to be $1 with '$2', was $verdict with '$said'"
    exit 1
  }
}

mkdir -p "$tree"/{docs/studies,benchmarks/results,examples}

# Words
printf 'A module in `rooms`, check_layers and a doormat.\n\n```sh\nfloor\n```\n' >"$tree/docs/a.md"
expect accepted "" "$scripts/check_words" "$tree"
printf 'Fine.\nTwo Rooms.\n' >"$tree/docs/studies/b.md"
expect refused "docs/studies/b.md:2: 'Rooms': use module" "$scripts/check_words" "$tree"
rm "$tree/docs/studies/b.md"
mkdir "$tree/bayloom"
printf '#include "crew.h"\nCrew crew;  // a pool\n' >"$tree/bayloom/a.h"
expect accepted "" "$scripts/check_words" "$tree"
printf 'Say("the crew");\n/* Its\n * crew. */\n' >"$tree/bayloom/b.cc"
expect refused "bayloom/b.cc:1: 'crew': use worker pool" "$scripts/check_words" "$tree"
expect refused "bayloom/b.cc:3: 'crew': use worker pool" "$scripts/check_words" "$tree"
rm -r "$tree/bayloom"

# Excerpts
printf 'int main() {\n  Ask();\n  if (x) {\n    Tell();\n  }\n}\n' >"$tree/examples/a.cc"
excerpt() {
  printf '<!-- excerpt of examples/a.cc -->\n```cpp\n%b```\n' "$1" >"$tree/README.md"
}
expect refused "no excerpts found" "$scripts/check_excerpts" "$tree"
excerpt 'Ask();\nif (x) {\n  Tell();\n}\n'
expect accepted "" "$scripts/check_excerpts" "$tree"
excerpt 'Ask();\nTell();\n'
expect refused "README.md:1: not an excerpt of examples/a.cc" "$scripts/check_excerpts" "$tree"
printf '<!-- excerpt of examples/b.cc -->\n```cpp\nAsk();\n```\n' >"$tree/README.md"
expect refused "README.md:1: there is no examples/b.cc" "$scripts/check_excerpts" "$tree"

# Links
printf '# A page: x\n\n[code](../examples/a.cc) [self](#a-page-x) `[no](link)`\n\n    [no](link)\n\n[far](https://x.y/z)\n' \
  >"$tree/docs/a.md"
printf '[a](docs/a.md#a-page-x)\n' >"$tree/README.md"
expect accepted "" "$scripts/check_links" "$tree"
[[ $("$scripts/check_links" --targets "$tree") == examples/a.cc ]]
printf '\n[a](docs/a.md#b) [b](docs/b.md)\n' >"$tree/README.md"
expect refused "README.md:2: docs/a.md#b: no such heading" "$scripts/check_links" "$tree"
expect refused "README.md:2: docs/b.md: no such file" "$scripts/check_links" "$tree"
printf '[a](../b.md)\n' >"$tree/README.md"
expect refused "README.md:1: ../b.md: no such file" "$scripts/check_links" "$tree"

# Results
result() {  # FIELDS...
  printf '{"title": "T", "commit": "c", "peers": {}, "rows": [{"n": 2, "ms": 1.5}, {"n": 4, "ms": null}],
    "machine": {"processor": "P", "cores": 2, "system": "S"}%s}' "$1" >"$tree/benchmarks/results/times.json"
}
cat >"$tree/benchmarks/results/performance.md.in" <<'TEMPLATE'
# Page
{{table times}}
| n | time |
| {n} | {ms:.2f} ms |
{{end}}
{{table times where n=2|3}}
| n |
| {n} |
{{end}}
{{source times}}
TEMPLATE
result ', "date": "2026-01-02", "command": ["./run"]'
expect refused "docs/performance.md is not what the result files say" \
  "$scripts/render_performance" --check "$tree"
"$scripts/render_performance" "$tree"
expect accepted "" "$scripts/render_performance" --check "$tree"
diff "$tree/docs/performance.md" - <<'PAGE'
<!-- Written by scripts/render_performance; edit benchmarks/results instead. -->
# Page
| n | time |
| --- | --- |
| 2 | 1.50 ms |
| 4 | - ms |
| n |
| --- |
| 2 |
Measured 2026-01-02 on 2 cores of P, S; commit c.

```sh
./run
```
PAGE
result ', "date": "2026-01-02", "command": []'
expect refused "times.json: 'command' is not a filled list" "$scripts/render_performance" "$tree"
result ', "command": ["./run"]'
expect refused "times.json: 'date' is missing" "$scripts/render_performance" "$tree"
result ', "date": "yesterday", "command": ["./run"]'
expect refused "times.json: the date 'yesterday' is not of the form" \
  "$scripts/render_performance" "$tree"
