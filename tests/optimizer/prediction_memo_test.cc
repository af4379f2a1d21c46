// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/prediction_memo.h"

#include <gtest/gtest.h>

namespace bayloom::optimizer {
namespace {

using Eigen::VectorXd;

/// Configurations that are their own features.
class PredictionMemoTest : public testing::Test {
 protected:
  std::vector<space::Configuration> Draw(int count) {
    std::vector<space::Configuration> drawn(static_cast<size_t>(count));
    for (space::Configuration& c : drawn) {
      c.coordinates = {random_.Uniform(), random_.Uniform(), random_.Uniform()};
    }
    return drawn;
  }
  static model::RowMatrix Rows(std::span<const space::Configuration> configurations) {
    model::RowMatrix rows(std::ssize(configurations), 3);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const auto& coordinates = configurations[static_cast<size_t>(i)].coordinates;
      for (Eigen::Index j = 0; j < 3; ++j) rows(i, j) = coordinates[static_cast<size_t>(j)];
    }
    return rows;
  }
  static VectorXd Values(const model::RowMatrix& rows) {
    return (3 * rows.col(0).array()).sin() + rows.col(1).array() * rows.col(2).array();
  }
  void Learn(model::GaussianProcess& process, int count) {
    const model::RowMatrix rows = Rows(Draw(count));
    process.Fit(rows, Values(rows), random_);
  }
  void Add(model::Surrogate& process, int count) {
    const model::RowMatrix rows = Rows(Draw(count));
    process.Add(rows, Values(rows));
  }
  void ExpectPredictionsOf(const model::Surrogate& surrogate,
                           std::span<const space::Configuration> configurations) {
    const auto& process = dynamic_cast<const model::GaussianProcess&>(surrogate);
    const model::RowMatrix rows = Rows(configurations);
    VectorXd mean, variance, expected_mean, expected_variance;
    memo_.Predict(process, configurations, rows, mean, variance);
    process.Predict(rows, expected_mean, expected_variance);
    EXPECT_LT((mean - expected_mean).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_LT((variance - expected_variance).cwiseAbs().maxCoeff(), 1e-7);
  }

  base::RandomStream random_{7};
  model::GaussianProcess process_{{0, 1, 2}};
  PredictionMemo memo_;
};

TEST_F(PredictionMemoTest, PredictsAsTheProcessWhicheverWereMetBefore) {
  Learn(process_, 30);
  const std::vector<space::Configuration> candidates = Draw(300);
  for (int i = 0; i < 40; ++i) {
    const auto begin = static_cast<size_t>(random_.UniformInt(200));
    ExpectPredictionsOf(process_, std::span(candidates).subspan(begin, 100));
    Add(process_, 1 + i % 3);
  }
  Learn(process_, 50);
  ExpectPredictionsOf(process_, candidates);
}

TEST_F(PredictionMemoTest, MayMeetOneTwiceAtATime) {
  Learn(process_, 30);
  std::vector<space::Configuration> candidates = Draw(200);
  for (size_t i = 0; i < 100; ++i) candidates.push_back(candidates[2 * i]);
  for (int i = 0; i < 3; ++i) {
    ExpectPredictionsOf(process_, candidates);
    for (space::Configuration& c : Draw(20)) candidates.insert(candidates.begin(), {c, c});
    Add(process_, 1);
  }
}

TEST_F(PredictionMemoTest, FollowsWhatIsImaginedAndComesBack) {
  Learn(process_, 30);
  const std::vector<space::Configuration> candidates = Draw(100);
  for (int i = 0; i < 4; ++i) {
    const auto imagined = process_.Clone();
    Add(*imagined, 3);
    ExpectPredictionsOf(*imagined, candidates);
    ExpectPredictionsOf(process_, std::span(candidates).first(50));
    Add(process_, 1);
    ExpectPredictionsOf(process_, candidates);
    ExpectPredictionsOf(*imagined, candidates);
  }
}

TEST_F(PredictionMemoTest, StartsAgainWhereItWouldHoldTooMuch) {
  memo_ = PredictionMemo(200 * 100);
  Learn(process_, 30);
  const std::vector<space::Configuration> candidates = Draw(1000);
  for (size_t begin = 0; begin < 900; begin += 50) {
    ExpectPredictionsOf(process_, std::span(candidates).subspan(begin, 100));
    Add(process_, 1);
  }
  ExpectPredictionsOf(process_, candidates);
}

TEST(PredictionMemoOfManyParameters, HoldsNoMoreThanItMay) {
  constexpr int kParameters = 200;
  constexpr int64_t kMaxNumbers = 100000;
  base::RandomStream random(3);
  model::GaussianProcess process{std::vector<int>(kParameters, 0)};
  const auto draw = [&](int count) {
    return model::RowMatrix(
        model::RowMatrix::NullaryExpr(count, kParameters, [&] { return random.Uniform(); }));
  };
  const model::RowMatrix learnt = draw(30);
  process.Fit(learnt, learnt.rowwise().sum(), random);
  PredictionMemo memo(kMaxNumbers);
  for (int call = 0; call < 20; ++call) {
    const model::RowMatrix rows = draw(60);
    std::vector<space::Configuration> configurations(60);
    for (size_t i = 0; i < configurations.size(); ++i) {
      const auto row = rows.row(static_cast<Eigen::Index>(i));
      configurations[i].coordinates.assign(row.begin(), row.end());
    }
    VectorXd mean, variance, expected_mean, expected_variance;
    memo.Predict(process, configurations, rows, mean, variance);
    process.Predict(rows, expected_mean, expected_variance);
    EXPECT_LT((mean - expected_mean).cwiseAbs().maxCoeff(), 1e-7);
    // Features and coordinates alone.
    EXPECT_GE(memo.numbers(), 60 * 2 * kParameters);
    EXPECT_LE(memo.numbers(), kMaxNumbers);
  }
}

}  // namespace
}  // namespace bayloom::optimizer
