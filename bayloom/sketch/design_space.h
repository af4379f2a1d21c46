// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/sketch/derivations/derivation_choice.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"
#include "bayloom/tensor/trace.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::sketch {

/// A fully decided program of a design space.
struct Candidate {
  tensor::Trace trace;      ///< with all decisions
  tensor::Program program;  ///< after postprocessing: what is compiled
  uint64_t hash = 0;        ///< Program::StructuralHash; equal hashes are the same candidate
  int space = 0;            ///< index of the design space
};

/// Refuses programs that the target could not run, beyond what VerifyLimits refuses anyway.
/// Callable from any thread.
using ProgramCheck = std::function<Status(const tensor::Program&)>;

class GpuSpaces;

/// Schedules tried so far.
struct ReplayCounts {
  int64_t replayed = 0;
  int64_t refused = 0;  ///< of these
};

/// The design spaces of a workload on a target, and programs drawn from them.
///
/// A design space is a trace whose sampling instructions are undecided. The rules under
/// sketch/rules build one to a few per workload (Rocke 2024, section 2.2.2; Shao et al. 2022);
/// each holds up to billions of programs. A trace becomes a program by replaying it and running
/// the postprocessors under sketch/postprocess; either step may refuse, which makes the decisions
/// infeasible. Spaces of derivations (sketch/derivations), which compute the workload by another
/// algorithm, come after those of the rules. On GPUs the spaces are those of sketch/gpu, whose
/// limits draws and mutations keep.
///
/// Immutable after construction and safe to use from several threads.
class SpaceGenerator {
 public:
  /// `limits_are_known`: of GPUs, see GpuSpaces.
  SpaceGenerator(tensor::Workload workload, target::Target target, ProgramCheck check = {},
                 const DerivationChoice& derivations = {}, bool limits_are_known = true);

  const tensor::Workload& workload() const { return workload_; }
  const target::Target& target() const { return target_; }
  /// Undecided traces.
  const std::vector<tensor::Trace>& spaces() const { return spaces_; }

  /// A candidate with uniformly drawn decisions.
  Result<Candidate> Sample(int space, base::RandomStream random) const;
  /// A candidate with the decisions the trace has; missing ones are drawn.
  Result<Candidate> Replay(int space, const tensor::Trace& trace, base::RandomStream random) const;
  /// A decided trace with one decision replaced that keeps the limits of the target's spaces;
  /// nullopt where they have none (on processors), or nothing can be changed. Where the limits are
  /// not known it may exceed them, and the decision is left to be drawn.
  std::optional<tensor::Trace> MutateWithinLimits(int space, const tensor::Trace& trace,
                                                  base::RandomStream random) const;
  /// Index of the design space a trace belongs to, or -1.
  int SpaceOf(const tensor::Trace& trace) const;
  /// How often Sample and Replay were called, and refused.
  ReplayCounts counts() const;

 private:
  struct Counters {
    std::atomic<int64_t> replayed = 0, refused = 0;
  };
  /// Checked and counted.
  Result<Candidate> Counted(Result<Candidate> candidate) const;
  Result<Candidate> Make(int space, const tensor::Trace& trace, base::RandomStream random) const;

  tensor::Workload workload_;
  target::Target target_;
  ProgramCheck check_;
  std::shared_ptr<const GpuSpaces> gpu_;  ///< of GPUs only
  std::vector<tensor::Trace> spaces_;
  std::unique_ptr<Counters> counters_ = std::make_unique<Counters>();
};

}  // namespace bayloom::sketch
