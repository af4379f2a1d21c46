// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/one_line.h"

#include <algorithm>

namespace bayloom::base {
namespace {

/// Bytes of the UTF-8 character that non-empty `text` begins with; 0 where it is none.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool no_character = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || no_character ? 0 : length;
}

}  // namespace

std::string InOneLine(std::string_view text, size_t max_bytes) {
  std::string line;
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (line.size() + std::max<size_t>(length, 1) > max_bytes) return line + "...";
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0) {
      line += '?';
    } else if (first < 0x20 || first == 0x7f) {
      line += ' ';
    } else {
      line += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return line;
}

}  // namespace bayloom::base
