// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/scheduling/replay.h"

#include <algorithm>
#include <ctime>

#include "bayloom/scheduling/learning_curve_forecast.h"

namespace bayloom {
namespace {

/// Processor time of this thread.
double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<scheduling::TaskProgress> BeginningOf(const RecordedNetwork& network) {
  std::vector<scheduling::TaskProgress> tasks;
  for (const RecordedOperator& task : network.tasks) {
    scheduling::TaskProgress progress;
    progress.name = task.name;
    progress.weight = task.weight;
    progress.work = task.flops;
    progress.lower_bound = task.lower_bound;
    progress.expected_cost = task.expected_cost;
    tasks.push_back(std::move(progress));
  }
  return tasks;
}

double LatencyOf(const std::vector<scheduling::TaskProgress>& tasks, const Draw& draw) {
  double sum = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    sum += tasks[i].weight * std::min(tasks[i].best(), draw[i]->FirstCost());
  }
  return sum;
}

}  // namespace

Draw DrawCurves(const RecordedNetwork& network, uint64_t seed) {
  base::RandomStream random(seed);
  Draw draw;
  for (const RecordedOperator& task : network.tasks) {
    draw.push_back(&task.curves[random.UniformInt(static_cast<int64_t>(task.curves.size()))]);
  }
  return draw;
}

const ReplayedRun::Point* ReplayedRun::Reaching(double latency) const {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.latency <= latency * (1 + 1e-12);
  });
  return found == points.end() ? nullptr : &*found;
}

double ReplayedRun::MeanLatency() const {
  double sum = 0;
  for (const Point& point : points) sum += point.latency;
  return sum / static_cast<double>(points.size());
}

double ReplayedRun::MeanLatencyOverTime() const {
  double sum = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    sum += points[i - 1].latency * (points[i].tuning_seconds - points[i - 1].tuning_seconds);
  }
  return sum / points.back().tuning_seconds;
}

ReplayedRun Replay(const RecordedNetwork& network, const Draw& draw, const std::string& scheduler,
                   const scheduling::TaskSchedulerOptions& options, bool with_forecasts) {
  const auto chooser = scheduling::CreateTaskScheduler(scheduler, options);
  std::vector<scheduling::TaskProgress> tasks = BeginningOf(network);
  scheduling::LearningCurveForecast forecast(options);
  ReplayedRun run;
  ReplayedRun::Point point = {0, 0, LatencyOf(tasks, draw), -1};
  run.points.push_back(point);
  while (point.trials < options.max_trials) {
    const double start = ThreadSeconds();
    point.task = chooser->Next(tasks);
    run.scheduler_seconds += ThreadSeconds() - start;
    if (point.task < 0) break;
    scheduling::TaskProgress& task = tasks[point.task];
    const RecordedCurve& curve = *draw[point.task];
    const int length = static_cast<int>(curve.best_after_trial.size());
    for (int i = 0; i < options.trials_per_slot && task.trials() < length; ++i) {
      const double seconds = curve.trial_seconds[task.trials()];
      point.tuning_seconds += seconds;
      task.seconds += seconds;
      task.best_after_trial.push_back(curve.best_after_trial[task.trials()]);
      ++point.trials;
    }
    task.slot_ends.push_back(task.trials());
    task.finished = task.trials() == length;
    point.latency = LatencyOf(tasks, draw);
    if (with_forecasts) {
      point.forecast = forecast.ShareWithin(tasks, ReplayedRun::kForecastSeconds);
    }
    run.points.push_back(point);
  }
  return run;
}

}  // namespace bayloom
