// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Weights of 2, 4 or 8 bits with a scale for each block of them.
#include <fmt/format.h>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/microsoft.h"
#include "bayloom/graph/operators/packed_weights.h"

namespace bayloom::graph::microsoft {
namespace {

using tensor::DType;
using tensor::Expr;

/// Element number `element` of bytes that hold 8 / bits of them each, the lowest bits first.
Expr BitsOf(const Expr& byte, const Expr& element, int64_t bits) {
  const Expr wide = tensor::Cast(DType::kInt32, byte);
  if (bits == 8) return wide;
  const Expr shift =
      tensor::Cast(DType::kInt32, tensor::FloorMod(element, Expr(8 / bits)) * Expr(bits));
  const Expr shifted = tensor::Binary(tensor::ExprOp::kShiftRight, wide, shift);
  return tensor::FloorMod(shifted, tensor::IntLiteral(int64_t{1} << bits, DType::kInt32));
}

int64_t ReadBits(OperatorContext& context) {
  const int64_t bits = context.Int("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) {
    context.RefuseAttribute("bits", fmt::format("{}", bits), "has to be 2, 4 or 8");
  }
  return bits;
}

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Weights [n, k] in blocks of `size` along k.
struct Blocks {
  int64_t n, k, size, bits;
  int64_t count() const { return CeilDivide(k, size); }
  int64_t bytes() const { return size * bits / 8; }
};

Blocks ReadBlocks(OperatorContext& context) {
  const Blocks b{context.Int("N"), context.Int("K"), context.Int("block_size"), ReadBits(context)};
  constexpr int64_t kMaxExtent = int64_t{1} << 31;
  const bool fits = b.n >= 1 && b.k >= 1 && b.size >= 1 && b.size % 8 == 0 && b.n < kMaxExtent &&
                    b.k < kMaxExtent && b.size < kMaxExtent;
  if (!fits) context.Refuse(fmt::format("{} x {} weights in blocks of {}", b.n, b.k, b.size));
  return b;
}

/// An input with exactly that many elements under another shape.
tensor::Tensor Shaped(OperatorContext& context, int input, std::vector<int64_t> shape) {
  const tensor::Tensor x = context.Input(input);
  if (CheckedElementCount(x.shape()) != CheckedElementCount(shape)) {
    context.Refuse(fmt::format("input {} is {}, but {} is needed", input,
                               ToString(x.dtype(), x.shape()), ToString(x.dtype(), shape)));
  }
  return context.builder().View(x, std::move(shape));
}

/// Zero points of blocks, [n, count]: floats, or bytes of integers packed as the weights are;
/// nullopt: the middle of the levels.
std::optional<tensor::Tensor> GivenZeroPoints(OperatorContext& context, int input,
                                              const Blocks& b) {
  if (!context.HasInput(input)) return std::nullopt;
  if (tensor::IsFloat(context.Input(input).dtype())) {
    return Shaped(context, input, {b.n, b.count()});
  }
  const tensor::Tensor packed = Shaped(context, input, {b.n, CeilDivide(b.count() * b.bits, 8)});
  return context.builder().Map("zeros", {b.n, b.count()}, [&](const Exprs& s) {
    const Expr byte = packed(s[0], tensor::FloorDiv(s[1], Expr(8 / b.bits)));
    return tensor::Cast(DType::kUInt8, BitsOf(byte, s[1], b.bits));
  });
}

int64_t MiddleLevel(const Blocks& b) { return int64_t{1} << (b.bits - 1); }

/// Zero points as floats, [n, count] or [1, 1].
tensor::Tensor ZeroPoints(OperatorContext& context, int input, const Blocks& b, DType type) {
  const auto given = GivenZeroPoints(context, input, b);
  return given ? ConvertTo(context, type, *given)
               : Filled(context, static_cast<double>(MiddleLevel(b)), type, {1, 1});
}

/// The weights as floats, [n, k]. `groups` gives each k its block where it is not k / size.
tensor::Tensor DequantizedWeights(OperatorContext& context, const Blocks& b) {
  const tensor::Tensor packed = Shaped(context, 1, {b.n, b.count(), b.bytes()});
  const tensor::Tensor scales = Shaped(context, 2, {b.n, b.count()});
  const tensor::Tensor zeros = ZeroPoints(context, 3, b, scales.dtype());
  const bool regrouped = context.HasInput(4);
  const tensor::Tensor levels = context.builder().View(
      context.builder().Map("levels", {b.n, b.count(), b.bytes(), 8 / b.bits},
                            [&](const Exprs& s) {
                              return tensor::Cast(scales.dtype(),
                                                  BitsOf(packed(s[0], s[1], s[2]), s[3], b.bits));
                            }),
      {b.n, b.count(), b.size});
  if (!regrouped) {
    const tensor::Tensor weights =
        context.builder().Map("dequantize", levels.shape(), [&](const Exprs& s) {
          return (levels.At(s) - BroadcastAt(zeros, {s[0], s[1]})) * scales(s[0], s[1]);
        });
    const tensor::Tensor rows = context.builder().View(weights, {b.n, b.count() * b.size});
    return LastAxisSlice(context, rows, 0, b.k);
  }
  const tensor::Tensor group = context.Input(4);
  if (Rank(group) != 1 || group.shape()[0] < b.k) context.Refuse("g_idx is shorter than K");
  const tensor::Tensor rows = context.builder().View(levels, {b.n, b.count() * b.size});
  return context.builder().Map("dequantize", {b.n, b.k}, [&](const Exprs& s) {
    const Expr block = WrappedIndex(group(s[1]), b.count());
    return (rows(s[0], s[1]) - BroadcastAt(zeros, {s[0], block})) * scales(s[0], block);
  });
}

/// The weights as they are, if they are constants in blocks one after the other.
std::optional<PackedWeights> StoredWeights(OperatorContext& context, const Blocks& b) {
  GraphBuilder& builder = context.builder();
  if (context.HasInput(4)) return std::nullopt;
  const tensor::Tensor packed = Shaped(context, 1, {b.n, b.count(), b.bytes()});
  const tensor::Tensor scales = Shaped(context, 2, {b.n, b.count()});
  std::optional<tensor::Tensor> zeros = GivenZeroPoints(context, 3, b);
  if (zeros) zeros = Permute(context, *zeros, {1, 0});
  const tensor::Tensor levels = Permute(context, packed, {1, 2, 0});
  const bool is_known = builder.ConstantOf(levels) && builder.ConstantOf(scales) &&
                        (!zeros || builder.ConstantOf(*zeros));
  if (!is_known || scales.dtype() != DType::kFloat32) return std::nullopt;
  return PackedWeights{levels, NarrowScales(context, Permute(context, scales, {1, 0})),
                       zeros,  MiddleLevel(b),
                       b.k,    b.size,
                       b.bits};
}

void MatMulNBits(OperatorContext& context) {
  const tensor::Tensor a = context.Input(0);
  const Blocks b = ReadBlocks(context);
  if (context.Int("weight_prepacked", 0) != 0) {
    context.RefuseAttribute("weight_prepacked", "1", "weights in the layout of a device");
  }
  if (Rank(a) < 1 || a.shape().back() != b.k) {
    context.Refuse(fmt::format("{} does not end in K = {}", ToString(a.dtype(), a.shape()), b.k));
  }
  std::vector<int64_t> shape = a.shape();
  const std::vector<int64_t> outer(shape.begin(), shape.end() - 1);
  const tensor::Tensor rows = context.builder().View(a, {CheckedElementCount(outer), b.k});
  std::optional<tensor::Tensor> bias;
  if (context.HasInput(5)) bias = Shaped(context, 5, {b.n});
  shape.back() = b.n;
  if (rows.dtype() == DType::kFloat32) {
    if (const auto stored = StoredWeights(context, b)) {
      tensor::Tensor y = PackedProduct(context, rows, *stored, PrecisionOfRows(context));
      if (bias) {
        y = Elementwise(context, "bias", {y, *bias}, [](const Exprs& e) { return e[0] + e[1]; });
      }
      return context.SetOutput(0, context.builder().View(y, shape));
    }
  }
  const tensor::Tensor weights = ConvertTo(context, a.dtype(), DequantizedWeights(context, b));
  const tensor::Tensor y =
      ApplyOperator(context, "Gemm", {rows, weights, bias}, {{{"transB", int64_t{1}}}});
  context.SetOutput(0, context.builder().View(y, shape));
}

/// Rows of a table of packed bytes; an index out of range gives zeros.
void GatherBlockQuantized(OperatorContext& context) {
  const tensor::Tensor table = context.Input(0), indices = context.Input(1),
                       scales = context.Input(2);
  const int64_t bits = ReadBits(context), size = context.Int("block_size", 128);
  const int rank = Rank(table);
  if (table.dtype() != DType::kUInt8 || rank < 2 || Rank(scales) != rank || size < 1 ||
      size > (int64_t{1} << 31)) {
    context.Refuse("needs a table of bytes with 2 dimensions at least, and its scales");
  }
  if (context.Axis("gather_axis", 0, rank) != 0 ||
      context.Axis("quantize_axis", 1, rank) != rank - 1) {
    context.Refuse("has to gather along the first axis what is quantized along the last one");
  }
  const int64_t per_byte = 8 / bits, width = table.shape().back() * per_byte;
  const int64_t blocks = CeilDivide(width, size);
  std::vector<int64_t> expected = table.shape();
  expected.back() = blocks;
  if (scales.shape() != expected) context.Refuse("the scales do not fit the blocks");
  expected.back() = CeilDivide(blocks, per_byte);
  if (context.HasInput(3) && context.Input(3).shape() != expected) {
    context.Refuse("the zero points do not fit the blocks");
  }
  std::vector<int64_t> shape = indices.shape();
  shape.insert(shape.end(), table.shape().begin() + 1, table.shape().end());
  shape.back() = width;
  const int outer = Rank(indices);
  context.SetOutput(0, context.builder().Map("gather", shape, [&](const Exprs& s) {
    const Expr given = tensor::Cast(DType::kInt64, indices.At(Exprs(s.begin(), s.begin() + outer)));
    Exprs place = {WrappedIndex(given, table.shape()[0])};
    place.insert(place.end(), s.begin() + outer, s.end());
    const auto read = [&](const tensor::Tensor& x, const Expr& last) {
      Exprs index = place;
      index.back() = last;
      return x.At(index);
    };
    const Expr element = s.back(), block = tensor::FloorDiv(element, Expr(size));
    const Expr byte = read(table, tensor::FloorDiv(element, Expr(per_byte)));
    Expr zero = tensor::IntLiteral(int64_t{1} << (bits - 1), DType::kInt32);
    if (context.HasInput(3)) {
      zero = BitsOf(read(context.Input(3), tensor::FloorDiv(block, Expr(per_byte))), block, bits);
    }
    const Expr value =
        tensor::Cast(scales.dtype(), BitsOf(byte, element, bits) - zero) * read(scales, block);
    const Expr rows = Expr(table.shape()[0]);
    return tensor::Select(-rows <= given && given < rows, value, LiteralLike(0, value));
  }));
}

}  // namespace

std::span<const Operator> BlockQuantizationOperators() {
  static const Operator operators[] = {
      {"GatherBlockQuantized", GatherBlockQuantized, kDomain},
      {"MatMulNBits", MatMulNBits, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft
