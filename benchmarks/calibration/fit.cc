// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/calibration/fit.h"

#include <array>

#include "bayloom/base/thread_pool.h"
#include "bayloom/cost/metrics.h"

namespace bayloom {
namespace {

/// Less than this is noise.
constexpr double kGain = 2e-4;

constexpr std::array kFitted = {
    &feature::EstimateWeights::operation,    &feature::EstimateWeights::long_vector,
    &feature::EstimateWeights::second_level, &feature::EstimateWeights::further_level,
    &feature::EstimateWeights::memory,       &feature::EstimateWeights::fork_join,
    &feature::EstimateWeights::job};

}  // namespace

RankCorrelations CorrelationsOf(const ScheduleRecords& records, const Estimate& estimate) {
  static base::ThreadPool pool;
  std::vector<double> correlations(records.tasks.size());
  pool.ParallelFor(std::ssize(correlations), [&](int64_t i) {
    const MeasuredSchedules& task = records.tasks[i];
    std::vector<double> estimates;
    for (const tensor::Program& program : task.programs) {
      estimates.push_back(estimate(program));
    }
    correlations[i] = cost::SpearmanCorrelation(estimates, task.seconds);
  });
  RankCorrelations result;
  std::map<std::string, int> counts;
  for (const MeasuredSchedules& task : records.tasks) ++counts[task.family];
  for (size_t i = 0; i < correlations.size(); ++i) {
    const std::string& family = records.tasks[i].family;
    result.families[family] += correlations[i] / counts[family];
    result.mean += correlations[i] / static_cast<double>(correlations.size());
  }
  return result;
}

RankCorrelations CorrelationsOf(const ScheduleRecords& records, const target::MachineModel& machine,
                                const feature::EstimateWeights& weights) {
  return CorrelationsOf(records, [&](const tensor::Program& program) {
    return feature::EstimateTime(program, machine, weights);
  });
}

feature::EstimateWeights FitWeights(const ScheduleRecords& records,
                                    const feature::EstimateWeights& start) {
  feature::EstimateWeights best = start;
  const auto value = [&](const feature::EstimateWeights& weights) {
    return CorrelationsOf(records, target::MachineOf(records.target), weights).mean;
  };
  double best_value = value(best);
  for (bool better = true; better;) {
    better = false;
    for (double feature::EstimateWeights::*weight : kFitted) {
      for (double factor : {0.5, 2.0}) {
        feature::EstimateWeights changed = best;
        changed.*weight *= factor;
        for (double at = value(changed); at > best_value + kGain; at = value(changed)) {
          best = changed;
          best_value = at;
          changed.*weight *= factor;
          better = true;
        }
      }
    }
  }
  return best;
}

}  // namespace bayloom
