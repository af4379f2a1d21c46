// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/single_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bayloom/base/utf8.h"

namespace bayloom::base {
namespace {

constexpr std::string_view kCut = "...";

/// Control characters, those that end a line or turn the direction of writing, marks of the byte
/// order, and numbers that are no characters.
bool IsEscaped(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return c < 0x20 || within(0x7f, 0x9f) || c == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069) || c == 0xfeff ||
         within(0xfdd0, 0xfdef) || (c & 0xfffe) == 0xfffe;
}

std::string Escape(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return c < 0x80      ? fmt::format("\\x{:02x}", static_cast<uint32_t>(c))
             : c < 0x10000 ? fmt::format("\\u{:04x}", static_cast<uint32_t>(c))
                           : fmt::format("\\U{:08x}", static_cast<uint32_t>(c));
  }
}

/// The first character of non-empty `text` as it is printed; removes it.
std::string TakeCharacter(std::string_view& text) {
  const size_t length = Utf8CharacterLength(text);
  const std::string_view taken = text.substr(0, std::max<size_t>(length, 1));
  text.remove_prefix(taken.size());
  if (length == 0) return fmt::format("\\x{:02x}", static_cast<unsigned char>(taken.front()));
  const char32_t character = Utf8Character(taken);
  return IsEscaped(character) ? Escape(character) : std::string(taken);
}

/// The last `max_bytes` of valid UTF-8, or a few less.
std::string_view LastCharacters(std::string_view text, size_t max_bytes) {
  text.remove_prefix(text.size() - std::min(text.size(), max_bytes));
  while (!text.empty() && Utf8CharacterLength(text) == 0) text.remove_prefix(1);
  return text;
}

}  // namespace

std::string SingleLine(std::string_view text, size_t max_bytes) {
  std::string line;
  while (!text.empty()) {
    const std::string next = TakeCharacter(text);
    if (line.size() + next.size() > max_bytes) return line.append(kCut);
    line += next;
  }
  return line;
}

std::string MessageInOneLine(std::string_view message, size_t max_bytes) {
  const std::string line = SingleLine(message, std::numeric_limits<size_t>::max());
  if (line.size() <= max_bytes) return line;
  const size_t end = max_bytes / 3;
  return fmt::format("{} {}", SingleLine(line, max_bytes - end), LastCharacters(line, end));
}

}  // namespace bayloom::base
