// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bayloom::space {

/// A piece of a constraint's text.
struct Token {
  enum class Kind : uint8_t { kNumber, kText, kName, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;   ///< names, symbols, what stands between quotes
  double number = 0;  ///< kNumber
  size_t offset = 0;  ///< bytes from the start
};

/// What is wrong at some place of a constraint's text.
struct ConstraintFault {
  size_t offset = 0;  ///< bytes from the start
  std::string message;
};

/// Splits a constraint's text; the last token is kEnd. A name of `names` is one token even if it
/// has characters that names usually lack (`loop-order`), the longest first. Word operators (`and`,
/// `or`, `not`, `in`, `if`, `else`, `implies`) become symbols, spelled `&&`, `||`, `not`, `in`,
/// `if`, `else`, `->`. Throws ConstraintFault.
std::vector<Token> SplitConstraint(std::string_view text, const std::vector<std::string>& names);

}  // namespace bayloom::space
