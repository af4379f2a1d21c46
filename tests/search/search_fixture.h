#pragma once

#include <span>
#include <vector>

#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/operators.h"
#include "tests/search/simulated_machine.h"

namespace bayloom {

inline Target SimulatedTarget() {
  Target target;
  target.name = "simulated";
  target.cores = SimulatedMachine::kCores;
  return target;
}

/// A convolution with padding, bias and relu.
inline Workload ConvolutionWorkload(int64_t channels = 32) {
  WorkloadBuilder b("conv");
  const Tensor x = b.Input("x", {1, 14, 14, channels});
  const Tensor w = b.Constant("w", {3, 3, channels, 64});
  const Tensor bias = b.Constant("bias", {64});
  Conv2dOptions same;
  same.pad_before = same.pad_after = {1, 1};
  const Tensor y = Conv2d(b, "conv", x, w, same);
  const Tensor z = Zip(b, "add", y, bias, [](Expr a, Expr c) { return a + c; });
  return b.Build({Map(b, "relu", z, Relu)});
}

/// The oracle: scores that order programs as the simulated machine does.
inline std::vector<double> OracleScores(std::span<const Candidate* const> candidates) {
  std::vector<double> scores;
  for (const Candidate* c : candidates) scores.push_back(1e-4 / SimulatedMachine::Run(c->program));
  return scores;
}

}  // namespace bayloom
