// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/gpu_estimate.h"
#include "bayloom/feature/warp_work.h"
#include "tests/codegen/gpu_schedules.h"
#include "tests/codegen/warp_products.h"

namespace bayloom::testing {
namespace {

/// What the estimate takes to be done, as the stand-in counts it.
struct Expected {
  int64_t threads = 0;   ///< of all blocks
  int64_t products = 0;  ///< of matrices
  bool copies_ahead = false;
};

/// Instructions of a nest's warps, or groups of warps, of one block of threads.
int64_t ProductsOf(const tensor::Program& program, const plan::GpuPlan& plan,
                   const feature::GpuBlockNest& nest) {
  const auto product = feature::WarpWorkOf(program, plan, nest);
  if (!product) return 0;
  int64_t count = nest.active_threads /
                  (product->by_groups ? target::WgmmaInstruction::kThreads : target::kWarpThreads);
  for (const tensor::LoopId loop : nest.serial) {
    if (!product->Covers(loop)) count *= program.ExtentOf(loop);
  }
  return count;
}

Expected ExpectedOf(const tensor::Program& program, const plan::GpuPlan& plan) {
  Expected all;
  for (const plan::KernelPlan& kernel : plan.kernels) {
    all.threads += kernel.blocks * kernel.threads;
    for (const feature::GpuBlockNest& nest : feature::NestsOf(program, plan, kernel)) {
      all.products += kernel.blocks * ProductsOf(program, plan, nest);
      all.copies_ahead |= nest.stages > 1;
      EXPECT_LE(nest.active_threads, kernel.threads);
    }
  }
  return all;
}

class GpuEstimateCounts : public ::testing::Test {
 protected:
  /// Kernels, blocks, threads and bytes are those that are launched; threads, products and copies
  /// those that the stand-in sees.
  void Check(const tensor::Workload& workload, const tensor::Program& program) {
    SCOPED_TRACE(tensor::Print(program));
    const auto stand_in = codegen::StandIn::Compile(program, HopperAlone());
    const auto plan = plan::PlanGpuKernels(program, HopperAlone());
    if (!stand_in) return;
    ++compiled_;
    ASSERT_TRUE(plan) << plan.error().message;
    const auto estimates = feature::EstimateGpuKernels(program, *target::TypicalGpu(90));
    const std::vector<codegen::GpuLaunch> launches = stand_in->launches();
    ASSERT_EQ(estimates.size(), launches.size());
    for (size_t i = 0; i < launches.size(); ++i) {
      EXPECT_EQ(estimates[i].blocks, launches[i].blocks);
      EXPECT_EQ(estimates[i].threads, launches[i].threads);
      EXPECT_EQ(estimates[i].shared_bytes, launches[i].shared_bytes);
      in_shared_ += launches[i].shared_bytes > 0;
    }
    std::vector<tensor::HostTensor> arguments = RandomArguments(workload, 7);
    codegen::StandInCounts seen;
    const Status done = RunOnStandIn(program, *stand_in, arguments, {}, &seen);
    ASSERT_TRUE(done) << done.error().message;
    const Expected expected = ExpectedOf(program, *plan);
    EXPECT_EQ(expected.threads, seen.threads);
    EXPECT_EQ(expected.products, seen.products);
    EXPECT_EQ(expected.copies_ahead, seen.copies > 0);
    with_products_ += seen.products > 0;
    ahead_ += seen.copies > 0;
  }

  int compiled_ = 0, in_shared_ = 0, with_products_ = 0, ahead_ = 0;
};

TEST_F(GpuEstimateCounts, OfRandomSchedulesAreThoseOfTheCodeThatRuns) {
  for (const NamedWorkload& named : Catalogue()) {
    SCOPED_TRACE(named.name);
    tensor::Program program = tensor::Lower(named.workload);
    GpuScheduler(program, base::RandomStream(300)).Run();
    Check(named.workload, program);
    if (HasFailure()) return;
  }
  EXPECT_GT(compiled_, 0);
  EXPECT_GT(in_shared_, 0);
}

/// Products by threads, warps and groups of warps, split sums, and rows in one kernel.
TEST_F(GpuEstimateCounts, OfDesignSpacesAreThoseOfTheCodeThatRuns) {
  for (const tensor::Workload& workload :
       {Product({64, 128, 64}), Product({64, 64, 128, DType::kFloat32}), Convolution(6, 16, 16, 3),
        FindWorkload("softmax")}) {
    const sketch::GpuSpaces spaces(workload, HopperAlone());
    for (int space = 0; space < static_cast<int>(spaces.spaces().size()); ++space) {
      for (uint64_t seed = 0; seed < static_cast<uint64_t>(Effort()); ++seed) {
        const auto candidate = spaces.Sample(space, base::RandomStream(seed));
        if (candidate) Check(workload, candidate->program);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(with_products_, 0);
  EXPECT_GT(ahead_, 0);
}

/// A program of rows whose elements are distributed as marked.
tensor::Program Rows(tensor::LoopKind kind) {
  tensor::WorkloadBuilder b("rows");
  const tensor::Tensor x = b.Input("x", {64, 2048});
  tensor::Program program =
      tensor::Lower(b.Build({tensor::Map(b, "y", x, [](const tensor::Expr& e) { return e + e; })}));
  const auto loops = program.LoopsAround(tensor::NodeRef::Block(program.FindBlock("y")));
  EXPECT_TRUE(tensor::Bind(program, loops[1], kind));
  return program;
}

/// Kernels that no GPU has the room for are estimated, too; programs that none can run are not.
TEST(GpuEstimates, AreThereForWhatIsTooLargeAndNotForWhatCannotRun) {
  const target::GpuMachine gpu = *target::TypicalGpu(90);
  const tensor::Program large = Rows(tensor::LoopKind::kThreadX);
  ASSERT_FALSE(plan::MakeGpuPlan(large, Hopper()));
  EXPECT_TRUE(std::isfinite(feature::EstimateGpuTime(large, gpu)));
  const tensor::Program inside_out = Rows(tensor::LoopKind::kBlockX);
  ASSERT_FALSE(plan::MakeGpuPlan(inside_out, Hopper()));
  EXPECT_TRUE(std::isinf(feature::EstimateGpuTime(inside_out, gpu)));
}

}  // namespace
}  // namespace bayloom::testing
