// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/tile_cost.h"

#include <gtest/gtest.h>

#include <numeric>

#include "bayloom/target/target.h"

namespace bayloom::plan {
namespace {

target::MachineModel MachineWith(double multiply_add, double latency, double load) {
  target::MachineModel machine;
  machine.multiply_add.alone = multiply_add;
  machine.multiply_add_latency = latency;
  machine.vector_load = load;
  return machine;
}

TEST(TileRates, AreRatiosOfTheMachinesTimes) {
  const TileRates rates = TileRates::Of(MachineWith(0.25e-9, 4e-9, 0.125e-9));
  EXPECT_EQ(rates.in_flight, 16);
  EXPECT_EQ(rates.load, 0.5);
}

TEST(TileRates, LeaveSomethingToDoWhileLoadsAreWaitedFor) {
  EXPECT_EQ(TileRates::Of(MachineWith(0.25e-9, 1e-9, 0.25e-9)).in_flight, 8);
}

TEST(TileRates, OfTheNominalMachineAreTwoUnitsOfFourCycles) {
  const TileRates rates = TileRates::Of(target::NominalMachine({}));
  EXPECT_EQ(rates.in_flight, 8);
  EXPECT_EQ(rates.load, 1);
}

TEST(TileRates, DoNotFollowNoise) {
  const TileRates exact = TileRates::Of(MachineWith(0.25e-9, 3e-9, 0.25e-9));
  for (double noise : {0.97, 0.98, 1.02, 1.03}) {
    const TileRates rates = TileRates::Of(MachineWith(0.25e-9, noise * 3e-9, noise * 0.25e-9));
    EXPECT_EQ(rates.in_flight, exact.in_flight);
    EXPECT_EQ(rates.load, exact.load);
  }
}

/// The tile of z[i, j] += x[i] * y[j], j in vectors, in so many registers.
class OuterProduct : public ::testing::Test {
 protected:
  OuterProduct() {
    const auto load = [&](const tensor::ExprNode* node, tensor::DigitId digit) {
      accesses_.loads[node].affine.Add(digit, 1);
    };
    load(&x_, 0);
    load(&y_, 1);
  }

  std::vector<int64_t> Best(TileRates rates, int registers, int64_t rows, int64_t columns) const {
    return TileCost(accesses_, registers, rates).Best({{0, rows}, {1, columns}});
  }
  static int64_t Accumulators(const std::vector<int64_t>& steps) {
    return std::accumulate(steps.begin(), steps.end(), int64_t{1}, std::multiplies<>());
  }

  BlockAccesses accesses_;

 private:
  tensor::ExprNode x_{tensor::ExprOp::kLoad, tensor::DType::kFloat32},
      y_{tensor::ExprOp::kLoad, tensor::DType::kFloat32};
};

TEST_F(OuterProduct, ThreeRegistersMoreThanTheTileNeedsAreSpare) {
  // Four rows of three registers: twelve sums, three of columns, one of a row.
  const std::vector<TileDigit> digits = {{0, 4}, {1, 3}};
  for (const auto& [registers, spare] : {std::pair{16, false}, {18, false}, {19, true}}) {
    EXPECT_EQ(TileCost(accesses_, registers, {8, 1}).HasSpareRegisters(digits, {4, 3}), spare)
        << registers;
  }
}

TEST_F(OuterProduct, FillsTheUnitsAndFitsTheRegisters) {
  for (double in_flight : {1, 4, 8, 10, 16}) {
    for (int registers : {16, 32}) {
      const std::vector<int64_t> best = Best({in_flight, 1}, registers, 32, 32);
      ASSERT_EQ(best.size(), 2U);
      EXPECT_LT(Accumulators(best), registers);
      EXPECT_GE(Accumulators(best), std::min<int64_t>(in_flight, registers / 2));
    }
  }
}

TEST_F(OuterProduct, KeepsTheScheduledTileWhereTheMachineCannotTellTheDifference) {
  EXPECT_EQ(Best({4, 1}, 32, 2, 2), (std::vector<int64_t>{2, 2}));
  const BlockAccesses none;
  const TileCost cost(none, 32, {8, 1});
  EXPECT_DOUBLE_EQ(*cost.Of({{0, 4}}, {4}), 2);  // four in flight where eight could be
  EXPECT_DOUBLE_EQ(*cost.Of({{0, 8}}, {8}), 1);
}

/// With rows inside, a register of columns is used by all rows before the next one is loaded.
TEST_F(OuterProduct, RowsInsideKeepFewerColumns) {
  const TileCost cost(accesses_, 32, {8, 1});
  EXPECT_FALSE(cost.Of({{0, 2}, {1, 13}}, {2, 13}));
  EXPECT_TRUE(cost.Of({{1, 13}, {0, 2}}, {13, 2}));
}

TEST_F(OuterProduct, LinesAreLoads) {
  TileWork work;
  for (const auto& [node, load] : accesses_.loads) work.values[node].loads = 2;
  const TileCost once(accesses_, 32, {1, 1}), twice(accesses_, 32, {1, 1}, work);
  EXPECT_GT(*twice.Of({{0, 2}, {1, 2}}, {2, 2}), 1.5 * *once.Of({{0, 2}, {1, 2}}, {2, 2}));
}

TEST_F(OuterProduct, SlowLoadsWantSquareTiles) {
  const std::vector<int64_t> best = Best({4, 3}, 32, 16, 16);
  EXPECT_LE(std::max(best[0], best[1]), 2 * std::min(best[0], best[1]));
}

}  // namespace
}  // namespace bayloom::plan
