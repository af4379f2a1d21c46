// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/session_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace bayloom::tuning {
namespace {

std::vector<record::Metric> ToMetrics(record::TaskId task, int64_t slot,
                                      const cost::BatchMetrics& metrics) {
  return {{task, slot, "rmse", metrics.rmse},
          {task, slot, "mean_score", metrics.mean_score},
          {task, slot, "spearman", metrics.spearman},
          {task, slot, "pairwise_accuracy", metrics.pairwise_accuracy},
          {task, slot, "top_recall", metrics.top_recall},
          {task, slot, "top1_score", metrics.top1_score},
          {task, slot, "training_samples", static_cast<double>(metrics.training_samples)}};
}

}  // namespace

SessionLog::SessionLog(record::Store& store, record::RecordedRun run)
    : store_(&store), run_(std::move(run)) {}

SessionLog SessionLog::Begin(record::Store& store, record::TargetId target,
                             record::RunRecord record) {
  record.target = target;
  return SessionLog(store, record::RecordedRun(store, std::move(record)));
}

SessionLog SessionLog::Resume(record::Store& store, record::RunId session,
                              record::TargetId target) {
  SessionLog log(store, record::RecordedRun(store, {}, store.RunOf(session)));
  if (log.session().target != target) {
    throw InputError(fmt::format(
        "cannot resume session {} of {}: it was begun on another target; begin a new one", session,
        store.path()));
  }
  log.ReadState();
  return log;
}

void SessionLog::ReadState() {
  trials_ = run_.Earlier();
  const int64_t count = std::ssize(trials_);
  if (!session().state.empty()) {
    const std::optional<SessionState> state = SessionState::Parse(session().state);
    if (!state) RefuseToResume("its state is damaged");
    if (state->trials() > count) RefuseToResume("its trials are incomplete");
    state_ = *state;
    CheckSlots();
  }
  const int64_t in_slots = state_.trials();
  // What came after the last written slot belongs to one that was cut off; or to several, if
  // that happened again before the first slot after a resumption was written.
  for (int64_t i = in_slots; i < count; ++i) {
    const bool continues = i > in_slots && trials_[i].task == state_.slots.back().task;
    if (!continues) state_.slots.push_back({trials_[i].task, 0, state_.seconds});
    ++state_.slots.back().trials;
  }
}

void SessionLog::CheckSlots() const {
  auto trial = trials_.begin();
  for (const Slot& slot : state_.slots) {
    const auto end = trial + slot.trials;
    if (std::any_of(trial, end, [&](const auto& one) { return one.task != slot.task; })) {
      RefuseToResume(
          fmt::format("its state has a slot of task {} with trials of another", slot.task));
    }
    trial = end;
  }
}

void SessionLog::RefuseToResume(const std::string& reason) const {
  throw InputError(
      fmt::format("cannot resume session {} of {}: {}", session().id, store_->path(), reason));
}

std::vector<record::StoredTrial> SessionLog::EarlierTrials(record::TaskId task) const {
  std::vector<record::StoredTrial> trials = store_->TrialsOf(task, *session().target);
  std::unordered_set<uint64_t> seen;
  std::erase_if(trials, [&](const record::StoredTrial& trial) {
    return trial.run == session().id || !seen.insert(trial.key).second;
  });
  return trials;
}

std::unique_ptr<trial::TrialStore> SessionLog::TrialsOf(record::TaskId task) {
  return run_.Trials({.task = task, .target = *session().target});
}

void SessionLog::EndSlot(record::TaskId task, int64_t trials, double seconds,
                         const run::PhaseTimes& phases,
                         const std::optional<cost::BatchMetrics>& metrics) {
  state_.seconds = seconds;
  state_.phases = phases;
  state_.slots.push_back({task, trials, seconds});
  state_.gain.reset();  // it was that of fewer trials
  std::vector<record::Metric> rows;
  if (metrics) rows = ToMetrics(task, std::ssize(state_.slots) - 1, *metrics);
  store_->SaveState(session().id, state_.ToText(), rows);
}

void SessionLog::SetGain(const GainInTurns& gain) {
  state_.gain = gain;
  store_->SaveState(session().id, state_.ToText(), {});
}

}  // namespace bayloom::tuning
