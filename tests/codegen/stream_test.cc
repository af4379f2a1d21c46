// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Constants that are read once in a run are fetched ahead, and what is as long as the caller says.
#include <gmock/gmock.h>

#include "bayloom/codegen/host.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/target/named_target.h"
#include "tests/codegen/compiled.h"

namespace bayloom::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

tensor::Workload Product(int64_t m, int64_t n, int64_t k) {
  tensor::WorkloadBuilder b("product");
  const tensor::Tensor x = b.Input("x", {m, k}, tensor::DType::kFloat32);
  const tensor::Tensor w = b.Constant("w", {k, n}, tensor::DType::kFloat32);
  return b.Build({tensor::Matmul(b, "matmul", x, w, {})});
}

std::string Assembly(const tensor::Workload& workload) {
  const target::Target target = *target::LevelTarget("x86-64-v3", 1);
  const Result<std::string> assembly =
      codegen::EmitAssembly(sketch::DefaultSchedule(workload, target), target, "kernel");
  EXPECT_TRUE(assembly);
  return assembly ? *assembly : "";
}

TEST(Streams, OfLargeConstantsAreFetchedAhead) {
  EXPECT_THAT(Assembly(Product(1, 512, 512)), HasSubstr("prefetcht0"));
  EXPECT_THAT(Assembly(Product(8, 512, 512)), Not(HasSubstr("prefetch"))) << "each is read again";
  EXPECT_THAT(Assembly(Product(1, 64, 64)), Not(HasSubstr("prefetch"))) << "it stays in a cache";
}

/// Values of so many rows at most, weighted for some queries.
tensor::Workload WeightedSums(int64_t queries, int64_t rows) {
  tensor::WorkloadBuilder b("sums");
  const tensor::BufferId n = b.Size("n", {1, rows});
  const tensor::Tensor weights = b.Input("weights", {queries, rows});
  const tensor::Tensor values = b.Input("values", {rows, 64});
  b.Bound(weights, 1, n);
  b.Bound(values, 0, n);
  return b.Build({b.Reduce(
      "sums", {queries, 64}, {{"k", rows, n}}, tensor::Reduction::kSum,
      [&](const auto& s, const auto& r) { return weights(s[0], r[0]) * values(r[0], s[1]); })});
}

TEST(Streams, OfOpenInputsAreFetchedAhead) {
  EXPECT_THAT(Assembly(WeightedSums(1, 4096)), HasSubstr("prefetcht0"));
  EXPECT_THAT(Assembly(WeightedSums(4, 4096)), HasSubstr("prefetcht0"));
  EXPECT_THAT(Assembly(WeightedSums(64, 4096)), Not(HasSubstr("prefetch"))) << "read again";
  EXPECT_THAT(Assembly(WeightedSums(1, 64)), Not(HasSubstr("prefetch"))) << "it stays in a cache";
}

/// Which lanes are behind the last element is decided in 32 bits, in as many registers as the
/// elements take.
TEST(Streams, OfOpenInputsEndAtALane) {
  tensor::WorkloadBuilder b("sum");
  const tensor::BufferId n = b.Size("n", {1, 4096});
  const tensor::Tensor x = b.Input("x", {4096});
  b.Bound(x, 0, n);
  const tensor::Workload sum =
      b.Build({b.Reduce("sum", {1}, {{"k", 4096, n}}, tensor::Reduction::kSum,
                        [&](const auto&, const auto& r) { return x(r[0]); })});
  EXPECT_THAT(Assembly(sum), ::testing::AllOf(HasSubstr("vpcmpgtd"), Not(HasSubstr("vpcmpgtq"))));
}

}  // namespace
}  // namespace bayloom::testing
