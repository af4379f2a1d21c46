// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/shell_text.h"

#include <gtest/gtest.h>

#include <string>

#include "bayloom/base/run_command.h"
#include "bayloom/base/single_line.h"

namespace bayloom::base {
namespace {

/// A shell's text with one place where something is inserted, marked by '@'.
struct Template {
  std::string before;
  std::string after;
  ShellContext context;

  explicit Template(const std::string& text) {
    const size_t at = text.find('@');
    before = text.substr(0, at);
    after = text.substr(at + 1);
    ShellScanner scanner;
    scanner.Feed(before);
    context = scanner.context();
  }
};

TEST(QuotedFor, AShellTakesTheTextForWhatItIs) {
  for (const std::string text :
       {"printf %s @", "printf %s a@b", "printf %s \"a@b\"", "printf %s 'a@b'",
        "x=$(printf %s '' @ \"\"); printf %s \"$x\"", "printf %s \"${NONE}a\"@'b'",
        "# it's a comment\nprintf %s \"@\"", "printf %s it\\'s@", "printf %s \"\\\"@\"",
        "printf %s a#@", "v=@; printf %s \"$v\"", "case x in x) printf %s @;; esac"}) {
    const Template place(text);
    ASSERT_NE(place.context, ShellContext::kUnsafe) << text;
    for (const std::string value :
         {"plain-1.5", "", "two  words", "it's", "$HOME", "$(echo x)", "`echo x`", "*", "\"",
          "a\nb", "\\", "\\\\", "\\\"", "'\"'", "; exit 1 #", "~"}) {
      Command command;
      command.arguments = {"/bin/sh", "-c",
                           place.before + QuotedFor(place.context, value) + place.after};
      // What the template prints around it, found out with something harmless.
      Command harmless;
      harmless.arguments = {"/bin/sh", "-c", place.before + "_" + place.after};
      std::string expected = RunCommand(harmless).output;
      expected.replace(expected.find('_'), 1, value);
      EXPECT_EQ(RunCommand(command).output, expected) << command.arguments[2];
    }
  }
}

TEST(ShellScanner, KnowsWhereNoQuotingIsSafe) {
  for (const std::string text : {"echo \"$(cat \"@\")\"", "echo \"$(cat @)\"", "echo \"`cat @`\"",
                                 "echo `cat @`", "echo \"${x:-@}\"", "echo \"${x:-\"@\"}\"",
                                 "true # @", "cat <<END\n@\nEND", "echo \\@", "echo $'@'"}) {
    EXPECT_EQ(Template(text).context, ShellContext::kUnsafe) << text;
  }
}

TEST(QuotedForDisplay, WhatIsShownIsPrintableAndBashTakesItBack) {
  EXPECT_EQ(QuotedForDisplay("plain.onnx"), "plain.onnx");
  EXPECT_EQ(QuotedForDisplay("it's"), "'it'\\''s'");
  EXPECT_EQ(QuotedForDisplay("café"), "'café'");
  for (const std::string text :
       {"caf\xe9.onnx", "\x1b[31m", "a\nb", "\xff'\\n\"$(x)\\", "\u202e1"}) {
    const std::string shown = QuotedForDisplay(text);
    EXPECT_EQ(SingleLine(shown), shown);
    Command command;
    command.arguments = {"bash", "-c", "printf %s " + shown};
    command.environment = {"LC_ALL=C.UTF-8"};
    EXPECT_EQ(RunCommand(command).output, text) << shown;
  }
}

TEST(ShellScanner, WhatIsInsertedBelongsToAWord) {
  ShellScanner scanner;
  scanner.Feed("echo ");
  EXPECT_EQ(scanner.context(), ShellContext::kPlain);
  scanner.Feed("#'");
  EXPECT_EQ(scanner.context(), ShellContext::kSingleQuoted);
}

}  // namespace
}  // namespace bayloom::base
