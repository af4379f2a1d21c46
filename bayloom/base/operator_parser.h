// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bayloom/base/token.h"

namespace bayloom::base {

/// Reads expressions of operators by precedence (Pratt 1973). A language derives from it, and says
///
///     static std::span<const Prefix> Prefixes();    its operators and brackets before a value
///     static std::span<const Infix> Infixes();      those behind a value
///     Value Primary();                              reads a value without operators
///     [[noreturn]] void FailNested();               throws: nested more than kMaxNested deep
///     static constexpr int kMaxNested;
///
/// An operator's power says how tightly it binds.
template <class Language, class Value>
class OperatorParser {
 protected:
  struct Prefix {
    std::string_view symbol;
    int power;  ///< where a value of more is wanted, it is none
    /// Reads what follows the symbol.
    Value (Language::*read)(const Token& symbol);
  };
  struct Infix {
    std::string_view symbol;
    int power;
    int right;  ///< the least power of what stands on its right: `power + 1` associates to the left
    /// Reads what follows the symbol.
    Value (Language::*read)(const Infix& infix, const Token& symbol, Value left);
    bool is_last = false;  ///< no other of this power follows
  };

  explicit OperatorParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool AtEnd() const { return Peek().kind == Token::Kind::kEnd; }
  bool Sees(std::string_view symbol) const { return Is(Peek(), symbol); }
  bool Accept(std::string_view symbol) {
    if (!Sees(symbol)) return false;
    ++at_;
    return true;
  }
  Token Take() {
    const Token& taken = Peek();
    if (!AtEnd()) ++at_;
    return taken;
  }
  /// The place of the next token; to go back to a place reads again from there.
  size_t place() const { return at_; }
  void GoTo(size_t place) { at_ = place; }

  /// An expression of operators of at least this power.
  Value Parse(int least = 0) {
    if (++nested_ > Language::kMaxNested) self().FailNested();
    Value value = ParseFirst(least);
    int most = std::numeric_limits<int>::max();
    while (const Infix* infix = FindInfix(least, most)) {
      most = infix->is_last ? infix->power - 1 : infix->power;
      const Token symbol = Take();
      value = (self().*infix->read)(*infix, symbol, std::move(value));
    }
    --nested_;
    return value;
  }

  /// The one that comes next, if its power is between these.
  const Infix* FindInfix(int least, int most) const {
    for (const Infix& infix : Language::Infixes()) {
      if (Sees(infix.symbol)) {
        return infix.power >= least && infix.power <= most ? &infix : nullptr;
      }
    }
    return nullptr;
  }

 private:
  Language& self() { return static_cast<Language&>(*this); }
  static bool Is(const Token& token, std::string_view symbol) {
    return token.kind == Token::Kind::kSymbol && token.text == symbol;
  }

  Value ParseFirst(int least) {
    for (const Prefix& prefix : Language::Prefixes()) {
      if (Sees(prefix.symbol) && prefix.power >= least) return (self().*prefix.read)(Take());
    }
    return self().Primary();
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nested_ = 0;
};

}  // namespace bayloom::base
