// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/schedule.h"
#include "bayloom/tensor/winograd_matrices.h"
#include "tests/tensor/random_schedule.h"
#include "tests/tensor/workloads.h"

namespace bayloom::tensor {
namespace {

using ::testing::HasSubstr;

/// A 3x3 convolution of the given output, with any padding and epilogue.
Conv2dShape AnyShape(base::RandomStream& random, int64_t max_extent) {
  Conv2dShape shape;
  shape.batch = 1 + random.UniformInt(2);
  shape.height = 3 + random.UniformInt(max_extent - 2);
  shape.width = 3 + random.UniformInt(max_extent - 2);
  shape.in_channels = 1 + random.UniformInt(5);
  shape.out_channels = 1 + random.UniformInt(5);
  shape.kernel = {3, 3};
  for (int d : {0, 1}) {
    shape.options.pad_before[d] = random.UniformInt(3);
    shape.options.pad_after[d] = random.UniformInt(3);
  }
  shape.epilogue.bias = random.UniformInt(2) == 0;
  shape.epilogue.residual = random.UniformInt(2) == 0;
  shape.epilogue.relu = random.UniformInt(2) == 0;
  return shape;
}

BlockId ConvolutionOf(const Program& program) {
  for (BlockId block : program.BlocksInOrder()) {
    if (program.blocks[block].kind == BlockKind::kReduce) return block;
  }
  return -1;
}

/// The largest difference over the largest expected value.
double LargestError(const HostTensor& actual, const HostTensor& expected) {
  double largest = 0, error = 0;
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    largest = std::max(largest, std::abs(expected.Get(i)));
    error = std::max(error, std::abs(actual.Get(i) - expected.Get(i)));
  }
  return largest > 0 ? error / largest : error;
}

TEST(WinogradMatrices, AreThoseOfThePaper) {
  const WinogradMatrices f2 = MakeWinogradMatrices(2, 3);
  // Lagrange interpolation gives the paper's up to signs of whole rows.
  const WinogradMatrices::Matrix input = {
      {-1, 0, 1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}};
  const WinogradMatrices::Matrix output = {{1, 1, 1, 0}, {0, 1, -1, 1}};
  const WinogradMatrices::Matrix filter = {{-1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
  EXPECT_EQ(f2.input, input);
  EXPECT_EQ(f2.output, output);
  EXPECT_EQ(f2.filter, filter);
}

/// By hand, for 0, 2/3, -2/3, 3/2, -3/2 and infinity: rows are products of (x - point), e.g. the
/// first (x^2 - 4/9) (x^2 - 9/4).
TEST(WinogradMatrices, OfTilesOfFourAreThoseOfTheirPoints) {
  const WinogradMatrices f4 = MakeWinogradMatrices(4, 3);
  const WinogradMatrices::Matrix input = {
      {1, 0, -97. / 36, 0, 1, 0},          {0, -3. / 2, -9. / 4, 2. / 3, 1, 0},
      {0, 3. / 2, -9. / 4, -2. / 3, 1, 0}, {0, -2. / 3, -4. / 9, 3. / 2, 1, 0},
      {0, 2. / 3, -4. / 9, -3. / 2, 1, 0}, {0, 1, 0, -97. / 36, 0, 1}};
  const WinogradMatrices::Matrix filter = {{1, 0, 0},
                                           {-81. / 130, -54. / 130, -36. / 130},
                                           {-81. / 130, 54. / 130, -36. / 130},
                                           {8. / 65, 12. / 65, 18. / 65},
                                           {8. / 65, -12. / 65, 18. / 65},
                                           {0, 0, 1}};
  const WinogradMatrices::Matrix output = {{1, 1, 1, 1, 1, 0},
                                           {0, 2. / 3, -2. / 3, 3. / 2, -3. / 2, 0},
                                           {0, 4. / 9, 4. / 9, 9. / 4, 9. / 4, 0},
                                           {0, 8. / 27, -8. / 27, 27. / 8, -27. / 8, 1}};
  const auto expect_near = [](const WinogradMatrices::Matrix& actual,
                              const WinogradMatrices::Matrix& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_THAT(actual[i], ::testing::Pointwise(::testing::DoubleNear(1e-14), expected[i])) << i;
    }
  };
  expect_near(f4.input, input);
  expect_near(f4.filter, filter);
  expect_near(f4.output, output);
}

TEST(WinogradMatrices, FilterByMinimalMultiplications) {
  base::RandomStream random(3);
  for (int64_t m : {2, 4, 6}) {
    const WinogradMatrices matrices = MakeWinogradMatrices(m, 3);
    std::vector<double> d, g;
    for (int64_t i = 0; i < m + 2; ++i) d.push_back(static_cast<double>(random.UniformInt(19) - 9));
    for (int i = 0; i < 3; ++i) g.push_back(static_cast<double>(random.UniformInt(19) - 9));
    const auto times = [](const std::vector<double>& row, const std::vector<double>& x) {
      double sum = 0;
      for (size_t k = 0; k < row.size(); ++k) sum += row[k] * x[k];
      return sum;
    };
    std::vector<double> products;
    for (size_t j = 0; j < matrices.input.size(); ++j) {
      products.push_back(times(matrices.filter[j], g) * times(matrices.input[j], d));
    }
    for (int64_t i = 0; i < m; ++i) {
      EXPECT_NEAR(times(matrices.output[i], products),
                  d[i] * g[0] + d[i + 1] * g[1] + d[i + 2] * g[2], 1e-11);
    }
  }
}

TEST(ConstantTransformTest, MultipliesDimensions) {
  // Rows by [[1, 1], [2, 0], [0, -1]], columns as they are, planes by [[3, 1]].
  const ConstantTransform transform{{2, 3, 2}, {{1, 1, 2, 0, 0, -1}, {}, {3, 1}}};
  EXPECT_EQ(transform.Shape(), (std::vector<int64_t>{3, 3, 1}));
  const std::vector<float> source = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::vector<std::byte> bytes =
      transform.Apply(DType::kFloat32, reinterpret_cast<const std::byte*>(source.data()));
  ASSERT_EQ(bytes.size(), 9 * sizeof(float));
  const auto* result = reinterpret_cast<const float*>(bytes.data());
  for (int column = 0; column < 3; ++column) {
    const float above = 3 * source[2 * column] + source[2 * column + 1];
    const float below = 3 * source[6 + 2 * column] + source[6 + 2 * column + 1];
    EXPECT_EQ(result[column], above + below);
    EXPECT_EQ(result[3 + column], 2 * above);
    EXPECT_EQ(result[6 + column], -below);
  }
}

TEST(ConstantTransformTest, LongInnerDimensionsAreAllTransformed) {
  const ConstantTransform transform{{3, 700}, {{1, 2, 3}, {}}};
  std::vector<double> source(2100);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<double>(i);
  const std::vector<std::byte> bytes =
      transform.Apply(DType::kFloat64, reinterpret_cast<const std::byte*>(source.data()));
  const auto* result = reinterpret_cast<const double*>(bytes.data());
  for (size_t i = 0; i < 700; ++i) {
    ASSERT_EQ(result[i], source[i] + 2 * source[700 + i] + 3 * source[1400 + i]);
  }
}

TEST(Winograd, ComputesConvolutionsOfAnyExtentUnderAnySchedule) {
  constexpr int kShapes = 250, kSchedules = 4;
  base::RandomStream random(1);
  for (int i = 0; i < kShapes; ++i) {
    const Workload workload = Conv2dWorkload(AnyShape(random, 9));
    std::vector<HostTensor> expected = testing::RandomArguments(workload, 7 + i);
    const std::vector<HostTensor> inputs = expected;
    Interpret(Lower(workload), expected);
    for (int s = 0; s < kSchedules; ++s) {
      Program program = Lower(workload);
      const int64_t tile = 2 + 2 * random.UniformInt(3);
      const Result<std::vector<BlockId>> made = Winograd(program, ConvolutionOf(program), tile);
      ASSERT_TRUE(made) << made.error().message;
      const uint64_t seed = 100 * i + s;
      testing::RandomScheduler scheduler(program, seed);
      for (int64_t steps = s == 0 ? 0 : random.UniformInt(40); steps > 0; --steps) scheduler.Step();
      SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + scheduler.history() + Print(program));
      ASSERT_EQ(scheduler.history().find("REFUSED"), std::string::npos);
      const Status valid = Validate(program);
      ASSERT_TRUE(valid) << valid.error().message;
      std::vector<HostTensor> actual = inputs;
      try {
        InterpretStrictly(program, actual);
      } catch (const std::logic_error& e) {
        FAIL() << e.what();
      }
      ASSERT_LE(LargestError(actual.back(), expected.back()), 2e-5);
    }
  }
}

class WinogradErrors : public ::testing::TestWithParam<int64_t> {};

TEST_P(WinogradErrors, StayWithinWhatIsExpected) {
  const int64_t channels = GetParam();
  const Workload workload = Conv2dWorkload(testing::ConvShape(14, channels, 4, 3));
  std::vector<HostTensor> arguments = testing::RandomArguments(workload, 5);
  PointEvaluator exact(workload, arguments);
  HostTensor expected = HostTensor::Zeros(DType::kFloat64, {1, 12, 12, 4});
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    expected.Set(i, exact.Evaluate(workload.Parameters().back(), {0, i / 48, i / 4 % 12, i % 4}));
  }
  std::vector<HostTensor> direct = arguments;
  Interpret(Lower(workload), direct);
  const double direct_error = LargestError(direct.back(), expected);
  for (int64_t tile : {2, 4, 6}) {
    Program program = Lower(workload);
    ASSERT_TRUE(Winograd(program, ConvolutionOf(program), tile));
    std::vector<HostTensor> actual = arguments;
    Interpret(program, actual);
    const double bound = ExpectedWinogradError(MakeWinogradMatrices(tile, 3), channels);
    const double error = LargestError(actual.back(), expected);
    RecordProperty("error_of_tile_" + std::to_string(tile), std::to_string(error));
    EXPECT_LE(bound, kMaxDerivationError);
    EXPECT_LE(error, bound) << tile;
    EXPECT_GE(error, bound / 100) << tile;
    if (tile <= 4) {
      EXPECT_LE(error, 6 * direct_error) << "what is tried by default is about as exact";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Channels, WinogradErrors, ::testing::Values(16, 128, 512));

TEST(Winograd, RefusesWhatItIsNotFor) {
  const auto reason = [](const Conv2dShape& shape, int64_t tile = 4) {
    Program program = Lower(Conv2dWorkload(shape));
    const uint64_t before = program.StructuralHash();
    const Result<std::vector<BlockId>> made = Winograd(program, ConvolutionOf(program), tile);
    EXPECT_TRUE(made || program.StructuralHash() == before);
    return made ? std::string() : made.error().message;
  };
  Conv2dShape shape = testing::ConvShape(12, 8, 8, 3);
  EXPECT_EQ(reason(shape), "");
  EXPECT_THAT(reason(shape, 3), HasSubstr("tiles of 2, 4 and 6 outputs, not of 3"));
  shape.options.stride = {2, 2};
  EXPECT_THAT(reason(shape), HasSubstr("stride"));
  shape.options.stride = {1, 1};
  shape.options.dilation = {1, 2};
  EXPECT_THAT(reason(shape), HasSubstr("dilation"));
  EXPECT_THAT(reason(testing::ConvShape(12, 8, 8, 5)), HasSubstr("kernel of 5x5"));
  EXPECT_THAT(reason(testing::ConvShape(12, 8, 8, 1)), HasSubstr("kernel of 1x1"));
  shape = testing::ConvShape(12, 8, 8, 3);
  shape.groups = 2;
  EXPECT_THAT(reason(shape), HasSubstr("without groups"));
  shape.groups = 8;
  EXPECT_THAT(reason(shape), HasSubstr("without groups"));
  shape = testing::ConvShape(12, 8, 8, 3);
  shape.dtype = DType::kFloat64;
  EXPECT_THAT(reason(shape), HasSubstr("float32"));
  // Rounding errors grow with the number of channels.
  EXPECT_EQ(reason(testing::ConvShape(6, 1024, 1, 3), 6), "");
  EXPECT_THAT(reason(testing::ConvShape(6, 4096, 1, 3), 6), HasSubstr("1e-04 are allowed"));
}

TEST(Winograd, RefusesWeightsThatAreNotAConstantOfItsOwn) {
  WorkloadBuilder b("shared");
  const Tensor x = b.Input("x", {1, 8, 8, 4}), w = b.Constant("w", {3, 3, 4, 4});
  const Tensor y = Conv2d(b, "first", x, w);
  Program program = Lower(b.Build({Conv2d(b, "second", y, w)}));
  const Result<std::vector<BlockId>> shared = Winograd(program, program.FindBlock("first"), 2);
  ASSERT_FALSE(shared);
  EXPECT_THAT(shared.error().message, HasSubstr("others than first read its weights"));

  WorkloadBuilder c("input");
  const Tensor image = c.Input("x", {1, 8, 8, 4}), weights = c.Input("w", {3, 3, 4, 4});
  program = Lower(c.Build({Conv2d(c, "conv", image, weights)}));
  const Result<std::vector<BlockId>> input = Winograd(program, program.FindBlock("conv"), 2);
  ASSERT_FALSE(input);
  EXPECT_THAT(input.error().message, HasSubstr("no constant"));
}

TEST(Winograd, RefusesBlocksThatAreScheduled) {
  Program program = Lower(Conv2dWorkload(testing::ConvShape(8, 4, 8, 3)));
  const BlockId block = ConvolutionOf(program);
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(block));
  ASSERT_TRUE(Split(program, loops[1], std::vector<int64_t>{2, 3}));
  const Result<std::vector<BlockId>> made = Winograd(program, block, 2);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("scheduled already"));
}

TEST(Winograd, IsAStepOfATraceLikeOthers) {
  const Workload workload = Conv2dWorkload(testing::ConvShape(9, 4, 8, 3, 1));
  Schedule schedule(workload, 1);
  const BlockVar block = *schedule.GetBlock("conv");
  const Result<std::vector<BlockVar>> made = schedule.Winograd(block, 4);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->size(), 7u);  // 9 rows are not made of tiles of 4
  const std::vector<LoopVar> loops = *schedule.GetLoops((*made)[3]);
  ASSERT_TRUE(schedule.Split(loops[5], std::vector<int64_t>{2, 4}));
  const Result<Trace> read =
      Trace::FromJson(nlohmann::json::parse(schedule.trace().ToJson().dump()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->SpaceHash(), schedule.trace().SpaceHash());
  const Result<Schedule> again = Replay(workload, *read, base::RandomStream(2));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->program().StructuralHash(), schedule.program().StructuralHash());
  // On a workload that it does not suit the trace is refused, not misunderstood.
  const Workload other = Conv2dWorkload(testing::ConvShape(9, 4, 8, 5, 1));
  EXPECT_FALSE(Replay(other, *read, base::RandomStream(2)));
}

}  // namespace
}  // namespace bayloom::tensor
