// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <memory>

#include "bayloom/base/random.h"

namespace bayloom::model {

/// n x columns numbers, one configuration a row: what models know of a configuration. Columns
/// come in groups, one group a parameter (a permutation of n items has several columns).
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class IncrementalPredictor;

/// A regression model of an objective from few observations, which knows what it does not know.
///
///     surrogate->Fit(rows, values, random);        // learns everything
///     surrogate->Add(row, value);                  // cheap: one more observation
///     surrogate->Predict(candidates, mean, variance);
///     double incumbent = surrogate->Transform(best_value);   // on the scale of `mean`
///
/// Predictions are on the surrogate's own scale (standardized, perhaps logarithmic), an increasing
/// function of the objective that every Fit may change.
/// Predicting is thread safe; fitting and adding are not.
class Surrogate {
 public:
  virtual ~Surrogate() = default;

  /// Learns from these observations alone, hyperparameters included. At least one row; values
  /// are finite, of any magnitude. Throws FitFailure where they are not, or where arithmetic has
  /// no answer all the same.
  virtual void Fit(const RowMatrix& rows, const Eigen::VectorXd& values,
                   base::RandomStream& random) = 0;

  /// Learns from more observations, keeping what is expensive to learn. After a Fit only.
  virtual void Add(const RowMatrix& rows, const Eigen::VectorXd& values) = 0;

  /// Mean and variance of the noise-free objective at each row. After a Fit only.
  virtual void Predict(const RowMatrix& rows, Eigen::VectorXd& mean,
                       Eigen::VectorXd& variance) const = 0;

  /// How far single observations lie from the noise-free objective, as a variance on the scale of
  /// the predictions; 0 where Predict's variance holds that already. After a Fit only.
  virtual double NoiseVariance() const { return 0; }

  /// From the objective's scale to that of the predictions, and back.
  virtual double Transform(double value) const = 0;
  virtual double Untransform(double prediction) const = 0;

  /// Observations that it is to learn from at most: with more, it would take too long or too much
  /// memory for a search that goes on for many thousands of trials.
  virtual int max_observations() const { return 1200; }

  /// A copy that learns on its own: for what-if observations, as batches need them.
  virtual std::unique_ptr<Surrogate> Clone() const = 0;

  /// Predictions at these rows, to be asked for again and again while it learns
  /// (model/watched_rows.h). The default just predicts.
  virtual std::unique_ptr<IncrementalPredictor> TrackPredictions(RowMatrix rows) const;
};

}  // namespace bayloom::model
