// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <cmath>
#include <regex>

#include "bayloom/base/file.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/codegen/host.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/dot_instruction.h"
#include "bayloom/target/named_target.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/quantized_operators.h"
#include "tests/codegen/compiled.h"
#include "tests/count_of.h"
#include "tests/execute.h"
#include "tests/temporary_folder.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

using tensor::DType;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// A target that differs from what this machine may be only in the tile registers: those can
/// be replaced by loops.
target::Target TileTarget() {
  target::Target target = *target::LevelTarget("x86-64-v4", 1);
  target.features += ",+avx512vnni,+avx512bf16,+amx-tile,+amx-int8,+amx-bf16";
  return target;
}

struct TiledShape {
  DType a, b;
  int64_t m, n, k;
  int64_t rows, lanes, groups;  ///< of the inner loops
};

tensor::Workload ProductOf(const TiledShape& shape) {
  tensor::WorkloadBuilder builder("product");
  const tensor::Tensor x = builder.Input("x", {shape.m, shape.k}, shape.a);
  const tensor::Tensor w = builder.Constant("w", {shape.k, shape.n}, shape.b);
  tensor::MatmulOptions options;
  options.accumulator = tensor::IsFloat(shape.a) ? DType::kFloat32 : DType::kInt32;
  return builder.Build({tensor::Matmul(builder, "matmul", x, w, options)});
}

/// The product in tiles, weights in the order in which they are read.
tensor::Program TiledProduct(const TiledShape& shape) {
  tensor::Program program = tensor::Lower(ProductOf(shape));
  const std::vector<tensor::LoopId> loops =
      program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("matmul")));
  const int64_t depth = 4 / tensor::ByteSize(shape.a);
  const auto m = *tensor::Split(program, loops[0], std::vector<int64_t>{-1, shape.rows});
  const auto n = *tensor::Split(program, loops[1], std::vector<int64_t>{-1, shape.lanes});
  const auto k = *tensor::Split(program, loops[2], std::vector<int64_t>{-1, shape.groups, depth});
  EXPECT_TRUE(tensor::Reorder(program, std::vector{n[0], m[0], k[0], k[1], k[2], m[1], n[1]}));
  EXPECT_TRUE(tensor::Tensorize(program, k[2]));
  EXPECT_TRUE(tensor::Vectorize(program, n[1]));
  EXPECT_TRUE(tensor::RewriteLayout(program, 1));
  return program;
}

/// Shapes of whole registers, of parts of them, and of several at a time.
std::vector<TiledShape> Shapes() {
  std::vector<TiledShape> shapes;
  for (DType a : {DType::kInt8, DType::kUInt8}) {
    for (DType b : {DType::kInt8, DType::kUInt8}) {
      shapes.push_back({a, b, 32, 32, 128, 16, 16, 16});
      shapes.push_back({a, b, 13, 21, 60, 13, 21, 5});
    }
  }
  shapes.push_back({DType::kUInt8, DType::kInt8, 32, 64, 192, 32, 32, 16});
  shapes.push_back({DType::kUInt8, DType::kInt8, 7, 16, 64, 7, 16, 16});
  shapes.push_back({DType::kUInt8, DType::kInt8, 16, 40, 52, 16, 40, 13});
  shapes.push_back({DType::kBFloat16, DType::kBFloat16, 32, 32, 96, 16, 32, 16});
  shapes.push_back({DType::kBFloat16, DType::kBFloat16, 5, 19, 28, 5, 19, 7});
  return shapes;
}

std::string NameOf(const TiledShape& s) {
  return tensor::ToString(s.a) + " " + tensor::ToString(s.b) + " " + std::to_string(s.m) + "x" +
         std::to_string(s.n) + "x" + std::to_string(s.k);
}

std::string AssemblyFor(const tensor::Program& program, const target::Target& target) {
  const Result<std::string> text = codegen::EmitAssembly(program, target, "kernel");
  return text ? *text : text.error().message;
}

/// The estimate takes for products in tile registers those of which such code is made. Small ones
/// may be as fast without.
TEST(TileProducts, AreThoseOfTheEstimate) {
  target::Target without = TileTarget();
  without.features = without.features.substr(0, without.features.find(",+amx"));
  int in_tiles = 0, estimated = 0, others = 0;
  for (const DType type : {DType::kUInt8, DType::kBFloat16}) {
    const DType other = type == DType::kUInt8 ? DType::kInt8 : type;
    const sketch::SpaceGenerator generator(ProductOf({type, other, 96, 96, 192, 0, 0, 0}),
                                           TileTarget());
    base::RandomStream random(1);
    for (int i = 0; i < 25; ++i) {
      const int space = static_cast<int>(random.UniformInt(std::ssize(generator.spaces())));
      const auto candidate = generator.Sample(space, base::RandomStream(static_cast<uint64_t>(i)));
      if (!candidate) continue;
      const tensor::Program& program = candidate->program;
      const bool is_in_tiles =
          AssemblyFor(program, TileTarget()).find("\ttdp") != std::string::npos;
      const bool is_estimated = feature::EstimateCodeTime(program, TileTarget()) !=
                                feature::EstimateCodeTime(program, without);
      EXPECT_TRUE(is_in_tiles || !is_estimated) << tensor::Print(program);
      ++(is_in_tiles ? in_tiles : others);
      estimated += is_estimated ? 1 : 0;
    }
  }
  EXPECT_GT(in_tiles, 10);
  EXPECT_GT(others, 5);
  EXPECT_GT(estimated, in_tiles * 4 / 5);
}

TEST(TileProducts, AreInTileRegisters) {
  for (const TiledShape& shape : Shapes()) {
    SCOPED_TRACE(NameOf(shape));
    const target::DotInstruction* instruction = target::TileInstructionFor(
        TileTarget(), tensor::ToString(shape.a), tensor::ToString(shape.b));
    ASSERT_NE(instruction, nullptr);
    const tensor::Program program = TiledProduct(shape);
    const std::string assembly = AssemblyFor(program, TileTarget());
    for (const char* needed : {"ldtilecfg", "tilezero", "tileloadd", "tilestored", "tilerelease"}) {
      EXPECT_THAT(assembly, HasSubstr(needed));
    }
    EXPECT_THAT(assembly, HasSubstr(std::string(instruction->name)));
    EXPECT_THAT(assembly, Not(ContainsRegex("vpdpbusd|vdpbf16ps")));
    EXPECT_TRUE(codegen::CompileProgram(program, TileTarget(), "kernel"));
    target::Target without = *target::LevelTarget("x86-64-v4", 1);
    EXPECT_THAT(AssemblyFor(program, without), Not(HasSubstr("tile")));
  }
}

/// A tile of 32 x 32 sums is in four registers, which two rows and two columns of registers add to.
TEST(TileProducts, KeepSeveralRegistersOfSums) {
  const std::string assembly = AssemblyFor(
      TiledProduct({DType::kUInt8, DType::kInt8, 32, 32, 256, 32, 32, 16}), TileTarget());
  EXPECT_EQ(CountOf(assembly, "tdpbusd"), 4);
  EXPECT_EQ(CountOf(assembly, "tilestored"), 4);
}

TEST(TileProducts, AreNamedTargetsToo) {
  const target::Target rapids = codegen::TargetNamed("sapphirerapids", 1);
  EXPECT_THAT(AssemblyFor(TiledProduct(Shapes().front()), rapids), HasSubstr("tdpbssd"));
  const tensor::Program pairs = TiledProduct(Shapes().back());
  EXPECT_THAT(AssemblyFor(pairs, rapids), HasSubstr("tdpbf16ps"));
}

/// Candidates as a tuner draws them use the registers, and mean what the workload says.
TEST(TileProducts, AreAmongCandidates) {
  const tensor::Workload workload = tensor::QuantizedMatmulWorkload(32, 48, 64);
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 5);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  const sketch::SpaceGenerator generator(workload, TileTarget());
  int in_tiles = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto candidate = generator.Sample(0, base::RandomStream(seed));
    if (!candidate) continue;
    std::vector<tensor::HostTensor> actual = inputs;
    tensor::InterpretStrictly(candidate->program, actual);
    ASSERT_EQ(actual.back().data, expected.back().data);
    in_tiles += AssemblyFor(candidate->program, TileTarget()).find("tdpbusd") != std::string::npos;
  }
  EXPECT_GT(in_tiles, 5);
}

/// The IR with every value of a tile register cast to a vector and back, which is what LLVM's
/// replacement by loops understands.
std::string WithCasts(std::string ir) {
  const std::regex to_tile(R"(call x86_amx @llvm\.x86\.cast\.vector\.to\.tile\.v256i32\((.*)\))");
  ir = std::regex_replace(ir, to_tile, "bitcast $1 to x86_amx");
  const std::regex to_vector(
      R"(call <256 x i32> @llvm\.x86\.cast\.tile\.to\.vector\.v256i32\(x86_amx %(\w+)\))");
  ir = std::regex_replace(ir, to_vector, "bitcast <256 x i32> %vector$1 to <256 x i32>");
  const std::regex instruction(R"(  %(\w+) = call x86_amx (@llvm\.x86\.t\w+\.internal\(.*\)))");
  return std::regex_replace(ir, instruction,
                            "  %tile$1 = call x86_amx $2\n"
                            "  %vector$1 = bitcast x86_amx %tile$1 to <256 x i32>\n"
                            "  %$1 = bitcast <256 x i32> %vector$1 to x86_amx");
}

/// LLVM replaces instructions for tile registers by loops: what the program computes is what it
/// would compute in registers, on machines that have none.
TEST(TileProducts, ComputeTheProductByLoopsInTheirPlace) {
  target::Target without = TileTarget();
  without.features.resize(without.features.find(",+amx"));
  if (const auto missing = codegen::MissingFeature(without)) GTEST_SKIP() << "needs " << *missing;
  constexpr char kCompiler[] = "llc-19";
  if (!Succeeded(Execute({kCompiler, "--version"}))) {
    GTEST_SKIP() << kCompiler << " (Debian package llvm-19) is not installed";
  }
  const TemporaryFolder folder;
  for (const TiledShape& shape : Shapes()) {
    SCOPED_TRACE(NameOf(shape));
    const tensor::Program program = TiledProduct(shape);
    const Result<std::string> ir = codegen::EmitLlvmIr(program, TileTarget(), "kernel");
    ASSERT_TRUE(ir) << ir.error().message;
    ASSERT_THAT(*ir, HasSubstr("tdp"));
    base::WriteFile(folder / "kernel.ll",
                    WithCasts(std::regex_replace(*ir, std::regex("tail call"), "call")));
    const base::CommandResult compiled =
        Execute({kCompiler, "-O0", "-enable-x86-scalar-amx", "-relocation-model=pic",
                 "-filetype=obj", "-o", "kernel.o", "kernel.ll"},
                folder.path());
    ASSERT_TRUE(Succeeded(compiled)) << Describe(compiled);
    Result<codegen::KernelObject> object = codegen::CompileProgram(program, TileTarget(), "kernel");
    ASSERT_TRUE(object) << object.error().message;
    object->object = base::ReadFile(folder / "kernel.o");
    std::vector<tensor::HostTensor> arguments = RandomArguments(ProductOf(shape), 3);
    for (tensor::HostTensor& values : arguments) {
      if (!tensor::IsFloat(values.dtype)) continue;
      for (int64_t i = 0; i < values.ElementCount(); ++i) {
        values.Set(i, std::nearbyint(8 * values.Get(i)));  // sums are exact
      }
    }
    std::vector<tensor::HostTensor> expected = arguments;
    tensor::Interpret(program, expected);
    RunObject(*object, program, arguments);
    ASSERT_FALSE(HasFatalFailure());
    ExpectClose(arguments.back(), expected.back(), 1e-6, "output");
  }
}

}  // namespace
}  // namespace bayloom::testing
