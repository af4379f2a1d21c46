#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# install.sh of the archive: installs, replaces, removes, and refuses what cannot work.
#
#   install_script_test.sh SOURCE
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "install_script_test: $*" >&2; exit 1; }
expect() { grep -qF -- "$1" "$work/output" || fail "'$1' is not in: $(cat "$work/output")"; }

archive=$work/bayloom-1.2.3-linux-x86_64
mkdir -p "$archive"/{bin,licenses,share/man/man1}
cp "$1/scripts/install.sh" "$1/LICENSE" "$archive"
touch "$archive/licenses/zlib1g-dev" "$archive/share/man/man1/bayloom.1.gz"
program() { printf '#!/bin/sh\n%s\n' "$1" >"$archive/bin/bayloom"; chmod +x "$archive/bin/bayloom"; }
install() { HOME=$work/home "$archive/install.sh" "$@" >"$work/output" 2>&1; }

program 'echo bayloom 1.2.3'
install --prefix "$work/a folder" || fail "$(cat "$work/output")"
expect "installed $work/a folder/bin/bayloom"
expect "is not on the PATH"
[[ $("$work/a folder/bin/bayloom" --version) == "bayloom 1.2.3" ]] || fail "another program"
[[ -e "$work/a folder/share/man/man1/bayloom.1.gz" ]] || fail "no manual page"
[[ -e "$work/a folder/share/doc/bayloom/licenses/zlib1g-dev" ]] || fail "no licences"

program 'echo bayloom 1.2.4'
PATH="$work/a folder/bin:$PATH" install --prefix="$work/a folder"
[[ $("$work/a folder/bin/bayloom") == "bayloom 1.2.4" ]] || fail "not replaced"
! grep -q "not on the PATH" "$work/output" || fail "PATH is right"

touch "$work/a folder/bin/other"
install --uninstall --prefix "$work/a folder"
[[ $(cd "$work/a folder" && find . -type f) == ./bin/other ]] || fail "left or removed too much"
if install --uninstall --prefix "$work/a folder"; then fail "removed what is not there"; fi
expect "there is no $work/a folder/bin/bayloom"

program 'exit 1'
if install --prefix "$work/b"; then fail "installed what does not run"; fi
expect "is for Linux on x86_64 with the GNU C library 2.28"
[[ ! -e $work/b ]] || fail "installed parts"
status=0
install --prefxi "$work/b" || status=$?
[[ $status -eq 2 ]] || fail "status $status for an unknown option"
expect "unknown option '--prefxi'"
