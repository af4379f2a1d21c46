// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/finalists.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bayloom/tuning/measured_sets.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {
namespace {

/// Part of a measured time that may be noise even if its spread is smaller.
constexpr double kMinTrialNoise = 0.05;
/// Trials looked at for each candidate wanted: some cannot be made again any more.
constexpr int kTrialsPerCandidate = 4;

double NoiseOf(const trial::Outcome& outcome) {
  const measure::MeasurementDetails details = measure::DetailsOf(outcome);
  return std::max({kMinTrialNoise, details.spread, std::abs(details.drift - 1)});
}

/// Whether noise explains that one was slower than the best.
bool MayBeBest(const trial::Outcome& outcome, const trial::Outcome& best) {
  return outcome.value * (1 - std::min(0.5, NoiseOf(outcome))) <= best.value * (1 + NoiseOf(best));
}

Finalist Of(const record::StoredTrial& trial, sketch::Candidate candidate) {
  return {std::move(candidate),
          {},
          trial.run,
          trial.ordinal,
          trial.outcome.value,
          measure::DetailsOf(trial.outcome)};
}

/// The trial of the task's zero-trial program, by any run.
std::optional<Finalist> ZeroTrial(record::Store& store, const TuningTask& task,
                                  record::TargetId target) {
  if (!task.zero_trial()) return std::nullopt;
  for (const record::StoredTrial& trial : store.TrialsOf(task.id(), target)) {
    if (trial.key == task.zero_trial()->hash && trial.outcome.ok()) {
      return Of(trial, *task.zero_trial());
    }
  }
  return std::nullopt;
}

bool IsSame(const MeasuredSet& set, const Finalist& finalist) {
  return set.largest.hash == finalist.candidate.hash &&
         std::ranges::equal(set.small, finalist.small,
                            [](const SmallCandidate& a, const SmallCandidate& b) {
                              return a.candidate.hash == b.candidate.hash && a.size == b.size &&
                                     a.up_to == b.up_to;
                            });
}

}  // namespace

std::vector<Finalist> FinalistsOf(record::Store& store, const TuningTask& task,
                                  record::TargetId target, int count) {
  std::vector<Finalist> finalists;
  if (std::optional<Finalist> zero_trial = ZeroTrial(store, task, target)) {
    finalists.push_back(*std::move(zero_trial));
  }
  if (!task.space().workload().points.empty()) {
    if (!finalists.empty()) finalists[0].small = task.zero_trial_small();
    for (MeasuredSet& set : FastestSets(store, task.space(), nullptr, count)) {
      if (!finalists.empty() && IsSame(set, finalists[0])) continue;
      finalists.push_back(Of(set.trial, std::move(set.largest)));
      finalists.back().small = std::move(set.small);
    }
    return finalists;
  }
  std::optional<trial::Outcome> best;
  int found = 0;
  for (const record::StoredTrial& trial :
       store.BestOf(task.id(), target, (count + 1) * kTrialsPerCandidate)) {
    if (found == count || (best && !MayBeBest(trial.outcome, *best))) break;
    if (!finalists.empty() && finalists[0].candidate.hash == trial.key) {
      if (!best) best = trial.outcome;
      continue;
    }
    Result<sketch::Candidate> candidate = RestoreCandidate(task.space(), trial);
    if (!candidate) continue;
    if (!best) best = trial.outcome;
    finalists.push_back(Of(trial, *std::move(candidate)));
    ++found;
  }
  return finalists;
}

}  // namespace bayloom::tuning
