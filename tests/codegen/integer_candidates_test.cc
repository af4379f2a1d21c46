// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "bayloom/codegen/cpu_features.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/named_target.h"
#include "bayloom/tensor/quantized_operators.h"
#include "tests/codegen/compiled.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

using tensor::DType;

/// Levels of x86-64 whose instructions for dot products differ, as far as this machine has them.
std::vector<target::Target> TargetsHere() {
  std::vector<target::Target> targets;
  const auto add = [&](std::string_view level, std::string_view more, int vector_bytes) {
    target::Target target = *target::LevelTarget(level, 2);
    target.features.append(more);
    target.vector_bytes = vector_bytes;
    if (!codegen::MissingFeature(target)) targets.push_back(std::move(target));
  };
  add("x86-64-v2", "", 16);
  add("x86-64-v3", "", 32);
  add("x86-64-v4", "", 64);
  add("x86-64-v4", ",+avx512vnni", 32);
  add("x86-64-v4", ",+avx512vnni", 64);
  add("x86-64-v4", ",+avx512vnni,+avx512vbmi", 64);
  return targets;
}

DType AnyByte(base::RandomStream& random) {
  return random.UniformInt(2) == 0 ? DType::kInt8 : DType::kUInt8;
}

/// Lengths that instructions take, mostly; graph passes pad others.
int64_t AnyLength(base::RandomStream& random) {
  return random.UniformInt(4) == 0 ? 1 + 2 * random.UniformInt(12) : 4 * (1 + random.UniformInt(9));
}

tensor::Workload AnyProduct(base::RandomStream& random) {
  const DType data = AnyByte(random);
  tensor::WorkloadBuilder b("product");
  const int64_t m = 1 + random.UniformInt(13), n = 1 + random.UniformInt(70);
  const int64_t k = AnyLength(random);
  const tensor::Tensor x = b.Input("x", {m, k}, data);
  const bool known = random.UniformInt(3) > 0;
  const DType weights = AnyByte(random);
  const tensor::Tensor w = known ? b.Constant("w", {k, n}, weights) : b.Input("w", {k, n}, weights);
  tensor::MatmulOptions options;
  options.accumulator = DType::kInt32;
  const tensor::Tensor sums = tensor::Matmul(b, "matmul", x, w, options);
  if (random.UniformInt(3) == 0) return b.Build({sums});
  return b.Build({tensor::Requantize(b, "quantized", sums, AnyByte(random))});
}

/// Floats that become bytes before the product, as dynamic quantization has it.
tensor::Workload AnyQuantizedProduct(base::RandomStream& random) {
  const DType data = AnyByte(random), weights = AnyByte(random);
  tensor::WorkloadBuilder b("product");
  const int64_t m = 1 + random.UniformInt(13), n = 1 + random.UniformInt(70);
  const int64_t k = AnyLength(random);
  const tensor::Tensor x = b.Input("x", {m, k}), scale = b.Input("scale", {});
  const tensor::Tensor w = b.Constant("w", {k, n}, weights);
  const double low = tensor::IsUnsigned(data) ? 0 : -128;
  const tensor::Tensor levels = b.Compute("levels", {m, k}, [&](const auto& s) {
    const tensor::Expr divisor = scale() + tensor::FloatLiteral(1e-4);
    const tensor::Expr ratio = x(s[0], s[1]) * tensor::FloatLiteral(200) / divisor;
    const tensor::Expr level = tensor::Unary(tensor::ExprOp::kRound, ratio);
    const tensor::Expr above = tensor::Max(level, tensor::FloatLiteral(low));
    return tensor::Cast(data, tensor::Min(above, tensor::FloatLiteral(low + 255)));
  });
  tensor::MatmulOptions options;
  options.accumulator = DType::kInt32;
  return b.Build({tensor::Matmul(b, "matmul", levels, w, options)});
}

tensor::Conv2dOptions AnyWindows(base::RandomStream& random) {
  tensor::Conv2dOptions options;
  options.accumulator = DType::kInt32;
  options.stride = {1 + random.UniformInt(2), 1 + random.UniformInt(2)};
  options.dilation = {1 + random.UniformInt(2), 1};
  for (int d : {0, 1}) {
    options.pad_before[d] = random.UniformInt(3);
    options.pad_after[d] = random.UniformInt(3);
  }
  return options;
}

/// As graph passes leave a depthwise convolution: its kernel has four rows, the last ones of which
/// read nothing.
tensor::Workload AnyPaddedKernel(base::RandomStream& random) {
  const DType data = AnyByte(random), weights = AnyByte(random);
  const int64_t rows = 1 + random.UniformInt(3), columns = 1 + random.UniformInt(3);
  const int64_t stride = 1 + random.UniformInt(2), before = random.UniformInt(3);
  const int64_t height = 5 + random.UniformInt(8), width = 3 + random.UniformInt(8);
  const int64_t channels = 1 + random.UniformInt(70);
  tensor::WorkloadBuilder b("convolution");
  const tensor::Tensor x = b.Input("x", {1, height, width, channels}, data);
  const tensor::Tensor w = b.Constant("w", {4, columns, channels}, weights);
  const tensor::Tensor image =
      tensor::Pad(b, "image", x, {0, before, before, 0}, {0, 4, 2, 0},
                  tensor::Literal(static_cast<double>(random.UniformInt(2) * 7), data));
  const int64_t out_rows = (height + before + 4 - 4) / stride + 1;
  const int64_t out_columns = (width + before + 2 - columns) / stride + 1;
  const auto wide = [](const tensor::Expr& e) { return tensor::Cast(DType::kInt32, e); };
  const tensor::Tensor sums = b.Reduce(
      "conv", {1, out_rows, out_columns, channels}, {{"kh", 4}, {"kw", columns}},
      tensor::Reduction::kSum, [&](auto s, auto r) {
        const tensor::Expr element = image(s[0], s[1] * stride + r[0], s[2] * stride + r[1], s[3]);
        return wide(tensor::Select(r[0] < tensor::Expr(rows), element, tensor::Literal(0, data))) *
               wide(w(r[0], r[1], s[3]));
      });
  return b.Build({tensor::Requantize(b, "quantized", sums, data)});
}

tensor::Workload AnyConvolution(base::RandomStream& random, bool depthwise) {
  const DType data = AnyByte(random), weights = AnyByte(random);
  const int64_t rows = random.UniformInt(3) > 0 ? 4 : 1 + random.UniformInt(3);
  const int64_t columns = 1 + random.UniformInt(3);
  const int64_t channels = depthwise ? 1 + random.UniformInt(70) : AnyLength(random);
  tensor::WorkloadBuilder b("convolution");
  const tensor::Tensor x =
      b.Input("x", {1, 7 + random.UniformInt(4), 3 + random.UniformInt(6), channels}, data);
  const tensor::Conv2dOptions options = AnyWindows(random);
  const auto sums = [&] {
    if (depthwise) {
      const tensor::Tensor w = b.Constant("w", {rows, columns, channels}, weights);
      return tensor::DepthwiseConv2d(b, "conv", x, w, options);
    }
    const tensor::Tensor w =
        b.Constant("w", {rows, columns, channels, 1 + random.UniformInt(40)}, weights);
    return tensor::Conv2d(b, "conv", x, w, options);
  };
  return b.Build({tensor::Requantize(b, "quantized", sums(), data)});
}

tensor::Workload AnyWorkload(base::RandomStream& random) {
  switch (random.UniformInt(5)) {
    case 0:
      return AnyProduct(random);
    case 3:
      return AnyQuantizedProduct(random);
    case 1:
      return AnyConvolution(random, false);
    case 2:
      return AnyPaddedKernel(random);
    default:
      return AnyConvolution(random, true);
  }
}

/// Numbers of the whole range of bytes, every other one at its ends; scales that leave most results
/// in range.
std::vector<tensor::HostTensor> Arguments(const tensor::Workload& workload,
                                          base::RandomStream& random) {
  std::vector<tensor::HostTensor> arguments = RandomArguments(workload, 1);
  for (tensor::HostTensor& values : arguments) {
    const bool is_byte = tensor::IsInteger(values.dtype) && tensor::ByteSize(values.dtype) == 1;
    const int64_t least = tensor::IsUnsigned(values.dtype) ? 0 : -128;
    for (int64_t i = 0; i < values.ElementCount(); ++i) {
      const int64_t kind = random.UniformInt(4);
      if (is_byte) {
        values.SetInt(i, least + (kind == 0 ? 0 : kind == 1 ? 255 : random.UniformInt(256)));
      } else if (values.dtype == DType::kFloat32) {
        values.Set(i, 0.002 * random.Uniform());
      }
    }
  }
  return arguments;
}

bool IsTensorized(const tensor::Program& program) {
  return std::ranges::any_of(program.loops, [](const tensor::Loop& loop) {
    return loop.alive && loop.kind == tensor::LoopKind::kTensorized;
  });
}

class IntegerCandidates : public ::testing::TestWithParam<int> {};

/// Programs as a tuner draws them are exactly the workload.
TEST_P(IntegerCandidates, ComputeWhatTheInterpreterComputes) {
  constexpr int kWorkloads = 50, kCandidates = 8;
  const std::vector<target::Target> targets = TargetsHere();
  base::RandomStream random(static_cast<uint64_t>(GetParam()));
  int compared = 0, tensorized = 0;
  for (int i = 0; i < kWorkloads; ++i) {
    const tensor::Workload workload = AnyWorkload(random);
    const std::vector<tensor::HostTensor> inputs = Arguments(workload, random);
    std::vector<tensor::HostTensor> expected = inputs;
    tensor::Interpret(tensor::Lower(workload), expected);
    const target::Target& target =
        targets[static_cast<size_t>(random.UniformInt(std::ssize(targets)))];
    const sketch::SpaceGenerator generator(workload, target);
    for (int c = 0; c < kCandidates; ++c) {
      const auto space = static_cast<int>(random.UniformInt(std::ssize(generator.spaces())));
      const Result<sketch::Candidate> candidate = generator.Sample(space, random.Fork());
      if (!candidate) continue;
      SCOPED_TRACE(target.name + ", " + std::to_string(target.vector_bytes) + " bytes\n" +
                   tensor::Print(candidate->program));
      std::vector<tensor::HostTensor> actual = inputs;
      RunCompiled(candidate->program, actual, target);
      ASSERT_FALSE(HasFatalFailure());
      for (int64_t e = 0; e < expected.back().ElementCount(); ++e) {
        ASSERT_EQ(actual.back().GetInt(e), expected.back().GetInt(e)) << "element " << e;
      }
      ++compared;
      tensorized += IsTensorized(candidate->program);
    }
  }
  EXPECT_GT(compared, kWorkloads * kCandidates * 3 / 4);
  EXPECT_GT(tensorized, compared / 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, IntegerCandidates, ::testing::Range(3, 6));

}  // namespace
}  // namespace bayloom::testing
