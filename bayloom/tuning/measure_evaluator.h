#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "bayloom/measure/measurer.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom {

/// Compiles programs and times them on this machine. Compiling and timing take turns: a batch is
/// compiled by all threads, then its programs are timed one by one, each within one Collect; while
/// a program is timed nothing else runs.
class MeasureEvaluator final : public ProgramEvaluator {
 public:
  /// `measurer` must outlive the evaluator.
  explicit MeasureEvaluator(Measurer& measurer) : measurer_(measurer) {}

  int Capacity() const override;
  void Submit(TrialId id, const ProgramTrial& trial) override;
  std::vector<FinishedTrial> Collect(double wait_seconds,
                                     const std::function<bool()>& stop) override;
  void Cancel() override;
  void SetIncumbent(const Workload& workload, const Program& program, double seconds) override;
  double build_seconds() const override { return measurer_.statistics().build_seconds; }

 private:
  struct Waiting {
    TrialId id;
    const ProgramTrial* trial;
  };
  struct Built {
    TrialId id;
    const ProgramTrial* trial;
    Build build;
  };
  struct Incumbent {
    Program program;
    double seconds;
  };

  /// Compiles the next batch of one workload.
  void BuildBatch(const StopCheck& stop);

  Measurer& measurer_;
  std::deque<Waiting> waiting_;
  std::deque<Built> built_;
  /// Not yet told to the measurer; by the structural hash of the workload.
  std::unordered_map<uint64_t, Incumbent> incumbents_;
};

}  // namespace bayloom
