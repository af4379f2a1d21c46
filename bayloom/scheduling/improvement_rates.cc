// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/improvement_rates.h"

#include <algorithm>
#include <cmath>

namespace bayloom::scheduling {
namespace {

/// The rate of the first octave before anything is observed, in logarithms of the cost an octave.
constexpr double kFirstRate = 0.35;
/// An octave's rate as a part of the one before it, where nothing is known.
constexpr double kDecay = 0.9;
/// The octaves of one task that a prior rate counts as.
constexpr double kPriorOctaves = 2;
/// What a step of an improvement is taken to be, as a logarithm: so much of a gain is one event.
constexpr double kStep = 0.1;
/// The events that the prior frailty of 1 counts as.
constexpr double kPriorEvents = 30;
/// Rates and frailties are learnt in turns so many times.
constexpr int kRounds = 5;

}  // namespace

ImprovementRates::ImprovementRates(std::span<const TaskProgress> tasks)
    : frailties_(tasks.size(), 1.0) {
  std::vector<std::vector<Observation>> observations;
  for (const TaskProgress& task : tasks) {
    observations.push_back(ObservationsOf(task));
    trials_.push_back(std::isinf(task.best()) ? 0 : task.trials());
  }
  for (int round = 0; round < kRounds; ++round) {
    LearnRates(observations);
    LearnFrailties(observations);
  }
}

std::vector<ImprovementRates::Observation> ImprovementRates::ObservationsOf(
    const TaskProgress& task) {
  std::vector<Observation> observations;
  int begin = task.TrialsToFeasible();
  while (begin < task.trials()) {
    const int octave = static_cast<int>(std::log2(begin));
    const int end = std::min(2 << octave, task.trials());
    observations.push_back(
        {octave, std::log2(static_cast<double>(end) / begin),
         std::log(task.best_after_trial[begin - 1] / task.best_after_trial[end - 1])});
    begin = end;
  }
  return observations;
}

void ImprovementRates::LearnRates(std::span<const std::vector<Observation>> observations) {
  std::vector<double> gains, octaves;
  for (size_t i = 0; i < observations.size(); ++i) {
    for (const Observation& seen : observations[i]) {
      const auto needed = static_cast<size_t>(seen.octave) + 1;
      gains.resize(std::max(gains.size(), needed));
      octaves.resize(gains.size());
      gains[needed - 1] += seen.gain;
      octaves[needed - 1] += frailties_[i] * seen.octaves;
    }
  }
  rates_.clear();
  for (size_t b = 0; b < gains.size(); ++b) {
    const double prior = b == 0 ? kFirstRate : kDecay * rates_.back();
    rates_.push_back((gains[b] + kPriorOctaves * prior) / (octaves[b] + kPriorOctaves));
  }
}

void ImprovementRates::LearnFrailties(std::span<const std::vector<Observation>> observations) {
  for (size_t i = 0; i < observations.size(); ++i) {
    double found = 0, expected = 0;
    for (const Observation& seen : observations[i]) {
      found += seen.gain / kStep;
      expected += RateOf(seen.octave) * seen.octaves / kStep;
    }
    frailties_[i] = (kPriorEvents + found) / (kPriorEvents + expected);
  }
}

double ImprovementRates::RateOf(int octave) const {
  if (rates_.empty()) return kFirstRate * std::pow(kDecay, octave);
  const int last = static_cast<int>(rates_.size()) - 1;
  return rates_[std::min(octave, last)] * std::pow(kDecay, std::max(0, octave - last));
}

double ImprovementRates::ShareOfCost(size_t task, int more_trials) const {
  double decline = 0;
  int begin = std::max(1, trials_[task]);
  const int last = trials_[task] + more_trials;
  while (begin < last) {
    const int octave = static_cast<int>(std::log2(begin));
    const int end = std::min(2 << octave, last);
    decline += RateOf(octave) * std::log2(static_cast<double>(end) / begin);
    begin = end;
  }
  return 1 - std::exp(-frailties_[task] * decline);
}

}  // namespace bayloom::scheduling
