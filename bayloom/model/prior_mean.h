// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/model/earlier_ranking.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::model {

/// That an earlier task ranks configurations as the new one does: the posterior probability of
/// "puts four pairs of five in order" against "puts half of them in order", by the n - 1
/// comparisons that n observations count as. Before there are any, one half. `scores` by the
/// earlier task, `values` of the new one; the least is best in both.
double ProbabilityOfAlike(const Eigen::VectorXd& scores, const Eigen::VectorXd& values);

/// How well each earlier task ranks where they differ from each other: twice the share of the pairs
/// in order, minus 1 (Kendall's tau), of those pairs that not all tasks put in the same order,
/// together with what is expected beforehand; no less than 0. A pair of which all say the same
/// tells nothing of which one to follow: a single poor trial would make all look alike. `scores`:
/// observations x tasks.
Eigen::VectorXd SkillsApart(const Eigen::MatrixXd& scores, const Eigen::VectorXd& values);

/// A surrogate of one task whose prior mean is what earlier tasks say of it, and a Gaussian process
/// of what that leaves unexplained:
///
///     mean(x) = b sum_i p_i w_i score_i(x) + residual(x),   w_i = skill_i^2 / sum_j skill_j^2
///
/// Scores are ranks (EarlierRanking), so no value of an earlier task is compared with one of the
/// new task. Tasks weigh by how well they rank the new task's observations (the idea of
/// ranking-weighted ensembles, Feurer et al. 2018; Kannan 2023, sec. III-C, for mapspaces) where
/// they disagree (SkillsApart), b is their regression on the sum, and p_i is ProbabilityOfAlike. A
/// task of which that is less than one half is left out. Unlike in a weighted sum of processes, the
/// new task's observations overrule the earlier tasks where they lie, and a task that ranks no
/// better than chance leaves a Gaussian process of the new task alone.
class PriorMeanSurrogate final : public Surrogate {
 public:
  /// `failures`: rows that failed, of each earlier task. Earlier tasks are learnt at the first Fit.
  PriorMeanSurrogate(ColumnGroups group_of_column, std::vector<TaskObservations> earlier,
                     std::vector<RowMatrix> failures, GaussianProcessOptions options = {});

  void Fit(const RowMatrix& rows, const Eigen::VectorXd& values,
           base::RandomStream& random) override;
  /// Keeps the weights of the last Fit.
  void Add(const RowMatrix& rows, const Eigen::VectorXd& values) override;
  void Predict(const RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override;
  double NoiseVariance() const override;
  double Transform(double value) const override { return scale_.Apply(value); }
  double Untransform(double prediction) const override { return scale_.Invert(prediction); }
  std::unique_ptr<Surrogate> Clone() const override;
  std::unique_ptr<IncrementalPredictor> TrackPredictions(RowMatrix rows) const override;

  /// Of each earlier task: what its score is multiplied with. After a Fit only.
  const Eigen::VectorXd& coefficients() const { return coefficients_; }
  /// Of each earlier task: ProbabilityOfAlike. After a Fit only.
  const Eigen::VectorXd& probabilities() const { return probabilities_; }
  /// The scores of all earlier tasks: rows x tasks.
  Eigen::MatrixXd ScoresOf(const RowMatrix& rows) const;
  const GaussianProcess& residual() const { return residual_; }
  /// Brings predictions of the residual to the scale of this surrogate's.
  void AddPriorMean(const Eigen::MatrixXd& scores, Eigen::VectorXd& mean,
                    Eigen::VectorXd& variance) const;

 private:
  void Weigh(const Eigen::MatrixXd& scores, const Eigen::VectorXd& standard);
  double ResidualSpread() const { return residual_.Untransform(1) - residual_.Untransform(0); }

  ColumnGroups group_of_column_;
  std::vector<TaskObservations> earlier_;
  std::vector<RowMatrix> failures_;
  ObjectiveScale objective_scale_;
  /// Shared by clones, which do not change them.
  std::shared_ptr<const std::vector<EarlierRanking>> rankings_;
  Eigen::VectorXd probabilities_;
  Eigen::VectorXd coefficients_;
  Standardizer scale_;  ///< of the new task
  GaussianProcess residual_;
};

}  // namespace bayloom::model
