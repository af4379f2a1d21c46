// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/codegen/gpu/launch.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/program.h"

namespace bayloom::codegen {

/// How the stand-in runs a program.
struct StandInOptions {
  /// In which order the threads of a block run from one barrier to the next.
  enum class Order : uint8_t { kForward, kBackward, kRandom };
  Order order = Order::kForward;
  uint64_t seed = 1;  ///< of the random order
  /// As many blocks as the largest sizes need, for all sizes.
  bool largest_grids = false;
};

/// What was seen.
struct StandInCounts {
  int64_t launches = 0;
  int64_t threads = 0;   ///< of all blocks
  int64_t barriers = 0;  ///< of all blocks
  int64_t accesses = 0;  ///< to global and shared memory
  int64_t copies = 0;    ///< asynchronous ones
  int64_t products = 0;  ///< of matrices, by a warp or by a group of warps
};

struct StandInCode;

/// A GPU program compiled for this processor: the code that CompileToPtx emits, but for the machine
/// instructions, so that it can be tested without a GPU. The threads of a block are fibers, and all
/// accesses to global and shared memory are checked.
///
///     Result<StandIn> stand_in = StandIn::Compile(program, limits);
///     Result<StandInCounts> seen = stand_in->Run(parameters, {});
class StandIn {
 public:
  /// Fails for what CompileToPtx fails for.
  static Result<StandIn> Compile(const tensor::Program& program, const target::GpuLimits& limits);

  explicit StandIn(std::unique_ptr<StandInCode> code);
  StandIn(StandIn&&) noexcept;
  StandIn& operator=(StandIn&&) noexcept;
  ~StandIn();

  /// Runs all kernels on parameters as KernelFunction (abi.h) takes them. Memory that nothing has
  /// been written to is full of NaNs.
  ///
  /// Fails at the first access out of bounds, the first two accesses of threads to one element, one
  /// of them a write, that no barrier orders, at accesses to what is being copied and has not been
  /// waited for, and at barriers and shuffles that not all threads
  /// come to. The message names the element, both threads and how many barriers they have passed.
  Result<StandInCounts> Run(void* const* parameters, const StandInOptions& options) const;

  // The same, kernel by kernel, for what stands for a driver.
  std::vector<GpuLaunch> launches() const;
  /// Bytes that the kernels use of each parameter and then of the workspace.
  std::vector<int64_t> ParameterBytes() const;
  /// The blocks that one of the kernels needs for the sizes among its arguments.
  int64_t BlocksOf(size_t kernel, const std::vector<void*>& pointers) const;
  /// Runs so many blocks of one kernel on the parameters and the workspace.
  Result<StandInCounts> RunKernel(size_t kernel, int64_t blocks, const std::vector<void*>& pointers,
                                  const StandInOptions& options) const;

 private:
  std::unique_ptr<StandInCode> code_;
};

}  // namespace bayloom::codegen
