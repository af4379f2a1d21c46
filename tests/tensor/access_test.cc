// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "bayloom/tensor/interpreter.h"
#include "tests/tensor/workloads.h"

namespace bayloom::tensor {
namespace {

using testing::FindWorkload;
using ::testing::HasSubstr;
using testing::OneInput;

/// Builds loop trees by hand, for shapes that take many primitives to reach.
class TreeBuilder {
 public:
  explicit TreeBuilder(const Workload& workload) : program_(Lower(workload)) {
    program_.loops.clear();
    program_.digit_extents.clear();
    program_.roots.clear();
  }

  NodeRef Loop(NodeRef parent, std::vector<int64_t> extents) {
    struct Loop loop;
    for (int64_t extent : extents) {
      loop.digits.push_back(static_cast<DigitId>(program_.digit_extents.size()));
      program_.digit_extents.push_back(extent);
    }
    loop.parent = parent;
    program_.loops.push_back(loop);
    const NodeRef node = NodeRef::Loop(static_cast<LoopId>(program_.loops.size()) - 1);
    program_.BodyOf(parent).push_back(node);
    return node;
  }

  void Place(NodeRef parent, BlockId block, std::vector<Affine> bindings) {
    program_.blocks[block].parent = parent;
    program_.blocks[block].bindings = std::move(bindings);
    program_.BodyOf(parent).push_back(NodeRef::Block(block));
  }

  Program& program() { return program_; }

 private:
  Program program_;
};

Affine Sum(std::vector<Affine::Term> terms, int64_t constant = 0) {
  Affine affine;
  affine.constant = constant;
  for (const Affine::Term& term : terms) affine.Add(term.digit, term.coefficient);
  return affine;
}

/// blur[i] = p[i] + p[i + 1] + p[i + 2], p[i] = relu(x[i]).
Workload Blur() {
  return OneInput({18}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor p = Map(b, "p", x, Relu);
    return b.Compute("blur", {16},
                     [&](const auto& i) { return p(i[0]) + p(i[0] + 1) + p(i[0] + 2); });
  });
}

TEST(AccessTest, ListsLoadsInOrderOnceAndThenTheStore) {
  const Workload workload = OneInput({8, 8}, [](WorkloadBuilder& b, Tensor x) {
    return b.Compute("y", {4, 8}, [&](const auto& i) {
      const Expr twice = x(i[0] * 2, i[1]);
      return Select(i[0] < 3, x(i[0] * 2 + 1, i[1]) + twice, twice) + twice +
             x(FloorDiv(i[0], 2), 0);
    });
  });
  const Program program = Lower(workload);
  const std::vector<Access> accesses = AccessesOf(program, 0);
  ASSERT_EQ(accesses.size(), 4U);
  EXPECT_EQ(accesses[0].indices[0], Sum({{0, 2}}, 1));
  EXPECT_TRUE(accesses[0].guarded);
  EXPECT_EQ(accesses[1].indices[0], Sum({{0, 2}}));
  EXPECT_FALSE(accesses[1].guarded);  // made outside of the select too
  EXPECT_EQ(accesses[2].indices[0], std::nullopt);
  EXPECT_EQ(accesses[2].indices[1], Affine());
  EXPECT_TRUE(accesses[3].is_write);
  EXPECT_EQ(accesses[3].indices[1], Sum({{1, 1}}));
}

TEST(AllocationTest, HoldsWhatOneIterationOfTheCommonLoopTouches) {
  TreeBuilder tree(Blur());
  const NodeRef outer = tree.Loop(NodeRef::Root(), {4});  // digit 0
  tree.Place(tree.Loop(outer, {6}), 0, {Sum({{0, 4}, {1, 1}})});
  tree.Place(tree.Loop(outer, {4}), 1, {Sum({{0, 4}, {2, 1}})});
  const Program& program = tree.program();
  ASSERT_TRUE(Validate(program)) << Validate(program).error().message;

  const BufferId p = program.blocks[0].output;
  const Allocation allocation = AllocationOf(program, p);
  EXPECT_EQ(allocation.scope, outer);
  EXPECT_EQ(allocation.shape, (std::vector<int64_t>{6}));
  EXPECT_EQ(allocation.origin[0], Sum({{0, 4}}));
  // Reads are at b, b + 1, b + 2 of the region, for all iterations of the outer loop.
  const std::vector<Access> reads = AccessesOf(program, 1);
  for (int64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(LinearOffset(program, reads[static_cast<size_t>(k)], &allocation), Sum({{2, 1}}, k));
  }
}

TEST(AllocationTest, AtTheRootAndWithALayoutIsNeverShrunk) {
  Program naive = Lower(Blur());
  EXPECT_EQ(AllocationOf(naive, naive.blocks[0].output).scope, NodeRef::Root());
  EXPECT_EQ(AllocationOf(naive, naive.blocks[0].output).shape, (std::vector<int64_t>{18}));

  TreeBuilder tree(Blur());
  const NodeRef outer = tree.Loop(NodeRef::Root(), {4});
  tree.Place(tree.Loop(outer, {6}), 0, {Sum({{0, 4}, {1, 1}})});
  tree.Place(tree.Loop(outer, {4}), 1, {Sum({{0, 4}, {2, 1}})});
  const BufferId p = tree.program().blocks[0].output;
  tree.program().buffers[p].layout = {{0, 9, 2}, {0, 1, 9}};
  const Allocation allocation = AllocationOf(tree.program(), p);
  EXPECT_EQ(allocation.scope, outer);
  EXPECT_EQ(allocation.shape, (std::vector<int64_t>{18}));
  EXPECT_EQ(allocation.origin[0], Affine());
}

TEST(AllocationTest, KeepsTheFullExtentWhereAccessesDisagree) {
  // Every tile of the consumer reads p from its beginning: p[i % 4] has no common origin.
  const Workload workload = OneInput({16}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor p = Map(b, "p", x, Relu);
    return b.Compute("y", {16}, [&](const auto& i) { return p(i[0]) + p(FloorMod(i[0], 4)); });
  });
  TreeBuilder tree(workload);
  const NodeRef outer = tree.Loop(NodeRef::Root(), {4});
  tree.Place(tree.Loop(outer, {16}), 0, {Sum({{1, 1}})});
  tree.Place(tree.Loop(outer, {4}), 1, {Sum({{0, 4}, {2, 1}})});
  const Allocation allocation = AllocationOf(tree.program(), tree.program().blocks[0].output);
  EXPECT_EQ(allocation.scope, outer);
  EXPECT_EQ(allocation.shape, (std::vector<int64_t>{16}));
  EXPECT_EQ(allocation.origin[0], Affine());
}

TEST(AllocationTest, GuardedReadsDoNotWidenTheRegionBeyondTheBuffer) {
  // y[i] = p[i - 2] inside of [0, 16), tiles of 8: the region of a tile is at most 8 + 2 wide,
  // and cannot reach below 0 in the first nor above 15 in the last.
  const Workload workload = OneInput({16}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor p = Map(b, "p", x, Relu);
    return b.Compute("y", {20}, [&](const auto& i) {
      return Select(Expr(2) <= i[0] && i[0] < 18, p(i[0] - 2), FloatLiteral(0));
    });
  });
  TreeBuilder whole(workload);
  const NodeRef once = whole.Loop(NodeRef::Root(), {1});
  whole.Place(whole.Loop(once, {16}), 0, {Sum({{1, 1}})});
  whole.Place(whole.Loop(once, {20}), 1, {Sum({{2, 1}})});
  const BufferId p = whole.program().blocks[0].output;
  EXPECT_EQ(AllocationOf(whole.program(), p).shape, (std::vector<int64_t>{16}));

  TreeBuilder tiled(workload);
  const NodeRef outer = tiled.Loop(NodeRef::Root(), {4});
  tiled.Place(tiled.Loop(outer, {4}), 0, {Sum({{0, 4}, {1, 1}})});
  tiled.Place(tiled.Loop(outer, {5}), 1, {Sum({{0, 5}, {2, 1}})});
  // The origins differ (4 and 5 per tile), so nothing is known.
  EXPECT_EQ(AllocationOf(tiled.program(), p).shape, (std::vector<int64_t>{16}));
}

TEST(AllocationTest, CoversTheInitializationOfADecomposedReduction) {
  TreeBuilder tree(OneInput({6, 4}, [](WorkloadBuilder& b, Tensor x) {
    const Tensor sum = ReduceAxes(b, "sum", x, {1}, Reduction::kSum, false);
    return Map(b, "y", sum, Relu);
  }));
  Program& program = tree.program();
  Block init = program.blocks[0];
  init.kind = BlockKind::kInit;
  init.iters.pop_back();
  init.value = Expr();
  program.blocks.push_back(init);
  program.blocks[0].kind = BlockKind::kUpdate;
  const NodeRef outer = tree.Loop(NodeRef::Root(), {3});
  tree.Place(tree.Loop(outer, {2}), 2, {Sum({{0, 2}, {1, 1}})});
  tree.Place(tree.Loop(tree.Loop(outer, {4}), {2}), 0, {Sum({{0, 2}, {3, 1}}), Sum({{2, 1}})});
  tree.Place(tree.Loop(outer, {2}), 1, {Sum({{0, 2}, {4, 1}})});
  ASSERT_TRUE(Validate(program)) << Validate(program).error().message;
  const Allocation allocation = AllocationOf(program, program.blocks[0].output);
  EXPECT_EQ(allocation.scope, outer);
  EXPECT_EQ(allocation.shape, (std::vector<int64_t>{2}));
  EXPECT_EQ(allocation.origin[0], Sum({{0, 2}}));
}

/// What LinearOffset says about a layout is where PackLayout puts the elements.
TEST(LinearOffsetTest, AgreesWithPackLayout) {
  TreeBuilder tree(
      OneInput({12, 10}, [](WorkloadBuilder& b, Tensor x) { return Map(b, "y", x, Relu); }));
  Program& program = tree.program();
  Buffer& x = program.buffers[0];
  x.dtype = DType::kInt32;
  x.layout = {{1, 5, 2}, {0, 4, 3}, {1, 1, 5}, {0, 1, 4}};
  // Rows 3 * 2 * 2, columns 2 * 5.
  const NodeRef loop = tree.Loop(NodeRef::Root(), {3, 2, 2, 2, 5});
  tree.Place(loop, 0, {Sum({{0, 4}, {1, 2}, {2, 1}}), Sum({{3, 5}, {4, 1}})});
  const std::optional<Affine> offset = LinearOffset(program, AccessesOf(program, 0)[0], nullptr);
  ASSERT_TRUE(offset);

  std::vector<int32_t> places(120), packed(120);
  std::iota(places.begin(), places.end(), 0);
  const auto bytes = PackLayout(x, reinterpret_cast<const std::byte*>(places.data()));
  std::memcpy(packed.data(), bytes.data(), bytes.size());
  for (int64_t i = 0; i < 120; ++i) {
    const std::array<int64_t, 5> digits = {i / 40, i / 20 % 2, i / 10 % 2, i / 5 % 2, i % 5};
    int64_t at = offset->constant;
    for (const Affine::Term& term : offset->terms) at += digits[term.digit] * term.coefficient;
    EXPECT_EQ(packed[at], i);
  }
}

TEST(LinearOffsetTest, RefusesWhatTheLayoutCuts) {
  TreeBuilder tree(
      OneInput({12}, [](WorkloadBuilder& b, Tensor x) { return Map(b, "y", x, Relu); }));
  Program& program = tree.program();
  tree.Place(tree.Loop(NodeRef::Root(), {3, 4}), 0, {Sum({{0, 4}, {1, 1}})});
  const Access load = AccessesOf(program, 0)[0];
  program.buffers[0].layout = {{0, 2, 6}, {0, 1, 2}};  // cuts the digit of extent 4
  EXPECT_FALSE(LinearOffset(program, load, nullptr));
  program.buffers[0].layout = {{0, 1, 4}, {0, 4, 3}};
  EXPECT_EQ(LinearOffset(program, load, nullptr), Sum({{0, 1}, {1, 3}}));
  Access shifted = load;
  shifted.indices[0]->constant = 1;  // carries from one axis into the next
  EXPECT_FALSE(LinearOffset(program, shifted, nullptr));
}

// --- CheckParallel -----------------------------------------------------------------------------

std::string WhyNotParallel(const Program& program, NodeRef loop) {
  const Status status = CheckParallel(program, loop.id);
  return status ? "" : status.error().message;
}

TEST(CheckParallelTest, SpatialLoopsYesReductionLoopsNo) {
  const Program program = Lower(FindWorkload("conv2d_bias_relu"));
  const BlockId conv = program.FindBlock("conv");
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(conv));
  for (size_t i = 0; i < loops.size(); ++i) {
    const std::string why = WhyNotParallel(program, NodeRef::Loop(loops[i]));
    if (i < 4) {
      EXPECT_EQ(why, "");
    } else {
      EXPECT_THAT(why, HasSubstr("conv reduces over"));
    }
  }
}

TEST(CheckParallelTest, PrivateIntermediatesMayBeComputedTwice) {
  TreeBuilder tree(Blur());
  const NodeRef outer = tree.Loop(NodeRef::Root(), {4});
  tree.Place(tree.Loop(outer, {6}), 0, {Sum({{0, 4}, {1, 1}})});
  tree.Place(tree.Loop(outer, {4}), 1, {Sum({{0, 4}, {2, 1}})});
  EXPECT_EQ(WhyNotParallel(tree.program(), outer), "");
  // As an output of its own it is shared by the iterations, which overlap by two.
  tree.program().buffers[tree.program().blocks[0].output].role = BufferRole::kOutput;
  EXPECT_THAT(WhyNotParallel(tree.program(), outer), HasSubstr("write the same elements of p"));
}

TEST(CheckParallelTest, ReadersOfSharedBuffersStayInTheirIteration) {
  for (const int64_t shift : {0, 1}) {
    const Workload workload = OneInput({16}, [&](WorkloadBuilder& b, Tensor x) {
      const Tensor p = Map(b, "p", x, Relu);
      return b.Compute("y", {16}, [&](const auto& i) {
        return Select(i[0] < 15, p(i[0] + shift), FloatLiteral(0));
      });
    });
    TreeBuilder tree(workload);
    tree.program().buffers[tree.program().blocks[0].output].role = BufferRole::kOutput;
    const NodeRef outer = tree.Loop(NodeRef::Root(), {4});
    tree.Place(tree.Loop(outer, {4}), 0, {Sum({{0, 4}, {1, 1}})});
    tree.Place(tree.Loop(outer, {4}), 1, {Sum({{0, 4}, {2, 1}})});
    const std::string why = WhyNotParallel(tree.program(), outer);
    if (shift == 0) {
      EXPECT_EQ(why, "");
    } else {
      EXPECT_THAT(why, HasSubstr("y touches"));
    }
  }
}

/// Places that each iteration of the first digit writes, by enumeration.
bool WritesAreDisjoint(const Program& program, const std::vector<Affine>& index) {
  const std::vector<int64_t>& extents = program.digit_extents;
  std::map<std::vector<int64_t>, int64_t> owner;
  std::vector<int64_t> digits(extents.size());
  for (;;) {
    std::vector<int64_t> place;
    for (const Affine& affine : index) {
      place.push_back(affine.constant);
      for (const Affine::Term& term : affine.terms) {
        place.back() += digits[term.digit] * term.coefficient;
      }
    }
    const auto [found, added] = owner.emplace(place, digits[0]);
    if (!added && found->second != digits[0]) return false;
    size_t d = digits.size();
    while (d > 0 && ++digits[d - 1] == extents[d - 1]) digits[--d] = 0;
    if (d == 0) return true;
  }
}

TEST(CheckParallelTest, AcceptsOnlyDisjointWrites) {
  base::RandomStream random(5);
  int accepted = 0, disjoint = 0;
  for (int round = 0; round < 3000; ++round) {
    TreeBuilder tree(
        OneInput({64, 64}, [](WorkloadBuilder& b, Tensor x) { return Map(b, "y", x, Relu); }));
    const NodeRef outer = tree.Loop(NodeRef::Root(), {1 + random.UniformInt(4)});
    const NodeRef inner = tree.Loop(outer, {1 + random.UniformInt(4), 1 + random.UniformInt(3)});
    std::vector<Affine> bindings(2);
    for (Affine& binding : bindings) {
      for (DigitId digit = 0; digit < 3; ++digit) binding.Add(digit, random.UniformInt(7));
    }
    tree.Place(inner, 0, bindings);
    const bool is_disjoint = WritesAreDisjoint(tree.program(), bindings);
    const bool is_accepted = WhyNotParallel(tree.program(), outer).empty();
    EXPECT_TRUE(is_disjoint || !is_accepted) << Print(tree.program());
    accepted += is_accepted;
    disjoint += is_disjoint;
  }
  // Accepting is not merely rare.
  EXPECT_GT(accepted, disjoint / 2);
}

}  // namespace
}  // namespace bayloom::tensor
