// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "bayloom/sketch/postprocess/postprocess.h"
#include "tests/tensor/workloads.h"

namespace bayloom::sketch {
namespace {

using Exprs = std::vector<tensor::Expr>;

constexpr int64_t kMoveLanes = 8;

/// What decides about the elements of a copy.
enum class Condition {
  kNone,
  kPlace,   ///< zeros around the image
  kValues,  ///< of two literals, by what is read
};

/// y[place] = x[permuted place], `pad` more elements at both ends of each axis with
/// Condition::kPlace.
struct RandomMove {
  std::vector<int64_t> shape;
  std::vector<int> order;  ///< axis of y that axis i of x is
  int64_t pad = 1;

  explicit RandomMove(base::RandomStream& random) {
    const auto rank = static_cast<int>(2 + random.UniformInt(2));
    for (int i = 0; i < rank; ++i) shape.push_back(kMoveLanes + random.UniformInt(20));
    order.resize(rank);
    std::iota(order.begin(), order.end(), 0);
    for (int i = rank - 1; i > 0; --i) std::swap(order[i], order[random.UniformInt(i + 1)]);
    pad = 1 + random.UniformInt(3);
  }

  /// Whether elements that are written next to each other lie apart where they are read.
  bool ReadsAcross() const { return order.back() != static_cast<int>(order.size()) - 1; }

  tensor::Workload Under(Condition condition) const {
    const int64_t around = condition == Condition::kPlace ? pad : 0;
    std::vector<int64_t> to(shape.size());
    for (size_t i = 0; i < shape.size(); ++i) to[order[i]] = shape[i] + 2 * around;
    return testing::OneInput(shape, [&](tensor::WorkloadBuilder& b, const tensor::Tensor& x) {
      return b.Compute("y", to, [&](const Exprs& place) {
        Exprs from;
        tensor::Expr inside = tensor::BoolLiteral(true);
        for (size_t i = 0; i < shape.size(); ++i) {
          from.push_back(place[order[i]] - tensor::Expr(around));
          inside = inside && tensor::Expr(0) <= from[i] && from[i] < tensor::Expr(shape[i]);
        }
        const tensor::Expr zero = tensor::FloatLiteral(0), one = tensor::FloatLiteral(1);
        switch (condition) {
          case Condition::kNone:
            return x.At(from);
          case Condition::kPlace:
            return tensor::Select(inside, x.At(from), zero);
          default:
            return tensor::Select(zero <= x.At(from), one, zero);
        }
      });
    });
  }
};

struct Moved {
  bool vectorized;
  bool changed;
};

/// Applies the rule and checks that the program still computes what it did.
Moved Move(const tensor::Workload& workload) {
  tensor::Program program = tensor::Lower(workload);
  const uint64_t before = program.StructuralHash();
  const std::vector<tensor::HostTensor> inputs = testing::RandomArguments(workload, 5);
  std::vector<tensor::HostTensor> expected = inputs, actual = inputs;
  tensor::Interpret(program, expected);
  const bool vectorized = VectorizeCopy(program, program.FindBlock("y"), kMoveLanes);
  EXPECT_TRUE(tensor::Validate(program));
  tensor::InterpretStrictly(program, actual);
  EXPECT_EQ(actual.back().data, expected.back().data) << tensor::Print(program);
  const bool has_vectors = std::ranges::any_of(program.loops, [](const tensor::Loop& loop) {
    return loop.alive && loop.kind == tensor::LoopKind::kVectorized;
  });
  EXPECT_EQ(vectorized, has_vectors) << tensor::Print(program);
  return {vectorized, program.StructuralHash() != before};
}

/// Lanes that lie apart are loaded together with the steps of a loop around; where places decide
/// what is loaded at all, they are not, and the loops keep their order. What is loaded in any case
/// may be chosen from afterwards.
TEST(VectorizeCopy, KeepsTheOrderOfCopiesThatPadAcross) {
  base::RandomStream random(7);
  int across = 0;
  for (int i = 0; i < 60; ++i) {
    const RandomMove move(random);
    SCOPED_TRACE(tensor::Print(move.Under(Condition::kPlace)));
    across += move.ReadsAcross();
    EXPECT_TRUE(Move(move.Under(Condition::kNone)).vectorized);
    EXPECT_TRUE(Move(move.Under(Condition::kValues)).vectorized);
    const Moved padded = Move(move.Under(Condition::kPlace));
    EXPECT_EQ(padded.vectorized, !move.ReadsAcross());
    EXPECT_EQ(padded.changed, padded.vectorized);
  }
  EXPECT_GT(across, 20);
  EXPECT_LT(across, 58);
}

}  // namespace
}  // namespace bayloom::sketch
