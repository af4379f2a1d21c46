// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/model/matern.h"
#include "bayloom/model/surrogate.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::optimizer {

/// What a transfer method learns from.
struct TransferData {
  model::ColumnGroups group_of_column;           ///< of the rows
  std::vector<model::TaskObservations> earlier;  ///< at least one task, each with an observation
  std::vector<model::RowMatrix> failures;        ///< rows that failed, of each earlier task
  /// What each earlier task is, then what the new one is: a row each, numbers from 0 to 1.
  model::RowMatrix descriptions;
  int max_trials = 0;  ///< see TransferOptions

  /// The earlier tasks with `max_trials` observations together, for what takes time with the cube
  /// of them: half of each task's share are its best ones, the others lie evenly over the rest.
  std::vector<model::TaskObservations> Thinned() const;
};

}  // namespace bayloom::optimizer
