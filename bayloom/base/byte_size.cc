// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/byte_size.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "bayloom/base/single_line.h"

namespace bayloom::base {
namespace {

constexpr double kMaxBytes = 1e18;

/// "", "B", "k", "kB", "KiB", "M", "MB", "MiB", ... "KB" means either, and is none.
std::optional<double> BytesOf(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  constexpr std::string_view kDecimal = "kMGT", kBinary = "KMGT";
  const char prefix = unit.front();
  unit.remove_prefix(1);
  const bool is_binary = unit == "iB";
  const size_t power = (is_binary ? kBinary : kDecimal).find(prefix);
  if (power == std::string_view::npos) return std::nullopt;
  const auto exponent = static_cast<int>(power) + 1;
  if (is_binary) return std::pow(1024, exponent);
  if (unit.empty() || unit == "B") return std::pow(1000, exponent);
  return std::nullopt;
}

}  // namespace

Result<int64_t> ParseByteSize(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::optional<double> unit = BytesOf(text.substr(end - text.data()));
  const double bytes = error == std::errc() && unit ? number * *unit : 0;
  if (!(bytes >= 1) || bytes > kMaxBytes) {
    return Error{
        fmt::format("'{}' is not a size; write 65536, 400k, 1.5MB or 512KiB", SingleLine(text))};
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace bayloom::base
