// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bayloom/cost/selection/selection.h"

namespace bayloom::cost {

inline constexpr int kColumns = 19;

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
};

/// Every method gives distinct programs, as many as there are.
inline void ExpectDistinctPrograms(const std::string& name) {
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

}  // namespace bayloom::cost
