// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/internal/wide_floats.h"

#include <cstring>
#include <string>
#include <vector>

#include "bayloom/tensor/scalar.h"

namespace bayloom::graph {

bool IsNarrowFloat(tensor::DType dtype) {
  return dtype == tensor::DType::kFloat16 || dtype == tensor::DType::kBFloat16;
}

tensor::HostTensor WidenFloats(const tensor::HostTensor& narrow) {
  constexpr size_t kBitPatterns = size_t{1} << 16;
  std::vector<float> value_of(kBitPatterns);
  for (size_t bits = 0; bits < kBitPatterns; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    std::byte bytes[sizeof pattern];
    std::memcpy(bytes, &pattern, sizeof pattern);
    value_of[bits] = static_cast<float>(tensor::LoadFloat(narrow.dtype, bytes));
  }
  tensor::HostTensor wide = tensor::HostTensor::Zeros(tensor::DType::kFloat32, narrow.shape);
  const auto count = static_cast<size_t>(narrow.ElementCount());
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, narrow.data.data() + i * sizeof bits, sizeof bits);
    std::memcpy(wide.data.data() + i * sizeof(float), &value_of[bits], sizeof(float));
  }
  return wide;
}

tensor::Tensor FloatWidener::Converted(const tensor::Tensor& tensor, tensor::DType dtype) {
  return builder_.Map("cast", tensor.shape(), [&](const GraphBuilder::Exprs& place) {
    return tensor::Cast(dtype, tensor.At(place));
  });
}

tensor::Tensor FloatWidener::Widen(const tensor::Tensor& tensor) {
  if (!IsNarrowFloat(tensor.dtype())) return tensor;
  if (const auto known = wide_.find(tensor.id()); known != wide_.end()) return known->second;
  const tensor::HostTensor* data = builder_.ConstantOf(tensor);
  const std::string name = builder_.graph().values[tensor.id()].name;
  const tensor::Tensor wide = data ? builder_.Constant(name, WidenFloats(*data))
                                   : Converted(tensor, tensor::DType::kFloat32);
  wide_.emplace(tensor.id(), wide);
  return wide;
}

tensor::Tensor FloatWidener::AsDeclared(const tensor::Tensor& tensor, tensor::DType declared) {
  const bool narrows = IsNarrowFloat(declared) && tensor.dtype() == tensor::DType::kFloat32;
  return narrows ? Converted(tensor, declared) : tensor;
}

}  // namespace bayloom::graph
