// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bayloom/tuning/program_evaluator.h"

namespace bayloom::pretrain {

/// Answers a time that follows from the program.
class PretendingEvaluator final : public tuning::ProgramEvaluator {
 public:
  static double SecondsOf(uint64_t hash) { return 1e-3 * static_cast<double>(hash % 100 + 1); }

  int Capacity() const override { return 7; }
  void Submit(trial::TrialId id, const tuning::ProgramTrial& trial) override {
    waiting_.emplace_back(id, &trial);
  }
  std::vector<trial::FinishedTrial> Collect(double, const std::function<bool()>&) override {
    if (waiting_.empty()) return {};
    const auto [id, trial] = waiting_.front();
    waiting_.pop_front();
    ++evaluated;
    if (is_broken) return {{id, std::nullopt, "the disk is full"}};
    return {{id, trial::Outcome::Feasible(SecondsOf(trial->candidate.hash)), {}}};
  }
  void Cancel() override { waiting_.clear(); }
  void SetIncumbent(const tensor::Workload&, const tensor::Program&, double) override {}

  int evaluated = 0;
  bool is_broken = false;

 private:
  std::deque<std::pair<trial::TrialId, const tuning::ProgramTrial*>> waiting_;
};

}  // namespace bayloom::pretrain
