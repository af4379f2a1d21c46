// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "bayloom/model/surrogate.h"

namespace bayloom::model {

/// Predictions at rows that stay the same while a surrogate learns, as a bayesian optimizer asks
/// for them before every suggestion.
///
///     const auto watched = surrogate.Watch(candidates);
///     watched->Predict(surrogate, mean, variance);
///     surrogate.Add(row, value);
///     watched->Predict(surrogate, mean, variance);      // cheaper than the first time
class IncrementalPredictor {
 public:
  virtual ~IncrementalPredictor() = default;
  /// As surrogate.Predict at the rows. The surrogate is the one that gave the watch, or a clone.
  virtual void Predict(const Surrogate& surrogate, Eigen::VectorXd& mean,
                       Eigen::VectorXd& variance) = 0;
};

class GaussianProcess;

/// Of a Gaussian process. Keeps V = L^-1 K between the observations and the m rows, to which every
/// added observation adds one row: O(n m) after an Add, O(n^2 m) after a Fit. Switching between
/// processes that share their first observations (a clone with imagined ones) keeps what they
/// share. Takes n m numbers.
class GaussianProcessIncrementalPredictor final : public IncrementalPredictor {
 public:
  explicit GaussianProcessIncrementalPredictor(RowMatrix rows) : rows_(std::move(rows)) {}

  void Predict(const Surrogate& surrogate, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) override;

 private:
  void Rebuild(const GaussianProcess& process);
  void Append(const GaussianProcess& process);
  void Drop();
  void ReserveObservations(Eigen::Index count);

  RowMatrix rows_;
  Eigen::MatrixXd scaled_;           ///< rows_ divided by the length-scales
  Eigen::MatrixXd whitened_;         ///< m x capacity, V^T in its first columns
  Eigen::VectorXd explained_;        ///< sums of the squares of V's columns
  std::vector<uint64_t> witnesses_;  ///< the observations of V's rows
};

/// Of a random forest. Keeps the leaf of each row in each tree, which changes only when trees are
/// grown again. Takes rows x trees numbers.
class ForestIncrementalPredictor final : public IncrementalPredictor {
 public:
  explicit ForestIncrementalPredictor(RowMatrix rows) : rows_(std::move(rows)) {}

  void Predict(const Surrogate& surrogate, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) override;

 private:
  RowMatrix rows_;
  Eigen::MatrixXi leaves_;
  uint64_t grown_ = 0;  ///< the Fit that they are from; 0: none
};

}  // namespace bayloom::model
