// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/protocol.h"

#include <functional>
#include <numeric>
#include <utility>

namespace bayloom::measure {

int64_t TaskParameter::ElementCount() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

TrialMessage TrialMessage::For(const tensor::Program& program, codegen::KernelObject kernel,
                               int threads) {
  TrialMessage trial;
  trial.kernel = std::move(kernel);
  for (tensor::BufferId id : program.Parameters()) {
    const tensor::Buffer& buffer = program.buffers[id];
    trial.layouts.push_back(buffer.layout);
    trial.transforms.push_back(buffer.transform ? *buffer.transform : tensor::ConstantTransform());
  }
  trial.threads = threads;
  return trial;
}

}  // namespace bayloom::measure
