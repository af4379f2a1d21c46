// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/space/value.h"

namespace bayloom::space {

/// A list of different texts and where each is in it: the domain of categorical parameters and of
/// ordinal ones with names for values.
class TextDomain {
 public:
  /// Throws InputError, naming the parameter, for an empty list or a text that is there twice.
  TextDomain(const std::string& parameter, std::vector<std::string> texts);

  int64_t size() const { return static_cast<int64_t>(texts_.size()); }
  const std::string& operator[](double rank) const { return texts_[static_cast<size_t>(rank)]; }
  /// Numbers stand for their texts.
  Result<double> RankOf(const Value& value) const;
  /// "{row, column}"
  std::string Describe() const;

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, int> ranks_;
};

}  // namespace bayloom::space
