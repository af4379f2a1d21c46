// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/workload.h"

namespace bayloom {

/// Row-major data of one operator: the inputs and constants of its workload, in order.
using OperatorData = std::vector<tensor::HostTensor>;

/// The peer's side of a comparison, set up and ready to be timed.
struct Peer {
  std::string implementation;
  std::function<void()> run;
  /// What the last run computed, in the order of the workload's output.
  std::function<std::vector<float>()> output;
  /// How much outputs may differ, relative to the largest.
  double tolerance = 1e-4;
};

/// An operator that is measured against a library's.
struct OperatorCase {
  std::string group;  ///< ratios are averaged within it
  std::string name;
  tensor::Workload workload;
  std::function<Peer(const OperatorData& data, int threads)> make_peer;
};

/// All operators of the comparison: matrix products with OpenBLAS, convolutions and layers of
/// quantized networks (groups that begin with "int8") with oneDNN.
std::vector<OperatorCase> AllOperatorCases();

/// Seeded values for a workload's inputs and constants. Those of quantized layers are bytes of the
/// whole range, biases of some hundred, and scales with which most results are neither 0 nor 255.
OperatorData RandomData(const tensor::Workload& workload);

}  // namespace bayloom
