// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/runtime/bayloom_gpu.h"
#include "bayloom/graph/network_plan.h"
#include "bayloom/target/target.h"

namespace bayloom::graph {

/// Where a tensor lies, as the runtime takes it, but for the rows of a state.
bayloom_gpu_place PlaceOnGpu(const NetworkPlan& plan, const Storage& storage);
/// Bytes of inputs or outputs that are copied as they are: none of open ones.
std::vector<int64_t> WholeBytes(const std::vector<int64_t>& bytes,
                                const std::vector<OpenTensor>& open);

/// A planned network on the GPU, which finds no lengths (ForGpu), run by the code that compiled
/// networks carry along (codegen/runtime/bayloom_gpu.h).
class GpuNetwork {
 public:
  /// Throws InputError if there is no GPU that runs the kernels, or it has not the memory, and
  /// SystemError if its driver refuses something.
  GpuNetwork(const NetworkPlan& plan, std::vector<codegen::KernelObject> kernels,
             const target::Target& target);
  ~GpuNetwork();
  GpuNetwork(const GpuNetwork&) = delete;
  GpuNetwork& operator=(const GpuNetwork&) = delete;

  /// `lengths`: of the open dimensions. Adds the seconds of each call to `seconds` unless that is
  /// null. Throws SystemError if the GPU fails.
  void Run(const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
           std::span<const int64_t> lengths, std::vector<double>* seconds);

 private:
  struct Tables;  ///< what the runtime's structures point to
  std::unique_ptr<Tables> tables_;
  bayloom_gpu* gpu_ = nullptr;
};

}  // namespace bayloom::graph
