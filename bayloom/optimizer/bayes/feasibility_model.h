// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <vector>

#include "bayloom/model/feasibility_forest.h"
#include "bayloom/optimizer/bayes/features.h"
#include "bayloom/optimizer/bayes/history.h"

namespace bayloom::optimizer {

/// How likely configurations are to be feasible, learnt from all trials of a history once one of
/// them has failed (Hellsten et al. 2023, sec. 4.2). Until then everything is.
///
/// A trial is built, then runs, then its answer is checked. Each stage at which trials have failed
/// has a forest of its own, which learns from the trials that came so far: what makes a build fail
/// is not what makes a program crash. The probability is the product of the stages'.
class FeasibilityModel {
 public:
  explicit FeasibilityModel(const Features& features) : features_(features) {}

  /// Learns again when a further trial has failed (beyond 1,000 trials: when failures have grown by
  /// a twentieth), or trials have grown by a twentieth. True when it did. Learns from 10,000 trials
  /// at most.
  bool Update(const History& history, base::RandomStream& random);
  void Forget() { learnt_ = 0; }

  bool is_needed() const { return learnt_ > 0; }
  Eigen::VectorXd Probability(const model::RowMatrix& rows) const;

 private:
  static constexpr int kStages = 3;

  struct Stage {
    bool can_fail = false;  ///< trials have failed there
    model::FeasibilityForest forest;
  };

  const Features& features_;
  std::array<Stage, kStages> stages_;
  size_t learnt_ = 0;  ///< trials
  size_t failures_ = 0;
};

}  // namespace bayloom::optimizer
