// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "bayloom/codegen/cpu_features.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/target/dot_instruction.h"
#include "bayloom/target/named_target.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/quantized_operators.h"
#include "tests/codegen/compiled.h"
#include "tests/codegen/emulated_kernels.h"
#include "tests/codegen/random_tiles.h"
#include "tests/effort.h"
#include "tests/execute.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

using tensor::DType;

/// A level of x86-64 with further features.
target::Target Level(std::string_view level, std::string_view more = "", int vector_bytes = 0) {
  target::Target target = *target::LevelTarget(level, 1);
  target.features.append(more);
  if (vector_bytes > 0) target.vector_bytes = vector_bytes;
  return target;
}

struct NamedTarget {
  const char* name;
  target::Target target;
};

std::vector<NamedTarget> Targets() {
  return {{"v2", Level("x86-64-v2")},
          {"v3", Level("x86-64-v3")},
          {"v4", Level("x86-64-v4")},
          {"vnni", Level("x86-64-v4", ",+avx512vnni")},
          {"vnni256", Level("x86-64-v4", ",+avx512vnni", 32)},
          {"bf16", Level("x86-64-v4", ",+avx512vnni,+avx512bf16")}};
}

bool HostRuns(const target::Target& target) { return !codegen::MissingFeature(target); }

/// Sums of products alone, both operands inputs, or the second a constant.
tensor::Workload ProductOfTypes(DType a, DType b, std::array<int64_t, 3> mnk,
                                bool transposed = false,
                                tensor::BufferRole role = tensor::BufferRole::kConstant) {
  const auto [m, n, k] = mnk;
  tensor::WorkloadBuilder builder("product");
  const tensor::Tensor x = builder.Input("x", {m, k}, a);
  const std::vector<int64_t> shape =
      transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n};
  const tensor::Tensor w = role == tensor::BufferRole::kConstant ? builder.Constant("w", shape, b)
                                                                 : builder.Input("w", shape, b);
  tensor::MatmulOptions options;
  options.transpose_b = transposed;
  options.accumulator = tensor::IsFloat(a) ? DType::kFloat32 : DType::kInt32;
  return builder.Build({tensor::Matmul(builder, "matmul", x, w, options)});
}

tensor::Workload ConvolutionOfTypes(DType data, DType weights, int64_t stride,
                                    double padding_value) {
  tensor::WorkloadBuilder b("conv");
  const tensor::Tensor x = b.Input("x", {1, 7, 6, 8}, data);
  const tensor::Tensor w = b.Constant("w", {3, 2, 8, 21}, weights);
  const tensor::Tensor padded =
      tensor::Pad(b, "image", x, {0, 1, 1, 0}, {0, 2, 1, 0}, tensor::Literal(padding_value, data));
  tensor::Conv2dOptions options;
  options.stride = {stride, stride};
  options.accumulator = DType::kInt32;
  const tensor::Tensor sums = tensor::Conv2d(b, "conv", padded, w, options);
  return b.Build({tensor::Requantize(b, "quantized", sums, data)});
}

std::vector<NamedWorkload> Workloads() {
  std::vector<NamedWorkload> all;
  const auto name = [](DType a, DType b) {
    return "_" + tensor::ToString(a) + "_" + tensor::ToString(b);
  };
  for (DType a : {DType::kUInt8, DType::kInt8}) {
    for (DType b : {DType::kInt8, DType::kUInt8}) {
      all.push_back({"matmul" + name(a, b), ProductOfTypes(a, b, {13, 40, 24})});
      all.push_back({"transposed" + name(a, b), ProductOfTypes(a, b, {6, 48, 16}, true)});
      all.push_back({"inputs" + name(a, b),
                     ProductOfTypes(a, b, {7, 34, 20}, false, tensor::BufferRole::kInput)});
      all.push_back({"conv" + name(a, b), ConvolutionOfTypes(a, b, 1, 0)});
      all.push_back({"conv_stride" + name(a, b), ConvolutionOfTypes(a, b, 2, 5)});
    }
    all.push_back({"quantized_" + tensor::ToString(a),
                   tensor::QuantizedMatmulWorkload(9, 37, 32, {a, DType::kInt8})});
  }
  all.push_back({"pairs", ProductOfTypes(DType::kInt16, DType::kInt16, {5, 33, 12})});
  all.push_back({"bfloat16", ProductOfTypes(DType::kBFloat16, DType::kBFloat16, {6, 35, 24})});
  all.push_back({"float16", ProductOfTypes(DType::kFloat16, DType::kFloat16, {5, 37, 20})});
  return all;
}

/// Numbers of the whole range, its ends among them; floats that sums of products hold exactly.
std::vector<tensor::HostTensor> FullRangeArguments(const tensor::Workload& workload,
                                                   uint64_t seed) {
  std::vector<tensor::HostTensor> arguments = RandomArguments(workload, seed);
  base::RandomStream random(seed);
  const std::vector<tensor::BufferId> parameters = workload.Parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    tensor::HostTensor& values = arguments[p];
    if (workload.buffers[parameters[p]].role == tensor::BufferRole::kOutput) continue;
    const int bits = 8 * tensor::ByteSize(values.dtype);
    const int64_t least = tensor::IsUnsigned(values.dtype) ? 0 : -(int64_t{1} << (bits - 1));
    for (int64_t i = 0; i < values.ElementCount(); ++i) {
      if (values.dtype == DType::kBFloat16 || values.dtype == DType::kFloat16) {
        values.Set(i, static_cast<double>(random.UniformInt(15) - 7));
      } else if (values.dtype == DType::kFloat32) {
        values.Set(i, 0.0005 * random.Uniform());
      } else if (bits <= 16) {
        const int64_t last = (int64_t{1} << bits) - 1, kind = random.UniformInt(4);
        values.SetInt(i, least + (kind == 0 ? 0 : kind == 1 ? last : random.UniformInt(last + 1)));
      }
    }
  }
  return arguments;
}

tensor::BlockId Anchor(const tensor::Program& program) {
  for (tensor::BlockId id : program.BlocksInOrder()) {
    if (program.blocks[id].kind == tensor::BlockKind::kReduce) return id;
  }
  ADD_FAILURE() << "no reduction";
  return -1;
}

/// As a tuner schedules it, with random tiles.
tensor::Program RandomProgram(const tensor::Workload& workload, uint64_t seed) {
  base::RandomStream random(seed);
  tensor::Program program = tensor::Lower(workload);
  const tensor::BlockId anchor = Anchor(program);
  if (random.UniformInt(2) == 0) {
    const tensor::BlockId pad = program.FindBlock("image");
    if (pad >= 0) {
      EXPECT_TRUE(tensor::ComputeInline(program, pad).ok());
    }
  }
  int64_t depth = tensor::ByteSize(program.buffers[0].dtype) == 1 ? 4 : 2;
  const bool is_even = program.blocks[anchor].iters.back().extent % (2 * depth) == 0;
  if (is_even && random.UniformInt(2) == 0) depth *= 2;  // that of instructions for matrices
  const std::vector<tensor::LoopId> outer = TileAtRandom(program, anchor, random, depth);
  const tensor::BlockId consumer = program.FindBlock("quantized");
  if (consumer >= 0 && random.UniformInt(3) > 0) {
    const tensor::LoopId at = outer[random.UniformInt(static_cast<int64_t>(outer.size()))];
    (void)tensor::ReverseComputeAt(program, consumer, at);
    const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(consumer));
    (void)tensor::Vectorize(program, loops.back());
  }
  if (random.UniformInt(4) > 0) (void)tensor::RewriteLayout(program, 1);
  if (random.UniformInt(3) == 0) (void)tensor::DecomposeReduction(program, anchor, outer.back());
  UnrollAndParallelizeAtRandom(program, random);
  return program;
}

class DotProducts : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(DotProducts, ComputeWhatTheInterpreterComputes) {
  const tensor::Workload& workload = GetParam().workload;
  const std::vector<tensor::HostTensor> inputs = FullRangeArguments(workload, 5);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  int seed = 0;
  for (const NamedTarget& named : Targets()) {
    for (int i = 0; i < 6 * Effort(); ++i, ++seed) {
      const tensor::Program program = RandomProgram(workload, static_cast<uint64_t>(seed));
      SCOPED_TRACE(std::string(named.name) + ", seed " + std::to_string(seed) + "\n" +
                   tensor::Print(program));
      ASSERT_TRUE(tensor::Validate(program));
      if (!HostRuns(named.target)) {
        ASSERT_TRUE(codegen::CompileProgram(program, named.target, "kernel"));
        continue;
      }
      std::vector<tensor::HostTensor> actual = inputs;
      RunCompiled(program, actual, named.target);
      ASSERT_FALSE(HasFatalFailure());
      ExpectClose(actual.back(), expected.back(), 1e-6, "output");
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DotProducts, ::testing::ValuesIn(Workloads()),
                         [](const auto& named) { return named.param.name; });

/// The instruction adds pairs to the sums in an order and with a rounding of its own, and takes
/// subnormal numbers for zeros: a sum of k products differs by less than k roundings of float32 of
/// the sum of their magnitudes.
TEST(DotProductsOfBFloat16, AreWithinTheRoundingOfFloat32) {
  const int64_t m = 7, n = 37, k = 48;
  const tensor::Workload workload = ProductOfTypes(DType::kBFloat16, DType::kBFloat16, {m, n, k});
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 9);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  int seed = 0;
  for (const NamedTarget& named : Targets()) {
    if (!HostRuns(named.target)) continue;
    for (int i = 0; i < 8 * Effort(); ++i, ++seed) {
      std::vector<tensor::HostTensor> actual = inputs;
      RunCompiled(RandomProgram(workload, static_cast<uint64_t>(seed)), actual, named.target);
      ASSERT_FALSE(HasFatalFailure());
      for (int64_t e = 0; e < m * n; ++e) {
        double magnitude = 0;
        for (int64_t l = 0; l < k; ++l) {
          magnitude += std::abs(inputs[0].Get(e / n * k + l) * inputs[1].Get(l * n + e % n));
        }
        ASSERT_NEAR(actual[2].Get(e), expected[2].Get(e), k * 0x1p-24 * magnitude)
            << named.name << ", seed " << seed << ", element " << e;
      }
    }
  }
}

/// The program in which columns are lanes and the weights lie as the instruction takes them.
tensor::Program PackedProduct(const tensor::Workload& workload, int64_t depth) {
  tensor::Program program = tensor::Lower(workload);
  const std::vector<tensor::LoopId> loops =
      program.LoopsAround(tensor::NodeRef::Block(Anchor(program)));
  const auto n = *tensor::Split(program, loops[1], std::vector<int64_t>{-1, 16});
  const auto k = *tensor::Split(program, loops[2], std::vector<int64_t>{-1, depth});
  EXPECT_TRUE(tensor::Reorder(program, std::vector{n[0], k[0], k[1], loops[0], n[1]}));
  EXPECT_TRUE(tensor::Tensorize(program, k[1]));
  EXPECT_TRUE(tensor::Vectorize(program, n[1]));
  EXPECT_TRUE(tensor::RewriteLayout(program, 1));
  return program;
}

/// `bytes`: of the elements that are summed up at once, of one operand.
std::string AssemblyOf(DType a, DType b, const target::Target& target, int64_t bytes = 4) {
  const tensor::Program program =
      PackedProduct(ProductOfTypes(a, b, {4, 32, 16}), bytes / tensor::ByteSize(a));
  const Result<std::string> assembly = codegen::EmitAssembly(program, target, "kernel");
  EXPECT_TRUE(assembly) << (assembly ? "" : assembly.error().message);
  return assembly ? *assembly : "";
}

TEST(DotInstructions, AreThoseOfTheTarget) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  const target::Target vnni = Level("x86-64-v4", ",+avx512vnni,+avx512bf16");
  for (DType a : {DType::kUInt8, DType::kInt8}) {
    for (DType b : {DType::kInt8, DType::kUInt8}) {
      EXPECT_THAT(AssemblyOf(a, b, vnni), HasSubstr("vpdpbusd"));
      const std::string plain = AssemblyOf(a, b, Level("x86-64-v3"));
      EXPECT_THAT(plain, HasSubstr("vpmaddwd"));
      EXPECT_THAT(plain, Not(HasSubstr("vpdpbusd")));
      EXPECT_THAT(plain, Not(HasSubstr("vpmaddubsw")));  // it saturates
      EXPECT_THAT(plain, Not(HasSubstr("zmm")));
    }
  }
  EXPECT_THAT(AssemblyOf(DType::kUInt8, DType::kInt8, Level("x86-64-v3", ",+avxvnni")),
              HasSubstr("vpdpbusd"));
  EXPECT_THAT(AssemblyOf(DType::kInt16, DType::kInt16, vnni), HasSubstr("vpdpwssd"));
  EXPECT_THAT(AssemblyOf(DType::kBFloat16, DType::kBFloat16, vnni), HasSubstr("vdpbf16ps"));
  EXPECT_THAT(AssemblyOf(DType::kUInt8, DType::kInt8, Level("x86-64-v2")), HasSubstr("pmaddwd"));
}

TEST(DotInstructions, SumUpWithoutSaturation) {
  // All products are as large as they can be, in every pair and every four; sums wrap at 2^31.
  const std::pair<DType, int64_t> kExtremes[] = {
      {DType::kUInt8, 255}, {DType::kInt8, -128}, {DType::kInt8, 127}, {DType::kUInt8, 0}};
  for (const auto& [a, x] : kExtremes) {
    for (const auto& [b, w] : kExtremes) {
      const tensor::Workload workload = ProductOfTypes(a, b, {3, 32, 64});
      std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 1);
      for (int64_t i = 0; i < inputs[0].ElementCount(); ++i) inputs[0].SetInt(i, x);
      for (int64_t i = 0; i < inputs[1].ElementCount(); ++i) inputs[1].SetInt(i, w);
      for (const NamedTarget& named : Targets()) {
        if (!HostRuns(named.target)) continue;
        std::vector<tensor::HostTensor> actual = inputs;
        RunCompiled(PackedProduct(workload, 4), actual, named.target);
        ASSERT_FALSE(HasFatalFailure());
        for (int64_t i = 0; i < actual[2].ElementCount(); ++i) {
          ASSERT_EQ(actual[2].GetInt(i), 64 * x * w) << named.name << " " << x << " " << w;
        }
      }
    }
  }
}

TEST(DotInstructions, WrapLikeIntegers) {
  // Pairs of -32768 * -32768 are 2^31, which int32 does not hold.
  const tensor::Workload workload = ProductOfTypes(DType::kInt16, DType::kInt16, {2, 16, 6});
  std::vector<tensor::HostTensor> arguments = RandomArguments(workload, 1);
  for (tensor::HostTensor* tensor : {&arguments[0], &arguments[1]}) {
    for (int64_t i = 0; i < tensor->ElementCount(); ++i) tensor->SetInt(i, -32768);
  }
  for (const NamedTarget& named : Targets()) {
    if (!HostRuns(named.target)) continue;
    ExpectMatchesInterpreter(PackedProduct(workload, 2), arguments, named.name, named.target);
  }
}

TEST(DotInstructions, AreInProgramsThatNobodyTuned) {
  const target::Target target = Level("x86-64-v4", ",+avx512vnni");
  for (const tensor::Workload& workload : {tensor::QuantizedMatmulWorkload(64, 64, 64),
                                           ConvolutionOfTypes(DType::kUInt8, DType::kInt8, 1, 0)}) {
    const tensor::Program program = sketch::DefaultSchedule(workload, target);
    const Result<std::string> assembly = codegen::EmitAssembly(program, target, "kernel");
    ASSERT_TRUE(assembly);
    EXPECT_THAT(*assembly, ::testing::HasSubstr("vpdpbusd"));
    if (!HostRuns(target)) continue;
    ExpectMatchesInterpreter(program, FullRangeArguments(workload, 3), workload.name, target);
  }
}

/// AArch64 with further features beyond those that all have.
target::Target Neon(const char* more) {
  target::Target target = codegen::TargetNamed("aarch64-linux-gnu", 2);
  target.features.append(more);
  return target;
}

TEST(NeonDotInstructions, AreThoseOfTheTarget) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  const target::Target dotprod = Neon(",+dotprod"), i8mm = Neon(",+dotprod,+i8mm,+bf16");
  EXPECT_THAT(AssemblyOf(DType::kInt8, DType::kInt8, dotprod), HasSubstr("\tsdot\t"));
  EXPECT_THAT(AssemblyOf(DType::kUInt8, DType::kUInt8, dotprod), HasSubstr("\tudot\t"));
  for (const auto& [a, b] :
       {std::pair(DType::kUInt8, DType::kInt8), std::pair(DType::kInt8, DType::kUInt8)}) {
    // Without an instruction for both signs one operand changes its sign.
    EXPECT_THAT(AssemblyOf(a, b, dotprod), ::testing::ContainsRegex("\t[su]dot\t"));
    EXPECT_THAT(AssemblyOf(a, b, i8mm), HasSubstr("\tusdot\t"));
    EXPECT_THAT(AssemblyOf(a, b, Neon("")), Not(HasSubstr("dot\t")));
  }
  EXPECT_THAT(AssemblyOf(DType::kBFloat16, DType::kBFloat16, i8mm), HasSubstr("\tbfdot\t"));
}

TEST(NeonDotInstructions, MultiplyMatrices) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  const target::Target i8mm = Neon(",+dotprod,+i8mm,+bf16,+fp16fml,+fullfp16");
  const std::tuple<DType, DType, const char*> kOperands[] = {
      {DType::kInt8, DType::kInt8, "\tsmmla\t"},
      {DType::kUInt8, DType::kUInt8, "\tummla\t"},
      {DType::kUInt8, DType::kInt8, "\tusmmla\t"},
      {DType::kInt8, DType::kUInt8, "\tusmmla\t"},
      {DType::kBFloat16, DType::kBFloat16, "\tbfmmla\t"}};
  for (const auto& [a, b, name] : kOperands) {
    const std::string matrices = AssemblyOf(a, b, i8mm, 8);
    EXPECT_THAT(matrices, HasSubstr(name));
    EXPECT_THAT(matrices, Not(HasSubstr("dot\t")));  // the rows are even in number
    EXPECT_THAT(AssemblyOf(a, b, i8mm), Not(HasSubstr("mmla\t")));
    // Without the instruction the products are summed up in two parts.
    const std::string parts = AssemblyOf(a, b, Neon(",+dotprod"), 8);
    EXPECT_THAT(parts, Not(HasSubstr("mmla\t")));
    if (!tensor::IsFloat(a)) {
      EXPECT_THAT(parts, HasSubstr("dot\t"));
    }
  }
  const std::string halves = AssemblyOf(DType::kFloat16, DType::kFloat16, i8mm);
  EXPECT_THAT(halves, HasSubstr("\tfmlal\t"));
  EXPECT_THAT(halves, Not(HasSubstr("\tfcvtl\t")));
  EXPECT_THAT(AssemblyOf(DType::kFloat16, DType::kFloat16, Neon("")), HasSubstr("\tfcvtl\t"));
}

TEST(NeonDotInstructions, AreInProgramsThatNobodyTuned) {
  const target::Target target = codegen::TargetNamed("aarch64-linux-gnu:neoverse-n2", 2);
  const auto assembly = [&](const tensor::Workload& workload) {
    const auto text =
        codegen::EmitAssembly(sketch::DefaultSchedule(workload, target), target, "kernel");
    return text ? *text : text.error().message;
  };
  EXPECT_THAT(assembly(tensor::QuantizedMatmulWorkload(64, 64, 64)), ::testing::HasSubstr("mmla"));
  EXPECT_THAT(assembly(ProductOfTypes(DType::kBFloat16, DType::kBFloat16, {8, 32, 24})),
              ::testing::HasSubstr("bfmmla"));
  // One row is no matrix.
  const std::string row = assembly(tensor::QuantizedMatmulWorkload(1, 64, 64));
  EXPECT_THAT(row, ::testing::HasSubstr("dot\t"));
  EXPECT_THAT(row, ::testing::Not(::testing::HasSubstr("mmla")));
}

TEST(NeonDotInstructions, ComputeWhatTheInterpreterComputes) {
  if (const std::string missing = MissingForAArch64(); !missing.empty()) GTEST_SKIP() << missing;
  const NamedTarget targets[] = {{"dotprod", Neon(",+dotprod")},
                                 {"i8mm", Neon(",+dotprod,+i8mm,+bf16,+fullfp16,+fp16fml")},
                                 {"neon", Neon("")}};
  EmulatedKernels kernels;
  std::vector<std::pair<std::string, tensor::HostTensor>> expected;
  const auto add = [&](const std::string& name, const tensor::Program& program,
                       const std::vector<tensor::HostTensor>& inputs,
                       const tensor::HostTensor& output, const NamedTarget& target) {
    const std::string description = name + " for " + target.name + "\n" + tensor::Print(program);
    SCOPED_TRACE(description);
    kernels.Add(program, inputs, target.target);
    expected.emplace_back(description, output);
  };
  uint64_t seed = 0;
  for (const NamedWorkload& named : Workloads()) {
    const std::vector<tensor::HostTensor> inputs = FullRangeArguments(named.workload, 5);
    std::vector<tensor::HostTensor> outputs = inputs;
    tensor::Interpret(tensor::Lower(named.workload), outputs);
    for (const NamedTarget& target : targets) {
      for (int i = 0; i < 3 * Effort(); ++i) {
        add(named.name, RandomProgram(named.workload, ++seed), inputs, outputs.back(), target);
      }
      add(named.name, sketch::DefaultSchedule(named.workload, target.target), inputs,
          outputs.back(), target);
    }
  }
  // All products are as large as they can be: nothing saturates.
  for (const auto& [a, x] : {std::pair(DType::kUInt8, 255), std::pair(DType::kInt8, -128)}) {
    for (const auto& [b, w] : {std::pair(DType::kUInt8, 255), std::pair(DType::kInt8, -128)}) {
      const tensor::Workload workload = ProductOfTypes(a, b, {3, 32, 64});
      std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 1);
      for (int64_t i = 0; i < inputs[0].ElementCount(); ++i) inputs[0].SetInt(i, x);
      for (int64_t i = 0; i < inputs[1].ElementCount(); ++i) inputs[1].SetInt(i, w);
      tensor::HostTensor sums = inputs[2];
      for (int64_t i = 0; i < sums.ElementCount(); ++i) sums.SetInt(i, int64_t{64} * x * w);
      for (const NamedTarget& target : targets) {
        add("extremes", PackedProduct(workload, 4), inputs, sums, target);
        add("extremes of matrices", PackedProduct(workload, 8), inputs, sums, target);
      }
    }
  }
  const std::vector<std::vector<tensor::HostTensor>> results = kernels.Run("max");
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    ExpectClose(results[i].back(), expected[i].second, 1e-6, expected[i].first);
  }
}

}  // namespace
}  // namespace bayloom::testing
