#!/bin/bash
# scripts/check_types accepts names that are used once or in unnamed namespaces, and no others.
#
#   check_types_test.sh CHECK_TYPES
set -euo pipefail
check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/bayloom/{first,second}

# expect VERDICT TEXT: the check passes or fails, and says TEXT when it fails.
expect() {
  local verdict=accepted said
  said=$("$check" "$tree") || verdict=refused
  [[ $verdict == "$1" && $said == *"$2"* ]] || {
    echo "expected to be $1 with '$2', was $verdict with '$said'"
    exit 1
  }
}

cat >"$tree/bayloom/first/tree.h" <<'CODE'
namespace bayloom {
class Forest;
template <typename T>
struct Tree {
  struct Leaf {};
};
}  // namespace bayloom
CODE
cat >"$tree/bayloom/second/growth.cc" <<'CODE'
namespace bayloom {
namespace {
struct Tree {};
}  // namespace
struct Forest::Impl {};
}  // namespace bayloom
CODE
expect accepted ""

echo 'enum class [[nodiscard]] Tree : int { kOak };' >"$tree/bayloom/second/kind.h"
expect refused "bayloom/second/kind.h:1: Tree is defined in bayloom/first/tree.h too"
