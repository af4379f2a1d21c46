// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "bayloom/record/run_record.h"

namespace bayloom::page {

/// Whether the run's trials are of several tasks, whose values do not compare.
bool HasTasks(const record::RunRecord& run);

/// What a run's trials amount to, kept up to date while they come in.
class RunDigest {
 public:
  /// A trial that is or was the best.
  struct Best {
    int64_t trial = 0;   ///< ordinal
    double elapsed = 0;  ///< seconds of the run
    double value = 0;
    std::string candidate;
  };
  struct Task {
    int64_t trials = 0;
    double best = std::numeric_limits<double>::infinity();  ///< seconds
    int64_t best_trial = -1;
  };

  explicit RunDigest(record::RunRecord run);

  /// The next trial by ordinal.
  void Add(const record::StoredTrial& trial);
  /// The run's row as it is now; its trials stay.
  void SetRecord(record::RunRecord run) { run_ = std::move(run); }

  const record::RunRecord& run() const { return run_; }
  /// The ordinal of the first trial to come.
  int64_t next() const { return next_; }
  int64_t trials() const { return trials_; }
  const std::map<record::TaskId, Task>& tasks() const { return tasks_; }
  /// Of a run without tasks: the best trial, as report::RunSummary has it, and the first that had a
  /// value. Tiles of fused layers have none.
  const std::optional<Best>& best() const { return best_; }
  const std::optional<Best>& first() const { return first_; }

  /// The run and its trials in numbers; see PageReader for the form.
  nlohmann::json ToJson() const;

 private:
  bool IsBetter(double value) const;
  void AddTasks(nlohmann::json& json) const;

  record::RunRecord run_;
  bool is_of_tiles_;
  std::function<bool(const std::string&)> is_full_;  ///< candidates of the last fidelity
  int64_t next_ = 0;
  int64_t trials_ = 0;
  double seconds_ = 0;
  std::map<std::string, int64_t> failures_;  ///< by verdict
  std::map<record::TaskId, Task> tasks_;
  std::optional<Best> best_, first_;
};

}  // namespace bayloom::page
