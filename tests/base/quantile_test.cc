// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/quantile.h"

#include <gtest/gtest.h>

#include <vector>

namespace bayloom::base {
namespace {

TEST(Quantile, OfKnownValues) {
  const std::vector<double> values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(Quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(Quantile(values, 1), 4);
  EXPECT_DOUBLE_EQ(Quantile(std::vector<double>{7}, 0.9), 7);
}

}  // namespace
}  // namespace bayloom::base
