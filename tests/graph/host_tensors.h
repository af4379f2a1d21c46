// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "bayloom/tensor/interpreter.h"

namespace bayloom::graph {

/// A tensor of these numbers, in row-major order.
inline tensor::HostTensor TensorOf(tensor::DType dtype, std::vector<int64_t> shape,
                                   const std::vector<double>& values) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(static_cast<int64_t>(i), values[i]);
  return tensor;
}

inline tensor::HostTensor Floats(std::vector<int64_t> shape, const std::vector<double>& values) {
  return TensorOf(tensor::DType::kFloat32, std::move(shape), values);
}

inline tensor::HostTensor FloatVector(const std::vector<double>& values) {
  return Floats({std::ssize(values)}, values);
}

/// The numbers of a tensor, in row-major order.
inline std::vector<double> Values(const tensor::HostTensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) values.push_back(tensor.Get(i));
  return values;
}

}  // namespace bayloom::graph
