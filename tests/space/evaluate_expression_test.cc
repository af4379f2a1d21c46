// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/evaluate_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bayloom::space {
namespace {

const std::map<std::string, Value> kValues = {{"rows", int64_t{12}},
                                              {"share", 0.25},
                                              {"kind", std::string("mesh")},
                                              {"order", std::vector<int64_t>{1, 0}}};

TEST(EvaluateExpression, ComputesNumbersAndTruthValues) {
  const auto value = [](const char* text) { return *EvaluateExpression(text, kValues); };
  EXPECT_EQ(value("rows * 4 - 1"), 47);
  EXPECT_EQ(value("rows // 5 + rows % 5"), 4);
  EXPECT_EQ(value("share * rows"), 3);
  EXPECT_EQ(value("max(rows, 2 ** 5)"), 32);
  EXPECT_EQ(value("7"), 7);
  EXPECT_EQ(value("-rows"), -12);
  EXPECT_EQ(value("kind == 'mesh'"), 1);
  EXPECT_EQ(value("rows > 8 and share < 1"), 1);
  EXPECT_EQ(value("rows > 8 and share > 1"), 0);
  EXPECT_EQ(value("3 if rows < 8 else 5"), 5);
}

TEST(EvaluateExpression, SaysWhatIsWrong) {
  const auto error = [](const char* text) {
    const Result<double> result = EvaluateExpression(text, kValues);
    EXPECT_FALSE(result) << text;
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(error("rows * colums"), testing::HasSubstr("column 8"));
  EXPECT_THAT(error("rows +"), testing::HasSubstr("column"));
  EXPECT_THAT(error("rows / 0"), testing::HasSubstr("has no value"));
  EXPECT_THAT(error(""), testing::HasSubstr("column 1"));
}

}  // namespace
}  // namespace bayloom::space
