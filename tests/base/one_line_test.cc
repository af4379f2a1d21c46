// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/one_line.h"

#include <gtest/gtest.h>

namespace bayloom::base {
namespace {

TEST(InOneLine, ReplacesControlCharactersAndCutsAtCharacters) {
  EXPECT_EQ(InOneLine("a\nb\tc", 10), "a b c");
  EXPECT_EQ(InOneLine("abcdef", 3), "abc...");
  EXPECT_EQ(InOneLine("\xc3\xa9\xc3\xa9", 3), "\xc3\xa9...");  // no half character
  EXPECT_EQ(InOneLine("a\xffz\xc3", 10), "a?z?");
  EXPECT_EQ(InOneLine("\xe2\x82\xac \xf0\x9f\x98\x80", 10), "\xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(InOneLine("\xc0\x80\xed\xa0\x80\xf5", 10), "??????");  // overlong, surrogate, too large
}

}  // namespace
}  // namespace bayloom::base
