// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Annotation of a block that copies into shared memory, in a kCooperative loop directly inside of
/// a serial one: a GPU may fetch up to this many iterations' copies at a time, asynchronously, each
/// into memory of its own. The program's meaning is the same; code generation decides whether the
/// block is a copy that the GPU can make so (plan/gpu/gpu_plan.h). 1: one after the other.
inline constexpr char kAsyncStages[] = "async_stages";

/// A block that brings elements as they are, or zeros where a condition does not hold: what
/// cp.async does.
struct AsyncCopy {
  const ExprNode* load = nullptr;
  Expr condition;  ///< undefined: always the element
};

/// nullopt for blocks that do something else.
std::optional<AsyncCopy> MatchCopy(const Program& program, const Block& block);

/// Whether a condition of the block may differ between the values of some digits, `count` of them
/// together. An iterator is on one side of a limit if neighbouring lanes begin at a multiple of
/// their number and the limit is one.
bool VariesOver(const Block& block, const Expr& condition, std::span<const DigitId> lanes,
                int64_t count);

}  // namespace bayloom::tensor
