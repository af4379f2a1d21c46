#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# scripts/insert_license writes the licence lines once, below a shebang, into sources only; and
# scripts/check_license names what lacks them.
#
#   check_license_test.sh SCRIPTS
set -euo pipefail
scripts=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
fail() { echo "$1"; exit 1; }

mkdir -p "$tree"/{source,data}
printf '#pragma once\n' >"$tree/source/a.h"
printf '#!/usr/bin/env python3\n"""Runs."""\n' >"$tree/source/run"
chmod +x "$tree/source/run"
printf 'project(x)\n' >"$tree/CMakeLists.txt"
printf 'Text.\n' >"$tree/README.md"
printf 'MIT\n' >"$tree/data/LICENSE"
printf 'a: 1\n' >"$tree/data/theirs.yaml"

said=$("$scripts/check_license" "$tree") && fail "files without the lines were accepted"
[[ $(wc -l <<<"$said") -eq 3 && $said == *"source/run: lacks"* ]] || fail "complained: $said"

"$scripts/insert_license" "$tree"
"$scripts/check_license" "$tree" || fail "insert_license did not write what check_license wants"
cmp "$tree/source/a.h" - <<'TEXT'
// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once
TEXT
cmp "$tree/source/run" - <<'TEXT'
#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Runs."""
TEXT
[[ -x $tree/source/run && $(<"$tree/README.md") == Text. && $(<"$tree/data/theirs.yaml") == "a: 1" ]]

before=$(cat "$tree"/*/* "$tree"/*.txt)
"$scripts/insert_license" "$tree"
[[ $before == "$(cat "$tree"/*/* "$tree"/*.txt)" ]] || fail "a second run changed the files"
