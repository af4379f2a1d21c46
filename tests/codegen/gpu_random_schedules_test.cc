// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>

#include "bayloom/codegen/gpu/assemble.h"
#include "bayloom/codegen/gpu/stand_in_code.h"
#include "bayloom/tensor/async_copy.h"
#include "tests/codegen/gpu_run.h"
#include "tests/codegen/gpu_schedules.h"
#include "tests/effort.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

tensor::Program ScheduledFor(const tensor::Workload& workload, uint64_t seed) {
  tensor::Program program = tensor::Lower(workload);
  GpuScheduler(program, base::RandomStream(seed)).Run();
  return program;
}

codegen::StandInOptions OrderOf(uint64_t seed) {
  return {static_cast<codegen::StandInOptions::Order>(seed % 3), seed};
}

class GpuRandomSchedules : public ::testing::TestWithParam<NamedWorkload> {};

TEST_P(GpuRandomSchedules, ComputeWhatTheInterpreterComputesWithoutRaces) {
  constexpr int kSchedules = 4;
  const tensor::Workload& workload = GetParam().workload;
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 7);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  int run = 0;
  std::string refusals;
  for (int i = 0; i < kSchedules * Effort(); ++i) {
    const uint64_t seed = 100 + static_cast<uint64_t>(i);
    const tensor::Program program = ScheduledFor(workload, seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + tensor::Print(program));
    const Status valid = tensor::Validate(program);
    ASSERT_TRUE(valid) << valid.error().message;
    const Result<codegen::StandIn> stand_in = codegen::StandIn::Compile(program, Hopper());
    if (!stand_in) {
      refusals += stand_in.error().message + "\n";
      continue;
    }
    ++run;
    std::vector<tensor::HostTensor> actual = inputs;
    const Status done = RunOnStandIn(program, *stand_in, actual, OrderOf(seed));
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(CountWrong(program, actual, expected), 0);
  }
  RecordProperty("run", run);
  RecordProperty("refused", kSchedules * Effort() - run);
  EXPECT_GE(2 * run, kSchedules * Effort()) << refusals;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, GpuRandomSchedules, ::testing::ValuesIn(Catalogue()),
                         [](const auto& named) { return named.param.name; });

/// Records the median of times, in milliseconds.
void RecordMedian(const std::string& name, std::vector<double> seconds) {
  if (seconds.empty()) return;
  std::ranges::sort(seconds);
  ::testing::Test::RecordProperty(name, std::to_string(1e3 * seconds[seconds.size() / 2]));
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TEST(GpuSchedules, Assemble) {
  if (!codegen::HasAssembler()) GTEST_SKIP() << "there is no ptxas in PATH";
  const std::vector<NamedWorkload> all = Catalogue();
  std::vector<double> compile_times, assemble_times;
  for (size_t i = 0; i < 20 * static_cast<size_t>(Effort()); ++i) {
    const NamedWorkload& named = all[i * 7 % all.size()];
    const tensor::Program program = ScheduledFor(named.workload, 100 + i);
    SCOPED_TRACE(named.name + "\n" + tensor::Print(program));
    const double begin = Now();
    const auto compiled = codegen::CompileToPtx(program, Hopper(), "f");
    if (!compiled) continue;
    const double middle = Now();
    const auto assembled = codegen::Assemble(compiled->ptx, "sm_90");
    ASSERT_TRUE(assembled) << assembled.error().message << compiled->ptx;
    EXPECT_EQ(assembled->kernels.size(), compiled->launches.size());
    compile_times.push_back(middle - begin);
    assemble_times.push_back(Now() - middle);
  }
  RecordProperty("programs", static_cast<int>(compile_times.size()));
  RecordMedian("ptx_ms", std::move(compile_times));
  RecordMedian("ptxas_ms", std::move(assemble_times));
}

/// Code with one fault: the n-th barrier is left out, the n-th cooperative loop is one element off,
/// or the n-th wait for asynchronous copies is for one group too few.
class FaultyMachine final : public codegen::StandInMachine {
 public:
  enum Kind { kBarrier, kIndex, kWait, kKinds };
  FaultyMachine(Kind kind, int number) : kind_(kind), number_(number) {}

  bool planted() const { return planted_; }

  void Barrier(codegen::IrBuilder& b) override {
    if (!IsIt(kBarrier)) StandInMachine::Barrier(b);
  }
  void WaitForCopies(codegen::IrBuilder& b, int groups) override {
    StandInMachine::WaitForCopies(b, groups + (IsIt(kWait) ? 1 : 0));
  }
  llvm::Value* ThreadIndex(codegen::IrBuilder& b) override {
    llvm::Value* thread = StandInMachine::ThreadIndex(b);
    // The first is the kernel's own.
    const bool own = threads_++ == 0;
    return !own && IsIt(kIndex) ? b.CreateAdd(thread, b.getInt32(1)) : thread;
  }

 private:
  bool IsIt(Kind kind) {
    const bool it = kind == kind_ && number_-- == 0;
    planted_ |= it;
    return it;
  }

  Kind kind_;
  int number_, threads_ = 0;
  bool planted_ = false;
};

/// A product of 48 x 48 x 48 elements in blocks of 8 x 8 threads, at random but for that: each
/// element of an operand's stage is read by eight threads and brought by one, so that each barrier
/// matters. Stages are brought up to `at_a_time` - 1 steps ahead.
tensor::Program RandomProduct(base::RandomStream& random, int64_t at_a_time = 1) {
  constexpr int64_t kSize = 48, kThreads = 8;
  const auto one_of = [&](std::vector<int64_t> choices) {
    return choices[static_cast<size_t>(random.UniformInt(static_cast<int64_t>(choices.size())))];
  };
  tensor::Program program = tensor::Lower(tensor::MatmulWorkload(kSize, kSize, kSize));
  const tensor::BlockId block = program.FindBlock("matmul");
  const tensor::BlockId copy = *tensor::CacheWrite(program, block, tensor::StorageScope::kLocal);
  std::vector<tensor::BlockId> stages;
  for (tensor::BufferId operand : {0, 1}) {
    stages.push_back(*tensor::CacheRead(program, block, operand, tensor::StorageScope::kShared));
  }
  const auto loops = program.LoopsAround(tensor::NodeRef::Block(block));
  const auto tile = [&](tensor::LoopId loop) {
    return *tensor::Split(program, loop, std::vector<int64_t>{-1, kThreads, one_of({1, 2, 3, 6})});
  };
  const auto i = tile(loops[0]), j = tile(loops[1]);
  const auto k = *tensor::Split(program, loops[2], std::vector<int64_t>{-1, one_of({2, 4, 8, 24})});
  EXPECT_TRUE(
      tensor::Reorder(program, std::vector{i[0], j[0], i[1], j[1], k[0], k[1], i[2], j[2]}).ok());
  const auto bind = [&](tensor::LoopId a, tensor::LoopId b, tensor::LoopKind kind) {
    const tensor::LoopId both = *tensor::Fuse(program, std::vector{a, b});
    EXPECT_TRUE(tensor::Bind(program, both, kind).ok());
    return both;
  };
  bind(i[0], j[0], tensor::LoopKind::kBlockX);
  const tensor::LoopId threads = bind(i[1], j[1], tensor::LoopKind::kThreadX);
  EXPECT_TRUE(tensor::ReverseComputeAt(program, copy, threads).ok());
  for (tensor::BlockId stage : stages) {
    EXPECT_TRUE(tensor::ComputeAt(program, stage, k[0]).ok());
    const auto around = program.LoopsAround(tensor::NodeRef::Block(stage));
    const auto parts = *tensor::Split(
        program, *tensor::Fuse(program, std::vector(around.begin() + 3, around.end())),
        std::vector<int64_t>{-1, one_of({1, 2, 4})});
    EXPECT_TRUE(tensor::Vectorize(program, parts[1]).ok());
    EXPECT_TRUE(tensor::Bind(program, parts[0], tensor::LoopKind::kCooperative).ok());
    EXPECT_TRUE(tensor::Annotate(program, stage, tensor::kAsyncStages, at_a_time).ok());
  }
  return program;
}

TEST(GpuSchedules, PlantedFaultsAreFound) {
  const tensor::Workload workload = tensor::MatmulWorkload(48, 48, 48);
  const std::vector<tensor::HostTensor> inputs = RandomArguments(workload, 7);
  std::vector<tensor::HostTensor> expected = inputs;
  tensor::Interpret(tensor::Lower(workload), expected);
  int planted[FaultyMachine::kKinds] = {}, named[FaultyMachine::kKinds] = {};
  int wrong[FaultyMachine::kKinds] = {};
  base::RandomStream random(3);
  for (int i = 0; i < 60 * Effort(); ++i) {
    const auto kind = static_cast<FaultyMachine::Kind>(i % FaultyMachine::kKinds);
    // With asynchronous copies one barrier and one wait order all.
    const bool async = kind == FaultyMachine::kWait || random.UniformInt(2) == 0;
    const tensor::Program program = RandomProduct(random, async ? 2 + random.UniformInt(3) : 1);
    const bool one = async && kind != FaultyMachine::kIndex;
    FaultyMachine machine(kind, one ? 0 : static_cast<int>(random.UniformInt(2)));
    const auto stand_in = codegen::CompileForStandIn(program, Hopper(), machine);
    ASSERT_TRUE(stand_in) << stand_in.error().message;
    ASSERT_TRUE(machine.planted()) << tensor::Print(program);
    std::vector<tensor::HostTensor> actual = inputs;
    const Status done = RunOnStandIn(program, *stand_in, actual);
    ++planted[kind];
    named[kind] += !done;
    wrong[kind] += done && CountWrong(program, actual, expected) > 0;
    EXPECT_EQ(planted[kind], named[kind] + wrong[kind]) << tensor::Print(program);
  }
  for (int kind = 0; kind < FaultyMachine::kKinds; ++kind) {
    RecordProperty("planted" + std::to_string(kind), planted[kind]);
    RecordProperty("named" + std::to_string(kind), named[kind]);
    RecordProperty("wrong" + std::to_string(kind), wrong[kind]);
  }
  EXPECT_EQ(named[FaultyMachine::kBarrier], planted[FaultyMachine::kBarrier]);
  EXPECT_EQ(named[FaultyMachine::kWait], planted[FaultyMachine::kWait]);
}

}  // namespace
}  // namespace bayloom::testing
