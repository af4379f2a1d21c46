// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/model/surrogate.h"
#include "bayloom/model/task_observations.h"

namespace bayloom::model {

inline constexpr double kMaxDouble = std::numeric_limits<double>::max();
inline constexpr double kDenormal = std::numeric_limits<double>::denorm_min();
inline constexpr int kMagnitudeRows = 24;

/// Values of rows, of magnitudes that overflow or vanish when squared.
struct Magnitudes {
  std::string name;
  std::function<double(int row, base::RandomStream& random)> value;
};

inline double AnyMagnitude(base::RandomStream& random) {
  const double sign = random.UniformInt(2) == 0 ? 1 : -1;
  return sign * std::pow(10, -320 + 628 * random.Uniform());
}

inline const Magnitudes kMagnitudes[] = {
    {"half_the_largest", [](int i, auto&) { return i % 2 == 0 ? kMaxDouble : 1.0 + i; }},
    {"half_the_least", [](int i, auto&) { return i % 2 == 0 ? -kMaxDouble : 1.0 + i; }},
    {"both_ends", [](int i, auto&) { return i % 2 == 0 ? -kMaxDouble : kMaxDouble; }},
    {"all_the_largest", [](int, auto&) { return kMaxDouble; }},
    {"huge", [](int i, auto&) { return -1e200 * (1 + i % 5); }},
    {"huge_positive", [](int i, auto&) { return 1e200 * (1 + i % 5); }},
    {"denormal", [](int i, auto&) { return kDenormal * (i % 7); }},
    {"denormal_positive", [](int i, auto&) { return kDenormal * (1 + i % 7); }},
    {"zero", [](int, auto&) { return 0.0; }},
    {"from_least_to_largest", [](int i, auto&) { return std::pow(10, -300 + 25.0 * i); }},
    {"any", [](int, auto& random) { return AnyMagnitude(random); }},
    {"any_positive", [](int, auto& random) { return std::abs(AnyMagnitude(random)) + kDenormal; }},
};

inline TaskObservations DrawMagnitudes(const Magnitudes& values, base::RandomStream& random) {
  TaskObservations drawn{RowMatrix(kMagnitudeRows, 2), Eigen::VectorXd(kMagnitudeRows)};
  for (int i = 0; i < kMagnitudeRows; ++i) {
    drawn.rows(i, 0) = random.Uniform();
    drawn.rows(i, 1) = random.Uniform();
    drawn.values(i) = values.value(i, random);
  }
  return drawn;
}

using SurrogateMaker =
    std::function<std::unique_ptr<Surrogate>(std::vector<TaskObservations> earlier)>;

/// A surrogate that learns such values, with and after ordinary ones, predicts finite numbers.
inline void ExpectFinitePredictions(const SurrogateMaker& make, const Magnitudes& values) {
  base::RandomStream random(11);
  const Magnitudes usual{"usual", [](int i, auto&) { return 1.0 + i % 4; }};
  const auto surrogate = make({DrawMagnitudes(usual, random), DrawMagnitudes(values, random)});
  const auto check = [&] {
    Eigen::VectorXd mean, variance;
    const TaskObservations probe = DrawMagnitudes(usual, random);
    surrogate->Predict(probe.rows, mean, variance);
    EXPECT_TRUE(mean.allFinite());
    EXPECT_TRUE(variance.allFinite());
    EXPECT_GE(variance.minCoeff(), 0);
    for (double m : mean) EXPECT_TRUE(std::isfinite(surrogate->Untransform(m)));
  };
  const TaskObservations first = DrawMagnitudes(usual, random),
                         second = DrawMagnitudes(values, random);
  surrogate->Fit(first.rows, first.values, random);
  check();
  surrogate->Add(second.rows, second.values);
  check();
  surrogate->Fit(second.rows, second.values, random);
  check();
  surrogate->Add(first.rows, first.values);
  check();
}

}  // namespace bayloom::model
