// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/alternate.h"

#include <algorithm>
#include <chrono>

namespace bayloom {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void TakeTurn(const std::function<void()>& run, double seconds, std::vector<double>& times) {
  run();
  run();
  const double end = Now() + seconds;
  for (int i = 0; i < 3 || Now() < end; ++i) {
    const double start = Now();
    run();
    times.push_back(Now() - start);
  }
}

double Quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

}  // namespace

std::vector<RunTime> Alternate(const std::vector<std::function<void()>>& sides,
                               const AlternateOptions& options) {
  std::vector<std::vector<double>> times(sides.size());
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < sides.size(); ++i) {
      TakeTurn(sides[i], options.seconds_a_turn, times[i]);
    }
  }
  std::vector<RunTime> result;
  for (std::vector<double>& side : times) {
    std::sort(side.begin(), side.end());
    result.push_back({Quantile(side, 0.5), Quantile(side, 0.75) - Quantile(side, 0.25)});
  }
  return result;
}

}  // namespace bayloom
