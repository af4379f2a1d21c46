// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/standardizer.h"

namespace bayloom::model {

/// A surrogate of an objective of which a cheaper version exists, with a surrogate of its own
/// (Kennedy and O'Hagan 2000; recursive as in Le Gratiet and Garnier 2014):
///
///     f(x) = slope * lower(x) + difference(x),
///
/// with a Gaussian process of the difference. The slope is a regression on the lower surrogate's
/// means, drawn to 1 while there are few observations: values of both are to be on one scale, best
/// the logarithm.
///
/// What the lower surrogate does not know adds to the variance, but less where the objective itself
/// was observed near by: in proportion to what the difference's variance still is of its prior. So
/// observations need not be nested, as the recursion demands.
class AutoregressiveSurrogate final : public Surrogate {
 public:
  /// `lower` must outlive it and its clones, be fitted before it is, and is of the same rows. When
  /// it has learnt something, this one is to be fitted again.
  AutoregressiveSurrogate(ColumnGroups group_of_column, const Surrogate& lower,
                          GaussianProcessOptions options = {});

  void Fit(const RowMatrix& rows, const Eigen::VectorXd& values,
           base::RandomStream& random) override;
  /// Keeps the slope of the last Fit.
  void Add(const RowMatrix& rows, const Eigen::VectorXd& values) override;
  void Predict(const RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override;
  double NoiseVariance() const override;
  double Transform(double value) const override { return scale_.Apply(value); }
  double Untransform(double prediction) const override { return scale_.Invert(prediction); }
  std::unique_ptr<Surrogate> Clone() const override;
  std::unique_ptr<IncrementalPredictor> TrackPredictions(RowMatrix rows) const override;

  double slope() const { return slope_; }
  const Surrogate& lower() const { return lower_; }
  const GaussianProcess& difference() const { return difference_; }
  /// Puts a prediction of the lower surrogate and one of the difference together, in `mean` and
  /// `variance`, which hold the latter.
  void AddLower(const Eigen::VectorXd& lower_mean, const Eigen::VectorXd& lower_variance,
                Eigen::VectorXd& mean, Eigen::VectorXd& variance) const;

 private:
  /// The lower surrogate's part of the variance, on the scale of the difference's.
  Eigen::VectorXd LowerVariance(const Eigen::VectorXd& lower_variance,
                                const Eigen::VectorXd& difference_variance) const;
  /// What the lower surrogate expects of rows, in the objective's unit.
  Eigen::VectorXd LowerMeans(const RowMatrix& rows) const;

  const Surrogate& lower_;
  double slope_ = 1;
  Standardizer scale_;
  GaussianProcess difference_;
};

}  // namespace bayloom::model
