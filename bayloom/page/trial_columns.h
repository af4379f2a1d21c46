// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/record/run_record.h"

namespace bayloom::page {

/// Trials of one run as columns, which take a tenth of what a JSON object for each would. See
/// PageReader for the form.
class TrialColumns {
 public:
  /// `has_parameters`: the candidates are configurations, whose values become columns, too.
  explicit TrialColumns(bool has_parameters) : has_parameters_(has_parameters) {}

  void Add(const record::StoredTrial& trial);
  bool empty() const { return count_ == 0; }
  /// What was added.
  nlohmann::json ToJson() const;

 private:
  using Column = std::vector<nlohmann::json>;
  /// Texts that many trials share, and the place of each trial's.
  struct SharedTexts {
    std::vector<std::string> texts;
    std::map<std::string, int> places;
    std::vector<int> column;

    void Add(const std::string& text);
  };

  /// Puts a value in the last row of one of a few columns.
  void Set(std::map<std::string, Column>& columns, const std::string& name, nlohmann::json value);
  void AddParameters(const std::string& candidate);

  bool has_parameters_;
  size_t count_ = 0;
  std::vector<int64_t> ordinals_, tasks_;
  Column values_, elapsed_;
  SharedTexts verdicts_, reasons_, proposers_;
  std::map<std::string, Column> details_, parameters_;
};

}  // namespace bayloom::page
