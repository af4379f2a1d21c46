// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/measure/builder.h"
#include "bayloom/target/target.h"
#include "bayloom/tuning/build_batch.h"
#include "bayloom/tuning/program_evaluator.h"
#include "bayloom/worker/pool.h"

namespace bayloom::fleet {

/// The target of a tuning whose programs are compiled here and run by workers without a compiler:
/// the one of this name, with so many threads (0: as many as the workers' machine has processors),
/// marked where an emulator runs the workers. Throws InputError, saying what would be right, where
/// the workers' machine is of another architecture, lacks a feature or has not so many processors.
target::Target KernelTarget(const std::string& name, int threads, const worker::Report& hello);

/// Measures programs by workers without a compiler (measure/kernel_worker.h): compiles and links
/// them here, several at a time, while the workers run the previous ones.
class RemoteKernelEvaluator final : public tuning::ProgramEvaluator {
 public:
  /// `pool` must outlive the evaluator. Throws InputError, saying what to install, where nothing
  /// can be linked for the target here.
  RemoteKernelEvaluator(worker::WorkerPool& pool, target::Target target);

  int Capacity() const override;
  void Submit(trial::TrialId id, const tuning::ProgramTrial& trial) override;
  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override;
  void Cancel() override;
  bool is_here() const override { return false; }
  double build_seconds() const override { return build_seconds_; }
  void SetIncumbent(const tensor::Workload&, const tensor::Program&, double) override {}

 private:
  std::vector<measure::Build> BuildAll(const std::vector<const tensor::Program*>& programs,
                                       const std::function<bool()>& stop);
  /// The workload as the pool knows it; nullopt where no program can be compiled whose results
  /// others could be compared with.
  std::optional<worker::SubjectId> SubjectOf(const tensor::Workload& workload,
                                             const std::function<bool()>& stop);
  /// Compiles the next waiting trials of one workload and gives them to the pool.
  void BuildBatch(const std::function<bool()>& stop);

  worker::WorkerPool& pool_;
  target::Target target_;
  measure::Builder builder_;
  std::unordered_map<uint64_t, std::optional<worker::SubjectId>> subjects_;  ///< by workload's hash
  std::deque<tuning::WaitingProgram> waiting_;
  std::vector<trial::FinishedTrial> finished_;  ///< without having been sent
  /// Of trials with the pool: what is known since they were compiled.
  std::unordered_map<trial::TrialId, measure::MeasurementDetails> compiled_;
  double build_seconds_ = 0;  ///< wall clock
};

}  // namespace bayloom::fleet
