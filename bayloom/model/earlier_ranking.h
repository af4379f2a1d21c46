// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <string>
#include <unordered_map>

#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::model {

/// How an earlier task ranks configurations: the logistic score of each observation's rank, the
/// best below, of mean 0 and variance 1 for any unit and distribution of the values. What was
/// observed has its own score; a Gaussian process of the scores says that of everything else.
///
/// What failed shares the last ranks: a hint, not a rule, as it may well work elsewhere.
class EarlierRanking {
 public:
  /// At least one observation with a value. Of many, the process learns from the best and from the
  /// others evenly.
  EarlierRanking(const ColumnGroups& group_of_column, const TaskObservations& task,
                 const RowMatrix& failures, base::RandomStream& random);

  /// One for each row. Thread safe.
  Eigen::VectorXd Scores(const RowMatrix& rows) const;

 private:
  GaussianProcess process_;
  std::unordered_map<std::string, double> known_;  ///< scores by the bytes of a row
};

}  // namespace bayloom::model
