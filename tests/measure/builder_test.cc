// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>

#include "bayloom/base/system_error.h"
#include "bayloom/codegen/host.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom::measure {
namespace {

using testing::HasSubstr;

/// Programs that are told apart by the name of their workload.
std::vector<tensor::Program> Named(const std::vector<std::string>& names) {
  std::vector<tensor::Program> programs;
  for (const std::string& name : names) {
    programs.push_back(tensor::Lower(tensor::ParseOperator("matmul:4,4,4")));
    programs.back().name = name;
  }
  return programs;
}

std::vector<const tensor::Program*> Pointers(const std::vector<tensor::Program>& programs) {
  std::vector<const tensor::Program*> pointers;
  for (const tensor::Program& program : programs) pointers.push_back(&program);
  return pointers;
}

/// A compiler that does what the program's name says.
Result<codegen::KernelObject> Misbehave(const tensor::Program& program) {
  if (program.name == "abort") {
    std::fputs("COMPILER ERROR: cannot select\nstack dump\n", stderr);
    std::abort();
  }
  if (program.name == "crash") raise(SIGSEGV);
  if (program.name == "leave") _exit(3);
  if (program.name == "hang") {
    while (true) pause();
  }
  if (program.name == "stop") raise(SIGSTOP);
  if (program.name == "be killed") raise(SIGKILL);
  if (program.name == "throw") throw std::runtime_error("thrown");
  if (program.name == "refuse") return Error{"refused"};
  std::puts("noise");
  return codegen::KernelObject{program.name, std::string(100000, 'x'), {}, {}, 12, 34, 56};
}

struct CompilerMisdeed {
  std::string name;
  trial::Verdict verdict;
  std::string reason;
};

void PrintTo(const CompilerMisdeed& misdeed, std::ostream* out) { *out << misdeed.name; }

class BuilderMisdeed : public testing::TestWithParam<CompilerMisdeed> {};

/// Enough for a program on which nothing goes wrong.
constexpr double kTimeout = 2;

TEST_P(BuilderMisdeed, CostsTheProgramThatItHappensOnAndNoOther) {
  for (int threads : {1, 2}) {
    Builder builder(codegen::HostTarget(2), {threads, kTimeout, Misbehave});
    const std::vector<tensor::Program> programs = Named({"a", GetParam().name, "b", "c", "d"});
    const std::vector<Build> builds = builder.BuildAll(Pointers(programs));
    ASSERT_EQ(builds.size(), programs.size());
    for (size_t i : {0, 2, 3, 4}) {
      ASSERT_TRUE(builds[i].kernel) << builds[i].error;
      EXPECT_EQ(builds[i].kernel->symbol, programs[i].name);
      EXPECT_EQ(builds[i].kernel->object.size(), 100000u);
      EXPECT_EQ(builds[i].kernel->shared_workspace_bytes, 12);
      EXPECT_EQ(builds[i].kernel->worker_workspace_bytes, 34);
      EXPECT_EQ(builds[i].kernel->code_bytes, 56);
    }
    EXPECT_FALSE(builds[1].kernel);
    EXPECT_EQ(builds[1].verdict, GetParam().verdict);
    EXPECT_THAT(builds[1].error, HasSubstr(GetParam().reason));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BuilderMisdeed,
    testing::Values(
        CompilerMisdeed{"abort", trial::Verdict::kBuildError,
                        "(SIGABRT): COMPILER ERROR: cannot select"},
        CompilerMisdeed{"crash", trial::Verdict::kBuildError, "the compiler ended with"},
        CompilerMisdeed{"leave", trial::Verdict::kBuildError,
                        "the compiler ended with exit code 3"},
        CompilerMisdeed{"hang", trial::Verdict::kTimeout, "compiling did not end within 2 s"},
        CompilerMisdeed{"stop", trial::Verdict::kTimeout, "compiling did not end within 2 s"},
        CompilerMisdeed{"throw", trial::Verdict::kBuildError, "thrown"},
        CompilerMisdeed{"refuse", trial::Verdict::kBuildError, "refused"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Builder, TellsWhatAProgramTakesBesidesItsArguments) {
  tensor::WorkloadBuilder b("scale");
  const tensor::Tensor x = b.Input("x", {16, 9}), w = b.Constant("w", {16, 9});
  tensor::Program program = tensor::Lower(b.Build(
      {b.Compute("y", {16, 9}, [&](const auto& i) { return x(i[0], i[1]) * w(i[0], i[1]); })}));
  Build build;
  build.kernel = codegen::KernelObject{"scale", "object", {}, {}, 100, 10, 1000};
  EXPECT_EQ(DetailsOf(build, program, 4).code_bytes, 1000);
  EXPECT_EQ(DetailsOf(build, program, 4).workspace_bytes, 140);
  EXPECT_EQ(DetailsOf(build, program, 4).growth_bytes, 0);
  // As Winograd's algorithm has weights: 16 columns in place of 9.
  tensor::Buffer& weights = program.buffers[program.Parameters()[1]];
  weights.shape = {16, 16};
  weights.transform =
      std::make_shared<tensor::ConstantTransform>(tensor::ConstantTransform{{16, 9}, {}});
  EXPECT_EQ(DetailsOf(build, program, 4).growth_bytes, 4 * 16 * (16 - 9));
  EXPECT_EQ(DetailsOf(Build(), program, 4).code_bytes, 0);
}

TEST(Builder, ABatchOfMisdeedsEnds) {
  Builder builder(codegen::HostTarget(2), {3, 0.2, Misbehave});
  const std::vector<tensor::Program> programs =
      Named({"abort", "hang", "crash", "leave", "abort", "leave", "hang"});
  for (const Build& build : builder.BuildAll(Pointers(programs))) {
    EXPECT_FALSE(build.kernel);
    EXPECT_FALSE(build.error.empty());
  }
}

TEST(Builder, AWorkerThatTheSystemKillsSaysNothingAboutItsProgram) {
  Builder builder(codegen::HostTarget(2), {2, 60, Misbehave});
  const std::vector<tensor::Program> programs = Named({"a", "be killed", "b"});
  EXPECT_THROW(builder.BuildAll(Pointers(programs)), SystemError);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no process is left";
}

int OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

TEST(Builder, LeavesNoProcessesAndNoDescriptorsBehind) {
  Builder builder(codegen::HostTarget(2), {2, 0.2, Misbehave});
  const std::vector<tensor::Program> programs = Named({"a", "abort", "hang", "b"});
  builder.BuildAll(Pointers(programs));
  const int before = OpenDescriptors();
  for (int i = 0; i < 3; ++i) builder.BuildAll(Pointers(programs));
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Builder, MakesTheObjectsThatTheCompilerMakesHere) {
  const target::Target target = codegen::HostTarget(2);
  Builder builder(target);
  std::vector<tensor::Program> programs;
  for (const char* line : {"matmul:32,48,64", "conv2d:9x7x5,12,3x3,pad=1,bias,relu"}) {
    programs.push_back(sketch::DefaultSchedule(tensor::ParseOperator(line), target));
  }
  const std::vector<Build> builds = builder.BuildAll(Pointers(programs));
  for (size_t i = 0; i < programs.size(); ++i) {
    const Result<codegen::KernelObject> here =
        codegen::CompileProgram(programs[i], target, "kernel");
    ASSERT_TRUE(here && builds[i].kernel) << builds[i].error;
    EXPECT_EQ(builds[i].kernel->object, here->object);
    EXPECT_EQ(builds[i].kernel->WorkspaceBytes(2), here->WorkspaceBytes(2));
    EXPECT_GT(builds[i].seconds, 0);
  }
}

}  // namespace
}  // namespace bayloom::measure
