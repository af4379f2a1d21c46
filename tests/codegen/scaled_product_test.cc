// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Products of bytes with parts of bytes, in blocks that have a scale of their own.
#include <gmock/gmock.h>

#include "bayloom/codegen/cpu_features.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/target/named_target.h"
#include "tests/codegen/compiled_spaces.h"
#include "tests/codegen/random_cpu_program.h"
#include "tests/effort.h"

namespace bayloom::testing {
namespace {

using tensor::DType;
using tensor::Expr;

enum class Zero { kNone, kNumber, kPerBlock };

struct Form {
  int64_t bits;
  Zero zero;
  int64_t m, n;
  static constexpr int64_t kBlocks = 3, kSize = 32;
};

/// y[m, n] = sum of float32(x * (level - zero)) * scale of x's block * scale of the level's block.
tensor::Workload ScaledProduct(const Form& form) {
  const int64_t parts = 8 / form.bits, bytes = Form::kSize / parts;
  tensor::WorkloadBuilder b("scaled");
  const tensor::Tensor x = b.Input("x", {form.m, Form::kBlocks, parts, bytes}, DType::kInt8);
  const tensor::Tensor of_x = b.Input("of_x", {form.m, Form::kBlocks}, DType::kFloat32);
  const tensor::Tensor w = b.Constant("w", {Form::kBlocks, bytes, form.n}, DType::kUInt8);
  const tensor::Tensor of_w = b.Constant("of_w", {Form::kBlocks, form.n}, DType::kFloat32);
  const tensor::Tensor zeros = b.Constant("zeros", {Form::kBlocks, form.n}, DType::kUInt8);
  const auto integer = [](int64_t value) { return tensor::IntLiteral(value, DType::kInt32); };
  return b.Build({b.Reduce(
      "product", {form.m, form.n}, {{"block", Form::kBlocks}, {"k", bytes}, {"part", parts}},
      tensor::Reduction::kSum, [&](const std::vector<Expr>& s, const std::vector<Expr>& r) {
        Expr level = tensor::Cast(DType::kInt32, w(r[0], r[1], s[1]));
        if (form.bits < 8) {
          const Expr shift = tensor::Cast(DType::kInt32, r[2] * Expr(form.bits));
          level = tensor::Binary(tensor::ExprOp::kAnd,
                                 tensor::Binary(tensor::ExprOp::kShiftRight, level, shift),
                                 integer((int64_t{1} << form.bits) - 1));
        }
        if (form.zero == Zero::kNumber) level = level - integer(int64_t{1} << (form.bits - 1));
        if (form.zero == Zero::kPerBlock) {
          level = level - tensor::Cast(DType::kInt32, zeros(r[0], s[1]));
        }
        const Expr product = tensor::Cast(DType::kInt32, x(s[0], r[0], r[2], r[1])) * level;
        return tensor::Cast(DType::kFloat32, product) *
               (of_x(s[0], r[0]) * tensor::FloatLiteral(0.25) * of_w(r[0], s[1]));
      })});
}

std::vector<Form> Forms() {
  std::vector<Form> forms;
  for (int64_t bits : {2, 4, 8}) {
    for (Zero zero : {Zero::kNone, Zero::kNumber, Zero::kPerBlock}) {
      forms.push_back({bits, zero, 1, 48});
      forms.push_back({bits, zero, 5, 37});
    }
  }
  return forms;
}

std::vector<target::Target> Targets() {
  std::vector<target::Target> targets;
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    targets.push_back(*target::LevelTarget(level, 1));
  }
  targets.push_back(targets.back());
  targets.back().features.append(",+avx512vnni");
  return targets;
}

TEST(ScaledProducts, OfDesignSpacesAreRight) {
  for (const Form& form : Forms()) {
    const tensor::Workload workload = ScaledProduct(form);
    ExpectCompiledSpacesAreRight(workload, workload, 2 * Effort(), 1e-4);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST(ScaledProducts, OfRandomSchedulesAreRight) {
  uint64_t seed = 0;
  for (const Form& form : Forms()) {
    const tensor::Workload workload = ScaledProduct(form);
    for (const target::Target& target : Targets()) {
      if (codegen::MissingFeature(target)) continue;
      const std::vector<tensor::HostTensor> arguments = RandomArguments(workload, seed);
      ExpectMatchesInterpreter(sketch::DefaultSchedule(workload, target), arguments, "default",
                               target);
      for (int i = 0; i < 4 * Effort(); ++i, ++seed) {
        const tensor::Program program = RandomCpuProgram(workload, seed);
        ExpectMatchesInterpreter(program, arguments, std::to_string(seed), target);
        ASSERT_FALSE(HasFailure()) << tensor::Print(program);
      }
    }
  }
}

/// Sums of two products have room in 16 bits if the parts of bytes are as large as they can be.
TEST(ScaledProducts, OfTheLargestNumbersAreRight) {
  for (const int64_t bits : {2, 4, 8}) {
    const tensor::Workload workload = ScaledProduct({bits, Zero::kNone, 5, 48});
    std::vector<tensor::HostTensor> arguments = RandomArguments(workload, 1);
    for (int64_t i = 0; i < arguments[0].ElementCount(); ++i) arguments[0].SetInt(i, -128);
    for (int64_t i = 0; i < arguments[2].ElementCount(); ++i) arguments[2].SetInt(i, 255);
    for (const target::Target& target : Targets()) {
      if (codegen::MissingFeature(target)) continue;
      ExpectMatchesInterpreter(sketch::DefaultSchedule(workload, target), arguments, "largest",
                               target);
    }
  }
}

/// Programs without trials multiply by the target's instructions, and convert once for a scale.
TEST(ScaledProducts, UseTheInstructionsOfTheTarget) {
  const std::pair<const char*, const char*> kInstructions[] = {{"x86-64-v3", "vpmaddubsw"},
                                                               {"aarch64-linux-gnu", "sdot"}};
  for (const auto& [name, instruction] : kInstructions) {
    target::Target target = codegen::TargetNamed(name, 1);
    if (target.kind() == target::TargetKind::kAArch64) target.features.append(",+dotprod");
    const tensor::Program program =
        sketch::DefaultSchedule(ScaledProduct({4, Zero::kNumber, 1, 64}), target);
    const Result<std::string> assembly = codegen::EmitAssembly(program, target, "kernel");
    ASSERT_TRUE(assembly) << assembly.error().message;
    EXPECT_THAT(*assembly, ::testing::HasSubstr(instruction)) << name;
  }
}

}  // namespace
}  // namespace bayloom::testing
