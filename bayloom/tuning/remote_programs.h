// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "bayloom/base/result.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/remote/candidate_evaluator.h"
#include "bayloom/remote/pool.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom::tuning {

/// The kind of a subject whose candidates are programs of a workload.
inline constexpr const char* kProgramKind = "program";

/// Measures programs by workers: each gets the workload once and of a candidate its trace, compiles
/// it, and makes data and expected results of its own.
///
/// The workers' machine is `target`, whose hash is the identity they gave. Each cuts slow programs
/// short by the best program that it has seen itself.
class RemoteProgramEvaluator final : public ProgramEvaluator {
 public:
  /// `pool` must outlive the evaluator.
  RemoteProgramEvaluator(remote::WorkerPool& pool, target::Target target);

  int Capacity() const override;
  void Submit(trial::TrialId id, const ProgramTrial& trial) override;
  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override;
  void Cancel() override { pool_.Cancel(); }
  bool is_here() const override { return false; }
  void SetIncumbent(const tensor::Workload&, const tensor::Program&, double) override {}

 private:
  remote::WorkerPool& pool_;
  target::Target target_;
  std::map<uint64_t, remote::SubjectId> subjects_;  ///< by the structural hash of the workload
};

/// The worker's side of it, on `measurer`, which must outlive the evaluator. Fails for a definition
/// that is none, and for another target than the measurer's.
Result<std::unique_ptr<remote::CandidateEvaluator>> MakeProgramCandidateEvaluator(
    const nlohmann::json& definition, measure::Measurer& measurer);

}  // namespace bayloom::tuning
