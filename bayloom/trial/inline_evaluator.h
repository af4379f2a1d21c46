// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "bayloom/trial/evaluator.h"

namespace bayloom::trial {

/// Evaluates by a function of this process, one trial for each Collect: for what takes so little
/// that a thread would not pay (a model, a table, a simulation in a test).
template <typename Candidate>
class InlineEvaluator : public Evaluator<Candidate> {
 public:
  using Function = std::function<Outcome(const Candidate&)>;

  explicit InlineEvaluator(Function evaluate, int capacity = 1)
      : evaluate_(std::move(evaluate)), capacity_(capacity) {}

  int Capacity() const override { return capacity_; }

  void Submit(TrialId id, const Candidate& candidate) override {
    waiting_.emplace_back(id, &candidate);
  }

  std::vector<FinishedTrial> Collect(double, const std::function<bool()>&) override {
    std::vector<FinishedTrial> finished;
    if (waiting_.empty()) return finished;
    const auto [id, candidate] = waiting_.front();
    waiting_.pop_front();
    finished.push_back({id, evaluate_(*candidate), {}});
    return finished;
  }

  void Cancel() override { waiting_.clear(); }

 private:
  Function evaluate_;
  int capacity_;
  std::deque<std::pair<TrialId, const Candidate*>> waiting_;
};

}  // namespace bayloom::trial
