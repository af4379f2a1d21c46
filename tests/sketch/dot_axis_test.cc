// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/named_target.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/quantized_operators.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

using tensor::DType;

target::Target VnniTarget() {
  target::Target target = *target::LevelTarget("x86-64-v4", 2);
  target.features += ",+avx512vnni";
  return target;
}

tensor::Workload Convolution(int64_t channels) {
  tensor::Conv2dShape shape;
  shape.height = shape.width = 6;
  shape.in_channels = channels;
  shape.out_channels = 16;
  shape.kernel = {3, 4};
  shape.options.pad_before = shape.options.pad_after = {1, 1};
  return tensor::QuantizedConv2dWorkload(shape);
}

/// Every channel by itself, kernels of 4 x 3.
tensor::Workload Depthwise(DType data, DType weights, int64_t stride = 1) {
  tensor::WorkloadBuilder b("depthwise");
  const tensor::Tensor x = b.Input("x", {1, 10, 9, 40}, data);
  const tensor::Tensor w = b.Constant("w", {4, 3, 40}, weights);
  tensor::Conv2dOptions options;
  options.stride = {stride, stride};
  options.pad_before = {1, 1};
  options.pad_after = {2, 1};
  options.accumulator = DType::kInt32;
  const tensor::Tensor sums = tensor::DepthwiseConv2d(b, "conv", x, w, options);
  return b.Build({tensor::Requantize(b, "quantized", sums, data)});
}

std::optional<DotAxis> AxisOf(const tensor::Workload& workload, const std::string& block,
                              const target::Target& target = VnniTarget()) {
  const tensor::Program program = tensor::Lower(workload);
  return FindDotAxis(program, program.FindBlock(block), target);
}

int TensorizedLoops(const tensor::Program& program) {
  int count = 0;
  for (const tensor::Loop& loop : program.loops) {
    count += loop.alive && loop.kind == tensor::LoopKind::kTensorized;
  }
  return count;
}

TEST(DotAxisTest, IsWhereElementsAreNeighbours) {
  const std::optional<DotAxis> matmul =
      AxisOf(tensor::QuantizedMatmulWorkload(8, 16, 12), "matmul");
  ASSERT_TRUE(matmul.has_value());
  EXPECT_EQ(matmul->iter, 2);
  EXPECT_EQ(matmul->depth, 4);
  const std::optional<DotAxis> channels = AxisOf(Convolution(8), "conv");
  ASSERT_TRUE(channels.has_value());
  EXPECT_EQ(channels->iter, 6);
}

TEST(DotAxisTest, OfADepthwiseKernelAreItsRows) {
  const std::optional<DotAxis> rows = AxisOf(Depthwise(DType::kUInt8, DType::kInt8), "conv");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->iter, 4);
  EXPECT_EQ(rows->depth, 4);
}

TEST(DotAxisTest, NeedsAWholeNumberOfInstructions) {
  EXPECT_FALSE(AxisOf(tensor::QuantizedMatmulWorkload(8, 16, 13), "matmul"));
  EXPECT_FALSE(AxisOf(tensor::QuantizedMatmulWorkload(8, 16, 14), "matmul"));
  // No whole number of channels, but of columns of the kernel.
  const std::optional<DotAxis> columns = AxisOf(Convolution(3), "conv");
  ASSERT_TRUE(columns.has_value());
  EXPECT_EQ(columns->iter, 5);
}

TEST(DotAxisTest, NeedsAnInstructionOfTheTarget) {
  const tensor::Workload workload = tensor::QuantizedMatmulWorkload(8, 16, 12);
  EXPECT_TRUE(AxisOf(workload, "matmul", *target::LevelTarget("x86-64-v3", 1)));
  EXPECT_FALSE(AxisOf(workload, "matmul", target::Target{}));
  EXPECT_FALSE(AxisOf(tensor::MatmulWorkload(8, 16, 12), "matmul"));
}

TEST(DotAxisTest, PairsOfBFloat16) {
  target::Target target = VnniTarget();
  tensor::WorkloadBuilder builder("product");
  const tensor::Tensor x = builder.Input("x", {12, 22}, DType::kBFloat16);
  const tensor::Tensor w = builder.Constant("w", {22, 32}, DType::kBFloat16);
  tensor::MatmulOptions options;
  options.accumulator = DType::kFloat32;
  const tensor::Workload workload =
      builder.Build({tensor::Matmul(builder, "matmul", x, w, options)});
  EXPECT_FALSE(AxisOf(workload, "matmul", target));
  target.features += ",+avx512bf16";
  const std::optional<DotAxis> axis = AxisOf(workload, "matmul", target);
  ASSERT_TRUE(axis.has_value());
  EXPECT_EQ(axis->iter, 2);
  EXPECT_EQ(axis->depth, 2);
  const SpaceGenerator generator(workload, target);
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(1));
    ASSERT_TRUE(candidate) << candidate.error().message;
    EXPECT_EQ(TensorizedLoops(candidate->program), 1) << tensor::Print(candidate->program);
  }
}

/// A product of narrow floats that are computed from others.
tensor::Workload ProductOfRounded(DType narrow) {
  tensor::WorkloadBuilder b("product");
  const tensor::Tensor x = b.Input("x", {12, 22});
  const tensor::Tensor w = b.Constant("w", {22, 32}, narrow);
  const tensor::Tensor rounded = b.Compute("rounded", {12, 22}, [&](auto i) {
    return tensor::Cast(narrow, x(i[0], i[1]) * tensor::FloatLiteral(2));
  });
  tensor::MatmulOptions options;
  options.accumulator = DType::kFloat32;
  return b.Build({tensor::Matmul(b, "matmul", rounded, w, options)});
}

bool StoresRounded(DType narrow, const target::Target& target) {
  const SpaceGenerator generator(ProductOfRounded(narrow), target);
  bool stored = false;
  for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
    const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(1));
    EXPECT_TRUE(candidate) << candidate.error().message;
    stored = stored || (candidate && candidate->program.FindBlock("rounded") >= 0);
  }
  return stored;
}

TEST(DotAxisTest, FloatsAreStoredForAnInstructionOnly) {
  target::Target x86 = VnniTarget();
  EXPECT_FALSE(StoresRounded(DType::kFloat16, x86));
  EXPECT_FALSE(StoresRounded(DType::kBFloat16, x86));
  x86.features += ",+avx512bf16";
  EXPECT_TRUE(StoresRounded(DType::kBFloat16, x86));
  EXPECT_FALSE(StoresRounded(DType::kFloat16, x86));
  target::Target arm;
  arm.triple = "aarch64-unknown-linux-gnu";
  arm.vector_bytes = 16;
  arm.features = "+neon,+fp16fml";
  EXPECT_TRUE(StoresRounded(DType::kFloat16, arm));
}

TEST(DotAxisTest, IsTensorizedInAllSpacesAndInThePlainProgram) {
  for (const tensor::Workload& workload :
       {tensor::QuantizedMatmulWorkload(12, 32, 24), Convolution(8)}) {
    const SpaceGenerator generator(workload, VnniTarget());
    for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
      const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(1));
      ASSERT_TRUE(candidate) << candidate.error().message;
      EXPECT_EQ(TensorizedLoops(candidate->program), 1) << tensor::Print(candidate->program);
    }
    const tensor::Program plain = DefaultSchedule(workload, VnniTarget());
    EXPECT_TRUE(tensor::Validate(plain));
    EXPECT_EQ(TensorizedLoops(plain), 1) << tensor::Print(plain);
  }
}

/// Where elements have to be put together for the instruction, spaces without it are there, too.
TEST(DotAxisTest, DepthwiseConvolutionsAreTensorizedInSomeSpaces) {
  for (int64_t stride : {1, 2}) {
    const tensor::Workload workload = Depthwise(DType::kUInt8, DType::kInt8, stride);
    const SpaceGenerator generator(workload, VnniTarget());
    std::array<int, 2> spaces = {0, 0};
    for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
      const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(1));
      ASSERT_TRUE(candidate) << candidate.error().message;
      ++spaces.at(static_cast<size_t>(TensorizedLoops(candidate->program)));
    }
    EXPECT_GT(spaces[0], 0);
    EXPECT_GT(spaces[1], spaces[0]);
    EXPECT_EQ(TensorizedLoops(DefaultSchedule(workload, VnniTarget())), 1);
  }
}

TEST(DotAxisTest, SampledProgramsComputeWhatTheWorkloadSays) {
  for (const tensor::Workload& workload :
       {tensor::QuantizedMatmulWorkload(6, 34, 20, {DType::kInt8, DType::kInt8}),
        tensor::QuantizedMatmulWorkload(5, 7, 9), Convolution(8), Convolution(3),
        Depthwise(DType::kUInt8, DType::kInt8), Depthwise(DType::kInt8, DType::kInt8, 2)}) {
    const SpaceGenerator generator(workload, VnniTarget());
    const std::vector<tensor::HostTensor> inputs = testing::RandomArguments(workload, 5);
    std::vector<tensor::HostTensor> expected = inputs;
    tensor::Interpret(tensor::Lower(workload), expected);
    for (int space = 0; space < static_cast<int>(generator.spaces().size()); ++space) {
      for (uint64_t seed = 0; seed < 10; ++seed) {
        const Result<Candidate> candidate = generator.Sample(space, base::RandomStream(seed));
        if (!candidate) continue;
        ASSERT_TRUE(tensor::Validate(candidate->program));
        std::vector<tensor::HostTensor> actual = inputs;
        tensor::InterpretStrictly(candidate->program, actual);
        ASSERT_EQ(actual.back().data, expected.back().data) << tensor::Print(candidate->program);
      }
    }
  }
}

TEST(DotAxisTest, VectorizesAlongPackedWeights) {
  const SpaceGenerator generator(tensor::QuantizedMatmulWorkload(64, 64, 64), VnniTarget());
  int vectorized = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Result<Candidate> candidate = generator.Sample(0, base::RandomStream(seed));
    if (!candidate) continue;
    const tensor::Program& program = candidate->program;
    for (const tensor::Block& block : program.blocks) {
      if (!block.alive || block.kind != tensor::BlockKind::kUpdate) continue;
      vectorized += program.loops[block.parent.id].kind == tensor::LoopKind::kVectorized;
    }
  }
  EXPECT_GT(vectorized, 10);
}

}  // namespace
}  // namespace bayloom::sketch
