#!/bin/bash
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# An installed tree is enough to build and run projects that say find_package(bayloom), and a
# project that needs one module only needs the packages of that module only.
#
#   install_test.sh BUILD_FOLDER [CMake options of the consumers...]
set -euo pipefail
build=$1
shift
here=$(dirname "$0")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix/installed" >/dev/null

# configure CONSUMER [CMake options...]
configure() {
  cmake -S "$here/$1" -B "$prefix/$1" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/installed" "${@:2}"
}
# refuse TEXT CMake arguments...: configuring fails with TEXT in its message.
refuse() {
  local said
  if said=$(configure "${@:2}" 2>&1) || [[ $(tr -s ' \n' ' ' <<<"$said") != *"$1"* ]]; then
    echo "expected a failure that says '$1', got: $said"
    exit 1
  fi
}

configure compiler_consumer "$@"
cmake --build "$prefix/compiler_consumer"
"$prefix/compiler_consumer/consumer"

without=()
for package in LLVM ONNX XGBoost CLI11 SQLite3 Protobuf yaml-cpp ZLIB; do
  without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
configure ask_tell_consumer "$@" "${without[@]}"
cmake --build "$prefix/ask_tell_consumer"
"$prefix/ask_tell_consumer/consumer"

configure component_consumer "$@"
rm -rf "$prefix/component_consumer"
configure component_consumer "$@" -DCOMPONENT=experimental
rm -rf "$prefix/compiler_consumer" "$prefix/component_consumer"
refuse "Component codegen of bayloom needs what was not found: LLVM" \
  compiler_consumer "$@" "${without[@]}"
refuse "bayloom has no component 'optimiser'; its components are base, " component_consumer \
  "$@" -DCOMPONENT=optimiser
