// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/measurer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bayloom/base/clock.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/host.h"
#include "bayloom/measure/interruption.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tensor/open_axis.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/primitives.h"
#include "tests/measure/wrong_program.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"

namespace bayloom::measure {
namespace {

using testing::HasSubstr;

MeasureOptions TestMeasureOptions() {
  MeasureOptions options;
  options.runner.executable = BAYLOOM_TEST_RUNNER;
  options.timing.min_total_seconds = 2e-3;
  return options;
}

std::vector<trial::Outcome> MeasureAll(Measurer& measurer, const tensor::Workload& workload,
                                       const std::vector<tensor::Program>& programs,
                                       const Measurer::Observer& observer = {}) {
  std::vector<const tensor::Program*> pointers;
  for (const tensor::Program& program : programs) pointers.push_back(&program);
  return measurer.Measure(workload, pointers, observer);
}

/// A program that no CPU can run.
tensor::Program Unbuildable(const tensor::Workload& workload) {
  tensor::Program program = tensor::Lower(workload);
  const Status bound = tensor::Bind(program, program.roots[0].id, tensor::LoopKind::kBlockX);
  EXPECT_TRUE(bound);
  return program;
}

TEST(Measurer, AnswersForEveryCandidateInOrder) {
  const tensor::Workload workload = tensor::ParseOperator("matmul:32,48,64");
  Measurer measurer(codegen::HostTarget(2), TestMeasureOptions());
  std::vector<size_t> seen;
  const std::vector<trial::Outcome> outcomes =
      MeasureAll(measurer, workload,
                 {tensor::Lower(workload), Unbuildable(workload),
                  sketch::DefaultSchedule(workload, measurer.target()), WrongProgram(workload)},
                 [&](size_t i, const trial::Outcome&) { seen.push_back(i); });
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(outcomes[0].ok()) << outcomes[0].reason;
  EXPECT_GT(outcomes[0].value, 1e-7);
  EXPECT_GT(DetailsOf(outcomes[0]).code_bytes, 0);
  EXPECT_GT(DetailsOf(outcomes[0]).build_seconds, 0);
  EXPECT_GT(DetailsOf(outcomes[0]).measure_seconds, 0);
  EXPECT_EQ(outcomes[1].verdict, trial::Verdict::kBuildError);
  EXPECT_FALSE(outcomes[1].reason.empty());
  EXPECT_TRUE(std::isnan(outcomes[1].value));
  EXPECT_TRUE(outcomes[2].ok()) << outcomes[2].reason;
  EXPECT_EQ(outcomes[3].verdict, trial::Verdict::kWrongOutput) << outcomes[3].reason;

  const Measurer::Statistics statistics = measurer.statistics();
  EXPECT_EQ(statistics.trials, 4);
  EXPECT_GT(statistics.build_seconds, 0);
  EXPECT_GT(statistics.run_seconds, 0);
}

TEST(Measurer, ConstantsComeInTheCandidatesLayout) {
  const tensor::Workload workload = tensor::ParseOperator("matmul:8,6,10");
  tensor::Program columns_first = tensor::Lower(workload);
  tensor::Buffer& weights = columns_first.buffers[1];
  ASSERT_EQ(weights.role, tensor::BufferRole::kConstant);
  weights.layout = {{1, 1, 6}, {0, 1, 10}};
  Measurer measurer(codegen::HostTarget(1), TestMeasureOptions());
  for (const trial::Outcome& outcome : MeasureAll(
           measurer, workload, {tensor::Lower(workload), columns_first, tensor::Lower(workload)})) {
    EXPECT_TRUE(outcome.ok()) << outcome.reason;
  }
}

TEST(Measurer, SlowCandidatesAreCutShort) {
  const tensor::Workload workload = tensor::ParseOperator("matmul:32,48,64");
  Measurer measurer(codegen::HostTarget(1), TestMeasureOptions());
  measurer.SetIncumbent(workload, tensor::Lower(workload), 1e-9);
  const trial::Outcome outcome = MeasureAll(measurer, workload, {tensor::Lower(workload)})[0];
  ASSERT_TRUE(outcome.ok()) << outcome.reason;
  EXPECT_TRUE(DetailsOf(outcome).cut_short);

  MeasureOptions never = TestMeasureOptions();
  never.cut_factor = 0;
  Measurer patient(codegen::HostTarget(1), never);
  patient.SetIncumbent(workload, tensor::Lower(workload), 1e-9);
  EXPECT_FALSE(DetailsOf(MeasureAll(patient, workload, {tensor::Lower(workload)})[0]).cut_short);
}

TEST(Measurer, ARepeatHasALimitOfItsOwnAndIsNoTrial) {
  const tensor::Workload workload = tensor::ParseOperator("matmul:32,48,64");
  const tensor::Program program = tensor::Lower(workload);
  const tensor::Program* const programs[] = {&program};
  MeasureOptions options = TestMeasureOptions();
  options.repeat_cut_factor = 1e9;
  Measurer measurer(codegen::HostTarget(1), options);
  measurer.SetIncumbent(workload, program, 1e-9);
  const Build build = measurer.BuildAll(workload, programs)[0];
  const trial::Outcome repeat = measurer.Repeat(workload, program, build);
  ASSERT_TRUE(repeat.ok()) << repeat.reason;
  EXPECT_FALSE(DetailsOf(repeat).cut_short);
  EXPECT_EQ(measurer.statistics().trials, 0);
  EXPECT_TRUE(DetailsOf(measurer.Run(workload, program, build)).cut_short);

  Build failed;
  failed.error = "out of registers";
  EXPECT_EQ(measurer.Repeat(workload, program, failed).reason, "out of registers");
}

TEST(Measurer, DriftIsSeenAndAllowedFor) {
  const tensor::Workload workload = tensor::ParseOperator("matmul:32,48,64");
  MeasureOptions options = TestMeasureOptions();
  options.drift_interval = 2;
  Measurer measurer(codegen::HostTarget(1), options);
  // As if the machine were thousands of times slower now than when this was recorded.
  measurer.SetIncumbent(workload, tensor::Lower(workload), 1e-9);
  const std::vector<trial::Outcome> outcomes =
      MeasureAll(measurer, workload, std::vector(9, tensor::Lower(workload)));
  EXPECT_EQ(DetailsOf(outcomes[0]).drift, 1);
  EXPECT_TRUE(DetailsOf(outcomes[0]).cut_short);
  EXPECT_GT(DetailsOf(outcomes[1]).drift, 100);
  EXPECT_EQ(DetailsOf(outcomes[2]).drift, DetailsOf(outcomes[1]).drift);
  EXPECT_EQ(measurer.statistics().drift, DetailsOf(outcomes[8]).drift);
  // Three times the slowed incumbent is what it takes now, unless it is disturbed.
  EXPECT_FALSE(std::ranges::all_of(
      outcomes, [](const trial::Outcome& outcome) { return DetailsOf(outcome).cut_short; }));
}

TEST(Measurer, AStopIsHeardBetweenCandidatesAndItGoesOnAfterwards) {
  const tensor::Workload workload = tensor::ParseOperator("matmul:8,8,8");
  const tensor::Program program = tensor::Lower(workload);
  const std::vector<const tensor::Program*> programs(3, &program);
  Measurer measurer(codegen::HostTarget(1), TestMeasureOptions());
  bool stop = false;
  int outcomes = 0;
  EXPECT_THROW(measurer.Measure(
                   workload, programs,
                   [&](size_t i, const trial::Outcome&) {
                     ++outcomes;
                     stop = i == 1;
                   },
                   [&] { return stop; }),
               Interrupted);
  EXPECT_EQ(outcomes, 2);
  EXPECT_TRUE(MeasureAll(measurer, workload, {program})[0].ok());
}

/// The number of this process's children.
int Children() {
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  return static_cast<int>(
      std::distance(std::istream_iterator<int>(file), std::istream_iterator<int>()));
}

TEST(Measurer, AStopEndsWhatIsBeingBuilt) {
  const tensor::Workload workload = tensor::ParseOperator("matmul:8,8,8");
  const tensor::Program program = tensor::Lower(workload);
  const std::vector<const tensor::Program*> programs(3, &program);
  const target::Target target = codegen::HostTarget(1);
  // The first compilation, of the reference, is as usual; then a marker makes all others hang.
  const TemporaryFolder folder;
  MeasureOptions options = TestMeasureOptions();
  options.builder.threads = 2;
  options.builder.compile = [&](const tensor::Program& p) {
    while (std::ifstream(folder / "hang").good()) usleep(1000);
    return codegen::CompileProgram(p, target, "kernel");
  };
  Measurer measurer(target, options);
  EXPECT_TRUE(MeasureAll(measurer, workload, {program})[0].ok());
  const int children = Children();
  std::ofstream(folder / "hang") << "1";
  const double begun = base::MonotonicSeconds();
  EXPECT_THROW(
      measurer.BuildAll(workload, programs, [&] { return base::MonotonicSeconds() > begun + 0.3; }),
      Interrupted);
  EXPECT_LT(base::MonotonicSeconds() - begun, kPatienceSeconds);
  EXPECT_EQ(Children(), children);
  std::filesystem::remove(folder / "hang");
  EXPECT_TRUE(MeasureAll(measurer, workload, {program})[0].ok());
}

TEST(Measurer, ForgottenTasksAreMadeAnew) {
  MeasureOptions options = TestMeasureOptions();
  options.kept_data_bytes = 0;
  Measurer measurer(codegen::HostTarget(1), options);
  const tensor::Workload a = tensor::ParseOperator("matmul:8,8,8"),
                         b = tensor::ParseOperator("matmul:8,8,16");
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(MeasureAll(measurer, a, {tensor::Lower(a)})[0].ok());
    EXPECT_TRUE(MeasureAll(measurer, b, {tensor::Lower(b)})[0].ok());
  }
  EXPECT_EQ(measurer.statistics().runner_starts, 1);
}

tensor::Workload Elementwise(const std::function<tensor::Expr(tensor::Expr)>& value) {
  tensor::WorkloadBuilder b("elementwise");
  tensor::Tensor x = b.Input("x", {300});
  return b.Build({b.Compute("y", {300}, [&](const auto& i) { return value(x(i[0])); })});
}

/// Data is chosen so that checking it means something.
TEST(Measurer, WorkloadsWithoutValuesEverywhereAreStillChecked) {
  Measurer measurer(codegen::HostTarget(1), TestMeasureOptions());
  for (tensor::ExprOp op : {tensor::ExprOp::kLog, tensor::ExprOp::kSqrt, tensor::ExprOp::kAcosh,
                            tensor::ExprOp::kAtanh}) {
    const tensor::Workload workload =
        Elementwise([&](const tensor::Expr& x) { return tensor::Unary(op, x); });
    EXPECT_TRUE(MeasureAll(measurer, workload, {tensor::Lower(workload)})[0].ok());
    EXPECT_EQ(MeasureAll(measurer, workload, {WrongProgram(workload)})[0].verdict,
              trial::Verdict::kWrongOutput);
  }
}

/// Timed runs read copies of them; results are checked before and after.
TEST(Measurer, ColdConstantsAreCheckedAsOthersAre) {
  tensor::Workload workload = tensor::ParseOperator("conv2d:8x8x4,4,3x3");
  workload.has_cold_constants = true;
  Measurer measurer(codegen::HostTarget(2), TestMeasureOptions());
  const auto outcomes =
      MeasureAll(measurer, workload, {tensor::Lower(workload), WrongProgram(workload)});
  EXPECT_TRUE(outcomes[0].ok()) << outcomes[0].reason;
  EXPECT_EQ(outcomes[1].verdict, trial::Verdict::kWrongOutput);
}

/// Programs that read other forms of the same constant, in turns.
TEST(Measurer, ConstantsAreTransformedAsEachProgramWants) {
  const tensor::Workload workload = tensor::ParseOperator("conv2d:14x14x32,64,3x3,pad=1");
  Measurer measurer(codegen::HostTarget(2), TestMeasureOptions());
  const tensor::Program plain = sketch::DefaultSchedule(workload, measurer.target());
  std::vector<tensor::Program> programs = {plain};
  for (int64_t tile : {6, 4, 2}) {
    tensor::Program derived = tensor::Lower(workload);
    ASSERT_TRUE(tensor::Winograd(derived, derived.FindBlock("conv"), tile));
    programs.push_back(derived);
    programs.push_back(plain);
  }
  for (const trial::Outcome& outcome : MeasureAll(measurer, workload, programs)) {
    EXPECT_TRUE(outcome.ok()) << outcome.reason;
  }
}

/// Sums of as many elements of each row as there are, with or without a look at how many.
tensor::Workload OpenSums(bool looks) {
  tensor::WorkloadBuilder b("sums");
  const tensor::BufferId columns = b.Size("columns", {1, 256});
  const tensor::Tensor x = b.Input("x", {64, 256});
  b.Bound(x, 1, columns);
  const tensor::Tensor y =
      b.Reduce("sum", {64}, {{"k", 256, looks ? columns : -1}}, tensor::Reduction::kSum,
               [&](const auto& s, const auto& r) {
                 const tensor::Expr element = x(s[0], r[0]);
                 return looks ? tensor::ReduceWithin(tensor::Reduction::kSum, element, 1,
                                                     tensor::SizeOf(columns))
                              : element;
               });
  tensor::Workload workload = b.Build({y});
  workload.points = {{256}, {31}, {1}};
  return workload;
}

TEST(Measurer, ProgramsOfOpenAxesAreTimedAtEachPoint) {
  const tensor::Workload workload = OpenSums(true);
  Measurer measurer(codegen::HostTarget(1), TestMeasureOptions());
  const trial::Outcome outcome = MeasureAll(measurer, workload, {tensor::Lower(workload)})[0];
  ASSERT_TRUE(outcome.ok()) << outcome.reason;
  const std::vector<TimeAtSizes> times = DetailsOf(outcome).at_sizes;
  ASSERT_EQ(times.size(), workload.points.size());
  double logs = 0;
  for (size_t p = 0; p < times.size(); ++p) {
    EXPECT_EQ(times[p].sizes, workload.points[p]);
    logs += std::log(times[p].seconds);
  }
  EXPECT_NEAR(std::log(outcome.value), logs / 3, 1e-9);
}

TEST(Measurer, WhatIsRightWithTheLargestLengthsOnlyIsWrong) {
  Measurer measurer(codegen::HostTarget(1), TestMeasureOptions());
  const trial::Outcome outcome =
      MeasureAll(measurer, OpenSums(true), {tensor::Lower(OpenSums(false))})[0];
  EXPECT_EQ(outcome.verdict, trial::Verdict::kWrongOutput);
  EXPECT_THAT(outcome.reason, HasSubstr("(sizes 31)"));
}

TEST(Measurer, IndicesAndIntegersAndBoolsAreFine) {
  Measurer measurer(codegen::HostTarget(1), TestMeasureOptions());
  tensor::WorkloadBuilder b("mixed");
  tensor::Tensor table = b.Constant("table", {50, 8});
  tensor::Tensor rows = b.Input("rows", {40}, tensor::DType::kInt64);
  tensor::Tensor limit = b.Input("limit", {40}, tensor::DType::kInt32);
  tensor::Tensor gathered =
      b.Compute("gathered", {40, 8}, [&](const auto& i) { return table(rows(i[0]), i[1]); });
  tensor::Tensor positive = b.Compute("positive", {40}, [&](const auto& i) {
    return tensor::IntLiteral(0, tensor::DType::kInt32) < limit(i[0]);
  });
  tensor::Tensor twice =
      b.Compute("twice", {40}, [&](const auto& i) { return limit(i[0]) + limit(i[0]); });
  const tensor::Workload workload = b.Build({gathered, positive, twice});
  const trial::Outcome outcome = MeasureAll(measurer, workload, {tensor::Lower(workload)})[0];
  EXPECT_TRUE(outcome.ok()) << outcome.reason;
}

}  // namespace
}  // namespace bayloom::measure
