// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/kernel_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/host.h"
#include "bayloom/codegen/link.h"
#include "bayloom/codegen/shared_library.h"
#include "bayloom/measure/kernel_json.h"
#include "bayloom/measure/reference_programs.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/target/emulated.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "tests/measure/wrong_program.h"

namespace bayloom::measure {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

KernelOptions TestKernelOptions() {
  KernelOptions options;
  options.runner.executable = BAYLOOM_TEST_RUNNER;
  options.timing.min_total_seconds = 2e-3;
  return options;
}

TrialMessage Compiled(const tensor::Program& program) {
  const target::Target host = codegen::HostTarget(1);
  Result<codegen::KernelObject> kernel = codegen::CompileProgram(program, host, "kernel");
  EXPECT_TRUE(kernel) << kernel.error().message;
  kernel->object = codegen::LinkSharedLibrary(kernel->object);
  return TrialMessage::For(program, *std::move(kernel), 1);
}

tensor::Workload Product() { return tensor::ParseOperator("matmul:32,48,16,bias"); }

/// Constants may be packed, in a form of the program's own.
tensor::Program Scheduled(const tensor::Workload& workload) {
  return sketch::DefaultSchedule(workload, codegen::HostTarget(1));
}

/// What a tuner says of the product's programs.
Json Subject() {
  const tensor::Workload workload = Product();
  std::vector<TrialMessage> references;
  for (const tensor::Program& program : ReferencePrograms(workload, codegen::HostTarget(1))) {
    references.push_back(Compiled(program));
  }
  return KernelSubject(workload, 1, references);
}

trial::Outcome Try(remote::CandidateEvaluator& evaluator, const TrialMessage& kernel,
                   bool is_repeat = false) {
  const Status taken = evaluator.Submit(1, KernelToJson(kernel), is_repeat);
  EXPECT_TRUE(taken) << taken.error().message;
  const std::vector<trial::FinishedTrial> finished = evaluator.Collect(60, [] { return false; });
  EXPECT_EQ(finished.size(), 1u);
  EXPECT_TRUE(finished.at(0).outcome) << finished[0].lost;
  return finished[0].outcome.value_or(trial::Outcome());
}

TEST(KernelWorker, MeasuresWhatWasCompiledElsewhere) {
  KernelWorker kernels(codegen::HostTarget(1), TestKernelOptions());
  const auto evaluator = kernels.MakeEvaluator(Subject());
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  const tensor::Workload workload = Product();
  const trial::Outcome right = Try(**evaluator, Compiled(tensor::Lower(workload)));
  EXPECT_TRUE(right.ok()) << right.reason;
  EXPECT_GT(right.value, 1e-8);
  EXPECT_EQ(right.Get("emulated", 0), 0);
  EXPECT_TRUE(Try(**evaluator, Compiled(Scheduled(workload)), /*is_repeat=*/true).ok());
  EXPECT_EQ(Try(**evaluator, Compiled(WrongProgram(workload))).verdict,
            trial::Verdict::kWrongOutput);
  TrialMessage unloadable = Compiled(tensor::Lower(workload));
  unloadable.kernel.symbol = "other";
  EXPECT_EQ(Try(**evaluator, unloadable).verdict, trial::Verdict::kBuildError);
}

TEST(KernelWorker, TimesNothingUnderAnEmulator) {
  KernelWorker kernels(target::Emulated(codegen::HostTarget(1)), TestKernelOptions());
  const auto evaluator = kernels.MakeEvaluator(Subject());
  ASSERT_TRUE(evaluator) << evaluator.error().message;
  const trial::Outcome right = Try(**evaluator, Compiled(tensor::Lower(Product())));
  EXPECT_TRUE(right.ok()) << right.reason;
  EXPECT_EQ(right.Get("emulated", 0), 1);
  EXPECT_EQ(right.Get("cut_short", 0), 0);  // as a program that may be the best
  EXPECT_EQ(Try(**evaluator, Compiled(WrongProgram(Product()))).verdict,
            trial::Verdict::kWrongOutput);
}

TEST(KernelWorker, RefusesWhatItCannotTry) {
  KernelWorker kernels(codegen::HostTarget(1), TestKernelOptions());
  const Json subject = Subject();
  const auto why = [&](const char* pointer, const Json& value) {
    Json changed = subject;
    changed[Json::json_pointer(pointer)] = value;
    const auto evaluator = kernels.MakeEvaluator(changed);
    EXPECT_FALSE(evaluator) << pointer;
    return evaluator ? std::string() : evaluator.error().message;
  };
  EXPECT_THAT(why("/threads", 2), HasSubstr("programs for 2 threads, and 1 processor"));
  EXPECT_THAT(why("/threads", "all"), HasSubstr("lacks a part"));
  EXPECT_FALSE(why("/workload", 7).empty());
  EXPECT_THAT(why("/references/0", 7), HasSubstr("this is no kernel"));
  EXPECT_THAT(why("/references/0/layouts", Json::array()), HasSubstr("number of parameters"));
  EXPECT_FALSE(kernels.MakeEvaluator(Json(3)));
  EXPECT_FALSE(kernels.MakeEvaluator({{"kind", kKernelKind}}));
}

TEST(KernelWorker, WithoutARightReferenceNothingIsRight) {
  const tensor::Workload workload = Product();
  KernelWorker kernels(codegen::HostTarget(1), TestKernelOptions());
  const std::vector<TrialMessage> wrong = {Compiled(WrongProgram(workload))};
  const auto evaluator = kernels.MakeEvaluator(KernelSubject(workload, 1, wrong));
  ASSERT_TRUE(evaluator);
  const trial::Outcome outcome = Try(**evaluator, Compiled(tensor::Lower(workload)));
  EXPECT_EQ(outcome.verdict, trial::Verdict::kBuildError);
  EXPECT_THAT(outcome.reason, HasSubstr(kNoReference));
}

TEST(KernelJson, ComesBackAsItWas) {
  TrialMessage kernel = Compiled(tensor::Lower(Product()));
  kernel.kernel.worker_workspace_bytes = 4096;
  kernel.layouts[0] = {{0, 4, 2}, {1, 1, 8}, {0, 1, 4}};
  kernel.transforms[1].source_shape = {3, 3};
  kernel.transforms[1].matrices = {{0.1, 1 / 3.0, 0, -1, 2, 1e-300}, {}};
  const Result<TrialMessage> read =
      KernelFromJson(Json::parse(KernelToJson(kernel).dump()), kernel.layouts.size());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kernel.symbol, kernel.kernel.symbol);
  EXPECT_EQ(read->kernel.object, kernel.kernel.object);
  EXPECT_EQ(read->kernel.WorkspaceBytes(3), kernel.kernel.WorkspaceBytes(3));
  EXPECT_EQ(read->layouts, kernel.layouts);
  EXPECT_EQ(read->transforms, kernel.transforms);
}

TEST(KernelJson, RefusesWhatIsNone) {
  const TrialMessage kernel = Compiled(tensor::Lower(Product()));
  const Json right = KernelToJson(kernel);
  const std::pair<const char*, Json> changes[] = {
      {"/symbol", 3},
      {"/library", "AAAA"},
      {"/library", "?"},
      {"/library", nullptr},
      {"/workspace", Json::array({1})},
      {"/workspace/0", -1},
      {"/workspace/1", uint64_t{1} << 60},
      {"/layouts", Json::array()},
      {"/layouts/0", Json::array({Json::array({0, 1})})},
      {"/layouts/0", Json::array({Json::array({0, 1, 0})})},
      {"/layouts/0", Json::array({Json::array({-1, 1, 1})})},
      {"/transforms", nullptr},
      {"/transforms/0", {{"shape", {3}}, {"matrices", Json::array()}}},
      {"/transforms/0", {{"shape", {3}}, {"matrices", {{1, 2}}}}},
      {"/transforms/0", {{"shape", {0}}, {"matrices", {{1, 2}}}}}};
  for (const auto& [pointer, value] : changes) {
    Json changed = right;
    changed[Json::json_pointer(pointer)] = value;
    const Result<TrialMessage> read = KernelFromJson(changed, kernel.layouts.size());
    EXPECT_FALSE(read) << pointer << " " << value;
    if (!read) {
      EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace bayloom::measure
