// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/sanitized.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/report/printable.h"

namespace bayloom::page {
namespace {

constexpr size_t kMaxLineBytes = 400;
constexpr size_t kMaxTextBytes = 200'000;

}  // namespace

std::string Sanitized(std::string_view text) { return base::SingleLine(text, kMaxLineBytes); }

std::string SanitizedLines(std::string_view text) {
  const bool is_cut = text.size() > kMaxTextBytes;
  return report::InLines(text.substr(0, kMaxTextBytes)) + (is_cut ? "\n..." : "");
}

nlohmann::json Finite(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

}  // namespace bayloom::page
