// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/strategies/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace bayloom {
namespace {

double Mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Mean of a number over the runs.
template <typename Number>
double MeanOf(const std::vector<const TuningRun*>& runs, Number number) {
  std::vector<double> values;
  for (const TuningRun* run : runs) values.push_back(number(*run));
  return Mean(values);
}

double MeanSeconds(const std::vector<const TuningRun*>& runs) {
  return std::exp(MeanOf(runs, [](const TuningRun& r) { return std::log(r.final_seconds()); }));
}

double MedianTrials(const std::vector<const TuningRun*>& runs, double seconds) {
  std::vector<double> trials;
  for (const TuningRun* run : runs) trials.push_back(run->TrialsToReach(seconds));
  return Median(trials);
}

}  // namespace

std::vector<Comparison> Compare(const std::vector<TuningRun>& runs, const std::string& reference) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const TuningRun*>> by_strategy;
  for (const TuningRun& run : runs) {
    std::vector<const TuningRun*>& of_strategy = by_strategy[run.strategy];
    if (of_strategy.empty()) order.push_back(run.strategy);
    of_strategy.push_back(&run);
  }
  std::vector<Comparison> comparisons;
  for (const std::string& strategy : order) {
    const std::vector<const TuningRun*>& mine = by_strategy[strategy];
    Comparison c;
    c.subject = runs.front().subject;
    c.strategy = strategy;
    c.seconds = MeanSeconds(mine);
    c.strategy_share = MeanOf(mine, [](const TuningRun& r) { return r.strategy_share(); });
    c.refused = MeanOf(mine, [](const TuningRun& r) { return r.refused; });
    c.rmse = MeanOf(mine, [](const TuningRun& r) { return Mean(r.rmse); });
    c.score = MeanOf(mine, [](const TuningRun& r) { return Mean(r.score); });
    if (const auto at = by_strategy.find(reference); at != by_strategy.end()) {
      const double theirs = MeanSeconds(at->second);
      c.ratio = theirs / c.seconds;
      c.trials_to_reference = MedianTrials(mine, theirs);
      c.reference_trials = MedianTrials(at->second, c.seconds);
    }
    comparisons.push_back(c);
  }
  return comparisons;
}

}  // namespace bayloom
