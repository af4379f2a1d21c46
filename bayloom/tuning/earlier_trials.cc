// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/earlier_trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/cost/model_file.h"
#include "bayloom/cost/selection/score_spread.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {
namespace {

constexpr uint64_t kSeed = 0;  ///< of models: all that they depend on is samples

/// Places of up to `count` of the programs with these seconds, ascending.
std::vector<int> ChooseSpread(std::span<const std::optional<double>> seconds, int64_t count) {
  double best = std::numeric_limits<double>::infinity();
  for (const std::optional<double>& one : seconds) best = std::min(best, one.value_or(best));
  std::vector<double> throughputs;
  for (const std::optional<double>& one : seconds) throughputs.push_back(one ? best / *one : 0);
  std::vector<int> chosen = cost::SpreadScores(
      throughputs, {}, static_cast<int>(std::min<int64_t>(count, std::ssize(throughputs))),
      cost::ScoreDistance::kWeighted);
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<int> ChooseSpread(const std::vector<record::MeasuredSample>& samples, int64_t count) {
  std::vector<std::optional<double>> seconds;
  for (const record::MeasuredSample& sample : samples) seconds.push_back(sample.seconds);
  return ChooseSpread(seconds, count);
}

/// Adds programs to those known; one that is known takes the newer time.
void Merge(std::vector<record::MeasuredSample> measured, record::TaskSamples& known) {
  std::unordered_map<uint64_t, size_t> places;
  for (size_t i = 0; i < known.samples.size(); ++i) places.emplace(known.samples[i].hash, i);
  for (record::MeasuredSample& sample : measured) {
    const auto [place, is_new] = places.emplace(sample.hash, known.samples.size());
    if (is_new) {
      ++known.given;
      known.samples.push_back(std::move(sample));
    } else {
      known.samples[place->second] = std::move(sample);
    }
  }
}

/// The largest number that tasks with so many programs can give each, or all they have, without
/// giving more than `count` in all.
int64_t EqualShare(std::vector<int64_t> programs, int64_t count) {
  std::ranges::sort(programs);
  int64_t left = count;
  for (size_t i = 0; i < programs.size(); ++i) {
    const int64_t share = left / static_cast<int64_t>(programs.size() - i);
    if (programs[i] > share) return share;
    left -= programs[i];
  }
  return count;
}

/// What a model was trained on has changed by more than `growth` since.
bool IsOutdated(const record::StoredModel& model, int64_t given, double growth) {
  return std::abs(static_cast<double>(given - model.given)) >
         growth * static_cast<double>(model.given);
}

std::optional<TrialPrior> Unpacked(std::optional<record::StoredModel> stored) {
  if (!stored) return std::nullopt;
  Result<std::unique_ptr<cost::ThroughputModel>> model = cost::UnpackModel(stored->bytes);
  if (!model) return std::nullopt;
  return TrialPrior{*std::move(model), *std::move(stored)};
}

}  // namespace

void EarlierTrials::Add(const target::Target& target, const tensor::Workload& workload,
                        std::vector<record::MeasuredSample> measured) {
  if (measured.empty()) return;
  // What was measured of the machine for a tuning may have been disturbed (see UserStore).
  target::Target without_machine = target;
  without_machine.machine.reset();
  const record::TargetId target_id = store_.AddTarget(without_machine);
  const record::TaskId task = store_.AddTask(workload);
  samples_.Update(task, target_id, [&](record::TaskSamples& known) {
    Merge(std::move(measured), known);
    std::vector<record::MeasuredSample> kept;
    for (const int place : ChooseSpread(known.samples, options_.samples_per_task)) {
      kept.push_back(std::move(known.samples[place]));
    }
    known.samples = std::move(kept);
  });
  samples_.Trim(options_.bytes);
}

std::vector<record::SampledTask> EarlierTrials::TasksOn(const target::Target& target) {
  const std::optional<record::TargetId> id = store_.FindTarget(target);
  return id ? samples_.TasksOn(*id) : std::vector<record::SampledTask>();
}

record::TaskSamples EarlierTrials::SamplesOf(record::TaskId task, const target::Target& target) {
  const std::optional<record::TargetId> id = store_.FindTarget(target);
  return id ? samples_.Of(task, *id) : record::TaskSamples{.task = task, .given = 0, .samples = {}};
}

std::optional<TrialPrior> EarlierTrials::Learn(const target::Target& target, bool keep) {
  const std::optional<record::TargetId> id = store_.FindTarget(target);
  if (!id) return std::nullopt;
  const int64_t given = samples_.Given(*id);
  if (given < options_.min_learnt) return std::nullopt;
  std::optional<record::StoredModel> last = samples_.LastModel(*id);
  if (last && !IsOutdated(*last, given, options_.growth)) {
    if (std::optional<TrialPrior> prior = Unpacked(std::move(last))) return prior;
  }
  std::vector<record::SampledTask> tasks = samples_.TasksOn(*id);
  std::ranges::sort(tasks, {}, &record::SampledTask::id);
  const std::vector<cost::Sample> learnt = Selected(tasks, *id);
  if (std::ssize(learnt) < options_.min_learnt) return std::nullopt;
  const std::unique_ptr<cost::ThroughputModel> model =
      cost::CreateThroughputModel("xgboost", kSeed);
  model->Fit(learnt);
  if (!model->fitted()) return std::nullopt;
  record::StoredModel trained;
  trained.bytes = cost::PackModel(*model);
  trained.hash = base::Hasher().Add(trained.bytes).Digest();
  trained.given = given;
  trained.trials = std::ssize(learnt);
  trained.tasks = std::ssize(tasks);
  if (keep) samples_.ReplaceModels(*id, trained);
  return Unpacked(std::move(trained));  // the same, trained or read
}

/// The same number of each task's programs, where it has so many.
std::vector<cost::Sample> EarlierTrials::Selected(std::span<const record::SampledTask> tasks,
                                                  record::TargetId target) {
  std::vector<record::TaskSamples> all;
  std::vector<int64_t> counts;
  for (const record::SampledTask& task : tasks) {
    all.push_back(samples_.Of(task.id, target));
    counts.push_back(std::ssize(all.back().samples));
  }
  const int64_t share = EqualShare(counts, options_.max_learnt);
  std::vector<cost::Sample> selected;
  for (record::TaskSamples& task : all) {
    for (const int place : ChooseSpread(task.samples, share)) {
      record::MeasuredSample& sample = task.samples[place];
      if (sample.features.rows == 0) continue;
      selected.push_back({.task = static_cast<uint64_t>(task.task),
                          .features = std::move(sample.features),
                          .seconds = sample.seconds});
    }
  }
  return selected;
}

std::optional<TrialPrior> FindPrior(record::SampleStore& samples, uint64_t hash) {
  return Unpacked(samples.ModelOf(hash));
}

std::vector<record::MeasuredSample> MeasuredSamples(record::Store& records,
                                                    const sketch::SpaceGenerator& space, int count,
                                                    base::ThreadPool& threads) {
  const std::optional<record::TaskId> task = records.FindTask(space.workload().StructuralHash());
  const std::optional<record::TargetId> target = records.FindTarget(space.target());
  if (!task || !target) return {};
  std::vector<record::StoredTrial> trials;
  std::vector<std::optional<double>> seconds;
  std::unordered_map<uint64_t, size_t> places;
  for (record::StoredTrial& trial : records.TrialsOf(*task, *target)) {
    if (!places.emplace(trial.key, trials.size()).second) continue;
    const bool is_feasible = trial.outcome.ok() && trial.outcome.value > 0;
    seconds.push_back(is_feasible ? std::optional(trial.outcome.value) : std::nullopt);
    trials.push_back(std::move(trial));
  }
  const std::vector<int> chosen = ChooseSpread(seconds, count);
  std::vector<record::MeasuredSample> samples(chosen.size());
  threads.ParallelFor(std::ssize(chosen), [&](int64_t i) {
    const Result<sketch::Candidate> candidate = RestoreCandidate(space, trials[chosen[i]]);
    if (!candidate) return;
    samples[i] = {.hash = candidate->hash,
                  .seconds = seconds[chosen[i]],
                  .features = feature::ExtractFeatures(candidate->program)};
  });
  std::erase_if(samples, [](const record::MeasuredSample& s) { return s.features.rows == 0; });
  return samples;
}

}  // namespace bayloom::tuning
