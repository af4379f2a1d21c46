// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/simulate/simulation.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/search/recorded_space.h"
#include "bayloom/search/scenario.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom {
namespace {

namespace fs = std::filesystem;

std::string TaskName(const fs::path& path) {
  const std::string file = path.filename().string();
  return path.parent_path().filename().string() + "/" + file.substr(0, file.find('_'));
}

/// Processor time of this thread, so that searches side by side do not count each other's.
double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Everything is minimized: what is maximized is negative.
double Enough(double optimum, double share) {
  return optimum > 0 ? optimum * (1 + share) : optimum / (1 + share);
}

}  // namespace

RecordedTask LoadRecordedTask(const std::string& path) {
  const fs::path file(path), folder = file.parent_path();
  const bool is_scenario = file.extension() == ".yaml";
  const search::Scenario scenario =
      search::LoadScenario(is_scenario ? path : (folder / "T1.json").string());
  const search::RecordedSpace recorded =
      is_scenario ? search::RecordedSpace::Load((folder / file.stem()).string() + "_T4.json.gz",
                                                {scenario.objectives[0].name})
                  : search::RecordedSpace::Load(path);
  const bool maximize = is_scenario && scenario.objectives[0].maximize;
  RecordedTask task;
  task.name = is_scenario ? scenario.name : TaskName(path);
  task.space = scenario.space;
  task.optimum = maximize ? -recorded.Max() : recorded.Min();
  task.space->ForEach([&](const space::Configuration& c) {
    trial::Outcome outcome = recorded.OutcomeOf(space::ToJson(*task.space, c));
    if (maximize) outcome.value = -outcome.value;
    task.outcomes.emplace(c, std::move(outcome));
    return true;
  });
  if (static_cast<int64_t>(task.outcomes.size()) != recorded.size()) {
    throw InputError(path + ": the space has " + std::to_string(task.outcomes.size()) +
                     " configurations, but " + std::to_string(recorded.size()) + " are recorded");
  }
  return task;
}

int Curve::TrialsToReach(double optimum, double share) const {
  const double enough = Enough(optimum, share);
  const auto reached = std::find_if(improvements.begin(), improvements.end(),
                                    [&](const Point& p) { return p.value <= enough; });
  return reached == improvements.end() ? std::numeric_limits<int>::max() : reached->trial;
}

Curve Simulate(const RecordedTask& task, std::string_view optimizer,
               const optimizer::OptimizerOptions& options, const SimulationEnd& end, int batch) {
  const std::unique_ptr<optimizer::Optimizer> search =
      optimizer::MakeOptimizer(optimizer, task.space, options);
  Curve curve;
  double best = std::numeric_limits<double>::infinity();
  while (curve.trials < end.trials && best > Enough(task.optimum, end.share)) {
    const double start = ThreadSeconds();
    const std::vector<space::Configuration> asked =
        search->Ask(std::min(batch, end.trials - curve.trials));
    if (asked.empty()) break;
    std::vector<const trial::Outcome*> outcomes;
    for (const space::Configuration& c : asked) outcomes.push_back(&task.outcomes.at(c));
    for (size_t i = 0; i < asked.size(); ++i) search->Tell(asked[i], *outcomes[i]);
    curve.seconds_asking += ThreadSeconds() - start;
    for (const trial::Outcome* outcome : outcomes) {
      ++curve.trials;
      if (!outcome->ok() || outcome->value >= best) continue;
      best = outcome->value;
      curve.improvements.push_back({curve.trials, best});
    }
  }
  return curve;
}

}  // namespace bayloom
