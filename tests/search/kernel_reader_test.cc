// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/search/kernel_definition.h"
#include "bayloom/search/scenario.h"
#include "tests/message_of.h"

namespace bayloom::search {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(KernelArgument, IsReadAsInC) {
  using Role = KernelArgument::Role;
  using Fill = KernelArgument::Fill;
  const auto read = [](const std::string& text) {
    const Result<KernelArgument> argument = ParseKernelArgument(text);
    EXPECT_TRUE(argument) << argument.error().message;
    return *argument;
  };
  const KernelArgument matrix = read(" in  float a[n][2 * m] ");
  EXPECT_EQ(matrix.role, Role::kIn);
  EXPECT_EQ(matrix.name, "a");
  EXPECT_EQ(matrix.dtype, tensor::DType::kFloat32);
  EXPECT_THAT(matrix.shape, ElementsAre("n", "2 * m"));
  EXPECT_EQ(matrix.fill, Fill::kRandom);
  EXPECT_THAT(read("out double c[n, m]").shape, ElementsAre("n", "m"));
  EXPECT_EQ(read("const unsigned int* i[n] = random(0, n - 1)").high, "n - 1");
  EXPECT_EQ(read("const unsigned int* i[n]").role, Role::kIn);
  EXPECT_EQ(read("inout int x[n] = range").fill, Fill::kRange);
  EXPECT_EQ(read("inout float x[max(n, 2)] = zeros").low, "0");
  EXPECT_EQ(read("in float w[3] = file(w.npy)").file, "w.npy");
  EXPECT_EQ(read("int n").low, "n");
  EXPECT_EQ(read("float alpha = 0.5").low, "0.5");
  EXPECT_EQ(read("local float tile[16]").role, Role::kLocal);
}

TEST(KernelArgument, ThatIsNoneIsRefused) {
  const auto refusal = [](const std::string& text) {
    const Result<KernelArgument> argument = ParseKernelArgument(text);
    EXPECT_FALSE(argument) << text;
    return argument ? "" : argument.error().message;
  };
  EXPECT_THAT(refusal("float a[n]"), HasSubstr("'in', 'out' or 'inout'"));
  EXPECT_THAT(refusal("in float a"), HasSubstr("needs a shape"));
  EXPECT_THAT(refusal("in flot a[n]"), HasSubstr("'flot' is no type"));
  EXPECT_THAT(refusal("in float a[n"), HasSubstr("shape"));
  EXPECT_THAT(refusal("in float a[n][]"), HasSubstr("no length"));
  EXPECT_THAT(refusal("out float a[n] = zeros"), HasSubstr("'inout' arrays have"));
  EXPECT_THAT(refusal("in float a[n] = random(1)"), HasSubstr("two ends"));
  EXPECT_THAT(refusal("n"), HasSubstr("a type and a name"));
  EXPECT_THAT(refusal(""), HasSubstr("a type and a name"));
  EXPECT_THAT(refusal("int 2n"), HasSubstr("no name"));
}

Scenario Parse(const std::string& evaluator, const std::string& objective = "") {
  return ParseScenario("parameters: {tile: [8, 16, 32], mode: [plain, fast]}\n" + objective +
                           "evaluator:\n" + evaluator,
                       "/folder/kernel.yaml");
}

TEST(KernelScenario, HasWhatItNeedsByDefault) {
  const Scenario scenario =
      Parse("  {kernel: matmul.c, arguments: ['in float a[n]', int n], sizes: {n: 4}}\n");
  ASSERT_EQ(scenario.evaluator.kind, EvaluatorKind::kKernel);
  const KernelDefinition& kernel = *scenario.evaluator.kernel;
  EXPECT_EQ(kernel.source, "/folder/matmul.c");
  EXPECT_EQ(kernel.function, "matmul");
  EXPECT_EQ(kernel.language, KernelDefinition::Language::kC);
  EXPECT_EQ(scenario.objectives[0].name, "milliseconds");
  EXPECT_EQ(KernelTimeUnit(scenario), 1e-3);
  EXPECT_EQ(scenario.space->parameter(0).kind(), space::ParameterKind::kOrdinal);
  EXPECT_EQ(scenario.space->parameter(1).kind(), space::ParameterKind::kCategorical);
}

TEST(KernelScenario, ReadsALaunchAsKernelTunerHasIt) {
  const KernelDefinition kernel = *Parse(
                                       "  kernel: conv.cl\n"
                                       "  arguments: ['out float y[4]']\n"
                                       "  problem_size: [4096, 'n']\n"
                                       "  sizes: [{n: 4}, {n: 8}]\n"
                                       "  block_size_names: [tile]\n"
                                       "  grid_div_x: [tile, 2]\n"
                                       "  tolerance: {absolute: 1e-3}\n")
                                       .evaluator.kernel;
  EXPECT_THAT(kernel.problem_size, ElementsAre("4096", "n"));
  EXPECT_EQ(kernel.block_size_names[0], "tile");
  EXPECT_EQ(kernel.block_size_names[1], "block_size_y");
  EXPECT_THAT(*kernel.grid_divisors[0], ElementsAre("tile", "2"));
  EXPECT_EQ(kernel.sizes.size(), 2u);
  EXPECT_EQ(kernel.absolute, 1e-3);
  EXPECT_EQ(kernel.relative, 0);
}

TEST(KernelScenario, ThatIsWrongSaysWhere) {
  const auto message_of = [](const std::string& evaluator, const std::string& objective = "") {
    return MessageOf([&] { Parse(evaluator, objective); });
  };
  EXPECT_THAT(message_of("  {kernel: a.c, arguments: ['in float a']}\n"),
              AllOf(HasSubstr("kernel.yaml:3:"), HasSubstr("evaluator.arguments[0]")));
  EXPECT_THAT(message_of("  {kernel: a.txt, arguments: [int n]}\n"), HasSubstr("language"));
  EXPECT_THAT(message_of("  {kernel: a.c, arguments: [int n, int n]}\n"), HasSubstr("already"));
  EXPECT_THAT(message_of("  {kernel: a.c, arguments: [int n], problem_size: 4}\n"),
              HasSubstr("for OpenCL"));
  EXPECT_THAT(message_of("  {kernel: a.cl, arguments: [int n]}\n"), HasSubstr("problem_size"));
  EXPECT_THAT(message_of("  {kernel: a.c, arguments: [int n], sizes: {tile: 3}}\n"),
              HasSubstr("parameter of this name"));
  EXPECT_THAT(message_of("  {kernel: a.c, arguments: [int n], flags: '-O{level}'}\n"),
              HasSubstr("no parameter 'level'"));
  EXPECT_THAT(message_of("  {kernel: a.c, arguments: ['in int a[2]'], "
                         "reference: {files: {a: a.npy}}}\n"),
              HasSubstr("no result 'a'"));
  EXPECT_THAT(message_of("  {kernel: a.c, arguments: ['out float y[4]']}\n", "maximize: speed\n"),
              HasSubstr("objective is its time"));
  EXPECT_THAT(message_of("  {kernel: a.c, command: b, arguments: [int n]}\n"),
              HasSubstr("exactly one of"));
}

}  // namespace
}  // namespace bayloom::search
