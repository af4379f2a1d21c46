// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/access.h"

namespace bayloom::plan {

/// Where a buffer's memory comes from.
enum class MemoryKind : uint8_t {
  kParameter,  ///< the caller
  kStack,      ///< the stack of the function that uses it
  kShared,     ///< the workspace's part for all threads
  kWorker,     ///< the workspace's part for each thread
};

struct BufferPlace {
  MemoryKind place = MemoryKind::kParameter;
  int64_t position = 0;  ///< index of the parameter, or byte offset into the part
  int64_t bytes = 0;
  /// Intermediates of their own memory: the region held at a time.
  std::optional<tensor::Allocation> allocation;
  /// Memory private to an iteration of vectorized loops exists once per lane, innermost:
  /// address = offset * lane_count + lane_position.
  int64_t lane_count = 1;
  tensor::Affine lane_position;
  /// It is large, and in a run each element is read once, or for a few results: a constant, keys
  /// and values. Processors fetch such streams ahead, but not far enough.
  bool is_stream = false;
  /// Of an intermediate: the output in whose memory it is, at the same places; else -1.
  tensor::BufferId kept_in = -1;
};

/// The memory of a program's buffers.
struct MemoryPlan {
  std::vector<BufferPlace> buffers;  ///< by BufferId
  int64_t shared_bytes = 0;
  int64_t worker_bytes = 0;
};

MemoryPlan PlanMemory(const tensor::Program& program);

/// Gives a buffer with an allocation its place for every lane of the vectorized loops around.
void ExpandOverLanes(const tensor::Program& program, BufferPlace& place);

/// The loop whose iterations are distributed to threads around a node: the outermost parallel
/// one, since threads do not start threads. -1 if there is none.
tensor::LoopId ParallelLoopAround(const tensor::Program& program, tensor::NodeRef node);

/// An access with its address worked out as far as it can be ahead of time:
///
///     element = affine + sum of stride * index over `dynamic`
struct PlacedAccess {
  struct Dynamic {
    tensor::Expr index;  ///< over the block's iterators
    int64_t stride;
    int64_t extent;  ///< of the dimension
  };
  tensor::BufferId buffer = -1;
  tensor::Affine affine;
  std::vector<Dynamic> dynamic;
};

/// The accesses of one block, and its integer expressions that are affine in digits.
struct BlockAccesses {
  PlacedAccess store;
  std::map<const tensor::ExprNode*, PlacedAccess> loads;
  std::map<const tensor::ExprNode*, tensor::Affine> affine;
};

/// The accesses without `affine`, which only code generation needs. Fails for an index that no
/// address can be made of.
Result<BlockAccesses> PlaceLoadsAndStore(const tensor::Program& program, const MemoryPlan& memory,
                                         const tensor::Block& block);
/// Adds `affine`.
void AddAffineExpressions(const tensor::Block& block, BlockAccesses& accesses);

}  // namespace bayloom::plan
