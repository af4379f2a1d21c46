// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/session_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/report/format.h"
#include "bayloom/tuning/session_state.h"

namespace bayloom::report {
namespace {

constexpr double kNoLatency = std::numeric_limits<double>::infinity();

std::string LabelOf(const record::RunRecord& record) {
  const nlohmann::json options = base::ParseJsonOrDiscard(record.definition);
  const auto text = [&](const char* name) -> std::string {
    const bool is_there =
        options.is_object() && options.contains(name) && options[name].is_string();
    return is_there ? options[name].get<std::string>() : "";
  };
  const std::string scheduler = text("scheduler"), strategy = text("strategy");
  if (scheduler.empty() && strategy.empty()) return fmt::format("run {}", record.id);
  const nlohmann::json prior = options.value("prior", nlohmann::json());
  const bool has_prior =
      prior.is_object() && prior.contains("trials") && prior["trials"].is_number();
  return fmt::format(
      "{}, {}, seed {}{}", scheduler.empty() ? "?" : scheduler, strategy.empty() ? "?" : strategy,
      record.seed,
      has_prior ? fmt::format(", prior of {} trials", FormatCount(prior["trials"].get<int64_t>()))
                : "");
}

/// Of times of day in microseconds, of which no difference needs to be a number of 64 bits.
double SecondsBetween(int64_t begin, int64_t end) {
  return 1e-6 * (static_cast<double>(end) - static_cast<double>(begin));
}

/// Reads a run's trials one after the other.
class Reader {
 public:
  Reader(record::Store& store, record::RunId run) : trials_(store.TrialsOfRun(run)) {
    report_.record = store.RunOf(run);
    report_.label = LabelOf(report_.record);
    if (const auto state = tuning::SessionState::Parse(report_.record.state)) state_ = *state;
    report_.gain = state_.gain;
    AddTasks(store);
    for (const record::Metric& metric : store.MetricsOf(run)) {
      report_.model[metric.name].push_back(metric.value);
    }
    if (state_.phases.Total() > 0) report_.phases = state_.phases;
  }

  SessionReport Read() {
    size_t next = 0;
    for (const tuning::Slot& slot : state_.slots) {
      const size_t end = std::min(trials_.size(), next + static_cast<size_t>(slot.trials));
      ReadSlot(std::span(trials_).subspan(next, end - next), slot.end);
      next = end;
    }
    // What was cut off after the last slot that was written.
    if (next < trials_.size()) ReadSlot(std::span(trials_).subspan(next), 0);
    return std::move(report_);
  }

 private:
  void AddTasks(record::Store& store) {
    for (const record::TaskRecord& task : store.Tasks()) {
      const auto weight = state_.weights.find(task.id);
      const bool is_tried =
          std::any_of(trials_.begin(), trials_.end(),
                      [&](const record::StoredTrial& trial) { return trial.task == task.id; });
      if (weight == state_.weights.end() && !is_tried) continue;
      AddTask(task.id, task.name, weight == state_.weights.end() ? 1 : weight->second);
    }
    for (const record::StoredTrial& trial : trials_) {
      if (!places_.contains(trial.task)) AddTask(trial.task, "unknown", 1);
    }
  }

  void AddTask(record::TaskId id, const std::string& name, double weight) {
    places_[id] = static_cast<int>(report_.tasks.size());
    const auto estimate = state_.estimates.find(id);
    report_.tasks.push_back(
        {.id = id,
         .name = name,
         .weight = weight,
         .slots = 0,
         .trials = 0,
         .best = kNoLatency,
         .estimate = estimate == state_.estimates.end() ? kNoLatency : estimate->second});
  }

  /// `end` is 0 if it is not known: then times of day tell.
  void ReadSlot(std::span<const record::StoredTrial> trials, double end) {
    if (trials.empty()) return;
    const int place = places_.at(trials.front().task);
    SessionReport::Task& task = report_.tasks[place];
    const double before = task.best;
    for (const record::StoredTrial& trial : trials) {
      const double seconds = end > 0
                                 ? end - SecondsBetween(trial.timestamp, trials.back().timestamp)
                                 : SecondsBetween(report_.record.started, trial.timestamp);
      ReadTrial(trial, task, seconds);
    }
    ++task.slots;
    report_.turns.push_back({place, static_cast<int64_t>(trials.size()),
                             report_.points.back().seconds, task.weight * (before - task.best),
                             Latency()});
    if (std::isinf(before)) report_.turns.back().gain = std::nan("");
  }

  void ReadTrial(const record::StoredTrial& trial, SessionReport::Task& task, double seconds) {
    ++task.trials;
    ++trials_read_;
    const trial::Outcome& outcome = trial.outcome;
    const bool is_better = outcome.ok() && !measure::DetailsOf(outcome).cut_short &&
                           outcome.value > 0 && outcome.value < task.best;
    if (is_better) task.best = outcome.value;
    if (is_better || trials_read_ == static_cast<int64_t>(trials_.size()) ||
        report_.points.empty()) {
      report_.points.push_back({trials_read_, seconds, Latency()});
    }
    report_.points.back().latency = Latency();
  }

  double Latency() const {
    double sum = 0;
    for (const SessionReport::Task& task : report_.tasks) {
      if (task.weight > 0) sum += task.weight * task.seconds();
    }
    return sum;
  }

  std::vector<record::StoredTrial> trials_;
  tuning::SessionState state_;
  SessionReport report_;
  std::map<record::TaskId, int> places_;
  int64_t trials_read_ = 0;
};

}  // namespace

double SessionReport::latency() const {
  return points.empty() ? kNoLatency : points.back().latency;
}

int SessionReport::estimated_tasks() const {
  return static_cast<int>(std::ranges::count_if(tasks, [](const Task& task) {
    return task.weight > 0 && std::isinf(task.best) && std::isfinite(task.estimate);
  }));
}

SessionReport::Point SessionReport::After(int64_t trials) const {
  Point last = {0, 0, kNoLatency};
  for (const Point& point : points) {
    if (point.trials > trials) break;
    last = point;
  }
  return last;
}

SessionReport ReportOf(record::Store& store, record::RunId run) {
  return Reader(store, run).Read();
}

nlohmann::json ToJson(const SessionReport& report) {
  const auto finite = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  nlohmann::json points = nlohmann::json::array();
  for (const SessionReport::Point& point : report.points) {
    points.push_back({point.trials, point.seconds, finite(point.latency)});
  }
  nlohmann::json phases;
  if (report.phases) {
    for (const run::NamedPhase& phase : run::kPhases)
      phases[phase.name] = *report.phases.*phase.seconds;
  }
  const nlohmann::json options = base::ParseJsonOrDiscard(report.record.definition);
  return {{"estimated_tasks", report.estimated_tasks()},
          {"gain", report.gain ? tuning::ToJson(*report.gain) : nlohmann::json()},
          {"run", report.record.id},
          {"kind", std::string(record::ToString(report.record.kind))},
          {"model", report.record.name},
          {"label", report.label},
          {"options", options.is_discarded() ? nlohmann::json(report.record.definition) : options},
          {"seed", report.record.seed},
          {"trials", report.trials()},
          {"seconds", report.seconds()},
          {"latency", finite(report.latency())},
          {"latency_after", points},
          {"tasks", TaskTable(report).Json()},
          {"slots", TurnTable(report).Json()},
          {"phases", phases},
          {"cost_model", report.model}};
}

}  // namespace bayloom::report
