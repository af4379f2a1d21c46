// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bayloom/remote/pool.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::remote {

/// Evaluates candidates of one subject by workers.
template <typename Candidate>
class RemoteEvaluator final : public trial::Evaluator<Candidate> {
 public:
  using Writer = std::function<nlohmann::json(const Candidate&)>;

  /// `definition` and what `write` makes of a candidate are as the workers' evaluators read them.
  /// `pool` must outlive the evaluator; of several evaluators with one pool, one has trials at a
  /// time.
  /// `answer_seconds` as WorkerPool::AddSubject has it.
  RemoteEvaluator(WorkerPool& pool, nlohmann::json definition, double answer_seconds, Writer write)
      : pool_(pool),
        subject_(pool.AddSubject(std::move(definition), /*is_timed=*/false, answer_seconds)),
        write_(std::move(write)) {}

  int Capacity() const override { return pool_.Slots(subject_); }
  void Submit(trial::TrialId id, const Candidate& candidate) override {
    pool_.Submit(subject_, id, write_(candidate), /*is_repeat=*/false);
  }
  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override {
    return pool_.Collect(wait_seconds, stop);
  }
  void Cancel() override { pool_.Cancel(); }

 private:
  WorkerPool& pool_;
  SubjectId subject_;
  Writer write_;
};

}  // namespace bayloom::remote
