// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tuning_task.h"

#include <algorithm>

#include "bayloom/measure/measurement_details.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {
TuningTask::TuningTask(const TaskSpec& spec, record::TaskId id,
                       std::unique_ptr<const sketch::SpaceGenerator> space,
                       std::unique_ptr<strategy::SearchStrategy> strategy, Learner& learner,
                       ProgramEvaluator& evaluator, std::unique_ptr<trial::TrialStore> store,
                       SlotObserver on_slot)
    : name_(spec.name),
      weight_(spec.weight),
      id_(id),
      space_(std::move(space)),
      workload_hash_(space_->workload().StructuralHash()),
      strategy_(std::move(strategy)),
      learner_(learner),
      evaluator_(evaluator),
      store_(std::move(store)),
      on_slot_(std::move(on_slot)) {}

void TuningTask::TryFirst(FirstPrograms first, int64_t opening_trials) {
  opening_trials_ = opening_trials;
  first_ = std::move(first.others);
  zero_trial_ = std::move(first.zero_trial);
  zero_trial_small_ = std::move(first.small);
  for (const SmallCandidate& small : zero_trial_small_) first_.push_back(small.candidate);
  if (zero_trial_) first_.insert(first_.begin(), *zero_trial_);
}

int64_t TuningTask::OpeningTrials() const {
  return std::min<int64_t>(opening_trials_, std::ssize(first_));
}

run::TrialValue TuningTask::Restore(const TuningTrial& trial) {
  std::erase_if(first_, [&](const sketch::Candidate& candidate) {
    return candidate.hash == trial.candidate.hash;
  });
  const trial::Outcome& outcome = trial.outcome;
  const measure::MeasurementDetails details = measure::DetailsOf(outcome);
  const bool is_candidate = trial.is_usable && outcome.ok() && !details.cut_short;
  if (is_candidate && (!best_ || outcome.value < best_->outcome.value)) {
    best_ = {trial.candidate, outcome};
  }
  run::TrialValue value;
  if (best_) value.cost = best_->outcome.value;
  value.seconds = details.build_seconds + details.measure_seconds;
  value.feasible = outcome.ok();
  return value;
}

std::optional<TrainingSample> TuningTask::Learn(const TuningTrial& trial) {
  if (!trial.is_usable) {
    strategy_->Exclude(trial.candidate.hash);
    return std::nullopt;
  }
  if (IsPlain(trial.candidate)) {
    strategy_->Exclude(trial.candidate.hash);  // it has no decisions that others could be bred from
  } else {
    strategy_->Notify({&trial.candidate, 1}, {&trial.outcome, 1});
  }
  return TrainingSample{workload_hash_, &trial.candidate, &trial.outcome, weight_};
}

std::vector<TrainingSample> TuningTask::LearnAll(std::span<const TuningTrial> trials) {
  std::vector<TrainingSample> samples;
  for (const TuningTrial& trial : trials) samples.push_back(*Learn(trial));
  return samples;
}

void TuningTask::BeginSlot() {
  learner_.Remember(LearnAll(unlearnt_));
  unlearnt_.clear();
  if (std::exchange(evaluator_knows_best_, true) || !best_) return;
  evaluator_.SetIncumbent(space_->workload(), best_->candidate.program, best_->outcome.value);
}

std::vector<ProgramTrial> TuningTask::Propose(int n, const std::function<bool()>&) {
  std::vector<ProgramTrial> trials;
  while (!first_.empty() && std::ssize(trials) < n) {
    strategy_->Exclude(first_.front().hash);
    trials.push_back({&space_->workload(), std::move(first_.front())});
    first_.erase(first_.begin());
  }
  const int left = n - static_cast<int>(trials.size());
  if (left == 0) return trials;
  for (sketch::Candidate& candidate : strategy_->GenerateCandidates(left)) {
    trials.push_back({&space_->workload(), std::move(candidate)});
  }
  return trials;
}

run::TrialValue TuningTask::Tell(ProgramTrial&& trial, const trial::Outcome& outcome, double) {
  return Restore(slot_.emplace_back(TuningTrial{std::move(trial.candidate), outcome}));
}

void TuningTask::EndSlot(bool interrupted) {
  std::optional<cost::BatchMetrics> metrics;
  if (!interrupted) metrics = learner_.Learn(LearnAll(slot_));
  on_slot_(*this, std::ssize(slot_), metrics);
  if (interrupted) std::ranges::move(slot_, std::back_inserter(unlearnt_));
  slot_.clear();
}

trial::TrialRecord TuningTask::RecordOf(const ProgramTrial& trial) {
  trial::TrialRecord record;
  record.candidate = CandidateText(trial.candidate);
  record.key = trial.candidate.hash;
  const bool is_zero_trial = zero_trial_ && zero_trial_->hash == trial.candidate.hash;
  record.proposer = is_zero_trial ? kZeroTrialProposer : strategy_->name();
  return record;
}

}  // namespace bayloom::tuning
