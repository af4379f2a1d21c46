// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bayloom/tensor/interpreter.h"

namespace bayloom::graph {

/// An element type of less than a byte, or a float of a byte. Programs have no such types: the
/// values are held as those of a wider one, which has all of them exactly.
struct SmallType {
  /// What the patterns of bits stand for that are no numbers.
  enum class Specials : uint8_t {
    kNone,      ///< there are none
    kIeee,      ///< the largest exponent: infinity, and NaN
    kAllOnes,   ///< all bits but the sign set: NaN
    kMinusZero  ///< minus zero: NaN
  };

  int onnx;               ///< TensorProto's number of the type
  std::string_view name;  ///< ONNX's: "int4"
  tensor::DType holder;
  int bits;
  bool is_signed = true;
  // Of floats only.
  int mantissa_bits = 0, bias = 0;
  double largest = 0;  ///< the largest finite value
  Specials specials = Specials::kNone;

  bool IsFloat() const { return tensor::IsFloat(holder); }
  /// The range of an integer type.
  int64_t Low() const { return is_signed ? -(int64_t{1} << (bits - 1)) : 0; }
  int64_t High() const { return (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1; }
  /// The bytes of so many elements, packed.
  int64_t PackedBytes(int64_t count) const { return (count * bits + 7) / 8; }
  /// The value that a pattern of bits stands for.
  double Decode(uint32_t pattern) const;
};

/// The small type of that number; null: it is another type.
const SmallType* FindSmallType(int64_t onnx);

/// Elements packed one after the other, the first in the lowest bits, as the holder's.
tensor::HostTensor UnpackSmall(const SmallType& type, std::span<const std::byte> packed,
                               std::vector<int64_t> shape);

}  // namespace bayloom::graph
