// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/loop_tree.h"

#include <algorithm>

namespace bayloom::tensor {
namespace {

int DepthOf(const Program& program, NodeRef node) {
  int depth = 0;
  for (; node.kind != NodeRef::Kind::kRoot; node = program.ParentOf(node)) ++depth;
  return depth;
}

}  // namespace

int IndexInParent(const Program& program, NodeRef node) {
  const std::vector<NodeRef>& siblings = program.BodyOf(program.ParentOf(node));
  return static_cast<int>(std::find(siblings.begin(), siblings.end(), node) - siblings.begin());
}

bool IsBelow(const Program& program, NodeRef node, NodeRef ancestor) {
  for (;;) {
    if (node == ancestor) return true;
    if (node.kind == NodeRef::Kind::kRoot) return false;
    node = program.ParentOf(node);
  }
}

NodeRef CommonAncestor(const Program& program, NodeRef a, NodeRef b) {
  if (a.is_block()) a = program.ParentOf(a);
  if (b.is_block()) b = program.ParentOf(b);
  int depth_a = DepthOf(program, a);
  int depth_b = DepthOf(program, b);
  for (; depth_a > depth_b; --depth_a) a = program.ParentOf(a);
  for (; depth_b > depth_a; --depth_b) b = program.ParentOf(b);
  while (!(a == b)) {
    a = program.ParentOf(a);
    b = program.ParentOf(b);
  }
  return a;
}

NodeRef ChildTowards(const Program& program, NodeRef ancestor, NodeRef node) {
  for (;;) {
    const NodeRef parent = program.ParentOf(node);
    if (parent == ancestor) return node;
    node = parent;
  }
}

}  // namespace bayloom::tensor
