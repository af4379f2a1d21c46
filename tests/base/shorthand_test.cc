// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/shorthand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/result.h"

namespace bayloom::base {
namespace {

using Sizes = std::array<int64_t, 2>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Shorthand, TakesArgumentsInOrderAndOptionsInAny) {
  Shorthand line("operator", "conv2d:56x55x64,128,3,relu,pad=1x2,batch=4,kind=fast");
  EXPECT_EQ(line.name(), "conv2d");
  EXPECT_EQ(line.Option("kind", "plain"), "fast");
  EXPECT_EQ(line.NumberOption("batch", 1), 4);
  EXPECT_THAT(line.Numbers("image", 3), ElementsAre(56, 55, 64));
  EXPECT_EQ(line.Number("outputs"), 128);
  EXPECT_EQ(line.Pair("kernel"), (Sizes{3, 3}));
  EXPECT_EQ(line.PairOption("pad", 0), (Sizes{1, 2}));
  EXPECT_EQ(line.PairOption("stride", 1), (Sizes{1, 1}));
  EXPECT_TRUE(line.Flag("relu"));
  EXPECT_FALSE(line.Flag("relu"));
  line.ExpectNoMore();
}

TEST(Shorthand, NamesWhatDoesNotFit) {
  const auto refusal = [](const char* text, const auto& read, const char* message) {
    Shorthand line("operator", text);
    line.SetExample("matmul:1,2,3");
    EXPECT_THAT([&] { read(line); }, ThrowsMessage<InputError>(HasSubstr(message))) << text;
  };
  const auto number = [](Shorthand& line) { (void)line.Number("M"); };
  refusal("matmul", number, "operator 'matmul': the M is missing; try matmul:1,2,3");
  refusal("matmul:", number, "the M is missing");
  refusal("matmul:,", number, "'' is no M: numbers from 1 to 16777216 are");
  refusal("matmul:0", number, "'0' is no M");
  refusal("matmul:16777217", number, "'16777217' is no M");
  refusal("matmul:2x2", number, "'2x2' is no M, which takes 1 number");
  refusal(
      "m:2x2x2", [](Shorthand& line) { (void)line.Pair("kernel"); },
      "kernel takes one or two numbers");
  refusal(
      "m:pad=-1", [](Shorthand& line) { (void)line.PairOption("pad", 0); }, "'-1' is no pad");
  refusal(
      "m:batch=2x2", [](Shorthand& line) { (void)line.NumberOption("batch", 1); },
      "batch takes one number");
  refusal(
      "m:8,bais", [](Shorthand& line) { line.Number("M"), line.ExpectNoMore(); },
      "'bais' is not understood");
  refusal(
      "m:8,", [](Shorthand& line) { line.Number("M"), line.ExpectNoMore(); },
      "'' is not understood");
}

}  // namespace
}  // namespace bayloom::base
