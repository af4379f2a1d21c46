// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/tensor/open_axis.h"
#include "bayloom/tensor/workload_json.h"
#include "tests/effort.h"
#include "tests/tensor/open_workloads.h"
#include "tests/tensor/random_schedule.h"

namespace bayloom::testing {
namespace {

using OpenAxes = ::testing::TestWithParam<OpenWorkload>;

/// The arguments of the same workload over axes of the lengths that the sizes are.
std::vector<tensor::HostTensor> FixedArguments(const tensor::Workload& open,
                                               const tensor::Workload& fixed,
                                               const std::vector<int64_t>& sizes,
                                               const std::vector<tensor::HostTensor>& arguments) {
  const std::vector<tensor::BufferId> of_open = open.Parameters(), of_fixed = fixed.Parameters();
  std::vector<tensor::HostTensor> result;
  for (size_t p = 0; p < of_fixed.size(); ++p) {
    const size_t in_open = p + sizes.size();
    tensor::HostTensor within =
        WithinBounds(open.buffers[of_open[in_open]], sizes, arguments[in_open]);
    const std::vector<int64_t>& shape = fixed.buffers[of_fixed[p]].shape;
    if (within.shape != shape) within = tensor::HostTensor::Zeros(within.dtype, shape);
    result.push_back(std::move(within));
  }
  return result;
}

TEST_P(OpenAxes, GiveWhatFixedAxesOfTheirLengthGive) {
  const tensor::Workload open = GetParam().Open();
  for (const std::vector<int64_t>& sizes : SizesToTry(open, 6, 3)) {
    const tensor::Workload fixed = GetParam().Fixed(sizes);
    std::vector<tensor::HostTensor> actual = OpenArguments(open, sizes, 5);
    std::vector<tensor::HostTensor> expected = FixedArguments(open, fixed, sizes, actual);
    tensor::Interpret(tensor::Lower(open), actual);
    tensor::Interpret(tensor::Lower(fixed), expected);
    const std::vector<tensor::BufferId> parameters = open.Parameters();
    const tensor::HostTensor result =
        WithinBounds(open.buffers[parameters.back()], sizes, actual.back());
    ASSERT_EQ(result.shape, expected.back().shape);
    EXPECT_EQ(RelativeDifference(result, expected.back()), 0);
    tensor::PointEvaluator points(open, actual);
    ForEachWithinBounds(open.buffers[parameters.back()], sizes, [&](int64_t at, int64_t place) {
      if (place % 7 != 0) return;
      std::vector<int64_t> index(actual.back().shape.size());
      for (size_t d = index.size(); d-- > 0; at /= actual.back().shape[d]) {
        index[d] = at % actual.back().shape[d];
      }
      EXPECT_NEAR(points.Evaluate(parameters.back(), index), result.Get(place), 1e-5);
    });
  }
}

TEST_P(OpenAxes, StayRightUnderRandomSchedules) {
  const tensor::Workload workload = GetParam().Open();
  const tensor::Program naive = tensor::Lower(workload);
  const std::vector<std::vector<int64_t>> tries = SizesToTry(workload, 2, 9);
  for (int i = 0; i < 60 * Effort(); ++i) {
    tensor::Program program = naive;
    const uint64_t seed = 1000 * i + 11;
    RandomScheduler scheduler(program, seed);
    base::RandomStream length(seed);
    for (int64_t steps = 5 + length.UniformInt(60); steps > 0; --steps) scheduler.Step();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + scheduler.history() +
                 tensor::Print(program));
    ASSERT_EQ(scheduler.history().find("REFUSED"), std::string::npos);
    const Status valid = tensor::Validate(program);
    ASSERT_TRUE(valid) << valid.error().message;
    for (const std::vector<int64_t>& sizes : tries) {
      std::vector<tensor::HostTensor> expected = OpenArguments(workload, sizes, 7);
      std::vector<tensor::HostTensor> actual = expected;
      tensor::Interpret(naive, expected);
      ASSERT_NO_THROW(tensor::InterpretStrictly(program, actual));
      const tensor::Buffer& output = workload.buffers[workload.Parameters().back()];
      ASSERT_LE(RelativeDifference(WithinBounds(output, sizes, actual.back()),
                                   WithinBounds(output, sizes, expected.back())),
                2e-5);
    }
  }
}

TEST_P(OpenAxes, AreTheSameAfterJson) {
  const tensor::Workload workload = GetParam().Open();
  const nlohmann::json json = tensor::WorkloadToJson(workload);
  const Result<tensor::Workload> read = tensor::WorkloadFromJson(json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(tensor::Print(*read), tensor::Print(workload));
  EXPECT_EQ(read->StructuralHash(), workload.StructuralHash());
  EXPECT_EQ(tensor::WorkloadToJson(*read), json);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, OpenAxes, ::testing::ValuesIn(OpenCatalogue()),
                         [](const auto& open) { return open.param.name; });

tensor::Workload Rows(tensor::SizeRange range) {
  tensor::WorkloadBuilder b("rows");
  const tensor::BufferId n = b.Size("n", range);
  const tensor::Tensor x = b.Input("x", {range.largest, 4});
  b.Bound(x, 0, n);
  const tensor::Tensor sum =
      b.Reduce("sum", {4}, {{"r", range.largest, n}}, tensor::Reduction::kSum,
               [&](const auto& s, const auto& r) { return x(r[0], s[0]); });
  return b.Build({sum});
}

TEST(OpenAxis, PrintsItsSizeForItsLength) {
  EXPECT_EQ(tensor::Print(Rows({2, 8})),
            "workload rows(n in 2..8, x: float32[n, 4]) -> sum: float32[4]\n"
            "  sum[i] = sum over r < n: select(r < n, x[r, i], 0.0)\n");
}

TEST(OpenAxis, IsAnotherTaskWithAnotherRange) {
  EXPECT_NE(Rows({1, 8}).StructuralHash(), Rows({2, 8}).StructuralHash());
  EXPECT_NE(Rows({1, 8}).StructuralHash(), Rows({1, 16}).StructuralHash());
  EXPECT_EQ(Rows({1, 8}).StructuralHash(), Rows({1, 8}).StructuralHash());
}

TEST(OpenAxis, HasTheExtentOfTheLargestSize) {
  tensor::WorkloadBuilder b("wrong");
  const tensor::BufferId n = b.Size("n", {1, 8});
  const tensor::Tensor x = b.Input("x", {7});
  EXPECT_THROW(b.Bound(x, 0, n), std::invalid_argument);
  EXPECT_THROW(b.Size("late", {1, 2}), std::invalid_argument);
}

/// What lies beyond the bound of a factor may be no number, which no product with zero makes one.
TEST(ReduceWithin, MakesBothFactorsZero) {
  const tensor::Expr product = tensor::Load(1, tensor::DType::kFloat32, {tensor::IterVar(0)}) *
                               tensor::Load(2, tensor::DType::kFloat32, {tensor::IterVar(0)});
  const tensor::Expr within =
      tensor::ReduceWithin(tensor::Reduction::kSum, product, 0, tensor::SizeOf(0));
  ASSERT_EQ(within->op, tensor::ExprOp::kMul);
  for (const tensor::Expr& factor : within->operands) {
    EXPECT_EQ(factor->op, tensor::ExprOp::kSelect);
  }
}

/// 3x3 over rows and columns of open lengths, channels last, the image with its border.
tensor::Workload OpenConvolution() {
  tensor::WorkloadBuilder b("conv");
  const tensor::BufferId h = b.Size("h", {1, 14}), w = b.Size("w", {1, 11});
  const tensor::BufferId height = b.Size("height", {3, 16}), width = b.Size("width", {3, 13});
  const tensor::Tensor x = b.Input("x", {1, 16, 13, 4});
  b.Bound(x, 1, height);
  b.Bound(x, 2, width);
  const tensor::Tensor f = b.Constant("f", {3, 3, 4, 8});
  const tensor::Tensor y =
      b.Reduce("conv", {1, 14, 11, 8}, {{"r", 3}, {"s", 3}, {"c", 4}}, tensor::Reduction::kSum,
               [&](const auto& i, const auto& r) {
                 return x(i[0], i[1] + r[0], i[2] + r[1], r[2]) * f(r[0], r[1], r[2], i[3]);
               });
  b.Bound(y, 1, h);
  b.Bound(y, 2, w);
  return b.Build({y});
}

TEST(OpenAxis, IsTakenInTilesByWinograd) {
  const tensor::Workload workload = OpenConvolution();
  for (const int64_t tile : {2, 4, 6}) {
    tensor::Program program = tensor::Lower(workload);
    const auto blocks = tensor::Winograd(program, program.FindBlock("conv"), tile);
    ASSERT_TRUE(blocks) << blocks.error().message;
    const Status valid = tensor::Validate(program);
    ASSERT_TRUE(valid) << valid.error().message;
    for (const auto& [h, w] : {std::pair<int64_t, int64_t>{14, 11}, {1, 1}, {5, 8}, {6, 7}}) {
      const std::vector<int64_t> sizes = {h, w, h + 2, w + 2};
      std::vector<tensor::HostTensor> expected = OpenArguments(workload, sizes, 4);
      std::vector<tensor::HostTensor> actual = expected;
      tensor::Interpret(tensor::Lower(workload), expected);
      ASSERT_NO_THROW(tensor::InterpretStrictly(program, actual));
      const tensor::Buffer& output = workload.buffers[workload.Parameters().back()];
      EXPECT_LE(RelativeDifference(WithinBounds(output, sizes, actual.back()),
                                   WithinBounds(output, sizes, expected.back())),
                1e-4)
          << tile << " " << h << " " << w;
    }
  }
}

TEST(InferBounds, FollowsWhatIsReadAndWhatIsMasked) {
  const auto known = [](const std::vector<tensor::Bound>& bounds) {
    return tensor::KnownBounds{
        [bounds](tensor::BufferId) -> const std::vector<tensor::Bound>& {
          static std::vector<tensor::Bound> kept;
          return kept = bounds;
        },
        [](const tensor::Expr& e) { return e->op == tensor::ExprOp::kSize ? e->index : -1; }};
  };
  const auto load = [](tensor::Expr row, tensor::Expr column) {
    return tensor::Load(5, tensor::DType::kFloat32, {std::move(row), std::move(column)});
  };
  const tensor::Expr i = tensor::IterVar(0), j = tensor::IterVar(1);
  tensor::Stage map{"map",
                    6,
                    {{"i", 8, tensor::IterKind::kSpatial}, {"j", 4, tensor::IterKind::kSpatial}},
                    load(i, j) + load(i, 0)};
  tensor::InferBounds(known({{2}, {}}), map);
  EXPECT_EQ(map.iters[0].bound, tensor::Bound{2});
  EXPECT_FALSE(map.iters[1].bound.is_open());
  // Another element than its own says nothing.
  tensor::Stage shifted = map;
  shifted.iters[0].bound = {};
  shifted.value = load(i + 1, j);
  tensor::InferBounds(known({{2}, {}}), shifted);
  EXPECT_FALSE(shifted.iters[0].bound.is_open());
  // Groups of four of the reduction's elements, of which the last may be short.
  tensor::Stage sum{
      "sum",
      6,
      {{"g", 8, tensor::IterKind::kReduction}, {"l", 4, tensor::IterKind::kReduction}},
      tensor::Select(i * 4 + j < tensor::SizeOf(3), load(i, j), tensor::FloatLiteral(0)),
      tensor::Reduction::kSum};
  tensor::InferBounds(known({}), sum);
  EXPECT_EQ(sum.iters[0].bound, (tensor::Bound{3, 4}));
  EXPECT_EQ(sum.iters[1].bound, tensor::Bound{3});
}

}  // namespace
}  // namespace bayloom::testing
