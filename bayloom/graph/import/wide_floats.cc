// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/wide_floats.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "bayloom/tensor/scalar.h"

namespace bayloom::graph {

bool IsNarrowFloat(tensor::DType dtype) {
  return dtype == tensor::DType::kFloat16 || dtype == tensor::DType::kBFloat16;
}

tensor::HostTensor WidenFloats(const tensor::HostTensor& narrow) {
  if (narrow.dtype == tensor::DType::kTFloat32) {
    return {tensor::DType::kFloat32, narrow.shape, narrow.data};
  }
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

namespace {

/// Adding half of the last place that stays, a little less if that is even, rounds to nearest.
uint16_t BFloat16Bits(uint32_t bits) {
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  if (is_nan) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

uint32_t TFloat32Bits(uint32_t bits) {
  constexpr uint32_t kDroppedBits = 13, kDropped = (1U << kDroppedBits) - 1;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  if (is_nan) return bits;
  return (bits + kDropped / 2 + ((bits >> kDroppedBits) & 1U)) & ~kDropped;
}

uint16_t Float16Bits(uint32_t bits) {
  constexpr uint32_t kInfinity = 0x7f800000U, kTooLarge = 0x47800000U, kMinNormal = 0x38800000U;
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > kInfinity) return static_cast<uint16_t>(sign | 0x7e00U);
  if (magnitude >= kTooLarge) return static_cast<uint16_t>(sign | 0x7c00U);
  if (magnitude < kMinNormal) {
    // The sum's last place is 2^-24, that of float16's subnormal numbers: the addition rounds.
    const float sum = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000U));
  }
  const uint32_t rebiased = magnitude - ((127U - 15U) << 23);
  return static_cast<uint16_t>(sign | ((rebiased + 0xfffU + ((rebiased >> 13) & 1U)) >> 13));
}

}  // namespace

tensor::HostTensor NarrowFloats(const tensor::HostTensor& wide, tensor::DType dtype) {
  tensor::HostTensor narrow = tensor::HostTensor::Zeros(dtype, wide.shape);
  const auto round = [&](const auto& bits_of) {
    const auto count = static_cast<size_t>(wide.ElementCount());
    for (size_t i = 0; i < count; ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, wide.data.data() + i * sizeof bits, sizeof bits);
      const auto rounded = bits_of(bits);
      std::memcpy(narrow.data.data() + i * sizeof rounded, &rounded, sizeof rounded);
    }
  };
  if (dtype == tensor::DType::kTFloat32) {
    round(TFloat32Bits);
  } else if (dtype == tensor::DType::kFloat16) {
    round(Float16Bits);
  } else {
    round(BFloat16Bits);
  }
  return narrow;
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
  if (data) constant_elements_[tensor.dtype()] += data->ElementCount();
  const tensor::Tensor wide = data ? builder_.Constant(name, WidenFloats(*data))
                                   : Converted(tensor, tensor::DType::kFloat32);
  wide_.emplace(tensor.id(), wide);
  return wide;
}

std::optional<tensor::DType> FloatWidener::MainTypeOfConstants() const {
  if (constant_elements_.empty()) return std::nullopt;
  return std::ranges::max_element(constant_elements_, {},
                                  [](const auto& entry) { return entry.second; })
      ->first;
}

tensor::Tensor FloatWidener::AsDeclared(const tensor::Tensor& tensor, tensor::DType declared) {
  const bool narrows = IsNarrowFloat(declared) && tensor.dtype() == tensor::DType::kFloat32;
  return narrows ? Converted(tensor, declared) : tensor;
}

}  // namespace bayloom::graph
