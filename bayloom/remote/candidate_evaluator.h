// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/remote/messages.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::remote {

/// What tries the candidates of one subject in a worker.
class CandidateEvaluator {
 public:
  virtual ~CandidateEvaluator() = default;

  /// How many trials it is to be given at a time.
  virtual int Slots() const = 0;
  /// Takes a candidate; fails where it is none, saying why.
  virtual Status Submit(LeaseId lease, const nlohmann::json& candidate, bool is_repeat) = 0;
  /// As trial::Evaluator's; the numbers of trials are leases.
  virtual std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                                    const std::function<bool()>& stop) = 0;
  virtual void Cancel() = 0;
};

/// An evaluator of what evaluates candidates in this process anyway.
template <typename Candidate>
class TypedCandidateEvaluator final : public CandidateEvaluator {
 public:
  /// Makes a candidate of what was sent; fails for anything else.
  using Reader = std::function<Result<Candidate>(const nlohmann::json&, bool is_repeat)>;

  /// `slots`: at most evaluator->Capacity().
  TypedCandidateEvaluator(std::unique_ptr<trial::Evaluator<Candidate>> evaluator, int slots,
                          Reader read)
      : read_(std::move(read)), evaluator_(std::move(evaluator)), slots_(slots) {}

  int Slots() const override { return slots_; }

  Status Submit(LeaseId lease, const nlohmann::json& candidate, bool is_repeat) override {
    if (held_.contains(lease)) return Error{"this lease is given already"};
    if (std::ssize(held_) >= slots_) return Error{"there are more trials than slots"};
    Result<Candidate> read = read_(candidate, is_repeat);
    if (!read) return read.error();
    const auto place = held_.emplace(lease, *std::move(read)).first;
    evaluator_->Submit(lease, place->second);
    return Ok();
  }

  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override {
    std::vector<trial::FinishedTrial> finished = evaluator_->Collect(wait_seconds, stop);
    for (const trial::FinishedTrial& trial : finished) held_.erase(trial.id);
    return finished;
  }

  void Cancel() override {
    evaluator_->Cancel();
    held_.clear();
  }

 private:
  Reader read_;                                  ///< may own what the evaluator refers to
  std::unordered_map<LeaseId, Candidate> held_;  ///< in flight
  std::unique_ptr<trial::Evaluator<Candidate>> evaluator_;
  int slots_;
};

}  // namespace bayloom::remote
