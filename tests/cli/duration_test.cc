#include "bayloom/cli/duration.h"

#include <gtest/gtest.h>

#include "bayloom/base/result.h"

namespace bayloom {
namespace {

TEST(Duration, UnderstandsUnitsAndTheirSums) {
  EXPECT_EQ(ParseDuration("90", "--time"), 90);
  EXPECT_EQ(ParseDuration("90s", "--time"), 90);
  EXPECT_EQ(ParseDuration("10m", "--time"), 600);
  EXPECT_EQ(ParseDuration("1.5h", "--time"), 5400);
  EXPECT_EQ(ParseDuration("1h30m", "--time"), 5400);
  EXPECT_EQ(ParseDuration("0", "--time"), 0);
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text : {"", "m", "ten", "-5m", "5d", "5 m", "10m.", "nan", "inf", "1e3"}) {
    EXPECT_THROW(ParseDuration(text, "--time"), InputError) << text;
  }
}

}  // namespace
}  // namespace bayloom
