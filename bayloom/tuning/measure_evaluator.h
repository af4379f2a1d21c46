// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "bayloom/measure/measurer.h"
#include "bayloom/tuning/build_batch.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom::tuning {

/// Compiles programs and times them on this machine. Compiling and timing take turns: a batch is
/// compiled by all threads, then its programs are timed one by one, each within one Collect; while
/// a program is timed nothing else runs. Trials are timed in the order in which they were
/// submitted; a program that is tried several times in a row of trials is compiled once.
class MeasureEvaluator final : public ProgramEvaluator {
 public:
  /// `measurer` must outlive the evaluator.
  explicit MeasureEvaluator(measure::Measurer& measurer) : measurer_(measurer) {}
  /// Has a measurer of its own.
  MeasureEvaluator(const target::Target& target, const measure::MeasureOptions& options)
      : own_(std::make_unique<measure::Measurer>(target, options)), measurer_(*own_) {}

  int Capacity() const override;
  void Submit(trial::TrialId id, const ProgramTrial& trial) override;
  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override;
  void Cancel() override;
  void SetIncumbent(const tensor::Workload& workload, const tensor::Program& program,
                    double seconds) override;
  double build_seconds() const override { return measurer_.statistics().build_seconds; }

 private:
  struct Built {
    trial::TrialId id;
    const ProgramTrial* trial;
    measure::Build build;
  };
  struct Incumbent {
    tensor::Program program;
    double seconds;
  };

  /// Compiles the next batch of one workload.
  void BuildBatch(const measure::StopCheck& stop);

  std::unique_ptr<measure::Measurer> own_;  ///< null where it was given one
  measure::Measurer& measurer_;
  std::deque<WaitingProgram> waiting_;
  std::deque<Built> built_;
  /// Not yet told to the measurer; by the structural hash of the workload.
  std::unordered_map<uint64_t, Incumbent> incumbents_;
};

}  // namespace bayloom::tuning
