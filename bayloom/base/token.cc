// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/token.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

namespace bayloom::base {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNamePart(char c) {
  return IsDigit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Lexer {
 public:
  Lexer(std::string_view text, const Vocabulary& vocabulary)
      : text_(text), vocabulary_(vocabulary) {
    for (const std::string& name : vocabulary.names) {
      if (!std::ranges::all_of(name, IsNamePart) || IsDigit(name.front())) {
        unusual_names_.push_back(name);
      }
    }
    std::ranges::sort(unusual_names_, std::greater(), &std::string_view::size);
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
    for (std::string_view symbol : vocabulary_.symbols) {
      if (rest.starts_with(symbol)) return Take(Token::Kind::kSymbol, symbol.size());
    }
    throw TextFault{at_, fmt::format("unexpected character{}",
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
      throw TextFault{at_, "this is no number"};
    }
    Token token = Take(Token::Kind::kNumber, static_cast<size_t>(stop - start));
    token.number = number;
    return token;
  }

  Token TakeText() {
    const char quote = text_[at_];
    std::string text;
    size_t i = at_ + 1;
    for (; i < text_.size() && text_[i] != quote; ++i) {
      if (vocabulary_.has_escapes && text_[i] == '\\' && i + 1 < text_.size()) ++i;
      text += text_[i];
    }
    if (i >= text_.size()) throw TextFault{at_, "this text has no closing quote"};
    Token token = Take(Token::Kind::kText, i + 1 - at_);
    token.text = std::move(text);
    return token;
  }

  Token TakeName() {
    size_t length = 1;
    while (at_ + length < text_.size() && IsNamePart(text_[at_ + length])) ++length;
    Token token = Take(Token::Kind::kName, length);
    for (const auto& [word, symbol] : vocabulary_.words) {
      if (token.text != word) continue;
      token.kind = Token::Kind::kSymbol;
      token.text = symbol;
      break;
    }
    return token;
  }

  std::string_view text_;
  const Vocabulary& vocabulary_;
  std::vector<std::string_view> unusual_names_;
  size_t at_ = 0;
};

}  // namespace

std::vector<Token> SplitExpression(std::string_view text, const Vocabulary& vocabulary) {
  Lexer lexer(text, vocabulary);
  std::vector<Token> tokens;
  do {
    tokens.push_back(lexer.Next());
  } while (tokens.back().kind != Token::Kind::kEnd);
  return tokens;
}

size_t ColumnOf(std::string_view text, size_t offset) {
  return 1 + static_cast<size_t>(std::ranges::count_if(text.substr(0, offset), [](char c) {
           return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
         }));
}

}  // namespace bayloom::base
