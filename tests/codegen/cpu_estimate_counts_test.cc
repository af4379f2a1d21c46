// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <regex>

#include "bayloom/codegen/compile.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/feature/operation_list.h"
#include "bayloom/plan/cpu/sum_blocks.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/named_target.h"
#include "bayloom/tensor/operators.h"
#include "tests/codegen/random_cpu_program.h"
#include "tests/codegen/random_tiles.h"
#include "tests/effort.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

using tensor::DType;

target::Target LevelWith(std::string_view level, std::string_view more = "") {
  target::Target target = *target::LevelTarget(level, 1);
  target.features.append(more);
  return target;
}

int64_t CountMatches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {});
}

/// What a program's code has, in each of its copies where loops around it are unrolled.
struct Counts {
  int64_t sums = 0;   ///< registers that loops hand on to their next step, times such loops
  int64_t adds = 0;   ///< instructions that add products to sums
  int64_t loads = 0;  ///< of values
  int64_t stores = 0;
  bool operator==(const Counts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.sums << " sums, " << counts.adds << " adds, " << counts.loads << " loads, "
             << counts.stores << " stores";
}

Counts CountsOfCode(const std::string& ir) {
  constexpr const char* kType = "(float|i8|i32|<[0-9]+ x (float|i8|i32)>)";
  const auto with_type = [&](std::string pattern) {
    return pattern.replace(pattern.find('T'), 1, kType);
  };
  Counts counts;
  counts.sums = CountMatches(ir, "= phi (float|i32|<[0-9]+ x (float|i32)>) ");
  counts.adds = CountMatches(ir, "= call .*@llvm\\.(fmuladd|x86\\.avx512\\.vpdp)");
  counts.loads = CountMatches(ir, with_type("= load T,").c_str()) +
                 CountMatches(ir, "= call .*@llvm\\.masked\\.load");
  counts.stores = CountMatches(ir, with_type("\n  store T ").c_str()) +
                  CountMatches(ir, "call .*@llvm\\.masked\\.store");
  return counts;
}

Counts CountsOfEstimate(const tensor::Program& program, const plan::CpuPlan& plan,
                        tensor::BlockId id, const target::Target& target) {
  const feature::CpuNest nest = feature::CpuNestOf(program, plan, id);
  const feature::Costs costs(target::MachineOf(target));
  feature::OperationList list(program, program.blocks[id], plan.accesses.at(id), nest, costs);
  int64_t levels = 0;
  for (const tensor::LoopId loop : nest.reduction) {
    levels += !plan.unrolled.contains(loop) && !(nest.dot && nest.dot->loop == loop);
  }
  Counts counts;
  counts.sums = levels * nest.Sums();
  counts.adds = counts.stores = nest.Sums();
  if (!nest.tile->starts_neutral) counts.loads = nest.Sums();
  for (const feature::Operation& operation : list.Take(plan::WorkOf(plan, id))) {
    if (operation.is_load) counts.loads += nest.ValuesOf(operation.mask);
  }
  return counts;
}

/// Iterations of the loops around a block that are copies of one another in its code.
int64_t CopiesOf(const tensor::Program& program, const plan::CpuPlan& plan, tensor::BlockId block) {
  int64_t copies = 1;
  for (const tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
    if (plan.unrolled.contains(loop)) copies *= program.ExtentOf(loop);
  }
  return copies;
}

/// Sums of products of bytes, groups of four of which lie one after the other.
tensor::Workload ProductOfBytes() {
  tensor::WorkloadBuilder b("product");
  const tensor::Tensor x = b.Input("x", {24, 64}, DType::kUInt8);
  const tensor::Tensor w = b.Constant("w", {16, 48, 4}, DType::kInt8);
  const auto wide = [](const tensor::Expr& e) { return tensor::Cast(DType::kInt32, e); };
  return b.Build({b.Reduce(
      "sum", {24, 48}, {{"k", 16}, {"d", 4}}, tensor::Reduction::kSum,
      [&](auto s, auto r) { return wide(x(s[0], r[0] * 4 + r[1])) * wide(w(r[0], s[1], r[1])); })});
}

tensor::Workload DepthwiseWindows() {
  tensor::WorkloadBuilder b("depthwise");
  const tensor::Tensor x = b.Input("x", {1, 14, 14, 32});
  return b.Build({tensor::DepthwiseConv2d(b, "conv", x, b.Constant("w", {3, 3, 32}), {})});
}

class CpuEstimateCounts : public ::testing::Test {
 protected:
  /// A program of one block.
  void Check(const tensor::Program& program, const target::Target& target) {
    SCOPED_TRACE(tensor::Print(program));
    const auto plan = plan::PlanCpuNests(program, target);
    ASSERT_TRUE(plan) << plan.error().message;
    const tensor::BlockId block = program.BlocksInOrder().front();
    if (plan->tiles.empty()) return;
    const plan::AccumulatorTile& tile = plan->tiles.begin()->second;
    if (plan::PlanSumBlocks(program, *plan, tile)) return;  // has sums of sums
    const Counts expected = CountsOfEstimate(program, *plan, block, target);
    const Counts seen = CountsOfCode(*codegen::EmitLlvmIr(program, target, "kernel"));
    if (CopiesOf(program, *plan, block) > 1) {
      EXPECT_EQ(expected.adds * CopiesOf(program, *plan, block), seen.adds);
      ++unrolled_;
      return;
    }
    EXPECT_EQ(expected, seen);
    ++compared_;
    cut_ += !tile.cuts.empty();
    dots_ += plan->dots.contains(block);
  }

  int compared_ = 0, unrolled_ = 0, cut_ = 0, dots_ = 0;
};

/// Random tiles of products and convolutions: registers of sums, instructions that add to them,
/// loads and stores are those of the code.
TEST_F(CpuEstimateCounts, OfTilesAreThoseOfTheCode) {
  for (const tensor::Workload& workload : {tensor::MatmulWorkload(24, 48, 20), DepthwiseWindows(),
                                           tensor::BatchMatmulWorkload(3, 12, 40, 16)}) {
    for (uint64_t seed = 0; seed < 20 * static_cast<uint64_t>(Effort()); ++seed) {
      tensor::Program program = tensor::Lower(workload);
      base::RandomStream random(seed);
      TileAtRandom(program, program.BlocksInOrder().front(), random);
      if (seed % 4 == 0) UnrollAndParallelizeAtRandom(program, random);
      for (const char* level : {"x86-64-v3", "x86-64-v4"}) Check(program, LevelWith(level));
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(compared_, 20);
  EXPECT_GT(unrolled_, 0);
  EXPECT_GT(cut_, 0);
}

TEST_F(CpuEstimateCounts, OfDotProductsAreThoseOfTheCode) {
  for (uint64_t seed = 0; seed < 20 * static_cast<uint64_t>(Effort()); ++seed) {
    tensor::Program program = tensor::Lower(ProductOfBytes());
    base::RandomStream random(seed);
    TileAtRandom(program, program.BlocksInOrder().front(), random, 4);
    const target::Target target = LevelWith("x86-64-v4", ",+avx512vnni");
    if (plan::PlanCpuNests(program, target)->dots.empty()) continue;
    Check(program, target);
    if (HasFailure()) return;
  }
  EXPECT_GT(dots_, 0);
}

/// Sums along memory of random numbers of rows at a time: each has registers that take turns.
TEST_F(CpuEstimateCounts, OfFoldsAreThoseOfTheCode) {
  for (const int64_t rows : {1, 2, 3, 4, 6, 8, 12}) {
    for (const int64_t columns : {24, 100, 480}) {
      tensor::Program program = tensor::Lower(
          OneInput({rows, columns}, [&](tensor::WorkloadBuilder& b, const tensor::Tensor& x) {
            return b.Reduce("max", {rows}, {{"r", columns}}, tensor::Reduction::kMax,
                            [&](auto s, auto r) { return x(s[0], r[0]); });
          }));
      const target::Target target = LevelWith("x86-64-v4");
      const auto plan = plan::PlanCpuNests(program, target);
      ASSERT_TRUE(plan);
      const tensor::BlockId block = program.BlocksInOrder().front();
      const feature::CpuNest nest = feature::CpuNestOf(program, *plan, block);
      EXPECT_TRUE(nest.folds);
      const std::string ir = *codegen::EmitLlvmIr(program, target, "kernel");
      EXPECT_EQ(CountMatches(ir, "= phi <16 x float>"),
                nest.chunks > plan::kMaxChunks ? nest.Sums() : 0)
          << ir;
    }
  }
}

/// What is estimated is what is emitted, and neither is where the other is not.
TEST(CpuEstimate, ReadsThePlanOfTheCode) {
  const target::Target target = LevelWith("x86-64-v4");
  int in_registers = 0, folds = 0, epilogues = 0;
  const auto check = [&](const tensor::Program& program) {
    SCOPED_TRACE(tensor::Print(program));
    const auto emitted = plan::MakeCpuPlan(program, target);
    ASSERT_EQ(emitted.ok(), std::isfinite(feature::EstimateCodeTime(program, target)));
    if (!emitted) return;
    for (const auto& [root, tile] : emitted->tiles) {
      const feature::CpuNest nest = feature::CpuNestOf(program, *emitted, tile.block);
      EXPECT_EQ(nest.folds, emitted->folds.contains(tile.block));
      if (!emitted->tile_products.contains(tile.block)) {
        EXPECT_LE(nest.Sums(), target::VectorRegisters(target));
      }
      ++in_registers;
      folds += nest.folds;
      epilogues += emitted->epilogues.contains(tile.block);
    }
  };
  for (const NamedWorkload& named : Catalogue()) {
    SCOPED_TRACE(named.name);
    for (uint64_t seed = 0; seed < 3; ++seed) check(RandomCpuProgram(named.workload, seed));
    const sketch::SpaceGenerator space(named.workload, target);
    for (int i = 0; i < static_cast<int>(space.spaces().size()); ++i) {
      if (const auto candidate = space.Sample(i, base::RandomStream(1))) check(candidate->program);
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(in_registers, 0);
  EXPECT_GT(folds, 0);
  EXPECT_GT(epilogues, 0);
}

}  // namespace
}  // namespace bayloom::testing
