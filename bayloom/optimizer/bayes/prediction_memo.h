// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "bayloom/model/gaussian_process.h"
#include "bayloom/space/configuration.h"

namespace bayloom::optimizer {

/// Predictions of a Gaussian process at configurations that are met again and again while it
/// learns: local searches of its acquisition function mostly take the ways they took one trial
/// earlier.
///
/// Keeps the column L^-1 k of each configuration, as long as the process does not choose new
/// hyperparameters. With n observations a configuration met first costs O(n^2), one met again O(n)
/// for each observation since, even if it was imagined then and replaced. Holds a bounded number of
/// columns, with their configurations and features, after which it starts again, empty.
class PredictionMemo {
 public:
  /// Numbers of 8 bytes that it holds at most, unless one call needs more.
  explicit PredictionMemo(int64_t max_numbers = int64_t{1} << 22) : max_numbers_(max_numbers) {}

  /// As process.Predict at the rows, which are the configurations' features.
  void Predict(const model::GaussianProcess& process,
               std::span<const space::Configuration> configurations, const model::RowMatrix& rows,
               Eigen::VectorXd& mean, Eigen::VectorXd& variance);

  /// Numbers of 8 bytes that it has room for now, or what takes as much.
  int64_t numbers() const { return columns_.cols() * (columns_.rows() + beside_); }

 private:
  struct Column {
    Eigen::Index place;         ///< in columns_ and scaled_
    Eigen::Index observations;  ///< whose elements it has
    double explained = 0;       ///< its squared norm
  };

  void Clear();
  /// Keeps of the columns what this process shares with the one asked before.
  void Follow(const model::GaussianProcess& process, size_t met);
  void AddColumns(const model::GaussianProcess& process,
                  std::span<const space::Configuration> configurations,
                  const model::RowMatrix& rows, const std::vector<Eigen::Index>& fresh,
                  std::vector<Column*>& columns);
  /// Columns that have the same number of elements.
  void Extend(const model::GaussianProcess& process, Eigen::Index from,
              const std::vector<Column*>& columns);

  int64_t max_numbers_;
  int64_t beside_ = 0;               ///< what a configuration takes beside its column
  std::vector<uint64_t> witnesses_;  ///< of the observations
  std::unordered_map<space::Configuration, Column> known_;
  Eigen::Index used_ = 0;    ///< columns of columns_ and scaled_
  Eigen::MatrixXd columns_;  ///< one a configuration, longer than there are observations
  Eigen::MatrixXd scaled_;   ///< one column a configuration
};

}  // namespace bayloom::optimizer
