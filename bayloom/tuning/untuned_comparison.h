// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/record/store.h"

namespace bayloom::tuning {

/// A recorded program and the untuned one as the task's latest comparison measured them in turns,
/// in seconds.
struct UntunedComparison {
  double untuned = 0;
  std::optional<double> chosen;  ///< median of its repeats; nothing if it was not among them
  int repeats = 0;               ///< of the chosen one
};

/// Nothing where the latest comparison did not measure the untuned program.
std::optional<UntunedComparison> CompareWithUntuned(record::Store& store,
                                                    const record::StoredTrial& chosen);

}  // namespace bayloom::tuning
