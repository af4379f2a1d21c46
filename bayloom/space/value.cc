// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace bayloom::space {
namespace {

std::string Text(double number) { return fmt::format("{}", number); }
std::string Text(int64_t number) { return fmt::format("{}", number); }
std::string Text(const std::string& text) { return text; }
std::string Text(const std::vector<int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

}  // namespace

std::string ToString(const Value& value) {
  return std::visit([](const auto& v) { return Text(v); }, value);
}

bool ParseNumber(std::string_view text, double& number) {
  if (text == "true" || text == "True") {
    number = 1;
    return true;
  }
  if (text == "false" || text == "False") {
    number = 0;
    return true;
  }
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

}  // namespace bayloom::space
