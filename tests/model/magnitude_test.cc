// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Every surrogate takes finite values of any magnitude.

#include "bayloom/model/contextual.h"
#include "bayloom/model/gaussian_process.h"
#include "bayloom/model/multi_task.h"
#include "bayloom/model/random_forest.h"
#include "bayloom/model/value_range.h"
#include "bayloom/model/weighted_sum.h"
#include "tests/model/magnitudes.h"
#include "tests/model/test_data.h"

namespace bayloom::model {
namespace {

using Eigen::VectorXd;

struct Maker {
  std::string name;
  SurrogateMaker make;
};

const Maker kMakers[] = {
    {"gaussian_process", [](auto) { return std::make_unique<GaussianProcess>(kTwoGroups); }},
    {"forest",
     [](auto) { return std::make_unique<RandomForest>(RandomForestOptions{.trees = 10}); }},
    {"multi_task",
     [](auto earlier) {
       return std::make_unique<TransferSurrogate>(kTwoGroups, std::move(earlier));
     }},
    {"contextual",
     [](auto earlier) {
       return std::make_unique<ContextualSurrogate>(kTwoGroups, std::move(earlier),
                                                    RowMatrix::Identity(3, 3));
     }},
    {"weighted_sum",
     [](auto earlier) {
       return std::make_unique<WeightedSurrogate>(kTwoGroups, std::move(earlier));
     }},
};

class MagnitudeTest : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(MagnitudeTest, AreLearntAndPredictedAsFiniteNumbers) {
  ExpectFinitePredictions(kMakers[std::get<0>(GetParam())].make,
                          kMagnitudes[std::get<1>(GetParam())]);
}

INSTANTIATE_TEST_SUITE_P(All, MagnitudeTest,
                         testing::Combine(testing::Range(0, static_cast<int>(std::size(kMakers))),
                                          testing::Range(0,
                                                         static_cast<int>(std::size(kMagnitudes)))),
                         [](const auto& shown) {
                           return kMakers[std::get<0>(shown.param)].name + "_" +
                                  kMagnitudes[std::get<1>(shown.param)].name;
                         });

TEST(ValueRangeTest, LeavesOrdinaryValuesAsTheyAre) {
  const VectorXd values{{-3e99, 0, 1e-200, 0.1, 7}};
  const ValueRange range(values);
  for (double value : values) {
    EXPECT_EQ(range(value), value);
    EXPECT_EQ(range.Restore(value), value);
  }
}

TEST(ValueRangeTest, PenaltiesAreOneRangeWorse) {
  const ValueRange range(VectorXd{{2, 5, kMaxDouble, 3, 1e200}});
  EXPECT_EQ(range(5), 5);
  EXPECT_EQ(range(kMaxDouble), 8);
  EXPECT_EQ(range(1e200), 8);
}

TEST(ValueRangeTest, ScalesWhatHasNoOrdinaryValues) {
  for (const VectorXd& values :
       {VectorXd{{1e200, 3e200, -kMaxDouble}}, VectorXd{{1e-310, 3e-310, 0}}}) {
    const ValueRange range(values);
    EXPECT_LT(range(values[0]), range(values[1]));
    for (double value : values) {
      EXPECT_LE(std::abs(range(value)), 2);
      EXPECT_EQ(range.Restore(range(value)), value);
    }
    EXPECT_GT(std::abs(range(values[1])), 1e-110);
  }
}

// What a model is good for: beside a penalty it still tells good from better.
TEST(MagnitudeTest, PenaltiesDoNotDrownTheOthers) {
  base::RandomStream random(3);
  RowMatrix rows(40, 2);
  VectorXd values(40);
  for (int i = 0; i < 40; ++i) {
    rows(i, 0) = random.Uniform();
    rows(i, 1) = random.Uniform();
    values(i) = rows(i, 0) > 0.5 ? kMaxDouble : -10 * rows(i, 1);
  }
  GaussianProcess process(kTwoGroups);
  process.Fit(rows, values, random);
  VectorXd mean, variance;
  process.Predict(RowMatrix{{0.2, 0.9}, {0.2, 0.1}, {0.8, 0.9}}, mean, variance);
  EXPECT_LT(mean[0] + 0.5, mean[1]);
  EXPECT_LT(mean[0] + 1, mean[2]);
}

}  // namespace
}  // namespace bayloom::model
