// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/kernel/kernel_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bayloom::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

search::KernelDefinition Launched(const std::vector<std::string>& problem_size) {
  search::KernelDefinition kernel;
  kernel.language = search::KernelDefinition::Language::kOpenCl;
  kernel.problem_size = problem_size;
  return kernel;
}

/// As Kernel Tuner's documentation has it.
TEST(LaunchGeometry, IsTheProblemsSizeDividedRoundedUp) {
  search::KernelDefinition kernel = Launched({"n", "2 * n", "7"});
  const Values values = {{"n", int64_t{1000}},
                         {"block_size_x", int64_t{32}},
                         {"block_size_y", int64_t{4}},
                         {"tile", int64_t{3}}};
  Result<LaunchGeometry> geometry = GeometryOf(kernel, values);
  ASSERT_TRUE(geometry) << geometry.error().message;
  EXPECT_THAT(geometry->items, ElementsAre(32, 4, 1));
  EXPECT_THAT(geometry->groups, ElementsAre(32, 500, 7));

  kernel.grid_divisors = {std::vector<std::string>{"block_size_x", "tile"},
                          std::vector<std::string>{}, std::nullopt};
  geometry = GeometryOf(kernel, values);
  EXPECT_THAT(geometry->groups, ElementsAre(11, 2000, 7));

  kernel.block_size_names = {"tile", "none", "none"};
  geometry = GeometryOf(kernel, values);
  EXPECT_THAT(geometry->items, ElementsAre(3, 1, 1));
}

TEST(LaunchGeometry, WithoutBlockSizeHasKernelTunersDefault) {
  const Result<LaunchGeometry> geometry = GeometryOf(Launched({"10"}), {});
  EXPECT_THAT(geometry->items, ElementsAre(256, 1, 1));
  EXPECT_THAT(geometry->groups, ElementsAre(10, 1, 1));
}

TEST(WholeNumber, IsNoFraction) {
  const Values values = {{"n", int64_t{10}}};
  EXPECT_EQ(*WholeNumber("n // 4", values, 0), 2);
  EXPECT_THAT(WholeNumber("n / 4", values, 0).error().message,
              HasSubstr("'n / 4' is 2.5, expected a whole number"));
  EXPECT_THAT(WholeNumber("n - 10", values, 1).error().message, HasSubstr("at least 1"));
}

TEST(Scalar, OutOfItsTypesRangeIsRefused) {
  const Result<search::KernelArgument> argument = search::ParseKernelArgument("uint8_t u = n");
  EXPECT_EQ(*ScalarBytes(*argument, {{"n", int64_t{200}}}), "\xc8");
  EXPECT_THAT(ScalarBytes(*argument, {{"n", int64_t{256}}}).error().message,
              HasSubstr("out of the type's range"));
}

}  // namespace
}  // namespace bayloom::kernel
