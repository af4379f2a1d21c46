// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bayloom::base {
namespace {

TEST(ParseDuration, UnderstandsUnitsAndTheirSums) {
  EXPECT_DOUBLE_EQ(*ParseDuration("500ms"), 0.5);
  EXPECT_EQ(*ParseDuration("90"), 90);
  EXPECT_EQ(*ParseDuration("90s"), 90);
  EXPECT_EQ(*ParseDuration("10m"), 600);
  EXPECT_EQ(*ParseDuration("10min"), 600);
  EXPECT_EQ(*ParseDuration("1.5h"), 5400);
  EXPECT_EQ(*ParseDuration("1h30m"), 5400);
  EXPECT_EQ(*ParseDuration("0"), 0);
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text :
       {"", "m", "ten", "-5m", "5d", "5 m", "10m.", "nan", "inf", "1e3", "5 parsecs", "1h 30m"}) {
    EXPECT_FALSE(ParseDuration(text)) << text;
  }
  EXPECT_FALSE(ParseDuration(std::string(400, '9')));  // more than a double holds
}

TEST(ParseDuration, NamesWhatWasGiven) {
  try {
    ParseDuration("soon", "--time");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("--time: 'soon' is not a duration; write "));
  }
}

}  // namespace
}  // namespace bayloom::base
