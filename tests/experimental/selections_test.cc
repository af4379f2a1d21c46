// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/selection/selections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/experimental/register.h"
#include "tests/cost/random_selection_task.h"

namespace bayloom::experimental {
namespace {

double FeatureDistance(const float* a, const float* b) {
  double sum = 0;
  for (int column = 0; column < cost::kColumns; ++column) {
    sum += std::pow(static_cast<double>(a[column]) - b[column], 2);
  }
  return std::sqrt(sum);
}
/// From open program i to the nearest of the measured ones and of `chosen`.
double NearestFeature(const cost::RandomTask& task, int i, const std::vector<int>& chosen,
                      bool times_output) {
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t j = 0; j < task.measured_labels.size(); ++j) {
    const double output = times_output ? std::abs(task.scores[i] - task.measured_labels[j]) : 1;
    nearest =
        std::min(nearest, output * FeatureDistance(&task.features[i * cost::kColumns],
                                                   &task.measured_features[j * cost::kColumns]));
  }
  for (const int j : chosen) {
    const double output = times_output ? std::abs(task.scores[i] - task.scores[j]) : 1;
    nearest = std::min(nearest, output * FeatureDistance(&task.features[i * cost::kColumns],
                                                         &task.features[j * cost::kColumns]));
  }
  return nearest;
}

TEST(Selections, GiveDistinctProgramsAsManyAsThereAre) {
  Register();
  const std::vector<std::string> names = cost::SelectionMethods().ExperimentalNames();
  EXPECT_EQ(names.size(), 6u);
  for (const std::string& name : names) cost::ExpectDistinctPrograms(name);
}

TEST(Selections, FeatureMethodsChooseTheFarthestProgram) {
  Register();
  for (const std::string name : {"gsx", "igs", "core-set"}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const cost::RandomTask task(seed, 40, 6);
      base::RandomStream random(1);
      std::vector<int> before;
      for (const int chosen : cost::CreateSelection(name)->Select(task.Task(), 12, random)) {
        const double distance = NearestFeature(task, chosen, before, name == "igs");
        for (int i = 0; i < 40; ++i) {
          if (std::count(before.begin(), before.end(), i) > 0) continue;
          EXPECT_LE(NearestFeature(task, i, before, name == "igs"), distance * (1 + 1e-6)) << name;
        }
        before.push_back(chosen);
      }
    }
  }
}

TEST(Selections, GsxBeginsAtTheCentre) {
  cost::RandomTask task(1, 9, 0);
  std::fill_n(task.features.begin() + 4 * cost::kColumns, cost::kColumns, 0.0f);
  base::RandomStream random(1);
  EXPECT_EQ(MakeGsxSelection()->Select(task.Task(), 1, random), std::vector<int>{4});
}

TEST(Selections, UncertaintyTakesTheMostUncertain) {
  cost::RandomTask task(1, 5, 0);
  task.uncertainty = {0.1, 0.5, 0.3, 0.5, 0.2};
  base::RandomStream random(1);
  EXPECT_EQ(MakeUncertaintySelection()->Select(task.Task(), 3, random),
            (std::vector<int>{1, 3, 2}));
}

TEST(Selections, GsyKeepsAwayFromLabelsAndOutputDiversityFromScores) {
  cost::RandomTask task(1, 2, 1);
  task.scores = {0.2, 0.9};
  task.measured_labels = {1.0};
  task.measured_scores = {0.1};
  base::RandomStream random(1);
  EXPECT_EQ(MakeGsySelection()->Select(task.Task(), 1, random), std::vector<int>{0});
  EXPECT_EQ(MakeOutputDiversitySelection()->Select(task.Task(), 1, random), std::vector<int>{1});
}

}  // namespace
}  // namespace bayloom::experimental
