// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bayloom::base {

/// A piece of the text of an expression.
struct Token {
  enum class Kind : uint8_t { kNumber, kText, kName, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;   ///< as it is written; of a kText, what stands between the quotes
  double number = 0;  ///< kNumber
  size_t offset = 0;  ///< bytes from the start
};

/// What is wrong at some place of a text.
struct TextFault {
  size_t offset = 0;  ///< bytes from the start
  std::string message;
};

/// What a language's tokens are, besides numbers, texts in single or double quotes, and names as
/// C's.
struct Vocabulary {
  /// Longer ones before those that they begin with.
  std::span<const std::string_view> symbols;
  /// Names that are symbols, and how tokens spell them.
  std::span<const std::pair<std::string_view, std::string_view>> words = {};
  /// Names with other characters than C's, such as `loop-order`: one token each, the longest first.
  std::span<const std::string> names = {};
  /// Whether texts may hold any character behind a backslash, which is not part of them.
  bool has_escapes = false;
};

/// The last token is kEnd. Throws TextFault.
std::vector<Token> SplitExpression(std::string_view text, const Vocabulary& vocabulary);

/// A character, not a byte, from 1.
size_t ColumnOf(std::string_view text, size_t offset);

}  // namespace bayloom::base
