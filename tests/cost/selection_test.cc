// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/selection/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "bayloom/base/result.h"

namespace bayloom::cost {
namespace {

constexpr int kColumns = 19;

/// A task with random numbers for everything a method may look at.
struct RandomTask {
  std::vector<double> scores, uncertainty, measured_scores, measured_labels;
  std::vector<float> features, measured_features;

  RandomTask(uint64_t seed, int open, int measured) {
    base::RandomStream random(seed);
    for (int i = 0; i < open; ++i) {
      scores.push_back(random.Uniform());
      uncertainty.push_back(random.Uniform());
    }
    for (int i = 0; i < measured; ++i) {
      measured_scores.push_back(random.Uniform());
      measured_labels.push_back(random.Uniform());
    }
    for (int i = 0; i < open * kColumns; ++i) {
      features.push_back(static_cast<float>(random.Normal()));
    }
    for (int i = 0; i < measured * kColumns; ++i) {
      measured_features.push_back(static_cast<float>(random.Normal()));
    }
  }

  SelectionTask Task() const {
    const DenseRows open = {features, static_cast<int>(scores.size()), kColumns};
    const DenseRows measured = {measured_features, static_cast<int>(measured_scores.size()),
                                kColumns};
    return {.scores = scores,
            .uncertainty = uncertainty,
            .features = open,
            .representation = open,
            .measured_scores = measured_scores,
            .measured_labels = measured_labels,
            .measured_features = measured,
            .measured_representation = measured};
  }

  double FeatureDistance(const float* a, const float* b) const {
    double sum = 0;
    for (int column = 0; column < kColumns; ++column) {
      sum += std::pow(static_cast<double>(a[column]) - b[column], 2);
    }
    return std::sqrt(sum);
  }
  /// From open program i to the nearest of the measured ones and of `chosen`.
  double NearestFeature(int i, const std::vector<int>& chosen, bool times_output) const {
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t j = 0; j < measured_labels.size(); ++j) {
      const double output = times_output ? std::abs(scores[i] - measured_labels[j]) : 1;
      nearest = std::min(nearest, output * FeatureDistance(&features[i * kColumns],
                                                           &measured_features[j * kColumns]));
    }
    for (const int j : chosen) {
      const double output = times_output ? std::abs(scores[i] - scores[j]) : 1;
      nearest = std::min(
          nearest, output * FeatureDistance(&features[i * kColumns], &features[j * kColumns]));
    }
    return nearest;
  }
};

TEST(Selection, EveryMethodGivesDistinctProgramsAsManyAsThereAre) {
  for (const std::string& name : SelectionNames()) {
    const auto method = CreateSelection(name);
    EXPECT_EQ(method->name(), name);
    for (const int measured : {0, 5}) {
      const RandomTask task(3, 20, measured);
      for (const int count : {0, 1, 7, 20, 30}) {
        base::RandomStream random(1);
        const std::vector<int> chosen = method->Select(task.Task(), count, random);
        const std::set<int> distinct(chosen.begin(), chosen.end());
        EXPECT_EQ(static_cast<int>(chosen.size()), std::min(count, 20)) << name;
        EXPECT_EQ(distinct.size(), chosen.size()) << name;
        EXPECT_TRUE(distinct.empty() || (*distinct.begin() >= 0 && *distinct.rbegin() < 20));
      }
    }
    base::RandomStream random(1);
    EXPECT_TRUE(method->Select({}, 3, random).empty()) << name;
  }
  EXPECT_THROW(CreateSelection("best"), InputError);
}

TEST(Selection, FeatureMethodsChooseTheFarthestProgram) {
  for (const std::string name : {"gsx", "igs", "core-set"}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const RandomTask task(seed, 40, 6);
      base::RandomStream random(1);
      std::vector<int> before;
      for (const int chosen : CreateSelection(name)->Select(task.Task(), 12, random)) {
        const double distance = task.NearestFeature(chosen, before, name == "igs");
        for (int i = 0; i < 40; ++i) {
          if (std::count(before.begin(), before.end(), i) > 0) continue;
          EXPECT_LE(task.NearestFeature(i, before, name == "igs"), distance * (1 + 1e-6)) << name;
        }
        before.push_back(chosen);
      }
    }
  }
}

TEST(Selection, GsxBeginsAtTheCentre) {
  RandomTask task(1, 9, 0);
  std::fill_n(task.features.begin() + 4 * kColumns, kColumns, 0.0f);
  base::RandomStream random(1);
  EXPECT_EQ(MakeGsxSelection()->Select(task.Task(), 1, random), std::vector<int>{4});
}

TEST(Selection, UncertaintyTakesTheMostUncertain) {
  RandomTask task(1, 5, 0);
  task.uncertainty = {0.1, 0.5, 0.3, 0.5, 0.2};
  base::RandomStream random(1);
  EXPECT_EQ(MakeUncertaintySelection()->Select(task.Task(), 3, random),
            (std::vector<int>{1, 3, 2}));
}

TEST(Selection, GreedyTakesTheBestPredicted) {
  RandomTask task(1, 5, 0);
  task.scores = {0.1, 0.5, 0.3, 0.5, 0.2};
  base::RandomStream random(1);
  EXPECT_EQ(MakeGreedySelection()->Select(task.Task(), 3, random), (std::vector<int>{1, 3, 2}));
}

TEST(Selection, GsyKeepsAwayFromLabelsAndOutputDiversityFromScores) {
  RandomTask task(1, 2, 1);
  task.scores = {0.2, 0.9};
  task.measured_labels = {1.0};
  task.measured_scores = {0.1};
  base::RandomStream random(1);
  EXPECT_EQ(MakeGsySelection()->Select(task.Task(), 1, random), std::vector<int>{0});
  EXPECT_EQ(MakeOutputDiversitySelection()->Select(task.Task(), 1, random), std::vector<int>{1});
}

TEST(Selection, BiasEndsOnceMeasuredProgramsAreFast) {
  // From the anchor 0.5, 0.05 is farther; weighed by the scores, 0.9 is.
  RandomTask task(1, 2, 1);
  task.scores = {0.05, 0.9};
  task.measured_scores = {0.5};
  base::RandomStream random(1);
  const auto method = CreateSelection("biased-diversity", {.divergence_threshold = 1});
  task.measured_labels = {0.3};  // -log 0.3 = 1.2
  EXPECT_EQ(method->Select(task.Task(), 1, random), std::vector<int>{1});
  task.measured_labels = {0.4};  // -log 0.4 = 0.92
  EXPECT_EQ(method->Select(task.Task(), 1, random), std::vector<int>{0});
}

TEST(Divergence, IsTheMeanOfMinusTheLogarithm) {
  EXPECT_NEAR(Divergence(std::vector<double>{1, 0.5}), 0.34657, 1e-5);
  EXPECT_DOUBLE_EQ(Divergence(std::vector<double>{0}), -std::log(kLeastLabel));
  EXPECT_EQ(Divergence({}), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace bayloom::cost
