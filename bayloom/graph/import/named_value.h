// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

/// A sequence of tensors whose length is known when the model is imported. There are none in a
/// Graph: operators take their elements and put them together.
using Sequence = std::vector<tensor::Tensor>;

/// What a name of a model stands for: a tensor or a sequence; of neither, the value is opaque, and
/// only its type may be known.
struct NamedValue {
  std::optional<tensor::Tensor> tensor = std::nullopt;
  std::optional<Sequence> sequence = std::nullopt;
  /// ONNX's number of the type of the elements; 0: not known. The graph may hold them as values of
  /// a wider type: float16 as float32.
  int type = 0;

  bool IsOpaque() const { return !tensor && !sequence; }
};

}  // namespace bayloom::graph
