// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/file_name.h"

#include <cctype>

namespace bayloom::cli {

std::string FileNameOf(std::string_view text) {
  constexpr size_t kMaxBytes = 80;
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_letter = byte < 0x80 && std::isalnum(byte) != 0;
    if (is_letter || c == '_' || (c == '.' && !name.empty())) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    if (name.size() == kMaxBytes) break;
  }
  return name.empty() ? "unnamed" : name;
}

}  // namespace bayloom::cli
