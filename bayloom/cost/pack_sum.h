// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

namespace bayloom::cost {

/// The regression objective of programs that consist of several rows: a program's score is the
/// sum of its rows' predictions (MetaSchedule's and Ansor's "pack sum"), and good programs count
/// more than bad ones:
///
///     loss = 1/2 sum over programs of weight * (sum of row predictions - label)^2,
///     weight = max(label, kMinWeight).
///
/// The originals weigh by the label alone, which makes a model blind to infeasible programs.
class PackSum {
 public:
  static constexpr double kMinWeight = 0.05;

  /// rows[i] consecutive rows belong to program i, whose label is labels[i] in [0, 1]. With
  /// priors, a program's score is priors[i] more than the sum.
  PackSum(std::vector<int> rows, std::vector<double> labels, std::vector<double> priors = {});

  int row_count() const { return row_count_; }
  double Loss(std::span<const float> predictions) const;
  /// Root of the mean squared error of program scores, unweighted.
  double Rmse(std::span<const float> predictions) const;

  /// First derivatives by each row's prediction, and curvatures for the Newton steps of boosting.
  /// A step of `learning_rate` is made by all rows of a program at once, so beyond
  /// 1 / learning_rate rows the curvature grows with their number: the sum never overshoots.
  void Gradient(std::span<const float> predictions, double learning_rate, std::span<float> gradient,
                std::span<float> curvature) const;

 private:
  /// Calls visit(program, first row, error of its score) for every program.
  template <typename Visitor>
  void VisitErrors(std::span<const float> predictions, Visitor visit) const;

  std::vector<int> rows_;
  std::vector<double> labels_;
  std::vector<double> priors_;  ///< or empty
  int row_count_ = 0;
};

}  // namespace bayloom::cost
