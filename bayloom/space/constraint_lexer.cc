// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/constraint_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace bayloom::space {
namespace {

/// Longest first, so that the first that matches is right.
constexpr std::array<std::string_view, 34> kSymbols = {
    "**", "//", "<=", ">=", "==", "!=", "&&", "||", "->", "=>", "<<", ">>",
    "+",  "-",  "*",  "/",  "%",  "<",  ">",  "!",  "&",  "|",  "^",  "~",
    "(",  ")",  "[",  "]",  "{",  "}",  ",",  "?",  ":",  "="};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWords = {
    {{"and", "&&"},
     {"or", "||"},
     {"not", "not"},
     {"in", "in"},
     {"if", "if"},
     {"else", "else"},
     {"implies", "->"}}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNamePart(char c) {
  return IsDigit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Lexer {
 public:
  Lexer(std::string_view text, const std::vector<std::string>& names) : text_(text) {
    for (const std::string& name : names) {
      if (!std::all_of(name.begin(), name.end(), IsNamePart) || IsDigit(name.front())) {
        unusual_names_.push_back(name);
      }
    }
    std::sort(unusual_names_.begin(), unusual_names_.end(),
              [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
  }

  Token Next() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
    if (at_ == text_.size()) return Take(Token::Kind::kEnd, 0);
    const std::string_view rest = text_.substr(at_);
    for (std::string_view name : unusual_names_) {
      if (!rest.starts_with(name)) continue;
      const bool whole = rest.size() == name.size() || !IsNamePart(rest[name.size()]);
      if (whole) return Take(Token::Kind::kName, name.size());
    }
    const char c = rest[0];
    if (IsDigit(c) || (c == '.' && rest.size() > 1 && IsDigit(rest[1]))) return TakeNumber();
    if (c == '"' || c == '\'') return TakeText();
    if (IsNamePart(c)) return TakeName();
    for (std::string_view symbol : kSymbols) {
      if (rest.starts_with(symbol)) return Take(Token::Kind::kSymbol, symbol.size());
    }
    throw ConstraintFault{at_, fmt::format("unexpected character{}",
                                           c > ' ' && c < 127 ? fmt::format(" '{}'", c) : "")};
  }

 private:
  Token Take(Token::Kind kind, size_t length) {
    Token token{kind, std::string(text_.substr(at_, length)), 0, at_};
    at_ += length;
    return token;
  }

  Token TakeNumber() {
    const char* const start = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    double number = 0;
    const auto [stop, fault] = std::from_chars(start, end, number);
    if (fault != std::errc() || !std::isfinite(number) || (stop != end && IsNamePart(*stop))) {
      throw ConstraintFault{at_, "this is no number"};
    }
    Token token = Take(Token::Kind::kNumber, static_cast<size_t>(stop - start));
    token.number = number;
    return token;
  }

  Token TakeText() {
    const size_t close = text_.find(text_[at_], at_ + 1);
    if (close == std::string_view::npos) {
      throw ConstraintFault{at_, "this text has no closing quote"};
    }
    Token token = Take(Token::Kind::kText, close + 1 - at_);
    token.text = token.text.substr(1, token.text.size() - 2);
    return token;
  }

  Token TakeName() {
    size_t length = 1;
    while (at_ + length < text_.size() && IsNamePart(text_[at_ + length])) ++length;
    Token token = Take(Token::Kind::kName, length);
    for (const auto& [word, symbol] : kWords) {
      if (token.text != word) continue;
      token.kind = Token::Kind::kSymbol;
      token.text = symbol;
      break;
    }
    return token;
  }

  std::string_view text_;
  std::vector<std::string_view> unusual_names_;
  size_t at_ = 0;
};

}  // namespace

std::vector<Token> SplitConstraint(std::string_view text, const std::vector<std::string>& names) {
  Lexer lexer(text, names);
  std::vector<Token> tokens;
  do {
    tokens.push_back(lexer.Next());
  } while (tokens.back().kind != Token::Kind::kEnd);
  return tokens;
}

}  // namespace bayloom::space
