// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace bayloom::tuning {

/// Up to so many programs share the lengths of a task.
inline constexpr int kMaxProgramsBySize = 3;

/// A division of the points of a workload by the values of one of its sizes: which program is used
/// up to which value.
struct SizeDivision {
  struct Part {
    int program;
    int64_t up_to = std::numeric_limits<int64_t>::max();  ///< of the size
  };
  int size = 0;
  std::vector<Part> parts;  ///< by ascending values; the last one has no limit
  /// The mean logarithm of the time over the points.
  double log_time = std::numeric_limits<double>::infinity();

  /// The program that is used at a point.
  int ProgramAt(const std::vector<int64_t>& point) const;
};

/// How programs are divided.
struct SizeDivisionOptions {
  /// What a further program has to gain in the mean over all points, as a part of the time.
  double min_gain = 0.02;
  /// How many of the programs, the first ones, may be used for the largest values.
  int for_largest = 1;
};

/// The best division by any of the sizes. `log_times`: of each program, at each of the points.
SizeDivision DivideBySize(const std::vector<std::vector<double>>& log_times,
                          const std::vector<std::vector<int64_t>>& points,
                          const SizeDivisionOptions& options = {});

}  // namespace bayloom::tuning
