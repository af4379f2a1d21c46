// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bayloom::remote {

/// Compares workers by the times that the same candidate takes on each. A worker is slow if it was
/// in two comparisons in a row: its median was more than `tolerance` above the least median.
class DriftWatch {
 public:
  static constexpr int kProbes = 3;  ///< measurements of a worker for a comparison

  struct Slow {
    int worker = 0;
    int fastest = 0;
    double ratio = 1;  ///< of their times
  };

  explicit DriftWatch(double tolerance) : tolerance_(tolerance) {}

  /// Begins a comparison of these workers; one that is under way is dropped.
  void Begin(const std::vector<int>& workers);
  bool is_under_way() const { return !probes_.empty(); }
  /// How many measurements of the worker are to be asked for still; asking is noted by Ask.
  int Due(int worker) const;
  void Ask(int worker) { ++probes_.at(worker).asked; }
  /// A measurement that failed counts as none: the worker is left out of this comparison.
  void Tell(int worker, std::optional<double> value);
  /// The worker is gone.
  void Forget(int worker);
  /// Once all have been measured: those that are slow. The comparison is over then.
  std::vector<Slow> Conclude();

 private:
  struct Probes {
    int asked = 0;
    std::vector<double> values;
  };
  double tolerance_;
  std::map<int, Probes> probes_;  ///< by worker
  std::map<int, int> suspected_;  ///< in how many comparisons in a row
};

}  // namespace bayloom::remote
