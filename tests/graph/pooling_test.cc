// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/graph/one_operator.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

using tensor::HostTensor;

struct Pool {
  const char* name;
  int64_t channels, height, width;
  std::vector<int64_t> kernel, strides, dilations, pads;

  friend void PrintTo(const Pool& shown, std::ostream* out) { *out << shown.name; }
};

/// By the definition.
std::vector<double> Maxima(const Pool& p, const HostTensor& x) {
  std::vector<double> maxima;
  const auto count = [&](int d, int64_t extent) {
    const int64_t reach = (p.kernel[d] - 1) * p.dilations[d] + 1;
    return (extent + p.pads[d] + p.pads[d + 2] - reach) / p.strides[d] + 1;
  };
  for (int64_t c = 0; c < p.channels; ++c) {
    for (int64_t y = 0; y < count(0, p.height); ++y) {
      for (int64_t z = 0; z < count(1, p.width); ++z) {
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t i = 0; i < p.kernel[0] * p.kernel[1]; ++i) {
          const int64_t row = y * p.strides[0] + i / p.kernel[1] * p.dilations[0] - p.pads[0];
          const int64_t column = z * p.strides[1] + i % p.kernel[1] * p.dilations[1] - p.pads[1];
          const bool inside = row >= 0 && row < p.height && column >= 0 && column < p.width;
          if (!inside) continue;
          const double value = x.Get((c * p.height + row) * p.width + column);
          largest = std::isnan(value) || value > largest ? value : largest;
          if (std::isnan(value)) break;
        }
        maxima.push_back(largest);
      }
    }
  }
  return maxima;
}

class MaxPoolTest : public ::testing::TestWithParam<Pool> {};

/// Large windows go through the axes one after the other, small ones do not.
TEST_P(MaxPoolTest, IsTheLargestOfEachWindow) {
  const Pool& p = GetParam();
  HostTensor x = RandomTensor({1, p.channels, p.height, p.width}, 1);
  x.Set(7, std::numeric_limits<double>::quiet_NaN());
  const HostTensor y = RunOperator({.op = "MaxPool",
                                    .inputs = {x},
                                    .attributes = {{"kernel_shape", p.kernel},
                                                   {"strides", p.strides},
                                                   {"dilations", p.dilations},
                                                   {"pads", p.pads}}})[0];
  const std::vector<double> expected = Maxima(p, x);
  ASSERT_EQ(y.ElementCount(), static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i < y.ElementCount(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(y.Get(i))) << i;
    } else {
      EXPECT_EQ(y.Get(i), expected[i]) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MaxPoolTest,
    ::testing::Values(Pool{"square", 3, 9, 11, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},
                      Pool{"strided_rows", 2, 13, 12, {7, 5}, {2, 1}, {1, 1}, {3, 0, 2, 4}},
                      Pool{"dilated_rows", 2, 12, 13, {5, 5}, {1, 2}, {2, 1}, {4, 1, 4, 2}},
                      Pool{"small", 3, 9, 11, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
                      Pool{"halving", 3, 8, 10, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace bayloom::graph
