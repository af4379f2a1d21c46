// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/protocol.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace bayloom::measure {

int64_t TaskParameter::ElementCount() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<ElementSpan> ElementsWithin(const TaskParameter& parameter,
                                        std::span<const int64_t> sizes) {
  if (parameter.bounds.empty()) return {{0, parameter.ElementCount()}};
  std::vector<ElementSpan> spans = {{0, 1}};
  for (size_t d = 0; d < parameter.extents.size(); ++d) {
    const int size = parameter.bounds[d];
    const int64_t length = size < 0
                               ? parameter.extents[d]
                               : std::min(parameter.extents[d], sizes[static_cast<size_t>(size)]);
    const int64_t stride = parameter.strides[d];
    if (d + 1 == parameter.extents.size() && stride == 1) {
      for (ElementSpan& span : spans) span.count = length;
      break;
    }
    std::vector<ElementSpan> inner;
    for (const ElementSpan& span : spans) {
      for (int64_t i = 0; i < length; ++i) inner.push_back({span.first + i * stride, 1});
    }
    spans = std::move(inner);
  }
  return spans;
}

OutcomeMessage OutcomeMessage::Failure(trial::Verdict verdict, std::string reason) {
  OutcomeMessage message;
  message.verdict = verdict;
  message.reason = std::move(reason);
  return message;
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
