// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/acquisition/hypervolume_improvement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bayloom/acquisition/improvement.h"
#include "bayloom/pareto/hypervolume.h"

namespace bayloom::acquisition {
namespace {

struct Expectation {
  double mean;
  double error;  ///< standard error
};

/// The mean improvement of the hypervolume over many draws.
Expectation Sampled(std::vector<pareto::Point> front, const pareto::Point& reference,
                    const std::vector<double>& means, const std::vector<double>& variances,
                    base::RandomStream& random) {
  constexpr int kDraws = 20000;
  const double before = pareto::Hypervolume(front, reference);
  double sum = 0, squares = 0;
  front.emplace_back();
  for (int i = 0; i < kDraws; ++i) {
    pareto::Point point;
    for (size_t k = 0; k < means.size(); ++k) {
      point.push_back(means[k] + std::sqrt(variances[k]) * random.Normal());
    }
    front.back() = point;
    const double gain = pareto::Hypervolume(front, reference) - before;
    sum += gain;
    squares += gain * gain;
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt((squares / kDraws - mean * mean) / kDraws)};
}

struct Case {
  std::vector<pareto::Point> front;
  pareto::Point reference;
};

std::vector<Case> Cases() {
  return {{{{0.1, 0.9}, {0.4, 0.5}, {0.8, 0.2}}, {1, 1}},
          {{{0.5, 0.5}}, {1, 1}},
          {{{0.1, 0.8, 0.5}, {0.4, 0.5, 0.4}, {0.7, 0.1, 0.7}, {0.6, 0.6, 0.1}}, {1, 1, 1}},
          {{{0.1, 0.8, 0.5, 0.4}, {0.4, 0.5, 0.4, 0.6}, {0.7, 0.1, 0.7, 0.3}}, {1, 1, 1, 1}}};
}

TEST(HypervolumeImprovementTest, EqualsTheMeanOverDraws) {
  base::RandomStream random(1);
  for (const Case& each : Cases()) {
    const HypervolumeImprovement improvement(each.front, each.reference, random);
    const size_t objectives = each.reference.size();
    for (double mean : {0.1, 0.45, 0.9}) {
      std::vector<double> means, variances;
      for (size_t k = 0; k < objectives; ++k) {
        means.push_back(mean + 0.1 * static_cast<double>(k));
        variances.push_back(k % 2 == 0 ? 0.01 : 0.04);
      }
      const Expectation expected = Sampled(each.front, each.reference, means, variances, random);
      // The estimate for many objectives leaves out what is far below the best values.
      const double tolerance = objectives > 3 ? 0.15 * expected.mean + 2e-3 : 1e-6;
      EXPECT_NEAR(improvement(means, variances), expected.mean, 5 * expected.error + tolerance)
          << objectives << " objectives, mean " << mean;
    }
  }
}

TEST(HypervolumeImprovementTest, OneObjectiveBecomesExpectedImprovement) {
  // Where the second objective is certain and 1 better than the reference, a single point on the
  // front that is as good in it leaves the improvement of the first.
  base::RandomStream random(1);
  const HypervolumeImprovement improvement(std::vector<pareto::Point>{{0.5, 0}}, {2, 1}, random);
  EXPECT_NEAR(improvement(std::vector<double>{0.7, 0}, std::vector<double>{0.3, 0}),
              ExpectedImprovement(0.7, 0.3, 0.5), 1e-12);
}

TEST(HypervolumeImprovementTest, CertainPredictionsImproveByTheirVolume) {
  base::RandomStream random(1);
  for (const Case& each : Cases()) {
    if (each.reference.size() > HypervolumeImprovement::kMaxExactObjectives) continue;
    const HypervolumeImprovement improvement(each.front, each.reference, random);
    const std::vector<double> none(each.reference.size(), 0);
    const std::vector<double> good(each.reference.size(), 0.3);
    std::vector<pareto::Point> with = each.front;
    with.push_back(good);
    EXPECT_NEAR(
        improvement(good, none),
        pareto::Hypervolume(with, each.reference) - pareto::Hypervolume(each.front, each.reference),
        1e-12);
    EXPECT_EQ(improvement(each.front[0], none), 0);
  }
}

TEST(HypervolumeImprovementTest, TheLogarithmIsFiniteFarBehindTheFront) {
  base::RandomStream random(1);
  const HypervolumeImprovement improvement(std::vector<pareto::Point>{{0.5, 0.5}}, {1, 1}, random);
  EXPECT_TRUE(std::isfinite(
      improvement.Log(std::vector<double>{1e6, 1e6}, std::vector<double>{1e-6, 1e-6})));
}

}  // namespace
}  // namespace bayloom::acquisition
