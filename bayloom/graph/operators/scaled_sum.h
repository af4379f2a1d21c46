// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// scale * (integers - zero): a dequantized tensor, or a sum of products of two of them.
struct ScaledTerm {
  tensor::Tensor integers;  ///< int8, uint8 or int32
  tensor::Tensor scale;     ///< float32, a constant; broadcasts to the integers' shape
  /// A constant that broadcasts as the scale does; none: 0, as for all integers of 32 bits.
  std::optional<tensor::Tensor> zero = std::nullopt;

  bool IsOfBytes() const { return tensor::ByteSize(integers.dtype()) == 1; }
  /// One scale and one zero point hold for all integers.
  bool IsUniform() const;
};

/// What a tensor of floats is known to be made of: the sum of the terms and the offset, not below
/// `low` and not above `high`. Operators that can, compute with the integers; the floats are
/// written all the same, and nothing is left of them where nothing reads them.
struct ScaledSum {
  std::vector<int64_t> shape;  ///< of the floats; terms and offset broadcast to it
  std::vector<ScaledTerm> terms;
  std::optional<tensor::Tensor> offset = std::nullopt;  ///< float32, a constant
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  bool IsClipped() const;
};

/// Tensors of floats side by side along an axis.
struct JoinedFloats {
  std::vector<tensor::Tensor> parts;
  int axis;
};

/// Each slice of the source along an axis so many times, one after the other: heads of keys that
/// several heads of queries share.
struct RepeatedFloats {
  tensor::Tensor source;
  int axis;
  int64_t count;
  /// The copies are an axis of their own behind `axis`, not part of it.
  bool apart;
};

/// (integers - zeros) * scales of a matrix, with a scale and a zero point for each block of so many
/// elements along an axis: a dequantized constant.
struct BlockFloats {
  tensor::Tensor integers;  ///< of two dimensions, int8 or uint8
  tensor::Tensor scales;    ///< of two dimensions
  std::optional<tensor::Tensor> zeros;
  int axis;
  int64_t block;
  int64_t low;   ///< the least integer of the type
  int64_t bits;  ///< of the type
};

/// What is known of the floats of a graph while it is imported.
class KnownFloats {
 public:
  void Note(const tensor::Tensor& floats, ScaledSum sum);
  void Note(const tensor::Tensor& floats, JoinedFloats joined);
  void Note(const tensor::Tensor& floats, BlockFloats blocks);
  void Note(const tensor::Tensor& floats, RepeatedFloats repeated);
  /// Null: nothing is known.
  const ScaledSum* FindSum(const tensor::Tensor& floats) const;
  const JoinedFloats* FindJoined(const tensor::Tensor& floats) const;
  const BlockFloats* FindBlocks(const tensor::Tensor& floats) const;
  const RepeatedFloats* FindRepeated(const tensor::Tensor& floats) const;

 private:
  std::unordered_map<ValueId, ScaledSum> sums_;
  std::unordered_map<ValueId, JoinedFloats> joined_;
  std::unordered_map<ValueId, BlockFloats> blocks_;
  std::unordered_map<ValueId, RepeatedFloats> repeated_;
};

/// Input number `i` as a sum; nullopt where it is absent or not known to be one.
std::optional<ScaledSum> SumInput(OperatorContext& context, int i);
/// The same for one term of bytes without clipping: a dequantized tensor.
std::optional<ScaledTerm> BytesInput(OperatorContext& context, int i);

/// Writes the floats and notes what they are.
tensor::Tensor WriteFloats(OperatorContext& context, const std::string& op, ScaledSum sum);

/// What x is quantized to: round(x / scale) + zero, saturated to the range of an integer type of 8
/// or 16 bits.
struct Quantization {
  float scale;
  int64_t zero;
  tensor::DType dtype;
};
tensor::Tensor Quantize(OperatorContext& context, const ScaledSum& sum, const Quantization& to);
/// Floats quantized: through what they are known to be, if they are, such that nothing is rounded
/// before the result. `context` labels the nodes.
tensor::Tensor Quantize(OperatorContext& context, const tensor::Tensor& x, const Quantization& to);

/// Whether a constant can be the scale of a term: finite, and positive where it is one number.
bool IsScale(OperatorContext& context, const tensor::Tensor& scale);
/// The product of scales of one element or of `count` each, as [count, 1, ...] with so many ones.
/// nullopt if one has another number of elements or can be no scale of a term.
std::optional<tensor::Tensor> ProductOfScales(OperatorContext& context,
                                              const std::vector<tensor::Tensor>& scales,
                                              int64_t count, int ones);
/// The constant's elements by a function.
tensor::Tensor MapConstant(OperatorContext& context, const tensor::Tensor& constant,
                           const std::function<double(double)>& function);

}  // namespace bayloom::graph
