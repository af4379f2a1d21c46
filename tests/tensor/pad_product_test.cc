// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/schedule.h"
#include "tests/tensor/random_schedule.h"
#include "tests/tensor/workloads.h"

namespace bayloom::tensor {
namespace {

using ::testing::HasSubstr;

/// A product with bias, of extents 5, 7 and 6.
Workload ProductWithBias() {
  WorkloadBuilder b("product");
  const Tensor x = b.Input("x", {5, 6}), w = b.Constant("w", {6, 7}), bias = b.Constant("b", {7});
  const Tensor y = Matmul(b, "product", x, w);
  return b.Build({b.Compute("out", {5, 7}, [&](const std::vector<Expr>& at) {
    return Max(y(at[0], at[1]) + bias(at[1]), FloatLiteral(0));
  })});
}

void ExpectSame(const Workload& workload, const Program& program) {
  const Status sound = Validate(program);
  ASSERT_TRUE(sound) << sound.error().message << Print(program);
  std::vector<HostTensor> actual = testing::RandomArguments(workload, 3), expected = actual;
  Interpret(Lower(workload), expected);
  InterpretStrictly(program, actual);
  for (size_t p = 0; p < actual.size(); ++p) {
    for (int64_t i = 0; i < actual[p].ElementCount(); ++i) {
      ASSERT_NEAR(actual[p].Get(i), expected[p].Get(i), 1e-5) << Print(program);
    }
  }
}

std::string Refusal(Program& program, const std::string& block, std::vector<int64_t> extents) {
  const uint64_t before = program.StructuralHash();
  const auto made = PadProduct(program, program.FindBlock(block), extents);
  EXPECT_TRUE(made || program.StructuralHash() == before);
  return made ? "" : made.error().message;
}

TEST(PadProduct, ReadsZerosBehindItsOperands) {
  const Workload workload = ProductWithBias();
  Program program = Lower(workload);
  const BlockId product = program.FindBlock("product");
  const auto made = PadProduct(program, product, std::vector<int64_t>{8, 8, 16});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->size(), 2u);
  EXPECT_EQ(program.buffers[program.blocks[(*made)[0]].output].shape,
            (std::vector<int64_t>{8, 16}));
  EXPECT_EQ(program.buffers[program.blocks[product].output].shape, (std::vector<int64_t>{8, 8}));
  ExpectSame(workload, program);
}

TEST(PadProduct, LeavesOperandsThatAreLargeEnough) {
  const Workload workload = ProductWithBias();
  Program program = Lower(workload);
  const auto made =
      PadProduct(program, program.FindBlock("product"), std::vector<int64_t>{8, 7, 6});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->size(), 1u);  // the constant is as it was
  ExpectSame(workload, program);
}

/// What reads a part of the result runs over all of a tile and is guarded.
TEST(PadProduct, ItsReadersAreGuardedInItsTiles) {
  const Workload workload = ProductWithBias();
  Program program = Lower(workload);
  const BlockId product = program.FindBlock("product"), out = program.FindBlock("out");
  ASSERT_TRUE(PadProduct(program, product, std::vector<int64_t>{8, 8, 6}));
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(product));
  const auto rows = *Split(program, loops[0], std::vector<int64_t>{4, 2});
  const auto columns = *Split(program, loops[1], std::vector<int64_t>{2, 4});
  ASSERT_TRUE(Reorder(program, std::vector{rows[0], columns[0], rows[1], columns[1], loops[2]}));
  const uint64_t before = program.StructuralHash();
  ASSERT_TRUE(ReverseComputeAt(program, out, columns[0]));
  EXPECT_NE(program.StructuralHash(), before);
  EXPECT_TRUE(program.blocks[out].guarded);
  EXPECT_THAT(Print(program), HasSubstr("where the iterators are within their extents"));
  ExpectSame(workload, program);
  // A guarded block stays what it is under loops that are split, fused and reordered.
  std::vector<LoopId> own = program.LoopsAround(NodeRef::Block(out));
  const auto split = *Split(program, own[3], std::vector<int64_t>{2, 2});
  ASSERT_TRUE(Fuse(program, std::vector{own[2], split[0]}));
  ExpectSame(workload, program);
  const Status vectorized = Vectorize(program, split[1]);
  ASSERT_FALSE(vectorized);
  EXPECT_THAT(vectorized.error().message, HasSubstr("out is guarded"));
  // Where it is moved again it is not, unless that is needed.
  own = program.LoopsAround(NodeRef::Block(out));
  ASSERT_TRUE(CheckParallel(program, own[0]));
}

/// A guard that is left out is found, as are values that are never written.
TEST(PadProduct, ValidateKnowsGuards) {
  const Workload workload = ProductWithBias();
  Program program = Lower(workload);
  const BlockId product = program.FindBlock("product"), out = program.FindBlock("out");
  ASSERT_TRUE(PadProduct(program, product, std::vector<int64_t>{8, 8, 6}));
  ASSERT_TRUE(ReverseComputeAt(program, out, program.LoopsAround(NodeRef::Block(product))[0]));
  ASSERT_TRUE(program.blocks[out].guarded);
  ASSERT_TRUE(Validate(program));
  program.blocks[out].guarded = false;
  EXPECT_FALSE(Validate(program));
  program.blocks[out].guarded = true;
  program.blocks[product].guarded = true;
  EXPECT_FALSE(Validate(program));
}

TEST(PadProduct, RefusesWhatItIsNotFor) {
  Program program = Lower(ProductWithBias());
  EXPECT_THAT(Refusal(program, "out", {8, 8}), HasSubstr("no sum of products"));
  EXPECT_THAT(Refusal(program, "product", {8, 8}), HasSubstr("it has 3 iterators"));
  EXPECT_THAT(Refusal(program, "product", {4, 8, 8}), HasSubstr("it has 5 iterations"));
  ASSERT_TRUE(Split(program, program.LoopsAround(NodeRef::Block(program.FindBlock("product")))[0],
                    std::vector<int64_t>{1, 5}));
  EXPECT_THAT(Refusal(program, "product", {8, 8, 8}), HasSubstr("its loops have been changed"));
  program = Lower(MatmulWorkload(5, 7, 6));
  EXPECT_THAT(Refusal(program, program.blocks[0].name, {8, 8, 8}), HasSubstr("writes the output"));
}

/// The kernel's columns are no dimension of the image: what is behind a row there is the next.
TEST(PadProduct, RefusesReductionsThatMoveThroughADimension) {
  const Workload workload = Conv2dWorkload(testing::ConvShape(6, 3, 4, 3));
  Program program = Lower(workload);
  const BlockId conv = program.BlocksInOrder().back();
  ASSERT_TRUE(CacheWrite(program, conv, StorageScope::kLocal));
  std::vector<int64_t> extents;
  for (const Iter& iter : program.blocks[conv].iters) extents.push_back(iter.extent);
  std::vector<int64_t> columns = extents, rows = extents;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (program.blocks[conv].iters[i].name == "kw") columns[i] = 4;
  }
  ASSERT_NE(columns, extents);
  const std::string name = program.blocks[conv].name;
  EXPECT_THAT(Refusal(program, name, columns), HasSubstr("is no dimension of"));
  rows[1] = 8;
  EXPECT_EQ(Refusal(program, name, rows), "");
  ExpectSame(workload, program);
}

/// Random primitives applied to a padded product and to guarded readers.
TEST(PadProduct, IsRightUnderAnySchedule) {
  int guarded = 0;
  base::RandomStream random(5);
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const Workload workload = ProductWithBias();
    Program program = Lower(workload);
    const BlockId product = program.FindBlock("product"), out = program.FindBlock("out");
    const auto beyond = [&](int64_t extent) { return extent + random.UniformInt(4); };
    const std::vector<int64_t> extents = {beyond(5), beyond(7), beyond(6)};
    ASSERT_TRUE(PadProduct(program, product, extents));
    const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(product));
    if (random.UniformInt(2) == 0) {
      ASSERT_TRUE(ReverseComputeAt(program, out, loops[random.UniformInt(2)]));
    }
    testing::RandomScheduler scheduler(program, seed);
    for (int step = 0; step < 25; ++step) scheduler.Step();
    SCOPED_TRACE(scheduler.history());
    ExpectSame(workload, program);
    if (HasFatalFailure()) return;
    for (const Block& block : program.blocks) guarded += block.alive && block.guarded;
  }
  EXPECT_GT(guarded, 30);
}

TEST(PadProduct, IsAStepOfATraceLikeOthers) {
  const Workload workload = ProductWithBias();
  Schedule schedule(workload, 1);
  const BlockVar product = *schedule.GetBlock("product"), out = *schedule.GetBlock("out");
  ASSERT_TRUE(schedule.PadProduct(product, {8, 8, 8}));
  const std::vector<LoopVar> loops = *schedule.GetLoops(product);
  ASSERT_TRUE(schedule.ReverseComputeAt(out, loops[1]));
  ExpectSame(workload, schedule.program());
  const Result<Trace> read =
      Trace::FromJson(nlohmann::json::parse(schedule.trace().ToJson().dump()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->SpaceHash(), schedule.trace().SpaceHash());
  const Result<Schedule> again = Replay(workload, *read, base::RandomStream(2));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->program().StructuralHash(), schedule.program().StructuralHash());
}

}  // namespace
}  // namespace bayloom::tensor
