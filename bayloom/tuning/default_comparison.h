// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/record/store.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::tuning {

/// A recorded program and the default one as the task's latest comparison measured them in turns,
/// in seconds.
struct DefaultComparison {
  trial::Outcome by_default;     ///< the median of its repeats, of which there are few
  double default_slowest = 0;    ///< the largest of these
  std::optional<double> chosen;  ///< median of its repeats; nothing if it was not among them
  int repeats = 0;               ///< of the chosen one
  double recorded = 0;           ///< the chosen one's time as Store::BestOf has it

  /// The default program's outcome if that is faster, in each repeat, by more than one measurement
  /// may err by. Its time is the recorded one by the ratio of both in turns.
  std::optional<trial::Outcome> FasterDefault() const;
  /// Of the faster one, in turns; the recorded time where the chosen one was not among them.
  double BestSeconds() const;
};

/// Nothing where the latest comparison did not measure the default program.
std::optional<DefaultComparison> CompareWithDefault(record::Store& store,
                                                    const record::StoredTrial& chosen);

}  // namespace bayloom::tuning
