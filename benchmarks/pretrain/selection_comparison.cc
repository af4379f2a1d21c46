// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/pretrain/selection_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/pretrain/pool_measurement.h"

namespace bayloom {
namespace {

constexpr double kTestShare = 0.1;  // TenSet's
constexpr double kFast = 0.5;       // of a task's best throughput

}  // namespace

double Training::FastShare() const {
  double fast = 0, all = 0;
  for (const std::vector<double>& labels : labels_by_round) {
    fast += static_cast<double>(
        std::count_if(labels.begin(), labels.end(), [](double l) { return l >= kFast; }));
    all += static_cast<double>(labels.size());
  }
  return all > 0 ? fast / all : 0;
}

SelectionComparison::SelectionComparison(const std::string& database, const target::Target& target,
                                         ComparisonOptions options)
    : target_(target), options_(std::move(options)), store_(database), pool_(database) {
  const std::vector<record::PoolGroup> groups = pool_.Groups();
  if (groups.empty()) throw InputError(database + " has no pool of programs");
  split_ = pretrain::SplitTasks(groups, options_.held_out, kTestShare, options_.seed);
  for (const record::TaskId task : pretrain::GroupedTasks(pool_)) {
    known_[task] = pretrain::LabelsOf(pretrain::MeasuredPrograms(store_, pool_, task, target_));
  }
}

Training SelectionComparison::Simulate(pretrain::ActiveLearningOptions options) {
  return Run(std::move(options), true, [this](record::TaskId task, auto places) {
    Labels labels;
    for (const int64_t place : places) labels[place] = known_.at(task).at(place);
    return labels;
  });
}

Training SelectionComparison::Measure(pretrain::ActiveLearningOptions options,
                                      tuning::ProgramEvaluator& evaluator) {
  pretrain::PoolMeasurement measurement(store_, pool_, target_, evaluator, "pretrain",
                                        [] { return false; });
  return Run(std::move(options), false, [&](record::TaskId task, auto places) {
    Labels labels = pretrain::LabelsOf(measurement.Measure(task, places));
    known_[task].insert(labels.begin(), labels.end());
    return labels;
  });
}

int64_t SelectionComparison::Budget(bool is_simulated) {
  if (options_.budget > 0) return options_.budget;
  int64_t programs = 0;
  for (const record::TaskId task : split_.training) {
    programs += is_simulated ? std::ssize(known_[task]) : pool_.Count(task);
  }
  return std::max<int64_t>(1, std::llround(options_.share * static_cast<double>(programs)));
}

Training SelectionComparison::Run(pretrain::ActiveLearningOptions options, bool is_simulated,
                                  const pretrain::ActiveLearning::Labeller& labeller) {
  options.budget = Budget(is_simulated);
  Training training;
  training.learning = std::make_unique<pretrain::ActiveLearning>(pool_, std::move(options));
  for (const record::TaskId task : split_.training) {
    if (is_simulated) {
      std::vector<int64_t> open;
      for (const auto& [place, label] : known_[task]) open.push_back(place);
      training.learning->AddTask(task, std::move(open), {});
    } else {
      std::vector<int64_t> open(pool_.Count(task));
      std::iota(open.begin(), open.end(), int64_t{0});
      training.learning->AddTask(task, std::move(open), known_[task]);
    }
  }
  Measured measured;
  std::vector<size_t> round_ends;
  training.learning->Run(
      [&](record::TaskId task, std::span<const int64_t> places) {
        const Labels labels = labeller(task, places);
        for (const auto& [place, label] : labels) measured.emplace_back(task, label);
        return labels;
      },
      [&](const pretrain::ActiveLearning::Round&) { round_ends.push_back(measured.size()); });
  training.learning->Finish();
  training.labels_by_round = RelativeLabels(measured, round_ends);
  training.evaluation =
      pretrain::EvaluateModel(training.learning->model(), pool_, split_.test, known_);
  return training;
}

std::vector<std::vector<double>> SelectionComparison::RelativeLabels(
    const Measured& measured, const std::vector<size_t>& round_ends) const {
  std::map<record::TaskId, double> bests;
  for (const auto& [task, programs] : known_) {
    double& best = bests.emplace(task, std::numeric_limits<double>::infinity()).first->second;
    for (const auto& [place, label] : programs) best = std::min(best, label.value_or(best));
  }
  std::vector<std::vector<double>> labels(round_ends.size());
  size_t i = 0;
  for (size_t round = 0; round < round_ends.size(); ++round) {
    for (; i < round_ends[round]; ++i) {
      const auto& [task, label] = measured[i];
      labels[round].push_back(label ? bests[task] / *label : 0);
    }
  }
  return labels;
}

}  // namespace bayloom
