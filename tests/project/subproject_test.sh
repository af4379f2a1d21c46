#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# A project that adds Bayloom as a subfolder keeps its flags and builds what it links only.
#
#   subproject_test.sh SOURCE_FOLDER [CMake options...]
set -euo pipefail
source=$(realpath "$1")
shift
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

cmake -S "$(dirname "$0")/subproject" -B "$build" -G Ninja -DBAYLOOM_SOURCE="$source" \
  -DBAYLOOM_UNITY_BUILD=ON "$@"
command=$(grep '"command".*bayloom_space\.dir/Unity/unity_0' "$build/compile_commands.json")
[[ $command == *" -DOF_THE_PARENT -O1 -DNDEBUG "* && $command != *-Werror* ]] || {
  echo "the parent's flags are not those of: $command"
  exit 1
}
if grep -q bayloom-config "$build/bayloom/cmake_install.cmake"; then
  echo "the subfolder has rules for installing"
  exit 1
fi
cmake --build "$build" --target version
"$build/version"
