// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/size_division.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bayloom::tuning {
namespace {

const std::vector<std::vector<int64_t>> kPoints = {{256}, {64}, {16}, {4}, {1}};

std::vector<double> Logs(const std::vector<double>& seconds) {
  std::vector<double> logs;
  for (const double each : seconds) logs.push_back(std::log(each));
  return logs;
}

TEST(SizeDivision, EachLengthGetsTheProgramThatIsFastestThere) {
  const SizeDivision division = DivideBySize(
      {Logs({100, 30, 12, 10, 9}), Logs({200, 40, 10, 5, 4}), Logs({300, 90, 20, 6, 1})}, kPoints);
  const std::vector<int> expected = {0, 0, 1, 1, 2};
  for (size_t p = 0; p < kPoints.size(); ++p) {
    EXPECT_EQ(division.ProgramAt(kPoints[p]), expected[p]) << kPoints[p][0];
  }
  EXPECT_NEAR(division.log_time, std::log(100.0 * 30 * 10 * 5 * 1) / 5, 1e-9);
}

TEST(SizeDivision, AFurtherProgramHasToPay) {
  const std::vector<std::vector<double>> logs = {Logs({100, 30, 12, 10, 9}),
                                                 Logs({200, 40, 12, 9.8, 8.9})};
  EXPECT_EQ(DivideBySize(logs, kPoints).parts.size(), 1u);
  EXPECT_EQ(DivideBySize(logs, kPoints, {.min_gain = 0.001}).parts.size(), 2u);
}

TEST(SizeDivision, TheLargestLengthsMayHaveAnyProgramWhereThatIsAllowed) {
  const std::vector<std::vector<double>> logs = {Logs({200, 60, 24, 10, 9}),
                                                 Logs({100, 30, 12, 10, 9})};
  EXPECT_EQ(DivideBySize(logs, kPoints).ProgramAt({256}), 0);
  EXPECT_EQ(DivideBySize(logs, kPoints, {.for_largest = 2}).ProgramAt({256}), 1);
}

TEST(SizeDivision, OfSeveralSizesItIsByTheOneThatTells) {
  // The second program is for few columns, for any rows.
  const std::vector<std::vector<int64_t>> points = {{8, 64}, {1, 64}, {8, 2}, {1, 2}};
  const SizeDivision division = DivideBySize({Logs({10, 5, 4, 3}), Logs({20, 9, 2, 1})}, points);
  EXPECT_EQ(division.size, 1);
  EXPECT_EQ(division.ProgramAt({8, 2}), 1);
  EXPECT_EQ(division.ProgramAt({1, 64}), 0);
}

}  // namespace
}  // namespace bayloom::tuning
