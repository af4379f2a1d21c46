// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/model/surrogate.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::optimizer {

/// What a transfer method learns from.
struct TransferData {
  model::ColumnGroups group_of_column;           ///< of the rows
  std::vector<model::TaskObservations> earlier;  ///< at least one task, each with an observation
  /// What each earlier task is, then what the new one is: a row each, numbers from 0 to 1.
  model::RowMatrix descriptions;
};

}  // namespace bayloom::optimizer
