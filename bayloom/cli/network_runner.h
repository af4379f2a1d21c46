// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bayloom/cli/options/network_option.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/graph/executor.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom::cli {

/// The tensors of <folder>/<kind>_0.pb, <kind>_1.pb, ..., as the ONNX conformance tests have them.
std::vector<tensor::HostTensor> ReadTensors(const std::string& folder, const std::string& kind);

/// An executor with its inputs and outputs, which lie where kernels want them: no run copies any.
class NetworkRunner {
 public:
  /// `network` must outlive it. Throws InputError if the inputs are not of the types and shapes
  /// that the graph takes.
  NetworkRunner(const tuning::TunedNetwork& network, std::vector<tensor::HostTensor> inputs,
                graph::Branches branches);

  /// From now on what is the past of a state is what the run before has left, and no present is
  /// copied.
  void KeepStates(const graph::Graph& graph);
  /// As Executor's.
  void SetLengths(std::span<const int64_t> lengths) { executor_.SetLengths(lengths); }
  /// As Executor's.
  void KeepFound(bool keep) { executor_.KeepFound(keep); }
  void Run() { executor_.Run(input_data_, output_data_); }
  /// As Run, adding each call's time to `seconds`.
  void RunTimed(std::vector<double>& seconds) {
    executor_.RunTimed(input_data_, output_data_, seconds);
  }
  /// Of the last run, in the shapes that they have after it.
  std::vector<tensor::HostTensor> outputs() const;
  const graph::NetworkPlan& plan() const { return executor_.plan(); }

 private:
  const graph::Graph& graph_;
  std::vector<tensor::HostTensor> shapes_;  ///< of the outputs, at their largest
  std::vector<codegen::AlignedMemory> memory_;
  std::vector<const void*> input_data_;
  std::vector<void*> output_data_;
  graph::Executor executor_;
};

}  // namespace bayloom::cli
