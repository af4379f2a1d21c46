// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

namespace bayloom {

/// Median and interquartile range of one side's runs, in seconds.
struct RunTime {
  double median;
  double iqr;
};

struct AlternateOptions {
  int rounds = 10;              ///< turns every side gets
  double seconds_a_turn = 0.1;  ///< at least this long, and at least three runs
};

/// Times several programs in turns, so that a change of the machine hits all of them alike. A
/// turn opens with two runs that do not count: caches fill, and the waiting threads that another
/// runtime left spinning go to sleep.
std::vector<RunTime> Alternate(const std::vector<std::function<void()>>& sides,
                               const AlternateOptions& options = {});

}  // namespace bayloom
