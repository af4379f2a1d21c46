// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/optimizer/optimizer.h"
#include "bayloom/pareto/front.h"

namespace bayloom::optimizer {

/// Several objectives through an optimizer of one (ParEGO, Knowles 2006): it minimizes an augmented
/// Chebyshev sum of the objectives,
///
///     max_k w_k z_k + 0.05 sum_k w_k z_k,
///
/// z_k between 0 and 1 on the front, with weights that are drawn again, uniformly, as trials come
/// in. Any point of a front, also of one that is not convex, is the least for some weights.
///
/// New weights change all values that were told. They are told again when at least a twentieth of
/// the trials has come in since, so that the time for that stays in proportion to the trials.
class ScalarizedSearch final : public Optimizer {
 public:
  /// `objectives`: see OptimizerOptions.
  ScalarizedSearch(std::unique_ptr<Optimizer> inner, std::vector<std::string> objectives,
                   uint64_t seed);

  std::vector<space::Configuration> Ask(int n) override;
  bool gave_up() const override { return inner_->gave_up(); }
  std::vector<std::string> TakeNotices() override { return inner_->TakeNotices(); }
  void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) override;

 private:
  void DrawWeights();
  double Scalar(const pareto::Point& point) const;

  std::unique_ptr<Optimizer> inner_;
  std::vector<std::string> objectives_;
  base::RandomStream random_;
  std::vector<double> weights_;
  pareto::Bounds bounds_;  ///< of the front
  // Feasible trials, each configuration once, in the order in which they were first told:
  std::vector<space::Configuration> configurations_;
  std::vector<pareto::Point> points_;
  std::unordered_map<space::Configuration, size_t> places_;
  size_t told_since_ = 0;  ///< trials, since weights were drawn
};

}  // namespace bayloom::optimizer
