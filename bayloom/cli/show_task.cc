// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/show.h"
#include "bayloom/codegen/compile.h"
#include "bayloom/explain/code_plan.h"
#include "bayloom/explain/explanation.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::cli {
namespace {

/// The machine to show a task for: the one that was asked for if it has trials of it, else the
/// first one that has.
record::TargetId TargetWithTrials(record::Store& store, record::TaskId task,
                                  const target::Target& wanted) {
  const std::optional<record::TargetId> exact = store.FindTarget(wanted);
  if (exact && !store.TrialsOf(task, *exact).empty()) return *exact;
  for (record::TargetId id : store.Targets()) {
    if (!store.TrialsOf(task, id).empty()) return id;
  }
  throw InputError(fmt::format("{}: task {} has no trials", store.path(), task));
}

record::TaskRecord FindTask(record::Store& store, record::TaskId id) {
  std::string known;
  for (record::TaskRecord& task : store.Tasks()) {
    if (task.id == id) return std::move(task);
    known += (known.empty() ? "" : ", ") + std::to_string(task.id);
  }
  throw InputError(fmt::format("{} has no task {}; there are {}", store.path(), id,
                               known.empty() ? "none" : known));
}

/// The trials that were faster than all before them.
report::Table Improvements(const std::vector<record::StoredTrial>& trials) {
  report::Table table({"trial", "run", "found", "time", "by"});
  double best = std::numeric_limits<double>::infinity();
  int64_t number = 0;
  for (const record::StoredTrial& trial : trials) {
    ++number;
    const trial::Outcome& outcome = trial.outcome;
    if (!outcome.ok() || measure::DetailsOf(outcome).cut_short || outcome.value >= best) continue;
    best = outcome.value;
    table.AddRow({number,
                  trial.run,
                  report::FormatTime(trial.timestamp),
                  {best, report::FormatSeconds(best)},
                  trial.proposer});
  }
  return table;
}

std::string Assembly(const tuning::MeasuredCandidate& best, const target::Target& target) {
  Result<std::string> assembly = codegen::EmitAssembly(best.candidate.program, target, "kernel");
  return assembly ? *assembly : "no code can be made: " + assembly.error().message + "\n";
}

struct ShownTask {
  record::TaskRecord record;
  sketch::SpaceGenerator space;
  std::vector<record::StoredTrial> trials;
  std::optional<tuning::MeasuredCandidate> best;
  std::optional<explain::Explanation> why;  ///< where it was asked for
};

nlohmann::json PlanOf(const ShownTask& task) {
  return explain::CodePlanOf(task.best->candidate.program, task.space.target());
}

void PrintAsJson(const ShownTask& task) {
  nlohmann::json shown = {{"task", task.record.id},
                          {"name", task.record.name},
                          {"workload", tensor::Print(task.space.workload())},
                          {"flops", task.space.workload().Flops()},
                          {"trials", task.trials.size()},
                          {"history", Improvements(task.trials).Json()}};
  if (task.best) {
    shown["best"] = {{"seconds", task.best->outcome.value},
                     {"spread", measure::DetailsOf(task.best->outcome).spread},
                     {"program", tensor::Print(task.best->candidate.program)},
                     {"plan", PlanOf(task)},
                     {"trace", task.best->candidate.trace.ToJson()}};
  }
  if (task.why) shown["why"] = explain::ToJson(*task.why);
  fmt::print("{}\n", report::JsonText(shown));
}

std::string Percent(double part) { return fmt::format("{:.0f} %", 100 * std::max(0.0, part)); }

std::string Median(const explain::Redraws& redraws) {
  return redraws.draws > 0 ? report::FormatRatio(redraws.median) : "-";
}

/// Each decision, and how much hangs on it.
report::Table DecisionTable(const explain::DecisionInfluences& influences) {
  report::Table table(
      {"decision", "alone", "with interactions", "drawn again, learnt", "drawn again, estimated"});
  for (const explain::DecisionInfluence& influence : influences.decisions) {
    const auto& index = influence.index;
    table.AddRow({base::SingleLine(influence.decision, 60),
                  index ? Percent(index->first.value) : "-",
                  index ? Percent(index->total.value) : "-",
                  influence.learnt ? Median(*influence.learnt) : "-", Median(influence.estimated)});
  }
  return table;
}

void PrintWhy(const explain::Explanation& why) {
  fmt::print("\nWhy it is fast\n");
  for (const std::string& sentence : explain::Sentences(why)) {
    fmt::print("- {}\n", base::SingleLine(sentence, 600));
  }
  if (!why.influences.decisions.empty()) {
    fmt::print("\n{}", DecisionTable(why.influences).Text());
  }
}

void PrintAsText(const ShownTask& task, const ShowOptions& options) {
  fmt::print("Task {}: {}\n\n{}\n", task.record.id, base::SingleLine(task.record.name, 200),
             report::InLines(tensor::Print(task.space.workload())));
  if (options.history) fmt::print("{}\n", Improvements(task.trials).Text());
  if (!task.best) {
    fmt::print("None of {} trials gave a program that could be made again.\n", task.trials.size());
    return;
  }
  const trial::Outcome& outcome = task.best->outcome;
  fmt::print(
      "{} {} trials: {}, spread {:.1f} %, {} ({} a run)\n\n",
      tuning::IsPlain(task.best->candidate) ? "The default program, the best of it and" : "Best of",
      task.trials.size(), report::FormatSeconds(outcome.value),
      100 * measure::DetailsOf(outcome).spread,
      report::FormatRate(task.space.workload().Flops() / outcome.value),
      report::FormatFlops(task.space.workload().Flops()));
  fmt::print("{}\nIts code\n", report::InLines(tensor::Print(task.best->candidate.program)));
  for (const std::string& line : explain::CodePlanLines(PlanOf(task))) {
    fmt::print("- {}\n", base::SingleLine(line, 600));
  }
  if (task.why) PrintWhy(*task.why);
  if (options.trace) fmt::print("\n{}", report::InLines(task.best->candidate.trace.Print()));
  if (options.assembly) fmt::print("\n{}", Assembly(*task.best, task.space.target()));
}

}  // namespace

void ShowTask(const ShowOptions& options) {
  record::Store store(options.subject.path, record::Store::Mode::kReadOnly);
  const record::TaskRecord record = FindTask(store, *options.task);
  const record::TargetId target = TargetWithTrials(store, record.id, options.target.Named());
  ShownTask task{record,
                 sketch::SpaceGenerator(store.WorkloadOf(record.id), store.TargetOf(target)),
                 store.TrialsOf(record.id, target), std::nullopt, std::nullopt};
  task.best = tuning::RestoreBest(store, task.space);
  if (options.why && task.best) {
    task.why = explain::Explain(store, record.id, target, task.space, *task.best);
  }
  options.json ? PrintAsJson(task) : PrintAsText(task, options);
}

}  // namespace bayloom::cli
