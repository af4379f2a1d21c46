#include "bayloom/tuning/journal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

namespace bayloom {
namespace {

std::vector<Metric> ToMetrics(TaskId task, int64_t slot, const BatchMetrics& metrics) {
  return {{task, slot, "rmse", metrics.rmse},
          {task, slot, "mean_score", metrics.mean_score},
          {task, slot, "spearman", metrics.spearman},
          {task, slot, "pairwise_accuracy", metrics.pairwise_accuracy},
          {task, slot, "top_recall", metrics.top_recall},
          {task, slot, "top1_score", metrics.top1_score},
          {task, slot, "training_samples", static_cast<double>(metrics.training_samples)}};
}

}  // namespace

Journal::Journal(Store& store, SessionRecord session)
    : store_(&store), session_(std::move(session)) {}

Journal Journal::Begin(Store& store, TargetId target, const std::string& model,
                       const std::string& options, uint64_t seed) {
  return Journal(store, store.SessionOf(store.BeginSession(target, model, options, seed)));
}

Journal Journal::Resume(Store& store, SessionId session, TargetId target) {
  Journal journal(store, store.SessionOf(session));
  if (journal.session_.target != target) {
    throw InputError(fmt::format(
        "cannot resume session {} of {}: it was begun on another target; begin a new one", session,
        store.path()));
  }
  journal.ReadState();
  return journal;
}

void Journal::ReadState() {
  trials_ = store_->SessionTrials(session_.id);
  next_ordinal_ = static_cast<int64_t>(trials_.size());
  if (!session_.state.empty()) {
    const std::optional<SessionState> state = SessionState::Parse(session_.state);
    if (!state || state->trials() > next_ordinal_) {
      throw InputError(fmt::format("cannot resume session {} of {}: its trials are incomplete",
                                   session_.id, store_->path()));
    }
    state_ = *state;
  }
  const int64_t in_slots = state_.trials();
  // What came after the last written slot belongs to one that was cut off; or to several, if
  // that happened again before the first slot after a resumption was written.
  for (int64_t i = in_slots; i < next_ordinal_; ++i) {
    const bool continues = i > in_slots && trials_[i].task == state_.slots.back().task;
    if (!continues) state_.slots.push_back({trials_[i].task, 0, state_.seconds});
    ++state_.slots.back().trials;
  }
}

std::vector<Trial> Journal::EarlierTrials(TaskId task) const {
  std::vector<Trial> trials = store_->TrialsOf(task, session_.target);
  std::unordered_set<uint64_t> met;
  std::erase_if(trials, [&](const Trial& trial) {
    return trial.session == session_.id || !met.insert(trial.program_hash).second;
  });
  return trials;
}

void Journal::Record(TaskId task, const std::string& strategy, const Candidate& candidate,
                     const Outcome& outcome) {
  const bool is_new = store_->AddTrial({.session = session_.id,
                                        .task = task,
                                        .target = session_.target,
                                        .ordinal = next_ordinal_,
                                        .strategy = strategy,
                                        .space = candidate.space,
                                        .trace = candidate.trace.ToJson().dump(),
                                        .program_hash = candidate.hash,
                                        .outcome = outcome,
                                        .timestamp = 0});
  if (!is_new) throw std::logic_error("a program was tried twice: " + strategy);
  ++next_ordinal_;
  ++unfinished_slot_trials_;
}

void Journal::EndSlot(TaskId task, double seconds, const PhaseTimes& phases,
                      const std::optional<BatchMetrics>& metrics) {
  state_.seconds = seconds;
  state_.phases = phases;
  state_.slots.push_back({task, std::exchange(unfinished_slot_trials_, 0), seconds});
  std::vector<Metric> rows;
  if (metrics) rows = ToMetrics(task, static_cast<int64_t>(state_.slots.size()) - 1, *metrics);
  store_->SaveBatch(session_.id, state_.ToText(), rows);
}

void Journal::Finish() { store_->FinishSession(session_.id); }

}  // namespace bayloom
