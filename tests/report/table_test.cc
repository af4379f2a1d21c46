// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/table.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/report/format.h"

namespace bayloom::report {
namespace {

TEST(Table, AlignsWordsLeftAndNumbersRight) {
  Table table({"task", "trials", "best"});
  table.AddRow({"conv1", 8, {1.5e-3, "1.50 ms"}});
  table.AddRow({"a longer name", 1024, {2e-5, "20.0 us"}});
  EXPECT_EQ(table.Text(),
            "task           trials     best\n"
            "conv1               8  1.50 ms\n"
            "a longer name    1024  20.0 us\n");
}

TEST(Table, GivesProgramsTheValuesThemselves) {
  Table table({"task", "best"});
  table.AddRow({"conv1", {1.5e-3, "1.50 ms"}});
  table.AddRow({"conv2", {std::numeric_limits<double>::infinity(), "-"}});
  EXPECT_EQ(table.Json().dump(),
            R"([{"best":0.0015,"task":"conv1"},{"best":null,"task":"conv2"}])");
  EXPECT_EQ(Table({"a"}).Json().dump(), "[]");
}

TEST(Table, RefusesRowsOfAnotherLength) {
  Table table({"a", "b"});
  EXPECT_THROW(table.AddRow({"only one"}), std::invalid_argument);
}

TEST(Format, KeepsThreeDigitsAndFindsTheUnit) {
  EXPECT_EQ(FormatSeconds(1.2345e-3), "1.23 ms");
  EXPECT_EQ(FormatSeconds(45.678e-6), "45.7 us");
  EXPECT_EQ(FormatSeconds(999.96e-6), "1.00 ms");
  EXPECT_EQ(FormatSeconds(0), "0 s");
  EXPECT_EQ(FormatSeconds(12), "12.0 s");
  EXPECT_EQ(FormatSeconds(59.97), "1 min 0 s");
  EXPECT_EQ(FormatSeconds(245), "4 min 5 s");
  EXPECT_EQ(FormatSeconds(7800), "2 h 10 min");
  EXPECT_EQ(FormatSeconds(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(FormatRate(257.34e9), "257 GFLOP/s");
  EXPECT_EQ(FormatFlops(999.6e6), "1.00 GFLOP");
  EXPECT_EQ(FormatRatio(2.414), "2.41x");
}

TEST(Format, GroupsDigits) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(123), "123");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(-1234), "-1,234");
  EXPECT_EQ(FormatCount(-123), "-123");
}

}  // namespace
}  // namespace bayloom::report
