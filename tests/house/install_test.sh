#!/bin/bash
# An installed tree is enough to build and run a project that says find_package(bayloom).
#
#   install_test.sh BUILD_FOLDER [CMake options of the consumer...]
set -euo pipefail
build=$1
shift
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix/installed" >/dev/null
cmake -S "$(dirname "$0")/consumer" -B "$prefix/consumer" -G Ninja \
  -DCMAKE_PREFIX_PATH="$prefix/installed" "$@"
cmake --build "$prefix/consumer"
"$prefix/consumer/consumer"
