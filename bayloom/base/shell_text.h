// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bayloom::base {

/// Where in a POSIX shell's text something stands, which decides how it is to be quoted there.
enum class ShellContext : uint8_t {
  kPlain,
  kSingleQuoted,
  kDoubleQuoted,
  /// No quoting is safe, or none that can be found out without being a shell: a comment, a here
  /// document, a substitution within backticks or double quotes.
  kUnsafe,
};

/// Follows a shell's text to know the context at any place in it:
///
///     ShellScanner scanner;
///     scanner.Feed("echo \"");
///     QuotedFor(scanner.context(), value);
class ShellScanner {
 public:
  /// More text. What is to be inserted between two calls is a part of a word.
  void Feed(std::string_view text);
  ShellContext context() const;

 private:
  void FeedOne(char c);
  void FeedPlain(char c);
  void FeedDoubleQuoted(char c);

  ShellContext quotes_ = ShellContext::kPlain;  ///< never kUnsafe
  bool is_escaped_ = false;                     ///< by a backslash before
  bool in_comment_ = false;
  bool in_backticks_ = false;
  bool in_expansion_ = false;       ///< within "${...}"
  bool has_here_document_ = false;  ///< one begins with the next line
  bool is_unsafe_ = false;          ///< from here to the end
  char previous_ = '\n';
};

/// The text such that a shell takes it for what it is in this context (not kUnsafe): as one word if
/// plain, as a part of the quoted one else.
std::string QuotedFor(ShellContext context, std::string_view text);

/// The text as one word of a command that a person is shown and may type: what a terminal does not
/// show as it is (bytes that are not UTF-8, control characters) is escaped within $'...', which
/// bash, ksh and zsh take back.
std::string QuotedForDisplay(std::string_view text);

}  // namespace bayloom::base
