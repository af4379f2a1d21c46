// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/repeat_table.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "bayloom/base/quantile.h"
#include "bayloom/report/format.h"

namespace bayloom::report {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct RepeatedCandidate {
  const record::Repeat* first = nullptr;
  std::vector<double> values;  ///< of the repeats that have one
  int rounds = 0;

  double Median() const { return values.empty() ? kUnknown : base::Median(values); }
};

std::vector<RepeatedCandidate> Grouped(const std::vector<record::Repeat>& repeats) {
  std::map<std::tuple<record::TaskId, record::RunId, int64_t>, RepeatedCandidate> groups;
  for (const record::Repeat& repeat : repeats) {
    RepeatedCandidate& group = groups[{repeat.task, repeat.trial_run, repeat.trial}];
    if (!group.first) group.first = &repeat;
    ++group.rounds;
    if (repeat.outcome.ok()) group.values.push_back(repeat.outcome.value);
  }
  std::vector<RepeatedCandidate> candidates;
  for (auto& [key, group] : groups) candidates.push_back(std::move(group));
  return candidates;
}

/// The values of a run's feasible trials, by ordinal.
std::map<int64_t, double> TrialValues(record::Store& store, record::RunId run) {
  std::map<int64_t, double> values;
  for (const record::StoredTrial& trial : store.TrialsOfRun(run)) {
    if (trial.outcome.ok()) values[trial.ordinal] = trial.outcome.value;
  }
  return values;
}

}  // namespace

Table RepeatTable(record::Store& store, const record::RunRecord& run) {
  const std::vector<record::Repeat> repeats = store.RepeatsOf(run.id);
  std::vector<RepeatedCandidate> candidates = Grouped(repeats);
  std::ranges::stable_sort(candidates, [&](const auto& a, const auto& b) {
    if (a.first->task != b.first->task) return a.first->task < b.first->task;
    const double sign = run.maximize ? -1 : 1;
    return sign * a.Median() < sign * b.Median();
  });
  const bool has_tasks = std::ranges::any_of(repeats, [](const auto& r) { return r.task != 0; });
  std::vector<std::string> columns = {"trial", "rounds", "once", "repeated", "ratio"};
  if (has_tasks) columns.insert(columns.begin(), "task");
  Table table(columns);
  std::map<record::RunId, std::map<int64_t, double>> values;
  for (const RepeatedCandidate& candidate : candidates) {
    const auto [task, trial_run, trial] =
        std::tuple(candidate.first->task, candidate.first->trial_run, candidate.first->trial);
    if (trial_run != 0 && !values.contains(trial_run)) {
      values[trial_run] = TrialValues(store, trial_run);
    }
    const auto found = values[trial_run].find(trial);
    const double once = found == values[trial_run].end() ? kUnknown : found->second;
    const double median = candidate.Median();
    const auto shown = [&](double value) {
      return Cell(value, has_tasks ? FormatSeconds(value) : FormatValue(value));
    };
    std::vector<Cell> row = {trial_run == 0 ? Cell("default") : Cell(std::to_string(trial)),
                             candidate.rounds, shown(once), shown(median),
                             Cell(median / once, FormatRatio(median / once))};
    if (has_tasks) row.insert(row.begin(), Cell(task));
    table.AddRow(std::move(row));
  }
  return table;
}

}  // namespace bayloom::report
