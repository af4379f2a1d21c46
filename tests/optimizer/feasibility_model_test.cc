// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/feasibility_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace bayloom::optimizer {
namespace {

std::shared_ptr<const space::Space> FourNumbers() {
  space::Space::Builder builder;
  for (const char* name : {"a", "b", "c", "d"}) builder.Add(space::MakeInteger(name, 0, 15));
  return *builder.Build();
}

std::array<double, 4> NumbersOf(const space::Configuration& configuration) {
  std::array<double, 4> numbers;
  std::ranges::copy(configuration.coordinates, numbers.begin());
  return numbers;
}

/// Builds fail by two numbers, runs by the two others, and some answers are wrong.
trial::Outcome InThreeStages(const space::Configuration& configuration) {
  const auto [a, b, c, d] = NumbersOf(configuration);
  if (a + b > 18) return trial::Outcome::Infeasible(trial::Verdict::kBuildError, "too large");
  if (c * d > 90) return trial::Outcome::Infeasible(trial::Verdict::kCrash, "out of registers");
  if (a < 3 && c < 3) return trial::Outcome::Infeasible(trial::Verdict::kWrongOutput, "race");
  return trial::Outcome::Feasible(1);
}

/// The mean squared error of the probabilities of configurations that were not tried (Brier's
/// score), learnt from so many trials of which every verdict is as `say` says it.
double Score(int trials, uint64_t seed, const std::function<trial::Outcome(trial::Outcome)>& say) {
  const auto space = FourNumbers();
  const Features features(space);
  FeasibilityModel model(features);
  History history(space);
  base::RandomStream random(seed);
  for (int i = 0; i < trials; ++i) {
    const space::Configuration configuration = *space->Sample(random);
    history.Record(configuration, say(InThreeStages(configuration)));
  }
  EXPECT_TRUE(model.Update(history, random));
  std::vector<space::Configuration> others;
  for (int i = 0; i < 1000; ++i) others.push_back(*space->Sample(random));
  const Eigen::VectorXd probability = model.Probability(features(others));
  double sum = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    const double wrong = probability[i] - (InThreeStages(others[i]).ok() ? 1 : 0);
    sum += wrong * wrong;
  }
  return sum / static_cast<double>(others.size());
}

TEST(FeasibilityModel, LearnsMoreFromStagesThanFromFailuresAlone) {
  const auto as_it_is = [](const trial::Outcome& outcome) { return outcome; };
  const auto alike = [](const trial::Outcome& outcome) {
    return outcome.ok() ? outcome
                        : trial::Outcome::Infeasible(trial::Verdict::kBuildError, "failed");
  };
  for (const int trials : {50, 200}) {
    double by_stages = 0, by_failures = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      by_stages += Score(trials, seed, as_it_is);
      by_failures += Score(trials, seed, alike);
    }
    RecordProperty("ratio_of_scores", std::to_string(by_stages / by_failures));
    EXPECT_LT(by_stages, by_failures) << trials;
  }
}

TEST(FeasibilityModel, EverythingIsFeasibleUntilSomethingFails) {
  const auto space = FourNumbers();
  const Features features(space);
  FeasibilityModel model(features);
  History history(space);
  base::RandomStream random(1);
  for (int i = 0; i < 20; ++i) {
    history.Record(*space->Sample(random), trial::Outcome::Feasible(1));
  }
  EXPECT_FALSE(model.Update(history, random));
  EXPECT_FALSE(model.is_needed());
}

}  // namespace
}  // namespace bayloom::optimizer
