// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/shell_text.h"

#include <limits>

#include "bayloom/base/single_line.h"

namespace bayloom::base {
namespace {

/// Characters after which a '#' begins a comment.
constexpr std::string_view kBeforeWord = " \t\n;&|()";

std::string Escaped(std::string_view text, std::string_view special, std::string_view escape) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) escaped += escape;
    escaped += c;
  }
  return escaped;
}

}  // namespace

void ShellScanner::Feed(std::string_view text) {
  for (const char c : text) {
    FeedOne(c);
    previous_ = c;
  }
  if (!is_escaped_) previous_ = 'x';  // what is inserted next is a part of a word
}

void ShellScanner::FeedOne(char c) {
  if (in_comment_) {
    in_comment_ = c != '\n';
    if (!in_comment_) FeedPlain(c);
  } else if (is_escaped_) {
    is_escaped_ = false;
  } else if (quotes_ == ShellContext::kSingleQuoted) {
    if (c == '\'') quotes_ = ShellContext::kPlain;
  } else if (c == '\\') {
    is_escaped_ = true;
  } else if (quotes_ == ShellContext::kDoubleQuoted) {
    FeedDoubleQuoted(c);
  } else {
    FeedPlain(c);
  }
}

void ShellScanner::FeedPlain(char c) {
  if (c == '\'') {
    quotes_ = ShellContext::kSingleQuoted;
    if (previous_ == '$') is_unsafe_ = true;  // quotes with escapes in some shells
  } else if (c == '"') {
    quotes_ = ShellContext::kDoubleQuoted;
  } else if (c == '`') {
    in_backticks_ = !in_backticks_;
  } else if (c == '#') {
    in_comment_ = kBeforeWord.find(previous_) != std::string_view::npos;
  } else if (c == '<' && previous_ == '<') {
    has_here_document_ = true;
  } else if (c == '\n' && has_here_document_) {
    is_unsafe_ = true;
  }
}

void ShellScanner::FeedDoubleQuoted(char c) {
  constexpr std::string_view kNesting = "\"'`$";
  if (in_expansion_) {
    if (kNesting.find(c) != std::string_view::npos) is_unsafe_ = true;
    in_expansion_ = c != '}';
  } else if (c == '"') {
    quotes_ = ShellContext::kPlain;
  } else if (c == '`' || (c == '(' && previous_ == '$')) {
    is_unsafe_ = true;  // what is quoted in there nests
  } else if (c == '{' && previous_ == '$') {
    in_expansion_ = true;
  }
}

ShellContext ShellScanner::context() const {
  const bool is_unsafe = is_unsafe_ || in_comment_ || in_backticks_ || in_expansion_ || is_escaped_;
  return is_unsafe ? ShellContext::kUnsafe : quotes_;
}

std::string QuotedFor(ShellContext context, std::string_view text) {
  if (context == ShellContext::kDoubleQuoted) return Escaped(text, "\"$`\\", "\\");
  std::string inner = Escaped(text, "'", "'\\'");
  // Within single quotes: close, an escaped quote, open again.
  if (context == ShellContext::kSingleQuoted) return inner;
  constexpr std::string_view kUnquotedCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  const bool is_harmless =
      !text.empty() && text.find_first_not_of(kUnquotedCharacters) == std::string_view::npos;
  return is_harmless ? std::string(text) : "'" + inner + "'";
}

std::string QuotedForDisplay(std::string_view text) {
  constexpr size_t kAnyLength = std::numeric_limits<size_t>::max();
  if (SingleLine(text, kAnyLength) == text) return QuotedFor(ShellContext::kPlain, text);
  return "$'" + SingleLine(Escaped(text, "\\'", "\\"), kAnyLength) + "'";
}

}  // namespace bayloom::base
