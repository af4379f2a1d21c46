// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/text_domain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bayloom/base/single_line.h"

namespace bayloom::space {

TextDomain::TextDomain(const std::string& parameter, std::vector<std::string> texts)
    : texts_(std::move(texts)) {
  if (texts_.empty()) throw InputError(fmt::format("parameter '{}' has no values", parameter));
  for (const std::string& text : texts_) {
    if (!ranks_.emplace(text, static_cast<int>(ranks_.size())).second) {
      throw InputError(fmt::format("parameter '{}' has the value '{}' twice", parameter, text));
    }
  }
}

Result<double> TextDomain::RankOf(const Value& value) const {
  const auto found = ranks_.find(ToString(value));
  if (found != ranks_.end()) return static_cast<double>(found->second);
  return Error{fmt::format("'{}' is not one of {}", base::SingleLine(ToString(value)), Describe())};
}

std::string TextDomain::Describe() const { return fmt::format("{{{}}}", fmt::join(texts_, ", ")); }

}  // namespace bayloom::space
