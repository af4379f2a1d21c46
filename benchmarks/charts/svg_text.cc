// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/charts/svg_text.h"

#include "bayloom/base/single_line.h"

namespace bayloom::charts {

std::string SvgText(std::string_view text) {
  constexpr size_t kMaxBytes = 160;
  std::string out;
  for (const char c : base::SingleLine(text, kMaxBytes)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace bayloom::charts
