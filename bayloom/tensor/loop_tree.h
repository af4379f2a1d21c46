// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Finding one's way in the loop tree.

/// Position of a node among its parent's children.
int IndexInParent(const Program& program, NodeRef node);
/// True if `node` is below `ancestor` or the same; everything is below the root.
bool IsBelow(const Program& program, NodeRef node, NodeRef ancestor);
/// The innermost loop (or the root) around both nodes.
NodeRef CommonAncestor(const Program& program, NodeRef a, NodeRef b);
/// The child of `ancestor` that contains `node`.
NodeRef ChildTowards(const Program& program, NodeRef ancestor, NodeRef node);

/// Calls visit(BlockId) for the live blocks below a node, in execution order.
template <typename Visitor>
void ForEachBlockBelow(const Program& program, NodeRef node, const Visitor& visit) {
  if (node.is_block()) {
    visit(node.id);
    return;
  }
  for (NodeRef child : program.BodyOf(node)) ForEachBlockBelow(program, child, visit);
}

}  // namespace bayloom::tensor
