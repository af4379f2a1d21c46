// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "tests/codegen/warp_products.h"

namespace bayloom::testing {
namespace {

using tensor::Tensor;
using Builder = tensor::WorkloadBuilder;

tensor::Workload Softmax(std::vector<int64_t> shape) {
  return OneInput(std::move(shape),
                  [](Builder& b, const Tensor& x) { return tensor::Softmax(b, "softmax", x); });
}

tensor::Workload LayerNorm(std::vector<int64_t> shape) {
  const int64_t row = shape.back();
  return OneInput(std::move(shape), [row](Builder& b, const Tensor& x) {
    return tensor::LayerNorm(b, "norm", x, b.Constant("scale", {row}), b.Constant("shift", {row}));
  });
}

/// Whose sums are made of as many parts as processors have lanes.
tensor::Workload SoftmaxInParts() {
  return OneInput({4, 96}, [](Builder& b, const Tensor& x) {
    const Tensor max = tensor::ReduceAxes(b, "max", x, {1}, tensor::Reduction::kMax, true);
    const Tensor exp = b.Compute("exp", {4, 96}, [&](const auto& s) {
      return tensor::Unary(tensor::ExprOp::kExp, x(s[0], s[1]) - max(s[0], tensor::Expr(0)));
    });
    const Tensor parts =
        b.Reduce("parts", {4, 16}, {{"r", 6}}, tensor::Reduction::kSum,
                 [&](auto s, auto r) { return exp(s[0], r[0] * tensor::Expr(16) + s[1]); });
    const Tensor sum = tensor::ReduceAxes(b, "sum", parts, {1}, tensor::Reduction::kSum, true);
    return b.Compute("y", {4, 96},
                     [&](const auto& s) { return exp(s[0], s[1]) / sum(s[0], tensor::Expr(0)); });
  });
}

/// Images less their mean.
tensor::Workload Centered() {
  return OneInput({3, 5, 14}, [](Builder& b, const Tensor& x) {
    const Tensor sum = b.Reduce("sum", {3}, {{"i", 5}, {"j", 14}}, tensor::Reduction::kSum,
                                [&](auto s, auto r) { return x(s[0], r[0], r[1]); });
    return b.Compute("y", {3, 5, 14}, [&](const auto& s) {
      return x(s[0], s[1], s[2]) - sum(s[0]) * tensor::FloatLiteral(1.0 / 70);
    });
  });
}

std::vector<int> RowSpaces(const sketch::GpuSpaces& spaces) {
  return SpacesWhere(spaces, [](const tensor::Trace& trace) {
    return HasStep(trace, tensor::InstructionKind::kSetScope);
  });
}

class GpuRowChainOf : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(GpuRowChainOf, IsOneKernelThatIsRight) {
  const sketch::GpuSpaces spaces(GetParam().workload, Hopper());
  ASSERT_EQ(RowSpaces(spaces).size(), 1U);
  ExpectDrawsAreRight(spaces, RowSpaces(spaces), {"bar.sync", "shfl.sync"});
  const auto candidate = spaces.Sample(RowSpaces(spaces)[0], base::RandomStream(1));
  ASSERT_TRUE(candidate) << candidate.error().message;
  const auto compiled = codegen::CompileToPtx(candidate->program, Hopper(), "f");
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(compiled->launches.size(), 1U);
  EXPECT_EQ(compiled->workspace_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, GpuRowChainOf,
                         ::testing::Values(NamedWorkload{"softmax", Softmax({6, 35})},
                                           NamedWorkload{"long_softmax", Softmax({2, 3, 2500})},
                                           NamedWorkload{"norm", LayerNorm({7, 128})},
                                           NamedWorkload{"batch_norm", LayerNorm({2, 3, 66})},
                                           NamedWorkload{"parts", SoftmaxInParts()},
                                           NamedWorkload{"centered", Centered()}),
                         [](const auto& named) { return named.param.name; });

size_t Kernels(const sketch::GpuSpaces& spaces, int space) {
  const auto candidate = spaces.Sample(space, base::RandomStream(1));
  EXPECT_TRUE(candidate) << candidate.error().message;
  return candidate->program.roots.size();
}

/// Of the softmax between two products, the exponentials are computed with the maximum and summed
/// up there; the second product reads them, too, and divides.
TEST(GpuRowChain, IsFoundBetweenProducts) {
  Builder b("attention");
  const Tensor scores = tensor::Matmul(b, "scores", b.Input("q", {24, 16}), b.Input("k", {16, 40}));
  const Tensor weights = tensor::Softmax(b, "softmax", scores);
  const tensor::Workload workload =
      b.Build({tensor::Matmul(b, "out", weights, b.Input("v", {40, 16}))});
  const sketch::GpuSpaces spaces(workload, Hopper());
  ASSERT_EQ(RowSpaces(spaces).size(), 1U);
  ExpectDrawsAreRight(spaces, RowSpaces(spaces), {"bar.sync"});
  EXPECT_EQ(Kernels(spaces, RowSpaces(spaces)[0]), 3U);
  EXPECT_GE(Kernels(spaces, 0), 5U);
}

TEST(GpuRowChain, IsNotForProductsAlone) {
  EXPECT_TRUE(RowSpaces(sketch::GpuSpaces(tensor::MatmulWorkload(16, 16, 16), Hopper())).empty());
}

/// What lies between kernels is then in global memory.
TEST(GpuRowChain, IsCutWhereARowNeedsTooMuchSharedMemory) {
  const sketch::GpuSpaces fits(Softmax({2, 10000}), Hopper()),
      large(Softmax({2, 100000}), Hopper());
  EXPECT_EQ(Kernels(fits, RowSpaces(fits).at(0)), 1U);
  EXPECT_GT(Kernels(large, RowSpaces(large).at(0)), 1U);
  const auto candidate = large.Sample(RowSpaces(large).at(0), base::RandomStream(1));
  ASSERT_TRUE(candidate) << candidate.error().message;
  EXPECT_THAT(PtxOf(candidate->program), HasSubstr("bar.sync"));
}

}  // namespace
}  // namespace bayloom::testing
