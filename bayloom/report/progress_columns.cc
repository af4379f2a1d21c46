// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/progress_columns.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "bayloom/accelerator/network_mapping.h"
#include "bayloom/report/format.h"
#include "bayloom/report/mapping_units.h"
#include "bayloom/search/scenario_search.h"
#include "bayloom/tuning/session.h"

namespace bayloom::report {
namespace {

double Rate(const scheduling::TaskProgress& task) {
  const double best = task.best();
  return task.work > 0 && std::isfinite(best) ? task.work / best
                                              : std::numeric_limits<double>::quiet_NaN();
}

std::string LastText(const trial::Outcome* outcome,
                     const std::function<std::string(double)>& format) {
  if (outcome == nullptr) return "";
  return outcome->ok() ? format(outcome->value) : std::string(trial::ToString(outcome->verdict));
}

/// "3/12 name", or the name where there is one task only.
std::string TaskText(const run::RunStatus& status) {
  if (status.task < 0) return "";
  const std::string& name = status.tasks[status.task].name;
  if (status.tasks.size() == 1) return name;
  return fmt::format("{}/{} {}", status.task + 1, status.tasks.size(), name);
}

}  // namespace

ProgressOptions TuningProgress() {
  ProgressOptions options;
  options.keep_slots = true;
  options.columns = {
      {"task", 0,
       [](const run::RunStatus& status, const trial::Outcome*) { return TaskText(status); }},
      {"last", 8,
       [](const run::RunStatus&, const trial::Outcome* last) {
         return LastText(last, FormatSeconds);
       }},
      {"best", 8,
       [](const run::RunStatus& status, const trial::Outcome*) {
         return FormatSeconds(status.tasks[status.task].best());
       }},
      {"all tasks", 9, [](const run::RunStatus& status, const trial::Outcome*) {
         const bool is_estimated = scheduling::CountEstimated(status.tasks) > 0;
         return (is_estimated ? "~" : "") + FormatSeconds(scheduling::CostOfTheWhole(status.tasks));
       }}};
  return options;
}

/// The size of the front and the best of each further objective, if there are any.
void AddFrontColumns(const search::ScenarioSearch& search, ProgressOptions& options) {
  const search::Study& study = search.study(0);
  const std::vector<search::Objective>& objectives = study.objectives();
  if (objectives.size() == 1) return;
  options.columns.push_back({"front", 5, [&study](const run::RunStatus&, const trial::Outcome*) {
                               return std::to_string(study.front().size());
                             }});
  for (size_t k = 1; k < objectives.size(); ++k) {
    options.columns.push_back(
        {objectives[k].name, 12, [&study, k](const run::RunStatus&, const trial::Outcome*) {
           const search::Objective& objective = study.objectives()[k];
           double best = std::numeric_limits<double>::infinity();
           for (const search::StudyTrial& trial : study.front()) {
             best = std::min(best, search::MinimizedValues(trial.outcome, study.objectives())[k]);
           }
           if (study.front().empty()) return std::string("-");
           return FormatValue(objective.maximize ? -best : best);
         }});
  }
}

ProgressOptions SearchProgress(const search::ScenarioSearch& search) {
  ProgressOptions options;
  const auto best =
      [&search](const run::RunStatus& status) -> const std::optional<search::StudyTrial>& {
    return search.study(status.task).best();
  };
  const bool is_single = search.members().size() == 1;
  if (!is_single) {
    options.columns.push_back(
        {"scenario", 0,
         [](const run::RunStatus& status, const trial::Outcome*) { return TaskText(status); }});
  }
  options.columns.push_back({"failed", 6, [](const run::RunStatus& status, const trial::Outcome*) {
                               return std::to_string(status.trials - status.feasible_trials);
                             }});
  options.columns.push_back({"last", 12, [](const run::RunStatus&, const trial::Outcome* last) {
                               return LastText(last, FormatValue);
                             }});
  AddFrontColumns(search, options);
  options.columns.push_back({is_single ? search.members()[0].scenario.objectives[0].name : "best",
                             12, [best](const run::RunStatus& status, const trial::Outcome*) {
                               const auto& found = best(status);
                               return found ? FormatValue(found->outcome.value) : "-";
                             }});
  auto shown = std::make_shared<std::vector<int64_t>>();
  for (size_t i = 0; i < search.members().size(); ++i) {
    shown->push_back(search.study(static_cast<int>(i)).last_improvement());
  }
  options.is_news = [&search, shown](const run::RunStatus& status) {
    const int64_t improved = search.study(status.task).last_improvement();
    return std::exchange((*shown)[status.task], improved) != improved;
  };
  return options;
}

ProgressOptions MappingProgress(const accelerator::NetworkMapping& mapping) {
  ProgressOptions options;
  if (mapping.layers().size() > 1) {
    options.columns.push_back({"layer", 0, [](const run::RunStatus& status, const trial::Outcome*) {
                                 return TaskText(status);
                               }});
    options.columns.push_back(
        {"mapped", 7, [&mapping](const run::RunStatus& status, const trial::Outcome*) {
           return fmt::format("{}/{}", mapping.Sum().mapped, status.tasks.size());
         }});
    options.columns.push_back(
        {"energy", 10, [&mapping](const run::RunStatus&, const trial::Outcome*) {
           return FormatEnergy(mapping.Sum().energy_pj, 4);
         }});
    return options;
  }
  const auto format = [&mapping](double value) {
    return mapping.unit_objective().empty() ? FormatValue(value)
                                            : FormatMapValue(mapping.unit_objective(), value);
  };
  constexpr int kWidth = 16;
  options.columns.push_back(
      {"last", kWidth, [format](const run::RunStatus&, const trial::Outcome* last) {
         return LastText(last, format);
       }});
  options.columns.push_back(
      {"best", kWidth, [format](const run::RunStatus& status, const trial::Outcome*) {
         return format(status.tasks[0].best());
       }});
  return options;
}

Table TaskTable(std::span<const scheduling::TaskProgress> tasks) {
  Table table({"task", "weight", "trials", "best", "rate", "share"});
  const double whole = scheduling::CostOfTheWhole(tasks);
  for (const scheduling::TaskProgress& task : tasks) {
    const double best = task.best();
    const bool is_estimated = std::isinf(best) && std::isfinite(task.zero_trial_cost);
    const double cost = is_estimated ? task.zero_trial_cost : best;
    const double share = std::isfinite(whole) ? task.weight * cost / whole : std::nan("");
    table.AddRow({task.name,
                  {task.weight, fmt::format("{:g}", task.weight)},
                  task.trials(),
                  {best, (is_estimated ? "~" : "") + FormatSeconds(cost)},
                  {Rate(task), FormatRate(Rate(task))},
                  {share, std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"}});
  }
  return table;
}

std::string SummaryLine(const tuning::SessionStatus& status) {
  const double minutes = status.seconds / 60;
  return fmt::format(
      "{} trials in {} ({:.0f} a minute), {} of them without a time; {:.0f} % of the time went "
      "into neither compiling nor measuring",
      FormatCount(status.trials), FormatSeconds(status.seconds),
      minutes > 0 ? static_cast<double>(status.trials) / minutes : 0,
      FormatCount(status.trials - status.feasible_trials), 100 * status.phases.OverheadShare());
}

}  // namespace bayloom::report
