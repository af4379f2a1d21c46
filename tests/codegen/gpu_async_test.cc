// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/assemble.h"
#include "bayloom/codegen/gpu/fiber_block.h"
#include "bayloom/codegen/gpu/ptx.h"
#include "bayloom/tensor/async_copy.h"
#include "tests/codegen/gpu_run.h"
#include "tests/count_of.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using codegen::FiberBlock;
using codegen::RaceChecker;
using codegen::StandInCalls;
using tensor::LoopKind;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint32_t kTo = 0, kFrom = 1;

/// One block of threads that run `kernel` on eight floats in shared memory, the first buffer, and
/// sixteen in global memory, the second.
std::optional<std::string> RunThreads(codegen::StandInKernel kernel, int threads = 2) {
  alignas(16) static float global[16], shared[8];
  for (int i = 0; i < 16; ++i) global[i] = static_cast<float>(i);
  void* const pointers[] = {global};
  FiberBlock block(threads, {});
  RaceChecker checker({{"x.shared", reinterpret_cast<std::byte*>(shared), 32, 4, true},
                       {"x", reinterpret_cast<std::byte*>(global), 64, 4, false}});
  return block.Run(kernel, pointers, shared, 0, checker);
}

void Copy(StandInCalls* calls, void* to, const void* from, uint32_t valid = 16) {
  calls->copy(calls, kTo, to, kFrom, from, 16, valid);
}

TEST(AsyncCopies, AreReadAfterWaitAndBarrier) {
  const auto fault = RunThreads(
      [](void* const* pointers, void* shared, StandInCalls* calls, uint32_t thread, uint32_t) {
        auto* to = static_cast<float*>(shared);
        const auto* from = static_cast<const float*>(pointers[0]);
        Copy(calls, to + 4 * thread, from + 4 * thread, thread == 0 ? 16 : 0);
        calls->commit(calls);
        Copy(calls, to + 4 * thread, from, 0);  // into the same place, but never waited for
        calls->wait(calls, 0);
        calls->barrier(calls);
        if (thread == 0) calls->access(calls, kTo, to + 4, 4, 0);
      });
  // The second copy was not committed, so the wait does not include it.
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("thread 0 of block 0 writes what thread 0 is copying"));
}

TEST(AsyncCopies, FillWithZerosWhatDoesNotExist) {
  static float seen[2];
  const auto fault = RunThreads(
      [](void* const* pointers, void* shared, StandInCalls* calls, uint32_t thread, uint32_t) {
        auto* to = static_cast<float*>(shared);
        const auto* from = static_cast<const float*>(pointers[0]);
        Copy(calls, to + 4 * thread, from + 4, thread == 0 ? 16 : 0);
        calls->commit(calls);
        calls->wait(calls, 0);
        calls->barrier(calls);
        calls->access(calls, kTo, to + 4 * (1 - thread), 4, 0);
        seen[1 - thread] = to[4 * (1 - thread)];
      });
  ASSERT_FALSE(fault) << *fault;
  EXPECT_EQ(seen[0], 4);
  EXPECT_EQ(seen[1], 0);
}

TEST(AsyncCopies, AreNotReadBeforeTheyAreWaitedFor) {
  const auto fault = RunThreads(
      [](void* const* pointers, void* shared, StandInCalls* calls, uint32_t thread, uint32_t) {
        auto* to = static_cast<float*>(shared);
        for (const uint32_t group : {0U, 1U}) {
          if (thread == 0) Copy(calls, to + 4 * group, pointers[0]);
          calls->commit(calls);
        }
        calls->wait(calls, 1);  // only for the first group
        calls->barrier(calls);
        calls->access(calls, kTo, to, 4, 0);
        calls->access(calls, kTo, to + 5, 4, 0);
        calls->wait(calls, 0);
      });
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("element 5 of x.shared (byte 20): thread 0 of block 0 reads what "
                                "thread 0 is copying, after 1 barriers"));
}

TEST(AsyncCopies, AreOfOneThreadUntilABarrier) {
  const auto fault = RunThreads(
      [](void* const* pointers, void* shared, StandInCalls* calls, uint32_t thread, uint32_t) {
        auto* to = static_cast<float*>(shared);
        if (thread == 0) Copy(calls, to, pointers[0]);
        calls->commit(calls);
        calls->wait(calls, 0);
        calls->access(calls, kTo, to, 4, 0);
      });
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("thread 1 of block 0 reads what is written by thread 0"));
}

TEST(AsyncCopies, AreWaitedForAndAligned) {
  auto fault = RunThreads(
      [](void* const* pointers, void* shared, StandInCalls* calls, uint32_t, uint32_t) {
        Copy(calls, shared, pointers[0]);
        calls->commit(calls);
      },
      1);
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("ends without having waited"));
  fault = RunThreads([](void* const* pointers, void* shared, StandInCalls* calls, uint32_t,
                        uint32_t) { Copy(calls, static_cast<float*>(shared) + 1, pointers[0]); },
                     1);
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("not aligned"));
}

class PipelineTest : public PrimitiveTest {
 protected:
  /// Products in blocks of 8 x 8 threads whose operands are brought `stages` - 1 steps ahead,
  /// `width` elements at a time.
  void Tile(const tensor::Workload& workload, int64_t steps, int64_t stages, int64_t width) {
    Start(workload);
    std::vector<tensor::BlockId> copies;
    for (const tensor::BufferId buffer : {0, 1}) {
      copies.push_back(Must(tensor::CacheRead(program_, BlockNamed("matmul"), buffer,
                                              tensor::StorageScope::kShared)));
    }
    TileAround(copies, steps, stages, width);
  }

  /// The same of a program that has its blocks to bring operands already.
  void TileAround(const std::vector<tensor::BlockId>& copies, int64_t steps, int64_t stages,
                  int64_t width) {
    const tensor::BlockId block = BlockNamed("matmul");
    const tensor::BlockId copy =
        Must(tensor::CacheWrite(program_, block, tensor::StorageScope::kLocal));
    const std::vector<tensor::LoopId> loops = LoopsOf("matmul");
    const std::vector<tensor::LoopId> i = MustSplit(loops[0], {-1, 8});
    const std::vector<tensor::LoopId> j = MustSplit(loops[1], {-1, 8});
    const std::vector<tensor::LoopId> k = MustSplit(loops[2], {-1, steps});
    Must(tensor::Reorder(program_, std::vector{i[0], j[0], i[1], j[1], k[0], k[1]}));
    Must(tensor::Bind(program_, Must(tensor::Fuse(program_, std::vector{i[0], j[0]})),
                      LoopKind::kBlockX));
    const tensor::LoopId threads = Must(tensor::Fuse(program_, std::vector{i[1], j[1]}));
    Must(tensor::Bind(program_, threads, LoopKind::kThreadX));
    Must(tensor::ReverseComputeAt(program_, copy, threads));
    for (tensor::BlockId stage : copies) {
      Must(tensor::ComputeAt(program_, stage, k[0]));
      std::vector<tensor::LoopId> own = program_.LoopsAround(tensor::NodeRef::Block(stage));
      own.erase(own.begin(), own.begin() + 3);
      tensor::LoopId distributed = own.size() == 1 ? own[0] : Must(tensor::Fuse(program_, own));
      if (width > 1) {
        const std::vector<tensor::LoopId> parts = MustSplit(distributed, {-1, width});
        Must(tensor::Vectorize(program_, parts[1]));
        distributed = parts[0];
      }
      Must(tensor::Bind(program_, distributed, LoopKind::kCooperative));
      Must(tensor::Annotate(program_, stage, tensor::kAsyncStages, stages));
    }
    Must(tensor::DecomposeReduction(program_, block, k[0]));
  }

  codegen::StandInCounts RunRight() {
    const auto stand_in = codegen::StandIn::Compile(program_, Hopper());
    EXPECT_TRUE(stand_in) << stand_in.error().message << tensor::Print(program_);
    std::vector<tensor::HostTensor> actual = RandomArguments(workload_, 11), expected = actual;
    tensor::Interpret(tensor::Lower(workload_), expected);
    codegen::StandInCounts seen;
    const Status done = RunOnStandIn(program_, *stand_in, actual, {}, &seen);
    EXPECT_TRUE(done) << done.error().message << tensor::Print(program_);
    EXPECT_EQ(CountWrong(program_, actual, expected), 0) << tensor::Print(program_);
    return seen;
  }
};

TEST_F(PipelineTest, HasOneBarrierAStepAndARingOfStages) {
  Tile(tensor::MatmulWorkload(16, 16, 64), 8, 3, 4);
  const auto compiled = codegen::CompileToPtx(program_, Hopper(), "f");
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(compiled->launches[0].shared_bytes, 3 * 2 * 8 * 8 * 4);
  const std::string& ptx = compiled->ptx;
  EXPECT_EQ(CountOf(ptx, "bar.sync"), 1);
  EXPECT_EQ(CountOf(ptx, "cp.async.cg.shared.global"), 2 * 3);  // two in front of the loop
  EXPECT_EQ(CountOf(ptx, "cp.async.commit_group"), 3);
  EXPECT_EQ(CountOf(ptx, "cp.async.wait_group 1"), 1);
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
  const codegen::StandInCounts seen = RunRight();
  EXPECT_EQ(seen.barriers, 4 * 8);  // in each of four blocks one a step
  EXPECT_EQ(seen.copies, 4 * 8 * 2 * 16);
}

/// As many stages as steps, more, and odd extents of all kinds.
TEST_F(PipelineTest, IsRightForAnyNumberOfStepsAndStages) {
  for (const int64_t k : {1, 2, 3, 5, 7}) {
    for (const int64_t stages : {2, 3, 4}) {
      Tile(tensor::MatmulWorkload(8, 16, 3 * k), 3, stages, 1);
      RunRight();
    }
  }
}

TEST_F(PipelineTest, CopiesAsManyBytesAsAreAligned) {
  const auto product = [](tensor::DType dtype, int64_t k) {
    tensor::WorkloadBuilder b("product");
    const tensor::Tensor x = b.Input("x", {16, k}, dtype), w = b.Constant("w", {k, 16}, dtype);
    return b.Build({tensor::Matmul(b, "matmul", x, w, {.accumulator = tensor::DType::kFloat32})});
  };
  // Rows of 36 bytes are aligned to 4.
  Tile(product(tensor::DType::kFloat32, 9), 3, 2, 1);
  EXPECT_GT(RunRight().copies, 0);
  Tile(product(tensor::DType::kFloat16, 48), 16, 2, 8);
  EXPECT_THAT(codegen::CompileToPtx(program_, Hopper(), "f")->ptx, HasSubstr("cp.async.cg"));
  EXPECT_GT(RunRight().copies, 0);
  Tile(product(tensor::DType::kFloat16, 36), 12, 2, 4);
  EXPECT_THAT(codegen::CompileToPtx(program_, Hopper(), "f")->ptx,
              HasSubstr("cp.async.ca.shared.global"));
  EXPECT_GT(RunRight().copies, 0);
  // There is no copy of two bytes.
  Tile(product(tensor::DType::kFloat16, 36), 12, 2, 1);
  EXPECT_EQ(RunRight().copies, 0);
}

/// What a mask in shared memory lets through cannot be copied before the mask is there.
TEST_F(PipelineTest, DoesNotCopyAheadOfAMaskOfTheSameKernel) {
  tensor::WorkloadBuilder b("masked");
  const tensor::Tensor x = b.Input("x", {8, 32}), a = b.Input("a", {32});
  const tensor::Tensor w = b.Constant("w", {32, 8});
  const tensor::Tensor mask = tensor::Map(b, "mask", a, [](tensor::Expr e) { return e * 2; });
  const tensor::Tensor masked = b.Compute("masked", {8, 32}, [&](const auto& i) {
    return tensor::Select(mask(i[1]) < 0, x(i[0], i[1]),
                          tensor::Literal(0, tensor::DType::kFloat32));
  });
  Start(b.Build({tensor::Matmul(b, "matmul", masked, w)}));
  for (const char* const name : {"mask", "masked"}) {
    Must(tensor::SetScope(program_, BufferNamed(name), tensor::StorageScope::kShared));
  }
  const tensor::BlockId weights = Must(tensor::CacheRead(
      program_, BlockNamed("matmul"), BufferNamed("w"), tensor::StorageScope::kShared));
  TileAround({weights, BlockNamed("masked"), BlockNamed("mask")}, 8, 3, 1);
  EXPECT_EQ(RunRight().copies, 32 * 8);  // those of the weights
}

TEST_F(PipelineTest, IsTakenByTheAssembler) {
  if (!codegen::HasAssembler()) GTEST_SKIP() << "there is no ptxas in PATH";
  Tile(tensor::MatmulWorkload(16, 16, 64), 8, 3, 4);
  for (const char* architecture : {"sm_80", "sm_90"}) {
    const auto compiled =
        codegen::CompileToPtx(program_, *target::FindGpuLimits(architecture), "f");
    ASSERT_TRUE(compiled) << compiled.error().message;
    const auto assembled = codegen::Assemble(compiled->ptx, architecture);
    ASSERT_TRUE(assembled) << assembled.error().message;
    EXPECT_EQ(assembled->kernels.at(0).spill_bytes, 0);
  }
}

TEST_F(PipelineTest, StagesAreInTheHashOfAProgram) {
  Tile(tensor::MatmulWorkload(16, 16, 64), 8, 1, 4);
  const uint64_t one = program_.StructuralHash();
  Tile(tensor::MatmulWorkload(16, 16, 64), 8, 2, 4);
  EXPECT_NE(program_.StructuralHash(), one);
}

}  // namespace
}  // namespace bayloom::testing
