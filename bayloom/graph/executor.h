// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/codegen/compile.h"
#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/target/target.h"

namespace bayloom::graph {

/// Compiles programs on all cores; results in their order. The kernels' symbols are the prefix and
/// the program's position. `side_by_side`: for each program, whether it is to run beside others
/// (codegen::KernelForm::kSteps); empty: none is. Throws InputError naming the program if one
/// cannot be compiled.
std::vector<codegen::KernelObject> CompilePrograms(
    const std::vector<const tensor::Program*>& programs, const target::Target& target,
    const std::string& prefix = "kernel_", const std::vector<bool>& side_by_side = {});

/// A network ready to run in this process, on its processors or on a GPU.
///
///     Executor executor(network, programs, HostTarget());
///     executor.Run(inputs, outputs);
///
/// Not safe for concurrent use: the intermediate values have one place.
class Executor {
 public:
  /// `programs`: one per task of the network. Throws InputError if one cannot be compiled, and if
  /// there is no GPU that can run the network or it has not the memory.
  Executor(const TaskGraph& network, const std::vector<const tensor::Program*>& programs,
           const target::Target& target, Branches branches = Branches::kInTurn,
           std::span<const SmallProgram> small = {});
  /// Several programs for each task, one at least, for processors only. A run uses the first of
  /// each, or the one that Use names.
  Executor(const TaskGraph& network,
           const std::vector<std::vector<const tensor::Program*>>& programs,
           const target::Target& target);
  ~Executor();
  Executor(Executor&&) noexcept;

  /// From now on the task is run by this one of its programs.
  void Use(int task, int program);

  /// From now on runs are for these lengths of the graph's symbols; at first for the largest ones.
  /// Those that the network finds are only looked at with KeepFound. Throws std::logic_error for
  /// lengths that the symbols do not have.
  void SetLengths(std::span<const int64_t> lengths);
  /// Whether lengths that the network finds are those of SetLengths, no matter what it finds: to
  /// time runs for these lengths. Outputs are not specified then.
  void KeepFound(bool keep);
  /// The lengths of the last run.
  std::span<const int64_t> Lengths() const;

  /// Row-major tensors, in the order and of the sizes of the graph's inputs and outputs. Buffers
  /// that are not aligned to 64 bytes are copied. Where the past of a state is null, it is what the
  /// run before has left; where its present is null, it is not copied to the caller. Throws
  /// InputError where the network finds more than a bound, SystemError if a GPU fails.
  void Run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs);

  /// As Run, adding the seconds each call took to `seconds` (one entry per call). No calls run side
  /// by side, so that each one's time is its own.
  void RunTimed(const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
                std::vector<double>& seconds);

  const NetworkPlan& plan() const;

  struct Impl;  ///< one for processors, one for GPUs

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace bayloom::graph
