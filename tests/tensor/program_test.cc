// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/program.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/tensor/workloads.h"

namespace bayloom::tensor {
namespace {

using testing::Catalogue;
using testing::FindWorkload;
using testing::NamedWorkload;

TEST(AffineTest, SumsStayInNormalFormAndKeepTheirValue) {
  base::RandomStream random(3);
  for (int round = 0; round < 200; ++round) {
    Affine sum;
    std::vector<int64_t> coefficients(6);
    for (int i = 0; i < 12; ++i) {
      Affine part;
      part.constant = random.UniformInt(9) - 4;
      const auto digit = static_cast<DigitId>(random.UniformInt(6));
      const int64_t coefficient = random.UniformInt(5) - 2, scale = random.UniformInt(5) - 2;
      part.Add(digit, coefficient);
      const int64_t before = sum.constant;
      sum.Add(part, scale);
      EXPECT_EQ(sum.constant, before + scale * part.constant);
      coefficients[digit] += scale * coefficient;
    }
    for (DigitId digit = 0; digit < 6; ++digit) {
      EXPECT_EQ(sum.CoefficientOf(digit), coefficients[digit]);
    }
    for (size_t t = 0; t < sum.terms.size(); ++t) {
      EXPECT_NE(sum.terms[t].coefficient, 0);
      EXPECT_TRUE(t == 0 || sum.terms[t - 1].digit < sum.terms[t].digit);
    }
  }
}

TEST(LowerTest, MakesOneLoopPerIteratorAndStagesInOrder) {
  const Workload workload = FindWorkload("conv2d_bias_relu");
  const Program program = Lower(workload);
  ASSERT_EQ(program.roots.size(), workload.stages.size());
  for (size_t s = 0; s < workload.stages.size(); ++s) {
    const BlockId block = program.FindBlock(workload.stages[s].name);
    ASSERT_GE(block, 0);
    const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(block));
    ASSERT_EQ(loops.size(), workload.stages[s].iters.size());
    EXPECT_EQ(NodeRef::Loop(loops[0]), program.roots[s]);
    for (size_t i = 0; i < loops.size(); ++i) {
      EXPECT_EQ(program.ExtentOf(loops[i]), workload.stages[s].iters[i].extent);
    }
    EXPECT_EQ(program.WriterOf(workload.stages[s].output), block);
  }
  EXPECT_EQ(program.BlocksInOrder(), (std::vector<BlockId>{0, 1, 2, 3}));
  EXPECT_EQ(program.Parameters(), workload.Parameters());
  const BufferId conv = workload.stages[1].output;
  EXPECT_EQ(program.ReadersOf(conv), (std::vector<BlockId>{2}));
}

TEST(ProgramTest, AnInitializationReadsNothing) {
  Program program = Lower(FindWorkload("conv2d"));
  const BufferId x = program.Parameters()[0];
  EXPECT_EQ(program.ReadersOf(x), (std::vector<BlockId>{0}));
  program.blocks[0].kind = BlockKind::kInit;
  EXPECT_TRUE(program.ReadersOf(x).empty());
  EXPECT_EQ(program.WriterOf(program.blocks[0].output), -1);
}

/// The same program under a permutation of the ids of loops, blocks and digits, with other names.
Program Renamed(const Program& from, base::RandomStream& random) {
  const auto permutation = [&](size_t count) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    random.Shuffle(order);
    return order;
  };
  const std::vector<int> loops = permutation(from.loops.size());
  const std::vector<int> blocks = permutation(from.blocks.size());
  const std::vector<int> digits = permutation(from.digit_extents.size());
  const auto node = [&](NodeRef ref) {
    if (ref.is_loop()) ref.id = loops[ref.id];
    if (ref.is_block()) ref.id = blocks[ref.id];
    return ref;
  };
  Program to = from;
  to.name = "other";
  for (Buffer& buffer : to.buffers) buffer.name += "_renamed";
  for (NodeRef& root : to.roots) root = node(root);
  for (size_t d = 0; d < digits.size(); ++d) to.digit_extents[digits[d]] = from.digit_extents[d];
  for (size_t l = 0; l < loops.size(); ++l) {
    Loop loop = from.loops[l];
    for (DigitId& digit : loop.digits) digit = digits[digit];
    for (NodeRef& child : loop.body) child = node(child);
    loop.parent = node(loop.parent);
    to.loops[loops[l]] = std::move(loop);
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    Block block = from.blocks[b];
    block.name += "_renamed";
    block.parent = node(block.parent);
    for (Iter& iter : block.iters) iter.name += "_renamed";
    for (Affine& binding : block.bindings) {
      Affine renamed;
      renamed.constant = binding.constant;
      for (const Affine::Term& term : binding.terms) {
        renamed.Add(digits[term.digit], term.coefficient);
      }
      binding = renamed;
    }
    to.blocks[blocks[b]] = std::move(block);
  }
  return to;
}

TEST(StructuralHashTest, IsBlindToNamesAndIds) {
  base::RandomStream random(11);
  for (const NamedWorkload& named : Catalogue()) {
    const Program program = Lower(named.workload);
    const Program renamed = Renamed(program, random);
    ASSERT_TRUE(Validate(renamed)) << named.name;
    EXPECT_EQ(renamed.StructuralHash(), program.StructuralHash()) << named.name;
  }
}

TEST(StructuralHashTest, TellsTheCatalogueApart) {
  std::set<uint64_t> programs, workloads;
  for (const NamedWorkload& named : Catalogue()) {
    EXPECT_TRUE(programs.insert(Lower(named.workload).StructuralHash()).second) << named.name;
    EXPECT_TRUE(workloads.insert(named.workload.StructuralHash()).second) << named.name;
  }
}

TEST(StructuralHashTest, SeesEveryChangeOfStructure) {
  const Program program = Lower(FindWorkload("conv2d_bias_relu"));
  std::set<uint64_t> hashes = {program.StructuralHash()};
  const auto expect_new = [&](const char* what, auto change) {
    Program changed = program;
    change(changed);
    EXPECT_TRUE(hashes.insert(changed.StructuralHash()).second) << what;
  };
  const auto conv = static_cast<size_t>(program.FindBlock("conv"));
  const BufferId w = program.Parameters()[1];
  expect_new("loop kind", [](Program& p) { p.loops[1].kind = LoopKind::kParallel; });
  expect_new("other loop", [](Program& p) { p.loops[2].kind = LoopKind::kParallel; });
  expect_new("other kind", [](Program& p) { p.loops[1].kind = LoopKind::kUnrolled; });
  expect_new("unroll", [](Program& p) { p.loops[0].unroll_max_step = 16; });
  expect_new("more unroll", [](Program& p) { p.loops[0].unroll_max_step = 64; });
  expect_new("extent", [](Program& p) { p.digit_extents[1] += 1; });
  expect_new("scope",
             [&](Program& p) { p.buffers[p.blocks[conv].output].scope = StorageScope::kLocal; });
  expect_new("layout", [&](Program& p) { p.buffers[w].layout = {{0, 1, 3}, {1, 1, 3}}; });
  expect_new("other layout", [&](Program& p) { p.buffers[w].layout = {{1, 1, 3}, {0, 1, 3}}; });
  expect_new("binding", [&](Program& p) {
    std::swap(p.blocks[conv].bindings[1], p.blocks[conv].bindings[2]);
  });
  expect_new("kind of block", [&](Program& p) { p.blocks[conv].kind = BlockKind::kUpdate; });
  expect_new("reduction", [&](Program& p) { p.blocks[conv].reduction = Reduction::kMax; });
  expect_new("value", [&](Program& p) { p.blocks[conv].value = p.blocks[conv].value + 1; });
  expect_new("order", [](Program& p) { std::swap(p.roots[0], p.roots[1]); });
  expect_new("nesting", [](Program& p) {
    p.loops[1].digits.push_back(p.loops[2].digits[0]);
    p.loops[1].body = p.loops[2].body;
  });
}

TEST(WorkloadTest, HashIsBlindToNamesButNotToParameterOrder) {
  const auto make = [](const char* name, bool swapped) {
    WorkloadBuilder b(name);
    const Tensor x = b.Input(std::string(name) + "x", {4, 4});
    const Tensor y = b.Input(std::string(name) + "y", {4, 4});
    return b.Build(
        {Zip(b, name, swapped ? y : x, swapped ? x : y, [](Expr a, Expr c) { return a - c; })});
  };
  EXPECT_EQ(make("a", false).StructuralHash(), make("b", false).StructuralHash());
  EXPECT_NE(make("a", false).StructuralHash(), make("a", true).StructuralHash());
}

TEST(WorkloadTest, CountsArithmetic) {
  EXPECT_EQ(MatmulWorkload(3, 5, 7).Flops(), 2 * 3 * 5 * 7);
  EXPECT_EQ(FindWorkload("matmul_int8").Flops(), 2 * 11 * 20 * 8);
  // Padding is free; bias and relu are one each.
  EXPECT_EQ(FindWorkload("conv2d_bias_relu").Flops(), 8 * 8 * 16 * (2 * 27 + 1 + 1));
  EXPECT_EQ(FindWorkload("transpose").Flops(), 0);
}

TEST(WorkloadBuilderTest, RefusesWhatMakesNoSense) {
  WorkloadBuilder b("bad");
  const Tensor x = b.Input("x", {4});
  EXPECT_THROW(b.Input("y", {0}), std::invalid_argument);
  EXPECT_THROW(b.Build({x}), std::invalid_argument);
  EXPECT_THROW(ReduceAxes(b, "r", x, {}, Reduction::kSum, false), std::invalid_argument);
  EXPECT_THROW(ReduceAxes(b, "r", x, {1}, Reduction::kSum, false), std::invalid_argument);
  const Tensor unused = Map(b, "x", x, Relu);
  const Tensor used = Map(b, "x", x, Relu);
  EXPECT_NE(unused.id(), used.id());
  EXPECT_THROW(b.Build({used}), std::invalid_argument);
  const Workload workload = b.Build({used, unused});
  EXPECT_EQ(workload.buffers[unused.id()].name, "x_2");
  EXPECT_EQ(workload.buffers[used.id()].name, "x_3");
}

}  // namespace
}  // namespace bayloom::tensor
