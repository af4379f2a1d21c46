// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Searches that go on for long, and through failures of their models.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "bayloom/model/fit_failure.h"
#include "bayloom/optimizer/bayes/bayesian_search.h"
#include "bayloom/space/parameter.h"
#include "tests/optimizer/spaces.h"

namespace bayloom::optimizer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What surrogates of a search were asked to do.
struct Work {
  int max_held = 0;
  int64_t fitted_rows = 0;
  int fits = 0;
};

/// Predicts the mean of what it holds, which is little at most; fails while told to.
class SmallSurrogate final : public model::Surrogate {
 public:
  static constexpr int kMax = 60;

  SmallSurrogate(Work& work, const bool& fails, const bool& babbles)
      : work_(work), fails_(fails), babbles_(babbles) {}

  void Fit(const model::RowMatrix& rows, const Eigen::VectorXd& values,
           base::RandomStream&) override {
    if (fails_) throw model::FitFailure("no factor");
    ++work_.fits;
    work_.fitted_rows += rows.rows();
    Hold(rows.rows());
    least_ = values.minCoeff();
  }
  void Add(const model::RowMatrix& rows, const Eigen::VectorXd& values) override {
    Hold(held_ + rows.rows());
    least_ = std::min(least_, values.minCoeff());
  }
  void Predict(const model::RowMatrix& rows, Eigen::VectorXd& mean,
               Eigen::VectorXd& variance) const override {
    const double number = babbles_ ? std::numeric_limits<double>::quiet_NaN() : 0;
    mean = Eigen::VectorXd::Constant(rows.rows(), number);
    variance = Eigen::VectorXd::Ones(rows.rows());
  }
  double Transform(double value) const override { return value; }
  double Untransform(double prediction) const override { return prediction; }
  int max_observations() const override { return kMax; }
  std::unique_ptr<Surrogate> Clone() const override {
    return std::make_unique<SmallSurrogate>(*this);
  }

 private:
  void Hold(int64_t rows) {
    held_ = rows;
    work_.max_held = std::max(work_.max_held, static_cast<int>(held_));
  }

  Work& work_;
  const bool& fails_;
  const bool& babbles_;
  int64_t held_ = 0;
  double least_ = 0;
};

class LongSearch : public testing::Test {
 protected:
  LongSearch() {
    space::Space::Builder builder;
    builder.Add(space::MakeInteger("a", 1, 100'000)).Add(space::MakeInteger("b", 1, 100'000));
    space_ = *builder.Build();
    Begin(/*max_observations=*/0);
  }
  void Begin(int max_observations) {
    const BayesianSearch::SurrogateFactory make = [this](const Features&, const BayesianOptions&) {
      return std::make_unique<SmallSurrogate>(work_, fails_, babbles_);
    };
    OptimizerOptions options{.seed = 1, .initial_samples = 4};
    options.bayesian.random_candidates = 20;
    options.bayesian.local_searches = 1;
    options.bayesian.max_observations = max_observations;
    search_ = std::make_unique<BayesianSearch>(space_, std::span(&make, 1), options);
  }
  void Run(int trials) {
    for (int i = 0; i < trials; ++i) {
      const std::vector<space::Configuration> asked = search_->Ask(1);
      ASSERT_EQ(asked.size(), 1u);
      search_->Tell(asked[0], Evaluate(asked[0]));
    }
  }

  std::shared_ptr<const space::Space> space_;
  Work work_;
  bool fails_ = false, babbles_ = false;
  std::unique_ptr<BayesianSearch> search_;
};

TEST_F(LongSearch, AFailedFitIsReplacedByChanceAndSaidOnce) {
  Run(10);
  EXPECT_THAT(search_->TakeNotices(), IsEmpty());
  fails_ = true;
  Run(20);
  EXPECT_THAT(search_->TakeNotices(),
              ElementsAre("the model of the objective failed (no factor); configurations are drawn "
                          "at random until it works again"));
  const int before = work_.fits;
  fails_ = false;
  Run(5);
  EXPECT_GT(work_.fits, before);
  EXPECT_THAT(search_->TakeNotices(), IsEmpty());
}

TEST_F(LongSearch, PredictionsThatAreNoNumbersAreAFailure) {
  babbles_ = true;
  Run(20);
  EXPECT_THAT(search_->TakeNotices(), ElementsAre(HasSubstr("the model of the objective failed")));
}

TEST_F(LongSearch, LearnsFromABoundedNumberOfTrials) {
  constexpr int kTrials = 3000;
  Run(SmallSurrogate::kMax);
  EXPECT_THAT(search_->TakeNotices(), IsEmpty());
  Run(kTrials - SmallSurrogate::kMax);
  EXPECT_THAT(search_->TakeNotices(), ElementsAre(HasSubstr("learns from 30 to 40 trials")));
  EXPECT_LE(work_.max_held, SmallSurrogate::kMax);
  // A fit every ten trials or so.
  EXPECT_LT(work_.fits, kTrials / 8);
  EXPECT_LE(work_.fitted_rows, int64_t{work_.fits} * SmallSurrogate::kMax);
}

TEST_F(LongSearch, LearnsFromAsManyTrialsAsItIsTold) {
  Begin(/*max_observations=*/24);
  Run(300);
  EXPECT_THAT(search_->TakeNotices(), ElementsAre(HasSubstr("learns from 12 to 16 trials")));
  EXPECT_LE(work_.max_held, 24);
}

TEST(MemoryRanking, FollowsOutcomesThatChange) {
  History history(AllSpaceCases().back().make());
  base::RandomStream random(1);
  std::vector<space::Configuration> told;
  for (int i = 0; i < 300; ++i) {
    told.push_back(*history.space().Sample(random));
    history.Record(told.back(), trial::Outcome::Feasible(random.Normal()));
    const space::Configuration& again = told[random.UniformInt(std::ssize(told))];
    history.Record(again, random.UniformInt(2) == 0
                              ? trial::Outcome::Feasible(10 * random.Normal())
                              : trial::Outcome::Infeasible(trial::Verdict::kCrash, "now"));
    std::vector<double> values;
    for (const Observation& trial : history.trials()) {
      if (trial.outcome.ok()) values.push_back(trial.outcome.value);
    }
    std::sort(values.begin(), values.end());
    ASSERT_EQ(history.feasible(), values.size());
    ASSERT_EQ(history.failures(), history.trials().size() - values.size());
    double sum = 0;
    for (double value : values) sum += value;
    ASSERT_NEAR(history.MeanValue() * static_cast<double>(values.size()), sum, 1e-6);
    const std::vector<int> best = history.Best(3);
    for (size_t k = 0; k < best.size(); ++k) {
      ASSERT_EQ(history.trials()[best[k]].outcome.value, values[k]);
    }
  }
}

// Constraints that nothing is found for: not the same as having tried everything.
TEST(GivingUp, IsToldFromExhaustion) {
  for (const std::string& name : Optimizers().Names()) {
    space::Space::Builder impossible;
    impossible.Add(space::MakeInteger("a", 1, 1'000'000'000));
    const std::string names[] = {"a"};
    impossible.AddConstraint(names, [](std::span<const space::Value>) { return false; });
    const auto gives_up = MakeOptimizer(name, *impossible.Build());
    EXPECT_TRUE(gives_up->Ask(1).empty());
    EXPECT_TRUE(gives_up->gave_up()) << name;

    space::Space::Builder small;
    small.Add(space::MakeInteger("a", 1, 3));
    const auto exhausts = MakeOptimizer(name, *small.Build());
    EXPECT_EQ(exhausts->Ask(5).size(), 3u);
    EXPECT_FALSE(exhausts->gave_up()) << name;
  }
}

// The default optimizer on constraints that no tree holds and no draw hits.
TEST(GivingUp, IsNotNeededWhereConstraintsCanBeSolved) {
  for (const std::string& name : Optimizers().Names()) {
    space::Space::Builder builder;
    builder.Add(space::MakeInteger("a", 1, 1'000'000'000));
    builder.Add(space::MakeInteger("b", 1, 1'000'000'000));
    ASSERT_TRUE(builder.AddConstraint("a % b == 0").ok());
    ASSERT_TRUE(builder.AddConstraint("b > 1000").ok());
    const auto space = *builder.Build();
    const auto optimizer = MakeOptimizer(name, space, {.seed = 2});
    for (int i = 0; i < 40; ++i) {
      const std::vector<space::Configuration> asked = optimizer->Ask(1);
      ASSERT_EQ(asked.size(), 1u) << name;
      ASSERT_TRUE(space->Contains(asked[0]));
      optimizer->Tell(asked[0], trial::Outcome::Feasible(std::log(1 + asked[0].coordinates[1])));
    }
  }
}

}  // namespace
}  // namespace bayloom::optimizer
