// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/trace.h"

namespace bayloom::tuning {

/// The trace with the decisions of another one of the same design space, made for other extents.
/// `like` is any candidate's trace of the workload at hand, which says what the extents are. A tile
/// becomes the factorization whose factors are nearest in logarithms, where the outermost factor
/// takes up the difference of the extents; other decisions stay, and replay repairs them. Fails
/// where the traces are of different spaces or a decision is missing.
Result<tensor::Trace> AdaptTrace(const tensor::Trace& other, const tensor::Trace& like);

/// The best recorded programs of all tasks on a target, to be adapted to tasks that differ in their
/// extents only: those whose design spaces have the same instructions.
class AdaptedPrograms {
 public:
  /// Reads the best `per_task` traces of each task.
  AdaptedPrograms(record::Store& store, const target::Target& target, int per_task = 2);

  /// Candidates of the space made from those of the nearest extents, the nearest first, `count` at
  /// most and each program once.
  std::vector<sketch::Candidate> For(const sketch::SpaceGenerator& space, int count) const;

 private:
  std::map<uint64_t, std::vector<tensor::Trace>> traces_;  ///< by Trace::SpaceHash
};

}  // namespace bayloom::tuning
