// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/duration.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "bayloom/base/single_line.h"

namespace bayloom::base {
namespace {

/// No unit means seconds.
std::optional<double> SecondsOf(std::string_view unit) {
  if (unit == "ms") return 1e-3;
  if (unit.empty() || unit == "s") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  return std::nullopt;
}

/// Takes a number and its unit from the front of the text; their product in seconds.
std::optional<double> TakeQuantity(std::string_view& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [used, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  text.remove_prefix(used - text.data());
  const std::string_view unit = text.substr(0, text.find_first_of("0123456789."));
  text.remove_prefix(unit.size());
  const std::optional<double> seconds = SecondsOf(unit);
  return seconds ? std::optional(number * *seconds) : std::nullopt;
}

}  // namespace

Result<double> ParseDuration(std::string_view text) {
  double seconds = 0;
  std::string_view rest = text;
  do {
    const std::optional<double> quantity = TakeQuantity(rest);
    if (!quantity || !std::isfinite(*quantity)) {
      return Error{fmt::format("'{}' is not a duration; write 90, 500ms, 90s, 10m or 1h30m",
                               SingleLine(text))};
    }
    seconds += *quantity;
  } while (!rest.empty());
  return seconds;
}

double ParseDuration(std::string_view text, const std::string& name) {
  const Result<double> seconds = ParseDuration(text);
  if (!seconds) throw InputError(name + ": " + seconds.error().message);
  return *seconds;
}

}  // namespace bayloom::base
