// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/operators.h"
#include "tests/strategy/simulated_machine.h"

namespace bayloom::strategy {

inline target::Target SimulatedTarget() {
  target::Target target;
  target.name = "simulated";
  target.cores = SimulatedMachine::kCores;
  return target;
}

/// A convolution with padding, bias and relu.
inline tensor::Workload ConvolutionWorkload(int64_t channels = 32) {
  tensor::WorkloadBuilder b("conv");
  const tensor::Tensor x = b.Input("x", {1, 14, 14, channels});
  const tensor::Tensor w = b.Constant("w", {3, 3, channels, 64});
  const tensor::Tensor bias = b.Constant("bias", {64});
  tensor::Conv2dOptions same;
  same.pad_before = same.pad_after = {1, 1};
  const tensor::Tensor y = tensor::Conv2d(b, "conv", x, w, same);
  const tensor::Tensor z =
      tensor::Zip(b, "add", y, bias, [](tensor::Expr a, tensor::Expr c) { return a + c; });
  return b.Build({tensor::Map(b, "relu", z, tensor::Relu)});
}

/// The oracle: scores that order programs as the simulated machine does.
inline std::vector<double> OracleScores(std::span<const sketch::Candidate* const> candidates) {
  std::vector<double> scores;
  for (const sketch::Candidate* c : candidates)
    scores.push_back(1e-4 / SimulatedMachine::Run(c->program));
  return scores;
}

}  // namespace bayloom::strategy
