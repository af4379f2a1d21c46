// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/assemble.h"
#include "bayloom/codegen/gpu/fiber_block.h"
#include "bayloom/codegen/gpu/ptx.h"
#include "tests/codegen/gpu_run.h"
#include "tests/count_of.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using tensor::LoopKind;
using tensor::StorageScope;
using ::testing::HasSubstr;
using ::testing::Not;

class GpuTest : public PrimitiveTest {
 protected:
  /// y = a * b in blocks of `size` x `size` elements by 8 x 8 threads, operands staged in shared
  /// memory in steps of 8.
  void TileMatmul(int64_t n, int64_t size) {
    Start(tensor::MatmulWorkload(n, n, n));
    const tensor::BlockId block = BlockNamed("matmul");
    const tensor::BlockId copy = Must(tensor::CacheWrite(program_, block, StorageScope::kLocal));
    std::vector<tensor::BlockId> stages;
    for (const char* name : {"a", "w"}) {
      stages.push_back(
          Must(tensor::CacheRead(program_, block, BufferNamed(name), StorageScope::kShared)));
    }
    const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
    const std::vector<tensor::LoopId> i = MustSplit(loops[0], {-1, 8, size / 8});
    const std::vector<tensor::LoopId> j = MustSplit(loops[1], {-1, 8, size / 8});
    const std::vector<tensor::LoopId> k = MustSplit(loops[2], {-1, 8});
    Must(tensor::Reorder(program_, std::vector{i[0], j[0], i[1], j[1], k[0], k[1], i[2], j[2]}));
    const tensor::LoopId blocks = Must(tensor::Fuse(program_, std::vector{i[0], j[0]}));
    threads_ = Must(tensor::Fuse(program_, std::vector{i[1], j[1]}));
    Must(tensor::Bind(program_, blocks, LoopKind::kBlockX));
    Must(tensor::Bind(program_, threads_, LoopKind::kThreadX));
    Must(tensor::ReverseComputeAt(program_, copy, threads_));
    for (tensor::BlockId stage : stages) {
      Must(tensor::ComputeAt(program_, stage, k[0]));
      std::vector<tensor::LoopId> own = program_.LoopsAround(tensor::NodeRef::Block(stage));
      own.erase(own.begin(), own.begin() + 3);
      const tensor::LoopId all = Must(tensor::Fuse(program_, own));
      const std::vector<tensor::LoopId> parts = MustSplit(all, {-1, 4});
      Must(tensor::Vectorize(program_, parts[1]));
      Must(tensor::Bind(program_, parts[0], LoopKind::kCooperative));
    }
    Must(tensor::DecomposeReduction(program_, block, k[0]));
  }

  void ExpectRight(codegen::StandInOptions options = {}) {
    ExpectSameResult();
    const auto stand_in = codegen::StandIn::Compile(program_, Hopper());
    ASSERT_TRUE(stand_in) << stand_in.error().message << tensor::Print(program_);
    std::vector<tensor::HostTensor> actual = RandomArguments(workload_, 11), expected = actual;
    tensor::Interpret(tensor::Lower(workload_), expected);
    const Status done = RunOnStandIn(program_, *stand_in, actual, options);
    ASSERT_TRUE(done) << done.error().message << tensor::Print(program_);
    EXPECT_EQ(CountWrong(program_, actual, expected), 0) << tensor::Print(program_);
  }

  void ExpectNotForGpus(const std::string& why) {
    const auto compiled = codegen::CompileToPtx(program_, Hopper(), "f");
    ASSERT_FALSE(compiled) << tensor::Print(program_);
    EXPECT_THAT(compiled.error().message, HasSubstr(why));
    EXPECT_FALSE(codegen::StandIn::Compile(program_, Hopper()));
  }

  std::string Ptx() {
    auto compiled = codegen::CompileToPtx(program_, Hopper(), "f");
    EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message);
    return compiled ? compiled->ptx : "";
  }

  tensor::LoopId threads_ = -1;
};

TEST_F(GpuTest, TilesOfAProductAreInRegistersAndSharedMemory) {
  TileMatmul(64, 32);
  const auto compiled = codegen::CompileToPtx(program_, Hopper(), "f");
  ASSERT_TRUE(compiled) << compiled.error().message;
  ASSERT_EQ(compiled->launches.size(), 1U);
  EXPECT_EQ(compiled->launches[0].symbol, "f_0");
  EXPECT_EQ(compiled->launches[0].blocks, 4);
  EXPECT_EQ(compiled->launches[0].threads, 64);
  EXPECT_EQ(compiled->launches[0].shared_bytes, 2 * 32 * 8 * 4);
  EXPECT_EQ(compiled->workspace_bytes, 0);
  const std::string& ptx = compiled->ptx;
  EXPECT_THAT(ptx, HasSubstr(".target sm_90"));
  EXPECT_THAT(ptx, HasSubstr(".maxntid 64"));
  EXPECT_EQ(CountOf(ptx, "bar.sync"), 2);  // before the copies, and before they are read
  EXPECT_EQ(CountOf(ptx, "fma.rn.f32"), 16);
  EXPECT_EQ(CountOf(ptx, "st.shared"), 2);
  EXPECT_THAT(ptx, HasSubstr("st.shared.v4"));
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
}

TEST_F(GpuTest, ProductsAreRightInAnyOrderOfThreads) {
  using Order = codegen::StandInOptions::Order;
  for (const Order order : {Order::kForward, Order::kBackward, Order::kRandom}) {
    TileMatmul(32, 16);
    ExpectRight({order, 5});
  }
}

TEST_F(GpuTest, GridsEndWhereTheElementsEnd) {
  Start(TwoStages({7, 31}));
  for (const char* name : {"y", "z"}) {
    const tensor::LoopId all = Must(tensor::Fuse(program_, LoopsOf(name)));
    Must(tensor::Bind(program_, all, LoopKind::kGridThread, 64));
  }
  const auto compiled = codegen::CompileToPtx(program_, Hopper(), "f");
  ASSERT_TRUE(compiled);
  ASSERT_EQ(compiled->launches.size(), 2U);
  EXPECT_EQ(compiled->launches[1].blocks, 4);
  EXPECT_EQ(compiled->launches[1].threads, 64);
  EXPECT_GE(compiled->workspace_bytes, 7 * 31 * 4);
  ExpectRight();
}

/// Fewer threads than iterations, more, in part of a warp, a warp, several warps.
TEST_F(GpuTest, ThreadsShareReductions) {
  for (const int64_t threads : {1, 2, 8, 32, 64, 96, 256, 1024}) {
    Start(OneInput({5, 301}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
      return tensor::ReduceAxes(b, "sum", x, {1}, tensor::Reduction::kSum, false);
    }));
    const std::vector<tensor::LoopId> loops = LoopsOf("sum");
    Must(tensor::Bind(program_, loops[0], LoopKind::kBlockX));
    Must(tensor::Bind(program_, loops[1], LoopKind::kThreadReduce, threads));
    ExpectRight();
  }
}

TEST_F(GpuTest, RowsOfABlockShareReductionsByGroups) {
  for (const tensor::DType dtype : {tensor::DType::kFloat64, tensor::DType::kInt32}) {
    Start(OneInput(
        {12, 50},
        [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
          return tensor::ReduceAxes(b, "max", x, {1}, tensor::Reduction::kMax, false);
        },
        dtype));
    const std::vector<tensor::LoopId> rows = MustSplit(LoopOf("max", 0), {4, 3});
    Must(tensor::Bind(program_, rows[0], LoopKind::kBlockX));
    Must(tensor::Bind(program_, rows[1], LoopKind::kThreadY));
    Must(tensor::Bind(program_, LoopOf("max", 2), LoopKind::kThreadReduce, 8));
    ExpectRight();
  }
}

/// What is written in one phase of a block is read in the next by other threads.
TEST_F(GpuTest, PhasesOfABlockWaitForEachOther) {
  Start(OneInput({4, 40}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    return tensor::Softmax(b, "softmax", x);
  }));
  const tensor::LoopId row = LoopOf("softmax", 0);
  Must(tensor::Bind(program_, row, LoopKind::kBlockX));
  for (const char* name : {"softmax_sum", "softmax_exp", "softmax_max"}) {
    Must(tensor::ComputeAt(program_, BlockNamed(name), row));
    Must(tensor::SetScope(program_, At(name).output, StorageScope::kShared));
    const bool reduces = At(name).kind == tensor::BlockKind::kReduce;
    Must(tensor::Bind(program_, LoopsOf(name).back(),
                      reduces ? LoopKind::kThreadReduce : LoopKind::kCooperative, 64));
  }
  Must(tensor::Bind(program_, LoopOf("softmax", 1), LoopKind::kCooperative, 32));
  EXPECT_GE(CountOf(Ptx(), "bar.sync"), 2);
  ExpectRight({codegen::StandInOptions::Order::kBackward, 1});
}

TEST_F(GpuTest, ProgramsWithoutMarksRunOnOneThread) {
  Start(tensor::MatmulWorkload(5, 6, 7));
  const auto compiled = codegen::CompileToPtx(program_, Hopper(), "f");
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->launches[0].blocks * compiled->launches[0].threads, 1);
  ExpectRight();
}

TEST_F(GpuTest, RefusesWhatTheGpuHasNot) {
  Start(OneInput({2000}, [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    return tensor::Map(b, "y", x,
                       [](tensor::Expr e) { return tensor::Unary(tensor::ExprOp::kSin, e); });
  }));
  ExpectNotForGpus("there is no device code for the C library's 'sinf'");
  Must(tensor::Bind(program_, LoopOf("y", 0), LoopKind::kThreadX));
  ExpectNotForGpus("a block would have 2000 threads, the limit is 1024");
  TileMatmul(1024, 1024);
  ExpectNotForGpus("matmul.local would need 65536 bytes of each thread's memory");
}

TEST_F(GpuTest, RefusesWhatThreadsCannotShare) {
  Start(TwoStages({8, 16}));
  Must(tensor::ComputeAt(program_, BlockNamed("y"), LoopOf("z", 0)));
  Must(tensor::Bind(program_, LoopOf("z", 0), LoopKind::kBlockX));
  Must(tensor::Bind(program_, LoopOf("z", 1), LoopKind::kThreadX));
  ExpectNotForGpus("y is used by several threads of a block: give it shared scope");
  Must(tensor::SetScope(program_, BufferNamed("y"), StorageScope::kShared));
  ExpectRight();  // by the first thread
  Start(TwoStages({8, 16}));
  Must(tensor::SetScope(program_, BufferNamed("y"), StorageScope::kShared));
  ExpectNotForGpus("y is in shared memory, but used by several kernels");
  Must(tensor::Bind(program_, LoopOf("z", 1), LoopKind::kBlockX));
  ExpectNotForGpus("loops over blocks have to be the outermost of their nest");
}

TEST_F(GpuTest, RefusesSharedMemoryThatEachThreadWouldFill) {
  TileMatmul(32, 16);
  for (tensor::Loop& loop : program_.loops) {
    if (loop.kind == LoopKind::kCooperative) loop.kind = LoopKind::kSerial;
  }
  ExpectNotForGpus("each thread would fill");
}

TEST_F(GpuTest, TheAssemblerTakesTilesWithoutSpills) {
  if (!codegen::HasAssembler()) GTEST_SKIP() << "there is no ptxas in PATH";
  TileMatmul(64, 64);
  const auto assembled = codegen::Assemble(Ptx(), "sm_90");
  ASSERT_TRUE(assembled) << assembled.error().message;
  EXPECT_FALSE(assembled->cubin.empty());
  ASSERT_EQ(assembled->kernels.size(), 1U);
  EXPECT_EQ(assembled->kernels[0].symbol, "f_0");
  EXPECT_GE(assembled->kernels[0].registers, 64);  // the tile's accumulators
  EXPECT_EQ(assembled->kernels[0].spill_bytes, 0);
  const auto refused = codegen::Assemble("nonsense", "sm_90");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("ptxas"));
}

// --- The stand-in's threads ----------------------------------------------------------------------

using codegen::StandInCalls;

/// Runs a kernel in one block of 32 threads with one int per thread in shared memory.
std::optional<std::string> RunBlock(codegen::StandInKernel kernel, int* ints, int threads = 32) {
  codegen::FiberBlock block(threads, {});
  codegen::RaceChecker checker(
      {{"ints", reinterpret_cast<const std::byte*>(ints), threads * 4, 4, true}});
  return block.Run(kernel, nullptr, ints, 0, checker);
}

TEST(FiberBlock, ShufflesExchangeValuesInAWarp) {
  int ints[32] = {};
  const auto fault = RunBlock(
      [](void* const*, void* shared, StandInCalls* calls, uint32_t thread, uint32_t) {
        const uint32_t got = calls->shuffle(calls, 10 * thread, 4);
        static_cast<int*>(shared)[thread] = static_cast<int>(got);
      },
      ints);
  EXPECT_FALSE(fault);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(ints[i], 10 * (i ^ 4));
}

TEST(FiberBlock, NamesThreadsThatDoNotCome) {
  int ints[64] = {};
  const auto barrier = RunBlock(
      [](void* const*, void*, StandInCalls* calls, uint32_t thread, uint32_t) {
        calls->barrier(calls);
        if (thread != 9) calls->barrier(calls);
      },
      ints);
  ASSERT_TRUE(barrier);
  EXPECT_THAT(*barrier, HasSubstr("thread 0 waits after 1 barriers, thread 9 has ended"));
  const auto shuffle = RunBlock(
      [](void* const*, void*, StandInCalls* calls, uint32_t thread, uint32_t) {
        if (thread != 40) calls->shuffle(calls, 0, 1);
      },
      ints, 64);
  ASSERT_TRUE(shuffle);
  EXPECT_THAT(*shuffle, HasSubstr("thread 40 does not take part"));
}

TEST(FiberBlock, StopsAtTheFirstRace) {
  int ints[32] = {};
  const auto race = RunBlock(
      [](void* const*, void* shared, StandInCalls* calls, uint32_t thread, uint32_t) {
        int* mine = static_cast<int*>(shared) + thread;
        calls->access(calls, 0, mine, 4, 1);
        *mine = 7;
        calls->access(calls, 0, static_cast<int*>(shared) + 3, 4, 0);
      },
      ints);
  ASSERT_TRUE(race);
  EXPECT_THAT(*race, HasSubstr("element 3 of ints"));
  EXPECT_EQ(ints[31], 0);
}

}  // namespace
}  // namespace bayloom::testing
