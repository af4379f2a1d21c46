// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "bayloom/model/cholesky.h"
#include "bayloom/model/fit_hyperparameters.h"
#include "bayloom/model/matern.h"
#include "bayloom/model/standardizer.h"
#include "bayloom/model/surrogate.h"

namespace bayloom::model {

struct GaussianProcessOptions {
  ObjectiveScale scale = ObjectiveScale::kAuto;
  HyperparameterSearch search;
  /// Hyperparameters are searched for from many starts when the observations have become more by
  /// this factor; the fits in between climb from where the last one ended.
  double search_growth = 1.5;
};

/// A Gaussian process with a constant mean and a Matern-5/2 kernel that has one length-scale per
/// group of columns (Hellsten et al. 2023, sec. 3.2). Its hyperparameters maximize their posterior
/// under gamma priors.
///
///     GaussianProcess model(groups);
///     model.Fit(rows, values, random);
///     model.Predict(candidates, mean, variance);
///
/// Predictions are in standard deviations of the (logarithm of the) observations. With n
/// observations Fit takes O(n^3) some ten times over, Add O(n^2), Predict O(n^2) a row; rows are
/// cheapest by the hundred.
class GaussianProcess final : public Surrogate {
 public:
  explicit GaussianProcess(ColumnGroups group_of_column, GaussianProcessOptions options = {});

  void Fit(const RowMatrix& rows, const Eigen::VectorXd& values,
           base::RandomStream& random) override;
  void Add(const RowMatrix& rows, const Eigen::VectorXd& values) override;
  void Predict(const RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override;
  /// The mean alone, O(n) a row.
  Eigen::VectorXd PredictMean(const RowMatrix& rows) const;
  double NoiseVariance() const override { return hyperparameters_.noise_variance; }
  double Transform(double value) const override { return standardizer_.Apply(value); }
  double Untransform(double prediction) const override { return standardizer_.Invert(prediction); }
  std::unique_ptr<Surrogate> Clone() const override;
  std::unique_ptr<IncrementalPredictor> TrackPredictions(RowMatrix rows) const override;

  /// Conditions on the observations under hyperparameters known from elsewhere, learning none.
  void Condition(const RowMatrix& rows, const Eigen::VectorXd& values,
                 const KernelHyperparameters& hyperparameters);

  const KernelHyperparameters& hyperparameters() const { return hyperparameters_; }
  /// Whether the last Fit found the objective's logarithm to be easier to explain.
  bool log_objective() const { return standardizer_.log(); }
  /// The constant mean, on the scale of predictions.
  double mean() const { return mean_; }
  int observations() const { return static_cast<int>(values_.size()); }

  /// What GaussianProcessIncrementalPredictor follows. A number for each observation, in order: as
  /// long as two processes (or one, at two times) begin with the same ones, so do their factors.
  const std::vector<uint64_t>& witnesses() const { return witnesses_; }
  const GrowingCholesky& factor() const { return factor_; }
  /// L^-1 (observations - mean).
  Eigen::VectorXd WhitenedResiduals() const;
  /// Rows divided by the length-scales.
  Eigen::MatrixXd Scaled(const RowMatrix& rows) const;
  /// Between all observations, or one of them, and scaled rows.
  Eigen::MatrixXd Covariance(const Eigen::MatrixXd& scaled) const;
  Eigen::VectorXd CovarianceOf(Eigen::Index observation, const Eigen::MatrixXd& scaled) const;

 private:
  /// Which scales of the objective a fit has to choose from.
  struct Scales {
    bool linear, log;
  };
  Scales PossibleScales() const;
  bool SearchIsDue(Scales scales) const;
  void Search(Scales scales, base::RandomStream& random);
  void Factorize();
  void ComputeWeights();
  void Witness(Eigen::Index count);

  ColumnGroups group_of_column_;
  GaussianProcessOptions options_;
  RowMatrix rows_;
  Eigen::VectorXd values_;
  Standardizer standardizer_;
  KernelHyperparameters hyperparameters_;
  int searched_at_ = 0;  ///< observations when hyperparameters were last searched for

  Eigen::MatrixXd scaled_;   ///< rows_ divided by the length-scales
  GrowingCholesky factor_;   ///< of the observations' covariance
  Eigen::VectorXd weights_;  ///< its inverse times (observations - mean)
  double mean_ = 0;
  std::vector<uint64_t> witnesses_;
};

}  // namespace bayloom::model
