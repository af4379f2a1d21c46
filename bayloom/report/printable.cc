// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/printable.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/base/utf8.h"

namespace bayloom::report {

std::string JsonText(const nlohmann::json& json) {
  const std::string text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string printed;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view next = rest.substr(0, base::Utf8CharacterLength(rest));
    const char32_t character = base::Utf8Character(next);
    // JSON leaves these as they are; they stand within strings only.
    if (character >= 0x7f && character <= 0x9f) {
      printed += fmt::format("\\u{:04x}", static_cast<uint32_t>(character));
    } else {
      printed += next;
    }
    rest.remove_prefix(next.size());
  }
  return printed;
}

std::string InLines(std::string_view text) {
  std::string printed;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    printed += base::SingleLine(text.substr(0, end), std::numeric_limits<size_t>::max());
    if (end == std::string_view::npos) break;
    printed += '\n';
    text.remove_prefix(end + 1);
  }
  return printed;
}

}  // namespace bayloom::report
