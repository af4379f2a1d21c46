// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/extent_sum.h"

#include <algorithm>
#include <charconv>

namespace bayloom::graph {
namespace {

constexpr int64_t kMaxTerm = int64_t{1} << 40;

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::optional<int64_t> AsNumber(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<int64_t> ExtentOfSum(
    const std::string& text,
    const std::function<std::optional<int64_t>(const std::string&)>& extent_of) {
  if (text.find('+') == std::string::npos) return std::nullopt;
  int64_t sum = 0;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('+', begin), text.size());
    const std::string term = Trimmed(text.substr(begin, end - begin));
    const std::optional<int64_t> number = AsNumber(term);
    const std::optional<int64_t> value = number ? number : extent_of(term);
    if (!value || *value < 0 || *value > kMaxTerm || sum > kMaxTerm) return std::nullopt;
    sum += *value;
    begin = end + 1;
  }
  return sum;
}

}  // namespace bayloom::graph
