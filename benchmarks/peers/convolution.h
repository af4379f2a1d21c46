// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/shapes.h"

namespace bayloom {

/// oneDNN's convolution with fused bias and ReLU, at its best: formats of its own choice for
/// image and weights, everything reordered ahead, the algorithm its own choice too. Only `Run`
/// is to be timed.
class PeerConvolution {
 public:
  /// `input` is [height, width, in], `weights` [kernel, kernel, in / groups, out], `bias` [out].
  PeerConvolution(const ConvolutionLayer& shape, std::span<const float> input,
                  std::span<const float> weights, std::span<const float> bias, int threads);
  ~PeerConvolution();

  void Run();
  /// What the last run computed, as [height, width, out].
  std::vector<float> Output() const;
  /// The implementation oneDNN chose.
  std::string Implementation() const;
  /// oneDNN's version, "2.6.3".
  static std::string Version();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bayloom
