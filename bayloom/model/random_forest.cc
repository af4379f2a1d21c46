// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/random_forest.h"

#include <atomic>
#include <utility>

#include "bayloom/model/incremental_predictor.h"

namespace bayloom::model {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// How often each of n rows is drawn in n draws with replacement.
VectorXd DrawWithReplacement(Index n, base::RandomStream& random) {
  VectorXd counts = VectorXd::Zero(n);
  for (Index i = 0; i < n; ++i) counts(random.UniformInt(n)) += 1;
  return counts;
}

/// No prediction is surer than this, in units of the standardized objective's variance.
constexpr double kMinVariance = 1e-6;

}  // namespace

RandomForest::RandomForest(RandomForestOptions options) : options_(options) {}

void RandomForest::Fit(const RowMatrix& rows, const VectorXd& values, base::RandomStream& random) {
  standardizer_ = Standardizer::Choose(values, options_.scale);
  const VectorXd standard = standardizer_.Apply(values);
  const RankedRows ranked(rows);
  trees_.clear();
  for (int i = 0; i < options_.trees; ++i) {
    const VectorXd weights =
        options_.bootstrap ? DrawWithReplacement(rows.rows(), random) : VectorXd::Ones(rows.rows());
    trees_.emplace_back(ranked, standard, weights, options_.tree, random);
  }
  static std::atomic<uint64_t> fits = 0;
  grown_ = ++fits;
}

void RandomForest::Add(const RowMatrix& rows, const VectorXd& values) {
  CheckFinite(values);
  const VectorXd standard = standardizer_.Apply(values);
  for (RegressionTree& tree : trees_) {
    for (Index i = 0; i < rows.rows(); ++i) {
      tree.leaf(tree.LeafIndexOf(&rows(i, 0))).Add(standard(i), 1);
    }
  }
}

Eigen::MatrixXi RandomForest::LeavesOf(const RowMatrix& rows) const {
  Eigen::MatrixXi leaves(rows.rows(), std::ssize(trees_));
  for (Index t = 0; t < leaves.cols(); ++t) {
    const RegressionTree& tree = trees_[static_cast<size_t>(t)];
    for (Index i = 0; i < rows.rows(); ++i) leaves(i, t) = tree.LeafIndexOf(&rows(i, 0));
  }
  return leaves;
}

void RandomForest::PredictLeaves(const Eigen::MatrixXi& leaves, VectorXd& mean,
                                 VectorXd& variance) const {
  VectorXd squares = VectorXd::Zero(leaves.rows());
  mean = variance = VectorXd::Zero(leaves.rows());
  for (Index t = 0; t < leaves.cols(); ++t) {
    const RegressionTree& tree = trees_[static_cast<size_t>(t)];
    for (Index i = 0; i < leaves.rows(); ++i) {
      const RegressionTree::Leaf& leaf = tree.leaf(leaves(i, t));
      mean(i) += leaf.mean;
      squares(i) += leaf.mean * leaf.mean;
      variance(i) += leaf.variance();
    }
  }
  const auto trees = static_cast<double>(trees_.size());
  mean /= trees;
  variance = (variance.array() + squares.array()) / trees - mean.array().square();
  variance = variance.cwiseMax(kMinVariance);
}

void RandomForest::Predict(const RowMatrix& rows, VectorXd& mean, VectorXd& variance) const {
  PredictLeaves(LeavesOf(rows), mean, variance);
}

std::unique_ptr<IncrementalPredictor> RandomForest::TrackPredictions(RowMatrix rows) const {
  return std::make_unique<ForestIncrementalPredictor>(std::move(rows));
}

std::unique_ptr<Surrogate> RandomForest::Clone() const {
  return std::make_unique<RandomForest>(*this);
}

}  // namespace bayloom::model
