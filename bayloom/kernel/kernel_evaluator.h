// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/kernel/kernel_compiler.h"
#include "bayloom/kernel/timed_size.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/scenario.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::kernel {

/// Evaluates the configurations of a scenario that names a kernel (search::KernelDefinition): its
/// value is the kernel's time, of several sizes the geometric mean, in the unit of the scenario's
/// objective.
///
/// A batch of configurations is compiled at the same time, then each is timed alone, within one
/// Collect: it is called in a runner process (measure::Runner), its results are compared with the
/// reference's, and what is clearly slower than the best so far is cut short. All that a kernel
/// does there costs its trial.
class KernelEvaluator final : public trial::Evaluator<space::Configuration> {
 public:
  /// So many are compiled at the same time. Throws InputError for arguments without a value, for
  /// files that do not fit, and where there is no sandbox that is asked for.
  KernelEvaluator(const search::Scenario& scenario, int jobs);
  ~KernelEvaluator() override;

  int Capacity() const override { return jobs_; }
  void Submit(trial::TrialId id, const space::Configuration& configuration) override;
  /// Throws InputError where there is no compiler, or no reference that works.
  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override;
  void Cancel() override;
  std::vector<std::string> TakeNotices() override;

  /// From now on configurations are timed in turns: none is cut short but by far.
  void BeginRepeats() { repeats_ = true; }
  /// Runs the kernel once, for the first size, and gives the arrays that it writes, by name, as
  /// files of NumPy; nothing is compared. Fails with the reason where it does not run. For an
  /// evaluator without trials in flight.
  Result<std::vector<std::pair<std::string, std::string>>> RunOnce(
      const space::Configuration& configuration, const std::function<bool()>& stop);

 private:
  struct Waiting {
    trial::TrialId id;
    const space::Configuration* configuration;
  };
  struct Built {
    Waiting trial;
    bool returns_time = false;
    std::vector<CompiledKernel> kernels;  ///< one per size
  };

  /// Compiles all that wait, or `given`; throws measure::Interrupted.
  std::vector<Built> Build(std::span<const Waiting> given, const KernelFunction& function,
                           const std::function<bool()>& stop);
  std::optional<std::vector<CompiledKernel>> Compile(const KernelFunction& function,
                                                     const space::Configuration& configuration,
                                                     const std::stop_token& stop);
  trial::Outcome Evaluate(const Built& built, const std::function<bool()>& stop);
  trial::Outcome Time(const Built& built, size_t size, const std::function<bool()>& stop);
  /// Makes the results to compare with, if there are none yet. Of an outcome, the configuration
  /// itself had to be the reference and failed.
  std::optional<trial::Outcome> PrepareReference(const Built& built,
                                                 const std::function<bool()>& stop);
  /// Keeps the results of a kernel as those of all; the outcome of the first size that fails.
  std::optional<trial::Outcome> RunAsReference(const Built& built,
                                               const std::function<bool()>& stop);
  /// Runs a kernel once and keeps its results as those that are expected of others.
  trial::Outcome RunToKeep(const Built& built, size_t size, TimedSize& timed,
                           const std::function<bool()>& stop) const;
  Result<measure::TrialMessage> MessageOf(const Built& built, size_t size,
                                          const TimedSize& timed) const;
  Status DescribeOpenCl(const space::Configuration& configuration, const Values& values,
                        const Values& size, measure::KernelCall& call) const;

  search::Scenario scenario_;
  const search::KernelDefinition& kernel_;
  int jobs_;
  KernelFunction function_;
  KernelCompiler compiler_;
  base::ScratchFolder cache_;  ///< of the driver
  std::string source_;         ///< of OpenCL
  measure::KernelOptions options_;
  std::vector<std::unique_ptr<TimedSize>> sizes_;
  std::unique_ptr<TimedSize> once_;  ///< for RunOnce
  bool has_reference_ = false;
  bool repeats_ = false;
  std::vector<std::string> notices_;
  std::deque<Waiting> waiting_;
  std::deque<Built> built_;
};

/// Makes one for scenarios that name a kernel, none for others.
search::EvaluatorMaker KernelEvaluatorMaker(int jobs);

}  // namespace bayloom::kernel
