// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/test_data.h"

#include <gtest/gtest.h>

#include <set>

namespace bayloom::measure {
namespace {

TEST(TestData, FloatsFillTheirRange) {
  tensor::WorkloadBuilder b("copy");
  tensor::Tensor x = b.Input("x", {10000});
  const tensor::Workload w =
      b.Build({b.Compute("y", {10000}, [&](const auto& i) { return x(i[0]) * x(i[0]); })});
  const std::vector<tensor::HostTensor> arguments = MakeArguments(w, 1, DataRange::kSymmetric);
  ASSERT_EQ(arguments.size(), 2u);
  double low = 9, high = -9, sum = 0;
  for (int64_t i = 0; i < 10000; ++i) {
    const double value = arguments[0].Get(i);
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
    EXPECT_EQ(arguments[1].Get(i), 0);
  }
  EXPECT_LT(low, -0.99);
  EXPECT_GT(high, 0.99);
  EXPECT_NEAR(sum / 10000, 0, 0.05);
  EXPECT_EQ(MakeArguments(w, 1, DataRange::kSymmetric)[0].data, arguments[0].data);
  EXPECT_NE(MakeArguments(w, 2, DataRange::kSymmetric)[0].data, arguments[0].data);
  const tensor::HostTensor positive = MakeArguments(w, 1, DataRange::kPositive)[0];
  for (int64_t i = 0; i < 10000; ++i) EXPECT_GE(positive.Get(i), 0.1F);
}

TEST(TestData, IndicesStayInRangeEvenThroughStages) {
  tensor::WorkloadBuilder b("gather");
  tensor::Tensor table = b.Input("table", {5, 3});
  tensor::Tensor rows = b.Input("rows", {200}, tensor::DType::kInt32);
  tensor::Tensor wide = b.Compute("wide", {200}, [&](const auto& i) {
    return tensor::Cast(tensor::DType::kInt64, rows(i[0]));
  });
  tensor::Tensor y =
      b.Compute("y", {200, 3}, [&](const auto& i) { return table(wide(i[0]), i[1]); });
  const std::vector<tensor::HostTensor> arguments =
      MakeArguments(b.Build({y}), 1, DataRange::kSymmetric);
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 200; ++i) seen.insert(arguments[1].GetInt(i));
  EXPECT_EQ(seen, (std::set<int64_t>{0, 1, 2, 3, 4}));
}

TEST(TestData, DivisorsAreNotZero) {
  tensor::WorkloadBuilder b("divide");
  tensor::Tensor x = b.Input("x", {500}, tensor::DType::kInt32),
                 y = b.Input("y", {500}, tensor::DType::kInt32);
  tensor::Tensor q = b.Compute("q", {500}, [&](const auto& i) { return x(i[0]) / y(i[0]); });
  const std::vector<tensor::HostTensor> arguments =
      MakeArguments(b.Build({q}), 1, DataRange::kSymmetric);
  for (int64_t i = 0; i < 500; ++i) EXPECT_NE(arguments[1].GetInt(i), 0);
}

}  // namespace
}  // namespace bayloom::measure
