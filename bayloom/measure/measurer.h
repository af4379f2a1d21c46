// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/measure/builder.h"
#include "bayloom/measure/kernel_measurer.h"
#include "bayloom/measure/kernel_options.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

struct MeasureOptions : KernelOptions {
  BuilderOptions builder;
};

/// Evaluates candidates on the real thing: compiles them, several at a time, then runs, checks and
/// times them one by one in another process. On a GPU that process has the device; what is expected
/// there is computed by this machine's processor.
///
///     Measurer measurer(HostTarget(), {});
///     std::vector<Outcome> outcomes = measurer.Measure(workload, programs);
///
/// Not thread safe: it has the machine to itself.
class Measurer {
 public:
  /// Called with the index of a candidate and its outcome, as soon as that is known: record it.
  using Observer = std::function<void(size_t, const trial::Outcome&)>;

  Measurer(target::Target target, MeasureOptions options);

  const target::Target& target() const { return builder_.target(); }

  /// Outcomes in the candidates' order. Throws SystemError if no runner process can be started, and
  /// Interrupted.
  std::vector<trial::Outcome> Measure(const tensor::Workload& workload,
                                      std::span<const tensor::Program* const> candidates,
                                      const Observer& observer = {}, const StopCheck& stop = {});

  // The two halves of Measure.
  /// Compiles candidates; where the workload's expected results cannot be computed, none.
  std::vector<Build> BuildAll(const tensor::Workload& workload,
                              std::span<const tensor::Program* const> candidates,
                              const StopCheck& stop = {});
  /// Runs what was built of a candidate.
  trial::Outcome Run(const tensor::Workload& workload, const tensor::Program& program,
                     const Build& build, const StopCheck& stop = {});
  /// The same once more, in turns with others, with the options for repeats.
  trial::Outcome Repeat(const tensor::Workload& workload, const tensor::Program& program,
                        const Build& build, const StopCheck& stop = {});

  /// Tells of a result from an earlier session: candidates are cut short by its time, and it is
  /// what is timed again to see drift.
  void SetIncumbent(const tensor::Workload& workload, const tensor::Program& program,
                    double seconds, const StopCheck& stop = {});

  struct Statistics {
    int64_t trials = 0;
    double build_seconds = 0;  ///< wall clock
    double run_seconds = 0;    ///< wall clock, references and drift included
    int runner_starts = 0;
    double drift = 1;  ///< latest, of any task
  };
  Statistics statistics() const;

 private:
  /// Makes the reference if the task has none; fails if there can be none.
  Status PrepareReference(const tensor::Workload& workload, const StopCheck& stop);
  /// Why what was built cannot be run; nullopt if it can.
  std::optional<trial::Outcome> Refusal(const tensor::Workload& workload,
                                        const tensor::Program& program, const Build& build,
                                        const StopCheck& stop);

  Builder builder_;
  /// Compiles references: for this processor, also where the target is a GPU.
  Builder reference_builder_;
  KernelMeasurer kernels_;
  int64_t trials_ = 0;
  double build_seconds_ = 0;
};

}  // namespace bayloom::measure
