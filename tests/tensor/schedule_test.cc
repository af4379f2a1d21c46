// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/schedule.h"

#include <set>

#include "tests/tensor/primitive_test.h"

namespace bayloom::testing {
namespace {

using ::testing::HasSubstr;

template <typename T>
T Must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

std::vector<int64_t> ExtentsAround(const tensor::Schedule& s, const std::string& block) {
  std::vector<int64_t> extents;
  const tensor::Program& program = s.program();
  for (tensor::LoopId loop :
       program.LoopsAround(tensor::NodeRef::Block(program.FindBlock(block)))) {
    extents.push_back(program.ExtentOf(loop));
  }
  return extents;
}

/// A tiled matmul with an epilogue: every kind of variable is in its trace.
tensor::Schedule TiledMatmul(uint64_t seed, const tensor::Decision* first_tile = nullptr) {
  tensor::Schedule s(FindWorkload("matmul_bias"), seed);
  const tensor::BlockVar matmul = Must(s.GetBlock("matmul"));
  const tensor::BlockVar epilogue = Must(s.GetConsumers(matmul)).at(0);
  const std::vector<tensor::LoopVar> loops = Must(s.GetLoops(matmul));
  const std::vector<tensor::ValueVar> tile_i =
      Must(s.SamplePerfectTile(loops[0], 2, 64, first_tile));
  const std::vector<tensor::ValueVar> tile_j = Must(s.SamplePerfectTile(loops[1], 2, 64));
  const std::vector<tensor::LoopVar> i = Must(s.Split(loops[0], tile_i));
  const std::vector<tensor::LoopVar> j = Must(s.Split(loops[1], tile_j));
  Must(s.Reorder({i[0], j[0], loops[2], i[1], j[1]}));
  Must(s.ReverseComputeAt(epilogue, j[0]));
  const tensor::ValueVar steps = Must(s.SampleCategorical({0, 16, 64}, {0.5, 0.25, 0.25}));
  Must(s.Annotate(matmul, "unroll", steps));
  return s;
}

TEST(ScheduleTest, RecordsWhatItDoes) {
  const tensor::Decision tile{{3, 4}};
  const tensor::Schedule s = TiledMatmul(1, &tile);
  EXPECT_EQ(ExtentsAround(s, "matmul")[0], 3);
  EXPECT_EQ(s.trace().instructions().size(), 11u);
  EXPECT_EQ(s.trace().SamplingSteps(), (std::vector<int>{3, 4, 9}));
  EXPECT_EQ(*s.trace().decisions()[3], tile);
  EXPECT_FALSE(s.trace().decisions()[0]);
  EXPECT_THAT(s.trace().Print(), HasSubstr("b0 = get_block(\"matmul\")\n"));
  EXPECT_THAT(s.trace().Print(), HasSubstr("v5, v6 = sample_perfect_tile(l2, 2, 64)  # 3 x 4\n"));
}

TEST(ScheduleTest, SameSeedSameChoices) {
  EXPECT_EQ(TiledMatmul(4).program().StructuralHash(), TiledMatmul(4).program().StructuralHash());
  EXPECT_EQ(TiledMatmul(4).trace().decisions(), TiledMatmul(4).trace().decisions());
  std::set<uint64_t> programs;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    programs.insert(TiledMatmul(seed).program().StructuralHash());
  }
  EXPECT_GT(programs.size(), 10u);
}

TEST(ScheduleTest, ARefusedStepLeavesNoTrace) {
  tensor::Schedule s(FindWorkload("matmul_bias"), 1);
  const tensor::BlockVar matmul = Must(s.GetBlock("matmul"));
  const std::vector<tensor::LoopVar> loops = Must(s.GetLoops(matmul));
  const tensor::Trace before = s.trace();
  EXPECT_FALSE(s.Parallelize(loops[2]));
  EXPECT_FALSE(s.Split(loops[0], std::vector<int64_t>{5, 5}));
  EXPECT_FALSE(s.GetBlock("nothing"));
  EXPECT_FALSE(s.ComputeInline(matmul));
  EXPECT_FALSE(s.CacheRead(matmul, 2, tensor::StorageScope::kLocal));  // it reads two buffers
  EXPECT_FALSE(s.Fuse({loops[0], tensor::LoopVar{99}}));
  EXPECT_FALSE(s.Reorder({tensor::LoopVar{matmul.id}}));  // a block
  EXPECT_FALSE(s.SampleCategorical({1, 2}, {1.0}));
  EXPECT_FALSE(s.SamplePerfectTile(loops[0], 0, 64));
  EXPECT_EQ(s.trace().Print(), before.Print());
  EXPECT_EQ(s.trace().variable_count(), before.variable_count());
}

TEST(ScheduleTest, VariablesOfReplacedLoopsAreRefused) {
  tensor::Schedule s(FindWorkload("matmul_bias"), 1);
  const std::vector<tensor::LoopVar> loops = Must(s.GetLoops(Must(s.GetBlock("matmul"))));
  Must(s.Split(loops[0], std::vector<int64_t>{3, 4}));
  const Status again = s.Parallelize(loops[0]);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("was replaced by an earlier step"));
}

TEST(ScheduleTest, EveryStepCanBeReplayed) {
  tensor::Schedule s(FindWorkload("conv2d_residual"), 1);
  const tensor::BlockVar conv = Must(s.GetBlock("conv"));
  Must(s.ReverseComputeInline(Must(s.GetBlock("relu"))));
  Must(s.ComputeInline(Must(s.GetBlock("add_bias"))));
  const tensor::BlockVar residual = Must(s.GetBlock("add_residual"));
  const tensor::BlockVar cached = Must(s.CacheRead(conv, 1, tensor::StorageScope::kGlobal));
  const tensor::BlockVar copy = Must(s.CacheWrite(conv, tensor::StorageScope::kLocal));
  Must(s.SetScope(cached, tensor::StorageScope::kLocal));
  const std::vector<tensor::LoopVar> loops = Must(s.GetLoops(conv));
  const std::vector<tensor::LoopVar> co = Must(s.Split(loops[3], std::vector<int64_t>{2, -1}));
  Must(s.Reorder({co[0], loops[4], loops[5], loops[6], co[1]}));
  const tensor::LoopVar fused = Must(s.Fuse({loops[0], loops[1]}));
  Must(s.ReverseComputeAt(copy, loops[2]));
  Must(s.ReverseComputeAt(residual, loops[2]));
  Must(s.ComputeAt(Must(s.GetBlock("conv_pad")), loops[2]));
  Must(s.RewriteLayout(conv, 1));
  Must(s.Parallelize(fused));
  Must(s.Vectorize(co[1]));
  Must(s.AnnotateUnroll(co[0], Must(s.SampleCategorical({4, 16}, {1, 1}))));
  Must(s.Annotate(conv, "tiled", 1));
  Must(s.DecomposeReduction(conv, loops[4]));
  Must(s.Unroll(loops[4]));
  Must(s.Bind(loops[2], tensor::LoopKind::kBlockX));

  const tensor::Workload workload = FindWorkload("conv2d_residual");
  const tensor::Schedule replayed =
      Must(tensor::Replay(workload, s.trace(), base::RandomStream(9)));
  EXPECT_EQ(tensor::Print(replayed.program()), tensor::Print(s.program()));
  EXPECT_EQ(replayed.program().StructuralHash(), s.program().StructuralHash());
  EXPECT_EQ(replayed.trace().Print(), s.trace().Print());
  EXPECT_EQ(replayed.trace().decisions(), s.trace().decisions());
}

TEST(ScheduleTest, RFactorIsAStep) {
  tensor::Schedule s(FindWorkload("row_sum"), 1);
  const tensor::BlockVar sum = Must(s.GetBlock("sum"));
  const std::vector<tensor::LoopVar> loops = Must(s.GetLoops(sum));
  const std::vector<tensor::LoopVar> r =
      Must(s.Split(loops[1], Must(s.SamplePerfectTile(loops[1], 2, 64))));
  const tensor::BlockVar partial = Must(s.RFactor(sum, r[0]));
  EXPECT_EQ(s.program().blocks[s.Get(partial)].name, "sum_rf");
  const tensor::Schedule replayed =
      Must(tensor::Replay(FindWorkload("row_sum"), s.trace(), base::RandomStream(0)));
  EXPECT_EQ(replayed.program().StructuralHash(), s.program().StructuralHash());
}

TEST(ScheduleTest, UndecidedStepsAreDrawnOnReplay) {
  const tensor::Workload workload = FindWorkload("matmul_bias");
  const tensor::Trace space = TiledMatmul(1).trace().WithoutDecisions();
  std::set<uint64_t> programs;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const tensor::Schedule s = Must(tensor::Replay(workload, space, base::RandomStream(seed)));
    for (int step : space.SamplingSteps()) EXPECT_TRUE(s.trace().decisions()[step]);
    EXPECT_EQ(s.trace().SpaceHash(), space.SpaceHash());
    programs.insert(s.program().StructuralHash());
  }
  EXPECT_GT(programs.size(), 10u);
}

TEST(ScheduleTest, ReplayRepairsDecisions) {
  const tensor::Workload workload = FindWorkload("matmul_bias");
  const tensor::Trace trace = TiledMatmul(1).trace();
  tensor::Schedule s =
      Must(tensor::Replay(workload, trace.WithDecision(3, {{7, 6}}), base::RandomStream(0)));
  EXPECT_EQ(s.trace().decisions()[3]->values, (std::vector<int64_t>{2, 6}));
  s = Must(tensor::Replay(workload, trace.WithDecision(3, {{2, 5}}), base::RandomStream(0)));
  EXPECT_EQ(s.trace().decisions()[3]->values, (std::vector<int64_t>{1, 12}));
  s = Must(tensor::Replay(workload, trace.WithDecision(9, {{77}}), base::RandomStream(0)));
  EXPECT_EQ(s.trace().decisions()[9]->values, (std::vector<int64_t>{2}));
}

TEST(ScheduleTest, ReplayOnAnotherWorkloadIsRefused) {
  const Result<tensor::Schedule> other =
      tensor::Replay(FindWorkload("softmax"), TiledMatmul(1).trace(), base::RandomStream(0));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("there is no block matmul"));
  // The batched product has one loop more.
  tensor::WorkloadBuilder b("other");
  const tensor::Tensor x = b.Input("x", {2, 4, 8}), w = b.Input("w", {2, 8, 4});
  const tensor::Tensor y = tensor::Matmul(b, "matmul", x, w);
  const tensor::Workload batched = b.Build({tensor::Map(b, "add_bias", y, tensor::Relu)});
  const Result<tensor::Schedule> longer =
      tensor::Replay(batched, TiledMatmul(1).trace(), base::RandomStream(0));
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message, HasSubstr("gave 4 results where the trace has 3"));
}

TEST(ScheduleTest, ComputeLocationsCoverInlineRootAndLoops) {
  const tensor::Workload workload = FindWorkload("conv2d_pad");
  std::set<int64_t> choices;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    tensor::Schedule s(workload, seed);
    const tensor::BlockVar pad = Must(s.GetBlock("conv_pad"));
    const tensor::LoopVar place = Must(s.SampleComputeLocation(pad));
    Must(s.ComputeAt(pad, place));
    const int64_t choice = s.trace().decisions()[1]->values[0];
    choices.insert(choice);
    EXPECT_EQ(s.program().FindBlock("conv_pad") < 0, choice == -2);
    EXPECT_EQ(s.program().roots.size(), choice == -1 ? 2u : 1u);
  }
  EXPECT_EQ(choices, (std::set<int64_t>{-2, -1, 1, 2, 3}));  // loop 0 has extent 1
}

TEST(ScheduleTest, IllegalComputeLocationsMoveOutwards) {
  const auto decided = [](const std::string& workload, const std::string& block, int64_t choice) {
    tensor::Schedule s(FindWorkload(workload), 0);
    const tensor::Decision decision{{choice}};
    Must(s.SampleComputeLocation(Must(s.GetBlock(block)), &decision));
    return s.trace().decisions()[1]->values[0];
  };
  EXPECT_EQ(decided("conv2d_pad", "conv_pad", 6), 3);  // reduction loops are left out
  EXPECT_EQ(decided("conv2d_pad", "conv_pad", 2), 2);
  EXPECT_EQ(decided("conv2d_pad", "conv_pad", 0), -1);  // extent 1: root
  EXPECT_EQ(decided("conv2d_pad", "conv_pad", 1000), 3);
  EXPECT_EQ(decided("conv2d_pad", "conv_pad", -1000), -2);
  EXPECT_EQ(decided("two_outputs", "exp", -2), -1);  // an output cannot be inlined
}

TEST(ScheduleTest, ApplyRunsAnyInstruction) {
  tensor::Schedule s(FindWorkload("matmul_bias"), 1);
  EXPECT_TRUE(s.Apply({tensor::InstructionKind::kGetBlock, {}, {}, {}, "matmul", {}}, nullptr));
  EXPECT_TRUE(s.Apply({tensor::InstructionKind::kGetLoops, {0}, {}, {}, "", {}}, nullptr));
  const tensor::Decision tile{{3, 4}};
  EXPECT_TRUE(
      s.Apply({tensor::InstructionKind::kSamplePerfectTile, {1}, {2, 64}, {}, "", {}}, &tile));
  EXPECT_EQ(s.Get(tensor::ValueVar{5}), 4);
  EXPECT_FALSE(s.Apply({tensor::InstructionKind::kSplit, {1, 9}, {}, {}, "", {}}, nullptr));
  EXPECT_FALSE(s.Apply({tensor::InstructionKind::kGetBlock, {}, {}, {}, "matmul", {}}, &tile));
}

}  // namespace
}  // namespace bayloom::testing
