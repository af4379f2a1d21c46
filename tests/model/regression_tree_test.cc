// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/regression_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

const TreeOptions kAllColumns{.column_share = 1, .min_split = 2};

TEST(RegressionTree, RanksNumbersAmongTheDistinctOnes) {
  RowMatrix rows(4, 1);
  rows << 2, 8, 2, 4;
  const RankedRows ranked(rows);
  EXPECT_EQ(ranked.distinct[0], (std::vector<double>{2, 4, 8}));
  EXPECT_EQ(ranked.ranks.col(0), Eigen::Vector4i(0, 2, 0, 1));
}

TEST(RegressionTree, FullyGrownItKnowsWhatItHasSeen) {
  base::RandomStream random(1);
  const RowMatrix rows = UniformRows(200, 3, random);
  const VectorXd values = Evaluate(rows, Bowl);
  const RegressionTree tree(RankedRows(rows), values, VectorXd::Ones(200), {}, random);
  for (int i = 0; i < 200; ++i) EXPECT_DOUBLE_EQ(tree.LeafOf(&rows(i, 0)).mean, values(i));
}

TEST(RegressionTree, SplitsAStepBetweenItsTwoSides) {
  RowMatrix rows(20, 2);
  VectorXd values(20);
  for (int i = 0; i < 20; ++i) {
    rows.row(i) << i % 5, i / 10;
    values(i) = i < 10 ? -1 : 1;
  }
  base::RandomStream random(2);
  const RegressionTree tree(RankedRows(rows), values, VectorXd::Ones(20), kAllColumns, random);
  int high = 0;
  for (int i = 0; i < 1000; ++i) {  // somewhere between 0 and 1, and nowhere else
    const double row[] = {7.0, i / 1000.0};
    high += tree.LeafOf(row).mean > 0;
  }
  EXPECT_GT(high, 0);
  EXPECT_LT(high, 1000);
  const double left[] = {3, 0}, right[] = {3, 1};
  EXPECT_EQ(tree.LeafOf(left).mean, -1);
  EXPECT_EQ(tree.LeafOf(left).weight, 10);
  EXPECT_EQ(tree.LeafOf(right).mean, 1);
}

TEST(RegressionTree, EqualRowsShareALeafWithTheirWeightedMoments) {
  const RowMatrix rows = RowMatrix::Zero(3, 2);
  base::RandomStream random(3);
  const RegressionTree tree(RankedRows(rows), Eigen::Vector3d(1, 4, 7), Eigen::Vector3d(1, 2, 0),
                            kAllColumns, random);
  const RegressionTree::Leaf& leaf = tree.LeafOf(rows.data());
  EXPECT_DOUBLE_EQ(leaf.weight, 3);
  EXPECT_DOUBLE_EQ(leaf.mean, 3);
  EXPECT_DOUBLE_EQ(leaf.variance(), 2);
}

TEST(RegressionTree, NeedsAsManyRowsAsAskedToSplit) {
  base::RandomStream random(4);
  const RowMatrix rows = UniformRows(9, 1, random);
  const TreeOptions options{.column_share = 1, .min_split = 10};
  const RegressionTree tree(RankedRows(rows), rows.col(0), VectorXd::Ones(9), options, random);
  EXPECT_DOUBLE_EQ(tree.LeafOf(rows.data()).weight, 9);
}

}  // namespace
}  // namespace bayloom::model
