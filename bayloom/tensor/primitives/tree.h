// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/tensor/loop_tree.h"

namespace bayloom::tensor {

/// Editing the loop tree: what primitives share. Nothing here checks legality.

/// Refuses ids that are out of range or no longer alive.
Status CheckLoop(const Program& program, LoopId loop);
Status CheckBlock(const Program& program, BlockId block);
/// As above, and the loop must be serial: a loop that has been marked is not restructured.
Status CheckSerialLoop(const Program& program, LoopId loop);

DigitId NewDigit(Program& program, int64_t extent);
/// A loop that is not yet in the tree.
LoopId NewLoop(Program& program, std::vector<DigitId> digits, LoopKind kind = LoopKind::kSerial);
/// A name that no block (buffer) has: `base`, `base_1`, `base_2`, ...
std::string FreshBlockName(const Program& program, const std::string& base);
std::string FreshBufferName(const Program& program, const std::string& base);

/// Puts `replacement` where `node` is; `node` is left without a place.
void ReplaceNode(Program& program, NodeRef node, NodeRef replacement);
void InsertChild(Program& program, NodeRef parent, int index, NodeRef child);
/// Makes `body` the children of a loop.
void SetBody(Program& program, LoopId loop, std::vector<NodeRef> body);
/// Takes a node out of the tree, together with the loops around it that are left empty (they
/// die; the node itself does not).
void Detach(Program& program, NodeRef node);
/// Nests `loops` (outermost first, without bodies yet) around `innermost`. Returns the top.
NodeRef Nest(Program& program, const std::vector<LoopId>& loops, NodeRef innermost);

/// True if some block below the loop reduces over it. Loops of extent 1 never count.
bool IsReductionLoop(const Program& program, LoopId loop);
/// True if one of the digits (of extent above 1) is in a binding of one of the block's reduction
/// iterators.
bool ReducesOver(const Program& program, const Block& block, const std::vector<DigitId>& digits);

}  // namespace bayloom::tensor
