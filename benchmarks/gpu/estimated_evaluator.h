// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/feature/gpu_estimate.h"
#include "bayloom/target/gpu_machine.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom {

/// An imaginary GPU, on which programs take as long as the estimate says, with a noise of one
/// percent. It is for trying commands from end to end where there is no GPU: what it answers is
/// estimated, not measured, and says so (the named value "estimated").
class EstimatedEvaluator final : public tuning::ProgramEvaluator {
 public:
  /// Throws InputError unless the target is a GPU.
  explicit EstimatedEvaluator(const target::Target& target) {
    if (target.kind() != target::TargetKind::kNvidiaGpu) {
      throw InputError("--estimated: " + target.name + " is no GPU");
    }
    gpu_ = target::GpuMachineOf(target);
  }

  int Capacity() const override { return kCapacity; }
  void Submit(trial::TrialId id, const tuning::ProgramTrial& trial) override {
    waiting_.emplace_back(id, &trial);
  }
  std::vector<trial::FinishedTrial> Collect(double, const std::function<bool()>&) override {
    std::vector<trial::FinishedTrial> finished;
    for (const auto& [id, trial] : waiting_) {
      finished.push_back({id, OutcomeOf(trial->candidate), {}});
    }
    waiting_.clear();
    return finished;
  }
  void Cancel() override { waiting_.clear(); }
  void SetIncumbent(const tensor::Workload&, const tensor::Program&, double) override {}

 private:
  static constexpr int kCapacity = 1024;

  trial::Outcome OutcomeOf(const sketch::Candidate& candidate) const {
    base::RandomStream random(base::Hasher().Add(candidate.hash).Add(uint64_t{1}).Digest());
    trial::Outcome outcome = trial::Outcome::Feasible(
        feature::EstimateGpuTime(candidate.program, gpu_) * std::exp(0.01 * random.Normal()));
    outcome.Set("estimated", 1);
    return outcome;
  }

  target::GpuMachine gpu_;
  std::vector<std::pair<trial::TrialId, const tuning::ProgramTrial*>> waiting_;
};

}  // namespace bayloom
