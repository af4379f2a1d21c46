// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace bayloom::page {
namespace {

constexpr size_t kMaxCursorBytes = 1 << 16;

/// "17.42".
template <typename First>
bool ParsePair(std::string_view text, First& first, int64_t& second) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  const auto parse = [](std::string_view digits, auto& number) {
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
    return error == std::errc() && end == digits.end();
  };
  return parse(text.substr(0, dot), first) && parse(text.substr(dot + 1), second);
}

}  // namespace

std::string Cursor::ToText() const {
  std::string text = fmt::format("{}.{}", reader, revision);
  for (const auto& [run, ordinal] : next) text += fmt::format("_{}.{}", run, ordinal);
  return text;
}

std::optional<Cursor> Cursor::Parse(std::string_view text) {
  if (text.size() > kMaxCursorBytes) return std::nullopt;
  Cursor cursor;
  size_t end = text.find('_');
  if (!ParsePair(text.substr(0, end), cursor.reader, cursor.revision)) return std::nullopt;
  while (end != std::string_view::npos) {
    text.remove_prefix(end + 1);
    end = text.find('_');
    record::RunId run = 0;
    int64_t ordinal = 0;
    if (!ParsePair(text.substr(0, end), run, ordinal)) return std::nullopt;
    cursor.next[run] = ordinal;
  }
  return cursor;
}

}  // namespace bayloom::page
