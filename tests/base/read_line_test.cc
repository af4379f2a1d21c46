// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/read_line.h"

#include <gtest/gtest.h>

#include <sstream>

#include "bayloom/base/result.h"

namespace bayloom::base {
namespace {

TEST(ReadLine, TellsWhetherTheLastLineIsWhole) {
  std::istringstream in("one\n\ntwo");
  EXPECT_EQ(ReadLine(in)->text, "one");
  EXPECT_TRUE(ReadLine(in)->is_whole);
  const std::optional<Line> last = ReadLine(in);
  EXPECT_EQ(last->text, "two");
  EXPECT_FALSE(last->is_whole);
  EXPECT_FALSE(ReadLine(in));
}

TEST(ReadLine, RefusesLinesThatAreTooLong) {
  std::istringstream in("12345\n123456\n");
  EXPECT_EQ(ReadLine(in, 5)->text, "12345");
  EXPECT_THROW((void)ReadLine(in, 5), InputError);
}

}  // namespace
}  // namespace bayloom::base
