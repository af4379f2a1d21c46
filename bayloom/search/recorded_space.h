// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bayloom/base/text_limits.h"
#include "bayloom/space/space.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::search {

/// The results of a tuning space that was measured before, in the T4 format of the FAIR
/// benchmark hub for auto-tuning or as a cache file of Kernel Tuner (gzipped or not): a search on
/// it costs nothing. Neither format knows conditional parameters.
class RecordedSpace {
 public:
  /// `measurements` names the recorded values that are looked for: the first, the outcomes' value
  /// (empty: the first objective that the file names); others become named values. With the
  /// `space` that is searched, records' values of parameters that are inactive there are ignored;
  /// without it they count. Throws InputError of one line.
  static RecordedSpace Load(const std::string& path, std::vector<std::string> measurements = {""},
                            const space::Space* space = nullptr);

  /// What was recorded for a configuration (an object of values by parameter name); a
  /// configuration without a record is infeasible.
  trial::Outcome OutcomeOf(const nlohmann::json& configuration) const;

  /// All records, in the order of their canonical texts: values of lists are texts.
  std::vector<std::pair<nlohmann::json, trial::Outcome>> Records() const;

  /// Whether the records' configurations have a value of that name.
  bool HasParameter(const std::string& name) const;

  const std::string& measurement() const { return measurement_; }
  int64_t size() const { return static_cast<int64_t>(outcomes_.size()); }
  int64_t CountFeasible() const;
  /// Of all feasible values; NaN if there are none.
  double Min() const;
  double Max() const;

 private:
  std::string measurement_;
  /// By the configuration's canonical text.
  std::unordered_map<std::string, trial::Outcome> outcomes_;
};

/// The bytes of a file, decompressed if it is gzipped. Throws InputError, also where there are more
/// than `max_bytes`.
std::string ReadMaybeGzipped(const std::string& path, size_t max_bytes = base::kMaxJsonBytes);

}  // namespace bayloom::search
