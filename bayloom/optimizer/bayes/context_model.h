// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/optimizer/bayes/feasibility_model.h"
#include "bayloom/optimizer/bayes/features.h"
#include "bayloom/optimizer/bayes/history.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

/// One model of an objective in several contexts: a Gaussian process over parameters and contexts
/// together, of values that each context shifts by an offset of its own,
///
///     log value(x, c) = offset(c) + f(x, c) + noise.
///
/// How far apart contexts are still alike, f learns as it does of parameters. Large problems take
/// longer than small ones, which says nothing of configurations: offsets are estimated by
/// generalized least squares under the process's own covariance (universal kriging), so a context
/// in which only good configurations were tried is not taken for a fast one.
///
/// Where values are not all positive (nor all negative), they count as they are.
class ContextModel {
 public:
  ContextModel(std::shared_ptr<const space::Space> joint, const OptimizerOptions& options);

  /// A further context; its number.
  int Join();
  /// Configurations are of the joint space. Errors as History::Record.
  void Record(int context, const space::Configuration& configuration,
              const trial::Outcome& outcome);

  /// Of all contexts together.
  const History& history() const { return history_; }
  /// Of each context the feasible trial of least value; null: none.
  const Observation* BestOf(int context) const;
  int contexts() const { return static_cast<int>(best_.size()); }

  /// Brings it up to date; false where there is no feasible trial. Throws FitFailure.
  bool Learn();
  // From here on after it has learnt.

  model::RowMatrix RowsOf(std::span<const space::Configuration> configurations) const {
    return features_(configurations);
  }
  /// Means on the scale of the context's own best.
  Eigen::VectorXd MeansAt(const model::RowMatrix& rows) const;
  /// The process, for variances; and what it takes for noise.
  const model::GaussianProcess& process() const { return process_; }
  /// Of the context's best, on the scale of means; nullopt without one.
  std::optional<double> LeastMean(int context) const;
  bool CanFail() const { return feasibility_.is_needed(); }
  Eigen::VectorXd Feasibility(const model::RowMatrix& rows) const {
    return feasibility_.Probability(rows);
  }

 private:
  enum class Scale { kLog, kNegatedLog, kLinear };

  double Scaled(double value) const;
  Scale FittingScale() const;
  /// The feasible trials to learn from: all, or of many the best of each context, the newest and a
  /// sample of the others.
  std::vector<int> Selected() const;
  void Fit();
  void Add(std::span<const int> places);
  /// Estimates what the offsets lack, and with it the weights of the observations in means.
  void Correct();
  Eigen::VectorXd Centred(std::span<const int> places) const;
  model::RowMatrix RowsOf(std::span<const int> places) const;
  /// A context that the process has not seen gets the offset at which its values are as expected.
  void MeetContexts(std::span<const int> places);

  BayesianOptions options_;
  base::RandomStream random_;
  History history_;
  std::vector<int> context_of_;  ///< of the history's trials
  std::vector<int> best_;        ///< places in the history, by context; -1: none
  Features features_;
  model::GaussianProcess process_;
  FeasibilityModel feasibility_;

  Scale scale_ = Scale::kLog;
  std::vector<std::optional<double>> offsets_;  ///< by context, of scaled values
  std::vector<int> held_;                       ///< places of the trials that the process holds
  size_t held_at_fit_ = 0;
  size_t learnt_ = 0;            ///< trials of the history, feasible or not
  Eigen::VectorXd corrections_;  ///< by context, what is to be added to offsets; standardized
  Eigen::VectorXd weights_;
  double mean_ = 0;
};

}  // namespace bayloom::optimizer
