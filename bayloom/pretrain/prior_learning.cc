// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/prior_learning.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/pretrain/operator_families.h"
#include "bayloom/strategy/breeding.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::pretrain {
namespace {

/// Seconds between two looks at a machine that others use.
constexpr double kWait = 1;
/// Seconds without others after which the machine is taken to be free.
constexpr double kPollSeconds = 0.1;

std::vector<const feature::FeatureMatrix*> PointersTo(
    const std::vector<feature::FeatureMatrix>& features) {
  std::vector<const feature::FeatureMatrix*> pointers;
  for (const feature::FeatureMatrix& one : features) pointers.push_back(&one);
  return pointers;
}

}  // namespace

PriorLearning::PriorLearning(record::Store& store, record::SampleStore& samples,
                             const target::Target& target, tuning::ProgramEvaluator& evaluator,
                             PriorLearningOptions options)
    : store_(store),
      target_(target),
      evaluator_(evaluator),
      options_(std::move(options)),
      trials_(store, samples),
      selection_(cost::MakeBiasedDiversitySelection({})),
      threads_(options_.threads) {
  for (const std::string& family : options_.families) {
    for (const tensor::Workload& workload :
         DrawFamily(family, options_.tasks_per_family, options_.seed)) {
      drawn_tasks_.push_back(store.AddTask(workload));
    }
  }
  if (Turns().empty()) {
    throw InputError(
        "nothing is known of a tuning of this machine with so many threads: tune a network first, "
        "with the same threads, or name families of operators");
  }
}

bool PriorLearning::IsOver() const {
  const trial::Budget& budget = options_.budget;
  return budget.stop() || budget.clock() - start_ >= budget.seconds ||
         status_.measured >= budget.trials;
}

void PriorLearning::Report() {
  status_.seconds = options_.budget.clock() - start_;
  if (on_status_) on_status_(status_);
}

/// Those of which least was measured first, then those measured longest ago.
std::vector<record::TaskId> PriorLearning::Turns() {
  std::vector<record::SampledTask> known = trials_.TasksOn(target_);
  for (const record::TaskId task : drawn_tasks_) {
    const bool is_known = std::ranges::any_of(known, [&](const auto& k) { return k.id == task; });
    if (!is_known) known.push_back({task, 0});
  }
  std::ranges::stable_sort(known, {}, &record::SampledTask::given);
  std::vector<record::TaskId> turns;
  for (const auto& task : known) turns.push_back(task.id);
  return turns;
}

bool PriorLearning::WaitForQuiet() {
  if (!options_.quiet) return !IsOver();
  while (!IsOver()) {
    const double begin = options_.budget.clock();
    options_.quiet->wait(status_.is_waiting ? kWait : kWait / 2);
    status_.taken = options_.quiet->taken();
    status_.is_waiting = status_.taken > options_.quiet->limit;
    status_.waited += options_.budget.clock() - begin;
    Report();
    if (!status_.is_waiting) return !IsOver();
  }
  return false;
}

trial::StopReason PriorLearning::Run(
    const std::function<void(const PriorLearningStatus&)>& on_status) {
  on_status_ = on_status;
  start_ = options_.budget.clock();
  status_ = {};
  measured_tasks_.clear();
  bool is_quiet = false, is_exhausted = false;
  while (!IsOver() && !is_exhausted) {
    prior_ = trials_.Learn(target_, /*keep=*/true);
    is_exhausted = true;  // unless a task has something left
    for (const record::TaskId task : Turns()) {
      if (IsOver()) break;
      if (!is_quiet && !WaitForQuiet()) break;
      const int64_t disturbed = status_.disturbed;
      if (MeasureSome(task)) is_exhausted = false;
      is_quiet = !options_.quiet || disturbed == status_.disturbed;
    }
  }
  if (options_.budget.stop()) return trial::StopReason::kStopped;
  if (status_.measured >= options_.budget.trials) return trial::StopReason::kTrials;
  return IsOver() ? trial::StopReason::kTime : trial::StopReason::kExhausted;
}

bool PriorLearning::MeasureSome(record::TaskId task) {
  const sketch::SpaceGenerator space(store_.WorkloadOf(task), target_);
  const record::TaskSamples known = trials_.SamplesOf(task, target_);
  const int64_t left = options_.budget.trials - status_.measured;
  const std::vector<strategy::CandidatePtr> chosen =
      Select(Draw(space, known), known, static_cast<int>(std::min<int64_t>(options_.batch, left)));
  if (chosen.empty()) return false;
  if (options_.quiet) options_.quiet->taken();  // from here on
  std::vector<record::MeasuredSample> measured = Measure(space.workload(), chosen);
  if (options_.quiet) status_.taken = options_.quiet->taken();
  if (options_.quiet && status_.taken > options_.quiet->limit) {
    status_.disturbed += std::ssize(measured);
  } else if (!measured.empty()) {
    status_.measured += std::ssize(measured);
    measured_tasks_.insert(task);
    status_.tasks = std::ssize(measured_tasks_);
    trials_.Add(target_, space.workload(), std::move(measured));
  }
  Report();
  return true;
}

std::vector<strategy::CandidatePtr> PriorLearning::Draw(const sketch::SpaceGenerator& space,
                                                        const record::TaskSamples& known) {
  base::RandomStream random(base::Hasher()
                                .Add(options_.seed)
                                .Add(space.workload().StructuralHash())
                                .Add(static_cast<uint64_t>(known.given))
                                .Digest());
  strategy::HashSet met;
  for (const record::MeasuredSample& sample : known.samples) met.insert(sample.hash);
  std::vector<strategy::CandidatePtr> drawn =
      strategy::DrawUnknown(space, options_.candidates / 2, met, random, threads_);
  std::optional<tuning::MeasuredCandidate> best = tuning::RestoreBest(store_, space);
  if (!best) return drawn;
  const strategy::CandidatePtr parents[] = {
      std::make_shared<const sketch::Candidate>(std::move(best->candidate))};
  const double scores[] = {1};
  strategy::EvolutionaryOptions evolution;
  evolution.mutation_probability = 1;
  for (const strategy::CandidatePtr& child :
       strategy::Breed(space, strategy::MutatorsFor(space), parents, scores,
                       options_.candidates / 2, evolution, random, threads_)) {
    if (met.insert(child->hash).second) drawn.push_back(child);
  }
  return drawn;
}

std::vector<strategy::CandidatePtr> PriorLearning::Select(std::vector<strategy::CandidatePtr> drawn,
                                                          const record::TaskSamples& known,
                                                          int count) {
  if (!prior_) {
    drawn.resize(std::min<size_t>(drawn.size(), count));
    return drawn;
  }
  const auto predict = [&](std::span<const feature::FeatureMatrix* const> programs) {
    return programs.empty() ? std::vector<double>() : prior_->model->Predict(programs);
  };
  std::vector<feature::FeatureMatrix> features(drawn.size());
  threads_.ParallelFor(std::ssize(drawn), [&](int64_t i) {
    features[i] = feature::ExtractFeatures(drawn[i]->program);
  });
  const std::vector<double> scores = predict(PointersTo(features));
  std::vector<const feature::FeatureMatrix*> measured;
  std::vector<double> labels;
  double best = std::numeric_limits<double>::infinity();
  for (const record::MeasuredSample& s : known.samples)
    best = std::min(best, s.seconds.value_or(best));
  for (const record::MeasuredSample& sample : known.samples) {
    measured.push_back(&sample.features);
    labels.push_back(sample.seconds ? best / *sample.seconds : 0);
  }
  const std::vector<double> measured_scores = predict(measured);
  cost::SelectionTask view;
  view.scores = scores;
  view.measured_scores = measured_scores;
  view.measured_labels = labels;
  base::RandomStream random(static_cast<uint64_t>(known.given));
  std::vector<strategy::CandidatePtr> chosen;
  for (const int index : selection_->Select(view, count, random)) chosen.push_back(drawn[index]);
  return chosen;
}

std::vector<record::MeasuredSample> PriorLearning::Measure(
    const tensor::Workload& workload, std::span<const strategy::CandidatePtr> programs) {
  std::vector<tuning::ProgramTrial> trials;
  for (const strategy::CandidatePtr& program : programs) trials.push_back({&workload, *program});
  std::vector<record::MeasuredSample> measured;
  size_t submitted = 0, collected = 0;
  while (collected < trials.size() && !options_.budget.stop()) {
    while (submitted < trials.size() &&
           std::cmp_less(submitted - collected, evaluator_.Capacity())) {
      evaluator_.Submit(static_cast<trial::TrialId>(submitted), trials[submitted]);
      ++submitted;
    }
    for (const trial::FinishedTrial& trial :
         evaluator_.Collect(kPollSeconds, options_.budget.stop)) {
      ++collected;
      if (!trial.outcome) throw SystemError("programs cannot be measured: " + trial.lost);
      const sketch::Candidate& candidate = trials[trial.id].candidate;
      const bool is_feasible = trial.outcome->ok() && trial.outcome->value > 0;
      measured.push_back(
          {.hash = candidate.hash,
           .seconds = is_feasible ? std::optional(trial.outcome->value) : std::nullopt,
           .features = feature::ExtractFeatures(candidate.program)});
    }
  }
  evaluator_.Cancel();
  return measured;
}

}  // namespace bayloom::pretrain
