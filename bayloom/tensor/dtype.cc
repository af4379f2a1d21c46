// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/dtype.h"

#include <array>

namespace bayloom::tensor {
namespace {

constexpr std::array<std::string_view, 14> kNames = {
    "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",   "uint16",
    "uint32", "uint64", "float16", "bfloat16", "float32", "float64", "tf32"};

}  // namespace

int ByteSize(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kUInt8:
      return 1;
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return 2;
    case DType::kInt32:
    case DType::kUInt32:
    case DType::kFloat32:
    case DType::kTFloat32:
      return 4;
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kFloat64:
      return 8;
  }
  return 0;
}

bool IsFloat(DType dtype) { return dtype >= DType::kFloat16; }

bool IsInteger(DType dtype) { return dtype >= DType::kInt8 && dtype <= DType::kUInt64; }

bool IsUnsigned(DType dtype) { return dtype >= DType::kUInt8 && dtype <= DType::kUInt64; }

std::string ToString(DType dtype) { return std::string(kNames[static_cast<int>(dtype)]); }

std::optional<DType> ParseDType(std::string_view text) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace bayloom::tensor
