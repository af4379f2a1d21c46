// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "bayloom/base/thread_pool.h"
#include "bayloom/sketch/design_space.h"

namespace bayloom::tuning {

/// How a program is chosen for a workload of which nothing was measured.
struct ZeroTrialOptions {
  /// Programs of a generation, and generations bred from the random first one; 0 programs for the
  /// plain program. 2,500 programs take a fifth of a second of one core.
  int population = 512;
  int generations = 4;
  uint64_t seed = 0;
  /// Which programs may be chosen; empty: all.
  std::function<bool(const tensor::Program&)> accepts = {};
  uint64_t accepts_key = 0;  ///< tells one `accepts` from others

  /// The same for each task of a network of so many: of many tasks, each has fewer programs.
  ZeroTrialOptions SharedBy(int tasks) const;
  /// The default for a network of so many tasks.
  static ZeroTrialOptions For(int tasks) { return ZeroTrialOptions().SharedBy(tasks); }
};

/// The workload's plain program (DefaultSchedule); its trace is empty.
sketch::Candidate DefaultCandidate(const sketch::SpaceGenerator& space);
/// Whether a candidate is that, and of no design space.
bool IsPlain(const sketch::Candidate& candidate);

/// The program of the design spaces that the time estimate likes best: random ones and those
/// `adapted`, such as programs of similar workloads, are bred for a few generations. The plain
/// program where the estimate likes none better. Nothing is compiled.
///
/// The same for the same seed and any number of threads.
sketch::Candidate FastestByEstimate(const sketch::SpaceGenerator& space,
                                    std::span<const sketch::Candidate> adapted,
                                    const ZeroTrialOptions& options, base::ThreadPool& pool);

}  // namespace bayloom::tuning
