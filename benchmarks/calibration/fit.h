// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <string>

#include "bayloom/feature/time_estimate.h"
#include "benchmarks/calibration/schedules.h"

namespace bayloom {

/// How well estimates order the schedules of each task: Spearman's rank correlation with the
/// measured times.
struct RankCorrelations {
  std::map<std::string, double> families;  ///< means over a family's tasks
  double mean = 0;                         ///< over all tasks
};
using Estimate = std::function<double(const tensor::Program& program)>;
RankCorrelations CorrelationsOf(const ScheduleRecords& records, const Estimate& estimate);
RankCorrelations CorrelationsOf(const ScheduleRecords& records, const target::MachineModel& machine,
                                const feature::EstimateWeights& weights);

/// The weights that order the schedules best on the records' machine, by coordinate ascent from
/// `start`: each weight in turn is halved and doubled as long as the mean correlation grows. So
/// they are powers of two times those of the start, which is as finely as a few thousand schedules
/// tell them.
feature::EstimateWeights FitWeights(const ScheduleRecords& records,
                                    const feature::EstimateWeights& start);

}  // namespace bayloom
