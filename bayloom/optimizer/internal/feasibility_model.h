// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/model/feasibility_forest.h"
#include "bayloom/optimizer/internal/features.h"
#include "bayloom/optimizer/internal/memory.h"

namespace bayloom::optimizer {

/// How likely configurations are to be feasible, learnt from all trials of a memory once one of
/// them has failed (Hellsten et al. 2023, sec. 4.2). Until then everything is.
class FeasibilityModel {
 public:
  explicit FeasibilityModel(const Features& features) : features_(features) {}

  /// Learns again when a further trial has failed (beyond 1,000 trials: when failures have grown by
  /// a twentieth), or trials have grown by a twentieth. True when it did. Learns from 10,000 trials
  /// at most.
  bool Update(const Memory& memory, base::RandomStream& random);
  void Forget() { learnt_ = 0; }

  bool is_needed() const { return learnt_ > 0; }
  Eigen::VectorXd Probability(const model::RowMatrix& rows) const {
    return forest_.Probability(rows);
  }

 private:
  const Features& features_;
  model::FeasibilityForest forest_;
  size_t learnt_ = 0;  ///< trials
  size_t failures_ = 0;
};

}  // namespace bayloom::optimizer
