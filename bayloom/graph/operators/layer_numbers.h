// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <utility>
#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// Numbers that differ from layer to layer, in one constant: as literals they would make another
/// task of every layer.
class LayerNumbers {
 public:
  /// Returns what At takes.
  size_t Add(double number) {
    numbers_.push_back(number);
    return numbers_.size() - 1;
  }

  /// After the last Add, before the first At.
  void Write(OperatorContext& context) {
    while (numbers_.size() < 2) numbers_.push_back(0);  // one element would become a literal
    const auto count = static_cast<int64_t>(numbers_.size());
    tensor::HostTensor data = tensor::HostTensor::Zeros(tensor::DType::kFloat32, {count});
    for (int64_t i = 0; i < count; ++i) data.Set(i, numbers_[i]);
    tensor_ = context.builder().Constant(context.label() + ".numbers", std::move(data));
  }

  tensor::Expr At(size_t number) const { return tensor_(static_cast<int64_t>(number)); }

 private:
  std::vector<double> numbers_;
  tensor::Tensor tensor_;
};

}  // namespace bayloom::graph
