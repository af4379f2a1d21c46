// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Products with weights that stay as narrow integers in memory.
#include "bayloom/graph/operators/packed_weights.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "bayloom/graph/operators/scaled_sum.h"
#include "bayloom/tensor/scalar.h"

namespace bayloom::graph {
namespace {

using tensor::DType;
using tensor::Expr;

/// Rows [m, k] as [m, blocks, bytes, levels in a byte]; zeros beyond k.
tensor::Tensor InBlocks(OperatorContext& context, const tensor::Tensor& rows,
                        const PackedWeights& weights) {
  const int64_t missing = weights.blocks() * weights.size - weights.k;
  const tensor::Tensor whole =
      missing == 0 ? rows
                   : PadWith(context, rows, {0, 0}, {0, missing}, tensor::Literal(0, rows.dtype()));
  const int64_t together = 8 / weights.bits;
  return context.builder().View(
      whole, {rows.shape()[0], weights.blocks(), weights.size / together, together});
}

/// Level number `part` of a byte, as int32.
Expr LevelOf(const Expr& byte, const Expr& part, int64_t bits) {
  const Expr wide = tensor::Cast(DType::kInt32, byte);
  if (bits == 8) return wide;
  const Expr shift = tensor::Cast(DType::kInt32, part * Expr(bits));
  const Expr shifted = tensor::Binary(tensor::ExprOp::kShiftRight, wide, shift);
  const Expr mask = tensor::IntLiteral((int64_t{1} << bits) - 1, DType::kInt32);
  return tensor::Binary(tensor::ExprOp::kAnd, shifted, mask);
}

/// Where the elements of a product are.
struct ProductPlaces {
  std::vector<int64_t> rows;                  ///< shape of the rows without their last axis
  std::vector<int64_t> shape;                 ///< of the product
  std::function<Exprs(const Exprs&)> row;     ///< of an element's place: index into `rows`
  std::function<Exprs(const Exprs&)> expert;  ///< and into the weights' first axes

  /// The index with further ones.
  static Exprs With(Exprs first, std::initializer_list<Expr> more) {
    first.insert(first.end(), more);
    return first;
  }
};

/// A weight's zero point, in this type; undefined where it is 0. `at`: of its block and column.
Expr ZeroOf(const PackedWeights& weights, const Exprs& at, DType type) {
  if (weights.zeros) return tensor::Cast(type, weights.zeros->At(at));
  return weights.zero == 0 ? Expr{nullptr}
                           : tensor::Literal(static_cast<double>(weights.zero), type);
}

Expr ScaleOf(const PackedWeights& weights, const Exprs& at) {
  return tensor::Cast(DType::kFloat32, weights.scales.At(at));
}

Expr LessZero(const Expr& level, const Expr& zero) { return zero.defined() ? level - zero : level; }

/// The places of a block: its bytes, and the levels in one. Levels at the same place of
/// neighbouring bytes are summed up together.
std::vector<GraphBuilder::Axis> AxesOf(const tensor::Tensor& in_blocks) {
  const std::vector<int64_t>& shape = in_blocks.shape();
  return {{"block", shape[1]}, {"k", shape[2]}, {"part", shape[3]}};
}

/// A tensor whose first axis is all rows under their own shape.
tensor::Tensor UnderRows(OperatorContext& context, const tensor::Tensor& x,
                         const ProductPlaces& places) {
  std::vector<int64_t> shape = places.rows;
  shape.insert(shape.end(), x.shape().begin() + 1, x.shape().end());
  return context.builder().View(x, shape);
}

tensor::Tensor ProductOfFloats(OperatorContext& context, const tensor::Tensor& in_blocks,
                               const PackedWeights& weights, const ProductPlaces& places) {
  const tensor::Tensor a = UnderRows(context, in_blocks, places);
  return context.builder().Reduce(
      "matmul", places.shape, AxesOf(in_blocks), tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        const Exprs expert = places.expert(s);
        const Exprs block = ProductPlaces::With(expert, {r[0], s.back()});
        const Expr byte = weights.levels.At(ProductPlaces::With(expert, {r[0], r[1], s.back()}));
        const Expr level = tensor::Cast(DType::kFloat32, LevelOf(byte, r[2], weights.bits));
        const Expr weight = LessZero(level, ZeroOf(weights, block, DType::kFloat32));
        return a.At(ProductPlaces::With(places.row(s), {r[0], r[1], r[2]})) *
               (weight * ScaleOf(weights, block));
      },
      NodeKind::kMatmul);
}

/// The rows as multiples of a scale for each block, from -127 to 127.
struct QuantizedRows {
  tensor::Tensor levels;    ///< int8 [m, blocks, levels in a byte, bytes]
  tensor::Tensor extremes;  ///< float32 [m, blocks]: 127 times the scale
};

constexpr double kLargest = 127;

QuantizedRows QuantizeRows(OperatorContext& context, const tensor::Tensor& in_blocks) {
  const std::vector<int64_t>& s = in_blocks.shape();
  GraphBuilder& builder = context.builder();
  const tensor::Tensor extremes = builder.Reduce(
      "extremes", {s[0], s[1]}, {{"k", s[2]}, {"part", s[3]}}, tensor::Reduction::kMax,
      [&](const Exprs& at, const Exprs& r) {
        return tensor::Unary(tensor::ExprOp::kAbs, in_blocks(at[0], at[1], r[0], r[1]));
      });
  const tensor::Tensor levels =
      builder.Map("quantize", {s[0], s[1], s[3], s[2]}, [&](const Exprs& at) {
        const Expr extreme = extremes(at[0], at[1]);
        const Expr none = tensor::FloatLiteral(0);
        const Expr factor =
            tensor::Select(none < extreme, tensor::FloatLiteral(kLargest) / extreme, none);
        const Expr level =
            tensor::Unary(tensor::ExprOp::kRound, in_blocks(at[0], at[1], at[3], at[2]) * factor);
        const Expr limit = tensor::FloatLiteral(kLargest);
        return tensor::Cast(DType::kInt8, tensor::Max(tensor::Min(level, limit), -limit));
      });
  return {levels, extremes};
}

tensor::Tensor ProductOfIntegers(OperatorContext& context, const tensor::Tensor& in_blocks,
                                 const PackedWeights& weights, const ProductPlaces& places) {
  const QuantizedRows a = QuantizeRows(context, in_blocks);
  const tensor::Tensor levels = UnderRows(context, a.levels, places);
  const tensor::Tensor extremes = UnderRows(context, a.extremes, places);
  return context.builder().Reduce(
      "matmul", places.shape, AxesOf(in_blocks), tensor::Reduction::kSum,
      [&](const Exprs& s, const Exprs& r) {
        const Exprs expert = places.expert(s), row = places.row(s);
        const Exprs block = ProductPlaces::With(expert, {r[0], s.back()});
        const Expr byte = weights.levels.At(ProductPlaces::With(expert, {r[0], r[1], s.back()}));
        const Expr level = LevelOf(byte, r[2], weights.bits);
        const Expr weight = LessZero(level, ZeroOf(weights, block, DType::kInt32));
        const Expr x = levels.At(ProductPlaces::With(row, {r[0], r[2], r[1]}));
        const Expr scale = extremes.At(ProductPlaces::With(row, {r[0]})) *
                           tensor::FloatLiteral(1 / kLargest) * ScaleOf(weights, block);
        return tensor::Cast(DType::kFloat32, tensor::Cast(DType::kInt32, x) * weight) * scale;
      },
      NodeKind::kMatmul);
}

tensor::Tensor ProductAt(OperatorContext& context, const tensor::Tensor& rows,
                         const PackedWeights& weights, RowPrecision precision,
                         const ProductPlaces& places) {
  const int64_t m = CheckedElementCount(places.rows);
  const tensor::Tensor in_blocks =
      InBlocks(context, context.builder().View(rows, {m, rows.shape().back()}), weights);
  const bool has_integers = !weights.zeros || tensor::IsInteger(weights.zeros->dtype());
  return precision == RowPrecision::kInt8 && has_integers
             ? ProductOfIntegers(context, in_blocks, weights, places)
             : ProductOfFloats(context, in_blocks, weights, places);
}

/// Whether float16 holds the number as it is.
bool IsHalf(float number) {
  // A float whose significand ends with 13 zeros, of the magnitude of a normal float16.
  const bool is_normal = (std::bit_cast<uint32_t>(number) & 0x1fff) == 0 &&
                         std::abs(number) >= 0x1p-14F && std::abs(number) <= 65504;
  return is_normal || tensor::RoundTo(DType::kFloat16, number) == number;
}

/// The same of all float32 numbers.
bool AreHalves(const tensor::HostTensor& numbers) {
  const std::byte* const data = numbers.data.data();
  for (int64_t i = 0; i < numbers.ElementCount(); ++i) {
    float number;
    std::memcpy(&number, data + i * static_cast<int64_t>(sizeof number), sizeof number);
    if (!IsHalf(number)) return false;
  }
  return true;
}

}  // namespace

Expr ExpertAt(const Experts& experts, const Expr& m, const Expr& slot) {
  return Rank(experts.chosen) == 1 ? experts.chosen(m) : experts.chosen(m, slot);
}

RowPrecision PrecisionOfRows(OperatorContext& context) {
  constexpr int64_t kInt8Level = 4;
  const bool is_permitted =
      context.builder().allows_integer_rows() || context.Int("accuracy_level", 0) == kInt8Level;
  return is_permitted ? RowPrecision::kInt8 : RowPrecision::kFloat;
}

tensor::Tensor NarrowScales(OperatorContext& context, const tensor::Tensor& scales) {
  const tensor::HostTensor* known = context.builder().ConstantOf(scales);
  if (known == nullptr || known->dtype != DType::kFloat32 || !AreHalves(*known)) return scales;
  const tensor::Tensor narrow = ConvertTo(context, DType::kFloat16, scales);
  return context.builder().ConstantOf(narrow) ? narrow : scales;
}

tensor::Tensor PackedProduct(OperatorContext& context, const tensor::Tensor& rows,
                             const PackedWeights& weights, RowPrecision precision) {
  const int64_t m = rows.shape()[0];
  return ProductAt(context, rows, weights, precision,
                   {{m},
                    {m, weights.n()},
                    [](const Exprs& s) { return Exprs{s[0]}; },
                    [](const Exprs&) { return Exprs{}; }});
}

tensor::Tensor PackedProduct(OperatorContext& context, const tensor::Tensor& rows,
                             const PackedWeights& weights, RowPrecision precision,
                             const Experts& experts) {
  std::vector<int64_t> lead(rows.shape().begin(), rows.shape().end() - 1);
  const bool has_slots = lead.size() > 1;
  return ProductAt(context, rows, weights, precision,
                   {lead,
                    {lead[0], experts.slots, weights.n()},
                    [&](const Exprs& s) {
                      return has_slots ? Exprs{s[0], s[1]} : Exprs{s[0]};
                    },
                    [&](const Exprs& s) { return Exprs{ExpertAt(experts, s[0], s[1])}; }});
}

std::optional<PackedWeights> PackWeights(OperatorContext& context, const tensor::Tensor& integers,
                                         const tensor::Tensor& scales,
                                         const std::optional<tensor::Tensor>& zeros, int64_t size,
                                         int64_t low, int64_t bits) {
  GraphBuilder& builder = context.builder();
  const bool is_known = builder.ConstantOf(integers) && builder.ConstantOf(scales) &&
                        (!zeros || builder.ConstantOf(*zeros));
  const int64_t k = integers.shape()[0], n = integers.shape()[1], blocks = scales.shape()[0];
  if (!is_known || size * bits % 8 != 0) return std::nullopt;
  const int64_t together = 8 / bits;
  const tensor::Tensor levels =
      builder.Map("pack", {blocks, size / together, n}, [&](const Exprs& s) {
        Expr byte = tensor::IntLiteral(0, DType::kInt32);
        for (int64_t part = 0; part < together; ++part) {
          const Expr row = s[0] * Expr(size) + s[1] * Expr(together) + Expr(part);
          const Expr level = tensor::Cast(DType::kInt32, integers(row, s[2])) -
                             tensor::IntLiteral(low, DType::kInt32);
          const Expr shifted =
              level * tensor::IntLiteral(int64_t{1} << (part * bits), DType::kInt32);
          const Expr none = tensor::IntLiteral(0, DType::kInt32);
          const bool may_miss = blocks * size > k;
          byte = byte + (may_miss ? tensor::Select(row < Expr(k), shifted, none) : shifted);
        }
        return tensor::Cast(DType::kUInt8, byte);
      });
  std::optional<tensor::Tensor> offsets;
  if (zeros) {
    offsets = builder.Map("zeros", {blocks, n}, [&](const Exprs& s) {
      const Expr zero = tensor::Cast(DType::kInt32, (*zeros)(s[0], s[1]));
      return tensor::Cast(DType::kUInt8, zero - tensor::IntLiteral(low, DType::kInt32));
    });
  }
  if (!builder.ConstantOf(levels) || (offsets && !builder.ConstantOf(*offsets))) {
    return std::nullopt;
  }
  return PackedWeights{levels, NarrowScales(context, scales), offsets, -low, k, size, bits};
}

std::optional<tensor::Tensor> ProductWithBlocks(OperatorContext& context, const tensor::Tensor& x,
                                                const tensor::Tensor& matrix, int k_axis) {
  const BlockFloats* known = context.builder().known_floats().FindBlocks(matrix);
  if (!known || known->axis != k_axis || x.dtype() != DType::kFloat32 || Rank(x) < 1 ||
      x.shape().back() != matrix.shape()[k_axis]) {
    return std::nullopt;
  }
  std::vector<int64_t> shape(x.shape().begin(), x.shape().end() - 1);
  const int64_t m = CheckedElementCount(shape);
  const auto rows_first = [&](const tensor::Tensor& t) {
    return k_axis == 0 ? t : Permute(context, t, {1, 0});
  };
  std::optional<tensor::Tensor> zeros;
  if (known->zeros) zeros = rows_first(*known->zeros);
  const auto weights = PackWeights(context, rows_first(known->integers), rows_first(known->scales),
                                   zeros, known->block, known->low, known->bits);
  if (!weights) return std::nullopt;
  GraphBuilder& builder = context.builder();
  const tensor::Tensor y = PackedProduct(context, builder.View(x, {m, x.shape().back()}), *weights,
                                         PrecisionOfRows(context));
  shape.push_back(weights->n());
  return builder.View(y, shape);
}

}  // namespace bayloom::graph
