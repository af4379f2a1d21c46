// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bayloom::tensor {

/// Element types of buffers and scalar expressions.
enum class DType : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  /// float32 with the 10 bits of float16's fraction, the others zero: what tensor cores read of
  /// float32 operands. Only inside of programs; in memory as a float32.
  kTFloat32,
};

/// Size of one element in bytes; a bool takes one byte.
int ByteSize(DType dtype);
bool IsFloat(DType dtype);
/// True for the integer types; bool is neither float nor integer.
bool IsInteger(DType dtype);
bool IsUnsigned(DType dtype);
/// "float32", "int8", "bool", "tf32", ...
std::string ToString(DType dtype);
std::optional<DType> ParseDType(std::string_view text);

}  // namespace bayloom::tensor
